use std::collections::{HashMap, HashSet};

use super::recorded_graph::{RecordedGraph, SiteTree};
use crate::walk::yields::{Costs, Focus, Memory, Rates, SeenUrl};

/// What a survey passes to the next one about its sites, as `--since` with `--focus` reads it.
#[derive(Clone, Debug, Default)]
pub struct Memories {
    by_site: HashMap<String, Memory>,
}

impl Memories {
    /// The memory of a site; none if the site was not surveyed or nothing responded.
    #[must_use]
    pub fn get(&self, site: &str) -> Option<&Memory> {
        self.by_site.get(site)
    }
}

impl RecordedGraph {
    /// The memories that this survey passes to a later one, and the budget of that survey: `share` of the
    /// requests of this one.
    #[must_use]
    pub fn memories(&self, rates: &Rates, share: f64) -> (Memories, Focus) {
        let (mut by_site, mut costs) = (HashMap::<String, Memory>::new(), Costs::default());
        for tree in &self.trees {
            let page_requests = tree.requests() - tree.robots;
            (0..tree.robots).for_each(|_| costs.note_request(false));
            (0..page_requests).for_each(|_| costs.note_request(true));
            let seen = seen(tree);
            let memory = tree.has_responded.then(|| Memory::from_seen(&seen, rates));
            costs.note_pages(&seen, memory.as_ref());
            let Some(memory) = memory else { continue };
            match by_site.entry(tree.name.0.clone()) {
                std::collections::hash_map::Entry::Occupied(mut occupied) => occupied.get_mut().add(memory),
                std::collections::hash_map::Entry::Vacant(vacant) => drop(vacant.insert(memory)),
            }
        }
        (Memories { by_site }, costs.focus(share))
    }
}

/// The URLs of a tree in request order, each with the page that found it first and the number of hosts that
/// it named first.
fn seen(tree: &SiteTree) -> Vec<SeenUrl> {
    let mut finders: Vec<Option<u32>> = vec![None; tree.pages.len()];
    for (index, page) in (0..).zip(&tree.pages) {
        for target in page.links.iter().chain(&page.redirect).filter(|target| **target > index) {
            finders[*target as usize].get_or_insert(index);
        }
    }
    let mut named: HashSet<u32> = HashSet::new();
    let seen = tree.pages.iter().zip(finders).map(|(page, finder)| SeenUrl {
        url: page.url.clone(),
        depth: page.depth,
        finder,
        requests: u32::try_from(page.requests).unwrap_or(u32::MAX),
        hosts: page.hosts.iter().map(|host| u32::from(named.insert(*host))).sum(),
    });
    seen.collect()
}
