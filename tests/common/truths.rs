//! The tables of a survey in the form of the ground truth.

use std::collections::BTreeSet;

use ccsurvey::exchange::Class;
use ccsurvey::records::{LevelRow, LinkRow, SiteRow};
use ccsurvey::space::{LevelTruth, LinkTruth, SiteTruth, Truth};

use super::{TimelessTables, assert_same_rows};

fn site_truth(row: &SiteRow) -> SiteTruth {
    SiteTruth {
        site: row.site.clone(),
        start_url: ccsurvey::address::WebUrl::parse(&row.start_url).unwrap().canonical(),
        parent_site: row.parent_site.clone(),
        generation: row.generation,
        outcome: row.outcome.clone(),
        requests: row.requests,
        pages: row.pages,
        external_urls: row.external_urls,
        external_hosts: row.external_hosts,
        external_sites: row.external_sites,
        deepest: row.deepest,
        trap_pattern: row.trap_pattern.clone(),
        seed: row.seed,
        entrance: row.entrance.clone(),
        entrances: row.entrances.unwrap_or_default(),
        reachable: false,
    }
}

fn level_truth(row: &LevelRow) -> LevelTruth {
    LevelTruth {
        site: row.site.clone(),
        depth: row.depth,
        requests: row.requests,
        pages: row.pages,
        internal_urls: row.internal_urls,
        external_urls: row.external_urls,
        external_hosts: row.external_hosts,
        external_sites: row.external_sites,
        fetched: row.classes[Class::Fetched],
        not_fetched_robots: row.classes[Class::Robots],
        not_fetched_robots_unreachable: row.classes[Class::RobotsUnreachable],
        not_fetched_nofollow: row.classes[Class::Nofollow],
        not_fetched_filtered: row.classes[Class::Filtered],
        not_fetched_script: row.classes[Class::Script],
        not_fetched_depth: row.classes[Class::Depth],
        not_fetched_limit: row.classes[Class::Limit],
        not_fetched_trap: row.classes[Class::Trap],
        not_fetched_mirror: row.classes[Class::Mirror],
        not_fetched_opt_out: row.classes[Class::OptOut],
        not_fetched_redirects: row.classes[Class::Redirects],
        not_fetched_refused: row.classes[Class::Refused],
        seed: row.seed,
        shared_robots: row.shared_robots.unwrap_or_default(),
    }
}

fn link_truth(row: &LinkRow) -> LinkTruth {
    LinkTruth {
        site: row.site.clone(),
        depth: row.depth,
        page: ccsurvey::address::WebUrl::parse(&row.page).unwrap().canonical(),
        url: row.url.clone(),
        host: row.host.clone(),
        target_site: row.target_site.clone(),
        element: row.element.clone(),
        nofollow: row.nofollow,
        in_survey: row.in_survey,
        seed: row.seed,
    }
}

/// Compares row by row what a survey found with what it should have found.
#[track_caller]
pub(crate) fn assert_matches_truth(tables: &TimelessTables, truth: &Truth, what: &str) {
    let sites = truth.sites.iter().cloned().map(|row| SiteTruth { reachable: false, ..row });
    assert_same_rows(
        &tables.sites.iter().map(site_truth).collect::<Vec<_>>(),
        &sites.collect::<Vec<_>>(),
        what,
    );
    assert_same_rows(&tables.levels.iter().map(level_truth).collect::<Vec<_>>(), &truth.levels, what);
    assert_same_rows(&tables.links.iter().map(link_truth).collect::<Vec<_>>(), &truth.links, what);
}

/// The sites that delivered a page, and the sites that are reachable according to the truth.
pub(crate) fn found_and_reachable(tables: &TimelessTables, truth: &Truth) -> [BTreeSet<String>; 2] {
    let found = tables.sites.iter().filter(|row| row.entrance.is_some()).map(|row| row.site.clone());
    let reachable = truth.sites.iter().filter(|row| row.reachable).map(|row| row.site.clone());
    [found.collect(), reachable.collect()]
}
