use super::names::site_key;
use super::paths::Alias;
use super::tree::Node;
use crate::World;
use crate::draw::Key;

/// The second name of the page with this key, if it has one.
pub(crate) fn second_name(world: &World, path: &[u32], key: Key, is_script_only: bool) -> Option<Alias> {
    let has_form = path.is_empty() || !is_script_only;
    if !has_form || !key.draw("second name").happens(world.copies.alias_share) {
        return None;
    }
    Some(match path {
        [] => Alias::Index,
        _ if key.draw("form of second name").happens(0.5) => Alias::Capital,
        _ => Alias::Short,
    })
}

/// The page whose bytes a page repeats: the first child of its parent without children of its own. A page
/// with children repeats no other page, because the links to its children would be lost.
pub(crate) fn original(world: &World, node: &Node) -> Option<Node> {
    let first = node.is_leaf().then(|| node.first_leaf_sibling()).flatten()?;
    node.key.draw("duplicate").happens(world.copies.duplicate_share).then_some(first)
}

/// How many sources are drawn for a mirror before it stays an ordinary site.
const TRIES: u64 = 16;

/// The site whose pages a mirror shows; that site is never a mirror itself.
pub(crate) fn mirrored(world: &World, index: u64) -> Option<u64> {
    let is_mirror = |index| site_key(world, index).draw("mirror").happens(world.copies.mirror_share);
    let draw = site_key(world, index).draw("site mirrored");
    is_mirror(index)
        .then(|| (0..TRIES).map(|n| draw.nth(n).below(world.sites.count)))
        .into_iter()
        .flatten()
        .find(|source| *source != index && !is_mirror(*source))
}
