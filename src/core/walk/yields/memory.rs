use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::experience::Experience;
use super::logarithm::yield_of;
use super::path_yields::{SeenPage, path_yields};
use super::rates::Rates;
use super::url_candidate::{Finder, Remembered, UrlCandidate, UrlKind};
use crate::address::{PageKey, ScriptKey, WebUrl};
use crate::exchange::Depth;

/// What an earlier survey found in a site, for a walk that requests the pages that led somewhere then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pages: HashMap<PageKey, Remembered>,
    /// The best query URL of each script: any query URL of the script stands for the others.
    scripts: HashMap<ScriptKey, Remembered>,
    /// The expected and the actual yield of the pages then: the evidence by which pages are judged that were
    /// not known then.
    pub(super) experience: Experience,
}

/// A URL that an earlier survey requested.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenUrl {
    /// The URL of the page.
    pub url: WebUrl,
    /// The level of the URL.
    pub depth: Depth,
    /// The index of the page on which it was found, which precedes it; none for an entrance.
    pub finder: Option<u32>,
    /// The number of requests that it cost.
    pub requests: u32,
    /// The number of external hosts, new in the tree, that it brought.
    pub hosts: u32,
}

/// The share of the usual yield of its kind that a page is expected to bring in addition to what it brought
/// last time, because the site has changed since. It is small, so that the yield of last time counts most; it
/// is not zero, so that pages that brought nothing are ordered by how much they are like pages that brought
/// something.
const RECURRING_SHARE: f64 = 0.1;

impl Memory {
    /// Builds the memory from the tree of a site, in the order in which its URLs were requested.
    #[must_use]
    pub fn from_seen(seen: &[SeenUrl], rates: &Rates) -> Self {
        let mut experience = Experience::default();
        let mut candidates: Vec<Option<UrlCandidate>> = Vec::with_capacity(seen.len());
        let mut links = vec![0; seen.len()];
        seen.iter().filter_map(|seen_url| seen_url.finder).for_each(|finder| links[finder as usize] += 1);
        for seen_url in seen {
            let finder = seen_url.finder.and_then(|finder| {
                let at = finder as usize;
                Some(Finder::new(candidates[at].as_ref()?, seen[at].hosts as usize, links[at]))
            });
            let candidate = (seen_url.depth > Depth(0)).then(|| {
                UrlCandidate::new(
                    &UrlKind::from_url(&seen_url.url, rates),
                    seen_url.depth,
                    finder.as_ref(),
                    rates,
                    None,
                )
            });
            if let Some(candidate) = &candidate {
                candidate.note(&mut experience, seen_url.hosts.into());
            }
            candidates.push(candidate);
        }
        let recurring_hosts = |candidate: &Option<UrlCandidate>| {
            candidate.as_ref().map_or(0.0, |candidate| {
                RECURRING_SHARE * yield_of(candidate.logarithms(&experience, rates).own)
            })
        };
        // A settled page costs nothing on the path to what it leads to, because it is requested in any case.
        let is_settled = |at: u32| seen[at as usize].is_settled();
        let pages = seen.iter().zip(&candidates).map(|(seen_url, candidate)| SeenPage {
            finder: seen_url.finder.filter(|finder| !is_settled(*finder)),
            requests: seen_url.requests,
            hosts: (f64::from(seen_url.hosts) + recurring_hosts(candidate)) as f32,
        });
        let worths = path_yields(&pages.collect::<Vec<_>>());
        let mut memory = Self { experience, ..Self::default() };
        for (seen_url, worth) in seen.iter().zip(worths) {
            let page = Remembered { worth, hosts: seen_url.hosts as f32 };
            memory.pages.insert(seen_url.url.page_key(), page);
            if let Some(script) = seen_url.url.script() {
                keep_better(memory.scripts.entry(script).or_default(), page);
            }
        }
        memory
    }

    /// Notes that these URLs were found and left out, so that they are not new.
    pub fn leave_out(&mut self, urls: impl IntoIterator<Item = PageKey>) {
        for url in urls {
            self.pages.entry(url).or_default();
        }
    }

    /// Adds the memory of another tree of the site; if both know a page, the better one counts.
    pub fn add(&mut self, other: Self) {
        other.pages.into_iter().for_each(|(url, page)| keep_better(self.pages.entry(url).or_default(), page));
        other
            .scripts
            .into_iter()
            .for_each(|(key, page)| keep_better(self.scripts.entry(key).or_default(), page));
        self.experience.add(&other.experience);
    }

    /// The number of external hosts per request, last time, along the best path through a page; none if
    /// neither the page nor another query URL of its script was known.
    #[must_use]
    pub fn worth(&self, url: &WebUrl) -> Option<f32> {
        self.page(url.page_key(), url.script()).map(|page| page.worth)
    }

    pub(super) fn page(&self, page: PageKey, script: Option<ScriptKey>) -> Option<Remembered> {
        self.pages.get(&page).or_else(|| self.scripts.get(&script?)).copied()
    }
}

impl SeenUrl {
    /// Whether such a URL is requested whatever its yield.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.depth == Depth(0) || self.url.is_front_page()
    }
}

fn keep_better(known: &mut Remembered, page: Remembered) {
    if page.worth > known.worth {
        *known = page;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::yields::Scale;

    fn rates() -> Rates {
        let scale = Scale { by_depth: vec![1.0, 0.5, 0.1], ..Scale::default() };
        Rates::new(Vec::new(), scale.clone(), scale)
    }

    fn seen(path: &str, depth: u16, finder: impl Into<Option<u32>>, hosts: u32) -> SeenUrl {
        let url = WebUrl::parse(&format!("http://a.ke/{path}")).unwrap();
        SeenUrl { url, depth: Depth(depth), finder: finder.into(), requests: 1, hosts }
    }

    fn tree() -> [SeenUrl; 5] {
        [
            seen("", 0, None, 1),
            seen("hub", 1, 0, 0),
            seen("dead/end", 1, 0, 0),
            seen("hub/links", 2, 1, 9),
            seen("hub/empty", 2, 1, 0),
        ]
    }

    #[test]
    fn what_led_somewhere_and_the_way_to_it_is_worth_most() {
        let memory = Memory::from_seen(&tree(), &rates());
        let worth = |at: usize| memory.worth(&tree()[at].url).unwrap();
        assert!(worth(1) > 4.0 && worth(3) > 4.0, "{memory:?}");
        assert!(worth(2) < 0.5 && worth(4) < 0.5, "{memory:?}");
        assert!(worth(4) > 0.0, "it may have changed");
        assert_eq!(memory.worth(&seen("new", 1, 0, 0).url), None);
    }

    #[test]
    fn a_second_tree_of_the_site_adds_what_it_knows() {
        let (mut memory, whole) =
            (Memory::from_seen(&tree()[..3], &rates()), Memory::from_seen(&tree(), &rates()));
        memory.add(whole.clone());
        assert_eq!(memory.worth(&tree()[3].url), whole.worth(&tree()[3].url));
        assert_eq!(memory.worth(&tree()[1].url), whole.worth(&tree()[1].url));
    }

    #[test]
    fn what_was_left_out_is_known_and_was_worth_nothing() {
        let mut memory = Memory::from_seen(&tree(), &rates());
        let left = seen("left", 1, 0, 0).url;
        memory.leave_out([left.page_key(), tree()[3].url.page_key()]);
        assert_eq!(memory.worth(&left), Some(0.0));
        assert!(memory.worth(&tree()[3].url).unwrap() > 4.0);
    }

    #[test]
    fn any_query_url_of_a_script_stands_for_the_one_that_was_asked_for() {
        let requested = [seen("", 0, None, 1), seen("list?id=1", 1, 0, 7)];
        let memory = Memory::from_seen(&requested, &rates());
        assert_eq!(memory.worth(&seen("list?id=2", 1, 0, 0).url), memory.worth(&requested[1].url));
        assert_eq!(memory.worth(&seen("other?id=1", 1, 0, 0).url), None);
    }
}
