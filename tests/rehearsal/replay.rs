//! A survey that kept its pages is walked again from its tables, and finds the same.

mod commands;
mod pages;

use std::path::Path;
use std::sync::Arc;

use ccsurvey::address::WebUrl;
use ccsurvey::records::{ExchangeRow, LevelRow, LinkRow, PageLinkRow, SiteRow};
use ccsurvey::rehearsal::RecordedWorld;
use ccsurvey::settings::{DepthRule, FeedBackRule, Settings};
use ccsurvey::space::{Replay, ServeSettings, Served, serve};
use ccsurvey::survey::Survey;
use tokio::runtime::Runtime;

use crate::common::{Space, Surveyed, TimelessTables, assert_same_rows, rows, timeless_tables};

/// A replay that is being served.
struct Replayed {
    replay: Arc<Replay>,
    served: Served,
    runtime: Runtime,
}

impl Replayed {
    fn serve(dir: &Path) -> Self {
        let replay = RecordedWorld::read(dir).unwrap().replay;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let served = runtime.block_on(serve(replay.clone(), fast())).unwrap();
        Self { replay, served, runtime }
    }

    /// Surveys it with the settings and from the start list of the recorded survey.
    fn survey(&self, settings: &Settings, start: &[WebUrl]) -> TimelessTables {
        let settings = Settings {
            dns: Some(self.served.dns_addr),
            gateway: Some(self.served.gateway_addr),
            ..settings.clone()
        };
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("again");
        let (survey, _) = Survey::create(&dir, settings, start).unwrap();
        let (_keep, stop) = tokio::sync::watch::channel(false);
        self.runtime.block_on(survey.run(stop)).unwrap();
        timeless_tables(&dir)
    }
}

/// The latencies are those of loopback, but on a busy machine they can be long.
fn fast() -> ServeSettings {
    ServeSettings { speed: 20.0, ..ServeSettings::default() }
}

fn recording(space: &Space) -> Settings {
    Settings { record_links: true, ..space.settings() }
}

/// The compared columns: all but times, bytes and facts of hosts, because pages and heads are rewritten; URLs are canonical, because
/// page links are.
fn comparable(tables: TimelessTables) -> TimelessTables {
    let canonical = |url: &str| WebUrl::parse(url).unwrap().canonical();
    let mut tables = tables.without_wire_bytes();
    for row in &mut tables.links {
        row.page = canonical(&row.page);
    }
    for row in &mut tables.exchanges {
        row.body_bytes = 0;
        (row.body_hash, row.text_simhash, row.content_encoding) = (None, None, None);
        row.url = canonical(&row.url);
        (row.generator, row.cms, row.cms_evidence) = (None, None, None);
        (row.content, row.content_evidence, row.text_language, row.words) = (None, None, None, None);
        (row.addresses, row.aliases, row.has_ipv6) = (None, None, None);
        (row.certificate_issuer, row.certificate_names) = (None, None);
        (row.certificate_from, row.certificate_until) = (None, None);
        (row.hsts, row.powered_by, row.sitemaps) = (None, None, None);
    }
    tables
}

#[track_caller]
fn assert_same_findings(found: TimelessTables, expected: TimelessTables, what: &str) {
    let (found, expected) = (comparable(found), comparable(expected));
    assert_same_rows(&found.exchanges, &expected.exchanges, what);
    assert_same_rows(&found.levels, &expected.levels, what);
    assert_same_rows(&found.links, &expected.links, what);
    assert_same_rows(&found.sites, &expected.sites, what);
}

fn check(world: &str) {
    let space = Space::serve(world);
    let settings = recording(&space);
    let recorded = space.survey(settings.clone());
    assert_every_page_kept(&recorded);
    let replayed = Replayed::serve(&recorded.dir());
    let again = replayed.survey(&settings, &space.starts());
    assert_same_findings(again, recorded.tables(), world);
    assert_eq!(replayed.replay.unknown(), 0, "{world}");
    assert_eq!(replayed.replay.contents().pages_without_links, 0, "{world}");
}

/// Every page that was read has as many rows in `page_links` as its exchange counted links, in their order.
#[track_caller]
fn assert_every_page_kept(recorded: &Surveyed) {
    let mut links = recorded.rows::<PageLinkRow>();
    links.sort_by(|a, b| (&a.site, a.seed, &a.page, a.position).cmp(&(&b.site, b.seed, &b.page, b.position)));
    let exchanges = recorded.rows::<ExchangeRow>();
    assert!(!links.is_empty());
    for page in exchanges.iter().filter(|row| row.internal_links.is_some()) {
        let of_page: Vec<_> =
            links.iter().filter(|row| row.site == page.site && row.page == page.url).collect();
        let internal = of_page.iter().filter(|row| row.is_internal).count();
        assert_eq!(page.internal_links, u32::try_from(internal).ok(), "{}", page.url);
        assert_eq!(page.external_links, u32::try_from(of_page.len() - internal).ok(), "{}", page.url);
        assert!(of_page.iter().zip(0..).all(|(row, position)| row.position == position), "{}", page.url);
    }
}

#[test]
fn redirects_are_walked_again() {
    check("redirects_add_no_depth");
}

#[test]
fn robots_txt_keeps_the_same_pages_back_again() {
    check("robots_keep_some_pages_back");
}

#[test]
fn scripts_are_walked_again() {
    check("scripts_answer_one_query_each");
}

#[test]
fn a_small_country_is_walked_again() {
    check("a_small_country");
}

#[test]
fn a_shallower_survey_of_a_replay_is_the_cut_of_the_recorded_one() {
    let space = Space::serve("a_small_country");
    let settings = Settings { feed_back: FeedBackRule::Off, ..recording(&space) };
    let recorded = space.survey(settings.clone());
    let replayed = Replayed::serve(&recorded.dir());
    for depth in [0, 2] {
        let settings = Settings { depth: DepthRule::Levels(depth), ..settings.clone() };
        let again = replayed.survey(&settings, &space.starts());
        assert_same_findings(again, space.survey(settings).tables(), &format!("--depth {depth}"));
    }
    assert_eq!(replayed.replay.unknown(), 0);
}

#[test]
fn a_deeper_survey_of_a_replay_meets_what_is_not_known() {
    let space = Space::serve("a_small_country");
    let shallow = Settings { depth: DepthRule::Levels(1), feed_back: FeedBackRule::Off, ..recording(&space) };
    let recorded = space.survey(shallow.clone());
    let replayed = Replayed::serve(&recorded.dir());
    assert!(replayed.replay.contents().unfetched_urls > 0);
    let deep = replayed.survey(&Settings { depth: DepthRule::Levels(2), ..shallow }, &space.starts());
    let below: Vec<_> = deep.exchanges.iter().filter(|row| row.depth == Some(2)).collect();
    assert!(!below.is_empty() && below.iter().all(|row| row.status == Some(404)));
    // A name that was never looked up does not resolve, so no request is sent to it.
    assert_eq!(replayed.replay.unknown(), below.len() as u64);
}

#[test]
fn a_survey_that_does_not_record_has_no_tables_of_pages() {
    let space = Space::serve("a_site_with_one_page");
    let surveyed = space.survey(space.settings());
    for table in ["page_links", "robots"] {
        assert!(!surveyed.dir().join("tables").join(table).exists(), "{table}");
    }
}

#[test]
fn recording_changes_nothing_else() {
    let space = Space::serve("redirects_add_no_depth");
    let (without, with) = (space.survey(space.settings()), space.survey(recording(&space)));
    crate::common::assert_same_tables(&with.tables(), &without.tables());
    let pages =
        |surveyed: &Surveyed| rows::<SiteRow>(&surveyed.dir()).iter().map(|row| row.pages).sum::<u64>();
    assert_eq!(pages(&with), pages(&without));
    assert!(rows::<LevelRow>(&with.dir()).len() + rows::<LinkRow>(&with.dir()).len() > 0);
}
