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

pub(crate) fn front(location: &UrlLocation) -> Url {
    location.site.url(Role::Main, &Resource::Node(Vec::new()))
}

/// The top of every page: links to the front page, its first children and the second host. The front page
/// itself never uses a second name, so a crawler meets no second name before the first.
pub(crate) fn menu(world: &World, location: &UrlLocation, page: Key, is_front: bool) -> Vec<Link> {
    let (site, root) = (&location.site, location.site.main.root());
    let draw = page.draw("second names in menu");
    let top = u64::from(site.main.child_count(&root)).min(world.shape.navigation);
    let entry = |(n, role, path, key): (u64, Role, Path, Key)| {
        let uses_alias = !is_front && draw.nth(n).happens(world.copies.alias_link_share);
        link(page_url(world, location, role, path, key, uses_alias))
    };
    let parts =
        (0..top).filter_map(|n| Some((n + 2, Role::Main, vec![u32::try_from(n).ok()?], root.key.child(n))));
    let second = site.sub.as_ref().map(|tree| (1, Role::Sub, Vec::new(), tree.root().key));
    [(0, Role::Main, Vec::new(), root.key)].into_iter().chain(parts).chain(second).map(entry).collect()
}

/// The URL of a page of the tree, under its second name if `uses_alias` is set and it has one.
pub(crate) fn page_url(
    world: &World,
    location: &UrlLocation,
    role: Role,
    path: Path,
    key: Key,
    uses_alias: bool,
) -> Url {
    let alias = uses_alias.then(|| second_name(world, &path, key, location.site.is_script_only)).flatten();
    let resource = match alias {
        Some(alias) => Resource::Alias(alias, path),
        None => Resource::Node(path),
    };
    location.site.url(role, &resource)
}

/// Links that only the front page of the main host has: to the bare name, the first list and the traps.
pub(crate) fn entrances(world: &World, location: &UrlLocation, node: &Node) -> Vec<Link> {
    let site = &location.site;
    if location.role != Role::Main || !node.path.is_empty() {
        return Vec::new();
    }
    let mut links: Vec<Link> = bare_name(world, location).into_iter().collect();
    links.extend((site.lists > 0).then(|| link(location.url(&Resource::Listed(Listed::List(1))))));
    let traps = site.traps.entrances(world).into_iter();
    links.extend(traps.map(|trap| link(location.url(&Resource::Trap(trap)))));
    links
}

/// Inserts the link to the site's one script without a query, before all links with a query or after them.
pub(crate) fn insert_bare_script(location: &UrlLocation, node: &Node, links: &mut Vec<Link>) {
    if node.path.is_empty() && location.has_bare_script() {
        let before = location.site.content.draw("bare page script first").happens(0.5);
        links.insert(if before { 0 } else { links.len() }, link(location.url(&Resource::BareScript)));
    }
}

/// Links to all ancestors. On the main host, the front page is left to the menu.
pub(crate) fn ancestors(location: &UrlLocation, tree: &Tree, node: &Node) -> Vec<Link> {
    let up = (usize::from(tree.depth == 0)..node.path.len()).rev();
    up.map(|length| link(location.url(&Resource::Node(node.path[..length].to_vec())))).collect()
}

fn bare_name(world: &World, location: &UrlLocation) -> Option<Link> {
    let site = &location.site;
    site.bare_host.as_deref().filter(|_| site.has_address(Role::Bare))?;
    let happens = site.key.draw("bare link").happens(world.sites.bare_link_share);
    happens.then(|| link(site.url(Role::Bare, &Resource::Node(Vec::new()))))
}
