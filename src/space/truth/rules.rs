use xxhash_rust::xxh3::xxh3_128;

use crate::World;
use crate::model::content::{Element, Url, canonical};
use crate::web::{Lookup, Web};

/// The identity of a page: host, path and query, without the scheme. Stored as a hash of 128 bits, with which
/// no two of a world's 10^8 pages collide by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PageId(u128);

impl PageId {
    pub(crate) fn from_url(url: &Url) -> Self {
        Self::from_target(&url.host, &url.target)
    }

    fn from_target(host: &str, target: &str) -> Self {
        Self(xxh3_128(format!("{host}{target}").as_bytes()))
    }
}

/// The state of an internal URL in a walk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UrlState {
    /// Linked with nofollow only.
    NofollowOnly,
    /// To be listed at the next level.
    Found,
    Listed,
    /// Listed by an earlier tree of the site.
    Earlier,
}

/// The scope of a robots.txt: scheme and host (RFC 9309 §2.3).
pub(super) type Origin = (bool, String);

pub(super) fn origin(url: &Url) -> Origin {
    (url.is_https, url.host.clone())
}

/// The script of a query URL: the URL without its query and path parameters.
pub(super) fn script(url: &Url) -> Option<PageId> {
    if !url.target.contains(['?', ';']) {
        return None;
    }
    let path = path(url);
    let plain: Vec<&str> =
        path.split('/').map(|segment| segment.split(';').next().unwrap_or_default()).collect();
    Some(PageId::from_target(&url.host, &plain.join("/")))
}

/// A path with more segments counts as endless.
const MOST_SEGMENTS: usize = 30;
/// A group of up to three segments may occur three times in a row, but not four times.
const LONGEST_GROUP: usize = 3;
const ROUNDS: usize = 4;

/// Detects a path that looks endless, and returns its pattern with the repeated part in brackets. Numbers may
/// repeat.
pub(super) fn endless(url: &Url) -> Option<String> {
    let segments: Vec<&str> = path(url).split('/').filter(|segment| !segment.is_empty()).collect();
    let has_letter = |segment: &&str| segment.bytes().any(|byte| byte.is_ascii_alphabetic());
    for group in 1..=LONGEST_GROUP {
        let repeats = |window: &[&str]| {
            window[group..] == window[..window.len() - group] && window[..group].iter().any(has_letter)
        };
        if let Some(at) = segments.windows(ROUNDS * group).position(repeats) {
            let repeated_part = format!("({})", segments[at..at + group].join("/"));
            let parts = [&[url.host.as_str()], &segments[..at], &[repeated_part.as_str(), "**"]];
            return Some(parts.concat().join("/"));
        }
    }
    (segments.len() > MOST_SEGMENTS).then(|| format!("{}/**", url.host))
}

/// Whether the last segment of the path has one of these extensions.
pub(super) fn has_extension(url: &Url, extensions: &[String]) -> bool {
    let last = path(url).split('/').next_back().unwrap_or_default();
    let name = last.split(';').next().unwrap_or_default().to_ascii_lowercase();
    extensions.iter().any(|extension| {
        name.strip_suffix(extension.as_str())
            .and_then(|rest| rest.strip_suffix('.'))
            .is_some_and(|stem| !stem.is_empty())
    })
}

pub(super) fn path(url: &Url) -> &str {
    url.target.split('?').next().unwrap_or_default()
}

/// The word for an element in the table `links`.
pub(crate) fn element_name(element: Element) -> &'static str {
    match element {
        Element::A => "a",
        Element::Area => "area",
        Element::Iframe => "iframe",
        Element::Refresh => "meta",
    }
}

/// Whether the name of a host has an address.
pub(super) fn has_address(world: &World, host: &str) -> bool {
    matches!(world.lookup(host), Lookup::Found(records) if records.has_address())
}

/// A URL of the model with these parts.
pub(super) fn url_of(is_https: bool, host: &str, target: &str) -> Url {
    Url { is_https, host: host.to_owned(), target: canonical(host, target) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_segments_may_stand_three_times_in_a_row() {
        let endless = |path: &str| endless(&Url::http("a.ke", path)).is_some();
        assert!(!endless("/news/items/news/items/news/items/"));
        assert!(!endless("/news/items/news/items/news/items/news/"));
        assert!(endless("/news/items/news/items/news/items/news/items/"));
        assert!(endless("/x/a/a/a/a/y?n=1") && !endless("/x/1/1/1/1/1/1/y"));
        assert!(!endless(&"/1".repeat(30)) && endless(&"/1".repeat(31)));
        assert!(!endless("/calendar/2001/02/14.html"));
        let name = super::endless(&Url::http("a.ke", "/x/news/items/news/items/news/items/news/items/"));
        assert_eq!(name.as_deref(), Some("a.ke/x/(news/items)/**"));
    }
}
