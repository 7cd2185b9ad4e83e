use std::collections::{BTreeMap, VecDeque};

use xxhash_rust::xxh3::xxh3_64;

use crate::address::{ScriptKey, Site, WebUrl};
use crate::walk::LevelCount;

/// Probes of skipped URLs in a share of the sites: after a tree is walked, a few more query URLs of each
/// script are fetched, and a few of the pages whose expected yield was too low. They show what the rules hid
/// and are no part of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probing {
    /// The share of sites in which scripts are probed; 0 means none.
    pub share: f64,
    /// Query URLs of a script that are fetched beyond the rule.
    pub per_script: usize,
    /// The share of sites in which left-out pages are probed; 0 means none.
    pub left_out_share: f64,
}

/// The reason why a probed URL was skipped, and the number of URLs skipped for the same reason, this one
/// included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkippedBy {
    /// The rule on scripts: the number of URLs of its script.
    Script(u32),
    /// A low expected yield: the number of URLs of the tree.
    Yield(u32),
}

/// A URL that was skipped and fetched after all, and what the tree had missed by that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The number of the request.
    pub number: u32,
    /// Why it was skipped.
    pub skipped_by: SkippedBy,
    /// Links to other sites that the tree does not have.
    pub external_urls: u32,
    /// Hosts of other sites that the tree does not have.
    pub external_hosts: u32,
    /// Links within the site that the tree does not have.
    pub internal_urls: u32,
}

/// The number of scripts probed in one site: with three URLs each, 60 requests besides the ten thousand that
/// a site may cost.
const MOST_SCRIPTS: usize = 20;
/// The number of left-out pages that are probed in one site.
const MOST_LEFT_OUT: usize = 20;

impl Default for Probing {
    /// Three URLs tell a script that always gives the same response from one that does not.
    fn default() -> Self {
        Self { share: 0.0, per_script: 3, left_out_share: 0.0 }
    }
}

impl Probing {
    /// Whether the scripts of a site are probed. A greater share includes all sites of a smaller one.
    #[must_use]
    pub fn includes(&self, site: &Site) -> bool {
        fraction(xxh3_64(site.as_str().as_bytes())) < self.share
    }

    /// The same for left-out pages; these are other sites.
    #[must_use]
    pub fn includes_left_out(&self, site: &Site) -> bool {
        fraction(rehashed(xxh3_64(site.as_str().as_bytes()))) < self.left_out_share
    }
}

/// Maps a hash to a number from 0 to 1.
fn fraction(hash: u64) -> f64 {
    // 53 bits are what an f64 holds.
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// The URLs of a tree that the script rule skips: their number per script, and a random sample of them. The
/// random number is a hash of the URL.
#[derive(Debug, Default)]
pub(in crate::walk) struct SkippedScripts {
    scripts: BTreeMap<u64, UrlSample>,
}

#[derive(Debug, Default)]
struct UrlSample {
    count: u32,
    /// The URLs with the smallest hashes, by hash.
    urls: BTreeMap<u64, WebUrl>,
}

impl SkippedScripts {
    pub(in crate::walk) fn note(&mut self, script: &ScriptKey, url: &WebUrl, per_script: usize) {
        self.scripts.entry(rehashed(script.0.0)).or_default().note(url, per_script);
    }

    /// The URLs to fetch, of at most [`MOST_SCRIPTS`] scripts; each with the number of skipped URLs of its
    /// script.
    fn into_queue(self) -> impl Iterator<Item = (WebUrl, SkippedBy)> {
        self.scripts.into_values().take(MOST_SCRIPTS).flat_map(|sample| sample.into_queue(SkippedBy::Script))
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

    fn into_queue(self, skipped_by: fn(u32) -> SkippedBy) -> impl Iterator<Item = (WebUrl, SkippedBy)> {
        let skipped_by = skipped_by(self.count);
        self.urls.into_values().map(move |url| (url, skipped_by))
    }
}

/// The probes of one tree.
#[derive(Debug, Default)]
pub(in crate::walk) struct Probes {
    pub skipped_scripts: SkippedScripts,
    left_out: UrlSample,
    /// None until the tree is walked: the URLs still to be requested, each with the reason why it was
    /// skipped.
    pub queue: Option<VecDeque<(WebUrl, SkippedBy)>>,
    /// For the request in flight.
    pub skipped_by: Option<SkippedBy>,
    pub load: LevelCount,
    pub results: Vec<Probe>,
}

impl Probes {
    /// The expected yield of a page is too low.
    pub(in crate::walk) fn leave_out(&mut self, url: &WebUrl) {
        self.left_out.note(url, MOST_LEFT_OUT);
    }

    /// The URLs to fetch, of all that were skipped.
    pub(in crate::walk) fn take_queue(&mut self) -> VecDeque<(WebUrl, SkippedBy)> {
        let skipped_scripts = std::mem::take(&mut self.skipped_scripts).into_queue();
        skipped_scripts.chain(std::mem::take(&mut self.left_out).into_queue(SkippedBy::Yield)).collect()
    }

    pub(in crate::walk) fn next(&self) -> Option<&WebUrl> {
        self.queue.as_ref()?.front().map(|(url, _)| url)
    }
}

/// Makes the choice of scripts to probe independent of their names.
fn rehashed(key: u64) -> u64 {
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
            (0..10_000).filter(|number| probing.includes(&site(*number))).collect::<Vec<_>>()
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
        let queue = |ids: &[usize]| {
            let mut skipped_scripts = SkippedScripts::default();
            for script in 0..30 {
                for id in ids {
                    let url = url(script, *id);
                    skipped_scripts.note(&url.script().unwrap(), &url, 3);
                }
            }
            skipped_scripts.into_queue().collect::<Vec<_>>()
        };
        let asked = queue(&[1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(asked.len(), MOST_SCRIPTS * 3);
        assert!(asked.iter().all(|(_, skipped_by)| *skipped_by == SkippedBy::Script(7)));
        assert_eq!(asked, queue(&[7, 5, 6, 1, 4, 2, 3]));
        assert_eq!(queue(&[1]).len(), MOST_SCRIPTS);
    }
}
