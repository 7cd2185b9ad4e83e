use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::composed::{PageSegments, SegmentGroup};
use super::tally::NEAR_BITS;
use crate::address::{PageKey, UrlList, WebUrl};
use crate::walk::entry::UrlStates;

/// Pages of which the server must have shown that it composes them, before a folder is an echo: as many as
/// make combinations of words a product.
const LEAST_ECHOES: usize = 10;
/// Pages below a group of segments that must say the same as without it, before all of them are taken to: as
/// of two hosts that are mirrors.
const LEAST_EQUAL: usize = 3;
/// Bits in which short texts differ of which up to half is the time of day or the path. Of texts that have
/// nothing to do with each other three of a hundred differ in so few.
const ALIKE_BITS: u32 = 24;
/// Bits in which three of four texts differ that have nothing to do with each other.
const OTHER_BITS: u32 = 30;

/// What the pages of a tree show of servers that answer every path, on whose pages relative links lead ever
/// deeper: `/en/about/en/news/`, `/index.php/a/index.php/b`.
///
/// A URL is *composed* where it leads to a page that was read without a group of its segments. Sound sites
/// have such pages: `/fr/about` beside `/about`, be it that nobody has translated it yet. What they do not
/// have is pages that are composed of each other: the same word twice (`/en/about/en/news/`), or two parts in
/// both orders (`/a/b/`, `/b/a/`). Where such pages, when read, turn out to be *echoes*, the folder that they
/// lie in is one, and no more of them are read; nor are those below other parts of it that three pages have
/// shown to be repeated there. A page is an echo if it has the body or the text of a page that is known
/// without some of its segments; or if all new links on it are those of that page, and the texts are alike.
///
/// All is weighed as responses are merged, in their order. A request is sent ahead of earlier responses only
/// where these cannot have shown a folder to be an echo ([`Echoes::may_be_proven_by`]).
#[derive(Default)]
pub(in crate::walk) struct Echoes {
    /// What was read, by page.
    read: HashMap<PageKey, Fingerprint>,
    folders: HashMap<u64, EchoFolder>,
    /// The most composed pages of a folder that were echoes.
    most_echoes: usize,
}

/// What a page is compared by.
#[derive(Clone, Copy)]
pub(in crate::walk) struct Fingerprint {
    pub body_hash: u128,
    /// Of its text.
    pub simhash: Option<u64>,
}

/// What a page brought that is new in the tree.
pub(in crate::walk) struct NewUrls<'a> {
    /// Internal URLs by their place in the list of the next level.
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
    /// Groups that were read before others, and these.
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
    /// It leads nowhere new and says something else, or says too little to tell.
    Open,
    Other,
}

impl Echoes {
    /// A page was read.
    pub(in crate::walk) fn note(
        &mut self,
        url: &WebUrl,
        content: Fingerprint,
        brought: &NewUrls<'_>,
        known: &UrlStates,
    ) {
        let path = PageSegments::from_url(url);
        self.read.entry(path.key()).or_insert(content);
        let Some(group) = path.groups().find(|group| self.read.contains_key(&path.without(*group))) else {
            return;
        };
        let verdict = self.verdict(&path, content, brought, known);
        let folder = self.folders.entry(path.folder(group)).or_default();
        let [own, rest] = path.pair(group);
        // A section that is called twice (`/news/news/`) tells nothing of others.
        let is_nested = own != rest && (path.is_repeated(group) || folder.pairs.contains(&[rest, own]));
        folder.groups.entry(own).or_default().add(verdict);
        if verdict == EchoVerdict::Echo {
            folder.pairs.insert([own, rest]);
        }
        if is_nested {
            folder.nested.add(verdict);
            self.most_echoes = self.most_echoes.max(folder.nested.echoes);
        }
    }

    /// How a trap is called that a URL would lead into; none where it may be asked for.
    pub(in crate::walk) fn trap(&self, url: &WebUrl, known: &UrlStates) -> Option<String> {
        if self.most_echoes < LEAST_ECHOES {
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
        self.most_echoes + requests.len() >= LEAST_ECHOES
            && self.most_echoes + requests.filter(|url| PageSegments::may_be_composed(url)).count()
                >= LEAST_ECHOES
    }

    /// What a page is beside those that are known without some of its segments.
    fn verdict(
        &self,
        path: &PageSegments,
        content: Fingerprint,
        brought: &NewUrls<'_>,
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
        if brought.external_hosts > 0 {
            return EchoVerdict::Other;
        }
        let bits = others().map(|other| content.bits_to(other)).min().unwrap_or(u64::BITS);
        let repeats = || {
            let mut alike = shorter.iter().filter(|(_, other)| content.bits_to(other) <= ALIKE_BITS);
            alike.any(|(group, _)| path.is_repeated(*group) && brought.repeats(path, *group, known))
        };
        match () {
            () if bits <= NEAR_BITS || repeats() => EchoVerdict::Echo,
            () if bits < OTHER_BITS => EchoVerdict::Open,
            () => EchoVerdict::Other,
        }
    }
}

impl Fingerprint {
    /// In how many bits the texts differ. Pages without a word are alike at most.
    fn bits_to(&self, other: &Self) -> u32 {
        match (self.simhash, other.simhash) {
            (Some(one), Some(other)) => (one ^ other).count_ones(),
            (None, None) => ALIKE_BITS,
            _ => u64::BITS,
        }
    }
}

impl NewUrls<'_> {
    /// Whether all new URLs are those of the page without the group, but for queries, which the rule on
    /// scripts bounds.
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

    /// One page of ten may say something else.
    fn are_echoes(self, least: usize) -> bool {
        self.echoes >= least && 10 * self.others <= self.echoes
    }
}
