//! The links of a page: to its menu, to lists, to traps, to other sites.

pub(super) mod external;
pub(super) mod lists;
pub(super) mod menu;
pub(super) mod trap_pages;

use super::change;
use super::content::{Element, Link, Page, Url};
use super::copies;
use super::extras::{Kind, has, has_bare_script, linked};
use super::paths::{Extra, Query, Resource};
use super::site::Role;
use super::tree::{Node, Tree, decayed, median_of_mean_one};
use super::url_location::UrlLocation;
use crate::World;
use crate::draw::{Draw, Key, rounded};
use crate::settings::sections::Variant;
use menu::{ancestors, entrances, front, insert_bare_script, link, menu, named};

/// A page of the tree. Its internal links go up, sideways or to the front page's children, so that
/// the fewest links that lead to a page are as many as its depth in the tree; only its own children
/// and what hangs at it are found here first.
pub(crate) fn node_page(world: &World, spot: &UrlLocation, node: &Node) -> Page {
    let node = &displayed_node(world, spot, node);
    let Some(tree) = spot.site.tree(spot.role) else { return bare_page(world, spot, node.key) };
    let mut links = menu(world, spot, node.key, node.path.is_empty());
    links.extend(entrances(world, spot, node));
    links.extend(ancestors(spot, tree, node));
    insert_bare_script(spot, node, &mut links);
    let mut body = children(world, spot, tree, node);
    body.extend(siblings(world, spot, node));
    body.extend(extras(world, spot, node));
    body.extend(content_links(world, spot, tree, node));
    if !body.is_empty() {
        let turn = node.key.draw("order of links").below(body.len() as u64);
        body.rotate_left(usize::try_from(turn).unwrap_or(0));
    }
    links.append(&mut body);
    links.extend(links_page(world, spot, node));
    links.extend_from_slice(external::boilerplate(world, &spot.site));
    links.extend(secure_self(world, spot, node));
    let nofollow =
        !node.path.is_empty() && node.key.draw("meta nofollow").happens(world.pages.nofollow_share);
    let written_at = spot.same_host_url(&Resource::Node(node.path.clone()));
    let page = bare_page(world, spot, node.key);
    Page { nofollow, links, written_at, changed: page.changed.max(tree.last_growth(node)), ..page }
}

/// The page of the tree that a page shows: itself, or the one that it repeats.
fn displayed_node(world: &World, spot: &UrlLocation, node: &Node) -> Node {
    let repeated = if is_links_page(world, spot, node) { None } else { copies::original(world, node) };
    repeated.unwrap_or_else(|| node.clone())
}

/// A page that hangs at a page of the tree and leads back only.
pub(crate) fn leaf_page(world: &World, spot: &UrlLocation, node: &Node, kind: &str) -> Page {
    let key = node.key.part(kind);
    let mut links = vec![link(front(spot)), link(spot.url(&Resource::Node(node.path.clone())))];
    links.extend_from_slice(external::boilerplate(world, &spot.site));
    if links_outside(world, spot, node, key) {
        links.push(external::link(world, &spot.site, key.part("leaf external")));
    }
    Page { links, ..bare_page(world, spot, key) }
}

/// What hangs at a page has one external link at most, as often as the page's own content has one.
fn links_outside(world: &World, spot: &UrlLocation, node: &Node, key: Key) -> bool {
    let tree = spot.site.tree(spot.role);
    tree.is_some_and(|tree| key.draw("leaf external").happens(content_mean(world, spot, tree, node)))
}

/// A page that a program makes: the menu, its own links, and no external link but the site's set.
pub(crate) fn plain_page(world: &World, spot: &UrlLocation, key: Key, own: Vec<Url>) -> Page {
    let mut links = menu(world, spot, key, false);
    links.extend(own.into_iter().map(link));
    links.extend_from_slice(external::boilerplate(world, &spot.site));
    Page { links, ..bare_page(world, spot, key) }
}

/// What a site says of any path that names nothing: the same for all paths of a directory, whose relative
/// links mean the same.
pub(crate) fn soft_404_page(world: &World, spot: &UrlLocation) -> Page {
    let mut page = plain_page(world, spot, spot.site.content.part("soft 404"), Vec::new());
    let path = page.written_at.target.split(['?', ';']).next().unwrap_or_default();
    let directory = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    page.written_at.target = format!("{directory}welcome");
    page
}

/// The answer to a query: its siblings, and a page that only this query leads to.
pub(crate) fn script_page(world: &World, spot: &UrlLocation, node: &Node, query: Query) -> Page {
    let (Query::Id(id) | Query::Parameter(id)) = query;
    let mut page = leaf_page(world, spot, node, "script answer");
    page.key = page.key.child(id);
    page.changed = change::last_change(world, page.key);
    page.links.extend(script_links(world, spot, node));
    page.links.push(link(spot.url(&Resource::Detail(node.path.clone(), id))));
    if links_outside(world, spot, node, page.key) {
        page.links.push(external::link(world, &spot.site, page.key.part("script external")));
    }
    page
}

/// A page whose only link is its meta refresh.
pub(crate) fn waiting_page(world: &World, spot: &UrlLocation, node: &Node) -> Page {
    let url = spot.url(&Resource::Extra(Extra::Arrived, node.path.clone()));
    let refresh = Link { url, element: Element::Refresh, nofollow: false };
    Page { links: vec![refresh], ..bare_page(world, spot, node.key.part("waiting")) }
}

/// The query URLs of a page's script; one of the first two is written as a path parameter.
pub(crate) fn queries(world: &World, node: &Node) -> impl Iterator<Item = Query> {
    let first = node.key.draw("first query").below(2);
    (1..=world.extras.script_queries)
        .map(move |id| if id == 1 + first { Query::Parameter(id) } else { Query::Id(id) })
}

fn bare_page(world: &World, spot: &UrlLocation, key: Key) -> Page {
    let changed = change::last_change(world, key);
    Page { key, links: Vec::new(), nofollow: false, written_at: spot.own_url(), is_cut: false, changed }
}

fn children(world: &World, spot: &UrlLocation, tree: &Tree, node: &Node) -> Vec<Link> {
    let draw = node.key.draw("element of child");
    tree.children(node)
        .map(|number| {
            let path = node.path.iter().copied().chain([number]).collect();
            let url = spot.url(&Resource::Node(path));
            Link { url, element: element(world, draw.nth(u64::from(number))), nofollow: false }
        })
        .collect()
}

fn element(world: &World, draw: Draw) -> Element {
    match draw.unit() {
        x if x < world.pages.area_share => Element::Area,
        x if x < world.pages.area_share + world.pages.frame_share => Element::Iframe,
        _ => Element::A,
    }
}

/// The next pages of the same parent, in a ring, some under their second name.
fn siblings(world: &World, spot: &UrlLocation, node: &Node) -> Vec<Link> {
    let Some((own, parent)) = node.path.split_last() else { return Vec::new() };
    let count = u64::from(node.family_size());
    let draw = node.key.draw("second names of siblings");
    (1..count.min(world.shape.siblings + 1))
        .filter_map(|step| Some((step, u32::try_from((u64::from(*own) + step) % count).ok()?)))
        .map(|(step, number)| {
            let path = parent.iter().copied().chain([number]).collect();
            let uses_alias = draw.nth(step).happens(world.copies.alias_link_share);
            link(named(world, spot, spot.role, path, node.sibling_key(number), uses_alias))
        })
        .collect()
}

/// What hangs at a page: scripts, files, redirects, broken links.
fn extras(world: &World, spot: &UrlLocation, node: &Node) -> Vec<Link> {
    let mut links = if has(world, node, Kind::Script) { script_links(world, spot, node) } else { Vec::new() };
    for (kind, extra) in linked(node) {
        if has(world, node, kind) {
            let url = spot.url(&Resource::Extra(extra, node.path.clone()));
            links.push(Link { url, element: Element::A, nofollow: kind == Kind::Hidden });
        }
    }
    links
}

fn script_links(world: &World, spot: &UrlLocation, node: &Node) -> Vec<Link> {
    let script = |query| link(spot.url(&Resource::Script(node.path.clone(), query)));
    let mut links: Vec<Link> = queries(world, node).map(|query| script(Some(query))).collect();
    if has_bare_script(world, node) {
        let at = if node.key.draw("bare script first").happens(0.5) { 0 } else { links.len() };
        links.insert(at, script(None));
    }
    links
}

/// External links in the content: fewer with depth, many on some sites and in some branches.
fn content_links(world: &World, spot: &UrlLocation, tree: &Tree, node: &Node) -> Vec<Link> {
    let mean = content_mean(world, spot, tree, node);
    if mean <= 0.0 {
        return Vec::new();
    }
    change::content_links(world, node.key, mean)
        .into_iter()
        .map(|key| {
            let is_area = key.draw("area").happens(world.pages.area_share);
            let element = if is_area { Element::Area } else { Element::A };
            Link { element, ..external::link(world, &spot.site, key) }
        })
        .collect()
}

/// Mean external links in the content of a page.
fn content_mean(world: &World, spot: &UrlLocation, tree: &Tree, node: &Node) -> f64 {
    let (external, site) = (&world.external, spot.site.content);
    let depth = tree.depth_of(node);
    if world.external_variant == Variant::Homogeneous {
        return decayed(external.content_mean * (1.0 - external.silent_share), external.depth_decay, depth);
    }
    if site.draw("silent").happens(external.silent_share) {
        return 0.0;
    }
    let factor = |draw: Draw, sigma| draw.log_normal(median_of_mean_one(sigma), sigma);
    let of_site = factor(site.draw("external factor"), external.site_sigma);
    let of_branch = node.path.first().map_or(1.0, |branch| {
        let draw = tree.root().key.draw("external factor of branch").nth(u64::from(*branch));
        factor(draw, external.branch_sigma)
    });
    decayed(external.content_mean, external.depth_decay, depth) * of_site * of_branch
}

fn is_links_page(world: &World, spot: &UrlLocation, node: &Node) -> bool {
    (1..=2).contains(&node.path.len())
        && spot.role == Role::Main
        && spot.site.links_page(world) == Some(&node.path)
}

/// The links of the site's page of links, when this is it.
fn links_page(world: &World, spot: &UrlLocation, node: &Node) -> Vec<Link> {
    if !is_links_page(world, spot, node) {
        return Vec::new();
    }
    let (external, key) = (&world.external, spot.site.content);
    let wish =
        key.draw("links of links page").log_normal(external.links_page_median, external.links_page_sigma);
    let count = rounded(wish).min(external.links_page_most);
    let links = (0..count).map(|n| change::lasting_link(world, node.key, key.part("links page").child(n)));
    links.map(|link| external::link(world, &spot.site, link)).collect()
}

/// The page's own URL with https: another spelling of a page that is known already.
fn secure_self(world: &World, spot: &UrlLocation, node: &Node) -> Option<Link> {
    let own = spot.url(&Resource::Node(node.path.clone()));
    node.key.draw("https alias").happens(world.pages.alias_share).then(|| link(Url { is_https: true, ..own }))
}
