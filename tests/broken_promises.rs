//! Each promise on load is kept as a server sees it; and where its rule is broken on purpose, the server sees that too, the
//! survey says which promise was broken, and its exit code is 3.
//!
//! Rules can be broken in builds with the feature `hazards` only:
//!
//! ```text
//! cargo test --features hazards --test broken_promises
//! ```

#![allow(clippy::disallowed_methods)] // The server of these tests has a clock and sockets of its own.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ccsurvey::records::{Judgement, Manifest};
use common::Space;

/// A server with a front page and some pages that it links to.
#[derive(Clone, Copy)]
struct Shop {
    pages: usize,
    /// Before it answers.
    thinks: Duration,
    crawl_delay: Option<u32>,
    /// `/p2` is refused with a Retry-After of so many seconds.
    retry_after: Option<u32>,
    page_bytes: usize,
    /// The time that a page takes on its link.
    link: Duration,
}

impl Default for Shop {
    fn default() -> Self {
        Self {
            pages: 6,
            thinks: Duration::ZERO,
            crawl_delay: None,
            retry_after: None,
            page_bytes: 0,
            link: Duration::ZERO,
        }
    }
}

/// A request as the server saw it.
#[derive(Clone, Debug)]
struct Seen {
    path: String,
    arrived: Instant,
    ended: Instant,
    bytes: usize,
}

type Log = Arc<Mutex<Vec<Seen>>>;

impl Shop {
    /// Serves until the process ends.
    fn open(self) -> (String, Log) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, log) = (listener.local_addr().unwrap().to_string(), Log::default());
        let noted = log.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let log = noted.clone();
                thread::spawn(move || self.answer(stream, &log));
            }
        });
        (address, log)
    }

    fn answer(self, mut stream: TcpStream, log: &Log) {
        let mut asked = Vec::new();
        let mut byte = [0];
        let mut arrived = None;
        while !asked.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte).unwrap_or(0) == 0 {
                return;
            }
            arrived.get_or_insert_with(Instant::now);
            asked.push(byte[0]);
        }
        let path = String::from_utf8_lossy(&asked).split(' ').nth(1).unwrap_or_default().to_owned();
        thread::sleep(self.thinks);
        let (head, body) = self.reply(&path);
        let mut bytes = head.len();
        let _ = stream.write_all(head.as_bytes());
        let pieces = 20;
        for piece in body.as_bytes().chunks((body.len() / pieces).max(1)) {
            if body.len() > 1000 {
                thread::sleep(self.link / pieces as u32);
            }
            if stream.write_all(piece).is_err() {
                break;
            }
            bytes += piece.len();
        }
        // The last piece is in the network when this is noted, and the next request cannot have been sent.
        let (arrived, ended) = (arrived.unwrap(), Instant::now());
        log.lock().unwrap().push(Seen { path, arrived, ended, bytes });
    }

    fn reply(self, path: &str) -> (String, String) {
        let (status, more, body) = match (path, self.crawl_delay, self.retry_after) {
            ("/robots.txt", Some(delay), _) => {
                ("200 OK", String::new(), format!("User-agent: *\nCrawl-delay: {delay}\n"))
            }
            ("/robots.txt", None, _) => ("404 Not Found", String::new(), String::new()),
            ("/p2", _, Some(seconds)) => {
                ("503 Service Unavailable", format!("Retry-After: {seconds}\r\n"), String::new())
            }
            _ => {
                let links: String = (1..=self.pages).map(|n| format!("<a href=/p{n}>{n}</a>")).collect();
                let filling = "x".repeat(self.page_bytes);
                (
                    "200 OK",
                    "Content-Type: text/html\r\n".to_owned(),
                    format!("<title>{path}</title>{links}<p>{filling}"),
                )
            }
        };
        let length = body.len();
        (format!("HTTP/1.1 {status}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n"), body)
    }
}

/// What came of a survey.
struct Surveyed {
    code: i32,
    said: String,
    verdict: (Judgement, String),
    /// In the order of arrival.
    log: Vec<Seen>,
}

/// Surveys the shop with these flags; `broken` are the environment variables that break a rule.
fn survey(shop: Shop, promise: &str, flags: &[&str], broken: &[(&str, &str)]) -> Surveyed {
    let space = Space::serve("a_site_with_one_page");
    let folder = tempfile::tempdir().unwrap();
    let (gateway, log) = shop.open();
    let list = folder.path().join("list");
    std::fs::write(&list, space.starts()[0].door().as_str()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
        .args(["survey", "d", "--start", "list", "--cctld", "ke", "--feed-back", "off", "--json"])
        .args(["--dns", &space.dns(), "--gateway", &gateway, "--max-delay", "20s"])
        .args(["--rate", "none"])
        .args(flags)
        .current_dir(folder.path())
        .envs(broken.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    let mut log = log.lock().unwrap().clone();
    log.sort_by_key(|seen| seen.arrived);
    Surveyed {
        code: output.status.code().unwrap(),
        said: String::from_utf8(output.stderr).unwrap(),
        verdict: verdict(&folder.path().join("d"), promise),
        log,
    }
}

fn verdict(dir: &Path, promise: &str) -> (Judgement, String) {
    let promises = Manifest::load(dir).unwrap().promises;
    let found = promises.iter().find(|verdict| verdict.id == promise).expect(promise);
    (found.judgement, found.to_string())
}

/// A promise, and how the server sees whether it was kept.
struct Promised<'a> {
    id: &'a str,
    shop: Shop,
    flags: &'a [&'a str],
    broken: &'a [(&'a str, &'a str)],
    is_kept: &'a dyn Fn(&[Seen]) -> bool,
}

impl Promised<'_> {
    #[track_caller]
    fn is_kept_and_its_breach_is_seen(&self) {
        let kept = survey(self.shop, self.id, self.flags, &[]);
        assert!(kept.log.len() > 3 && (self.is_kept)(&kept.log), "{}: {:#?}", self.id, kept.log);
        assert_eq!((kept.code, kept.verdict.0), (0, Judgement::Held), "{}: {}", kept.verdict.1, kept.said);
        let broken = survey(self.shop, self.id, self.flags, self.broken);
        assert!(broken.log.len() > 3 && !(self.is_kept)(&broken.log), "{}: {:#?}", self.id, broken.log);
        assert_eq!((broken.code, broken.verdict.0), (3, Judgement::Broken), "{}: {}", self.id, broken.said);
        assert!(broken.said.contains("ccsurvey: error: a load promise was broken: "), "{}", broken.said);
    }
}

const QUICK: [&str; 6] = ["--min-delay", "5ms", "--delay-factor", "0", "--link-share", "none"];
const MS: fn(u64) -> Duration = Duration::from_millis;

/// From the end of each exchange to the beginning of the next.
fn gaps(log: &[Seen]) -> Vec<Duration> {
    log.windows(2).map(|pair| pair[1].arrived.saturating_duration_since(pair[0].ended)).collect()
}

fn most_at_once(log: &[Seen]) -> usize {
    let at = |moment: Instant| log.iter().filter(|seen| (seen.arrived..seen.ended).contains(&moment)).count();
    log.iter().map(|seen| at(seen.arrived)).max().unwrap_or(0)
}

#[test]
fn one_request_at_a_time_in_a_site_and_at_a_server() {
    for id in ["one_at_a_time_site", "one_at_a_time_address"] {
        Promised {
            id,
            shop: Shop { thinks: MS(200), ..Shop::default() },
            flags: &QUICK,
            broken: &[("CCSURVEY_HAZARD", "per-site = 4\nper-address = 4")],
            is_kept: &|log| most_at_once(log) == 1,
        }
        .is_kept_and_its_breach_is_seen();
    }
}

#[test]
fn the_least_pause() {
    Promised {
        id: "least_pause",
        shop: Shop::default(),
        flags: &["--min-delay", "300ms", "--delay-factor", "0", "--link-share", "none"],
        broken: &[("CCSURVEY_HAZARD", "min-delay = \"1ms\"")],
        is_kept: &|log| gaps(log).iter().all(|gap| *gap >= MS(300)),
    }
    .is_kept_and_its_breach_is_seen();
}

#[test]
fn five_times_the_last_exchange() {
    Promised {
        id: "delay_factor",
        shop: Shop { thinks: MS(120), ..Shop::default() },
        flags: &["--min-delay", "5ms", "--delay-factor", "5", "--link-share", "none"],
        broken: &[("CCSURVEY_HAZARD", "delay-factor = 0.0")],
        is_kept: &|log| gaps(log).iter().all(|gap| *gap >= MS(600)),
    }
    .is_kept_and_its_breach_is_seen();
}

#[test]
fn the_pause_that_robots_txt_asks_for() {
    Promised {
        id: "crawl_delay",
        shop: Shop { crawl_delay: Some(1), ..Shop::default() },
        flags: &QUICK,
        broken: &[("CCSURVEY_DEAF", "crawl-delay")],
        is_kept: &|log| gaps(log).iter().all(|gap| *gap >= MS(1000)),
    }
    .is_kept_and_its_breach_is_seen();
}

#[test]
fn the_time_that_a_server_names() {
    Promised {
        id: "retry_after",
        shop: Shop { retry_after: Some(2), ..Shop::default() },
        flags: &QUICK,
        broken: &[("CCSURVEY_DEAF", "retry-after")],
        is_kept: &|log| {
            let refused = log.iter().position(|seen| seen.path == "/p2").unwrap();
            gaps(log)[refused] >= MS(2000)
        },
    }
    .is_kept_and_its_breach_is_seen();
}

#[test]
fn the_share_of_a_servers_link() {
    Promised {
        id: "link_share",
        shop: Shop { page_bytes: 40_000, link: MS(200), ..Shop::default() },
        flags: &["--min-delay", "5ms", "--delay-factor", "0", "--link-share", "0.2"],
        broken: &[("CCSURVEY_HAZARD", "link-share = \"none\"")],
        // A fifth of the link is 1 s for a page; how fast it came is measured from the other end.
        is_kept: &|log| {
            let pages = log.windows(2).filter(|pair| pair[0].bytes > 1000);
            pages.into_iter().all(|pair| pair[1].arrived.saturating_duration_since(pair[0].ended) >= MS(500))
        },
    }
    .is_kept_and_its_breach_is_seen();
}

#[test]
fn the_bytes_of_a_site() {
    const MOST: usize = 900_000;
    Promised {
        id: "byte_budget",
        shop: Shop { pages: 14, page_bytes: 100_000, ..Shop::default() },
        flags: &[&QUICK[..], &["--max-bytes", "900kB"]].concat(),
        broken: &[("CCSURVEY_HAZARD", "max-bytes = \"none\"")],
        is_kept: &|log| log.iter().map(|seen| seen.bytes).sum::<usize>() <= MOST,
    }
    .is_kept_and_its_breach_is_seen();
}
