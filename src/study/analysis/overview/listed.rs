use polars::prelude::{DataFrame, PolarsResult};

use super::super::tables::{TreeNumbers, columns};
use super::super::{Labels, tables::group};
use super::names::Names;

/// The site trees in the table of sites. The rows of other tables refer to them.
#[derive(Default)]
pub(super) struct ListedTrees {
    numbers: TreeNumbers,
    pub trees: Vec<ListedTree>,
    pub sites: Names,
    pub labels: Labels,
}

/// The attributes of a tree that other tables need.
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

columns! {
    ListedSiteColumns {
        site: str, seed: u32, cctld: str, generation: u32, outcome: str, deepest: u32, pages: u64, address: str, country: str,
        asn: u32, as_org: str, server: str,
    }
}

/// The name for sites outside the surveyed country domains.
pub(super) const OUTSIDE: &str = "outside";

impl ListedTrees {
    /// Passes the rows of a segment of the table of sites to `take`, each tree once, with the label of its
    /// country domain.
    pub(super) fn add(
        &mut self,
        frame: &DataFrame,
        mut take: impl FnMut(&SiteView<'_>, u32),
    ) -> PolarsResult<()> {
        let columns = ListedSiteColumns::from_frame(frame)?;
        for row in 0..frame.height() {
            let (Some(site), Some(seed)) = (columns.site.get(row), columns.seed.get(row)) else { continue };
            let cctld = columns.cctld.get(row);
            let Some((tree, is_first)) = self.list(site, seed, cctld) else { continue };
            let ListedTree { site, cctld: label } = self.trees[tree as usize];
            let site = SiteView {
                site,
                is_first,
                cctld,
                generation: columns.generation.get(row).unwrap_or_default(),
                outcome: columns.outcome.get(row).unwrap_or(""),
                deepest: columns.deepest.get(row),
                pages: columns.pages.get(row).unwrap_or_default(),
                address: columns.address.get(row),
                country: columns.country.get(row),
                network: columns.asn.get(row).map(|asn| group::network(asn, columns.as_org.get(row))),
                server: columns.server.get(row),
            };
            take(&site, label);
        }
        Ok(())
    }

    /// Adds a tree. Returns its number and whether its site is new; none if the tree is already listed.
    fn list(&mut self, site: &str, seed: u32, cctld: Option<&str>) -> Option<(u32, bool)> {
        let number = self.numbers.add(site, seed)?;
        let known = self.sites.len();
        let cctld = self.labels.number(cctld.unwrap_or(OUTSIDE));
        self.trees.push(ListedTree { site: self.sites.number(site), cctld });
        Some((number, self.sites.len() > known))
    }

    /// The sites of the surveyed country domains that have a tree, each once for each of its trees.
    pub(super) fn sites_in_country_domains(&self) -> impl Iterator<Item = &str> {
        let outside = self.labels.known(OUTSIDE);
        let inside = self.trees.iter().filter(move |tree| Some(tree.cctld) != outside);
        inside.map(|tree| self.sites.name(tree.site))
    }

    pub(super) fn tree(&self, site: Option<&str>, seed: Option<u32>) -> Option<u32> {
        self.numbers.find(site, seed)
    }

    /// The tree of each row. The frame must hold the columns that identify the tree.
    pub(super) fn trees_of(&self, frame: &DataFrame) -> PolarsResult<Vec<Option<u32>>> {
        self.numbers.for_rows(frame)
    }

    pub(super) fn get(&self, tree: u32) -> ListedTree {
        self.trees[tree as usize]
    }
}
