//! Surveys of small scripted Webs on a virtual clock: situations that take days, and failures that must not
//! happen.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::Instant;

use super::journal::Journal;
use super::journal::entry::Entry;
use super::storage::tally::Tally;
use super::{Ending, Simulation, Snapshot, Survey};
use crate::address::{Host, WebUrl};
use crate::exchange::{Class, Outcome};
use crate::fetch::{ConnectionOutcome, LookupResponse, UserDelays, Web, WebRequest, WebResponse};
use crate::frontier::{Batch, Frontier, Spread};
use crate::promises::{Count, Observations, Peak};
use crate::records::{
    CurveRow, ExchangeRow, LevelRow, Manifest, Row, ServerRow, SiteRow, read_curves, read_table, write_table,
};
use crate::settings::{Settings, Size, Span};
use crate::starts::StartList;

pub(super) const HOUR: Duration = Duration::from_secs(3600);
pub(super) const DAY: Duration = Duration::from_secs(24 * 3600);

/// The reply of a server at some time after the survey began.
pub(super) enum ScriptedReply {
    Page(Vec<String>),
    Rules(&'static str),
    Status(u16),
    /// Without a body, with these header fields.
    Head(u16, Vec<(&'static str, String)>),
    Nothing,
    /// No connection can be made.
    Dead,
}

/// By host, target and time.
pub(super) type Script = fn(&str, &str, Duration) -> ScriptedReply;

/// A Web with one scripted server; a second one for hosts whose names begin with `other.`; both for `two.`;
/// and one by its number for hosts that begin with `server7.` or another number.
pub(super) struct Scripted {
    script: Script,
    /// The start of the virtual clock.
    began: Mutex<Option<Instant>>,
    /// When this run of the survey began.
    from: Duration,
    /// The requests, and when they were sent.
    log: Mutex<Vec<(Duration, String)>>,
}

impl Scripted {
    pub(super) fn new(from: Duration, script: Script) -> Arc<Self> {
        Arc::new(Self { script, began: Mutex::default(), from, log: Mutex::default() })
    }

    pub(super) fn log(&self) -> Vec<(Duration, String)> {
        self.log.lock().clone()
    }
}

impl Web for Scripted {
    fn look_up(&self, host: &Host) -> LookupResponse {
        let servers: &[u8] = match host.as_str().split('.').next() {
            Some("other") => &[2],
            Some("two") => &[1, 2],
            Some(name) if let Some(Ok(number)) = name.strip_prefix("server").map(str::parse) => &[number],
            _ => &[1],
        };
        let addresses = servers.iter().map(|server| [41, 90, 0, *server].into()).collect();
        LookupResponse { addresses: Ok(addresses), aliases: Vec::new(), lifetime: HOUR, took: Duration::ZERO }
    }

    fn respond(&self, request: &WebRequest<'_>) -> WebResponse {
        let began = *self.began.lock().get_or_insert_with(Instant::now);
        let time = self.from + began.elapsed();
        self.log.lock().push((time, request.url.as_str().to_owned()));
        let mut fields = Vec::new();
        let (status, kind, body) =
            match (self.script)(request.url.host().as_str(), request.url.target(), time) {
                ScriptedReply::Nothing => {
                    let connect = Duration::from_millis(1);
                    return WebResponse {
                        connect,
                        tls: Duration::ZERO,
                        sent_certificate: None,
                        outcome: ConnectionOutcome::Silence,
                    };
                }
                ScriptedReply::Dead => {
                    let connect = Duration::MAX;
                    return WebResponse {
                        connect,
                        tls: Duration::ZERO,
                        sent_certificate: None,
                        outcome: ConnectionOutcome::Silence,
                    };
                }
                ScriptedReply::Status(status) => (status, "text/plain", String::new()),
                ScriptedReply::Head(status, more) => {
                    fields = more;
                    (status, "text/plain", String::new())
                }
                ScriptedReply::Rules(rules) => (200, "text/plain", rules.to_owned()),
                ScriptedReply::Page(links) => {
                    let link = |link: &String| format!("<a href=\"{link}\">x</a>");
                    (200, "text/html", links.iter().map(link).collect())
                }
            };
        fields.extend([("Content-Type", kind.to_owned()), ("Content-Length", body.len().to_string())]);
        let outcome = ConnectionOutcome::Response {
            first_byte: Duration::from_millis(10),
            status,
            fields,
            body: body.into_bytes(),
            identity: None,
            cut_after: None,
            bytes_per_second: 1e9,
        };
        WebResponse {
            connect: Duration::from_millis(1),
            tls: Duration::ZERO,
            sent_certificate: None,
            outcome,
        }
    }

    fn user_delays(&self, _address: IpAddr) -> Option<UserDelays> {
        None
    }
}

pub(super) fn settings(pause: Duration) -> Settings {
    Settings {
        cctld: vec!["ke".to_owned()],
        min_delay: Span(pause),
        max_delay: Span(pause * 2),
        delay_factor: 0.0,
        harm: None,
        rate: None,
        max_time: None,
        ..Settings::default()
    }
}

fn virtual_time() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

fn simulation(web: &Arc<Scripted>) -> Simulation {
    let begins = SystemTime::UNIX_EPOCH + DAY * 20_000 + web.from;
    Simulation { web: web.clone(), begins, description: serde_json::json!({}), team: None }
}

/// Runs a survey until it is done, or for at most this long.
pub(super) fn run(
    dir: &Path,
    web: &Arc<Scripted>,
    begin: Option<(Settings, &[&str])>,
    stop_after: Option<Duration>,
) -> Ending {
    let (runtime, simulation) = (virtual_time(), simulation(web));
    let survey = {
        let _entered = runtime.enter();
        match begin {
            None => Survey::open_with(dir, Some(simulation)).unwrap(),
            Some((settings, starts)) => {
                let starts: Vec<_> = starts.iter().map(|url| WebUrl::parse(url).unwrap()).collect();
                let starts = StartList::from_urls(&starts).unwrap();
                Survey::simulate(dir, settings, &starts, simulation, &mut |_| {}).unwrap().0
            }
        }
    };
    // With no time at all, no request is sent.
    let (stop, stopped) = watch::channel(stop_after.is_some_and(|stop_after| stop_after.is_zero()));
    runtime.block_on(async move {
        if let Some(stop_after) = stop_after {
            tokio::spawn(async move {
                tokio::time::sleep(stop_after).await;
                stop.send(true)
            });
            survey.run(stopped).await.unwrap()
        } else {
            let ended = survey.run(stopped).await.unwrap();
            drop(stop);
            ended
        }
    })
}

pub(super) fn rows<R: Row>(dir: &Path) -> Vec<R> {
    read_table(dir).unwrap().flat_map(Result::unwrap).collect()
}

/// Asserts that no page is requested more than a day after the last robots.txt of its host.
fn assert_rules_are_young(log: &[(Duration, String)]) {
    let mut rules_at = None;
    for (time, url) in log {
        if url.ends_with("/robots.txt") {
            rules_at = Some(*time);
        } else {
            assert!(
                rules_at.is_some_and(|rules_at| *time < rules_at + DAY),
                "{url} at {time:?}, rules of {rules_at:?}"
            );
        }
    }
}

/// A front page with this number of links, every other one below `/private`, which is forbidden from the
/// second day on.
fn grows_strict(path: &str, time: Duration, links: usize) -> ScriptedReply {
    match path {
        "/robots.txt" if time < DAY => ScriptedReply::Rules("User-agent: *\nDisallow:\n"),
        "/robots.txt" => ScriptedReply::Rules("User-agent: *\nDisallow: /private\n"),
        "/" => {
            let link = |n| if n % 2 == 0 { format!("/p{n}") } else { format!("/private/p{n}") };
            ScriptedReply::Page((0..links).map(link).collect())
        }
        _ => ScriptedReply::Page(Vec::new()),
    }
}

#[test]
fn rules_that_change_while_a_site_is_walked_for_days_are_obeyed_from_the_next_day_on() {
    // Pauses that are waited for in place, and pauses that put the site off.
    let few: Script = |_, path, time| grows_strict(path, time, 100);
    let some: Script = |_, path, time| grows_strict(path, time, 400);
    let many: Script = |_, path, time| grows_strict(path, time, 1500);
    for (pause, links, script, parallel) in
        [(HOUR, 100, few, 1), (HOUR, 400, some, 3), (Duration::from_secs(240), 1500, many, 1)]
    {
        let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
        let dir = folder.path().join("s");
        let settings = Settings { per_site: parallel, per_address: parallel, ..settings(pause) };
        let ending = run(&dir, &web, Some((settings, &["http://a.ke/"])), None);
        assert!(ending.is_finished && ending.broken_promises.is_empty());
        let log = web.log();
        assert_rules_are_young(&log);
        let strict = log.iter().filter(|(time, url)| *time >= DAY + pause && url.contains("/private"));
        assert_eq!(strict.count(), 0, "{parallel} at once, {pause:?}");
        let requests_for = |what: &str| log.iter().filter(|(_, url)| url.contains(what)).count() as u64;
        let (sites, levels) = (rows::<SiteRow>(&dir), rows::<LevelRow>(&dir));
        assert_eq!(
            (sites[0].outcome.as_str(), sites[0].robots_requests),
            ("complete", requests_for("/robots.txt"))
        );
        assert_eq!(sites[0].requests, log.len() as u64);
        assert_eq!(levels[1].classes[Class::Robots], links / 2 - requests_for("/private"));
        assert_eq!(levels[1].classes[Class::Fetched], requests_for("/p"));
        let days = log.last().unwrap().0.as_secs() / DAY.as_secs();
        assert!(days >= 2 && (days..=days + 2).contains(&requests_for("/robots.txt")), "{days} days");
    }
}

#[test]
fn rules_that_grew_old_while_a_survey_rested_are_asked_for_before_anything_else() {
    let script: Script = |_, path, time| grows_strict(path, time, 20);
    let minute = Duration::from_secs(60);
    for loses_the_last_answer in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("s");
        let first = Scripted::new(Duration::ZERO, script);
        let stopped = run(&dir, &first, Some((settings(minute), &["http://a.ke/"])), Some(minute * 7));
        assert!(!stopped.is_finished);
        if loses_the_last_answer {
            let journal = dir.join("journal/00000000.journal");
            let bytes = std::fs::read(&journal).unwrap();
            std::fs::write(&journal, &bytes[..bytes.len() - 1]).unwrap();
        }
        let later = Scripted::new(DAY, script);
        assert!(run(&dir, &later, None, None).is_finished);
        let log = later.log();
        assert!(log[0].1.ends_with("/robots.txt") && !log.iter().any(|(_, url)| url.contains("/private")));
        let (sites, levels) = (rows::<SiteRow>(&dir), rows::<LevelRow>(&dir));
        assert_eq!((sites[0].outcome.as_str(), sites[0].robots_requests), ("complete", 2));
        assert_eq!(levels[1].internal_urls, 20);
        let lost = Manifest::load(&dir).unwrap().unrecorded_exchanges;
        assert_eq!(lost, u64::from(loses_the_last_answer));
        assert_eq!(sites[0].requests + lost, (first.log().len() + log.len()) as u64);
    }
}

#[test]
fn new_rules_that_cannot_be_had_end_a_site_with_what_it_has() {
    let script: Script = |_, path, time| match path {
        "/robots.txt" if time >= DAY => ScriptedReply::Status(500),
        path => grows_strict(path, time, 100),
    };
    let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
    let dir = folder.path().join("s");
    assert!(run(&dir, &web, Some((settings(HOUR), &["http://a.ke/"])), None).is_finished);
    let levels = rows::<LevelRow>(&dir);
    assert_eq!(levels[1].classes[Class::Fetched] + levels[1].classes[Class::RobotsUnreachable], 100);
    assert!((20..25).contains(&levels[1].classes[Class::Fetched]), "{:?}", levels[1].classes);
}

#[test]
fn a_panic_in_one_visit_ends_its_site_and_keeps_what_is_on_record() {
    let script: Script = |host, path, _| match (host, path) {
        (_, "/robots.txt") => ScriptedReply::Status(404),
        ("broken.ke", "/2") => panic!("as the test wants it"),
        ("broken.ke", "/") => {
            ScriptedReply::Page(["/1", "/2", "/3", "http://found.ke/"].map(str::to_owned).into())
        }
        (_, "/") => ScriptedReply::Page(vec!["/1".to_owned()]),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
    let dir = folder.path().join("s");
    let starts = ["http://broken.ke/", "http://sound.ke/"];
    assert!(run(&dir, &web, Some((settings(Duration::from_secs(2)), &starts)), None).is_finished);
    let sites = rows::<SiteRow>(&dir);
    let row_of = |site: &str| sites.iter().find(|row| row.site == site).unwrap();
    let ended = |site| {
        (row_of(site).outcome.as_str(), row_of(site).requests, row_of(site).pages, row_of(site).external_urls)
    };
    assert_eq!(ended("broken.ke"), ("failed", 3, 2, 1));
    assert_eq!(ended("sound.ke"), ("complete", 3, 2, 0));
    assert_eq!(ended("found.ke"), ("complete", 3, 2, 0));
    assert_eq!(Manifest::load(&dir).unwrap().unrecorded_exchanges, 1);
    let levels: Vec<_> = rows::<LevelRow>(&dir).into_iter().filter(|row| row.site == "broken.ke").collect();
    assert!(levels.iter().all(LevelRow::reconciles));
    assert_eq!((levels[1].classes[Class::Fetched], levels[1].classes[Class::Limit]), (1, 2));
}

#[test]
fn damaged_journals_cost_their_sites_and_nothing_else() {
    let script: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Status(404),
        "/" => ScriptedReply::Page((0..20).map(|n| format!("/{n}")).collect()),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("s");
    let minute = Duration::from_secs(60);
    let starts = ["http://empty.ke/", "http://zeros.ke/", "http://flipped.ke/", "http://sound.ke/"];
    let settings = Settings { per_address: 4, ..settings(minute) };
    let first = Scripted::new(Duration::ZERO, script);
    assert!(!run(&dir, &first, Some((settings, &starts)), Some(minute * 5)).is_finished);
    let journal = |order: u64| dir.join(format!("journal/{order:08}.journal"));
    let change = |order, change: fn(&mut Vec<u8>)| {
        let mut bytes = std::fs::read(journal(order)).unwrap();
        change(&mut bytes);
        std::fs::write(journal(order), bytes).unwrap();
    };
    change(0, Vec::clear);
    change(1, |bytes| bytes.fill(0));
    change(2, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    let later = Scripted::new(HOUR, script);
    let ending = run(&dir, &later, None, None);
    assert!(ending.is_finished && ending.broken_promises.is_empty());
    let sites = rows::<SiteRow>(&dir);
    let row_of = |site: &str| sites.iter().find(|row| row.site == site).unwrap();
    let ended = |site| (row_of(site).outcome.as_str(), row_of(site).requests);
    assert_eq!((ended("empty.ke"), ended("zeros.ke")), (("failed", 0), ("failed", 0)));
    assert_eq!((ended("flipped.ke"), ended("sound.ke")), (("complete", 22), ("complete", 22)));
    let lost = Manifest::load(&dir).unwrap().unrecorded_exchanges;
    let request_count =
        first.log().iter().chain(&later.log()).filter(|(_, url)| !url.contains("sound.ke")).count();
    assert_eq!(request_count as u64, 22 + lost, "what no journal has any more was asked all the same");
    assert!(lost > 2);
    let asked_later = |host: &str| later.log().iter().any(|(_, url)| url.contains(host));
    assert!(!asked_later("empty.ke") && !asked_later("zeros.ke"));
    assert!(
        later.log().iter().filter(|(_, url)| url.contains("flipped.ke")).count() < 22,
        "what is before is kept"
    );
}

/// The counters of a survey, without times and rates.
fn counters(snapshot: &Snapshot) -> Snapshot {
    Snapshot {
        sites_done: snapshot.sites_done,
        pages: snapshot.pages,
        requests: snapshot.requests,
        received_bytes: snapshot.received_bytes,
        sent_bytes: snapshot.sent_bytes,
        unrecorded: snapshot.unrecorded,
        external_urls: snapshot.external_urls,
        errors: snapshot.errors.clone(),
        ..Snapshot::default()
    }
}

#[test]
fn after_a_death_the_journals_tell_what_the_state_does_not() {
    let script: Script = |host, path, _| match (host, path) {
        (_, "/robots.txt" | "/gone") => ScriptedReply::Status(404),
        ("done.ke", "/") => ScriptedReply::Page(["/gone", "http://elsewhere.org/"].map(str::to_owned).into()),
        ("open.ke", "/") => ScriptedReply::Page(
            ["/gone".to_owned()].into_iter().chain((0..20).map(|n| format!("/{n}"))).collect(),
        ),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("s");
    let minute = Duration::from_secs(60);
    let starts = ["http://done.ke/", "http://open.ke/"];
    let first = Scripted::new(Duration::ZERO, script);
    assert!(!run(&dir, &first, Some((settings(minute), &starts)), Some(minute * 9)).is_finished);
    let state = std::fs::read(dir.join("state.redb")).unwrap();
    let second = Scripted::new(HOUR, script);
    assert!(!run(&dir, &second, None, Some(minute * 5)).is_finished);
    let before = Snapshot::read(&dir).unwrap();
    assert_eq!(before.requests, (first.log().len() + second.log().len()) as u64);
    assert!(before.errors["http_404"] == 2 && before.external_urls == 1 && before.sites_done == 1);
    assert!(second.log().len() >= 3);

    // The process was killed: the state of servers and the status lack the last minutes.
    std::fs::write(dir.join("state.redb"), state).unwrap();
    std::fs::remove_file(Snapshot::path(&dir)).unwrap();
    let soon = second.log().last().unwrap().0 + Duration::from_secs(10);
    let third = Scripted::new(soon, script);
    let reopened = |web: &Arc<Scripted>| {
        let runtime = virtual_time();
        let _entered = runtime.enter();
        let survey = Survey::open_with(&dir, Some(simulation(web))).unwrap();
        survey.progress().snapshot(SystemTime::UNIX_EPOCH)
    };
    assert_eq!(counters(&reopened(&third)), counters(&before));

    // The last response was lost on the way, too.
    let journal = dir.join("journal/00000001.journal");
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &bytes[..bytes.len() - 1]).unwrap();
    let lost = reopened(&third);
    assert_eq!((lost.requests, lost.unrecorded), (before.requests - 1, 1));

    // Curves of fewer rows are removed when the survey resumes; new ones are not drawn in this process.
    write_table(&dir, &[CurveRow::default()]).unwrap();
    let ending = run(&dir, &third, None, None);
    assert_eq!(read_curves(&dir).unwrap(), []);
    assert!(ending.is_finished && ending.broken_promises.is_empty(), "{:?}", ending.broken_promises);
    // It is unknown how long the server was working on it: the longest pause, from the moment that the survey
    // resumes.
    let began = (DAY * 20_000 + soon).as_micros() as i64;
    let next =
        rows::<ExchangeRow>(&dir).iter().map(|row| row.started.0).filter(|at| *at >= began).min().unwrap();
    assert!(next - began >= 120_000_000, "{next} {began}");
    let request_count: u64 = [&first, &second, &third].iter().map(|web| web.log().len() as u64).sum();
    let (servers, status) = (rows::<ServerRow>(&dir), Snapshot::read(&dir).unwrap());
    let of_sites = |count: fn(&SiteRow) -> u64| rows::<SiteRow>(&dir).iter().map(count).sum::<u64>();
    assert_eq!(status.pages, of_sites(|row| row.pages));
    assert_eq!(status.received_bytes, of_sites(|row| row.received_bytes));
    assert_eq!(status.sent_bytes, of_sites(|row| row.sent_bytes));
    let requests_by_server: Vec<_> = servers.iter().map(|row| (row.address.as_str(), row.requests)).collect();
    assert_eq!(requests_by_server, [("41.90.0.1", request_count - 1)]);
    assert!(servers[0].smallest_gap_ms.is_some_and(|gap| gap >= 60_000.0));
    assert_eq!((status.requests, status.unrecorded), (request_count - 1, 1));
    assert_eq!((status.seen.exchanges, status.seen.in_site.most), (request_count - 1, 1));
    assert_eq!(Manifest::load(&dir).unwrap().unrecorded_exchanges, 1);

    // If no tally is stored, it is computed from the tables and the last status.
    let count = Count { times: 1, first: "41.90.0.1 for a.ke".to_owned() };
    let recorded =
        Observations { opted_out: count.clone(), in_quiet_hours: count.clone(), ..Observations::default() };
    let Tally { errors, seen, .. } = Tally::from_tables(&dir, Some(recorded)).unwrap();
    assert_eq!((&errors, seen.exchanges), (&status.errors, request_count - 1));
    assert_eq!((&seen.opted_out, &seen.in_quiet_hours, seen.special.times), (&count, &count, 0));
}

#[test]
fn a_server_that_may_still_be_at_work_is_waited_for_before_another_of_its_site_is_asked() {
    let script: Script = |host, path, _| match (host, path) {
        (_, "/robots.txt") => ScriptedReply::Status(404),
        ("a.ke", "/") => ScriptedReply::Page(vec!["/slow".to_owned(), "http://other.a.ke/".to_owned()]),
        ("a.ke", "/slow") => ScriptedReply::Nothing,
        _ => ScriptedReply::Page(Vec::new()),
    };
    let minute = Duration::from_secs(60);
    let folder = tempfile::tempdir().unwrap();
    let web = Scripted::new(Duration::ZERO, script);
    run(&folder.path().join("s"), &web, Some((settings(minute), &["http://a.ke/"])), None);
    let given_up = settings(minute).first_byte_timeout.0;
    let log = web.log();
    let time_of = |url: &str| log.iter().find(|(_, logged)| logged.starts_with(url)).unwrap().0;
    let waited = time_of("http://other.a.ke/") - time_of("http://a.ke/slow");
    assert!(waited >= given_up + minute && waited <= given_up + minute * 3, "{waited:?}");
}

#[test]
fn answers_that_several_trees_lost_are_counted_each() {
    let script: Script = |_, path, time| grows_strict(path, time, 20);
    let minute = Duration::from_secs(60);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("s");
    let starts = ["http://a.ke/", "http://b.ke/"];
    let first = Scripted::new(Duration::ZERO, script);
    let settings = Settings { per_address: 2, ..settings(minute) };
    assert!(!run(&dir, &first, Some((settings, &starts)), Some(minute * 7)).is_finished);
    for order in 0..2 {
        let journal = dir.join(format!("journal/{order:08}.journal"));
        let bytes = std::fs::read(&journal).unwrap();
        std::fs::write(&journal, &bytes[..bytes.len() - 1]).unwrap();
    }
    assert!(!run(&dir, &Scripted::new(HOUR, script), None, Some(Duration::ZERO)).is_finished);
    assert_eq!(Manifest::load(&dir).unwrap().unrecorded_exchanges, 2);
}

#[test]
fn exchanges_that_ran_at_once_before_a_death_are_seen_after_it() {
    let script: Script = |host, path, _| match (host, path) {
        (_, "/robots.txt") => ScriptedReply::Status(404),
        ("open.ke", "/") => ScriptedReply::Page(
            ["/slow", "/slow/too"]
                .map(str::to_owned)
                .into_iter()
                .chain((0..20).map(|n| format!("/{n}")))
                .collect(),
        ),
        (_, "/slow" | "/slow/too") => ScriptedReply::Nothing,
        _ => ScriptedReply::Page(Vec::new()),
    };
    let second = Duration::from_secs(1);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("s");
    let settings = Settings { per_site: 2, per_address: 2, ..settings(second * 5) };
    let web = Scripted::new(Duration::ZERO, script);
    let starts = ["http://done.ke/", "http://open.ke/"];
    assert!(!run(&dir, &web, Some((settings, &starts)), Some(second * 80)).is_finished);
    let before = Snapshot::read(&dir).unwrap();
    assert_eq!((before.sites_done, before.seen.in_site.most), (1, 2));
    // A process that is killed leaves no status, and the tally as it was when the tree of done.ke ended,
    // before two requests ran at once.
    std::fs::remove_file(Snapshot::path(&dir)).unwrap();
    let mut state = frontier(&dir);
    let stored: Tally = serde_json::from_slice(&state.tally().unwrap().unwrap()).unwrap();
    let seen = Observations { in_site: Peak { most: 1, ..stored.seen.in_site }, ..stored.seen };
    let tally = Tally { seen, ..stored }
        .to_store(&Observations::default(), SystemTime::UNIX_EPOCH + DAY * 20_000)
        .unwrap();
    store_tally(&mut state, &tally);
    drop(state);
    let later = Scripted::new(HOUR, script);
    run(&dir, &later, None, Some(Duration::ZERO));
    assert_eq!(Snapshot::read(&dir).unwrap().seen.in_site.most, 2);
}

#[test]
fn a_later_tree_of_a_site_asks_for_no_page_that_an_earlier_one_has() {
    let script: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Status(404),
        "/" => ScriptedReply::Page(vec!["/shared".to_owned()]),
        "/island" => ScriptedReply::Page(vec!["/shared".to_owned(), "/alone".to_owned()]),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let folder = tempfile::tempdir().unwrap();
    let web = Scripted::new(Duration::ZERO, script);
    let settings = Settings { seeds_per_site: 2, ..settings(Duration::from_secs(5)) };
    let starts = ["http://a.ke/", "http://a.ke/island"];
    run(&folder.path().join("s"), &web, Some((settings, &starts)), None);
    let mut urls: Vec<_> =
        web.log().into_iter().map(|(_, url)| url).filter(|url| !url.ends_with(".txt")).collect();
    urls.sort();
    assert_eq!(urls, ["/", "/alone", "/island", "/shared"].map(|path| format!("http://a.ke{path}")));
}

#[test]
fn a_tree_that_had_ended_when_the_process_died_is_not_walked_further() {
    let script: Script = |_, path, _| match path {
        "/robots.txt" => ScriptedReply::Status(404),
        "/" => ScriptedReply::Page((0..50).map(|n| format!("/{n}")).collect()),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("s");
    let second = Duration::from_secs(1);
    let settings = Settings { seeds_per_site: 2, ..settings(second) };
    let web = Scripted::new(Duration::ZERO, script);
    run(&dir, &web, Some((settings, &["http://a.ke/", "http://a.ke/7"])), Some(second * 10));
    let request_count = web.log().len();
    // Its time was over, and the next tree of the site may have begun.
    let (journal, _) = Journal::open(&dir.join("journal/00000000.journal")).unwrap();
    journal.write(&Entry::Ended { outcome: Outcome::TimeBudget }).unwrap();
    let web = Scripted::new(DAY, script);
    assert!(run(&dir, &web, None, None).is_finished);
    let sites = rows::<SiteRow>(&dir);
    let ended: Vec<_> = sites.iter().map(|row| (row.seed, row.outcome.as_str(), row.requests)).collect();
    assert_eq!(ended, [(0, "time_budget", request_count as u64)]);
    assert!(web.log().is_empty(), "{:?}", web.log());
}

/// Two start URLs; the first has no page, and neither have the front pages.
fn opens_at_the_second_url(path: &str) -> ScriptedReply {
    match path {
        "/robots.txt" | "/" | "/dead" => ScriptedReply::Status(404),
        "/live" => ScriptedReply::Page((0..50).map(|n| format!("/{n}")).collect()),
        _ => ScriptedReply::Page(Vec::new()),
    }
}

#[test]
fn a_site_costs_no_more_than_its_budget_in_all_the_trees_that_try_to_open_it() {
    let script: Script = |_, path, _| opens_at_the_second_url(path);
    let second = Duration::from_secs(1);
    let starts = ["http://a.ke/dead", "http://a.ke/live"];
    for seeds_per_site in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let (dir, web) = (folder.path().join("s"), Scripted::new(Duration::ZERO, script));
        let settings = Settings { max_requests: Some(20), seeds_per_site, ..settings(second) };
        assert!(run(&dir, &web, Some((settings, &starts)), None).is_finished);
        let sites = rows::<SiteRow>(&dir);
        let ended: Vec<_> = sites.iter().map(|row| (row.seed, row.outcome.as_str())).collect();
        assert_eq!(ended, [(0, "no_page"), (1, "request_budget")]);
        // Each of the start URLs that a site may have brings a budget of its own.
        let most = if seeds_per_site == 1 { 20 } else { sites[0].requests + 20 };
        // The second tree uses the robots.txt of the first, which counts as if it had fetched it.
        assert_eq!(web.log().len() as u64 + shared_robots(&dir), most, "{seeds_per_site} start URLs a site");
        assert_eq!(shared_robots(&dir), 1);
    }
}

/// The number of robots.txt responses that trees received from others.
pub(super) fn shared_robots(dir: &Path) -> u64 {
    rows::<LevelRow>(dir).iter().filter_map(|row| row.shared_robots).sum()
}

#[test]
fn a_site_that_is_opened_late_keeps_its_budget_over_deaths() {
    let script: Script = |_, path, _| opens_at_the_second_url(path);
    let second = Duration::from_secs(1);
    let starts: &[&str] = &["http://a.ke/dead", "http://a.ke/live"];
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("s");
    let mut begin = Some((Settings { max_requests: Some(20), ..settings(second) }, starts));
    let (mut request_count, mut deaths) = (0, 0);
    loop {
        // A robots.txt is good for a day: each run fetches it again.
        let web = Scripted::new(DAY * deaths, script);
        let ending = run(&dir, &web, begin.take(), Some(Duration::from_millis(4500)));
        request_count += web.log().len();
        if ending.is_finished {
            assert!(ending.broken_promises.is_empty(), "{:?}", ending.broken_promises);
            break;
        }
        deaths += 1;
        for entry in std::fs::read_dir(dir.join("journal")).unwrap() {
            let journal = entry.unwrap().path();
            let bytes = std::fs::read(&journal).unwrap();
            // The last response was lost.
            std::fs::write(&journal, &bytes[..bytes.len() - 1]).unwrap();
        }
    }
    let lost = Manifest::load(&dir).unwrap().unrecorded_exchanges;
    assert!(deaths >= 4 && lost >= 3, "{deaths} deaths, {lost} lost");
    let recorded: u64 = rows::<SiteRow>(&dir).iter().map(|row| row.requests).sum();
    assert_eq!((request_count as u64, recorded + lost), (20, 20));
}

#[test]
fn bytes_and_time_of_a_site_are_spent_once_in_all_its_trees() {
    let script: Script = |_, path, _| opens_at_the_second_url(path);
    let second = Duration::from_secs(1);
    let starts = ["http://a.ke/dead", "http://a.ke/live"];
    let limit = second * 20;
    let folder = tempfile::tempdir().unwrap();
    let (dir, web) = (folder.path().join("s"), Scripted::new(Duration::ZERO, script));
    let settings = Settings { max_time: Some(Span(limit)), ..settings(second) };
    assert!(run(&dir, &web, Some((settings.clone(), &starts)), None).is_finished);
    let outcomes = |dir: &Path| rows::<SiteRow>(dir).into_iter().map(|row| row.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes(&dir), ["no_page", "time_budget"]);
    let [first, last] = [web.log().first().unwrap().0, web.log().last().unwrap().0];
    assert!(last - first <= limit + second && last - first > limit / 2, "{:?}", last - first);

    // As many bytes as the first tree moves, and a little more.
    let moved = |dir: &Path| -> Vec<u64> {
        rows::<SiteRow>(dir).iter().map(|row| row.sent_bytes + row.received_bytes).collect()
    };
    let room = moved(&dir)[0] + 100;
    let max_bytes = Some(Size(super::smallest_budgets(&settings).bytes.0 + room));
    let (dir, web) = (folder.path().join("bytes"), Scripted::new(Duration::ZERO, script));
    let settings = Settings { max_time: None, max_bytes, ..settings };
    assert!(run(&dir, &web, Some((settings, &starts)), None).is_finished);
    assert_eq!(outcomes(&dir), ["no_page", "byte_budget"]);
    let begun = rows::<SiteRow>(&dir)[1].requests + shared_robots(&dir);
    assert_eq!(begun, 1, "one exchange may be begun, or shared: {:?}", moved(&dir));
}

#[test]
fn a_damaged_tally_is_told_and_not_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("s");
    let script: Script = |_, _, _| ScriptedReply::Page(Vec::new());
    let web = Scripted::new(Duration::ZERO, script);
    run(&dir, &web, Some((settings(HOUR), &["http://a.ke/"])), Some(Duration::ZERO));
    store_tally(&mut frontier(&dir), b"{");
    let runtime = virtual_time();
    let _entered = runtime.enter();
    let message = Survey::open_with(&dir, Some(simulation(&web))).err().unwrap().to_string();
    assert!(message.contains("state.redb") && message.contains("tally of finished trees"), "{message}");
}

/// A Web in which each site is on a server of its own, by the number in its name.
struct Wide(Arc<Scripted>);

impl Web for Wide {
    fn look_up(&self, host: &Host) -> LookupResponse {
        let number: u32 =
            host.as_str().trim_start_matches('s').split('.').next().unwrap().parse().unwrap_or_default();
        LookupResponse {
            addresses: Ok(vec![address(number)]),
            aliases: Vec::new(),
            lifetime: HOUR,
            took: Duration::ZERO,
        }
    }

    fn respond(&self, request: &WebRequest<'_>) -> WebResponse {
        self.0.respond(request)
    }

    fn user_delays(&self, _address: IpAddr) -> Option<UserDelays> {
        None
    }
}

fn address(number: u32) -> IpAddr {
    let [_, a, b, c] = number.to_be_bytes();
    [41 + a, 90, b, c].into()
}

#[test]
fn servers_whose_pauses_are_over_are_forgotten() {
    const SITES: u32 = 1600;
    let folder = tempfile::tempdir().unwrap();
    let script: Script = |_, path, _| match path {
        "/" => ScriptedReply::Page(vec!["/a".to_owned(), "/b".to_owned()]),
        _ => ScriptedReply::Status(404),
    };
    let scripted = Scripted::new(Duration::ZERO, script);
    let begun = simulation(&scripted);
    let begun = Simulation { web: Arc::new(Wide(scripted.clone())), ..begun };
    let starts: Vec<_> =
        (0..SITES).map(|site| WebUrl::parse(&format!("http://s{site}.ke/")).unwrap()).collect();
    let runtime = virtual_time();
    let settings = Settings { sites: 4, ..settings(Duration::from_secs(60)) };
    let survey = {
        let _entered = runtime.enter();
        let starts = StartList::from_urls(&starts).unwrap();
        Survey::simulate(&folder.path().join("s"), settings, &starts, begun, &mut |_| {}).unwrap().0
    };
    let parts = survey.parts.clone();
    let (_stop, stopped) = watch::channel(false);
    assert!(runtime.block_on(survey.run(stopped)).unwrap().is_finished);
    let _entered = runtime.enter();
    let known = (0..SITES).filter(|site| parts.access.load().knows(address(*site))).count();
    let judged = parts.storage.judge().remembered();
    // Only the servers whose pauses were running when trees were last written.
    assert!(
        known < 100 && judged < SITES as usize * 3 / 4,
        "{known} of {SITES} servers are known, {judged} are judged"
    );
    let served = rows::<ServerRow>(&folder.path().join("s")).len();
    assert_eq!(served, SITES as usize);
}

#[test]
fn servers_are_read_and_written_some_at_a_time() {
    const SERVERS: u32 = 50_000 + 2_500;
    let (folder, script) =
        (tempfile::tempdir().unwrap(), (|_, _, _| ScriptedReply::Page(Vec::new())) as Script);
    let dir = folder.path().join("s");
    let first = Scripted::new(Duration::ZERO, script);
    assert!(!run(&dir, &first, Some((settings(HOUR), &["http://a.ke/"])), Some(HOUR / 2)).is_finished);
    let mut state = frontier(&dir);
    let bytes = state.server([41, 90, 0, 1].into()).unwrap().unwrap();
    let servers: Vec<_> = (0..SERVERS).map(|number| (address(number), bytes.clone())).collect();
    let batch = Batch {
        finished: &[],
        segments: state.segments().unwrap(),
        servers: &servers,
        hosts: &[],
        unrecorded: 0,
        tally: &state.tally().unwrap().unwrap(),
        robots: &[],
        robots_since: 0,
    };
    state.finish(&batch).unwrap();
    drop(state);
    let mut pages = Vec::new();
    let layout = super::folder::Folder::open(&dir);
    let state = frontier(&dir);
    super::storage::each_page_of_servers(
        &layout,
        || &state,
        |page| {
            pages.push(page.len());
            Ok(())
        },
    )
    .unwrap();
    assert!(pages.iter().all(|page| *page <= 1000), "{pages:?}");
    assert_eq!(pages.iter().sum::<usize>(), SERVERS as usize);
    drop(state);
    assert!(run(&dir, &Scripted::new(HOUR, script), None, None).is_finished);
    // A row group is held in memory as a whole.
    let groups = row_groups(&dir.join("tables/servers/servers.parquet"));
    assert_eq!(groups.iter().sum::<usize>(), SERVERS as usize);
    assert!(groups.iter().all(|rows| *rows < 52_000), "{groups:?}");
}

fn row_groups(path: &Path) -> Vec<usize> {
    let mut file = std::fs::File::open(path).unwrap();
    let metadata = polars_parquet::parquet::read::read_metadata(&mut file).unwrap();
    metadata.row_groups.iter().map(|group| group.num_rows()).collect()
}

fn frontier(dir: &Path) -> Frontier {
    let spread = Spread { seeds_per_site: 1, generations: None, later_trees: true };
    Frontier::open(&dir.join("state.redb"), spread).unwrap()
}

fn store_tally(state: &mut Frontier, tally: &[u8]) {
    let segments = state.segments().unwrap();
    let batch = Batch {
        finished: &[],
        segments,
        servers: &[],
        hosts: &[],
        unrecorded: 0,
        tally,
        robots: &[],
        robots_since: 0,
    };
    state.finish(&batch).unwrap();
}

fn redirect_with_pause(to: &str, pause: &str) -> ScriptedReply {
    ScriptedReply::Head(302, vec![("Location", to.to_owned()), ("Retry-After", pause.to_owned())])
}

/// RFC 9110 §10.2.3: with 3xx, `Retry-After` is the least time before the redirected request.
#[test]
fn a_redirected_request_waits_as_long_as_the_redirect_asked_on_another_server_too() {
    let short: Script = |host, path, _| match (host, path) {
        (_, "/robots.txt") => ScriptedReply::Status(404),
        ("a.ke", "/") => redirect_with_pause("http://other.a.ke/front", "100"),
        _ => ScriptedReply::Page(Vec::new()),
    };
    // Longer than a site waits in place.
    let long: Script = |host, path, _| match (host, path) {
        (_, "/robots.txt") => ScriptedReply::Status(404),
        ("a.ke", "/") => redirect_with_pause("http://other.a.ke/front", "7200"),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let of_robots: Script = |host, path, _| match (host, path) {
        ("a.ke", "/robots.txt") => redirect_with_pause("http://other.a.ke/robots.txt", "50"),
        (_, "/robots.txt") => ScriptedReply::Rules(""),
        _ => ScriptedReply::Page(Vec::new()),
    };
    for (script, from, to, least_wait) in [
        (short, "http://a.ke/", "http://other.a.ke/robots.txt", 100),
        (long, "http://a.ke/", "http://other.a.ke/robots.txt", 7200),
        (of_robots, "http://a.ke/robots.txt", "http://other.a.ke/robots.txt", 50),
    ] {
        let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
        let dir = folder.path().join("s");
        run(&dir, &web, Some((settings(Duration::from_secs(1)), &["http://a.ke/"])), None);
        let log = web.log();
        let time_of = |url: &str| log.iter().find(|(_, logged)| logged == url).unwrap().0;
        let waited = time_of(to) - time_of(from);
        assert!(
            (least_wait..least_wait + 60).contains(&waited.as_secs()),
            "{waited:?} instead of {least_wait} s: {log:?}"
        );
        assert_eq!(log.iter().filter(|(_, logged)| logged == from).count(), 1, "{log:?}");
        assert_eq!(Manifest::load(&dir).unwrap().broken_promises, Vec::<String>::new());
    }
}

#[test]
fn a_page_that_names_a_time_is_not_requested_again_and_the_next_request_waits_for_it() {
    let script: Script = |_, path, _| match path {
        "/" => ScriptedReply::Page((0..4).map(|n| format!("/p{n}")).collect()),
        "/p1" => ScriptedReply::Head(404, vec![("Retry-After", "7200".to_owned())]),
        _ => ScriptedReply::Page(Vec::new()),
    };
    let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
    let dir = folder.path().join("s");
    run(&dir, &web, Some((settings(Duration::from_secs(1)), &["http://a.ke/"])), None);
    let log = web.log();
    let urls: Vec<_> = log.iter().map(|(_, url)| url.as_str()).collect();
    let pages = ["/robots.txt", "/", "/p0", "/p1", "/p2", "/p3"].map(|path| format!("http://a.ke{path}"));
    assert_eq!(urls, pages);
    assert!((7200..7260).contains(&(log[4].0 - log[3].0).as_secs()), "{log:?}");
}

/// Bans from the thirtieth second on.
fn bans(path: &str, time: Duration) -> ScriptedReply {
    match path {
        "/robots.txt" => ScriptedReply::Status(404),
        _ if time > Duration::from_secs(30) => {
            ScriptedReply::Head(403, vec![("cf-mitigated", "challenge".to_owned())])
        }
        "/" => ScriptedReply::Page((0..100).map(|n| format!("/p{n}")).collect()),
        _ => ScriptedReply::Page(Vec::new()),
    }
}

#[test]
fn a_ban_is_noticed_after_twenty_refusals_and_one_check_and_a_stop_in_between_changes_nothing() {
    let script: Script = |_, path, time| bans(path, time);
    let second = Duration::from_secs(1);
    let tables = |stop: Option<u32>| {
        let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, script));
        let dir = folder.path().join("s");
        let begin = Some((settings(second), &["http://a.ke/"][..]));
        let ending = run(&dir, &web, begin, stop.map(|seconds| second * seconds));
        assert_eq!(ending.is_finished, stop.is_none());
        if let Some(seconds) = stop {
            let later = Scripted::new(second * (seconds + 60), script);
            assert!(run(&dir, &later, None, None).is_finished);
        }
        let (sites, levels) = (rows::<SiteRow>(&dir), rows::<LevelRow>(&dir));
        let exchanges = rows::<ExchangeRow>(&dir);
        let count_of = |purpose: &str| exchanges.iter().filter(|row| row.purpose == purpose).count();
        let refusals =
            exchanges.iter().filter(|row| row.challenge.as_deref() == Some("cf_mitigated")).count();
        let classes = [Class::Fetched, Class::Refused].map(|class| levels[1].classes[class]);
        assert_eq!(classes.iter().sum::<u64>(), 100);
        (sites[0].outcome.clone(), count_of("check"), refusals, levels[1].requests == classes[0] + 1)
    };
    let expected = ("refused".to_owned(), 1, 21, true);
    assert_eq!(tables(None), expected);
    // Before the ban, and during the refusals.
    for stop in [20, 40, 49] {
        assert_eq!(tables(Some(stop)), expected, "{stop}");
    }
}

/// Our own link is broken from the fifth to the thirtieth minute.
fn out_of_reach(host: &str, path: &str, time: Duration) -> ScriptedReply {
    let is_slow = host.starts_with("server10");
    match path {
        _ if (5 * 60..30 * 60).contains(&time.as_secs()) => ScriptedReply::Dead,
        "/robots.txt" if is_slow => ScriptedReply::Rules("User-agent: *\nCrawl-delay: 250\n"),
        "/robots.txt" => ScriptedReply::Rules("User-agent: *\nCrawl-delay: 50\n"),
        "/" => ScriptedReply::Page((0..20).map(|n| format!("/p{n}")).collect()),
        _ => ScriptedReply::Page(Vec::new()),
    }
}

#[test]
fn who_has_waited_for_our_link_until_quiet_hours_began_waits_on_until_they_are_over() {
    let (folder, web) = (tempfile::tempdir().unwrap(), Scripted::new(Duration::ZERO, out_of_reach));
    // The survey begins at three in the morning, local time.
    let quiet_hours = Some("03:10-05:00".parse().unwrap());
    let of_survey = Settings { quiet_hours, ..settings(Duration::from_secs(50)) };
    let starts: Vec<String> = (10..30).chain(100..110).map(|n| format!("http://server{n}.ke/")).collect();
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    assert!(run(&folder.path().join("s"), &web, Some((of_survey, &starts)), None).is_finished);
    let log = web.log();
    let requests_between =
        |from: Duration, to: Duration| log.iter().filter(|(time, _)| (from..to).contains(time)).count();
    let [broken, quiet, awake] = [5, 10, 120].map(|minutes| Duration::from_secs(minutes * 60));
    assert!(
        (12..60).contains(&requests_between(broken, quiet)),
        "what was lost shows that the link is broken"
    );
    assert_eq!(requests_between(quiet, awake), 0);
    assert!(requests_between(awake, DAY) > 300);
}
