use std::collections::BTreeSet;
use std::sync::Arc;

use super::server::Server;
use super::site::Site;
use super::{FeedBack, LevelTruth, Truth, TruthSettings, World, describe};
use crate::address::{Host, SuffixSection, Suffixes};

const WORLDS: [(&str, &str); 7] = [
    ("demo", include_str!("../../data/demo.toml")),
    ("one page", include_str!("../../tests/worlds/a_site_with_one_page.toml")),
    ("scripts", include_str!("../../tests/worlds/scripts_answer_one_query_each.toml")),
    ("robots", include_str!("../../tests/worlds/robots_keep_some_pages_back.toml")),
    ("redirects", include_str!("../../tests/worlds/redirects_add_no_depth.toml")),
    ("small country", include_str!("../../tests/worlds/a_small_country.toml")),
    ("shared hosting", include_str!("../../tests/worlds/shared_hosting.toml")),
];

fn suffixes() -> Arc<Suffixes> {
    let list = include_str!("../../data/public_suffix_list.dat");
    Arc::new(Suffixes::parse(list, SuffixSection::Icann).unwrap())
}

fn world(name: &str) -> World {
    let text = WORLDS.iter().find(|(known, _)| *known == name).unwrap().1;
    World::parse(text).unwrap()
}

fn truth(world: &World, depth: u16) -> Truth {
    let settings = TruthSettings {
        depth,
        feed_back: FeedBack::Link,
        start: world.start_urls(),
        queries_per_script: 1,
        suffixes: suffixes(),
    };
    Truth::of(world, &settings)
}

fn requests(truth: &Truth) -> u64 {
    truth.sites.iter().map(|site| site.requests).sum()
}

fn left(truth: &Truth, of: fn(&LevelTruth) -> u64) -> u64 {
    truth.levels.iter().map(of).sum()
}

#[test]
fn every_world_registers_its_sites_below_public_suffixes() {
    let suffixes = suffixes();
    for (name, text) in WORLDS {
        let world = World::parse(text).unwrap();
        assert!(world.registry_suffixes.iter().all(|suffix| suffixes.is_icann_suffix(suffix)), "{name}");
        for site in (0..world.sites.count).map(|index| Site::of(&world, index)) {
            let domain = Host::parse(site.bare_host.as_deref().unwrap_or(&site.main_host)).unwrap();
            assert_eq!(suffixes.registrable(&domain), Some(domain), "{name}");
        }
    }
}

#[test]
fn a_site_with_one_page_costs_two_requests() {
    let truth = truth(&world("one page"), 8);
    assert_eq!((truth.sites.len(), requests(&truth), truth.sites[0].pages), (1, 2, 1));
    assert!(truth.sites[0].external_urls > 0);
}

#[test]
fn scripts_answer_one_query_each() {
    let truth = truth(&world("scripts"), 8);
    assert!(left(&truth, |level| level.not_fetched_script) > left(&truth, |level| level.fetched));
}

#[test]
fn robots_keep_some_pages_back() {
    let truth = truth(&world("robots"), 8);
    assert!(left(&truth, |level| level.not_fetched_robots) > 20);
    assert!(left(&truth, |level| level.not_fetched_robots_unreachable) > 1);
    assert!(truth.sites.iter().any(|site| site.outcome == "robots"));
    assert!(truth.levels.iter().any(|level| level.depth == 1 && level.not_fetched_robots_unreachable > 0));
}

#[test]
fn redirects_add_no_depth() {
    let truth = truth(&world("redirects"), 8);
    assert!(left(&truth, |level| level.not_fetched_redirects) > 3);
    assert!(truth.links.iter().any(|link| link.element == "redirect"));
}

#[test]
fn a_small_country_is_about_six_hundred_requests() {
    let truth = truth(&world("small country"), 8);
    assert!((30..=45).contains(&truth.sites.len()), "{}", truth.sites.len());
    assert!((450..=750).contains(&requests(&truth)), "{}", requests(&truth));
    assert!(truth.sites.iter().any(|site| site.generation > 0));
}

#[test]
fn shared_hosting_has_two_addresses() {
    let world = world("shared hosting");
    let hosts = (0..20).map(|index| Site::of(&world, index).main_host);
    let addresses: BTreeSet<_> = hosts.map(|host| Server::of_host(&world, &host).address).collect();
    assert_eq!(addresses.len(), 2);
}

#[test]
fn the_demo_has_everything_that_a_survey_meets() {
    let world = world("demo");
    let truth = truth(&world, 8);
    assert!((6_000..9_000).contains(&requests(&truth)), "{}", requests(&truth));
    assert!((150..=200).contains(&truth.sites.len()), "{}", truth.sites.len());
    for outcome in ["complete", "depth", "robots", "moved", "unreachable"] {
        assert!(truth.sites.iter().any(|site| site.outcome == outcome), "{outcome}");
    }
    assert!(truth.sites.iter().any(|site| site.generation >= 2), "generations");
    assert!(left(&truth, |level| level.not_fetched_nofollow) > 0);
    assert!(left(&truth, |level| level.not_fetched_script) > 0);
    let drawn = &describe(&world)["drawn"];
    for fault in ["no_dns", "servfail", "reset", "unavailable", "moved", "with_second_host", "script_only"] {
        assert!(drawn[fault].as_u64() > Some(0), "{fault}");
    }
}

#[test]
fn a_description_names_every_key_with_unit_and_meaning() {
    let described = describe(&world("demo"));
    let keys = described["keys"].as_array().unwrap();
    assert!(keys.len() > 80, "{}", keys.len());
    let count = keys.iter().find(|key| key["key"] == "sites.count").unwrap();
    assert_eq!((count["unit"].as_str(), count["default"].as_str()), (Some("sites"), Some("100")));
    assert_eq!(count["allowed"], "1..=1000000");
    assert!(keys.iter().all(|key| key["meaning"].as_str().is_some_and(|text| text.ends_with('.'))));
}
