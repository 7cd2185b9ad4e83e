//! Grows what a survey keeps of its sites and servers, and opens it again: what that costs as it doubles.
//!
//!     growth grow DIR SITES DNS   a survey that has walked SITES sites, each on a server of its own, and is killed; a row
//!                                 of CSV at each doubling. DNS is the name server that it asks when it goes on
//!     growth open DIR             goes on and stops at once: what either takes

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, SystemTime};

use ccsurvey::address::{Host, Site, WebUrl};
use ccsurvey::exchange::{Head, HostFacts, Purpose, Response, Timings, Wire};
use ccsurvey::fetch::Clock;
use ccsurvey::frontier::{Batch, Finished, Frontier, Lease, Spread, StartCandidate};
use ccsurvey::load::{LargestExchange, Load};
use ccsurvey::records::{LevelRow, SegmentRows, SiteRow, Tables};
use ccsurvey::settings::{Pace, Settings, SharedBudget};
use ccsurvey::survey::Survey;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["grow", dir, sites, dns] => grow(Path::new(dir), sites.parse()?, dns.parse()?),
        ["open", dir] => open(Path::new(dir)),
        _ => Err("usage: growth grow DIR SITES DNS | growth open DIR".into()),
    }
}

/// Trees in a transaction: as many as a survey of a thousand pages a second finishes between two.
const BATCH: usize = 500;
/// Batches in a segment of the tables.
const SEGMENT: usize = 8;
/// The first doubling that is told.
const FIRST: u64 = 1000;

fn grow(dir: &Path, sites: u64, dns: SocketAddr) -> Result<(), Box<dyn Error>> {
    let start = [WebUrl::parse(&url_of(0))?];
    let settings = Settings {
        cctld: vec!["ke".to_owned()],
        contact: Some("https://survey.example/contact".to_owned()),
        dns: Some(dns),
        ..Settings::default()
    };
    drop(Survey::create(dir, settings, &start)?);
    let mut frontier = Frontier::open(&dir.join("state.redb"), Spread::default())?;
    let tables = Tables::open(dir)?;
    let most = LargestExchange { bytes: 1 << 20, ahead: 0, time: Duration::from_secs(60) };
    let mut load = Load::new(Pace::default(), None, SharedBudget::default(), most);
    let (mut rows, mut segments, mut done, mut span) = (SegmentRows::default(), 0, 0, Span::default());
    println!("sites,commits,commit_ms,worst_commit_ms,state_bytes");
    while done < sites {
        let mut finished = Vec::new();
        while finished.len() < BATCH
            && let Some(lease) = frontier.lease()?
        {
            let number = done + finished.len() as u64;
            let (address, answer) = exchange(number);
            load.recall(address, &lease.site, Purpose::Page, &answer);
            add_rows(&lease, address, &mut rows);
            let found = [2 * number + 1, 2 * number + 2].into_iter().filter(|found| *found < sites);
            let found = found.map(candidate).collect::<Result<_, _>>()?;
            finished.push(Finished { lease, found, known: None, closed: None });
        }
        if finished.is_empty() {
            return Err(format!("no site is left after {done}").into());
        }
        let trees = finished.len() as u64;
        let (before, all) = (done, done + trees);
        if all.is_multiple_of((BATCH * SEGMENT) as u64) || all >= sites {
            tables.write(segments, &std::mem::take(&mut rows))?;
            segments += 1;
        }
        let servers = load.take_changed().into_iter();
        let servers: Vec<_> = servers
            .map(|(address, state)| Ok((address, postcard::to_stdvec(&state)?)))
            .collect::<Result<_, postcard::Error>>()?;
        let hosts: Vec<_> = (0..)
            .zip(&finished)
            .map(|(n, tree)| {
                (exchange(before + n).0, tree.lease.start.host().clone(), tree.lease.site.clone())
            })
            .collect();
        let began = Clock::system().now();
        frontier.finish(&Batch {
            finished: &finished,
            segments,
            servers: &servers,
            hosts: &hosts,
            unrecorded: 0,
            tally: tally_of(all).as_bytes(),
            robots: &[],
            robots_since: 0,
        })?;
        span.note(since(began));
        load.forget_idle(Clock::system().now() + Duration::from_hours(24));
        done = all;
        if done >= sites || (before.max(FIRST - 1) / FIRST).checked_ilog2() != (done / FIRST).checked_ilog2()
        {
            let bytes = std::fs::metadata(dir.join("state.redb"))?.len();
            let Span { commits, all, worst } = std::mem::take(&mut span);
            let mean = all / commits.max(1);
            println!("{done},{commits},{:.1},{:.1},{bytes}", milliseconds(mean), milliseconds(worst));
        }
    }
    // As a process ends that is killed: the store is not closed.
    std::process::exit(0)
}

fn open(dir: &Path) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let _entered = runtime.enter();
    let began = Clock::system().now();
    let survey = Survey::open(dir)?;
    let opened = since(began);
    let (_keep, stopped) = tokio::sync::watch::channel(true);
    let began = Clock::system().now();
    runtime.block_on(survey.run(stopped))?;
    println!("open_s,stop_s\n{:.3},{:.3}", opened.as_secs_f64(), since(began).as_secs_f64());
    Ok(())
}

/// The commits between two doublings.
#[derive(Default)]
struct Span {
    commits: u32,
    all: Duration,
    worst: Duration,
}

impl Span {
    fn note(&mut self, took: Duration) {
        self.commits += 1;
        self.all += took;
        self.worst = self.worst.max(took);
    }
}

fn since(began: SystemTime) -> Duration {
    Clock::system().now().duration_since(began).unwrap_or_default()
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

/// Names are found in no order, as those of a country's sites are.
fn name_of(number: u64) -> String {
    format!("s{:08x}.co.ke", (number as u32).wrapping_mul(0x9e37_79b1))
}

fn url_of(number: u64) -> String {
    format!("http://www.{}/", name_of(number))
}

fn candidate(number: u64) -> Result<StartCandidate, Box<dyn Error>> {
    let homes = vec![Site::new(Host::parse(&name_of(number))?)];
    Ok(StartCandidate { url: WebUrl::parse(&url_of(number))?, homes, priority: 0 })
}

/// The tally that a survey stores with so many sites.
fn tally_of(sites: u64) -> String {
    let (sent, received, external) = (300 * sites, 20_000 * sites, 2 * sites);
    format!(
        r#"{{"totals":{{"pages":{sites},"requests":{sites},"sent_bytes":{sent},"received_bytes":{received},"external_urls":{external}}}}}"#
    )
}

/// The one page of a site, at a server of its own.
fn exchange(number: u64) -> (IpAddr, Response) {
    let address =
        IpAddr::from(Ipv4Addr::from(0x2900_0000 | (number as u32).wrapping_mul(0x9e37_79b1) & 0x00ff_ffff));
    let answer = Response {
        started: Clock::system().now() - Duration::from_secs(1),
        address: Some(address),
        status: Some(200),
        failure: None,
        head: Head { server: Some("Apache/2.4.58 (Ubuntu)".to_owned()), ..Head::default() },
        http_version: Some("HTTP/1.1".to_owned()),
        tls_version: None,
        tls_error: None,
        wire: Wire { sent: 300, received: 20_000, connections: 1 },
        timings: Timings { total: Duration::from_millis(400), ..Timings::default() },
        body_bytes: 20_000,
        facts: HostFacts::default(),
        after_head: 0,
        may_speak_older_tls: false,
    };
    (address, answer)
}

fn add_rows(lease: &Lease, address: IpAddr, rows: &mut SegmentRows) {
    let site = lease.site.to_string();
    rows.levels.push(LevelRow {
        site: site.clone(),
        requests: 1,
        pages: 1,
        received_bytes: 20_000,
        ..LevelRow::default()
    });
    rows.sites.push(SiteRow {
        site,
        cctld: Some("ke".into()),
        start_url: lease.start.as_str().to_owned(),
        outcome: "complete".into(),
        deepest: Some(0),
        requests: 1,
        pages: 1,
        received_bytes: 20_000,
        sent_bytes: 300,
        external_urls: 2,
        address: Some(address.to_string()),
        generation: lease.generation,
        number: Some(lease.order),
        ..SiteRow::default()
    });
}
