//! What a survey finds in a virtual Web space equals the ground truth of the space.

use std::time::Duration;

use ccsurvey::settings;
use ccsurvey::settings::{DepthRule, FeedBackRule, Settings, Span};
use ccsurvey::space::{Entrances, FeedBack, TruthSettings};

use crate::common::Space;
use crate::common::truths::{assert_matches_truth, found_and_reachable};

fn check(world: &str) {
    check_at(world, &[(1, 1), (4, 1), (64, 1), (64, 4)], |settings| settings);
}

/// Surveys a world with each pair of numbers: sites at once, and requests at once in each.
fn check_at(world: &str, paces: &[(usize, u32)], change: impl Fn(Settings) -> Settings) {
    let space = Space::serve(world);
    let truth = space.truth(8, FeedBack::Link);
    assert!(!truth.sites.is_empty());
    for &(sites, per_site) in paces {
        let settings = Settings { sites, per_site, per_address: per_site, ..change(space.settings()) };
        let tables = space.survey(settings).tables();
        assert_matches_truth(&tables, &truth, &format!("{world}, --sites {sites} --per-site {per_site}"));
    }
}

#[test]
fn a_site_with_one_page() {
    check("a_site_with_one_page");
}

#[test]
fn scripts_answer_one_query_each() {
    check("scripts_answer_one_query_each");
}

#[test]
fn robots_keep_some_pages_back() {
    check("robots_keep_some_pages_back");
}

#[test]
fn redirects_add_no_depth() {
    check("redirects_add_no_depth");
}

#[test]
fn shared_hosting() {
    check("shared_hosting");
}

#[test]
fn a_small_country() {
    check("a_small_country");
}

#[test]
fn calendars_never_end() {
    check("calendars_never_end");
}

#[test]
fn relative_links_loop() {
    check("relative_links_loop");
}

#[test]
fn sessions_and_facets_multiply() {
    check("sessions_and_facets_multiply");
}

#[test]
fn traps_end_by_evidence() {
    check("traps_end_by_evidence");
}

#[test]
fn lists_go_on_for_pages() {
    check("lists_go_on_for_pages");
}

#[test]
fn hosts_tell_what_runs_them() {
    check("hosts_tell_what_runs_them");
}

#[test]
fn names_tell_what_pages_are() {
    check("names_tell_what_pages_are");
}

#[test]
fn soft_404_hosts_answer_everything() {
    check("soft_404_hosts_answer_everything");
}

#[test]
fn the_same_page_has_many_names() {
    check("the_same_page_has_many_names");
}

#[test]
fn sites_speak_tls() {
    check("sites_speak_tls");
}

/// The time-out is short enough for a test if no response comes, and long enough on a busy machine if one
/// comes.
#[test]
fn hosts_fail_in_every_way() {
    let wait = Span(Duration::from_secs(3));
    let change = |settings| Settings { first_byte_timeout: wait, ..settings };
    check_at("hosts_fail_in_every_way", &[(64, 1), (64, 4)], change);
}

#[test]
fn feeding_back_front_pages_or_nothing_is_told_by_the_truth_too() {
    let space = Space::serve("a_small_country");
    for (rule, feed_back) in [(FeedBackRule::Door, FeedBack::Door), (FeedBackRule::Off, FeedBack::Off)] {
        let tables = space.survey(Settings { feed_back: rule, ..space.settings() }).tables();
        assert_matches_truth(&tables, &space.truth(8, feed_back), &format!("--feed-back {rule:?}"));
    }
}

#[test]
fn more_queries_per_script_are_told_by_the_truth_too() {
    let space = Space::serve("scripts_answer_one_query_each");
    let tables = space.survey(Settings { queries_per_script: 3, ..space.settings() }).tables();
    assert_matches_truth(&tables, &space.truth_with(8, FeedBack::Link, 3), "--queries-per-script 3");
}

#[test]
fn every_depth_is_told_by_the_truth_too() {
    let space = Space::serve("a_small_country");
    for depth in [0, 1, 2, 5] {
        let tables = space.survey(Settings { depth: DepthRule::Levels(depth), ..space.settings() }).tables();
        assert_matches_truth(&tables, &space.truth(depth, FeedBack::Link), &format!("--depth {depth}"));
    }
}

const SHUT_DOORS_WORLD: &str = "links_between_sites_die_and_doors_are_shut";

#[test]
fn every_site_that_a_door_or_a_link_can_open_is_found_however_many_are_walked_at_once() {
    let space = Space::serve(SHUT_DOORS_WORLD);
    let truth = space.truth(8, FeedBack::Link);
    for sites in [1, 16, 256] {
        let tables = space.survey(Settings { sites, ..space.settings() }).tables();
        assert_matches_truth(&tables, &truth, &format!("--sites {sites}"));
        let [found, reachable] = found_and_reachable(&tables, &truth);
        assert_eq!(found, reachable, "--sites {sites}");
    }
}

#[test]
fn fewer_entrances_and_all_doors_are_told_by_the_truth_too() {
    let space = Space::serve(SHUT_DOORS_WORLD);
    let mut found_with = Vec::new();
    for (truth_entrances, entrances) in [
        (Entrances::UpTo(1), settings::Entrances::UpTo(1)),
        (Entrances::UpTo(2), settings::Entrances::UpTo(2)),
        (Entrances::default(), settings::Entrances::default()),
        (Entrances::All, settings::Entrances::All),
    ] {
        let truth = space.truth_by(|settings| TruthSettings { entrances: truth_entrances, ..settings });
        let tables = space.survey(Settings { entrances, sites: 64, ..space.settings() }).tables();
        assert_matches_truth(&tables, &truth, &format!("--entrances {entrances}"));
        let [found, _] = found_and_reachable(&tables, &truth);
        let requests: u64 = tables.sites.iter().map(|row| row.requests).sum();
        println!("--entrances {entrances}: {} sites with pages, {requests} requests", found.len());
        found_with.push(found.len());
    }
    let [one, two, usual, all] = found_with[..] else { panic!("{found_with:?}") };
    assert!(one < two && two < usual && usual == all, "{found_with:?}");
}
