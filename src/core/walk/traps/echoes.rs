use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::composed::{PageSegments, SegmentGroup};
use super::tally::NEAR_BITS;
use crate::address::{PageKey, UrlList, WebUrl};
use crate::walk::entry::UrlStates;

/// The number of pages by which the server must have shown that it composes pages before a folder is an echo:
/// the number that also makes combinations of words a product.
const LEAST_ECHOES: usize = 10;
/// The number of pages below a group of segments that must say the same as without the group before all of
/// them are taken to: the number that also makes two hosts mirrors.
const LEAST_EQUAL: usize = 3;
/// The number of bits in which short texts differ if up to half of the text is the time of day or the path.
/// Three of a hundred pairs of unrelated texts differ in so few bits.
const ALIKE_BITS: u32 = 24;
/// The number of bits in which three of four pairs of unrelated texts differ.
const OTHER_BITS: u32 = 30;

/// The evidence of a tree for servers that respond to every path with a page whose relative links lead ever
/// deeper: `/en/about/en/news/`, `/index.php/a/index.php/b`.
///
/// A URL is *composed* if it leads to a page that was read without a group of its segments. Sound sites have
/// such pages: `/fr/about` next to `/about`, perhaps because nobody has translated it yet. But sound sites
/// have no pages that are composed of each other: the same word twice (`/en/about/en/news/`), or two parts in
/// both orders (`/a/b/`, `/b/a/`). If such pages turn out to be *echoes* when they are read, the folder that
/// contains them is an echo, and no more of them are read. Neither are the pages below other parts of the
/// folder, once three pages have shown that these parts are repeated there. A page is an echo if it has the
/// body or the text of a page that is known without some of its segments; or if all new links on it are those
/// of that page, and the texts are alike.
///
/// The evidence is weighed as responses are merged, in their order. A request is sent ahead of earlier
/// responses only if these cannot show a folder to be an echo ([`Echoes::may_be_proven_by`]).
#[derive(Default)]
pub(in crate::walk) struct Echoes {
    /// The pages that were read.
    read: HashMap<PageKey, Fingerprint>,
    folders: HashMap<u64, EchoFolder>,
    /// The number of echoes among the nested pages of the folder that has the most.
    max_echoes: usize,
}

/// The properties by which pages are compared.
#[derive(Clone, Copy)]
pub(in crate::walk) struct Fingerprint {
    pub body_hash: u128,
    /// The `SimHash` of its text.
    pub simhash: Option<u64>,
}

/// The URLs and hosts of a page that are new in the tree.
pub(in crate::walk) struct NewUrls<'a> {
    /// Internal URLs; `at` is their range in the list of the next level.
    pub found: &'a UrlList,
    pub at: Range<usize>,
    pub external_hosts: usize,
}

/// A folder below which pages are composed.
#[derive(Default)]
struct EchoFolder {
    /// Pages that are composed of each other.
    nested: EchoTally,
    /// Pages by the group of segments without which they are known.
    groups: HashMap<u64, EchoTally>,
    /// Groups that are followed by other groups, with these.
    pairs: HashSet<[u64; 2]>,
}

#[derive(Clone, Copy, Default)]
struct EchoTally {
    echoes: usize,
    others: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum EchoVerdict {
    Echo,
    /// It leads nowhere new and says something else, or says too little to decide.
    Open,
    Other,
}

impl Echoes {
    /// Takes in a page that was read.
    pub(in crate::walk) fn note(
        &mut self,
        url: &WebUrl,
        content: Fingerprint,
        new_urls: &NewUrls<'_>,
        known: &UrlStates,
    ) {
        let path = PageSegments::from_url(url);
        self.read.entry(path.key()).or_insert(content);
        let Some(group) = path.groups().find(|group| self.read.contains_key(&path.without(*group))) else {
            return;
        };
        let verdict = self.verdict(&path, content, new_urls, known);
        let folder = self.folders.entry(path.folder(group)).or_default();
        let [own, rest] = path.pair(group);
        // A section that is named twice (`/news/news/`) proves nothing about others.
        let is_nested = own != rest && (path.is_repeated(group) || folder.pairs.contains(&[rest, own]));
        folder.groups.entry(own).or_default().add(verdict);
        if verdict == EchoVerdict::Echo {
            folder.pairs.insert([own, rest]);
        }
        if is_nested {
            folder.nested.add(verdict);
            self.max_echoes = self.max_echoes.max(folder.nested.echoes);
        }
    }

    /// The name of the trap that a URL would lead into; none if the URL may be requested.
    pub(in crate::walk) fn trap(&self, url: &WebUrl, known: &UrlStates) -> Option<String> {
        if self.max_echoes < LEAST_ECHOES {
            return None;
        }
        let path = PageSegments::from_url(url);
        let group = path.groups().find(|group| {
            let folder = self.folders.get(&path.folder(*group));
            folder.is_some_and(|folder| folder.is_echo(&path, *group))
                && known.contains_key(&path.without(*group))
        });
        group.map(|group| format!("{}/**", path.before(group)))
    }

    /// Whether the responses to these requests may show a folder to be an echo.
    pub(in crate::walk) fn may_be_proven_by<'a>(
        &self,
        requests: impl ExactSizeIterator<Item = &'a WebUrl>,
    ) -> bool {
        self.max_echoes + requests.len() >= LEAST_ECHOES
            && self.max_echoes + requests.filter(|url| PageSegments::may_be_composed(url)).count()
                >= LEAST_ECHOES
    }

    /// Compares a page with the pages that are known without some of its segments.
    fn verdict(
        &self,
        path: &PageSegments,
        content: Fingerprint,
        new_urls: &NewUrls<'_>,
        known: &UrlStates,
    ) -> EchoVerdict {
        let shorter: Vec<(SegmentGroup, Fingerprint)> =
            path.groups().filter_map(|group| Some((group, *self.read.get(&path.without(group))?))).collect();
        let folders: Vec<Fingerprint> =
            path.folders().filter_map(|key| self.read.get(&key).copied()).collect();
        let others = || shorter.iter().map(|(_, other)| other).chain(&folders);
        if others().any(|other| other.body_hash == content.body_hash) {
            return EchoVerdict::Echo;
        }
        if new_urls.external_hosts > 0 {
            return EchoVerdict::Other;
        }
        let bits = others().map(|other| content.bits_to(other)).min().unwrap_or(u64::BITS);
        let repeats = || {
            let mut alike = shorter.iter().filter(|(_, other)| content.bits_to(other) <= ALIKE_BITS);
            alike.any(|(group, _)| path.is_repeated(*group) && new_urls.repeats(path, *group, known))
        };
        match () {
            () if bits <= NEAR_BITS || repeats() => EchoVerdict::Echo,
            () if bits < OTHER_BITS => EchoVerdict::Open,
            () => EchoVerdict::Other,
        }
    }
}

impl Fingerprint {
    /// The number of bits in which the texts differ. Pages without words are alike at best.
    fn bits_to(&self, other: &Self) -> u32 {
        match (self.simhash, other.simhash) {
            (Some(one), Some(other)) => (one ^ other).count_ones(),
            (None, None) => ALIKE_BITS,
            _ => u64::BITS,
        }
    }
}

impl NewUrls<'_> {
    /// Whether all new URLs are those of the page without the group. Query URLs do not count; the rule on
    /// scripts bounds them.
    fn repeats(&self, path: &PageSegments, group: SegmentGroup, known: &UrlStates) -> bool {
        let new = self.at.clone().filter_map(|at| self.found.get(at));
        let mut repeated = 0;
        for url in new {
            let new = PageSegments::from_url(&url);
            match new.begins_as(path, group) && known.contains_key(&new.without(group)) {
                true => repeated += 1,
                false if url.is_query() => {}
                false => return false,
            }
        }
        repeated > 0
    }
}

impl EchoFolder {
    /// Whether a composed page is known to be an echo before it is read.
    fn is_echo(&self, path: &PageSegments, group: SegmentGroup) -> bool {
        let is_usual =
            || self.groups.get(&path.pair(group)[0]).is_some_and(|tally| tally.are_echoes(LEAST_EQUAL));
        self.nested.are_echoes(LEAST_ECHOES) && (path.is_repeated(group) || is_usual())
    }
}

impl EchoTally {
    fn add(&mut self, verdict: EchoVerdict) {
        self.echoes += usize::from(verdict == EchoVerdict::Echo);
        self.others += usize::from(verdict == EchoVerdict::Other);
    }

    /// One page in ten may say something else.
    fn are_echoes(self, least: usize) -> bool {
        self.echoes >= least && 10 * self.others <= self.echoes
    }
}
