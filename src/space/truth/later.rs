use std::collections::{HashMap, VecDeque};

use super::country::{CarryOver, Start};
use super::rules::PageId;

/// The most trees of a site that no tree opens.
const MOST_TREES: usize = 3;
/// The most URLs kept for a site whose last tree is not merged yet.
const MOST_SPARES: usize = 2;

/// The trees of a survey in their order, and the progress of their sites.
pub(super) struct TreeQueue {
    /// Whether a site that no tree has opened gets another start URL.
    gives_later_trees: bool,
    trees: VecDeque<Start>,
    sites: HashMap<String, SiteProgress>,
}

/// The progress of a site.
struct SiteProgress {
    /// The start URLs of its trees.
    offered: Vec<PageId>,
    /// Its last tree is not merged yet.
    is_waiting: bool,
    /// URLs kept in case that tree does not open the site.
    spares: Vec<Start>,
    /// What its merged trees know, if none has opened it and another URL may.
    closed: Option<CarryOver>,
}

impl TreeQueue {
    pub(crate) fn new(gives_later_trees: bool) -> Self {
        Self { gives_later_trees, trees: VecDeque::new(), sites: HashMap::new() }
    }

    /// The next tree, with what earlier trees of its site know.
    pub(crate) fn pop(&mut self) -> Option<(Start, CarryOver)> {
        let start = self.trees.pop_front()?;
        let known = self.sites.get_mut(&start.site).and_then(|site| site.closed.take());
        Some((start, known.unwrap_or_default()))
    }

    /// Offers a URL as the start of a tree.
    pub(crate) fn offer(&mut self, start: Start) {
        let page = PageId::from_url(&start.url);
        match self.sites.get_mut(&start.site) {
            None => {
                let site =
                    SiteProgress { offered: vec![page], is_waiting: true, spares: Vec::new(), closed: None };
                self.sites.insert(start.site.clone(), site);
                self.trees.push_back(start);
            }
            Some(_) if !self.gives_later_trees => {}
            Some(site) if site.is_waiting => site.spare(start, page),
            Some(site) => self.trees.extend(site.take(start)),
        }
    }

    /// Records that a tree is merged; `closed` is what it knows if it did not open its site.
    pub(crate) fn note_merged(&mut self, site: &str, closed: Option<CarryOver>) {
        let Some(site) = self.sites.get_mut(site) else { return };
        site.is_waiting = false;
        site.closed = closed.filter(|_| self.gives_later_trees);
        let spares = std::mem::take(&mut site.spares);
        for spare in spares {
            let page = PageId::from_url(&spare.url);
            if site.is_waiting {
                site.spare(spare, page);
            } else {
                self.trees.extend(site.take(spare));
            }
        }
    }
}

impl SiteProgress {
    fn spare(&mut self, start: Start, page: PageId) {
        let is_new = !self.offered.contains(&page)
            && self.spares.iter().all(|spare| PageId::from_url(&spare.url) != page);
        if is_new && self.spares.len() < MOST_SPARES {
            self.spares.push(start);
        }
    }

    /// Starts one more tree if the site is not open and no earlier tree listed that URL.
    fn take(&mut self, start: Start) -> Option<Start> {
        let (page, seed) = (PageId::from_url(&start.url), self.offered.len());
        let is_known = self.closed.as_ref().is_none_or(|known| known.pages.contains(&page));
        if is_known || seed >= MOST_TREES {
            return None;
        }
        self.offered.push(page);
        self.is_waiting = true;
        Some(Start { seed: u16::try_from(seed).unwrap_or(u16::MAX), ..start })
    }
}
