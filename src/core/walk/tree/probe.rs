use std::collections::{BTreeMap, VecDeque};

use xxhash_rust::xxh3::xxh3_64;

use crate::address::{ScriptKey, Site, WebUrl};
use crate::walk::LevelCount;

/// What rules keep back, looked at in a share of the sites: after a tree is walked, a few more query URLs of each
/// script are fetched, and a few of the pages that promised too little. They tell what the rules hid and are no part
/// of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probing {
    /// The share of sites in which scripts are probed; 0 is none.
    pub share: f64,
    /// Query URLs fetched of a script beyond the rule.
    pub per_script: usize,
    /// The share of sites in which left out pages are probed; 0 is none.
    pub left_out_share: f64,
}

/// What kept a URL back that is probed, and how many URLs of the tree it kept back so, this one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkippedBy {
    /// The rule on scripts: so many of its script.
    Script(u32),
    /// It promised too little: so many of the tree.
    Yield(u32),
}

/// A URL that was kept back and fetched after all, and what the tree had missed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The number of the question.
    pub number: u32,
    /// Why it was kept back.
    pub kept_by: SkippedBy,
    /// Links to other sites that the tree does not have.
    pub external_urls: u32,
    /// Hosts of other sites that the tree does not have.
    pub external_hosts: u32,
    /// Links within the site that the tree does not have.
    pub internal_urls: u32,
}

/// Scripts probed in one site: with three URLs each, 60 requests beside the ten thousand that a site may cost.
const MOST_SCRIPTS: usize = 20;
/// Pages left out that are probed in one site.
const MOST_LEFT_OUT: usize = 20;

impl Default for Probing {
    /// Three URLs tell a script that answers always the same from one that does not.
    fn default() -> Self {
        Self { share: 0.0, per_script: 3, left_out_share: 0.0 }
    }
}

impl Probing {
    /// Whether a site is among those whose scripts are probed. A greater share has all sites of a smaller one.
    #[must_use]
    pub fn takes(&self, site: &Site) -> bool {
        fraction(xxh3_64(site.as_str().as_bytes())) < self.share
    }

    /// The same of pages that are left out; these are other sites.
    #[must_use]
    pub fn takes_left_out(&self, site: &Site) -> bool {
        fraction(scattered(xxh3_64(site.as_str().as_bytes()))) < self.left_out_share
    }
}

/// From 0 to 1.
fn fraction(hash: u64) -> f64 {
    // 53 bits are what an f64 holds.
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// What the rule keeps back in a tree: how many URLs of each script, and a sample of them by chance, which is a
/// hash of the URL.
#[derive(Debug, Default)]
pub(in crate::walk) struct SkippedScripts {
    scripts: BTreeMap<u64, UrlSample>,
}

#[derive(Debug, Default)]
struct UrlSample {
    count: u32,
    /// Those of the smallest hashes, by them.
    urls: BTreeMap<u64, WebUrl>,
}

impl SkippedScripts {
    pub(in crate::walk) fn note(&mut self, script: &ScriptKey, url: &WebUrl, per_script: usize) {
        self.scripts.entry(scattered(script.0.0)).or_default().note(url, per_script);
    }

    /// The URLs to fetch, each with how many its script has: of as many scripts as are probed.
    fn into_questions(self) -> impl Iterator<Item = (WebUrl, SkippedBy)> {
        self.scripts
            .into_values()
            .take(MOST_SCRIPTS)
            .flat_map(|sample| sample.into_questions(SkippedBy::Script))
    }
}

impl UrlSample {
    fn note(&mut self, url: &WebUrl, most: usize) {
        self.count += 1;
        self.urls.insert(xxh3_64(url.canonical().as_bytes()), url.clone());
        if self.urls.len() > most {
            self.urls.pop_last();
        }
    }

    fn into_questions(self, kept_by: fn(u32) -> SkippedBy) -> impl Iterator<Item = (WebUrl, SkippedBy)> {
        let kept_by = kept_by(self.count);
        self.urls.into_values().map(move |url| (url, kept_by))
    }
}

/// The probes of one tree.
#[derive(Debug, Default)]
pub(in crate::walk) struct Probes {
    pub withheld: SkippedScripts,
    left_out: UrlSample,
    /// None until the tree is walked: URLs still to be asked for, each with what kept it back.
    pub questions: Option<VecDeque<(WebUrl, SkippedBy)>>,
    /// Of the question in flight.
    pub kept_by: Option<SkippedBy>,
    pub load: LevelCount,
    pub results: Vec<Probe>,
}

impl Probes {
    /// A page promised too little.
    pub(in crate::walk) fn leave_out(&mut self, url: &WebUrl) {
        self.left_out.note(url, MOST_LEFT_OUT);
    }

    /// The URLs to fetch, of all that was kept back.
    pub(in crate::walk) fn take_questions(&mut self) -> VecDeque<(WebUrl, SkippedBy)> {
        let withheld = std::mem::take(&mut self.withheld).into_questions();
        withheld.chain(std::mem::take(&mut self.left_out).into_questions(SkippedBy::Yield)).collect()
    }

    pub(in crate::walk) fn next(&self) -> Option<&WebUrl> {
        self.questions.as_ref()?.front().map(|(url, _)| url)
    }
}

/// Makes the choice of scripts to probe independent of their names.
fn scattered(key: u64) -> u64 {
    xxh3_64(&key.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Host;

    fn site(number: u32) -> Site {
        Site::new(Host::parse(&format!("site{number}.ke")).unwrap())
    }

    #[test]
    fn about_the_share_of_sites_is_probed_and_a_greater_one_has_them_too() {
        let probed = |share| {
            let probing = Probing { share, ..Probing::default() };
            (0..10_000).filter(|number| probing.takes(&site(*number))).collect::<Vec<_>>()
        };
        assert!(probed(0.0).is_empty());
        assert_eq!(probed(1.0).len(), 10_000);
        let (tenth, half) = (probed(0.1), probed(0.5));
        // A standard deviation is 30 and 50; five are allowed.
        assert!((850..1150).contains(&tenth.len()) && (4750..5250).contains(&half.len()));
        assert!(tenth.iter().all(|number| half.contains(number)));
    }

    #[test]
    fn so_many_urls_of_a_script_and_so_many_scripts_are_asked_whatever_their_order() {
        let url = |script: usize, id: usize| WebUrl::parse(&format!("http://a.ke/{script}?id={id}")).unwrap();
        let questions = |ids: &[usize]| {
            let mut withheld = SkippedScripts::default();
            for script in 0..30 {
                for id in ids {
                    let url = url(script, *id);
                    withheld.note(&url.script().unwrap(), &url, 3);
                }
            }
            withheld.into_questions().collect::<Vec<_>>()
        };
        let asked = questions(&[1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(asked.len(), MOST_SCRIPTS * 3);
        assert!(asked.iter().all(|(_, kept_by)| *kept_by == SkippedBy::Script(7)));
        assert_eq!(asked, questions(&[7, 5, 6, 1, 4, 2, 3]));
        assert_eq!(questions(&[1]).len(), MOST_SCRIPTS);
    }
}
