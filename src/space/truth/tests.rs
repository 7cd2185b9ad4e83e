use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use super::{Entrances, FeedBack, LevelTruth, SiteTruth, Truth, TruthSettings, TruthTable};
use crate::address::{SuffixSection, Suffixes, WebUrl};
use crate::scan::scan;
use crate::{Reaction, Web, World};

pub(crate) static SUFFIXES: LazyLock<Arc<Suffixes>> = LazyLock::new(|| {
    let list = include_str!("../../../data/public_suffix_list.dat");
    Arc::new(Suffixes::parse(list, SuffixSection::Icann).unwrap())
});

/// Sets the depth and leaves everything else at its default.
pub(crate) fn settings(world: &World, depth: u16) -> TruthSettings {
    TruthSettings {
        depth,
        feed_back: FeedBack::Link,
        entrances: Entrances::default(),
        start: world.start_urls(),
        queries_per_script: 1,
        non_html_extensions: Vec::new(),
        trap_levels: None,
        suffixes: Arc::clone(&SUFFIXES),
    }
}

fn world(seed: u64) -> World {
    let text = "country_domains = [\"ke\"]\nregistry_suffixes = [\"ke\", \"co.ke\"]
[sites]\ncount = 25\nmost_pages = 60\nlarge_smallest = 30.0\ncms_median = 30.0
[extras]\nscript_share = 0.1\n[redirects]\nloop_share = 0.05\nchain_share = 0.1
[faults]\nno_dns_share = 0.1\nreset_share = 0.1\nmoved_share = 0.1
[pages]\nnofollow_share = 0.05\nbytes_median = 100.0\n";
    World::parse(&format!("seed = {seed}\n{text}")).unwrap()
}

/// A world in which no page is skipped, so that a plain crawler finds the same.
fn open_world(seed: u64) -> World {
    let text = "
[sites]\ncount = 8\nmost_pages = 50\nlarge_smallest = 30.0\ncms_median = 30.0\nscript_only_share = 0.0
[extras]\nscript_share = 0.0\n[pages]\nbytes_median = 100.0
[robots]\nmissing_share = 1.0\njunk_share = 0.0\nsome_share = 0.0\nall_share = 0.0\ncrawl_delay_share = 0.0\nunavailable_share = 0.0\nsilent_share = 0.0
[traps]\ncalendar_share = 0.0\nloop_share = 0.0\nsession_share = 0.0\nfacet_share = 0.2\nfacets = 2
[faults]\nno_dns_share = 0.0\nservfail_share = 0.0\ndns_silent_share = 0.0\nreset_share = 0.0\nsilent_share = 0.0\nforbidden_share = 0.0\nunavailable_share = 0.0\nmoved_share = 0.0\n";
    World::parse(&format!("seed = {seed}\n{text}")).unwrap()
}

/// Pages, internal and external URLs by level, read from the bytes by the simplest possible crawler.
fn read_plainly(world: &World, start: &str) -> Vec<(u64, u64, u64)> {
    let start = WebUrl::parse(start).unwrap();
    let site = SUFFIXES.site_of(start.host());
    let (mut seen, mut external) = (HashSet::from([start.page_key()]), HashSet::new());
    let (mut list, mut levels) = (vec![start], Vec::new());
    while !list.is_empty() {
        let (mut next, mut pages, mut found, mut turn) = (Vec::new(), 0, 0, 0);
        while turn < list.len() {
            let url = list[turn].clone();
            turn += 1;
            let Reaction::Response(answer) = world.respond(url.is_https(), url.host().as_str(), url.target())
            else {
                continue;
            };
            if let Some(location) = &answer.location {
                let to = url.join(location).unwrap();
                if SUFFIXES.site_of(to.host()) != site {
                    found += u64::from(external.insert(to.page_key()));
                } else if seen.insert(to.page_key()) {
                    list.push(to);
                }
            } else if answer.status == 200
                && answer.content_type.is_some_and(|is| is.starts_with("text/html"))
            {
                pages += 1;
                for link in scan(url.as_str(), &answer.body) {
                    let to = WebUrl::parse(&link.url).unwrap();
                    if SUFFIXES.site_of(to.host()) != site {
                        found += u64::from(external.insert(to.page_key()));
                    } else if !link.nofollow {
                        next.push(to);
                    }
                }
            }
        }
        levels.push((pages, list.len() as u64, found));
        next.retain(|url| seen.insert(url.page_key()));
        list = next;
    }
    levels
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10) })]

    #[test]
    fn a_plain_reader_of_the_pages_finds_the_same_levels(seed: u64) {
        let world = open_world(seed);
        let settings = TruthSettings { feed_back: FeedBack::Off, ..settings(&world, 1000) };
        let truth = Truth::compute(&world, &settings);
        for site in &truth.sites {
            let told: Vec<(u64, u64, u64)> = truth
                .levels
                .iter()
                .filter(|level| level.site == site.site && level.fetched > 0)
                .map(|level| (level.pages, level.fetched, level.external_urls))
                .collect();
            prop_assert_eq!(told, read_plainly(&world, &site.start_url), "{}", site.start_url);
        }
    }

    #[test]
    fn the_tables_agree_with_each_other(seed: u64, depth in 0..6_u16) {
        let world = world(seed);
        let truth = Truth::compute(&world, &settings(&world, depth));
        for site in &truth.sites {
            let tree = (&site.site, site.seed);
            let levels: Vec<&LevelTruth> =
                truth.levels.iter().filter(|level| (&level.site, level.seed) == tree).collect();
            let sum = |of: fn(&LevelTruth) -> u64| levels.iter().map(|level| of(level)).sum::<u64>();
            prop_assert!(sum(|level| level.requests) <= site.requests);
            prop_assert_eq!(sum(|level| level.pages), site.pages);
            prop_assert_eq!(sum(|level| level.external_urls), site.external_urls);
            prop_assert_eq!(sum(|level| level.external_sites), site.external_sites);
            let links = truth.links.iter().filter(|link| (&link.site, link.seed) == tree);
            let hosts: BTreeSet<&str> = links.clone().map(|link| link.host.as_str()).collect();
            prop_assert_eq!(hosts.len() as u64, site.external_hosts);
            prop_assert_eq!(links.count() as u64, site.external_urls);
            prop_assert_eq!(levels[0].depth, 0);
        }
        for level in &truth.levels {
            prop_assert_eq!(level.internal_urls, level.classed());
            prop_assert!(level.depth <= depth + 1);
            let is_below = level.depth > depth;
            let left = level.not_fetched_depth + level.not_fetched_nofollow;
            prop_assert!(!is_below || left == level.internal_urls);
            prop_assert!(is_below || level.not_fetched_depth == 0);
        }
        prop_assert!(truth.links.iter().all(|link| link.site != link.target_site));
    }

    #[test]
    fn a_shallow_survey_is_a_deep_one_cut_off(seed: u64, depth in 0..5_u16) {
        let world = world(seed);
        let off = |depth| TruthSettings { feed_back: FeedBack::Off, ..settings(&world, depth) };
        let (shallow, deep) = (Truth::compute(&world, &off(depth)), Truth::compute(&world, &off(12)));
        let cut = |truth: &Truth| -> Vec<LevelTruth> {
            truth.levels.iter().filter(|level| level.depth <= depth).cloned().collect()
        };
        prop_assert_eq!(cut(&shallow), cut(&deep));
        let links: Vec<_> = deep.links.iter().filter(|link| link.depth <= depth).cloned().collect();
        prop_assert_eq!(shallow.links, links);
    }
}

fn truth_of(text: &str, depth: u16) -> Truth {
    let world = World::parse(text).unwrap();
    Truth::compute(&world, &settings(&world, depth))
}

#[test]
fn fed_back_sites_have_a_parent_and_the_next_generation() {
    let truth = Truth::compute(&world(3), &settings(&world(3), 3));
    let has_generation = |site: &str, generation: u32| {
        truth.sites.iter().any(|row| row.site == site && row.generation == generation)
    };
    let fed_back: Vec<&SiteTruth> = truth.sites.iter().filter(|row| row.generation > 0).collect();
    assert!(!fed_back.is_empty());
    for row in fed_back {
        let parent = row.parent_site.as_deref().unwrap();
        assert!(has_generation(parent, row.generation - 1));
        assert!(truth.links.iter().any(|link| link.site == parent && link.url == row.start_url));
    }
    let trees: HashSet<_> = truth.sites.iter().map(|row| (&row.site, row.seed)).collect();
    assert_eq!(trees.len(), truth.sites.len());
}

#[test]
fn without_feed_back_only_the_start_list_is_walked() {
    let world = world(3);
    let off = TruthSettings { feed_back: FeedBack::Off, ..settings(&world, 3) };
    assert_eq!(Truth::compute(&world, &off).sites.len(), world.start_urls().len());
    let door = TruthSettings { feed_back: FeedBack::Door, ..settings(&world, 3) };
    assert!(Truth::compute(&world, &door).sites.iter().all(|row| row.start_url.ends_with('/')));
}

#[test]
fn what_keeps_a_whole_site_back_is_its_outcome() {
    let one = |faults: &str| {
        let text = format!("[sites]\ncount = 1\nstart_share = 1.0\nbare_start_share = 0.0\n{faults}");
        let truth = truth_of(&text, 3);
        let row = truth.sites[0].clone();
        (row.outcome, row.requests, row.pages, row.deepest, truth.levels[0].not_fetched_robots_unreachable)
    };
    let shares = "no_dns_share = 0.0\nservfail_share = 0.0\ndns_silent_share = 0.0\nunavailable_share = 0.0\nmoved_share = 0.0\nreset_share = 0.0\nhost_silent_share = 0.0\nforbidden_share = 0.0"
        .replace("host_", "");
    let fault = |name: &str| {
        format!("[faults]\n{}", shares.replace(&format!("{name} = 0.0"), &format!("{name} = 1.0")))
    };
    // `kept` counts the front pages that were tried but not requested: the offered one and that of the other
    // name.
    for (share, expected) in [
        ("no_dns_share", ("unreachable", 0, 0, None, 2)),
        ("servfail_share", ("unreachable", 0, 0, None, 2)),
        ("reset_share", ("unreachable", 2, 0, None, 2)),
        ("unavailable_share", ("no_page", 1, 0, None, 2)),
        ("forbidden_share", ("no_page", 2, 0, Some(0), 1)),
        ("moved_share", ("moved", 2, 0, Some(0), 0)),
    ] {
        let (outcome, requests, pages, deepest, kept) = one(&fault(share));
        assert_eq!((outcome.as_str(), requests, pages, deepest, kept), expected, "{share}");
    }
}

#[test]
fn the_truth_is_written_as_csv_and_json() {
    let truth = Truth::compute(&world(1), &settings(&world(1), 2));
    let csv = truth.to_csv(TruthTable::Sites);
    assert!(csv.starts_with("site,start_url,parent_site,generation,outcome,requests,pages,"), "{csv}");
    assert_eq!(csv.lines().count(), truth.sites.len() + 1);
    assert_eq!(truth.to_csv(TruthTable::Links).lines().count(), truth.links.len() + 1);
    assert_eq!(truth.to_json()["levels"].as_array().map(Vec::len), Some(truth.levels.len()));
}
