use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::rates::Rates;
use super::words::url_words;
use crate::address::{PageKey, ScriptKey, WebUrl};
use crate::exchange::Depth;

/// The facts about a URL that follow from the URL alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrlKind {
    pub(super) page: PageKey,
    pub(super) script: Option<ScriptKey>,
    /// The hash of the whole URL.
    key: u64,
    /// Host and path up to the last slash.
    folder: u64,
    /// The factors by which such pages bring more than others of their depth: the pages themselves, and with
    /// those below them.
    factors: [f64; 2],
}

/// The facts about a URL before it is requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrlCandidate {
    /// The page of level 1 through which it was reached.
    pub(super) branch: u64,
    /// Host and path up to the last slash.
    pub(super) folder: u64,
    /// The number of external hosts, new in the tree, that such a page brings on average.
    pub(super) own: f64,
    /// The greater of that and of the yield per request of the page and those below it.
    pub(super) worth: f64,
    /// The page in an earlier survey.
    pub(super) remembered: Option<Remembered>,
}

/// The yield of a page in an earlier survey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Remembered {
    /// The number of external hosts per request along the best path through it.
    pub worth: f32,
    /// The number of external hosts, new in the tree, that it brought itself.
    pub hosts: f32,
}

impl UrlKind {
    /// Applies these rates to a URL.
    #[must_use]
    pub fn from_url(url: &WebUrl, rates: &Rates) -> Self {
        let words = url_words(url);
        let canonical = url.canonical();
        let address = canonical.split_once("://").map_or("", |(_, address)| address);
        let address = address.split(['?', ';']).next().unwrap_or_default();
        let folder = address.rsplit_once('/').map_or(address, |(folder, _)| folder);
        Self {
            page: url.page_key(),
            script: url.script(),
            key: xxh3_64(canonical.as_bytes()),
            folder: xxh3_64(folder.as_bytes()),
            factors: [&rates.own, &rates.below].map(|scale| scale.factor(&words)),
        }
    }
}

impl UrlCandidate {
    /// The candidate for a URL of a level that was found on a page of the branch of `finder`; on level 1,
    /// each URL is a branch of its own.
    pub(super) fn new(
        kind: &UrlKind,
        depth: Depth,
        finder: Option<&Self>,
        rates: &Rates,
        remembered: Option<Remembered>,
    ) -> Self {
        let [own, below] = [&rates.own, &rates.below].map(|scale| scale.rate_at(depth));
        let [own, below] = [own * kind.factors[0], below * kind.factors[1]];
        Self {
            branch: finder.map_or(kind.key, |finder| finder.branch),
            folder: kind.folder,
            own,
            worth: own.max(below),
            remembered,
        }
    }
}
