//! A virtual Web space served on loopback, and surveys of it, for the tests.
#![allow(dead_code)] // Each test program uses a part of it.

pub(crate) mod bus;
pub(crate) mod fixed_web;
pub(crate) mod ports;
pub(crate) mod power_cut;
pub(crate) mod python;
pub(crate) mod skipped;
pub(crate) mod truths;
pub(crate) mod waiting;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ccsurvey::address::{SuffixSection, Suffixes, WebUrl};
use ccsurvey::records::{ExchangeRow, LevelRow, LinkRow, Row, ServerRow, SiteRow, read_table};
use ccsurvey::settings::{Settings, Span};
use ccsurvey::space::{
    Access, Entrances, FeedBack, ServeSettings, Served, Truth, TruthSettings, World, serve,
};
use ccsurvey::survey::{Ending, Survey};
use tokio::runtime::Runtime;

/// A world that is being served.
pub(crate) struct Space {
    pub world: Arc<World>,
    served: Served,
    runtime: Runtime,
}

/// The folder of a survey that has ended.
pub(crate) struct Surveyed {
    pub ending: Ending,
    folder: tempfile::TempDir,
}

/// The tables of a survey in a fixed order, without the columns that contain times.
#[derive(Debug, PartialEq)]
pub(crate) struct TimelessTables {
    pub sites: Vec<SiteRow>,
    pub levels: Vec<LevelRow>,
    pub links: Vec<LinkRow>,
    pub exchanges: Vec<ExchangeRow>,
}

/// Settings of a survey of `ke` by this name server, with almost no pauses.
pub(crate) fn almost_without_pauses(dns: SocketAddr) -> Settings {
    Settings {
        cctld: vec!["ke".to_owned()],
        contact: Some("https://survey.example/contact".to_owned()),
        dns: Some(dns),
        min_delay: Span(Duration::ZERO),
        delay_factor: 0.0,
        harm: None,
        max_delay: Span(Duration::from_millis(20)),
        rate: None,
        ..Settings::default()
    }
}

impl Space {
    /// Serves `tests/worlds/NAME.toml`.
    pub(crate) fn serve(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worlds").join(format!("{name}.toml"));
        Self::from_toml(&std::fs::read_to_string(path).unwrap())
    }

    pub(crate) fn from_toml(world: &str) -> Self {
        let world = Arc::new(World::parse(world).unwrap());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let served = runtime.block_on(serve(world.clone(), ServeSettings::default())).unwrap();
        Self { world, served, runtime }
    }

    /// Settings of a survey of this world, with almost no pauses.
    pub(crate) fn settings(&self) -> Settings {
        Settings { gateway: Some(self.served.gateway_addr), ..almost_without_pauses(self.served.dns_addr) }
    }

    pub(crate) fn starts(&self) -> Vec<WebUrl> {
        self.world.start_urls().iter().map(|url| WebUrl::parse(url).unwrap()).collect()
    }

    pub(crate) fn survey(&self, settings: Settings) -> Surveyed {
        self.survey_from(settings, &self.starts())
    }

    pub(crate) fn survey_from(&self, settings: Settings, start: &[WebUrl]) -> Surveyed {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("survey");
        let (survey, _) = Survey::create(&dir, settings, start).unwrap();
        let (_keep, stop) = tokio::sync::watch::channel(false);
        let ending = self.runtime.block_on(survey.run(stop)).unwrap();
        Surveyed { ending, folder }
    }

    pub(crate) fn truth(&self, depth: u16, feed_back: FeedBack) -> Truth {
        self.truth_with(depth, feed_back, 1)
    }

    pub(crate) fn truth_with(&self, depth: u16, feed_back: FeedBack, queries_per_script: u32) -> Truth {
        self.truth_by(|settings| TruthSettings { depth, feed_back, queries_per_script, ..settings })
    }

    pub(crate) fn truth_by(&self, change: impl Fn(TruthSettings) -> TruthSettings) -> Truth {
        let list = include_str!("../../data/public_suffix_list.dat");
        let settings = TruthSettings {
            depth: 8,
            feed_back: FeedBack::Link,
            entrances: Entrances::default(),
            start: self.world.start_urls(),
            queries_per_script: 1,
            non_html_extensions: ccsurvey::settings::NON_HTML_EXTENSIONS.map(str::to_owned).to_vec(),
            trap_levels: Settings::default().trap_levels,
            suffixes: Arc::new(Suffixes::parse(list, SuffixSection::Icann).unwrap()),
        };
        Truth::compute(&self.world, &change(settings))
    }

    pub(crate) fn accesses(&self) -> Vec<Access> {
        self.served.access_log()
    }

    /// The accesses, once there are this many. A server notes an access whose client has hung up when it sees
    /// that, which may be after the survey has ended. After some minutes the test goes on with the accesses
    /// that are there.
    pub(crate) fn await_accesses(&self, number: usize) -> Vec<Access> {
        waiting::until(|| self.accesses().len() >= number);
        self.accesses()
    }

    pub(crate) fn dns(&self) -> String {
        self.served.dns_addr.to_string()
    }

    pub(crate) fn gateway(&self) -> String {
        self.served.gateway_addr.to_string()
    }
}

impl Surveyed {
    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.path().join("survey")
    }

    pub(crate) fn tables(&self) -> TimelessTables {
        timeless_tables(&self.dir())
    }

    pub(crate) fn rows<R: Row>(&self) -> Vec<R> {
        rows(&self.dir())
    }
}

pub(crate) fn rows<R: Row>(dir: &Path) -> Vec<R> {
    read_table(dir).unwrap().flat_map(Result::unwrap).collect()
}

/// The pages that a survey has read, by site, in a fixed order.
pub(crate) fn pages_by_site(dir: &Path) -> BTreeMap<String, Vec<WebUrl>> {
    let mut pages: BTreeMap<String, Vec<WebUrl>> = BTreeMap::new();
    for row in rows::<ExchangeRow>(dir).into_iter().filter(|row| row.internal_links.is_some()) {
        pages.entry(row.site).or_default().push(WebUrl::parse(&row.url).unwrap());
    }
    pages.values_mut().for_each(|pages| pages.sort_by(|a, b| a.as_str().cmp(b.as_str())));
    pages
}

impl TimelessTables {
    /// The tables without the agents' names.
    pub(crate) fn without_agents(mut self) -> Self {
        self.exchanges.iter_mut().for_each(|row| row.agent = None);
        self
    }

    /// The tables without the bytes on the wire.
    pub(crate) fn without_wire_bytes(mut self) -> Self {
        for row in &mut self.sites {
            (row.sent_bytes, row.received_bytes) = (0, 0);
        }
        for row in &mut self.levels {
            (row.sent_bytes, row.received_bytes) = (0, 0);
        }
        for row in &mut self.exchanges {
            (row.sent_bytes, row.received_bytes) = (0, 0);
        }
        self
    }
}

pub(crate) fn timeless_tables(dir: &Path) -> TimelessTables {
    let mut tables =
        TimelessTables { sites: rows(dir), levels: rows(dir), links: rows(dir), exchanges: rows(dir) };
    assert_accounted(&tables);
    for row in &mut tables.sites {
        row.busy_ms = 0.0;
        row.started = Default::default();
        row.finished = Default::default();
    }
    for row in &mut tables.levels {
        row.busy_ms = 0.0;
        row.connections = 0;
    }
    for row in &mut tables.exchanges {
        row.started = Default::default();
        (row.dns_ms, row.connect_ms, row.tls_ms, row.first_byte_ms, row.total_ms) =
            (None, None, None, None, None);
        row.connections = 0;
    }
    tables.sites.sort_by(|a, b| (&a.site, a.seed).cmp(&(&b.site, b.seed)));
    tables.levels.sort_by(|a, b| (&a.site, a.seed, a.depth).cmp(&(&b.site, b.seed, b.depth)));
    tables.links.sort_by(|a, b| (&a.site, a.seed, a.depth, &a.url).cmp(&(&b.site, b.seed, b.depth, &b.url)));
    let sort_key = |row: &ExchangeRow| (row.site.clone(), row.seed, row.number, row.attempt);
    tables.exchanges.sort_by_key(sort_key);
    tables
}

/// Checks that every internal URL is in exactly one class of its level, and every request in the sums of its
/// site, whatever the world, and however often the survey was killed.
fn assert_accounted(tables: &TimelessTables) {
    for level in &tables.levels {
        assert!(level.reconciles(), "the classes do not add up: {level:?}");
    }
    for site in &tables.sites {
        let levels = || tables.levels.iter().filter(|row| (&row.site, row.seed) == (&site.site, site.seed));
        let sent_exchanges =
            tables.exchanges.iter().filter(|row| (&row.site, row.seed) == (&site.site, site.seed));
        let sent_exchanges = sent_exchanges.filter(|row| row.total_ms.is_some()).count() as u64;
        let counted: u64 = levels().map(|row| row.requests).sum();
        assert_eq!(site.requests, counted + site.robots_requests + site.probe_requests, "{}", site.site);
        assert_eq!(site.requests, sent_exchanges, "{}", site.site);
        assert_eq!(site.internal_urls, levels().map(|row| row.internal_urls).sum::<u64>(), "{}", site.site);
    }
}

pub(crate) fn servers(dir: &Path) -> Vec<ServerRow> {
    rows(dir)
}

/// Compares row by row, so that a failure shows the row that differs.
#[track_caller]
pub(crate) fn assert_same_rows<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T], what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{what}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

#[track_caller]
pub(crate) fn assert_same_tables(found: &TimelessTables, expected: &TimelessTables) {
    assert_same_rows(&found.sites, &expected.sites, "sites");
    assert_same_rows(&found.levels, &expected.levels, "levels");
    assert_same_rows(&found.links, &expected.links, "links");
    assert_same_rows(&found.exchanges, &expected.exchanges, "exchanges");
}
