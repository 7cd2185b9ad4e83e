use serde::{Deserialize, Serialize};

use super::experience::Experience;
use super::features::FIXED;
use super::logarithm::ln;
use super::rates::Rates;
use super::url::groups::{Group, GroupKeys};
use super::url::shape::{SHAPE, UrlShape};
use super::url::words::url_words;
use super::weights::Sums;
use crate::address::{PageKey, ScriptKey, WebUrl};
use crate::exchange::Depth;

/// The facts about a URL that follow from the URL alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrlKind {
    pub(super) page: PageKey,
    pub(super) script: Option<ScriptKey>,
    /// The hash of the whole URL.
    key: u64,
    groups: GroupKeys,
    shape: [f64; SHAPE.len()],
    /// The factors by which such pages bring more than others of their depth: the pages themselves, and with
    /// those below them.
    factors: [f64; 2],
}

/// The facts about a URL before it is requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrlCandidate {
    /// The groups of pages to which it belongs.
    pub(super) groups: GroupKeys,
    /// The key of the page for those that are found on it.
    key: u32,
    /// The number of external hosts, new in the tree, that such a page brings on average.
    rate: f32,
    /// The sums of the features that do not change while it waits.
    own: f32,
    worth: f32,
    /// The page in an earlier survey.
    pub(super) remembered: Option<Remembered>,
}

/// A page on which URLs were found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finder {
    branch: u32,
    folder: u32,
    key: u32,
    /// The number of external hosts, new in the tree, that it brought.
    hosts: u32,
    /// The number of URLs of the site, new in the tree, that it brought.
    links: u32,
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
        let UrlShape { key, groups, features } = UrlShape::from_url(url);
        Self {
            page: url.page_key(),
            script: url.script(),
            key,
            groups,
            shape: features,
            factors: [&rates.own, &rates.below].map(|scale| scale.factor(&words)),
        }
    }
}

/// The least mean yield of which there is a logarithm.
const LEAST_RATE: f64 = 1e-9;

/// The features of a URL that do not change while it waits.
pub(super) fn fixed(kind: &UrlKind, depth: Depth, finder: Option<&Finder>, rates: &Rates) -> [f64; FIXED] {
    let [own, below] = mean_yields(kind, depth, rates);
    let count = |count: fn(&Finder) -> u32| finder.map_or(0.0, |finder| ln(1.0 + f64::from(count(finder))));
    let of_place = [
        1.0,
        ln(own.max(LEAST_RATE)),
        ln(own.max(below).max(LEAST_RATE)),
        ln(f64::from(depth.0.max(1))),
        f64::from(depth == Depth(1)),
        f64::from(depth == Depth(2)),
        count(|finder| finder.hosts),
        count(|finder| finder.links),
        f64::from(finder.is_some_and(|finder| finder.folder == kind.groups.get(Group::Folder))),
    ];
    let mut out = [0.0; FIXED];
    out[..of_place.len()].copy_from_slice(&of_place);
    out[of_place.len()..].copy_from_slice(&kind.shape);
    out
}

/// The mean yields of such pages: of the page itself, and of the page and those below it.
fn mean_yields(kind: &UrlKind, depth: Depth, rates: &Rates) -> [f64; 2] {
    let [own, below] = [&rates.own, &rates.below].map(|scale| scale.rate_at(depth));
    [own * kind.factors[0], below * kind.factors[1]]
}

impl UrlCandidate {
    /// The candidate for a URL of a level that was found on `finder`; on level 1, each URL is a branch of its
    /// own.
    pub(super) fn new(
        kind: &UrlKind,
        depth: Depth,
        finder: Option<&Finder>,
        rates: &Rates,
        remembered: Option<Remembered>,
    ) -> Self {
        let key = (kind.key >> 32) as u32;
        let groups = kind
            .groups
            .with_key(Group::Branch, finder.map_or(key, |finder| finder.branch))
            .with_key(Group::Parent, finder.map_or(0, |finder| finder.key));
        let sums = rates.weights.of_fixed(&fixed(kind, depth, finder, rates));
        let [rate, _] = mean_yields(kind, depth, rates);
        Self { groups, key, rate: rate as f32, own: sums.own as f32, worth: sums.worth as f32, remembered }
    }
}

impl UrlCandidate {
    /// The page brought `found` external hosts, new in the tree.
    pub(super) fn note(&self, experience: &mut Experience, found: f64) {
        experience.note(&self.groups, self.rate.into(), found);
    }

    /// The logarithms of what the page itself is expected to bring and of the worth of a request for it, by
    /// what the site has brought so far.
    pub(super) fn logarithms(&self, experience: &Experience, rates: &Rates) -> Sums {
        let Sums { own, worth } = rates.weights.of_moving(&experience.features(&self.groups));
        Sums { own: own + f64::from(self.own), worth: worth + f64::from(self.worth) }
    }
}

impl Finder {
    /// A page that was requested for this candidate, and what it brought: external hosts and URLs of the
    /// site, both new in the tree.
    #[must_use]
    pub fn new(candidate: &UrlCandidate, hosts: usize, links: usize) -> Self {
        let bounded = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            branch: candidate.groups.get(Group::Branch),
            folder: candidate.groups.get(Group::Folder),
            key: candidate.key,
            hosts: bounded(hosts),
            links: bounded(links),
        }
    }
}
