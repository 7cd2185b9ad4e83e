//! Each robots.txt is fetched once a day, whichever trees need it: as the servers see it, on a virtual clock.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::folder::Folder;
use super::journal::Journal;
use super::journal::entry::{Entry, ExchangeRecord};
use super::parts::shared_robots::{ClaimOutcome, RecordedRobots, RobotsClaim, SharedRobots};
use super::scripted_tests::{DAY, HOUR, Script, Scripted, ScriptedReply, rows, run, settings, shared_robots};
use super::storage::Storage;
use crate::address::{OptOut, OptOuts, WebUrl};
use crate::exchange::{Class, Failure, Purpose, Request, Response};
use crate::frontier::{Batch, Frontier, MAX_TREES, Spread};
use crate::promises::{self, Judge, Observations};
use crate::records::{ExchangeRow, LevelRow, SiteRow};
use crate::settings::{FeedBackRule, Settings};
use crate::walk::Content;

const SECOND: Duration = Duration::from_secs(1);

/// Forty start URLs of one site that do not link to each other.
fn start_urls() -> Vec<String> {
    (0..40).map(|n| format!("http://a.ke/{n}")).collect()
}

fn to(url: &str) -> ScriptedReply {
    ScriptedReply::Head(301, vec![("Location", url.to_owned())])
}

fn settings_for_many_trees(pause: Duration) -> Settings {
    Settings { seeds_per_site: 400, feed_back: FeedBackRule::Off, ..settings(pause) }
}

fn survey(dir: &Path, web: &Arc<Scripted>, settings: Settings, starts: &[String]) {
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let ending = run(dir, web, Some((settings, &starts)), None);
    assert!(ending.is_finished && ending.broken_promises.is_empty(), "{:?}", ending.broken_promises);
}

/// When each robots.txt, or the target of its redirect, was requested.
fn robots_times(log: &[(Duration, String)]) -> BTreeMap<String, Vec<Duration>> {
    let mut times = BTreeMap::<String, Vec<Duration>>::new();
    for (time, url) in log.iter().filter(|(_, url)| url.ends_with(".txt")) {
        times.entry(url.clone()).or_default().push(*time);
    }
    times
}

fn counts(log: &[(Duration, String)]) -> Vec<(String, usize)> {
    robots_times(log).into_iter().map(|(url, times)| (url, times.len())).collect()
}

/// Asserts that the requests in the servers' log are those of every table, and that shared responses appear
/// only in `levels`.
fn assert_counted_once(dir: &Path, log: &[(Duration, String)]) {
    let sites = rows::<SiteRow>(dir);
    let sum = |column: fn(&SiteRow) -> u64| sites.iter().map(column).sum::<u64>();
    let robots = robots_times(log).values().map(Vec::len).sum::<usize>() as u64;
    let exchanges = rows::<ExchangeRow>(dir);
    let robots_exchanges = exchanges.iter().filter(|row| row.purpose == "robots").count();
    assert_eq!((sum(|row| row.requests), exchanges.len()), (log.len() as u64, log.len()));
    assert_eq!((sum(|row| row.robots_requests), robots_exchanges as u64), (robots, robots));
}

#[test]
fn forty_start_urls_of_a_site_ask_once_for_its_robots_txt() {
    let script: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Rules("User-agent: *\nDisallow: /7\n"),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
    let dir = folder.path().join("s");
    survey(&dir, &web, settings_for_many_trees(SECOND), &start_urls());
    assert_eq!(counts(&web.log()), [("http://a.ke/robots.txt".to_owned(), 1)]);
    assert!(!web.log().iter().any(|(_, url)| url.ends_with("/7")), "the rules hold for all");
    assert_counted_once(&dir, &web.log());
    assert_eq!(shared_robots(&dir), 39);
}

#[test]
fn redirects_of_a_robots_txt_are_shared_hop_by_hop() {
    let script: Script = |host, path, _| match (host, path) {
        ("a.ke", "/robots.txt") => to("http://www.a.ke/robots.txt"),
        ("www.a.ke", "/robots.txt") => to("http://www.a.ke/rules.txt"),
        ("www.a.ke", "/rules.txt") => ScriptedReply::Rules("User-agent: *\nDisallow: /7\n"),
        (_, "/8") => {
            ScriptedReply::Page(vec!["http://www.a.ke/x".to_owned(), "http://www.a.ke/7".to_owned()])
        }
        _ => ScriptedReply::Page(Vec::new()),
    };
    let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
    let dir = folder.path().join("s");
    survey(&dir, &web, settings_for_many_trees(SECOND), &start_urls());
    let once = ["http://a.ke/robots.txt", "http://www.a.ke/robots.txt", "http://www.a.ke/rules.txt"];
    assert_eq!(counts(&web.log()), once.map(|url| (url.to_owned(), 1)));
    assert!(!web.log().iter().any(|(_, url)| url.ends_with("/7")), "the rules hold for both hosts");
    assert_counted_once(&dir, &web.log());
    assert_eq!(shared_robots(&dir), 39 * 3);
}

#[test]
fn a_shared_robots_txt_is_good_for_a_day_after_its_request_and_not_for_a_day_in_each_tree() {
    let script: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Status(404),
        _ => ScriptedReply::Page(vec![format!("{path}/x"), format!("{path}/y")]),
    };
    for pause in [HOUR, HOUR * 5, HOUR * 30] {
        let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
        let dir = folder.path().join("s");
        let settings =
            Settings { depth: crate::settings::DepthRule::Levels(1), ..settings_for_many_trees(pause) };
        survey(&dir, &web, settings, &start_urls());
        let (log, mut rules_at) = (web.log(), None::<Duration>);
        for (time, url) in &log {
            if url.ends_with("/robots.txt") {
                assert!(
                    rules_at.is_none_or(|rules_at| *time >= rules_at + DAY),
                    "asked for again at {time:?}"
                );
                rules_at = Some(*time);
            } else {
                let age = *time - rules_at.unwrap();
                assert!(age < DAY || age <= pause + SECOND, "{url} by rules of {age:?}");
            }
        }
        assert_counted_once(&dir, &log);
    }
}

#[test]
fn sites_that_need_one_robots_txt_at_the_same_moment_wait_for_whoever_asks() {
    let script: Script = |host, path, _| match (host, path) {
        ("other.ke", "/robots.txt") => ScriptedReply::Rules("User-agent: *\nDisallow: /7\n"),
        (_, "/robots.txt") => to("http://other.ke/robots.txt"),
        _ => ScriptedReply::Page(vec!["/7".to_owned(), "/8".to_owned()]),
    };
    let starts: Vec<String> = (0..30).map(|n| format!("http://s{n}.ke/")).collect();
    for at_once in [1, 4, 30] {
        let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
        let dir = folder.path().join("s");
        let settings = Settings { per_address: at_once, sites: 30, ..settings(SECOND) };
        survey(&dir, &web, settings, &starts);
        let counts = counts(&web.log());
        assert_eq!(counts[0], ("http://other.ke/robots.txt".to_owned(), 1), "{at_once} at once");
        assert!(counts.len() == 31 && counts.iter().all(|(_, times)| *times == 1));
        assert!(!web.log().iter().any(|(_, url)| url.ends_with("/7")));
        assert_counted_once(&dir, &web.log());
        assert_eq!(shared_robots(&dir), 29);
        // Whichever tree sent the request, the results are the same.
        let levels = rows::<LevelRow>(&dir);
        assert!(levels.iter().filter(|row| row.depth == 1).all(|row| row.classes[Class::Fetched] == 1));
    }
}

#[test]
fn a_survey_that_is_stopped_again_and_again_asks_no_robots_txt_twice_in_a_day() {
    let script: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Status(404),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("s");
    let (starts, mut log) = (start_urls(), Vec::new());
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let mut begin = Some((settings_for_many_trees(SECOND), &starts[..]));
    let mut runs = 0;
    loop {
        let web = Scripted::new(SECOND * 100 * runs, script);
        let ending = run(&dir, &web, begin.take(), Some(Duration::from_millis(4500)));
        log.extend(web.log());
        if ending.is_finished {
            break;
        }
        runs += 1;
    }
    assert!(runs > 5, "{runs}");
    assert_eq!(counts(&log), [("http://a.ke/robots.txt".to_owned(), 1)]);
    assert_counted_once(&dir, &log);
}

#[test]
fn the_budget_of_a_tree_counts_what_it_shares() {
    let script: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Status(404),
        _ => ScriptedReply::Page((0..9).map(|n| format!("{path}/{n}")).collect()),
    };
    let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
    let dir = folder.path().join("s");
    let settings = Settings { max_requests: Some(5), ..settings_for_many_trees(SECOND) };
    survey(&dir, &web, settings, &start_urls());
    let sites = rows::<SiteRow>(&dir);
    assert!(sites.iter().all(|row| row.pages == 4 && row.outcome == "request_budget"));
    assert_counted_once(&dir, &web.log());
}

#[test]
fn a_robots_txt_that_cannot_be_had_is_asked_for_by_as_many_trees_as_a_closed_site_is_given() {
    let failing: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Status(500),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let silent: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Nothing,
        _ => ScriptedReply::Page(Vec::new()),
    };
    let busy: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Head(503, vec![("Retry-After", "5".to_owned())]),
        _ => ScriptedReply::Page(Vec::new()),
    };
    // If a server says when to come back, the tree that received this response sends the request again,
    // twice.
    for (script, times) in [(failing, 1), (silent, 1), (busy, 3)] {
        let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
        let dir = folder.path().join("s");
        let settings =
            Settings { entrances: crate::settings::Entrances::UpTo(1), ..settings_for_many_trees(SECOND) };
        survey(&dir, &web, settings, &start_urls());
        assert_eq!(counts(&web.log()), [("http://a.ke/robots.txt".to_owned(), times * MAX_TREES as usize)]);
        assert_eq!(rows::<SiteRow>(&dir).len(), 40);
        assert_counted_once(&dir, &web.log());
        assert_eq!(shared_robots(&dir), 37);
    }
}

/// The host has a second address, but no tree has the budget for it.
#[test]
fn a_robots_txt_that_a_tree_cannot_ask_for_in_another_way_is_settled_for_the_others() {
    let script: Script = |host, _, _| match host {
        "two.ke" => ScriptedReply::Dead,
        _ => ScriptedReply::Page(Vec::new()),
    };
    let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
    let dir = folder.path().join("s");
    let starts: Vec<String> = (0..40).map(|n| format!("http://two.ke/{n}")).collect();
    let one = crate::settings::Entrances::UpTo(1);
    let settings = Settings { max_requests: Some(1), entrances: one, ..settings_for_many_trees(SECOND) };
    survey(&dir, &web, settings, &starts);
    assert_eq!(counts(&web.log()), [("http://two.ke/robots.txt".to_owned(), MAX_TREES as usize)]);
    assert_eq!(rows::<SiteRow>(&dir).len(), 40);
}

#[test]
fn a_site_that_was_out_of_reach_opens_to_a_later_tree() {
    let script: Script = |_, path, time| match path {
        "/robots.txt" if time < SECOND => ScriptedReply::Status(500),
        "/robots.txt" => ScriptedReply::Status(404),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
    let dir = folder.path().join("s");
    let settings =
        Settings { entrances: crate::settings::Entrances::UpTo(1), ..settings_for_many_trees(SECOND) };
    survey(&dir, &web, settings, &start_urls());
    assert_eq!(counts(&web.log()), [("http://a.ke/robots.txt".to_owned(), 2)]);
    let opened = rows::<SiteRow>(&dir).iter().filter(|row| row.pages > 0).count();
    assert_eq!(opened, 39);
}

/// A store in an empty folder, with journals.
struct RobotsStore {
    _folder: tempfile::TempDir,
    storage: Storage,
    shared: SharedRobots,
    opt_outs: OptOuts,
}

impl RobotsStore {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("journal")).unwrap();
        let settings = Settings::default();
        let judge = Judge::new(promises::PromisedLimits::new(&settings, 0), Observations::default());
        let layout = Folder::open(folder.path());
        let frontier = Frontier::open(&layout.state(), Spread::default()).unwrap();
        let storage = Storage::open(layout, frontier, judge, Arc::default(), true).unwrap();
        let (shared, opt_outs) = (SharedRobots::default(), OptOuts::default());
        Self { _folder: folder, storage, shared, opt_outs }
    }

    fn claim(&self, tree: u64, host: &str, now: SystemTime) -> ClaimOutcome<'_> {
        self.shared.claim(&self.storage, &self.opt_outs, (tree, &robots_of(host)), now).unwrap()
    }

    fn claim_own(&self, tree: u64, host: &str, now: SystemTime) -> RobotsClaim<'_> {
        match self.claim(tree, host, now) {
            ClaimOutcome::Own(claim) => claim,
            other => panic!("{}", name_of_claim(&other)),
        }
    }

    fn claim_name(&self, tree: u64, host: &str, now: SystemTime) -> &'static str {
        name_of_claim(&self.claim(tree, host, now))
    }

    /// A tree sends the request and receives this response.
    fn request(&self, tree: u64, record: &ExchangeRecord) -> u64 {
        let claim = self.claim_own(tree, record.request.url.host().as_str(), record.response.started);
        let at = self.record(tree, record);
        claim.settle(tree, at, record);
        at
    }

    fn record(&self, tree: u64, record: &ExchangeRecord) -> u64 {
        let (journal, _) = Journal::open(&self.storage.folder.journal(tree)).unwrap();
        journal.append(&Entry::Received(Box::new(record.clone()))).unwrap()
    }

    /// The tree is finished: the store has its response, and its journal is removed.
    fn finish(&self, tree: u64, record: &ExchangeRecord) {
        let robots: Vec<_> = self.shared.to_store(tree, record).unwrap().into_iter().collect();
        let batch = Batch {
            finished: &[],
            segments: 0,
            servers: &[],
            hosts: &[],
            unrecorded: 0,
            tally: &[],
            robots: &robots,
            robots_since: 0,
        };
        self.storage.finish(&batch).unwrap();
        std::fs::remove_file(self.storage.folder.journal(tree)).unwrap();
        self.shared.forget(&robots);
    }
}

fn name_of_claim(claimed: &ClaimOutcome<'_>) -> &'static str {
    match claimed {
        ClaimOutcome::Shared(_) => "shared",
        ClaimOutcome::Own(_) => "own",
        ClaimOutcome::Pending => "waits",
    }
}

fn robots_of(host: &str) -> WebUrl {
    WebUrl::parse(&format!("http://{host}/robots.txt")).unwrap()
}

const T: SystemTime = SystemTime::UNIX_EPOCH;

fn robots_record(host: &str, at: Duration, status: Option<u16>) -> ExchangeRecord {
    let request = Request { number: 3, url: robots_of(host), purpose: Purpose::Robots, depth: None };
    let address = Some([41, 90, 0, 1].into());
    let mut response = Response::not_sent(T + at, address, Failure::Reset, None);
    (response.status, response.failure) = (status, response.failure.filter(|_| status.is_none()));
    let content = Content::Robots(b"User-agent: *\nDisallow: /x\n".to_vec());
    ExchangeRecord { request, response, content, unchanged_bytes: None }
}

#[test]
fn who_asks_is_waited_for_and_who_gives_up_lets_the_next_one_ask() {
    let store = RobotsStore::new();
    let first = store.claim_own(1, "a.ke", T);
    assert_eq!((store.claim_name(2, "a.ke", T), store.claim_name(2, "b.ke", T)), ("waits", "own"));
    // The tree was put off or stopped, or its process died.
    drop(first);
    let second = store.claim_own(2, "a.ke", T);
    assert_eq!(store.claim_name(1, "a.ke", T), "waits");
    let record = robots_record("a.ke", HOUR, Some(200));
    second.settle(2, store.record(2, &record), &record);
    assert_eq!(store.claim_name(1, "a.ke", T + HOUR), "shared");
    // A tree that requests it again wants a new response.
    assert_eq!(store.claim_name(2, "a.ke", T + HOUR), "own");
}

#[test]
fn a_response_is_shared_for_a_day_from_journal_and_store_over_deaths_too() {
    let mut store = RobotsStore::new();
    let record = robots_record("a.ke", HOUR, Some(200));
    let at = store.request(1, &record);
    let check = |store: &RobotsStore, what: &str| {
        let ClaimOutcome::Shared(shared_record) = store.claim(2, "a.ke", T + HOUR * 24) else {
            panic!("{what}")
        };
        assert_eq!(*shared_record, record, "{what}");
        assert_eq!(store.claim_name(2, "a.ke", T + HOUR * 25), "own", "{what}");
    };
    check(&store, "in a journal");
    store.shared = SharedRobots::default();
    store
        .shared
        .restore(&store.storage, RecordedRobots::from_record(1, at, &record).into_iter().collect())
        .unwrap();
    check(&store, "in a journal after a death");
    store.finish(1, &record);
    check(&store, "in the store");
    store.shared = SharedRobots::default();
    check(&store, "in the store after a death");
    // A later response replaces it, and the earlier tree's response does not come back.
    let later = robots_record("a.ke", HOUR * 30, Some(404));
    store.request(5, &later);
    store.record(1, &record);
    store.finish(1, &record);
    assert_eq!(store.claim_name(2, "a.ke", T + HOUR * 53), "shared");
    store.finish(5, &later);
    assert_eq!(store.claim_name(2, "a.ke", T + HOUR * 53), "shared");
    assert_eq!(store.claim_name(2, "a.ke", T + HOUR * 54), "own");
}

#[test]
fn failures_are_counted_by_tree_over_deaths_until_they_are_shared() {
    for status in [None, Some(500), Some(503), Some(429)] {
        let mut store = RobotsStore::new();
        let mut recorded = Vec::new();
        for tree in 1..=u64::from(MAX_TREES) {
            // A tree that tries again counts once.
            for again in 0..2 {
                let record = robots_record("a.ke", SECOND * (tree as u32 * 2 + again), status);
                recorded.extend(RecordedRobots::from_record(tree, store.request(tree, &record), &record));
            }
            store.shared = SharedRobots::default();
            store.shared.restore(&store.storage, recorded.iter().rev().copied().collect()).unwrap();
            let expected = if tree < u64::from(MAX_TREES) { "own" } else { "shared" };
            assert_eq!(store.claim_name(9, "a.ke", T + HOUR), expected, "{status:?} {tree}");
        }
        assert_eq!(store.claim_name(9, "a.ke", T + DAY + HOUR), "own");
    }
}

#[test]
fn what_is_of_its_tree_alone_is_not_shared() {
    let mut unsent = robots_record("a.ke", SECOND, None);
    unsent.response.failure = Some(Failure::ServerBudget);
    let mut cut = robots_record("a.ke", SECOND, Some(200));
    cut.response.failure = Some(Failure::BodyTooLarge);
    let mut page = robots_record("a.ke", SECOND, Some(200));
    page.request.purpose = Purpose::Page;
    for record in [unsent, cut.clone(), page] {
        let store = RobotsStore::new();
        store.request(1, &record);
        assert_eq!(store.claim_name(2, "a.ke", T + HOUR), "own", "{:?}", record.response.failure);
    }
    // As much as is ever read of a robots.txt.
    cut.content = Content::Robots(vec![b'#'; 500 * 1024 + 1]);
    let store = RobotsStore::new();
    store.request(1, &cut);
    assert_eq!(store.claim_name(2, "a.ke", T + HOUR), "shared");
}

#[test]
fn what_owners_who_opted_out_since_said_is_not_gone_by() {
    for who in ["a.ke", "41.90.0.1"] {
        let mut store = RobotsStore::new();
        store.request(1, &robots_record("a.ke", SECOND, Some(200)));
        assert_eq!(store.claim_name(2, "a.ke", T + HOUR), "shared");
        store.opt_outs = OptOut::parse(who).unwrap().into();
        assert_eq!(store.claim_name(2, "a.ke", T + HOUR), "own", "{who}");
    }
}
