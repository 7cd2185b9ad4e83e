use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Host, Site, Suffixes};

/// How far a site reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeRule {
    /// The registrable domain with all its subdomains.
    #[default]
    Site,
    /// The start URL's host with its subdomains.
    Host,
}

/// What is internal to one site; everything else is external.
#[derive(Clone)]
pub struct Scope {
    rule: ScopeRule,
    site: Site,
    suffixes: Arc<Suffixes>,
}

impl Scope {
    /// The scope of the site tree that starts at `start`.
    #[must_use]
    pub fn new(start: &Host, rule: ScopeRule, suffixes: Arc<Suffixes>) -> Self {
        let site = match rule {
            ScopeRule::Site => suffixes.site_of(start),
            ScopeRule::Host => Site::new(start.clone()),
        };
        Self { rule, site, suffixes }
    }

    /// The site whose scope this is.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Whether a host is internal.
    #[must_use]
    pub fn contains(&self, host: &Host) -> bool {
        match self.rule {
            // By site, not by ancestor: under a private suffix such as `github.io`, the site
            // `github.io` does not contain the site `x.github.io`.
            ScopeRule::Site => {
                host.is_at_or_below(self.site.root()) && self.suffixes.site_of(host) == self.site
            }
            ScopeRule::Host => host.is_at_or_below(self.site.root()),
        }
    }

    /// Whether a host that an internal page links to is internal. Quick, because most links lead to the host
    /// of their page.
    #[must_use]
    pub fn contains_from(&self, page: &Host, host: &Host) -> bool {
        host == page || self.contains(host)
    }

    /// The site of a host outside this scope.
    #[must_use]
    pub fn site_of(&self, host: &Host) -> Site {
        match self.rule {
            ScopeRule::Site => self.suffixes.site_of(host),
            ScopeRule::Host => Site::new(host.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SuffixSection;
    use super::*;

    fn scope(start: &str, rule: ScopeRule, section: SuffixSection) -> Scope {
        let suffixes = Suffixes::parse(include_str!("../../data/public_suffix_list.dat"), section).unwrap();
        Scope::new(&Host::parse(start).unwrap(), rule, Arc::new(suffixes))
    }

    fn contains(scope: &Scope, host: &str) -> bool {
        scope.contains(&Host::parse(host).unwrap())
    }

    #[test]
    fn a_site_contains_its_subdomains_and_no_name_that_merely_ends_alike() {
        let scope = scope("www.shop.co.ke", ScopeRule::Site, SuffixSection::Icann);
        assert_eq!(scope.site().as_str(), "shop.co.ke");
        assert!(contains(&scope, "shop.co.ke") && contains(&scope, "a.b.shop.co.ke"));
        assert!(!contains(&scope, "workshop.co.ke") && !contains(&scope, "co.ke"));
    }

    #[test]
    fn a_host_scope_contains_the_host_and_what_is_below() {
        let scope = scope("www.shop.co.ke", ScopeRule::Host, SuffixSection::Icann);
        assert!(contains(&scope, "www.shop.co.ke") && contains(&scope, "m.www.shop.co.ke"));
        assert!(!contains(&scope, "shop.co.ke") && !contains(&scope, "img.shop.co.ke"));
    }

    #[test]
    fn what_is_outside_belongs_to_a_site_by_the_same_rule() {
        let site_name = |rule, host: &str| {
            let scope = scope("www.shop.co.ke", rule, SuffixSection::Icann);
            scope.site_of(&Host::parse(host).unwrap()).to_string()
        };
        assert_eq!(site_name(ScopeRule::Site, "www.other.co.tz"), "other.co.tz");
        assert_eq!(site_name(ScopeRule::Host, "www.other.co.tz"), "www.other.co.tz");
    }

    #[test]
    fn a_private_suffix_does_not_contain_its_customers() {
        let scope = scope("github.io", ScopeRule::Site, SuffixSection::All);
        assert!(contains(&scope, "github.io") && !contains(&scope, "x.github.io"));
    }
}
