use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::address::WebUrl;
use crate::walk::entry::{UrlState, UrlStates};

/// The number of pages that two hosts must show alike under the same path before one is taken for the other's
/// mirror. One or two may be a page without content yet: a frameset, "it works".
const LEAST_EQUAL: u32 = 3;

/// Hosts of a site that show the same pages under the same paths, as `a.ke` and `www.a.ke` often do.
///
/// Links of a copy that are written without a host lead to the copy again, so that a site of two hosts costs
/// twice the load. Pages of the same bytes under different paths prove nothing: their relative links may lead
/// elsewhere.
#[derive(Default)]
pub(in crate::walk) struct Mirrors {
    /// By path and query: the number of the host where it was read first, and the hash of the body.
    pages: HashMap<u64, (u32, u128)>,
    /// Hosts in the order in which their first pages were read.
    hosts: Vec<String>,
    numbers: HashMap<String, u32>,
    /// For each host, the earlier hosts that have a page with the same path.
    pairs: HashMap<u32, Vec<HostPair>>,
}

/// The numbers of pages that two hosts show alike or not.
#[derive(Clone, Copy)]
struct HostPair {
    original: u32,
    equal: u32,
    different: u32,
}

impl Mirrors {
    pub(in crate::walk) fn note(&mut self, url: &WebUrl, body_hash: u128) {
        let host = url.authority();
        let number = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(host).or_insert_with_key(|host| {
            self.hosts.push(host.clone());
            number
        });
        let (first, hash) =
            *self.pages.entry(xxh3_64(url.target().as_bytes())).or_insert((number, body_hash));
        if first != number {
            let originals = self.pairs.entry(first.max(number)).or_default();
            count(originals, first.min(number), hash == body_hash);
        }
    }

    /// Whether a URL's host is the mirror of a host on which the same page is known.
    pub(in crate::walk) fn is_copy(&self, url: &WebUrl, known: &UrlStates) -> bool {
        if self.pairs.is_empty() {
            return false;
        }
        let pairs = self.numbers.get(&url.authority()).and_then(|number| self.pairs.get(number));
        let is_known = |pair: &HostPair| {
            let key = WebUrl::page_key_of(&self.hosts[pair.original as usize], url.target());
            matches!(known.get(&key), Some(UrlState::Found | UrlState::Listed | UrlState::Earlier))
        };
        pairs.is_some_and(|pairs| pairs.iter().filter(|pair| pair.is_mirror()).any(is_known))
    }
}

fn count(originals: &mut Vec<HostPair>, original: u32, is_equal: bool) {
    let index = originals.iter().position(|pair| pair.original == original).unwrap_or(originals.len());
    if index == originals.len() {
        originals.push(HostPair { original, equal: 0, different: 0 });
    }
    originals[index].equal += u32::from(is_equal);
    originals[index].different += u32::from(!is_equal);
}

impl HostPair {
    /// One page in ten may differ: it shows the time of day, or was changed meanwhile.
    fn is_mirror(self) -> bool {
        self.equal >= LEAST_EQUAL && 10 * self.different <= self.equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    /// Whether a page of `b.a.ke` is a copy if both hosts show `equal` pages alike, and `different` pages
    /// differ.
    fn is_copy(equal: u32, different: u32) -> bool {
        let mut mirrors = Mirrors::default();
        for host in ["a.ke", "b.a.ke"] {
            for n in 0..equal + different {
                let body = if n < equal || host == "a.ke" { u128::from(n) } else { u128::from(n) + 1000 };
                mirrors.note(&url(&format!("http://{host}/{n}")), body);
            }
        }
        let known = UrlStates::from_iter([(url("http://a.ke/x").page_key(), UrlState::Found)]);
        assert!(!mirrors.is_copy(&url("http://b.a.ke/y"), &known), "the page is not known at the other host");
        assert!(!mirrors.is_copy(&url("http://a.ke/x"), &known), "the host met first is no mirror");
        assert!(!mirrors.is_copy(&url("http://c.a.ke/x"), &known));
        mirrors.is_copy(&url("http://b.a.ke/x"), &known)
    }

    #[test]
    fn a_mirror_shows_three_pages_alike_and_nine_of_ten() {
        assert!(!is_copy(0, 0) && !is_copy(2, 0) && is_copy(3, 0));
        assert!(is_copy(10, 1) && !is_copy(9, 1) && is_copy(20, 2) && !is_copy(20, 3));
    }

    #[test]
    fn a_page_of_the_other_host_is_known_where_it_was_found_and_may_be_followed() {
        let mut mirrors = Mirrors::default();
        for host in ["b.a.ke", "a.ke", "c.a.ke"] {
            (0..3).for_each(|n| mirrors.note(&url(&format!("http://{host}/{n}")), n));
        }
        // Each host's pages are compared with the first host that had them.
        for (host, state, is_copy) in [
            ("a.ke", UrlState::Found, true),
            ("c.a.ke", UrlState::Listed, true),
            ("a.ke", UrlState::Earlier, true),
            ("a.ke", UrlState::Shunned, false),
            ("b.a.ke", UrlState::Found, false),
        ] {
            let known = UrlStates::from_iter([(url("http://b.a.ke/x?y").page_key(), state)]);
            assert_eq!(
                mirrors.is_copy(&url(&format!("https://{host}/x?y")), &known),
                is_copy,
                "{host} {state:?}"
            );
        }
    }
}
