//! Malicious servers: a survey of them ends, with outcomes that say why.
#![allow(clippy::disallowed_methods)] // The hostile servers have sockets of their own.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use ccsurvey::exchange::Class;
use ccsurvey::records::{LevelRow, SiteRow};
use ccsurvey::settings::{Settings, Span};

use crate::common::{Space, Surveyed};

/// A gateway that sends `response` of the request's path for every request, until the test ends.
fn gateway(response: impl Fn(&str) -> Vec<u8> + Send + Sync + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let response = response.clone();
            std::thread::spawn(move || serve(stream, &response));
        }
    });
    address
}

fn serve(stream: TcpStream, response: &impl Fn(&str) -> Vec<u8>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut stream = stream;
    while let Some(Ok(line)) = lines.next() {
        let path = line.split(' ').nth(1).unwrap_or("/").to_owned();
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        if stream.write_all(&response(&path)).is_err() {
            return;
        }
    }
}

fn survey(response: impl Fn(&str) -> Vec<u8> + Send + Sync + Clone + 'static) -> Surveyed {
    let space = Space::serve("a_site_with_one_page");
    let settings = Settings {
        gateway: Some(gateway(response)),
        max_requests: Some(200),
        max_time: Some(Span(Duration::from_secs(600))),
        ..space.settings()
    };
    let surveyed = space.survey(settings);
    assert!(surveyed.ending.is_finished);
    assert!(surveyed.rows::<LevelRow>().iter().all(LevelRow::reconciles));
    surveyed
}

fn outcomes(surveyed: &Surveyed) -> Vec<String> {
    surveyed.rows::<SiteRow>().into_iter().map(|site| site.outcome).collect()
}

fn html(body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn is_robots(path: &str) -> bool {
    path == "/robots.txt"
}

const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

#[test]
fn a_server_that_asks_to_be_left_alone_for_days_ends_its_site() {
    let busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 999999\r\nContent-Length: 0\r\n\r\n";
    let surveyed = survey(|_| busy.to_vec());
    assert_eq!(outcomes(&surveyed), ["time_budget"]);
    let site = &surveyed.rows::<SiteRow>()[0];
    assert_eq!(site.requests, 1, "it was asked once and never again");
}

#[test]
fn redirects_without_end_are_left_after_ten() {
    let surveyed = survey(|path| {
        if is_robots(path) {
            return NOT_FOUND.to_vec();
        }
        format!("HTTP/1.1 302 Found\r\nLocation: {path}x\r\nContent-Length: 0\r\n\r\n").into_bytes()
    });
    let levels = surveyed.rows::<LevelRow>();
    assert_eq!((levels[0].requests, levels[0].classes[Class::Redirects]), (11, 1));
}

#[test]
fn pages_that_always_link_to_more_pages_end_at_the_depth_or_the_budget() {
    let surveyed = survey(|path| {
        if is_robots(path) {
            return NOT_FOUND.to_vec();
        }
        let links: String =
            (0..50).map(|n| format!("<a href='{}{n}/'>x</a>", path.trim_end_matches('x'))).collect();
        html(&links)
    });
    assert_eq!(outcomes(&surveyed), ["request_budget"]);
    assert_eq!(surveyed.rows::<SiteRow>()[0].requests, 200);
}

#[test]
fn redirects_and_links_to_this_machine_lead_nowhere() {
    let surveyed = survey(|path| {
        if is_robots(path) {
            return b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:8080/robots.txt\r\nContent-Length: 0\r\n\r\n".to_vec();
        }
        html("<a href='http://169.254.169.254/latest/'>x</a><a href='http://[::1]/'>y</a>")
    });
    let refused = surveyed
        .tables()
        .exchanges
        .iter()
        .filter(|row| row.failure.as_deref() == Some("address_refused"))
        .count();
    assert_eq!(refused, 1, "the redirect of robots.txt was refused");
    assert_eq!(outcomes(&surveyed), ["no_page"], "rules that cannot be had are no rule that forbids");
    let levels = surveyed.rows::<LevelRow>();
    assert!(
        levels.iter().all(|row| row.classes[Class::RobotsUnreachable] == row.internal_urls),
        "{levels:?}"
    );
}

#[test]
fn junk_instead_of_http_is_a_word_in_the_tables() {
    let surveyed = survey(|_| b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec());
    assert_eq!(outcomes(&surveyed), ["no_page"], "something answered");
    assert!(surveyed.tables().exchanges.iter().all(|row| row.failure.is_some() && row.status.is_none()));
}
