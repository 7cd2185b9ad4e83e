//! Text of strangers reaches no terminal unescaped, and no request goes to a port that browsers refuse,
//! whatever leads there: a survey over real sockets of a server that tries both, and every command on its
//! results.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use ccsurvey::records::{ExchangeRow, LinkRow};

use crate::common::waiting::POLL_INTERVAL;
use crate::common::{Space, rows};

/// Some of the ports that browsers refuse, on which a test may listen without being root.
const REFUSED: [u16; 9] = [5060, 5061, 6566, 6665, 6666, 6667, 6668, 6669, 10080];
/// Characters that control terminals or hide text: CSI of C1, "right to left" from here on, an escape
/// sequence, a zero width space, a tag.
const EVIL: &str = "e\u{9b}31m\u{202e}\u{1b}[2Jv\u{200b}\u{e0041}\u{ad}il";

struct Surveyed {
    folder: tempfile::TempDir,
    dir: PathBuf,
    survey_output: Output,
    /// The paths of the requests that the server got.
    requested_paths: BTreeSet<String>,
    /// The ports at which a listener saw a connection.
    contacted_ports: Vec<u16>,
}

static SURVEYED: LazyLock<Surveyed> = LazyLock::new(survey);

fn survey() -> Surveyed {
    let space = Space::serve("a_site_with_one_page");
    let folder = tempfile::tempdir().unwrap();
    let listeners: Vec<TcpListener> =
        REFUSED.iter().filter_map(|port| TcpListener::bind(("127.0.0.1", *port)).ok()).collect();
    assert!(!listeners.is_empty(), "none of {REFUSED:?} can be listened at");
    let ports: Vec<u16> = listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    server.set_nonblocking(true).unwrap();
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let serving = std::thread::spawn(move || serve(&server, &ports, &ended));
    let dir = folder.path().join(format!("kenya-{EVIL}"));
    fs::write(folder.path().join("s.csv"), format!("http://{address}/\n")).unwrap();
    let survey_output = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
        .current_dir(folder.path())
        .arg("survey")
        .arg(&dir)
        .args(["--cctld", "ke", "--start", "s.csv", "--contact", "a@b.example", "--dns", &space.dns()])
        .args(["--permit-special-addresses", "--outside-cctld", "--start-anyway"])
        .args(["--record-links", "--log-level", "trace", "--feed-back", "off"])
        .args(["--impolite", "--min-delay", "0s", "--delay-factor", "0", "--rate", "none"])
        .output()
        .unwrap();
    done.send(()).unwrap();
    let requested_paths = serving.join().unwrap();
    let contacted_ports = listeners.iter().filter(|listener| was_contacted(listener));
    let contacted_ports = contacted_ports.map(|listener| listener.local_addr().unwrap().port()).collect();
    Surveyed { folder, dir, survey_output, requested_paths, contacted_ports }
}

fn was_contacted(listener: &TcpListener) -> bool {
    listener.set_nonblocking(true).unwrap();
    listener.accept().is_ok()
}

/// Responds to one request after another until it is told to end; returns the paths of the requests.
fn serve(server: &TcpListener, ports: &[u16], ended: &std::sync::mpsc::Receiver<()>) -> BTreeSet<String> {
    let mut requested_paths = BTreeSet::new();
    while ended.try_recv().is_err() {
        let mut stream = match server.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        stream.set_nonblocking(false).unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let Some(path) = head.split(' ').nth(1) else { continue };
        requested_paths.insert(path.to_owned());
        // A client that has gone meanwhile is not the server's fault.
        let _ = stream.write_all(&response(path, ports));
    }
    requested_paths
}

fn response(path: &str, ports: &[u16]) -> Vec<u8> {
    // No header may contain ESC (RFC 9110 §5.5), but it may contain C1 and direction marks in UTF-8.
    let server = EVIL.replace('\u{1b}', "");
    let redirect_to =
        |location: String| format!("HTTP/1.1 302 Found\r\nServer: {server}\r\nLocation: {location}\r\n");
    let (head, body) = match path {
        "/robots.txt" => (redirect_to(format!("http://127.0.0.1:{}/robots.txt", ports[0])), String::new()),
        "/away" => (redirect_to(format!("http://127.0.0.1:{}/away", ports[0])), String::new()),
        "/" => {
            let refused: String = ports
                .iter()
                .map(|port| format!("<a href=http://127.0.0.1:{port}/>x</a><a href=//b.ke:{port}/>y</a>"))
                .collect();
            let body = format!(
                "<html lang='{EVIL}'><title>{EVIL}</title><meta name=generator content='{EVIL}'>{refused}\
                 <a href=/away>a</a><a href='/{EVIL}'>b</a><a href='http://c.ke/{EVIL}'>c</a><a href=http://d.ke:8080/>d</a>"
            );
            (
                format!("HTTP/1.1 200 OK\r\nServer: {server}\r\nContent-Type: text/html; charset=utf-8\r\n"),
                body,
            )
        }
        _ => (
            format!("HTTP/1.1 404 Not Found\r\nServer: {server}\r\nContent-Type: text/html\r\n"),
            EVIL.to_owned(),
        ),
    };
    format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn no_port_that_browsers_refuse_is_asked_or_recorded_or_exported() {
    let surveyed = &*SURVEYED;
    assert_eq!(surveyed.survey_output.status.code(), Some(0), "{}", text(&surveyed.survey_output.stderr));
    assert!(
        surveyed.requested_paths.contains("/") && surveyed.requested_paths.contains("/away"),
        "{:?}",
        surveyed.requested_paths
    );
    assert_eq!(surveyed.contacted_ports, Vec::<u16>::new());
    let has_refused = |url: &str| REFUSED.iter().any(|port| url.contains(&format!(":{port}/")));
    let exchanges: Vec<ExchangeRow> = rows(&surveyed.dir);
    assert!(exchanges.iter().all(|row| !has_refused(&row.url)));
    let links: Vec<LinkRow> = rows(&surveyed.dir);
    assert!(links.iter().any(|row| row.url == "http://d.ke:8080/"));
    assert!(links.iter().all(|row| !has_refused(&row.url)), "{links:?}");
    let exported = text(&run(&["export".as_ref(), surveyed.dir.as_ref()]).stdout);
    assert!(exported.contains("http://d.ke:8080/") && !has_refused(&exported), "{exported}");
    let list = surveyed.folder.path().join("refused.csv");
    fs::write(&list, "http://a.ke:6667/\nhttp://a.ke:22/\n").unwrap();
    let new = surveyed.folder.path().join("none");
    let words = ["survey", new.to_str().unwrap(), "--cctld", "ke", "--contact", "a@b.example", "--start"];
    let refused = run(&[&words.map(Path::new)[..], &[list.as_path()]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(text(&refused.stderr).matches("a port that browsers refuse").count(), 2);
}

#[test]
fn no_command_prints_what_strangers_sent_as_it_is() {
    let surveyed = &*SURVEYED;
    let (dir, folder) = (surveyed.dir.to_str().unwrap(), surveyed.folder.path());
    assert_harmless("survey", &surveyed.survey_output);
    assert!(text(&surveyed.survey_output.stdout).contains("⟨U+202E⟩"), "the folder's name is told");
    let file = |name: &str, text: &str| {
        fs::write(folder.join(name), text).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    };
    let opt_out = file("opt-out.txt", &format!("a.ke {EVIL}\n"));
    let config = file("config.toml", &format!("\"{EVIL}\" = 1\n"));
    let value = file("value.toml", &format!("feed-back = \"{}\"\n", EVIL.replace('\u{1b}', "")));
    let world = file("world.toml", &format!("seed = \"{}\"\n", EVIL.replace('\u{1b}', "")));
    let start = file("start.csv", &format!("{EVIL}\n"));
    let new = folder.join("new").to_str().unwrap().to_owned();
    let dns_flags = ["--dns", "127.0.0.1:9", "--dns-timeout", "50ms"];
    let begin =
        [&["survey", &new, "--cctld", "ke", "--contact", "a@b.example"][..], &dns_flags, &["--start"]]
            .concat();
    let with = |more: &[&str]| [&begin[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let words = |arguments: &[&str]| arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let good = file("good.csv", "a.ke\n");
    let commands = [
        words(&["choose-depth", dir, "--by", "software"]),
        words(&["choose-depth", dir, "--by", "software", "--json"]),
        words(&["choose-depth", dir]),
        words(&["status", dir]),
        words(&["status", dir, "--json"]),
        words(&["status", dir, "--watch"]),
        words(&["report", dir, "-o", "-", "--by", "software"]),
        words(&["export", dir]),
        words(&["resume", dir]),
        words(&["resume", dir, "--json"]),
        words(&["space", "describe", dir]),
        words(&["space", "describe", dir, "--json"]),
        words(&["space", "describe", &world]),
        words(&["space", "truth", &world]),
        words(&["space", "truth", EVIL]),
        words(&["space", "serve", EVIL]),
        words(&["simulate", EVIL, &new]),
        words(&["status", EVIL]),
        words(&[EVIL]),
        with(&[&start]),
        with(&[&good, "--opt-out", &opt_out]),
        with(&[&good, "--config", &config]),
        with(&[&good, "--config", &value]),
        with(&[&good, "--contact", EVIL]),
        with(&[&good, "--exclude", EVIL]),
        with(&[EVIL]),
    ];
    for command in &commands {
        let arguments: Vec<&Path> = command.iter().map(Path::new).collect();
        assert_harmless(&format!("{command:?}"), &run(&arguments));
    }
    let by_software =
        text(&run(&["choose-depth".as_ref(), dir.as_ref(), "--by".as_ref(), "software".as_ref()]).stdout);
    assert!(by_software.contains("e⟨U+009B⟩31m⟨U+202E⟩"), "{by_software}");
    let log = fs::read_to_string(surveyed.dir.join("log.jsonl")).unwrap();
    assert_eq!(acting_character(&log), None, "the log");
}

fn run(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn assert_harmless(command: &str, output: &Output) {
    for (stream, bytes) in [("standard output", &output.stdout), ("standard error", &output.stderr)] {
        let text = text(bytes);
        assert_eq!(acting_character(&text), None, "{command} on {stream}: {}", text.escape_default());
    }
    assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{command} says nothing");
}

/// The first character that a terminal obeys or hides: C0 except line end and tab, DEL, C1, characters that
/// set the direction of text, and other format characters.
fn acting_character(text: &str) -> Option<char> {
    text.chars().find(|character| {
        (character.is_control() && !matches!(character, '\n' | '\t'))
            || matches!(character, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    })
}
