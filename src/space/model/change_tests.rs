//! How editions of a world change its pages, as a crawler sees them.

use std::collections::{BTreeMap, HashSet};

use super::content::{Page, Url};
use super::tests::pages_from_front;
use crate::model::site::{Fault, Site};
use crate::{Reaction, Response, Web, World};

const SITES: u64 = 60;

fn world(edition: u64, change: &str) -> World {
    // No traps, copies or second names: the shares under test hold for ordinary pages only.
    World::parse(&format!(
        "[sites]\ncount = {SITES}\nmost_pages = 400\n[copies]\nmirror_share = 0.0\nduplicate_share = 0.0\n\
         alias_share = 0.0\n[traps]\ncalendar_share = 0.0\nfacet_share = 0.0\nsession_share = 0.0\nloop_share = 0.0\n\
         soft_404_share = 0.0\n\
         [faults]\nno_dns_share = 0.0\nservfail_share = 0.0\ndns_silent_share = 0.0\nreset_share = 0.0\n\
         silent_share = 0.0\nforbidden_share = 0.0\nunavailable_share = 0.0\nmoved_share = 0.0\n\
         [validators]\npage_etag_share = 1.0\nedition = {edition}\nchanged_share = 0.3\n[change]\n{change}\n"
    ))
    .unwrap()
}

/// The pages of every site that has any, by URL.
fn pages(world: &World) -> BTreeMap<String, Page> {
    let sites =
        (0..SITES).map(|index| Site::new(world, index)).filter(|site| site.fault != Some(Fault::Moved));
    sites
        .flat_map(|site| pages_from_front(world, &site))
        .map(|(_, url, page)| (url.to_string(), page))
        .collect()
}

fn response(world: &World, url: &str) -> Response {
    let (host, path) = url.split_once("://").unwrap().1.split_once('/').unwrap();
    let is_https = url.starts_with("https");
    match world.respond(is_https, host, &format!("/{path}")) {
        Reaction::Response(response) => response,
        other => panic!("{url}: {other:?}"),
    }
}

fn is_of_tree(url: &str) -> bool {
    url.contains("/part-") || url.contains("page.php?p=")
}

fn external(page: &Page) -> HashSet<&Url> {
    let own = &page.written_at.host;
    let domain = own.split_once('.').map_or(own.as_str(), |(_, domain)| domain);
    page.links.iter().map(|link| &link.url).filter(|url| !url.host.ends_with(domain)).collect()
}

fn share(part: usize, whole: usize) -> f64 {
    assert!(whole > 500, "{whole}: too few to tell");
    part as f64 / whole as f64
}

#[test]
fn an_edition_that_says_nothing_of_links_and_pages_leaves_them() {
    let [made, edited] = [0, 3].map(|edition| pages(&world(edition, "")));
    assert!(made.keys().eq(edited.keys()));
    assert!(made.iter().all(|(url, page)| page.links == edited[url].links));
}

#[test]
fn pages_are_new_and_gone_in_their_shares_and_what_is_gone_answers_404() {
    let world = |edition| world(edition, "new_share = 0.2\ngone_share = 0.1");
    let [made, edited] = [0, 1].map(|edition| pages(&world(edition)));
    let is_leaf = |url: &String| {
        let below = |other: &String| {
            let rest = other.strip_prefix(url.trim_end_matches(".html"));
            rest.is_some_and(|rest| rest.starts_with(['-', '/']))
        };
        !edited.keys().any(below)
    };
    let new: Vec<&String> = edited.keys().filter(|url| is_of_tree(url) && !made.contains_key(*url)).collect();
    let gone: Vec<&String> =
        made.keys().filter(|url| is_of_tree(url) && !edited.contains_key(*url)).collect();
    let all = made.keys().filter(|url| is_of_tree(url)).count();
    let (of_new, of_gone) = (share(new.len(), all), share(gone.len(), all));
    assert!((0.15..0.25).contains(&of_new), "{of_new}");
    // Includes the pages below a removed page. Children of front pages are never removed.
    assert!((0.08..0.3).contains(&of_gone), "{of_gone}");
    assert!(new.iter().copied().all(is_leaf));
    for url in gone {
        assert_eq!(response(&world(1), url).status, 404, "{url}");
        assert_eq!(response(&world(0), url).status, 200, "{url}");
    }
    let later = pages(&world(2));
    let stay = new.iter().filter(|url| later.contains_key(**url)).count();
    assert!((0.5..0.97).contains(&(stay as f64 / new.len() as f64)), "{stay} of {}", new.len());
}

#[test]
fn links_of_changed_pages_come_and_go_and_their_mean_stays() {
    let of = |edition| pages(&world(edition, "links_share = 0.5"));
    let (made, edited) = (of(0), of(1));
    let (mut before, mut after, mut went) = (0, 0, 0);
    for (url, page) in &made {
        let now = &edited[url];
        if now.changed.is_none() {
            assert_eq!(page.links, now.links, "{url}");
            continue;
        }
        let (old, new) = (external(page), external(now));
        before += old.len();
        after += new.len();
        went += old.difference(&new).count();
    }
    // Boilerplate links stay, and one favourite may replace another.
    let of_gone = share(went, before);
    assert!((0.05..0.5).contains(&of_gone), "{of_gone}");
    assert!((0.85..1.15).contains(&(after as f64 / before as f64)), "{before} before, {after} after");
}

#[test]
fn a_page_whose_tag_is_the_same_has_the_same_bytes() {
    let change = "new_share = 0.2\ngone_share = 0.1\nlinks_share = 0.5";
    let [old, new] = [0, 1].map(|edition| world(edition, change));
    let (mut same, mut other) = (0, 0);
    for url in pages(&old).keys() {
        let (before, after) = (response(&old, url), response(&new, url));
        if after.status != 200 {
            continue;
        }
        match before.etag == after.etag {
            true => assert!(before.body == after.body, "{url}"),
            false => assert!(before.body != after.body, "{url}"),
        }
        if before.etag == after.etag { same += 1 } else { other += 1 }
    }
    assert!(same > 500 && other > 500, "{same} {other}");
}
