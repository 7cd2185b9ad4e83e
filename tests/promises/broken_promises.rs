//! Each promise on load is kept as a server sees it. If its rule is broken on purpose, the server sees that
//! too, the survey says which promise was broken, and its exit code is 3. The report, which is made from the
//! tables, and the judge that reads the log of the server reach the same verdict.
//!
//! Only builds with the feature `hazards` can break rules.

#![allow(clippy::disallowed_methods)] // The server of these tests has a clock and sockets of its own.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ccsurvey::address::{Host, Site, WebUrl};
use ccsurvey::analysis::Overview;
use ccsurvey::exchange::{Failure, Purpose, Response};
use ccsurvey::promises::{
    Fact, Judge, Judgement, OwnerObjections, PromisedLimits, TreeRequest, TreeRequests, Verdict,
};
use ccsurvey::records::{ExchangeRow, Manifest};
use ccsurvey::robots::Rules;
use ccsurvey::settings::{Budget, LoadLimits, Pace, SharedBudget};
use ccsurvey::space::{Handshake, Lookup, Reaction, Records, ServeSettings, Server, Web, serve};

use crate::common::rows;

/// Hosts and their addresses, for a name server.
#[derive(Clone, Copy)]
struct Names(&'static [(&'static str, [u8; 4])]);

const ONE: Names = Names(&[("shop.ke", [41, 90, 0, 1])]);
/// Two sites on one server.
const SHARED: Names = Names(&[("shop.ke", [41, 90, 0, 1]), ("twin.ke", [41, 90, 0, 1])]);
/// Three servers of one network.
const NEIGHBOURS: Names =
    Names(&[("shop.ke", [41, 90, 0, 1]), ("near.ke", [41, 90, 0, 2]), ("by.ke", [41, 90, 0, 3])]);
/// One of them must not get a request.
const APART: Names = Names(&[("shop.ke", [41, 90, 0, 1]), ("closed.ke", [41, 90, 7, 1])]);
/// One of them is in a private network.
const INNER: Names = Names(&[("shop.ke", [41, 90, 0, 1]), ("closed.ke", [10, 0, 0, 7])]);

impl Names {
    fn address(self, host: &str) -> Option<IpAddr> {
        let Self(list) = self;
        list.iter().find(|(name, _)| *name == host).map(|(_, address)| IpAddr::from(*address))
    }
}

impl Web for Names {
    fn lookup(&self, host: &str) -> Lookup {
        match self.address(host) {
            Some(IpAddr::V4(address)) => Lookup::Found(Records { v4: Some(address), ..Records::default() }),
            _ if host == "ke" => Lookup::Found(Records::default()),
            _ => Lookup::NoSuchName,
        }
    }

    fn handshake(&self, _host: &str) -> Handshake {
        Handshake::Closed
    }

    fn server(&self, host: &str) -> Option<Server> {
        self.address(host).map(Server::alone_at)
    }

    fn respond(&self, _is_https: bool, _host: &str, _target: &str) -> Reaction {
        Reaction::NoSuchHost
    }
}

/// A server with a front page and some pages that it links to, the same for each host.
#[derive(Clone, Copy)]
struct Shop {
    pages: usize,
    /// Delay before the response …
    service_time: Duration,
    /// … of this host; of all if it is empty.
    slow_host: &'static str,
    crawl_delay: Option<u32>,
    /// Status line of the response for `/p2`, and the number of seconds of its Retry-After.
    retry_after: Option<(&'static str, u32)>,
    /// Pages that return 502.
    failing_paths: &'static [&'static str],
    /// Content of robots.txt, apart from a Crawl-delay.
    rules: &'static str,
    /// The response of `closed.ke` for robots.txt.
    closed_robots_status: &'static str,
    page_bytes: usize,
    /// Time that a page takes on the server's link.
    link: Duration,
}

impl Default for Shop {
    fn default() -> Self {
        Self {
            pages: 6,
            service_time: Duration::ZERO,
            slow_host: "",
            crawl_delay: None,
            retry_after: None,
            failing_paths: &[],
            rules: "",
            closed_robots_status: "404 Not Found",
            page_bytes: 0,
            link: Duration::ZERO,
        }
    }
}

/// A request as the server saw it.
#[derive(Clone, Debug)]
struct LoggedRequest {
    host: String,
    path: String,
    status: u16,
    retry_after: Option<Duration>,
    arrived: Instant,
    /// When the first byte of the response was sent.
    responded: Instant,
    ended: Instant,
    bytes: usize,
}

type Log = Arc<Mutex<Vec<LoggedRequest>>>;

impl Shop {
    /// Serves until the process ends.
    fn open(self) -> (String, Log) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, log) = (listener.local_addr().unwrap().to_string(), Log::default());
        let shared_log = log.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let log = shared_log.clone();
                thread::spawn(move || self.response(stream, &log));
            }
        });
        (address, log)
    }

    fn response(self, mut stream: TcpStream, log: &Log) {
        let mut head_bytes = Vec::new();
        let mut byte = [0];
        let mut arrived = None;
        while !head_bytes.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte).unwrap_or(0) == 0 {
                return;
            }
            arrived.get_or_insert_with(Instant::now);
            head_bytes.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head_bytes).to_lowercase();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let host = head.split("\r\nhost: ").nth(1).unwrap_or_default();
        let host = host.split("\r\n").next().unwrap_or_default().to_owned();
        if self.slow_host.is_empty() || self.slow_host == host {
            thread::sleep(self.service_time);
        }
        let (status, head, body) = self.response_to(&host, &path);
        let (mut bytes, responded) = (head.len(), Instant::now());
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
        // When this is recorded, the last piece is in the network, and the next request cannot have been
        // sent.
        let (arrived, ended) = (arrived.unwrap(), Instant::now());
        let retry_after = self.retry_after.filter(|_| path == "/p2");
        let retry_after = retry_after.map(|(_, seconds)| Duration::from_secs(seconds.into()));
        log.lock().unwrap().push(LoggedRequest {
            host,
            path,
            status,
            retry_after,
            arrived,
            responded,
            ended,
            bytes,
        });
    }

    fn response_to(self, host: &str, path: &str) -> (u16, String, String) {
        let (status, extra_headers, body) = match (path, self.crawl_delay, self.retry_after) {
            ("/robots.txt", ..) if host == "closed.ke" => {
                (self.closed_robots_status, String::new(), String::new())
            }
            ("/robots.txt", Some(delay), _) => {
                ("200 OK", String::new(), format!("User-agent: *\nCrawl-delay: {delay}\n"))
            }
            ("/robots.txt", None, _) if !self.rules.is_empty() => {
                ("200 OK", String::new(), self.rules.to_owned())
            }
            ("/robots.txt", None, _) => ("404 Not Found", String::new(), String::new()),
            ("/p2", _, Some((status, seconds))) => {
                (status, format!("Location: /moved\r\nRetry-After: {seconds}\r\n"), String::new())
            }
            (path, ..) if self.failing_paths.contains(&path) => {
                ("502 Bad Gateway", String::new(), String::new())
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
        let head = format!(
            "HTTP/1.1 {status}\r\n{extra_headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        (status[..3].parse().unwrap(), head, body)
    }
}

/// The result of a survey.
struct Surveyed {
    code: i32,
    messages: String,
    verdict: Verdict,
    /// The report's judgement on the same promise.
    reported: Judgement,
    /// In order of arrival.
    log: Vec<LoggedRequest>,
}

/// Surveys hosts that are all served by the shop, with these flags; `broken` holds the environment variables
/// that break a rule.
fn survey(shop: Shop, names: Names, promise: &str, flags: &[&str], broken: &[(&str, &str)]) -> Surveyed {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let served = runtime.block_on(serve(Arc::new(names), ServeSettings::default())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (gateway, log) = shop.open();
    let starts: String = names.0.iter().map(|(host, _)| format!("http://{host}/\n")).collect();
    std::fs::write(folder.path().join("list"), starts).unwrap();
    std::fs::write(folder.path().join("opt-out"), "41.90.7.1\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
        .args(["survey", "d", "--start", "list", "--cctld", "ke", "--feed-back", "off", "--json"])
        .args(["--dns", &served.dns_addr.to_string(), "--gateway", &gateway])
        .args(if flags.contains(&"--rate") { &[][..] } else { &["--rate", "none"] })
        .args(flags)
        .current_dir(folder.path())
        .envs(broken.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    drop(served);
    let mut log = log.lock().unwrap().clone();
    log.sort_by_key(|entry| entry.arrived);
    let (verdict, reported) = recorded_verdicts(&folder.path().join("d"), promise);
    let (code, messages) = (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap());
    Surveyed { code, messages, verdict, reported, log }
}

/// The verdicts of the survey and of the report on a promise.
fn recorded_verdicts(dir: &Path, promise: &str) -> (Verdict, Judgement) {
    let find = |list: Vec<Verdict>| list.into_iter().find(|verdict| verdict.id == promise).expect(promise);
    let reported = find(Overview::load(dir).unwrap().ledger.promises).judgement;
    (find(Manifest::load(dir).unwrap().promises), reported)
}

/// A promise, and how the server sees whether it was kept.
struct PromiseCase<'a> {
    id: &'a str,
    shop: Shop,
    flags: &'a [&'a str],
    /// The limits that the flags promise.
    limits: PromisedLimits,
    broken: &'a [(&'a str, &'a str)],
    is_kept: &'a dyn Fn(&[LoggedRequest]) -> bool,
    names: Names,
    /// Objections of owners to a request that the server saw.
    objections: fn(&LoggedRequest) -> OwnerObjections,
}

impl Default for PromiseCase<'_> {
    fn default() -> Self {
        Self {
            id: "",
            shop: Shop::default(),
            flags: &QUICK,
            limits: limits_with_pace(quick()),
            broken: &[],
            is_kept: &|_| true,
            names: ONE,
            objections: |_| OwnerObjections::default(),
        }
    }
}

impl PromiseCase<'_> {
    #[track_caller]
    fn assert_kept_and_breach_detected(&self) {
        let kept = survey(self.shop, self.names, self.id, self.flags, &[]);
        assert!(kept.log.len() > 3 && (self.is_kept)(&kept.log), "{}: {:#?}", self.id, kept.log);
        assert_eq!(
            (kept.code, kept.verdict.judgement),
            (0, Judgement::Held),
            "{}: {}",
            kept.verdict,
            kept.messages
        );
        assert_eq!(self.judge_log(&kept.log), Judgement::Held, "{}: {:#?}", self.id, kept.log);
        assert_ne!(kept.reported, Judgement::Broken, "{}", self.id);
        let broken = survey(self.shop, self.names, self.id, self.flags, self.broken);
        assert!(broken.log.len() > 3 && !(self.is_kept)(&broken.log), "{}: {:#?}", self.id, broken.log);
        let by_log = self.judge_log(&broken.log);
        let verdicts = [broken.verdict.judgement, broken.reported, by_log];
        assert_eq!((broken.code, verdicts), (3, [Judgement::Broken; 3]), "{}: {}", self.id, broken.messages);
        assert!(
            broken.messages.contains("ccsurvey: error: a load promise was broken: "),
            "{}",
            broken.messages
        );
        note(
            self.id,
            self.broken,
            [kept.log.len(), broken.log.len()],
            "server, survey, report, log".to_owned(),
        );
    }
}

/// Records in the file that `CCSURVEY_BREACHES` names that a promise was kept and broken, with the number of
/// requests of both surveys, and who observed both. `reports/promises` shows it.
fn note(id: &str, broken: &[(&str, &str)], requests: [usize; 2], seen_by: String) {
    let Some(path) = std::env::var_os("CCSURVEY_BREACHES") else { return };
    let broken: Vec<String> = broken.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let [kept, with_breach] = requests;
    let row = serde_json::json!({
        "promise": id, "broken": broken.join(" "), "requests_kept": kept, "requests_broken": with_breach, "seen_by": seen_by,
    });
    let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
    file.write_all(format!("{row}\n").as_bytes()).unwrap();
}

/// The verdict of the same judge if it reads only the log of the server and knows nothing of the survey.
impl PromiseCase<'_> {
    fn judge_log(&self, log: &[LoggedRequest]) -> Judgement {
        // The server sees a request a little after it was sent, and sees late that its own response has
        // arrived.
        let limits = PromisedLimits { rounding: self.limits.rounding.max(MS(100)), ..self.limits.clone() };
        let mut judge = Judge::new(limits, ccsurvey::promises::Observations::default());
        let rules = Rules::parse(self.shop.rules.as_bytes(), "ccsurvey");
        let mut tree_requests = TreeRequests::default();
        for entry in log {
            let (site, address) =
                (Site::new(Host::parse(&entry.host).unwrap()), self.names.address(&entry.host));
            let address = address.unwrap();
            let url = format!("http://{}{}", entry.host, entry.path);
            let is_robots = entry.path == "/robots.txt";
            let purpose = if is_robots { Purpose::Robots } else { Purpose::Page };
            let delay = self.shop.crawl_delay.map(|seconds| Duration::from_secs(seconds.into()));
            let (response, crawl_delay) = (entry.response(log[0].arrived), delay.filter(|_| !is_robots));
            let objections = (self.objections)(entry);
            let parsed_url = WebUrl::parse(&url).unwrap();
            judge.note(&Fact {
                site: &site,
                address,
                purpose,
                url: Some(&parsed_url),
                response: &response,
                crawl_delay,
                objections,
            });
            let is_forbidden = !is_robots && !rules.allows(&parsed_url);
            let (status, failure) = (Some(entry.status), None);
            tree_requests.note(&TreeRequest { url: &url, purpose, status, failure, is_forbidden });
        }
        let bytes: usize = log.iter().map(|entry| entry.bytes).sum();
        let site = Site::new(Host::parse(&log[0].host).unwrap());
        judge.note_tree(&site, [log.len() as u64, bytes as u64], Duration::ZERO, tree_requests.order());
        let verdicts = judge.final_verdicts();
        verdicts.iter().find(|verdict| verdict.id == self.id).unwrap().judgement
    }
}

impl LoggedRequest {
    /// The exchange as the server saw it.
    fn response(&self, first: Instant) -> Response {
        let began = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000) + (self.arrived - first);
        let mut response = Response::not_sent(began, None, Failure::Reset, None);
        (response.status, response.failure) = (Some(self.status), None);
        response.head.content_type = Some("text/html".to_owned());
        response.head.retry_after = self.retry_after;
        response.timings.total = self.ended - self.arrived;
        response.timings.first_byte = Some(self.responded - self.arrived);
        (response.wire.received, response.after_head) = (self.bytes as u64, self.bytes as u64);
        response
    }
}

/// The pauses that [`QUICK`] promises.
fn quick() -> Pace {
    let (min_delay, max_delay) = (MS(5), Duration::from_secs(20));
    Pace { min_delay, factor: 0.0, max_delay, harm: None, ..Pace::default() }
}

fn limits_with_pace(pace: Pace) -> PromisedLimits {
    PromisedLimits { pace, ..PromisedLimits::default() }
}

const QUICK: [&str; 8] =
    ["--min-delay", "5ms", "--delay-factor", "0", "--harm", "none", "--max-delay", "20s"];
const MS: fn(u64) -> Duration = Duration::from_millis;

/// Times from the end of each exchange to the beginning of the next.
fn gaps(log: &[LoggedRequest]) -> Vec<Duration> {
    log.windows(2).map(|pair| pair[1].arrived.saturating_duration_since(pair[0].ended)).collect()
}

fn max_parallel(log: &[LoggedRequest]) -> usize {
    let parallel_at =
        |moment: Instant| log.iter().filter(|entry| (entry.arrived..entry.ended).contains(&moment)).count();
    log.iter().map(|entry| parallel_at(entry.arrived)).max().unwrap_or(0)
}

#[test]
fn one_request_at_a_time_in_a_site_and_at_a_server() {
    for id in ["one_at_a_time_site", "one_at_a_time_address"] {
        PromiseCase {
            id,
            shop: Shop { service_time: MS(200), ..Shop::default() },
            flags: &QUICK,
            limits: limits_with_pace(quick()),
            broken: &[("CCSURVEY_HAZARD", "per-site = 4\nper-address = 4")],
            is_kept: &|log| max_parallel(log) == 1,
            ..PromiseCase::default()
        }
        .assert_kept_and_breach_detected();
    }
}

#[test]
fn the_least_pause() {
    PromiseCase {
        id: "least_pause",
        shop: Shop::default(),
        flags: &["--min-delay", "300ms", "--delay-factor", "0", "--harm", "none", "--max-delay", "20s"],
        limits: limits_with_pace(Pace { min_delay: MS(300), ..quick() }),
        broken: &[("CCSURVEY_HAZARD", "min-delay = \"1ms\"")],
        is_kept: &|log| gaps(log).iter().all(|gap| *gap >= MS(300)),
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn five_times_the_last_exchange() {
    PromiseCase {
        id: "delay_factor",
        shop: Shop { service_time: MS(120), ..Shop::default() },
        flags: &["--min-delay", "5ms", "--delay-factor", "5", "--harm", "none", "--max-delay", "20s"],
        limits: limits_with_pace(Pace { factor: 5.0, ..quick() }),
        broken: &[("CCSURVEY_HAZARD", "delay-factor = 0.0")],
        is_kept: &|log| gaps(log).iter().all(|gap| *gap >= MS(600)),
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn the_pause_that_robots_txt_asks_for() {
    PromiseCase {
        id: "crawl_delay",
        shop: Shop { crawl_delay: Some(1), ..Shop::default() },
        flags: &QUICK,
        limits: limits_with_pace(quick()),
        broken: &[("CCSURVEY_DEAF", "crawl-delay")],
        is_kept: &|log| gaps(log).iter().all(|gap| *gap >= MS(1000)),
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

/// RFC 9110 §10.2.3 does not restrict `Retry-After` to certain statuses.
#[test]
fn the_time_that_a_server_names() {
    for status in [
        "503 Service Unavailable",
        "302 Found",
        "403 Forbidden",
        "404 Not Found",
        "413 Content Too Large",
        "500 Internal Server Error",
        "200 OK",
    ] {
        PromiseCase {
            id: "retry_after",
            shop: Shop { retry_after: Some((status, 2)), ..Shop::default() },
            flags: &QUICK,
            limits: limits_with_pace(quick()),
            broken: &[("CCSURVEY_DEAF", "retry-after")],
            is_kept: &|log| {
                let named = log.iter().position(|entry| entry.path == "/p2").unwrap();
                gaps(log)[named] >= MS(2000)
            },
            ..PromiseCase::default()
        }
        .assert_kept_and_breach_detected();
    }
}

#[test]
fn the_share_of_a_servers_link() {
    PromiseCase {
        id: "harm",
        shop: Shop { page_bytes: 40_000, link: MS(200), ..Shop::default() },
        flags: &["--min-delay", "5ms", "--delay-factor", "0", "--harm", "0.2", "--max-delay", "20s"],
        limits: PromisedLimits {
            // The survey measures another rate than the server.
            rounding: MS(500),
            ..limits_with_pace(Pace { harm: Some(0.2), ..quick() })
        },
        broken: &[("CCSURVEY_HAZARD", "harm = \"none\"")],
        // A fifth of the link means 1 s for a page; the survey measures from its end how fast the page came.
        is_kept: &|log| {
            let pages = log.windows(2).filter(|pair| pair[0].bytes > 1000);
            pages.into_iter().all(|pair| pair[1].arrived.saturating_duration_since(pair[0].ended) >= MS(500))
        },
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn the_bytes_of_a_site() {
    const MAX_BYTES: usize = 900_000;
    PromiseCase {
        id: "byte_budget",
        shop: Shop { pages: 14, page_bytes: 100_000, ..Shop::default() },
        flags: &[&QUICK[..], &["--max-bytes", "900kB"]].concat(),
        limits: PromisedLimits {
            tree: Budget { bytes: Some(MAX_BYTES as u64), ..Budget::default() },
            ..limits_with_pace(quick())
        },
        broken: &[("CCSURVEY_HAZARD", "max-bytes = \"none\"")],
        is_kept: &|log| log.iter().map(|entry| entry.bytes).sum::<usize>() <= MAX_BYTES,
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

/// Twenty-five pages of 400 kB at 1 MB/s. A second's worth or one largest exchange, some 2 MB, may be saved
/// up. The server does not see how much the system's buffers have taken before the survey reads it: one page
/// more in its log.
#[test]
fn the_bytes_of_a_second() {
    const PAGE: usize = 400_000;
    let largest = 2_500_000 + PAGE as u64;
    PromiseCase {
        id: "rate",
        shop: Shop { pages: 24, page_bytes: PAGE, ..Shop::default() },
        flags: &[&QUICK[..], &["--rate", "1MB"]].concat(),
        limits: PromisedLimits { rate: Some(1_000_000), largest, ..limits_with_pace(quick()) },
        broken: &[("CCSURVEY_HAZARD", "rate = \"none\"")],
        is_kept: &|log| {
            let bytes: usize = log.iter().map(|entry| entry.bytes).sum();
            let took = log.last().unwrap().arrived.duration_since(log[0].arrived).as_secs_f64();
            took >= (bytes - 3 * PAGE) as f64 / 1e6 - 2.5
        },
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn the_requests_of_a_site() {
    PromiseCase {
        id: "request_budget",
        shop: Shop { pages: 10, ..Shop::default() },
        flags: &[&QUICK[..], &["--max-requests", "5"]].concat(),
        limits: PromisedLimits {
            tree: Budget { requests: Some(5), ..Budget::default() },
            ..limits_with_pace(quick())
        },
        broken: &[("CCSURVEY_HAZARD", "max-requests = \"none\"")],
        is_kept: &|log| log.len() <= 5,
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn the_requests_of_the_survey() {
    PromiseCase {
        id: "survey_budget",
        shop: Shop { pages: 10, ..Shop::default() },
        flags: &[&QUICK[..], &["--budget", "5"]].concat(),
        limits: limits_with_pace(quick()).with_survey_budget(Some(5)),
        broken: &[("CCSURVEY_HAZARD", "budget = 9")],
        is_kept: &|log| log.len() <= 5,
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn the_longer_pause_of_a_server_in_trouble() {
    PromiseCase {
        id: "back_off",
        shop: Shop { failing_paths: &["/p2"], ..Shop::default() },
        flags: &["--min-delay", "400ms", "--delay-factor", "0", "--harm", "none", "--max-delay", "20s"],
        limits: limits_with_pace(Pace { min_delay: MS(400), ..quick() }),
        broken: &[("CCSURVEY_DEAF", "trouble")],
        is_kept: &|log| {
            let failed = log.iter().position(|entry| entry.path == "/p2").unwrap();
            gaps(log)[failed] >= MS(800)
        },
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn the_rest_of_a_server_in_trouble_again_and_again() {
    PromiseCase {
        id: "put_off",
        shop: Shop { failing_paths: &["/p1", "/p2", "/p3", "/p4", "/p5"], ..Shop::default() },
        flags: &["--min-delay", "5ms", "--delay-factor", "0", "--harm", "none", "--max-delay", "200ms"],
        limits: limits_with_pace(Pace { max_delay: MS(200), ..quick() }),
        broken: &[("CCSURVEY_DEAF", "trouble")],
        is_kept: &|log| {
            let failed = log.iter().position(|entry| entry.path == "/p5").unwrap();
            gaps(log)[failed] >= MS(1000)
        },
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn what_robots_txt_forbids() {
    PromiseCase {
        id: "robots_rules",
        shop: Shop { rules: "User-agent: *\nDisallow: /p3\n", ..Shop::default() },
        flags: &QUICK,
        limits: limits_with_pace(quick()),
        broken: &[("CCSURVEY_DEAF", "robots")],
        is_kept: &|log| log.iter().all(|entry| entry.path != "/p3"),
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

const OPTED_OUT: fn(&LoggedRequest) -> OwnerObjections =
    |entry| OwnerObjections { had_opted_out: entry.host == "closed.ke", ..OwnerObjections::default() };

fn never_closed(log: &[LoggedRequest]) -> bool {
    log.iter().all(|entry| entry.host != "closed.ke")
}

#[test]
fn whoever_opted_out() {
    PromiseCase {
        id: "opt_out",
        names: APART,
        flags: &[&QUICK[..], &["--opt-out", "opt-out"]].concat(),
        broken: &[("CCSURVEY_DEAF", "opt-out")],
        is_kept: &never_closed,
        objections: OPTED_OUT,
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn special_addresses() {
    PromiseCase {
        id: "special_addresses",
        names: INNER,
        broken: &[("CCSURVEY_HAZARD", "permit-special-addresses = true")],
        is_kept: &never_closed,
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn pages_of_a_host_without_robots_txt() {
    PromiseCase {
        id: "robots_unreachable",
        names: APART,
        shop: Shop { closed_robots_status: "500 Internal Server Error", ..Shop::default() },
        broken: &[("CCSURVEY_DEAF", "robots-status")],
        is_kept: &|log| log.iter().all(|entry| entry.host != "closed.ke" || entry.path == "/robots.txt"),
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn robots_txt_before_pages() {
    PromiseCase {
        id: "robots_first",
        broken: &[("CCSURVEY_DEAF", "robots-first")],
        is_kept: &|log| log[0].path == "/robots.txt",
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn no_page_twice() {
    PromiseCase {
        id: "once",
        broken: &[("CCSURVEY_DEAF", "once")],
        is_kept: &|log| {
            log.iter().all(|entry| log.iter().filter(|other| other.path == entry.path).count() == 1)
        },
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn one_request_at_a_time_in_a_neighbourhood() {
    PromiseCase {
        id: "one_at_a_time_neighbourhood",
        names: NEIGHBOURS,
        shop: Shop { service_time: MS(200), ..Shop::default() },
        flags: &[&QUICK[..], &["--per-neighbourhood", "1"]].concat(),
        limits: limits_with_pace(Pace { per_neighbourhood: Some(1), ..quick() }),
        broken: &[("CCSURVEY_HAZARD", "per-neighbourhood = \"none\"")],
        is_kept: &|log| max_parallel(log) == 1,
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

#[test]
fn the_least_pause_in_a_neighbourhood() {
    let slow = ["--min-delay", "300ms", "--delay-factor", "0", "--harm", "none", "--max-delay", "20s"];
    PromiseCase {
        id: "least_pause_neighbourhood",
        names: NEIGHBOURS,
        // With equal servers three walks keep step: each pause would end as those of the others do.
        shop: Shop { service_time: MS(100), slow_host: "near.ke", ..Shop::default() },
        flags: &[&slow[..], &["--per-neighbourhood", "1"]].concat(),
        limits: limits_with_pace(Pace { min_delay: MS(300), per_neighbourhood: Some(1), ..quick() }),
        broken: &[("CCSURVEY_HAZARD", "per-neighbourhood = \"none\"")],
        is_kept: &|log| gaps(log).iter().all(|gap| *gap >= MS(300)),
        ..PromiseCase::default()
    }
    .assert_kept_and_breach_detected();
}

/// The load on a server from all its sites, and on its network from all servers.
#[test]
fn what_a_server_and_a_network_bear() {
    let nine = || {
        let in_all = LoadLimits { requests: Some(9), ..LoadLimits::default() };
        SharedBudget { in_all, ..SharedBudget::default() }
    };
    for (id, flag, key, limits) in [
        (
            "server_requests",
            "--max-server-requests",
            "max-server-requests",
            PromisedLimits { server: nine(), ..limits_with_pace(quick()) },
        ),
        (
            "network_requests",
            "--max-network-requests",
            "max-network-requests",
            PromisedLimits { network: nine(), ..limits_with_pace(quick()) },
        ),
    ] {
        PromiseCase {
            id,
            names: SHARED,
            flags: &[&QUICK[..], &[flag, "9"]].concat(),
            broken: &[("CCSURVEY_HAZARD", &format!("{key} = 1000"))],
            is_kept: &|log| log.len() <= 9,
            limits,
            ..PromiseCase::default()
        }
        .assert_kept_and_breach_detected();
    }
}

/// Three hours of quiet in Nairobi, which is three hours ahead of UTC and has no daylight saving time, around
/// the time this many hours from now.
fn quiet_hours(hours_from_now: u64) -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / 3600;
    let clock_hour = |ahead: u64| (since + 3 + hours_from_now + ahead) % 24;
    format!("{:02}:00-{:02}:00", clock_hour(23), clock_hour(2))
}

#[test]
fn the_quiet_hours_of_a_server() {
    let surveyed = |hours: &str, broken: &[(&str, &str)]| {
        let flags = [&QUICK[..], &["--quiet-hours", hours]].concat();
        survey(Shop::default(), ONE, "quiet_hours", &flags, broken)
    };
    let kept = surveyed(&quiet_hours(12), &[]);
    assert_eq!((kept.code, kept.verdict.judgement), (0, Judgement::Held), "{}", kept.messages);
    // The tables do not contain the local time of a server.
    assert_eq!(kept.reported, Judgement::NotJudged);
    let hazard = [("CCSURVEY_HAZARD", "quiet-hours = \"none\"")];
    let broken = surveyed(&quiet_hours(0), &hazard);
    assert!(broken.log.len() > 3, "requests within the quiet hours");
    assert_eq!((broken.code, broken.verdict.judgement), (3, Judgement::Broken), "{}", broken.messages);
    note("quiet_hours", &hazard, [kept.log.len(), broken.log.len()], "server, survey".to_owned());
}

/// In addition to its time budget, a site may wait five minutes for its turn, so this test uses simulated
/// time, which the tables contain.
#[test]
fn the_time_of_a_site() {
    let folder = tempfile::tempdir().unwrap();
    let world = "seed = 4\n[sites]\ncount = 1\nstart_share = 1.0\none_page_share = 0.0\nbrochure_share = 0.0\ncms_share = 1.0\n\
                 large_share = 0.0\ncms_median = 300.0\ncms_sigma = 0.1\n[robots]\nall_share = 0.0\n[faults]\nmoved_share = 0.0\n\
                 reset_share = 0.0\nno_dns_share = 0.0\n";
    std::fs::write(folder.path().join("world.toml"), world).unwrap();
    let mut requests = Vec::new();
    for (dir, hazard, code, judgement) in
        [("kept", "", 0, Judgement::Held), ("broken", "max-time = \"none\"", 3, Judgement::Broken)]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
            .args(["simulate", "world.toml", dir, "--max-time", "1m", "--feed-back", "off", "--rate", "none"])
            .args([
                "--harm",
                "none",
                "--delay-factor",
                "0",
                "--min-delay",
                "5s",
                "--max-delay",
                "5s",
                "--json",
            ])
            .current_dir(folder.path())
            .env("CCSURVEY_HAZARD", hazard)
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        let (verdict, reported) = recorded_verdicts(&folder.path().join(dir), "time_budget");
        let all = (output.status.code(), verdict.judgement, reported);
        assert_eq!(all, (Some(code), judgement, judgement), "{dir}: {verdict}: {messages}");
        let rows = rows::<ExchangeRow>(&folder.path().join(dir)).into_iter();
        let mut times: Vec<SystemTime> = rows.map(|row| row.started.into()).collect();
        times.sort_unstable();
        let took = times.last().unwrap().duration_since(times[0]).unwrap();
        let allowed = Duration::from_secs(60 + 300);
        assert_eq!(took <= allowed, judgement == Judgement::Held, "{dir}: {took:?}");
        requests.push(times.len());
    }
    let hazard = [("CCSURVEY_HAZARD", "max-time = \"none\"")];
    note("time_budget", &hazard, [requests[0], requests[1]], "survey, report".to_owned());
}
