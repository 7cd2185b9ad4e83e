use crate::World;
use crate::draw::Key;
use crate::model::content::{Element, Link, Url};
use crate::model::copies::second_name;
use crate::model::paths::{Listed, Path, Resource};
use crate::model::site::Role;
use crate::model::tree::{Node, Tree};
use crate::model::url_location::UrlLocation;

pub(crate) fn link(url: Url) -> Link {
    Link { url, element: Element::A, nofollow: false }
}

pub(crate) fn front(spot: &UrlLocation) -> Url {
    spot.site.url(Role::Main, &Resource::Node(Vec::new()))
}

/// The top of every page: links to the front page, its first children and the second host. The front page
/// itself never uses a second name, so a crawler meets no second name before the first.
pub(crate) fn menu(world: &World, spot: &UrlLocation, page: Key, is_front: bool) -> Vec<Link> {
    let (site, root) = (&spot.site, spot.site.main.root());
    let draw = page.draw("second names in menu");
    let top = u64::from(site.main.child_count(&root)).min(world.shape.navigation);
    let entry = |(n, role, path, key): (u64, Role, Path, Key)| {
        let uses_alias = !is_front && draw.nth(n).happens(world.copies.alias_link_share);
        link(named(world, spot, role, path, key, uses_alias))
    };
    let parts =
        (0..top).filter_map(|n| Some((n + 2, Role::Main, vec![u32::try_from(n).ok()?], root.key.child(n))));
    let second = site.sub.as_ref().map(|tree| (1, Role::Sub, Vec::new(), tree.root().key));
    [(0, Role::Main, Vec::new(), root.key)].into_iter().chain(parts).chain(second).map(entry).collect()
}

/// The URL of a page of the tree, under its second name if `uses_alias` is set and it has one.
pub(crate) fn named(
    world: &World,
    spot: &UrlLocation,
    role: Role,
    path: Path,
    key: Key,
    uses_alias: bool,
) -> Url {
    let alias = uses_alias.then(|| second_name(world, &path, key, spot.site.is_script_only)).flatten();
    let resource = match alias {
        Some(alias) => Resource::Alias(alias, path),
        None => Resource::Node(path),
    };
    spot.site.url(role, &resource)
}

/// Links that only the front page of the main host has: to the bare name, the first list and the traps.
pub(crate) fn entrances(world: &World, spot: &UrlLocation, node: &Node) -> Vec<Link> {
    let site = &spot.site;
    if spot.role != Role::Main || !node.path.is_empty() {
        return Vec::new();
    }
    let mut links: Vec<Link> = bare_name(world, spot).into_iter().collect();
    links.extend((site.lists > 0).then(|| link(spot.url(&Resource::Listed(Listed::List(1))))));
    let traps = site.traps.entrances(world).into_iter();
    links.extend(traps.map(|trap| link(spot.url(&Resource::Trap(trap)))));
    links
}

/// Inserts the link to the site's one script without a query, before all links with a query or after them.
pub(crate) fn insert_bare_script(spot: &UrlLocation, node: &Node, links: &mut Vec<Link>) {
    if node.path.is_empty() && spot.has_bare_script() {
        let before = spot.site.content.draw("bare page script first").happens(0.5);
        links.insert(if before { 0 } else { links.len() }, link(spot.url(&Resource::BareScript)));
    }
}

/// Links to all ancestors. On the main host, the front page is left to the menu.
pub(crate) fn ancestors(spot: &UrlLocation, tree: &Tree, node: &Node) -> Vec<Link> {
    let up = (usize::from(tree.depth == 0)..node.path.len()).rev();
    up.map(|length| link(spot.url(&Resource::Node(node.path[..length].to_vec())))).collect()
}

fn bare_name(world: &World, spot: &UrlLocation) -> Option<Link> {
    let site = &spot.site;
    site.bare_host.as_deref().filter(|_| site.has_address(Role::Bare))?;
    let happens = site.key.draw("bare link").happens(world.sites.bare_link_share);
    happens.then(|| link(site.url(Role::Bare, &Resource::Node(Vec::new()))))
}
