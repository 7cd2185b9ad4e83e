use xxhash_rust::xxh3::xxh3_64;

use crate::address::{PageKey, WebUrl};

/// Longer paths are traps by their length.
const MAX_PARTS: usize = 32;

/// Host, path and query of a page in canonical form, cut at the slashes of the path: `a.ke/en/about/` has the
/// parts `en`, `about` and an empty one.
pub(in crate::walk) struct PageSegments {
    text: String,
    /// The position of the slash before each part.
    slashes: Vec<usize>,
    /// The position of the end of the path.
    end: usize,
    /// The number of parts up to the last one that is not empty.
    names: usize,
}

/// Successive parts of a path, by index: from `from` up to, but not including, `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::walk) struct SegmentGroup {
    from: usize,
    to: usize,
}

impl PageSegments {
    pub(in crate::walk) fn from_url(url: &WebUrl) -> Self {
        let canonical = url.without_session().canonical();
        let text = canonical.split_once("://").map_or_else(String::new, |(_, rest)| rest.to_owned());
        let end = text.find('?').unwrap_or(text.len());
        let slashes: Vec<usize> = text[..end].match_indices('/').map(|(at, _)| at).collect();
        let mut path = Self { text, slashes, end, names: 0 };
        let last = (0..path.slashes.len()).rfind(|at| !path.part(*at).is_empty());
        path.names = last.map_or(0, |at| at + 1);
        path
    }

    pub(in crate::walk) fn key(&self) -> PageKey {
        PageKey(xxh3_64(self.text.as_bytes()))
    }

    /// The groups that may be left out of the path: any successive parts except the last name, because
    /// without it most paths lead to their folder.
    pub(in crate::walk) fn groups(&self) -> impl Iterator<Item = SegmentGroup> + use<> {
        let names = if self.slashes.len() > MAX_PARTS { 0 } else { self.names };
        (0..names).flat_map(move |from| (from + 1..names).map(move |to| SegmentGroup { from, to }))
    }

    /// Whether a URL has parts that may be left out.
    pub(in crate::walk) fn may_be_composed(url: &WebUrl) -> bool {
        url.path().trim_end_matches('/').matches('/').count() > 1
    }

    /// The page without a group.
    pub(in crate::walk) fn without(&self, group: SegmentGroup) -> PageKey {
        let [before, after] = [&self.text[..self.slashes[group.from]], &self.text[self.slashes[group.to]..]];
        PageKey(xxh3_64([before, after].concat().as_bytes()))
    }

    /// The folders that contain the page, with and without a trailing slash.
    pub(in crate::walk) fn folders(&self) -> impl Iterator<Item = PageKey> + '_ {
        let names = if self.slashes.len() > MAX_PARTS { 0 } else { self.names };
        let slashes = self.slashes.iter().take(names);
        let ends = slashes.enumerate().flat_map(|(at, slash)| [(at > 0).then_some(*slash), Some(slash + 1)]);
        ends.flatten().map(|end| PageKey(xxh3_64(&self.text.as_bytes()[..end])))
    }

    /// Whether a part of the group occurs again after the group.
    pub(in crate::walk) fn is_repeated(&self, group: SegmentGroup) -> bool {
        let mut parts = (group.from..group.to).map(|at| self.part(at)).filter(|part| !part.is_empty());
        parts.any(|part| (group.to..self.names).any(|at| self.part(at) == part))
    }

    /// The hashes of the group and of the folders after it.
    pub(in crate::walk) fn pair(&self, group: SegmentGroup) -> [u64; 2] {
        let (from, to) = (self.slashes[group.from], self.slashes[group.to]);
        let last = self.slashes.last().map_or(to, |last| *last);
        [&self.text[from..to], &self.text[to..last]].map(|text| xxh3_64(text.as_bytes()))
    }

    /// The hash of the folder that contains the group.
    pub(in crate::walk) fn folder(&self, group: SegmentGroup) -> u64 {
        xxh3_64(self.before(group).as_bytes())
    }

    pub(in crate::walk) fn before(&self, group: SegmentGroup) -> &str {
        &self.text[..self.slashes[group.from]]
    }

    /// Whether this path begins like another, up to and including the group.
    pub(in crate::walk) fn begins_as(&self, other: &Self, group: SegmentGroup) -> bool {
        self.slashes.len() <= MAX_PARTS && self.text.starts_with(&other.text[..=other.slashes[group.to]])
    }

    fn part(&self, at: usize) -> &str {
        let end = self.slashes.get(at + 1).copied().unwrap_or(self.end);
        &self.text[self.slashes[at] + 1..end]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> PageSegments {
        PageSegments::from_url(&WebUrl::parse(&format!("http://a.ke{text}")).unwrap())
    }

    fn key(text: &str) -> PageKey {
        path(text).key()
    }

    #[test]
    fn any_parts_but_the_last_name_may_be_left_out() {
        let shorter = |text: &str, others: &[&str]| {
            let path = path(text);
            let found: Vec<PageKey> = path.groups().map(|group| path.without(group)).collect();
            assert_eq!(found, others.iter().map(|other| key(other)).collect::<Vec<_>>(), "{text}");
        };
        shorter("/a/b/c", &["/b/c", "/c", "/a/c"]);
        shorter("/a/b/", &["/b/"]);
        shorter("/a/b.php?c/d", &["/b.php?c/d"]);
        shorter("/%61//b", &["//b", "/b", "/a/b"]);
        shorter("/a/(S(x))/b", &["/b"]);
        for text in ["/", "/a", "/a/", "/?a/b", "//", &"/a".repeat(33)] {
            shorter(text, &[]);
        }
    }

    #[test]
    fn a_page_lies_in_its_folders() {
        let folders: Vec<PageKey> = path("/a.php/b/c?d").folders().collect();
        assert_eq!(folders, ["/", "/a.php", "/a.php/", "/a.php/b", "/a.php/b/"].map(key));
        assert_eq!(path("/a/").folders().collect::<Vec<_>>(), [key("/")]);
        assert_eq!(path("/").folders().count(), 0);
    }

    #[test]
    fn a_group_is_repeated_where_a_part_of_it_stands_behind_it() {
        let repeated = |text: &str| {
            let path = path(text);
            path.groups().filter(|group| path.is_repeated(*group)).count()
        };
        assert_eq!(repeated("/en/about/en/news/"), 2, "en, en/about");
        assert_eq!(repeated("/a/b/c/"), 0);
        assert_eq!(repeated("/a/a"), 1);
        assert_eq!(repeated("/a//b/"), 0, "nothing is no word");
        assert_eq!(repeated("/a/b?a"), 0);
    }

    #[test]
    fn two_orders_of_two_folders_are_the_same_pair_turned_round() {
        let pair = |text: &str| path(text).pair(SegmentGroup { from: 0, to: 1 });
        let [own, rest] = pair("/a/b/");
        assert_eq!(pair("/b/a/"), [rest, own]);
        assert_eq!(pair("/b/a/x.html"), [rest, own], "whatever page is in it");
        assert_eq!(pair("/a/x.html")[0], own);
        assert_ne!(pair("/a/x.html")[1], rest);
    }

    proptest! {
        #[test]
        fn any_url_is_known_by_its_page_key_and_every_group_makes_it_shorter(target in "[a-c/%=;?().]{0,24}|(/[ab]{0,1}){0,40}") {
            if let Ok(url) = WebUrl::parse(&format!("http://a.ke/{target}")) {
                let path = PageSegments::from_url(&url);
                prop_assert_eq!(path.key(), url.page_key());
                prop_assert!(path.groups().next().is_none() || PageSegments::may_be_composed(&url));
                for group in path.groups() {
                    prop_assert_ne!(path.without(group), path.key());
                    prop_assert!(path.begins_as(&path, group) && path.before(group).starts_with("a.ke"));
                    let _ = (path.pair(group), path.folder(group), path.is_repeated(group));
                }
                prop_assert!(path.folders().all(|folder| folder != path.key()) || url.is_query() || path.names < path.slashes.len());
            }
        }
    }
}
