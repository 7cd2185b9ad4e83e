use super::World;
use super::content::{Element, Kind, Link, Page, Spot, Url, file_kind, has, has_bare_script};
use super::draw::{Draw, Key, rounded};
use super::external;
use super::resource::{Extra, Query, Resource};
use super::site::{Role, Site};
use super::tree::{Node, Tree, decayed, median_of_mean_one};

/// A page of the tree. Its internal links go up, sideways or to the front page's children, so that
/// the fewest links that lead to a page are as many as its depth in the tree; only its own children
/// and what hangs at it are found here first.
pub(super) fn node_page(world: &World, spot: &Spot, node: &Node) -> Page {
    let Some(tree) = spot.site.tree(spot.role) else { return bare_page(node.key) };
    let mut links = navigation(world, spot, tree, node);
    let mut body = children(world, spot, tree, node);
    body.extend(siblings(world, spot, tree, node));
    body.extend(extras(world, spot, node));
    body.extend(content_links(world, spot, tree, node));
    if !body.is_empty() {
        let turn = node.key.draw("order of links").below(body.len() as u64);
        body.rotate_left(usize::try_from(turn).unwrap_or(0));
    }
    links.append(&mut body);
    links.extend(links_page(world, &spot.site, spot.role, node));
    links.extend(external::boilerplate(world, &spot.site));
    links.extend(secure_self(world, spot, node));
    let nofollow =
        !node.path.is_empty() && node.key.draw("meta nofollow").happens(world.pages.nofollow_share);
    Page { key: node.key, links, nofollow }
}

/// A page that hangs at a page of the tree and leads back only.
pub(super) fn leaf_page(world: &World, spot: &Spot, node: &Node, kind: &str) -> Page {
    let key = node.key.part(kind);
    let mut links = vec![link(front(spot)), link(spot.url(&Resource::Node(node.path.clone())))];
    links.extend(external::boilerplate(world, &spot.site));
    if key.draw("leaf external").happens(0.5) {
        links.push(external::link(world, &spot.site, key.part("leaf external")));
    }
    Page { key, links, nofollow: false }
}

/// The answer to a query: its siblings, and a page that only this query leads to.
pub(super) fn script_page(world: &World, spot: &Spot, node: &Node, query: Query) -> Page {
    let (Query::Id(id) | Query::Parameter(id)) = query;
    let mut page = leaf_page(world, spot, node, "script answer");
    page.key = page.key.child(id);
    page.links.extend(script_links(world, spot, node));
    page.links.push(link(spot.url(&Resource::Detail(node.path.clone(), id))));
    page.links.push(external::link(world, &spot.site, page.key.part("script external")));
    page
}

/// A page whose only link is its meta refresh.
pub(super) fn waiting_page(spot: &Spot, node: &Node) -> Page {
    let url = spot.url(&Resource::Extra(Extra::Arrived, node.path.clone()));
    let refresh = Link { url, element: Element::Refresh, nofollow: false };
    Page { links: vec![refresh], ..bare_page(node.key.part("waiting")) }
}

/// The query URLs of a page's script; one of the first two is written as a path parameter.
pub(super) fn queries(world: &World, node: &Node) -> impl Iterator<Item = Query> {
    let first = node.key.draw("first query").below(2);
    (1..=world.extras.script_queries)
        .map(move |id| if id == 1 + first { Query::Parameter(id) } else { Query::Id(id) })
}

fn bare_page(key: Key) -> Page {
    Page { key, links: Vec::new(), nofollow: false }
}

fn link(url: Url) -> Link {
    Link { url, element: Element::A, nofollow: false }
}

fn front(spot: &Spot) -> Url {
    Url::http(&spot.site.main_host, "/")
}

/// What stands at the top of every page: the front page, its first children, the second host, and
/// the way up.
fn navigation(world: &World, spot: &Spot, tree: &Tree, node: &Node) -> Vec<Link> {
    let site = &spot.site;
    let main = |path| Url::http(&site.main_host, Resource::Node(path).target(site));
    let mut links = vec![link(front(spot))];
    let top = u64::from(site.main.child_count(&site.main.root())).min(world.shape.navigation);
    links.extend((0..top).filter_map(|n| u32::try_from(n).ok()).map(|n| link(main(vec![n]))));
    links.extend(site.sub_host.as_deref().map(|host| link(Url::http(host, "/"))));
    if spot.role == Role::Main && node.path.is_empty() {
        links.extend(bare_name(world, site));
        let script = spot.has_bare_script().then(|| link(spot.url(&Resource::BareScript)));
        let before = site.key.draw("bare page script first").happens(0.5);
        links.splice(if before { 0..0 } else { links.len()..links.len() }, script);
    }
    let up = (usize::from(tree.depth == 0)..node.path.len()).rev();
    links.extend(up.map(|length| link(spot.url(&Resource::Node(node.path[..length].to_vec())))));
    links
}

fn bare_name(world: &World, site: &Site) -> Option<Link> {
    let host = site.bare_host.as_deref()?;
    site.key.draw("bare link").happens(world.sites.bare_link_share).then(|| link(Url::http(host, "/")))
}

fn children(world: &World, spot: &Spot, tree: &Tree, node: &Node) -> Vec<Link> {
    let draw = node.key.draw("element of child");
    (0..tree.child_count(node))
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

/// The next pages of the same parent, in a ring.
fn siblings(world: &World, spot: &Spot, tree: &Tree, node: &Node) -> Vec<Link> {
    let Some((own, parent)) = node.path.split_last() else { return Vec::new() };
    let count = tree.find(parent).map_or(0, |parent| u64::from(tree.child_count(&parent)));
    (1..count.min(world.shape.siblings + 1))
        .filter_map(|step| u32::try_from((u64::from(*own) + step) % count).ok())
        .map(|number| parent.iter().copied().chain([number]).collect())
        .map(|path| link(spot.url(&Resource::Node(path))))
        .collect()
}

/// What hangs at a page: scripts, files, redirects, broken links.
fn extras(world: &World, spot: &Spot, node: &Node) -> Vec<Link> {
    let mut links = if has(world, node, Kind::Script) { script_links(world, spot, node) } else { Vec::new() };
    for (kind, extra) in [
        (Kind::Lost, Extra::Lost),
        (Kind::File, file_kind(node)),
        (Kind::Hidden, Extra::Hidden),
        (Kind::Refresh, Extra::Wait),
        (Kind::Linked, Extra::GoLinked),
        (Kind::Landing, Extra::GoLanding),
        (Kind::Away, Extra::GoExternal),
        (Kind::Loop, Extra::GoLoop),
        (Kind::Chain, Extra::GoChain),
    ] {
        if has(world, node, kind) {
            let url = spot.url(&Resource::Extra(extra, node.path.clone()));
            links.push(Link { url, element: Element::A, nofollow: kind == Kind::Hidden });
        }
    }
    links
}

fn script_links(world: &World, spot: &Spot, node: &Node) -> Vec<Link> {
    let script = |query| link(spot.url(&Resource::Script(node.path.clone(), query)));
    let mut links: Vec<Link> = queries(world, node).map(|query| script(Some(query))).collect();
    if has_bare_script(world, node) {
        let at = if node.key.draw("bare script first").happens(0.5) { 0 } else { links.len() };
        links.insert(at, script(None));
    }
    links
}

/// External links in the content: fewer with depth, many on some sites and in some branches.
fn content_links(world: &World, spot: &Spot, tree: &Tree, node: &Node) -> Vec<Link> {
    let external = &world.external;
    if spot.site.key.draw("silent").happens(external.silent_share) {
        return Vec::new();
    }
    let of_site = spot
        .site
        .key
        .draw("external factor")
        .log_normal(median_of_mean_one(external.site_sigma), external.site_sigma);
    let of_branch = node.path.first().map_or(1.0, |branch| {
        let draw = tree.root().key.draw("external factor of branch").nth(u64::from(*branch));
        draw.log_normal(median_of_mean_one(external.branch_sigma), external.branch_sigma)
    });
    let mean =
        decayed(external.content_mean, external.depth_decay, tree.depth_of(node)) * of_site * of_branch;
    let count = node.key.draw("content links").poisson(mean);
    (0..count)
        .map(|n| {
            let key = node.key.part("content link").child(n);
            let is_area = key.draw("area").happens(world.pages.area_share);
            let element = if is_area { Element::Area } else { Element::A };
            Link { element, ..external::link(world, &spot.site, key) }
        })
        .collect()
}

/// The links of the site's page of links, when this is it: a page at depth 1 or 2 of the main tree.
fn links_page(world: &World, site: &Site, role: Role, node: &Node) -> Vec<Link> {
    let (external, key) = (&world.external, site.key);
    let depth = 1 + key.draw("depth of links page").below(2);
    let is_candidate = role == Role::Main
        && node.path.len() as u64 == depth
        && key.draw("has links page").happens(external.links_page_share);
    let draw = key.draw("place of links page");
    let is_it = is_candidate
        && (0..node.path.len()).all(|at| {
            let parent = site.main.find(&node.path[..at]);
            let count = parent.map_or(0, |parent| u64::from(site.main.child_count(&parent)));
            u64::from(node.path[at]) == draw.nth(at as u64).below(count)
        });
    if !is_it {
        return Vec::new();
    }
    let wish =
        key.draw("links of links page").log_normal(external.links_page_median, external.links_page_sigma);
    let count = rounded(wish).min(external.links_page_most);
    (0..count).map(|n| external::link(world, site, key.part("links page").child(n))).collect()
}

/// The page's own URL with https: another spelling of a page that is known already.
fn secure_self(world: &World, spot: &Spot, node: &Node) -> Option<Link> {
    let own = spot.url(&Resource::Node(node.path.clone()));
    node.key.draw("https alias").happens(world.pages.alias_share).then(|| link(Url { is_https: true, ..own }))
}
