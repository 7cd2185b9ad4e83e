use std::collections::BTreeSet;

use foldhash::HashMap;
use memchr::memrchr;
use xxhash_rust::xxh3::xxh3_64;

use super::shape::ShapeId;
use super::tally::{LEAST_PAGES, LevelView, NEAR_BITS, PageRead};
use crate::address::WebUrl;

/// With this many pages that repeat others and lead to more such pages, a folder is a trap on any number of
/// levels: if each page has twenty such links, the third level has 8,000 pages.
const MANY_PAGES: usize = 10 * LEAST_PAGES;

/// The number of pages with the same text that a sound site may have: in two languages that nobody has
/// translated yet, to be printed.
const MOST_COPIES: usize = 3;

/// Folders whose pages say again what other pages of the site said, level after level, and lead to nothing
/// but more pages of the folder: `/s/` if each link has a new name in it, as `/s/5f0c/prices.html` and
/// `/s/xkqz/prices.html`.
///
/// The part of their URLs that varies may be spelled in any way, because the texts decide. Links that leave
/// the site count if they lead to hosts that are new in the tree: pages without end often have one to share
/// them by.
#[derive(Default)]
pub(in crate::walk) struct Repeats {
    /// The number of pages per text.
    texts: HashMap<u64, usize>,
    /// By the last name of the path: the text of the last page with that name, and the number of pages with
    /// that text so far.
    by_name: HashMap<u64, (u64, usize)>,
    /// Folders that repeated on the last level.
    streaks: HashMap<ShapeId, FolderStreak>,
}

/// The levels in a row on which a folder repeated.
#[derive(Clone, Copy, Default)]
struct FolderStreak {
    levels: u16,
    pages: usize,
}

/// The pages of a folder on one level.
#[derive(Default)]
struct FolderTally {
    /// Pages that repeat known text and lead on.
    repeats: usize,
    /// Pages with new text.
    new_pages: usize,
    /// New URLs in the folder.
    own: usize,
    /// New URLs outside it, and new hosts.
    others: usize,
}

impl Repeats {
    /// Takes in a page that was read. Returns whether at least [`MOST_COPIES`] pages before it had the same
    /// text.
    pub(in crate::walk) fn note(&mut self, page: &PageRead) -> bool {
        let path = page.url.path().trim_end_matches('/');
        let name = &path[memrchr(b'/', path.as_bytes()).map_or(0, |slash| slash + 1)..];
        let last = self.by_name.entry(xxh3_64(name.as_bytes())).or_default();
        let is_near = (last.0 ^ page.text).count_ones() <= NEAR_BITS;
        let times = self.texts.entry(page.text).or_default();
        let previous = if is_near { last.1.max(*times) } else { *times };
        *times = previous + 1;
        *last = (page.text, previous + 1);
        previous >= MOST_COPIES
    }

    /// A level is done: returns the folders that are traps by now. If several contain the same URLs, it is
    /// the innermost. URLs that are left out for another reason no longer count for a folder.
    pub(in crate::walk) fn evaluate(
        &mut self,
        pages: &[PageRead],
        level: LevelView<'_>,
        levels: u16,
        is_left_out: impl Fn(&WebUrl) -> bool,
    ) -> BTreeSet<String> {
        let children = |page| level.children(page).filter(|url| !is_left_out(url));
        let previous = std::mem::take(&mut self.streaks);
        let tallies = repeating_folders(pages, level.site, children);
        self.streaks = tallies
            .into_iter()
            .map(|(id, tally)| (id, previous.get(&id).copied().unwrap_or_default().and(&tally)))
            .collect();
        let is_long = |streak: &FolderStreak| {
            (streak.levels >= levels && streak.pages >= LEAST_PAGES) || streak.pages >= MANY_PAGES
        };
        if !self.streaks.values().any(is_long) {
            return BTreeSet::new();
        }
        let innermost = |url: WebUrl| {
            let location = PageLocation::new(&url, level.site);
            let mut endless =
                location.folders().filter(|folder| self.streaks.get(&id(folder)).is_some_and(is_long));
            endless.next_back().map(str::to_owned)
        };
        pages.iter().flat_map(children).filter_map(innermost).collect()
    }
}

/// The folders whose pages repeat known text and brought more of their kind. A page that repeats known text
/// and leads nowhere proves nothing: many are under construction. Nor does a page that leads only into
/// another trap.
fn repeating_folders<'a, C: Iterator<Item = WebUrl>>(
    pages: &'a [PageRead],
    site: &str,
    children: impl Fn(&'a PageRead) -> C,
) -> HashMap<ShapeId, FolderTally> {
    let mut tallies: HashMap<ShapeId, FolderTally> = HashMap::default();
    let pages = pages.iter().filter(|page| !page.url.is_query());
    let pages: Vec<(&'a PageRead, bool)> =
        pages.map(|page| (page, page.is_repeat && children(page).next().is_some())).collect();
    for (page, _) in pages.iter().filter(|(_, repeats)| *repeats) {
        let location = PageLocation::new(&page.url, site);
        tallies.extend(location.folders().map(|folder| (id(folder), FolderTally::default())));
    }
    if tallies.is_empty() {
        return tallies;
    }
    for (page, repeats) in &pages {
        for folder in PageLocation::new(&page.url, site).folders() {
            if let Some(tally) = tallies.get_mut(&id(folder)) {
                tally.repeats += usize::from(*repeats);
                tally.new_pages += usize::from(!page.is_repeat);
                tally.others += page.external_hosts;
            }
        }
    }
    // One page in ten may say something new.
    tallies.retain(|_, tally| tally.others == 0 && tally.repeats >= 9 * tally.new_pages);
    if tallies.is_empty() {
        return tallies;
    }
    for (page, _) in pages {
        let location = PageLocation::new(&page.url, site);
        let folders: Vec<&str> =
            location.folders().filter(|folder| tallies.contains_key(&id(folder))).collect();
        for url in children(page).filter(|_| !folders.is_empty()) {
            let child = PageLocation::new(&url, site);
            for folder in &folders {
                if let Some(tally) = tallies.get_mut(&id(folder)) {
                    tally.own += usize::from(child.is_in(folder));
                    tally.others += usize::from(!child.is_in(folder));
                }
            }
        }
    }
    tallies.retain(|_, tally| tally.own > 0 && tally.others == 0);
    tallies
}

impl FolderStreak {
    /// Adds a level.
    fn and(self, tally: &FolderTally) -> Self {
        Self { levels: self.levels.saturating_add(1), pages: self.pages + tally.repeats }
    }
}

/// The location of a page that is no query: `*.a.ke/www.a.ke/s/5f0c/prices.html`.
pub(in crate::walk) struct PageLocation(String);

impl PageLocation {
    pub(in crate::walk) fn new(url: &WebUrl, site: &str) -> Self {
        let canonical = url.canonical();
        let rest = canonical.split_once("://").map_or("", |(_, rest)| rest);
        Self(format!("*.{site}/{rest}"))
    }

    /// The folders around it, beginning with the whole site: `*.a.ke/`, `*.a.ke/www.a.ke/` …
    pub(in crate::walk) fn folders(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.match_indices('/').map(|(slash, _)| &self.0[..=slash])
    }

    fn is_in(&self, folder: &str) -> bool {
        self.0.starts_with(folder)
    }
}

/// The pattern that names a folder: `www.a.ke/s/**`.
pub(in crate::walk) fn name(folder: &str) -> String {
    let (site, path) = folder.split_once('/').unwrap_or((folder, ""));
    if path.is_empty() { format!("{site}/**") } else { format!("{path}**") }
}

pub(in crate::walk) fn id(folder: &str) -> ShapeId {
    ShapeId::Folder(xxh3_64(folder.as_bytes()))
}
