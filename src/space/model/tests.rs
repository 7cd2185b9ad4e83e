use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use proptest::prelude::*;

use super::content::{Content, Page, Url};
use super::copies;
use super::paths::{Resource, Trap};
use super::site::{Role, Site};
use super::url_location::UrlLocation;
use crate::scan::{Scanned, scan};
use crate::truth::element_name;
use crate::{Handshake, Reaction, Response, Web, World};

const SMALL: &str = "
[sites]
count = 12
most_pages = 60
large_smallest = 40.0
cms_median = 30.0
subdomain_share = 0.5
[extras]
script_share = 0.2
refresh_share = 0.1
silent_share = 0.0
forbidden_share = 0.05
error_share = 0.05
cut_share = 0.05
[redirects]
linked_share = 0.2
landing_share = 0.2
external_share = 0.1
loop_share = 0.1
chain_share = 0.1
[pages]
bytes_median = 500.0
nofollow_share = 0.05
alias_share = 0.5
base_share = 0.3
shift_jis_share = 0.2
decoy_share = 0.5
[copies]
alias_share = 0.4
duplicate_share = 0.5
mirror_share = 0.1
[lists]
length_median = 3.0
[traps]
calendar_share = 0.0
loop_share = 0.0
session_share = 0.0
facet_share = 0.4
facets = 2
soft_404_share = 0.0
[faults]
no_dns_share = 0.0
servfail_share = 0.0
dns_silent_share = 0.0
reset_share = 0.0
silent_share = 0.0
forbidden_share = 0.0
unavailable_share = 0.0
moved_share = 0.0
";

fn world(seed: u64) -> World {
    World::parse(&format!("seed = {seed}\n{SMALL}")).unwrap()
}

fn response(world: &World, url: &Url) -> Response {
    match world.respond(false, &url.host, &url.target) {
        Reaction::Response(response) => response,
        other => panic!("{url}: {other:?}"),
    }
}

/// All pages reachable by links and redirects from the front page, with their depth.
pub(super) fn pages_from_front(world: &World, site: &Site) -> Vec<(u64, Url, Page)> {
    pages_to_depth(u64::MAX, world, site)
}

fn pages_to_depth(most: u64, world: &World, site: &Site) -> Vec<(u64, Url, Page)> {
    let front = Url::http(&site.main_host, "/");
    let mut seen = HashSet::from([front.clone()]);
    let mut queue = VecDeque::from([(0, front)]);
    let mut pages = Vec::new();
    let mut meet = |depth, url: Url, queue: &mut VecDeque<(u64, Url)>, first: bool| {
        let url = Url { is_https: false, ..url };
        let is_own = Site::with_host(world, &url.host).is_some_and(|(other, _)| other.index == site.index);
        if is_own && depth <= most && seen.insert(url.clone()) {
            if first { queue.push_front((depth, url)) } else { queue.push_back((depth, url)) }
        }
    };
    while let Some((depth, url)) = queue.pop_front() {
        let located = UrlLocation::find(world, &url).unwrap();
        match located.content(world) {
            Content::Redirect(_, to) => meet(depth, to, &mut queue, true),
            Content::Page(page) => {
                page.links.iter().for_each(|link| meet(depth + 1, link.url.clone(), &mut queue, false));
                pages.push((depth, url, page));
            }
            _ => {}
        }
    }
    pages
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    #[test]
    fn a_written_page_has_the_links_of_its_content(seed: u64) {
        let world = world(seed);
        for index in 0..world.sites.count {
            for (_, url, page) in pages_from_front(&world, &Site::new(&world, index)) {
                let body = response(&world, &url).body;
                let written = scan(&url.to_string(), &body);
                let meant: Vec<Scanned> = page
                    .links
                    .iter()
                    .map(|link| Scanned {
                        url: link.url.to_string(),
                        element: element_name(link.element),
                        nofollow: link.nofollow || page.nofollow,
                    })
                    .collect();
                prop_assert_eq!(written, meant, "{}", url);
            }
        }
    }

    #[test]
    fn the_fewest_links_to_a_page_are_its_depth_in_the_tree(seed: u64) {
        let world = world(seed);
        for index in 0..world.sites.count {
            let site = Site::new(&world, index);
            let mut nodes = 0;
            for (depth, url, _) in pages_from_front(&world, &site) {
                let located = UrlLocation::find(&world, &url).unwrap();
                let expected = match located.resource {
                    Some(Resource::Node(path)) => {
                        let tree = site.tree(located.role).unwrap();
                        tree.depth_of(&tree.find(&path).unwrap())
                    }
                    Some(Resource::Listed(listed)) => listed.depth(),
                    _ => continue,
                };
                prop_assert_eq!(depth, expected, "{}", url);
                nodes += 1;
            }
            prop_assert_eq!(nodes, site.pages);
        }
    }

    #[test]
    fn every_link_but_the_broken_ones_leads_to_something(seed: u64) {
        let world = world(seed);
        let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
        for index in 0..world.sites.count {
            for (_, _, page) in pages_from_front(&world, &Site::new(&world, index)) {
                for link in page.links {
                    if Site::with_host(&world, &link.url.host).is_none() {
                        prop_assert!(!world.surveys(&crate::address::Host::parse(&link.url.host).unwrap()));
                        continue;
                    }
                    let status = response(&world, &link.url).status;
                    let is_broken = link.url.target.starts_with("/lost/");
                    prop_assert_eq!(status == 404, is_broken, "{}", link.url);
                    prop_assert_eq!(status == 403, link.url.target.starts_with("/private/"), "{}", link.url);
                    prop_assert_eq!(status == 500, link.url.target.starts_with("/failing/"), "{}", link.url);
                    *statuses.entry(status).or_default() += 1;
                }
            }
        }
        prop_assert!(statuses.keys().all(|status| [200, 301, 302, 303, 307, 308, 403, 404, 500].contains(status)));
    }

    #[test]
    fn any_host_and_path_are_answered(host in "[a-z0-9.]{0,30}", target in ".{0,60}", seed: u64) {
        let world = world(seed);
        let _ = world.respond(false, &host, &target);
        let site = Site::new(&world, 0);
        let _ = world.respond(false, &site.main_host, &target);
    }
}

/// Sites with every trap; their pages can be read completely only down to some depth.
fn trapped_world(seed: u64) -> World {
    let more = "calendar_share = 1.0\nloop_share = 1.0\nsession_share = 1.0\nfacet_share = 1.0\nfacets = 3";
    let off = "calendar_share = 0.0\nloop_share = 0.0\nsession_share = 0.0\nfacet_share = 0.4\nfacets = 2";
    let text = SMALL.replace(off, more).replace("count = 12", "count = 4");
    World::parse(&format!("seed = {seed}\n{text}")).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4) })]

    #[test]
    fn a_calendar_has_thirty_pages_a_level_and_no_trap_is_a_shorter_way(seed: u64) {
        const DEPTH: u64 = 7;
        let world = trapped_world(seed);
        for index in 0..world.sites.count {
            let site = Site::new(&world, index);
            let mut calendar = [0; DEPTH as usize + 1];
            for (depth, url, page) in pages_to_depth(DEPTH, &world, &site) {
                let located = UrlLocation::find(&world, &url).unwrap();
                let (expected, is_calendar) = match located.resource {
                    Some(Resource::Trap(Trap::Month(month))) => (month, true),
                    Some(Resource::Trap(Trap::Day(month, _))) => (month + 1, true),
                    Some(Resource::Trap(Trap::Loop(length))) => (length, false),
                    Some(Resource::Trap(Trap::Session(number))) => (number, false),
                    Some(Resource::Trap(Trap::SessionPage(number, _))) => (number + 1, false),
                    Some(Resource::Trap(Trap::Facets(chosen))) => (1 + chosen.len() as u64, false),
                    Some(Resource::Node(path)) => {
                        let tree = site.tree(located.role).unwrap();
                        (tree.depth_of(&tree.find(&path).unwrap()), false)
                    }
                    _ => continue,
                };
                prop_assert_eq!(depth, expected, "{}", url);
                calendar[depth as usize] += u64::from(is_calendar);
                for link in page.links.iter().filter(|link| link.url.host == url.host && !link.url.is_https) {
                    let is_broken = link.url.target.starts_with("/lost/");
                    prop_assert_eq!(response(&world, &link.url).status == 404, is_broken, "{}", link.url);
                }
            }
            prop_assert_eq!(calendar, [0, 30, 30, 30, 30, 30, 30, 30]);
        }
    }

    #[test]
    fn second_names_and_duplicates_have_the_bytes_of_their_page(seed: u64) {
        let world = world(seed);
        let (mut aliases, mut duplicates) = (0, 0);
        for index in 0..world.sites.count {
            let site = Site::new(&world, index);
            for (_, url, _) in pages_from_front(&world, &site) {
                let located = UrlLocation::find(&world, &url).unwrap();
                let (repeated, count) = match &located.resource {
                    Some(Resource::Alias(_, path)) => (path.clone(), &mut aliases),
                    Some(Resource::Node(path)) if site.links_page(&world) != Some(path) => {
                        let node = site.tree(located.role).unwrap().find(path).unwrap();
                        let Some(original) = copies::original(&world, &node) else { continue };
                        (original.path, &mut duplicates)
                    }
                    _ => continue,
                };
                *count += 1;
                let other = site.url(located.role, &Resource::Node(repeated));
                prop_assert_eq!(response(&world, &url).body, response(&world, &other).body, "{}", url);
            }
        }
        prop_assert!(aliases > 0 && duplicates > 0);
    }

    #[test]
    fn a_mirror_has_the_pages_of_its_source_and_hosts_of_its_own(seed: u64) {
        let text = SMALL.replace("mirror_share = 0.1", "mirror_share = 0.5");
        let world = World::parse(&format!("seed = {seed}\n{text}")).unwrap();
        let targets = |site: &Site| -> BTreeSet<String> {
            let pages = pages_from_front(&world, site).into_iter();
            pages.map(|(_, url, _)| url).filter(|url| url.host == site.main_host).map(|url| url.target).collect()
        };
        for index in 0..world.sites.count {
            let mirror = Site::new(&world, index);
            if mirror.content_index != index {
                let source = Site::new(&world, mirror.content_index);
                prop_assert_ne!(&mirror.main_host, &source.main_host);
                prop_assert_eq!(targets(&mirror), targets(&source));
            }
        }
    }

    #[test]
    fn pages_under_https_are_written_for_it(seed: u64) {
        let tls = "[https]\nshare = 1.0\nonly_share = 0.5\n";
        let world = World::parse(&format!("seed = {seed}\n{SMALL}{tls}")).unwrap();
        for index in 0..world.sites.count {
            let site = Site::new(&world, index);
            let url = Url { is_https: true, ..Url::http(&site.main_host, "/") };
            let Content::Page(page) = UrlLocation::find(&world, &url).unwrap().content(&world) else { continue };
            let Reaction::Response(answer) = world.respond(true, &url.host, "/") else { panic!("{url}") };
            let written: Vec<String> =
                scan(&url.to_string(), &answer.body).into_iter().map(|link| link.url).collect();
            let meant: Vec<String> = page.links.iter().map(|link| link.url.to_string()).collect();
            prop_assert_eq!(written, meant, "{}", url);
            let plain = response(&world, &Url { is_https: false, ..url.clone() });
            let is_only = site.tls.links_itself_with_https();
            prop_assert_eq!(plain.location, is_only.then(|| url.to_string()));
            prop_assert_eq!(world.handshake(&url.host) == Handshake::Closed, false);
        }
    }
}

#[test]
fn a_page_is_a_pure_function_of_seed_host_and_path() {
    let (one, two, other) = (world(5), world(5), world(6));
    let site = Site::new(&one, 3);
    let url = Url::http(&site.main_host, "/");
    assert_eq!(response(&one, &url), response(&two, &url));
    assert!(matches!(other.respond(false, &url.host, "/"), Reaction::NoSuchHost));
}

#[test]
fn the_bytes_of_the_specification_stay_as_they_are() {
    let world = world(1);
    let mut hash = 0;
    for index in 0..world.sites.count {
        for (_, url, _) in pages_from_front(&world, &Site::new(&world, index)) {
            hash = xxhash_rust::xxh3::xxh3_64_with_seed(&response(&world, &url).body, hash);
        }
    }
    // Changes only with the version of the specification: recorded worlds and truths depend on it.
    assert_eq!(format!("{hash:016x}"), "f3ecd782931d9a22");
}

/// A world with TLS and every setting that existed before the doors and dead links were added.
const BEFORE_DOORS: &str = "seed = 3
[sites]
count = 60
most_pages = 30
large_smallest = 20.0
cms_median = 15.0
[pages]
bytes_median = 500.0
[https]
share = 0.5
";

#[test]
fn a_world_whose_doors_are_open_and_whose_links_live_has_the_bytes_of_before_there_were_such_keys() {
    let world = World::parse(BEFORE_DOORS).unwrap();
    let mut hash = 0;
    // Retry-After did not exist then, nor did a body beside its encoded form; a field had another name, and all
    // hosts of a server the same alias.
    let mut note = |text: String| {
        let text = text.replace("retry_after: None, ", "").replace("identity: None, ", "");
        let text = text.replace("more_v4: ", "further: ");
        let text = text.replace("more_fields: [], ", "").replace("more_aliases: [], ", "");
        let text = text.replace("\"web6-", "\"web-").replace("\"dual-", "\"web-");
        hash = xxhash_rust::xxh3::xxh3_64_with_seed(text.as_bytes(), hash);
    };
    let told = |reaction| match reaction {
        Reaction::Response(response) => Reaction::Response(Response { identity: None, ..response }),
        other => other,
    };
    world.start_urls().into_iter().for_each(&mut note);
    for site in (0..world.sites.count).map(|index| Site::new(&world, index)) {
        for role in [Role::Main, Role::Bare, Role::Sub] {
            let host = site.host(role);
            note(format!("{:?} {:?}", world.lookup(host), world.handshake(host)));
            for target in ["/", "/robots.txt", "/part-0.html", "/gone/1.html"] {
                for is_https in [false, true] {
                    note(format!("{:?}", told(world.respond(is_https, host, target))));
                }
            }
        }
        for (_, url, _) in pages_to_depth(3, &world, &site) {
            note(format!("{:?}", told(world.respond(false, &url.host, &url.target))));
        }
    }
    // Recorded before: new keys must not shift earlier draws.
    assert_eq!(format!("{hash:016x}"), "55c7a04700dd1c79");
}

#[test]
fn a_new_key_share_does_not_shift_other_draws() {
    let plain = world(9);
    let with_scripts =
        World::parse(&format!("seed = 9\n{}", SMALL.replace("script_share = 0.2", "script_share = 0.9")))
            .unwrap();
    let site = Site::new(&plain, 2);
    let changed = Site::new(&with_scripts, 2);
    assert_eq!((site.main_host, site.pages), (changed.main_host, changed.pages));
}

#[test]
fn the_bare_name_redirects_to_www() {
    let world = world(2);
    let site = (0..12).map(|index| Site::new(&world, index)).find(|site| site.bare_host.is_some()).unwrap();
    let answer = response(&world, &Url::http(site.host(Role::Bare), "/part-0.html"));
    assert_eq!(answer.status, 301);
    assert_eq!(answer.location, Some(format!("http://{}/part-0.html", site.main_host)));
}

#[test]
fn other_spellings_of_a_path_are_the_same_page() {
    let world = world(4);
    let site = (0..12)
        .map(|index| Site::new(&world, index))
        .find(|site| site.pages > 3 && !site.is_script_only)
        .unwrap();
    let body = |target: &str| response(&world, &Url::http(&site.main_host, target)).body;
    let plain = body("/part-0.html");
    for spelled in ["/%70art-0.html", "/./part-0.html", "/old/../part-0.html"] {
        assert_eq!(body(spelled), plain, "{spelled}");
    }
}
