//! What the paths of a site tell of its pages: kinds, and parts that repeat another.

use std::collections::{BTreeMap, BTreeSet};

use super::content::{Content, Url};
use super::paths::{Path, Resource};
use super::site::{Role, Site};
use super::url_location::UrlLocation;
use crate::World;

/// Sites of some hundred pages whose external links all lead to hosts that no other link leads to.
fn world(structure: &str) -> World {
    let text = format!(
        "[sites]\ncount = 40\none_page_share = 0.0\nbrochure_share = 0.0\ncms_share = 1.0\nlarge_share = 0.0\n\
         cms_median = 300.0\ncms_sigma = 0.2\nscript_only_share = 0.0\nsubdomain_share = 0.0\n\
         [lists]\nshare = 0.0\n[copies]\nduplicate_share = 0.0\nmirror_share = 0.0\nalias_share = 0.0\n\
         [external]\nboilerplate_mean = 0.0\nlinks_page_share = 0.0\ncontent_mean = 2.0\nsilent_share = 0.0\n\
         site_sigma = 0.0\nbranch_sigma = 0.0\nfavourite_share = 0.0\ninside_share = 0.0\n\
         outside_pool = 1000000000\n[faults]\nmoved_share = 0.0\n[structure]\n{structure}\n"
    );
    World::parse(&text).unwrap()
}

fn sites(world: &World) -> impl Iterator<Item = Site> {
    (0..world.sites.count).map(|index| Site::new(world, index))
}

/// Every page of a site: its path, its URL and the hosts outside that its content links to.
fn pages(world: &World, site: &Site) -> Vec<(Path, Url, BTreeSet<String>)> {
    let mut waiting = vec![site.main.root()];
    let mut found = Vec::new();
    while let Some(node) = waiting.pop() {
        waiting.extend(site.main.children(&node).filter_map(|number| site.main.child(&node, number)));
        let url = site.url(Role::Main, &Resource::Node(node.path.clone()));
        let location = UrlLocation::find(world, &url).unwrap();
        assert_eq!(location.resource, Some(Resource::Node(node.path.clone())), "{}", url.target);
        // Other content of a URL is a fault of its site.
        if let Content::Page(page) = location.content(world) {
            let hosts = page.links.into_iter().map(|link| link.url.host);
            found.push((node.path, url, hosts.filter(|host| *host != site.main_host).collect()));
        }
    }
    found
}

/// The word in the last segment of a path: `event` of `/part-3/event-0-7.html`.
fn word(url: &Url) -> Option<&str> {
    let last = url.target.strip_prefix("/part-")?.split_once('/')?.1;
    last.split_once('-').map(|(word, _)| word).filter(|word| word.bytes().all(|b| b.is_ascii_lowercase()))
}

#[test]
fn a_part_that_repeats_the_first_has_its_pages_under_the_same_names_and_most_of_its_links() {
    let world = world("repeats_share = 1.0\nrepeats = 1\nkinds_share = 0.5");
    let (mut in_first, mut in_both, mut with_links, mut same_links, mut chance) = (0, 0, 0, 0, 0);
    for site in sites(&world) {
        let pages = pages(&world, &site);
        let hosts_by_path: BTreeMap<&[u32], _> =
            pages.iter().map(|(path, url, hosts)| (&**path, (url, hosts))).collect();
        for (path, url, hosts) in pages.iter().filter(|(path, ..)| path.first() == Some(&0)) {
            in_first += 1;
            let repeating: Path = [&[1], &path[1..]].concat();
            let Some((repeating_url, repeated)) = hosts_by_path.get(&*repeating) else { continue };
            in_both += 1;
            assert_eq!(url.target.replacen("/part-0", "/part-1", 1), repeating_url.target);
            if !hosts.is_empty() {
                with_links += 1;
                same_links += usize::from(hosts == *repeated);
            }
        }
        let other_part = |path: &[u32]| [&[2], &path[1..]].concat();
        chance += pages
            .iter()
            .filter(|(path, _, hosts)| path.first() == Some(&0) && !hosts.is_empty())
            .filter(|(path, _, hosts)| hosts_by_path.get(&*other_part(path)).is_some_and(|it| it.1 == hosts))
            .count();
    }
    assert!(in_both * 20 >= in_first * 19, "{in_both} of {in_first} pages");
    let share = f64::from(same_links as u32) / f64::from(with_links as u32);
    assert!(with_links > 300 && (0.85..0.95).contains(&share), "{same_links} of {with_links} pages");
    assert!(chance * 50 < with_links, "a part that repeats nothing has the links of {chance} pages");
}

#[test]
fn the_children_of_a_page_are_of_one_kind_where_the_world_says_so() {
    for (alike_share, are_alike) in [("1.0", true), ("0.0", false)] {
        let world = world(&format!("kinds_share = 1.0\nkinds = 6\nalike_share = {alike_share}"));
        let mut several = 0;
        for site in sites(&world) {
            let mut words_by_parent: BTreeMap<Path, BTreeSet<String>> = BTreeMap::new();
            for (path, url, _) in pages(&world, &site) {
                assert_eq!(word(&url).is_some(), path.len() > 1, "{}", url.target);
                if let (Some(word), Some((_, parent))) = (word(&url), path.split_last()) {
                    words_by_parent.entry(parent.to_vec()).or_default().insert(word.to_owned());
                }
            }
            let words: BTreeSet<&String> = words_by_parent.values().flatten().collect();
            assert!(words.is_empty() || (2..=6).contains(&words.len()), "{words:?}");
            several += words_by_parent.values().filter(|words| words.len() > 1).count();
        }
        assert_eq!(several == 0, are_alike, "{several} pages have children of several kinds");
    }
}

#[test]
fn pages_of_one_kind_have_as_many_external_links_and_all_kinds_together_as_many_as_without() {
    let hosts_per_page = |structure: &str| {
        let world = world(structure);
        let (mut hosts, mut count, mut spread) = (0, 0, Vec::new());
        for site in sites(&world) {
            let mut by_word: BTreeMap<Option<String>, (usize, usize)> = BTreeMap::new();
            for (_, url, own) in pages(&world, &site).iter().filter(|(path, ..)| path.len() > 1) {
                let of_word = by_word.entry(word(url).map(str::to_owned)).or_default();
                *of_word = (of_word.0 + own.len(), of_word.1 + 1);
            }
            let large = by_word.values().filter(|(_, pages)| *pages >= 30);
            let means: Vec<f64> = large.map(|(hosts, pages)| *hosts as f64 / *pages as f64).collect();
            let [least, most] =
                [f64::min, f64::max].map(|of| means.iter().copied().reduce(of).unwrap_or(1.0));
            spread.push(most / least.max(0.01));
            hosts += by_word.values().map(|(hosts, _)| hosts).sum::<usize>();
            count += by_word.values().map(|(_, pages)| pages).sum::<usize>();
        }
        spread.sort_by(f64::total_cmp);
        (hosts as f64 / count as f64, spread[spread.len() / 2])
    };
    let (without, spread_without) = hosts_per_page("");
    let (with, spread) = hosts_per_page("kinds_share = 1.0\nkinds = 6\nkind_sigma = 0.8");
    assert_eq!(spread_without, 1.0, "all pages are of no kind");
    assert!(spread > 3.0, "the kinds of a site differ by a factor of {spread:.1} in the median");
    assert!(
        (0.85..1.15).contains(&(with / without)),
        "{with:.2} hosts a page with kinds, {without:.2} without"
    );
}
