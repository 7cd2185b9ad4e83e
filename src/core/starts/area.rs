use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::entry::HYPHEN;
use crate::address::{CountryDomains, Site, Suffixes, WebUrl, special_range};

/// The purpose of a start list: how hosts belong to sites, in which domains its URLs should lie, and which
/// sites are drawn.
#[derive(Clone)]
pub struct Area {
    /// The suffixes by which hosts belong to sites.
    pub suffixes: Arc<Suffixes>,
    /// The domains inside which external URLs become start URLs.
    pub countries: CountryDomains,
    /// The sites of the list that are surveyed.
    pub sample: Sample,
    /// Whether start URLs outside the country domains are surveyed too.
    pub includes_outside: bool,
    /// Whether addresses that no server of the public Web has may be start URLs.
    pub permits_special: bool,
}

impl Area {
    /// Whether a start URL lies inside the country domains; a URL with an address as host lies in none.
    pub(super) fn contains(&self, url: &WebUrl) -> bool {
        self.countries.domain_of(url.host()).is_some()
    }

    /// The reason why a URL cannot be a start URL of a survey of the public Web.
    pub(super) fn objection(&self, url: &WebUrl) -> Option<String> {
        let host = url.host();
        if let Some(range) = host.ip().and_then(special_range) {
            let why = format!("a special address that no server of the public Web has ({range})");
            return (!self.permits_special).then(|| format!("{why}; --permit-special-addresses permits it"));
        }
        if let Some(label) =
            self.suffixes.registrable(host).as_ref().and_then(|site| site.as_str().split('.').next())
            && label.ends_with('-')
        {
            return Some(HYPHEN.to_owned());
        }
        let is_public = host.ip().is_some() || self.contains(url);
        if is_public {
            return None;
        }
        let last = host.as_str().rsplit('.').next().unwrap_or_default();
        if matches!(last, "http" | "https") && host.as_str() == last {
            return Some("not a host name: the URL begins with its scheme twice".to_owned());
        }
        if !self.suffixes.has_top_level(host) {
            return Some(format!("not a host name: '{last}' is not a top-level domain"));
        }
        (host.as_str() == last).then(|| "not a host name: it has only one label".to_owned())
    }

    /// Whether a start URL names only a public suffix, below which registries give out names.
    pub(super) fn is_suffix(&self, url: &WebUrl) -> bool {
        url.host().ip().is_none() && self.suffixes.registrable(url.host()).is_none()
    }

    /// The registrable domain of a start URL, whatever the survey counts as a site: all its URLs are drawn
    /// together.
    pub(super) fn site_of(&self, url: &WebUrl) -> Site {
        self.suffixes.site_of(url.host())
    }
}

/// The sites of a start list that are surveyed: a share of them, drawn by hash.
///
/// A greater share with the same seed draws the same sites and more, so that a pilot is a part of the survey
/// after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// From 0 to 1.
    pub share: f64,
    /// Another seed draws other sites.
    pub seed: u64,
}

impl Sample {
    /// Every site.
    pub const ALL: Self = Self { share: 1.0, seed: 0 };

    /// Whether a site is drawn; depends on nothing but its name and the seed.
    #[must_use]
    pub fn draws(&self, site: &Site) -> bool {
        // 53 bits are a fraction below 1 without rounding.
        let bits = xxh3_64_with_seed(site.as_str().as_bytes(), self.seed) >> 11;
        (bits as f64) / ((1_u64 << 53) as f64) < self.share
    }
}
