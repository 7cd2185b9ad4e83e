use serde::Serialize;

use super::super::recorded::key;

/// Pages with the same body as another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Copies {
    /// Pages with a hash of their body.
    pub pages: u64,
    /// Different bodies among them.
    pub bodies: u64,
    /// Pages beyond the first of a body in their site.
    pub inside_sites: u64,
    /// Pages whose body occurs in two sites or more.
    pub across_sites: u64,
    /// Sites with at least one such page.
    pub sites_sharing: u64,
}

/// Bodies by site: 16 bytes a page. The hash of the tables has 128 bits, of which 64 are kept: 10⁷ bodies meet
/// by chance 3 × 10⁻⁶ times.
#[derive(Default)]
pub(super) struct CopiesMaker {
    list: Vec<(u64, u32)>,
}

impl CopiesMaker {
    pub(super) fn add(&mut self, body_hash: &str, site: u32) {
        self.list.push((key(body_hash), site));
    }

    pub(super) fn finish(mut self) -> Copies {
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
        copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_inside_sites_are_told_from_copies_across() {
        let mut maker = CopiesMaker::default();
        for (hash, site) in [("a", 0), ("a", 0), ("a", 1), ("b", 0), ("b", 0), ("c", 2)] {
            maker.add(hash, site);
        }
        let expected = Copies { pages: 6, bodies: 3, inside_sites: 2, across_sites: 3, sites_sharing: 2 };
        assert_eq!(maker.finish(), expected);
    }
}
