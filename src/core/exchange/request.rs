use std::fmt;

use serde::{Deserialize, Serialize};

use super::vocabulary::vocabulary;
use crate::address::WebUrl;

/// The least number of links followed from the start URL; the start URL has depth 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Depth(pub u16);

impl Depth {
    /// One link further.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

vocabulary! {
    /// What a request is for: the closed list behind the column `purpose`.
    pub enum Purpose in PurposeGroup {
        /// A page of the site tree.
        Page = "page" in Tree,
        /// A robots.txt.
        Robots = "robots" in Beside,
        /// A HEAD request, to find out whether a URL is HTML.
        Head = "head" in Tree,
        /// A query URL that the limit on query URLs per script skips; it is requested to find out what the
        /// limit hides.
        Probe = "probe" in Beside,
        /// A page that was delivered before, requested once more: its server refuses request after request,
        /// and this shows whether it refuses all of them.
        Check = "check" in Tree,
    }
}

vocabulary! {
    /// Whether a request belongs to a depth level of its tree.
    pub enum PurposeGroup {
        /// The request counts at the level of its URL.
        Tree = "tree",
        /// The request has no level of its own.
        Beside = "beside",
    }
}

/// A request that a walk wants sent to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Counts the requests of one site tree from 0, in the order in which they are sent.
    pub number: u32,
    /// The URL to fetch.
    pub url: WebUrl,
    /// What the response is used for.
    pub purpose: Purpose,
    /// None for robots.txt and probes, which are outside the tree.
    pub depth: Option<Depth>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_counted_from_0_and_written_as_numbers() {
        assert_eq!(Depth::default().next().next(), Depth(2));
        assert_eq!(Depth(u16::MAX).next(), Depth(u16::MAX), "no chain of links is that long");
        assert_eq!(Depth(12).to_string(), "12");
    }

    #[test]
    fn purposes_have_their_words_in_the_exchanges_table() {
        let names: Vec<_> = Purpose::ALL.iter().map(|purpose| purpose.as_str()).collect();
        assert_eq!(names, ["page", "robots", "head", "probe", "check"]);
        assert_eq!((Purpose::named("head"), Purpose::named("Head")), (Some(Purpose::Head), None));
    }
}
