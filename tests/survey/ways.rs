//! Fallbacks: hosts with several addresses, of which some are dead, and servers with old TLS. Over sockets
//! and a name server on loopback; the servers with old TLS are openssl's (`tests/setup` installs it).
#![allow(clippy::disallowed_methods)] // Name server and servers of the tests have sockets of their own.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use ccsurvey::address::WebUrl;
use ccsurvey::records::{ExchangeRow, SiteRow};
use ccsurvey::settings::Entrances;
use ccsurvey::settings::Settings;
use ccsurvey::survey::{Ending, Survey};
use hickory_proto::op::Message;
use hickory_proto::rr::rdata::{A, AAAA};
use hickory_proto::rr::{RData, Record};
use tokio::sync::watch;

use crate::common::ports::free_port;
use crate::common::waiting::until;
use crate::common::{TimelessTables, almost_without_pauses, assert_same_tables, rows, timeless_tables};

/// Pages of every site: three, and no robots.txt.
const PAGES: [(&str, &str); 3] = [("/", "<a href=/a>a</a><a href=/b>b</a>"), ("/a", "a"), ("/b", "b")];

/// A name server, and servers that all listen at one port of different addresses.
struct Net {
    dns: SocketAddr,
    port: u16,
    queried_names: Arc<Mutex<Vec<String>>>,
    /// The address and the path of each request.
    requests: Arc<Mutex<Vec<(IpAddr, String)>>>,
}

const STATUS_LINE: &str = "HTTP/1.1 ";
/// With two spaces, which browsers tolerate and the HTTP library does not.
const ODD_STATUS_LINE: &str = "HTTP/1.1  ";

/// Called with each request before the response.
type Hook = Arc<dyn Fn(&str) + Send + Sync>;

impl Net {
    /// Hosts with their addresses; servers listen at the addresses in `alive`.
    fn with_hosts(hosts: &[(&str, &[&str])], alive: &[&str]) -> Self {
        Self::watched(hosts, alive, STATUS_LINE, Arc::new(|_| {}))
    }

    /// The same with the beginning of all status lines, and a hook for requests.
    fn watched(hosts: &[(&str, &[&str])], alive: &[&str], status_line: &'static str, hook: Hook) -> Self {
        let requests = Arc::<Mutex<Vec<_>>>::default();
        let mut port = 0;
        for address in alive {
            let listener = TcpListener::bind((address.parse::<IpAddr>().unwrap(), port)).unwrap();
            port = listener.local_addr().unwrap().port();
            let (requests, hook) = (requests.clone(), hook.clone());
            thread::spawn(move || {
                for stream in listener.incoming() {
                    let (requests, hook) = (requests.clone(), hook.clone());
                    thread::spawn(move || serve(stream.unwrap(), status_line, &requests, &hook));
                }
            });
        }
        let queried_names = Arc::<Mutex<Vec<String>>>::default();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let dns = socket.local_addr().unwrap();
        let hosts: HashMap<String, Vec<IpAddr>> = hosts
            .iter()
            .map(|(host, addresses)| {
                (format!("{host}."), addresses.iter().map(|text| text.parse().unwrap()).collect())
            })
            .collect();
        let query_log = queried_names.clone();
        thread::spawn(move || serve_names(&socket, &hosts, &query_log));
        Self { dns, port, queried_names, requests }
    }

    fn settings(&self) -> Settings {
        Settings {
            permit_special_addresses: true,
            // Other tests check what other doors deliver.
            entrances: Entrances::UpTo(1),
            ..almost_without_pauses(self.dns)
        }
    }

    fn start(&self, host: &str) -> Vec<WebUrl> {
        vec![WebUrl::parse(&format!("http://{host}:{}/", self.port)).unwrap()]
    }

    fn requests_at(&self, address: &str) -> Vec<String> {
        let address: IpAddr = address.parse().unwrap();
        let requests = self.requests.lock().unwrap();
        requests
            .iter()
            .filter(|(host_address, _)| *host_address == address)
            .map(|(_, target)| target.clone())
            .collect()
    }
}

fn serve_names(socket: &UdpSocket, hosts: &HashMap<String, Vec<IpAddr>>, query_log: &Mutex<Vec<String>>) {
    let mut packet = [0; 1500];
    while let Ok((length, client)) = socket.recv_from(&mut packet) {
        let message = Message::from_vec(&packet[..length]).unwrap();
        let query = message.queries[0].clone();
        let (name, kind) = (query.name().clone(), query.query_type());
        query_log.lock().unwrap().push(format!("{name} {kind}"));
        let mut reply = Message::response(message.metadata.id, message.metadata.op_code);
        reply.add_query(query);
        for address in hosts.get(&name.to_string()).into_iter().flatten() {
            let data = match address {
                IpAddr::V4(ip) => RData::A(A(*ip)),
                IpAddr::V6(ip) => RData::AAAA(AAAA(*ip)),
            };
            if data.record_type() == kind {
                reply.add_answer(Record::from_rdata(name.clone(), 3600, data));
            }
        }
        socket.send_to(&reply.to_vec().unwrap(), client).unwrap();
    }
}

fn serve(mut stream: TcpStream, status_line: &str, requests: &Mutex<Vec<(IpAddr, String)>>, hook: &Hook) {
    let address = stream.local_addr().unwrap().ip();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            lines.push(line);
        }
        let target = lines[0].split(' ').nth(1).unwrap().to_owned();
        requests.lock().unwrap().push((address, target.clone()));
        hook(&target);
        let page = PAGES.iter().find(|(path, _)| *path == target).map(|(_, page)| *page);
        let status = if page.is_some() { "200 OK" } else { "404 Not Found" };
        let page = page.unwrap_or_default();
        let length = page.len();
        let head =
            format!("{status_line}{status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n");
        if stream.write_all(format!("{head}{page}").as_bytes()).is_err() {
            return;
        }
    }
}

fn run(survey: Survey, stop: watch::Receiver<bool>) -> Ending {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(survey.run(stop)).unwrap()
}

fn survey(settings: Settings, start: &[WebUrl]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (survey, _) = Survey::create(&folder.path().join("survey"), settings, start).unwrap();
    let (_keep, stop) = watch::channel(false);
    assert!(run(survey, stop).is_finished);
    folder
}

/// Number, attempt, address and failure of each exchange.
fn attempts(dir: &Path) -> Vec<(u32, u16, String, Option<String>)> {
    let mut attempts: Vec<_> = rows::<ExchangeRow>(dir)
        .into_iter()
        .map(|row| (row.number, row.attempt.unwrap(), row.address.unwrap_or_default(), row.failure))
        .collect();
    attempts.sort();
    attempts
}

fn refused(number: u32, attempt: u16, address: &str) -> (u32, u16, String, Option<String>) {
    (number, attempt, address.to_owned(), Some("connect_refused".to_owned()))
}

#[test]
fn a_host_with_a_dead_address_is_walked_at_its_next_one() {
    let net = Net::with_hosts(&[("two.ke", &["127.0.1.1", "127.0.1.2"])], &["127.0.1.2"]);
    let folder = survey(net.settings(), &net.start("two.ke"));
    let dir = folder.path().join("survey");
    let site = rows::<SiteRow>(&dir).remove(0);
    assert_eq!(
        (site.outcome.as_str(), site.pages, site.address.as_deref()),
        ("complete", 3, Some("127.0.1.2"))
    );
    assert_eq!(net.requests_at("127.0.1.2"), ["/robots.txt", "/", "/a", "/b"]);
    // The dead address was tried once in the tree, and each attempt is an exchange of the site.
    let responded = |number, attempt| (number, attempt, "127.0.1.2".to_owned(), None);
    let expected =
        [refused(0, 0, "127.0.1.1"), responded(0, 1), responded(1, 0), responded(2, 0), responded(3, 0)];
    assert_eq!(attempts(&dir), expected);
    assert_eq!((site.requests, site.robots_requests), (5, 2));
    let query_log = net.queried_names.lock().unwrap();
    assert_eq!(
        query_log.iter().filter(|query| *query == "two.ke. A").count(),
        1,
        "all addresses came at once: {query_log:?}"
    );
}

#[test]
fn ipv6_is_tried_where_all_of_ipv4_is_dead() {
    let net = Net::with_hosts(&[("six.ke", &["127.0.1.1", "::1"]), ("alone.ke", &["::1"])], &["::1"]);
    let start = [net.start("six.ke"), net.start("alone.ke")].concat();
    let folder = survey(net.settings(), &start);
    let mut sites = rows::<SiteRow>(&folder.path().join("survey"));
    sites.sort_by(|a, b| a.site.cmp(&b.site));
    let found: Vec<_> = sites.iter().map(|row| (row.pages, row.address.as_deref(), row.requests)).collect();
    assert_eq!(found, [(3, Some("::1"), 4), (3, Some("::1"), 5)]);
}

#[test]
fn of_a_host_whose_every_address_is_dead_three_are_tried() {
    let addresses = &["127.0.1.4", "127.0.1.3", "127.0.1.2", "127.0.1.1"];
    let net = Net::with_hosts(&[("dead.ke", addresses)], &["127.0.1.9"]);
    let folder = survey(net.settings(), &net.start("dead.ke"));
    let dir = folder.path().join("survey");
    let expected = [refused(0, 0, "127.0.1.1"), refused(0, 1, "127.0.1.2"), refused(0, 2, "127.0.1.3")];
    assert_eq!(attempts(&dir)[..3], expected);
    let site = rows::<SiteRow>(&dir).remove(0);
    assert_eq!((site.outcome.as_str(), site.pages), ("unreachable", 0));
}

#[test]
fn tries_count_into_the_budget_of_their_site() {
    let addresses = &["127.0.1.1", "127.0.1.2", "127.0.1.3"];
    let net = Net::with_hosts(&[("dead.ke", addresses)], &["127.0.1.9"]);
    let settings = Settings { max_requests: Some(2), ..net.settings() };
    let folder = survey(settings, &net.start("dead.ke"));
    let dir = folder.path().join("survey");
    assert_eq!(attempts(&dir), [refused(0, 0, "127.0.1.1"), refused(0, 1, "127.0.1.2")]);
    assert_eq!(rows::<SiteRow>(&dir)[0].outcome, "request_budget");
}

#[test]
fn many_sites_that_share_a_dead_address_all_go_on_at_their_own() {
    let hosts: Vec<String> = (1..=6).map(|number| format!("site{number}.ke")).collect();
    let own: Vec<String> = (1..=6).map(|number| format!("127.0.2.{number}")).collect();
    let addresses: Vec<[&str; 2]> = own.iter().map(|own| ["127.0.1.1", own.as_str()]).collect();
    let table: Vec<(&str, &[&str])> =
        hosts.iter().zip(&addresses).map(|(host, them)| (host.as_str(), &them[..])).collect();
    let alive: Vec<&str> = own.iter().map(String::as_str).collect();
    let net = Net::with_hosts(&table, &alive);
    let start: Vec<WebUrl> = hosts.iter().flat_map(|host| net.start(host)).collect();
    let folder = survey(Settings { sites: 4, ..net.settings() }, &start);
    let sites = rows::<SiteRow>(&folder.path().join("survey"));
    assert!(sites.iter().all(|site| site.pages == 3), "{sites:?}");
    for own in alive {
        assert_eq!(net.requests_at(own).len(), 4, "{own}");
    }
}

/// An openssl server that speaks only what `flags` say, at its own address and port.
struct OldServer {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for OldServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl OldServer {
    fn start_with_flags(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("openssl")
            .args(
                "req -x509 -newkey rsa:2048 -nodes -subj /CN=old.ke -keyout key.pem -out cert.pem".split(' '),
            )
            .current_dir(&folder)
            .stderr(Stdio::null())
            .status();
        assert!(made.expect("this test needs the program openssl").success());
        let port = free_port(Ipv4Addr::new(127, 0, 1, 7));
        let process = Command::new("openssl")
            .args(["s_server", "-quiet", "-www", "-accept", &format!("127.0.1.7:{port}")])
            .args(["-key", "key.pem", "-cert", "cert.pem"])
            .args(flags)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until(|| TcpStream::connect(("127.0.1.7", port)).is_ok());
        Self { process, port, _folder: folder }
    }
}

#[test]
fn a_server_whose_tls_is_too_old_is_asked_once_more_and_tells_what_it_speaks() {
    for (flags, version, cipher) in [
        (&["-tls1", "-cipher", "AES128-SHA:@SECLEVEL=0"][..], "TLSv1.0", "TLS_RSA_WITH_AES_128_CBC_SHA"),
        (&["-tls1_1", "-cipher", "AES256-SHA:@SECLEVEL=0"], "TLSv1.1", "TLS_RSA_WITH_AES_256_CBC_SHA"),
        (&["-tls1_2", "-cipher", "AES128-SHA256"], "TLSv1.2", "TLS_RSA_WITH_AES_128_CBC_SHA256"),
        (&["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA"], "TLSv1.2", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
    ] {
        let server = OldServer::start_with_flags(flags);
        let net = Net::with_hosts(&[("old.ke", &["127.0.1.7"])], &["127.0.1.9"]);
        let start = [WebUrl::parse(&format!("https://old.ke:{}/", server.port)).unwrap()];
        let folder = survey(net.settings(), &start);
        let mut found = rows::<ExchangeRow>(&folder.path().join("survey"));
        found.sort_by_key(|row| (row.number, row.attempt));
        let [refused, retried] = &found[..] else { panic!("{found:?}") };
        assert!(["tls_too_old", "tls_alert"].contains(&refused.failure.as_deref().unwrap()));
        assert_eq!(
            (retried.number, retried.attempt, retried.failure.as_deref()),
            (0, Some(1), Some("tls_too_old"))
        );
        assert_eq!(
            (retried.tls_version.as_deref(), retried.tls_cipher.as_deref()),
            (Some(version), Some(cipher))
        );
    }
}

#[test]
fn a_server_of_today_that_refuses_us_is_not_too_old_and_greeted_again_only_where_that_can_tell_more() {
    for (flags, failure, exchanges) in [
        (
            &[
                "-tls1_3",
                "-servername",
                "a.ke",
                "-servername_fatal",
                "-cert2",
                "cert.pem",
                "-key2",
                "key.pem",
            ][..],
            "tls_alert",
            1,
        ),
        (&["-tls1_2", "-Verify", "1"], "tls_alert", 1),
        (&["-alpn", "h2"], "tls_http2_only", 1),
        // No common group for the key exchange, and no version with the older ClientHello.
        (&["-tls1_3", "-groups", "P-521"], "tls_alert", 2),
    ] {
        let server = OldServer::start_with_flags(flags);
        let net = Net::with_hosts(&[("old.ke", &["127.0.1.7"])], &["127.0.1.9"]);
        let start = [WebUrl::parse(&format!("https://old.ke:{}/", server.port)).unwrap()];
        let found = rows::<ExchangeRow>(&survey(net.settings(), &start).path().join("survey"));
        let failures: Vec<_> = found.iter().map(|row| row.failure.as_deref()).collect();
        assert_eq!(failures, vec![Some(failure); exchanges], "{flags:?}");
    }
}

#[test]
fn a_server_that_refuses_old_tls_too_is_asked_once_more_only() {
    for (description, failure) in [(70, "tls_too_old"), (40, "tls_alert")] {
        let listener = TcpListener::bind("127.0.1.8:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut hello = [0; 4096];
                let _ = stream.read(&mut hello);
                let _ = stream.write_all(&[21, 3, 1, 0, 2, 2, description]);
            }
        });
        let net = Net::with_hosts(&[("older.ke", &["127.0.1.8"])], &["127.0.1.9"]);
        let start = [WebUrl::parse(&format!("https://older.ke:{port}/")).unwrap()];
        let mut found = rows::<ExchangeRow>(&survey(net.settings(), &start).path().join("survey"));
        found.sort_by_key(|row| (row.number, row.attempt));
        let failures: Vec<_> = found.iter().map(|row| (row.attempt, row.failure.as_deref())).collect();
        assert_eq!(failures, [(Some(0), Some(failure)), (Some(1), Some(failure))]);
    }
}

/// End offsets of the complete entries of a journal: eight bytes of magic, then length, checksum and content
/// of each.
fn entry_ends(journal: &[u8]) -> Vec<usize> {
    let mut entry_ends = vec![8];
    while let Some(prefix) =
        journal.get(entry_ends[entry_ends.len() - 1]..).and_then(|rest| rest.first_chunk::<4>())
    {
        entry_ends.push(entry_ends[entry_ends.len() - 1] + 8 + u32::from_le_bytes(*prefix) as usize);
    }
    entry_ends
}

#[test]
fn a_survey_that_dies_after_any_entry_of_its_journal_goes_on_at_the_same_address() {
    dies_after_any_entry(STATUS_LINE);
}

/// The process that resumes the survey has never seen an odd response.
#[test]
fn a_survey_that_dies_after_any_entry_of_its_journal_reads_odd_responses() {
    let exchanges = dies_after_any_entry(ODD_STATUS_LINE);
    let odd = exchanges.iter().filter(|row| row.failure.as_deref() == Some("odd_http"));
    // Two of its addresses are dead.
    assert_eq!(odd.map(|row| (row.number, row.attempt)).collect::<Vec<_>>(), [(0, Some(2))]);
    assert_eq!(exchanges.iter().filter(|row| row.status == Some(200)).count(), 3);
}

/// The exchanges with a server whose status lines begin with `status_line`, however often the survey dies.
fn dies_after_any_entry(status_line: &'static str) -> Vec<ExchangeRow> {
    let hosts: &[(&str, &[&str])] = &[("two.ke", &["127.0.1.1", "127.0.1.2", "127.0.1.3"])];
    let (stop, stopped) = watch::channel(false);
    let is_armed = Arc::new(AtomicBool::new(false));
    let armed = is_armed.clone();
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    // The survey may request the last page before it learns that it must stop: that response is held until it
    // has.
    let stop_at_a: Hook = Arc::new(move |target| match target {
        "/a" if armed.load(Ordering::SeqCst) => {
            let _ = stop.send(true);
        }
        "/b" if armed.load(Ordering::SeqCst) => {
            let _ = held.lock().unwrap().recv();
        }
        _ => {}
    });
    let net = Net::watched(hosts, &["127.0.1.3"], status_line, stop_at_a);
    let first = survey(net.settings(), &net.start("two.ke"));
    let undisturbed: TimelessTables = timeless_tables(&first.path().join("survey"));
    is_armed.store(true, Ordering::SeqCst);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("survey");
    let (fresh, _) = Survey::create(&dir, net.settings(), &net.start("two.ke")).unwrap();
    assert!(!run(fresh, stopped).is_finished);
    is_armed.store(false, Ordering::SeqCst);
    drop(release);
    let journals = dir.join("journal");
    let name = fs::read_dir(&journals).unwrap().next().unwrap().unwrap().file_name();
    let whole = fs::read(journals.join(&name)).unwrap();
    let entry_ends = entry_ends(&whole);
    assert!(entry_ends.len() > 10, "{}", entry_ends.len());
    for end in entry_ends {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(&dir, copy.path());
        fs::write(copy.path().join("journal").join(&name), &whole[..end]).unwrap();
        let (_keep, stop) = watch::channel(false);
        assert!(run(Survey::open(copy.path()).unwrap(), stop).is_finished);
        assert_same_tables(&timeless_tables(copy.path()), &undisturbed);
    }
    rows(&first.path().join("survey"))
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let destination = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &destination);
        } else {
            fs::copy(entry.path(), destination).unwrap();
        }
    }
}
