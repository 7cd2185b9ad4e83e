use std::collections::HashSet;

use super::content::{Content, Url};
use super::https::{ClosedPort, Tls};
use super::site::{Front, Role, Site};
use super::url_location::UrlLocation;
use crate::{Handshake, Lookup, Reaction, Web, World};

/// Working sites, plus the settings in `more`.
fn world(more: &str) -> World {
    let faults = "no_dns_share = 0.0\nservfail_share = 0.0\ndns_silent_share = 0.0\nreset_share = 0.0\n\
                  silent_share = 0.0\nforbidden_share = 0.0\nunavailable_share = 0.0\nmoved_share = 0.0";
    let sites = "count = 40\nmost_pages = 30\none_page_share = 0.0\nbrochure_share = 1.0\ncms_share = 0.0\n\
                 large_share = 0.0";
    let text = format!(
        "seed = 4\n[sites]\n{sites}\n[faults]\n{faults}\n[traps]\nsoft_404_share = 0.0\n\
         [pages]\nbytes_median = 300.0\n[robots]\nsilent_share = 0.0\n{more}"
    );
    World::parse(&text).unwrap()
}

fn sites(world: &World) -> impl Iterator<Item = Site> + '_ {
    (0..world.sites.count).map(|index| Site::new(world, index))
}

fn status(world: &World, is_https: bool, host: &str, target: &str) -> Option<u16> {
    match world.respond(is_https, host, target) {
        Reaction::Response(response) => Some(response.status),
        _ => None,
    }
}

#[test]
fn a_site_may_have_an_address_at_www_only() {
    let world = world("[doors]\nwww_only_share = 0.5");
    let with_www: Vec<Site> = sites(&world).filter(|site| site.bare_host.is_some()).collect();
    assert!(with_www.iter().any(|site| site.is_www_only) && !with_www.iter().all(|site| site.is_www_only));
    for site in with_www {
        let bare = site.host(Role::Bare);
        let Lookup::Found(records) = world.lookup(bare) else { panic!("{bare}") };
        assert_eq!(records.has_address(), !site.is_www_only, "{bare}");
        assert_eq!(world.server(bare).is_none(), site.is_www_only, "{bare}");
        assert_eq!(status(&world, false, bare, "/"), (!site.is_www_only).then_some(301), "{bare}");
        assert_eq!(status(&world, false, &site.main_host, "/"), Some(200), "{bare}");
        let Content::Page(page) = front(&world, &site, false) else { panic!("{bare}") };
        assert!(!site.is_www_only || page.links.iter().all(|link| link.url.host != bare), "{bare}");
    }
}

/// Whether the first page below the front page is served, if there is one.
fn has_open_page(world: &World, site: &Site) -> bool {
    site.main.root().budget == 1 || status(world, false, &site.main_host, "/part-0.html") == Some(200)
}

fn front(world: &World, site: &Site, is_https: bool) -> Content {
    let url = Url { is_https, ..Url::http(&site.main_host, "/") };
    UrlLocation::find(world, &url).unwrap().content(world)
}

#[test]
fn port_80_may_be_shut_where_a_site_speaks_tls() {
    let world = world("[https]\nshare = 0.8\n[doors]\nrefused_80_share = 0.4\nreset_80_share = 0.4");
    let mut seen = HashSet::new();
    for site in sites(&world) {
        let Tls::Alone(_, shut) = site.tls else { continue };
        seen.insert(format!("{shut:?}"));
        let expected = if shut == ClosedPort::Refused { Reaction::Refused } else { Reaction::Reset };
        for target in ["/", "/robots.txt", "/part-0.html"] {
            assert_eq!(world.respond(false, &site.main_host, target), expected);
            assert!(status(&world, true, &site.main_host, target).is_some());
        }
        assert_ne!(world.handshake(&site.main_host), Handshake::Closed);
        let Content::Page(page) = front(&world, &site, true) else { panic!("{}", site.main_host) };
        let mut own = page.links.iter().filter(|link| link.url.host == site.main_host);
        assert!(own.all(|link| link.url.is_https));
    }
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_front_page_may_be_shut_while_the_pages_below_it_are_open() {
    let world = world("[doors]\nfront_401_share = 0.2\nfront_403_share = 0.2\nfront_404_share = 0.2");
    let mut seen = HashSet::new();
    for site in sites(&world) {
        let Some(Front::Status(expected)) = site.front else { continue };
        seen.insert(expected);
        for target in ["/", "/index.html"] {
            let found = status(&world, false, &site.main_host, target);
            let has_alias = found != Some(404);
            assert!(found == Some(expected) || !has_alias, "{}{target} {found:?}", site.main_host);
        }
        assert_eq!(status(&world, false, &site.main_host, "/"), Some(expected));
        assert!(has_open_page(&world, &site), "{}", site.main_host);
    }
    assert_eq!(seen, HashSet::from([401, 403, 404]));
}

#[test]
fn a_front_page_may_redirect_in_a_circle_over_either_of_its_names() {
    let world = world("[doors]\nfront_circle_share = 1.0\nwww_only_share = 0.3");
    let mut seen = HashSet::new();
    for site in sites(&world) {
        let mut url = Url::http(&site.main_host, "/");
        let mut way = Vec::new();
        while !way.contains(&url) {
            way.push(url.clone());
            let Content::Redirect(_, to) = UrlLocation::find(&world, &url).unwrap().content(&world) else {
                panic!("{url}")
            };
            url = to;
        }
        assert_eq!((url, way.len()), (way[0].clone(), 2));
        seen.insert(way[1].host == site.main_host);
        assert!(has_open_page(&world, &site), "{}", site.main_host);
    }
    assert_eq!(seen.len(), 2, "over the bare name, and over index.html");
}

#[test]
fn dead_links_lead_to_names_without_an_address_or_to_pages_that_are_gone() {
    let world =
        world("[external]\ndead_share = 0.5\ninside_share = 1.0\nboilerplate_mean = 10.0\ngone_share = 0.3");
    let (mut nameless, mut missing, mut gone, mut alive) = (0, 0, 0, 0);
    for site in sites(&world) {
        let Content::Page(page) = front(&world, &site, false) else { panic!("{}", site.main_host) };
        for url in page.links.into_iter().map(|link| link.url) {
            let is_own =
                Site::with_host(&world, &url.host).is_some_and(|(other, _)| other.index == site.index);
            if is_own {
                continue;
            }
            let has_address = matches!(world.lookup(&url.host), Lookup::Found(_));
            let kind = match status(&world, url.is_https, &url.host, &url.target) {
                None if !has_address => &mut nameless,
                Some(404) => &mut missing,
                Some(410) => &mut gone,
                Some(200 | 301) => &mut alive,
                other => panic!("{url}: {other:?}"),
            };
            *kind += 1;
        }
    }
    let dead = nameless + missing + gone;
    assert!(nameless > 0 && missing > gone && gone > 0, "{nameless} {missing} {gone}");
    assert!((2 * alive / 3..2 * alive).contains(&dead), "{dead} {alive}");
}
