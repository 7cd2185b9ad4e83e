//! Decides whether an external link becomes a site of the survey.
//!
//! It does if all of this holds:
//!
//! 1. The link leads into a surveyed country domain.
//! 2. `--feed-back` allows it: `link` takes the URL as it was found, `door` the root of its host, `off` none.
//! 3. The tree that contains it has not yet fed back as many URLs of that site as a site may have trees.
//! 4. The site is not known yet, or takes a further start URL; and `--generations` allows a site that far
//!    from the start list. The frontier decides this when the tree is finished (`frontier::Spread`).
//!
//! Two rules do not apply here. `--sample` draws from start lists only: sites that the drawn ones link to are
//! surveyed too. Opt-outs do not apply either: the site is recorded with that outcome, and its servers are
//! not contacted.

use std::collections::{HashMap, HashSet};

use super::scope::SurveyScope;
use crate::address::{PageKey, Site, WebUrl};
use crate::frontier::{MAX_TREES, StartCandidate};
use crate::settings::{FeedBackRule, Settings};

/// Selects the external links of a tree that are offered to the frontier as start URLs.
#[derive(Clone, Copy, Debug)]
pub(in crate::survey) struct FeedBack {
    rule: FeedBackRule,
    /// The number of different URLs of one site that a tree may feed back.
    max_per_site: usize,
}

impl FeedBack {
    pub(in crate::survey) fn from_settings(settings: &Settings) -> Self {
        let trees = if settings.entrances.is_single() { 1 } else { MAX_TREES };
        Self { rule: settings.feed_back, max_per_site: settings.seeds_per_site.max(trees) as usize }
    }

    pub(in crate::survey) fn is_on(self) -> bool {
        self.rule != FeedBackRule::Off
    }

    /// The start URLs that follow from the external URLs of a tree, in the order in which they were found.
    pub(in crate::survey) fn candidates<'a>(
        self,
        scope: &SurveyScope,
        externals: impl Iterator<Item = &'a WebUrl>,
    ) -> Vec<StartCandidate> {
        let mut urls_of_sites: HashMap<Site, HashSet<PageKey>> = HashMap::new();
        externals
            .filter_map(|url| self.candidate(scope, url))
            .filter(|start| {
                let Some(home) = start.homes.first() else { return false };
                let urls = urls_of_sites.entry(home.clone()).or_default();
                urls.len() < self.max_per_site && urls.insert(start.url.page_key())
            })
            .collect()
    }

    fn candidate(self, scope: &SurveyScope, url: &WebUrl) -> Option<StartCandidate> {
        scope.country_of(url.host())?;
        match self.rule {
            FeedBackRule::Link => Some(scope.candidate(url.clone())),
            FeedBackRule::Door => Some(scope.candidate(url.front_page_url())),
            FeedBackRule::Off => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Entrances;

    const FOUND: [&str; 6] = [
        "http://a.ke/1",
        "http://elsewhere.com/",
        "http://a.ke/2",
        "http://www.a.ke/3",
        "http://b.go.ke/x",
        "http://a.ke/1",
    ];

    fn fed_back(change: impl FnOnce(&mut Settings)) -> Vec<String> {
        let mut settings =
            Settings { cctld: vec!["ke".to_owned()], entrances: Entrances::UpTo(1), ..Settings::default() };
        change(&mut settings);
        let urls = FOUND.map(|url| WebUrl::parse(url).unwrap());
        let scope = SurveyScope::from_settings(&settings).unwrap();
        let candidates = FeedBack::from_settings(&settings).candidates(&scope, urls.iter());
        candidates.into_iter().map(|start| start.url.as_str().to_owned()).collect()
    }

    #[test]
    fn a_link_into_a_country_domain_becomes_a_site_once() {
        assert_eq!(fed_back(|_| {}), ["http://a.ke/1", "http://b.go.ke/x"]);
        assert_eq!(fed_back(|settings| settings.sample = 1e-9), ["http://a.ke/1", "http://b.go.ke/x"]);
        assert_eq!(fed_back(|settings| settings.cctld = vec!["go.ke".to_owned()]), ["http://b.go.ke/x"]);
    }

    #[test]
    fn the_rule_says_which_url_is_taken() {
        let door = fed_back(|settings| settings.feed_back = FeedBackRule::Door);
        assert_eq!(door, ["http://a.ke/", "http://b.go.ke/"]);
        assert!(fed_back(|settings| settings.feed_back = FeedBackRule::Off).is_empty());
    }

    #[test]
    fn a_site_that_may_have_several_trees_gets_as_many_urls() {
        let two = ["http://a.ke/1", "http://a.ke/2", "http://b.go.ke/x"];
        assert_eq!(fed_back(|settings| settings.seeds_per_site = 2), two);
        let three = fed_back(|settings| settings.entrances = Entrances::All);
        assert_eq!(three, ["http://a.ke/1", "http://a.ke/2", "http://www.a.ke/3", "http://b.go.ke/x"]);
    }
}
