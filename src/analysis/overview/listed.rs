use std::collections::HashMap;

use polars::prelude::{DataFrame, PolarsResult};

use super::super::recorded::tree_key;
use super::super::{Labels, group};
use super::names::Names;

/// The site trees that are in the table of sites, by which the rows of other tables are known.
#[derive(Default)]
pub(super) struct Listed {
    numbers: HashMap<u64, u32>,
    pub trees: Vec<ListedTree>,
    pub sites: Names,
    pub labels: Labels,
}

/// What other tables need to know of a tree.
#[derive(Clone, Copy)]
pub(super) struct ListedTree {
    pub site: u32,
    /// The label of its country domain.
    pub cctld: u32,
}

/// A row of the table of sites.
pub(super) struct SiteView<'a> {
    pub site: u32,
    /// Whether it is the first tree of its site.
    pub is_first: bool,
    pub cctld: Option<&'a str>,
    pub generation: u32,
    pub outcome: &'a str,
    pub deepest: Option<u32>,
    pub pages: u64,
    pub address: Option<&'a str>,
    pub country: Option<&'a str>,
    pub network: Option<String>,
    pub server: Option<&'a str>,
}

pub(super) const SITES: &[&str] = &[
    "site",
    "seed",
    "cctld",
    "generation",
    "outcome",
    "deepest",
    "pages",
    "address",
    "country",
    "asn",
    "as_org",
    "server",
];

/// Under this name stand sites outside the surveyed country domains.
pub(super) const OUTSIDE: &str = "outside";

impl Listed {
    /// Gives the rows of a segment of the table of sites to `take`, each tree once, with the label of its country
    /// domain.
    pub(super) fn add(
        &mut self,
        frame: &DataFrame,
        mut take: impl FnMut(&SiteView<'_>, u32),
    ) -> PolarsResult<()> {
        let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
        let (cctlds, generations) = (frame.column("cctld")?.str()?, frame.column("generation")?.u32()?);
        let (outcomes, deepest) = (frame.column("outcome")?.str()?, frame.column("deepest")?.u32()?);
        let pages = frame.column("pages")?.u64()?;
        let (addresses, countries) = (frame.column("address")?.str()?, frame.column("country")?.str()?);
        let (systems, organisations) = (frame.column("asn")?.u32()?, frame.column("as_org")?.str()?);
        let servers = frame.column("server")?.str()?;
        for row in 0..frame.height() {
            let (Some(site), Some(seed)) = (sites.get(row), seeds.get(row)) else { continue };
            let cctld = cctlds.get(row);
            let Some((tree, is_first)) = self.list(site, seed, cctld) else { continue };
            let organisation = organisations.get(row);
            let ListedTree { site, cctld: label } = self.trees[tree as usize];
            let site = SiteView {
                site,
                is_first,
                cctld,
                generation: generations.get(row).unwrap_or_default(),
                outcome: outcomes.get(row).unwrap_or(""),
                deepest: deepest.get(row),
                pages: pages.get(row).unwrap_or_default(),
                address: addresses.get(row),
                country: countries.get(row),
                network: systems.get(row).map(|asn| group::network(asn, organisation)),
                server: servers.get(row),
            };
            take(&site, label);
        }
        Ok(())
    }

    /// The number of a tree that is new, and whether its site is.
    fn list(&mut self, site: &str, seed: u32, cctld: Option<&str>) -> Option<(u32, bool)> {
        let number = u32::try_from(self.trees.len()).unwrap_or(u32::MAX);
        if self.numbers.insert(tree_key(site, seed), number).is_some() {
            return None;
        }
        let known = self.sites.len();
        let cctld = self.labels.number(cctld.unwrap_or(OUTSIDE));
        self.trees.push(ListedTree { site: self.sites.number(site), cctld });
        Some((number, self.sites.len() > known))
    }

    pub(super) fn tree(&self, site: Option<&str>, seed: Option<u32>) -> Option<u32> {
        self.numbers.get(&tree_key(site?, seed?)).copied()
    }

    pub(super) fn get(&self, tree: u32) -> ListedTree {
        self.trees[tree as usize]
    }
}
