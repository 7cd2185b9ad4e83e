use super::World;
use super::draw::Key;
use super::names::site_key;
use super::resource::{Path, numbers};
use super::tree::Node;

/// The second name of a page, in the same directory so that its relative links mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alias {
    /// `/index.html` for `/`
    Index,
    /// `/Part-3.html`, `/part-3/0-7.HTML`
    Capital,
    /// `/part-3`, `/part-3/0-7`
    Short,
}

impl Alias {
    /// The second name of the page with this key, if it has one.
    pub fn of(world: &World, path: &[u32], key: Key, is_script_only: bool) -> Option<Self> {
        let has_form = path.is_empty() || !is_script_only;
        if !has_form || !key.draw("second name").happens(world.copies.alias_share) {
            return None;
        }
        Some(match path {
            [] => Self::Index,
            _ if key.draw("form of second name").happens(0.5) => Self::Capital,
            _ => Self::Short,
        })
    }

    pub fn target(self, path: &[u32]) -> String {
        match (self, path) {
            (Self::Index, _) | (_, []) => "/index.html".to_owned(),
            (Self::Capital, [only]) => format!("/Part-{only}.html"),
            (Self::Capital, [first, rest @ ..]) => format!("/part-{first}/{}.HTML", numbers(rest)),
            (Self::Short, [only]) => format!("/part-{only}"),
            (Self::Short, [first, rest @ ..]) => format!("/part-{first}/{}", numbers(rest)),
        }
    }

    /// What a target looks like; it must be written again to be sure.
    pub fn read(target: &str) -> Option<(Self, Path)> {
        if target == "/index.html" {
            return Some((Self::Index, Vec::new()));
        }
        let (alias, path) = match (target.strip_prefix("/Part-"), target.strip_suffix(".HTML")) {
            (Some(rest), _) => (Self::Capital, rest.strip_suffix(".html")?),
            (None, Some(rest)) => (Self::Capital, rest.strip_prefix("/part-")?),
            (None, None) => (Self::Short, target.strip_prefix("/part-")?),
        };
        let numbers: Option<Path> = path.split(['/', '-']).map(|number| number.parse().ok()).collect();
        numbers.map(|path| (alias, path))
    }
}

/// The page whose bytes a page repeats: the first of its parent's children that have none of their
/// own. A page with children repeats nothing, lest what is below it be lost.
pub(super) fn original(world: &World, node: &Node) -> Option<Node> {
    let first = node.is_leaf().then(|| node.first_leaf_sibling()).flatten()?;
    node.key.draw("duplicate").happens(world.copies.duplicate_share).then_some(first)
}

/// How often a source is drawn for a mirror before it stays a site of its own.
const TRIES: u64 = 16;

/// The site whose pages a mirror shows; that one is no mirror.
pub(super) fn mirrored(world: &World, index: u64) -> Option<u64> {
    let is_mirror = |index| site_key(world, index).draw("mirror").happens(world.copies.mirror_share);
    let draw = site_key(world, index).draw("site mirrored");
    is_mirror(index)
        .then(|| (0..TRIES).map(|n| draw.nth(n).below(world.sites.count)))
        .into_iter()
        .flatten()
        .find(|source| *source != index && !is_mirror(*source))
}
