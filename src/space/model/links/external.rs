use crate::World;
use crate::draw::Key;
use crate::model::content::{Element, Link, Url};
use crate::model::names::{Hosts, word};
use crate::model::paths::Resource;
use crate::model::site::Site;

/// One link that leaves a site: to one of its favourites, or to any site.
pub(crate) fn link(world: &World, site: &Site, key: Key) -> Link {
    let external = &world.external;
    if key.draw("to a favourite").happens(external.favourite_share) {
        let favourite = key.draw("which favourite").rank(external.favourites);
        return link_to_any_site(world, site, site.content.part("favourite").child(favourite));
    }
    link_to_any_site(world, site, key)
}

/// The external links on every page of a site.
pub(crate) fn boilerplate<'s>(world: &World, site: &'s Site) -> &'s [Link] {
    site.boilerplate.get_or_init(|| {
        let count = site.content.draw("boilerplate").poisson(world.external.boilerplate_mean);
        (0..count).map(|n| link_to_any_site(world, site, site.content.part("boilerplate").child(n))).collect()
    })
}

/// The redirect target of a site that has moved: another site's front page.
pub(crate) fn moved_to(world: &World, site: &Site) -> Url {
    let key = site.key.part("moved to");
    match other_site(world, site, key) {
        Some(index) => front_page(&Hosts::new(world, index)),
        None => outside_host(world, key).0,
    }
}

fn link_to_any_site(world: &World, site: &Site, key: Key) -> Link {
    let is_inside = key.draw("inside the country").happens(world.external.inside_share);
    if let Some(index) = other_site(world, site, key).filter(|_| is_inside) {
        return Link { url: url_inside(world, index, key), element: Element::A, nofollow: false };
    }
    let (host, nofollow) = outside_host(world, key);
    Link { url: outside_page(host, key), element: Element::A, nofollow }
}

/// Half of the links go to the best-known sites, by rank, the other half to any site. None if the world has
/// no other site.
fn other_site(world: &World, site: &Site, key: Key) -> Option<u64> {
    let (count, draw) = (world.sites.count, key.draw("which site"));
    let index = if key.draw("by rank").happens(0.5) { draw.rank(count) } else { draw.below(count) };
    // A mirror has the same external links as its source, except that it does not link to itself.
    let index = if index == site.content_index { (index + 1) % count } else { index };
    let index = if index == site.index { (index + 1) % count } else { index };
    (index != site.index).then_some(index)
}

/// A URL of another site: mostly its front page, sometimes a page below it.
fn url_inside(world: &World, index: u64, key: Key) -> Url {
    let hosts = Hosts::new(world, index);
    let front = front_page(&hosts);
    if key.draw("dead link").happens(world.external.dead_share) {
        return dead_url(world, &hosts, front, key);
    }
    if let Some(bare) = hosts.bare.as_deref()
        && key.draw("bare name").happens(world.external.bare_share)
    {
        return Url { host: bare.to_owned(), ..front };
    }
    if key.draw("deep link").happens(world.external.deep_share) {
        return Url { target: deep_target(&Site::new(world, index), key), ..front };
    }
    front
}

/// Hosts that sites used to have. On a site without www, the www name is a former host too and has no
/// address.
const FORMER_HOSTS: [&str; 4] = ["old", "home", "members", "archive"];
/// The number of pages of one site that dead links lead to.
const DEAD_PAGES: u64 = 1000;

/// The target of a link that worked once: a host without an address, or a path that no longer exists.
fn dead_url(world: &World, hosts: &Hosts, front: Url, key: Key) -> Url {
    if key.draw("dead name").happens(world.external.dead_name_share) {
        let (domain, is_www) = match &hosts.bare {
            Some(bare) => (bare, false),
            None => (&hosts.main, key.draw("dead www").happens(0.5)),
        };
        let label = if is_www { "www" } else { key.draw("former host").pick(&FORMER_HOSTS) };
        return Url { host: format!("{label}.{domain}"), ..front };
    }
    let number = key.draw("dead page").below(DEAD_PAGES);
    let is_gone = key.draw("gone for good").happens(world.external.gone_share);
    let folder = if is_gone { "gone" } else { "dead" };
    Url { target: format!("/{folder}/{number}.html"), ..front }
}

fn front_page(hosts: &Hosts) -> Url {
    Url { is_https: hosts.tls.is_linked_with_https(), ..Url::http(&hosts.main, "/") }
}

/// A page of the main tree of edition 0, found by a random descent that stops after each step with
/// probability 1/3.
fn deep_target(site: &Site, key: Key) -> String {
    let (tree, draw) = (&site.main, key.draw("way down"));
    let mut node = tree.root();
    for step in 0.. {
        let number = draw.nth(2 * step).below(u64::from(tree.child_count(&node)));
        let Some(child) = tree.child_of_any_edition(&node, u32::try_from(number).unwrap_or(0)) else { break };
        node = child;
        if draw.nth(2 * step + 1).happens(1.0 / 3.0) {
            break;
        }
    }
    Resource::Node(node.path).target(site)
}

fn outside_page(host: Url, key: Key) -> Url {
    let target = match key.draw("outside path").below(4) {
        0 => "/about/team.html",
        1 => "/show?item=7&lang=en",
        _ => "/",
    };
    Url { target: target.to_owned(), ..host }
}

/// The front page of one of the hosts outside the country, which are never served, and whether links to it
/// are nofollow. This is drawn once per host, because a page may link to a host twice.
fn outside_host(world: &World, key: Key) -> (Url, bool) {
    let (pool, draw) = (world.external.outside_pool, key.draw("which host outside"));
    let number = if key.draw("outside by rank").happens(0.5) { draw.rank(pool) } else { draw.below(pool) };
    let host_key = world.key().part("outside").child(number);
    let suffix = host_key.draw("suffix").pick(&world.outside_suffixes);
    let www = if host_key.draw("www").happens(0.6) { "www." } else { "" };
    let host = format!("{www}{}{number}.{suffix}", word(host_key));
    let nofollow = host_key.draw("nofollow").happens(world.external.nofollow_share);
    (Url { is_https: host_key.draw("https").happens(0.3), host, target: "/".to_owned() }, nofollow)
}
