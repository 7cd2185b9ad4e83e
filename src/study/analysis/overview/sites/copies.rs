use serde::Serialize;

use super::near::{Content, near_duplicates};
use crate::analysis::tables::key;

/// Pages that have the same body as another page, or nearly the same text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Copies {
    /// Pages with a hash of their body.
    pub pages: u64,
    /// Distinct bodies among them.
    pub bodies: u64,
    /// Pages whose body occurred before in their site.
    pub inside_sites: u64,
    /// Pages whose body occurs in at least two sites.
    pub across_sites: u64,
    /// Sites with at least one page whose body occurs in another site.
    pub sites_sharing: u64,
    /// Pages whose text is nearly that of another page of their site with a different body.
    pub nearly_inside_sites: u64,
}

/// Bodies by site: 16 bytes per page. The tables hold a hash of 128 bits, of which 64 are kept: among 10⁷
/// bodies, 3 × 10⁻⁶ collisions are expected.
#[derive(Default)]
pub(in crate::analysis::overview) struct CopiesMaker {
    list: Vec<(u64, u32)>,
    /// Pages with text, by site: 24 bytes per page.
    texts: Vec<(u32, Content)>,
}

impl CopiesMaker {
    /// Adds a page. `simhash` is the `SimHash` of its text in hexadecimal, if it has any text.
    pub(in crate::analysis::overview) fn add(&mut self, body_hash: &str, simhash: Option<&str>, site: u32) {
        let body = key(body_hash);
        self.list.push((body, site));
        if let Some(text) = simhash.and_then(|simhash| u64::from_str_radix(simhash, 16).ok()) {
            self.texts.push((site, Content { body, text }));
        }
    }

    pub(in crate::analysis::overview) fn finish(mut self) -> Copies {
        self.list.sort_unstable();
        let mut copies = Copies { pages: self.list.len() as u64, ..Copies::default() };
        let mut sharing: Vec<u32> = Vec::new();
        for body in self.list.chunk_by(|a, b| a.0 == b.0) {
            let sites = body.chunk_by(|a, b| a.1 == b.1);
            let count = sites.clone().count();
            copies.bodies += 1;
            copies.inside_sites += (body.len() - count) as u64;
            if count > 1 {
                copies.across_sites += body.len() as u64;
                sharing.extend(sites.map(|site| site[0].1));
            }
        }
        sharing.sort_unstable();
        sharing.dedup();
        copies.sites_sharing = sharing.len() as u64;
        copies.nearly_inside_sites = self.nearly_inside_sites();
        copies
    }

    fn nearly_inside_sites(&mut self) -> u64 {
        self.texts.sort_unstable();
        let sites = self.texts.chunk_by(|a, b| a.0 == b.0);
        sites.map(|site| near_duplicates(&site.iter().map(|(_, content)| *content).collect::<Vec<_>>())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_inside_sites_are_told_from_copies_across() {
        let mut maker = CopiesMaker::default();
        for (hash, site) in [("a", 0), ("a", 0), ("a", 1), ("b", 0), ("b", 0), ("c", 2)] {
            maker.add(hash, if hash == "c" { None } else { Some("0f") }, site);
        }
        let expected = Copies {
            pages: 6,
            bodies: 3,
            inside_sites: 2,
            across_sites: 3,
            sites_sharing: 2,
            nearly_inside_sites: 4,
        };
        assert_eq!(maker.finish(), expected);
    }
}
