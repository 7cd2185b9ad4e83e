//! Promise 4: each robots.txt is requested once in 24 hours, as the servers see it.

use std::collections::BTreeMap;
use std::path::Path;

use ccsurvey::address::WebUrl;
use ccsurvey::analysis::Overview;
use ccsurvey::promises::{Judgement, Promise};
use ccsurvey::records::{ExchangeRow, LevelRow, SiteRow};
use ccsurvey::settings::{DepthRule, FeedBackRule, Settings};
use ccsurvey::space::Access;

use crate::common::{Space, assert_same_tables, pages_by_site};

/// How often the robots.txt of each origin was requested, and whether it ever came.
fn robots_accesses(log: &[Access]) -> BTreeMap<(bool, String), (usize, bool)> {
    let mut by_origin = BTreeMap::<_, (usize, bool)>::new();
    for access in log.iter().filter(|access| access.path == "/robots.txt") {
        let (times, was_received) = by_origin.entry((access.is_https, access.host.clone())).or_default();
        *times += 1;
        *was_received |= access.status.is_some_and(|status| status < 500);
    }
    by_origin
}

#[test]
fn no_robots_txt_is_asked_for_twice_by_fifty_trees_a_site_however_many_are_walked_at_once() {
    let space = Space::serve("a_small_country");
    let pages = pages_by_site(&space.survey(space.settings()).dir());
    let starts: Vec<WebUrl> = pages.into_values().flatten().collect();
    let mut all = Vec::new();
    for (sites, per_site) in [(1, 1), (64, 1), (64, 4)] {
        let before = space.accesses().len();
        let settings = Settings {
            sites,
            per_site,
            per_address: per_site,
            depth: DepthRule::Levels(0),
            seeds_per_site: 50,
            feed_back: FeedBackRule::Off,
            ..space.settings()
        };
        let surveyed = space.survey_from(settings, &starts);
        assert!(surveyed.ending.broken_promises.is_empty(), "{:?}", surveyed.ending.broken_promises);
        assert_the_tables_show_no_page_before_its_robots_txt(&surveyed.dir());
        let tables = surveyed.tables();
        let sent: u64 = tables.sites.iter().map(|row| row.requests).sum();
        let log = space.await_accesses(before + usize::try_from(sent).unwrap()).split_off(before);
        let by_origin = robots_accesses(&log);
        let what = format!("--sites {sites} --per-site {per_site}");
        for (origin, (times, was_received)) in &by_origin {
            assert!(
                if *was_received { *times == 1 } else { *times <= 3 },
                "{what}: {origin:?} {times} times"
            );
        }
        let requests = by_origin.values().map(|(times, _)| *times as u64).sum::<u64>();
        assert_eq!(sum_robots_requests(&tables.sites), requests, "{what}");
        assert!(tables.sites.len() > 10 * by_origin.len(), "{} trees", tables.sites.len());
        assert!(
            sum_shared_robots(&tables.levels) + requests >= tables.sites.len() as u64,
            "each tree has one"
        );
        assert_no_duplicate_robots(&tables.exchanges);
        all.push(tables);
    }
    all.windows(2).for_each(|pair| assert_same_tables(&pair[1], &pair[0]));
}

fn sum_robots_requests(sites: &[SiteRow]) -> u64 {
    sites.iter().map(|row| row.robots_requests).sum()
}

fn sum_shared_robots(levels: &[LevelRow]) -> u64 {
    levels.iter().filter_map(|row| row.shared_robots).sum()
}

/// A judge of the tables alone finds that each tree had the robots.txt of its hosts.
fn assert_the_tables_show_no_page_before_its_robots_txt(dir: &Path) {
    let promises = Overview::load(dir).unwrap().ledger.promises;
    for promise in [Promise::RobotsFirst, Promise::RobotsUnreachable] {
        let verdict = promises.iter().find(|verdict| verdict.id == promise.id()).unwrap();
        assert_eq!(verdict.judgement, Judgement::Held, "{}", verdict.evidence);
    }
}

/// A request has one row, in one tree.
fn assert_no_duplicate_robots(exchanges: &[ExchangeRow]) {
    let mut urls: Vec<&str> = exchanges
        .iter()
        .filter(|row| row.purpose == "robots" && row.status.is_some_and(|status| status < 500))
        .map(|row| row.url.as_str())
        .collect();
    let rows = urls.len();
    urls.sort_unstable();
    urls.dedup();
    assert_eq!(urls.len(), rows);
}
