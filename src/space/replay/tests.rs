//! The responses of a replay, exchange by exchange.

use super::*;
use crate::Certificate;

fn address() -> Option<IpAddr> {
    Some(IpAddr::from([41, 90, 0, 7]))
}

fn recorded(url: &str) -> RecordedExchange<'_> {
    RecordedExchange {
        url,
        address: address(),
        status: Some(200),
        content_type: Some("text/html"),
        charset: Some("UTF-8"),
        total: Some(Duration::from_millis(90)),
        ..RecordedExchange::default()
    }
}

fn failed<'a>(url: &'a str, failure: &'a str) -> RecordedExchange<'a> {
    RecordedExchange { failure: Some(failure), status: None, ..recorded(url) }
}

fn page(url: &str, links: u32) -> RecordedExchange<'_> {
    RecordedExchange { links: Some(links), ..recorded(url) }
}

fn replay(exchanges: &[RecordedExchange<'_>], links: &[RecordedLink<'_>]) -> Replay {
    let mut builder = Replay::builder();
    exchanges.iter().for_each(|exchange| builder.exchange(exchange));
    links.iter().for_each(|link| builder.page_link(link));
    builder.build()
}

fn link<'a>(page: &'a str, position: u32, url: &'a str) -> RecordedLink<'a> {
    RecordedLink { page, position, url, element: "a", nofollow: false, is_internal: true }
}

#[track_caller]
fn response(replay: &Replay, url: &str) -> Response {
    match ask(replay, url) {
        Reaction::Response(response) => response,
        other => panic!("{url}: {other:?}"),
    }
}

fn ask(replay: &Replay, url: &str) -> Reaction {
    let url = WebUrl::parse(url).unwrap();
    replay.respond(url.is_https(), url.host().as_str(), url.target())
}

fn text(response: &Response) -> String {
    String::from_utf8(response.body.clone()).unwrap()
}

#[test]
fn an_answer_comes_back_with_its_status_and_header_fields() {
    let replay = replay(
        &[RecordedExchange {
            status: Some(301),
            location: Some("/new"),
            server: Some("nginx/1.2"),
            last_modified: Some("Tue, 10 Nov 2026 09:00:00 GMT"),
            etag: Some("\"5f1\""),
            body_bytes: 178,
            first_byte: Some(Duration::from_millis(70)),
            connect: Some(Duration::from_millis(20)),
            ..recorded("http://a.ke/old")
        }],
        &[],
    );
    let answer = response(&replay, "http://a.ke/old");
    assert_eq!((answer.status, answer.location.as_deref(), answer.server), (301, Some("/new"), "nginx/1.2"));
    assert_eq!(answer.last_modified.as_deref(), Some("Tue, 10 Nov 2026 09:00:00 GMT"));
    assert_eq!((answer.etag.as_deref(), answer.body.len()), (Some("\"5f1\""), 178));
    assert_eq!(answer.service, Duration::from_millis(50), "the first byte less the round trip");
    let server = replay.server("a.ke").unwrap();
    assert_eq!((server.software, server.round_trip), ("nginx/1.2", Duration::from_millis(20)));
    let found = Records { v4: Some([41, 90, 0, 7].into()), ..Records::default() };
    assert_eq!(replay.lookup("a.ke"), Lookup::Found(found));
}

#[test]
fn a_page_has_its_links_in_their_order_and_as_they_were_written() {
    let (url, out) = ("http://a.ke/p", "https://b.ke/?a=1&b=2");
    let links = [
        RecordedLink { element: "area", nofollow: true, ..link(url, 0, "http://a.ke/x") },
        RecordedLink { is_internal: false, ..link(url, 1, out) },
        RecordedLink { element: "iframe", ..link(url, 2, "http://a.ke//y") },
    ];
    let page =
        RecordedExchange { title: Some("A < B"), language: Some("sw"), body_bytes: 900, ..page(url, 3) };
    let replay = replay(&[page], &links);
    let answer = response(&replay, url);
    let expected = "\u{feff}<!DOCTYPE html>\n<html lang=\"sw\"><head><meta charset=\"UTF-8\"/>\
         <title>A &lt; B</title><base href=\"http://a.ke/\"/></head><body>\n\
         <area rel=\"nofollow\" href=\"/x\"/>\n<a href=\"https://b.ke/?a=1&amp;b=2\">.</a>\n\
         <iframe src=\"http://a.ke//y\"></iframe>\n</body></html>\n";
    assert_eq!(text(&answer).trim_end_matches(' '), expected);
    assert_eq!(answer.body.len(), 900);
    let contents = replay.contents();
    assert_eq!((contents.pages, contents.links, contents.unfetched_urls), (1, 3, 2));
    assert_eq!(contents.pages_without_links, 0);
}

#[test]
fn a_link_without_rel_that_is_not_to_be_followed_makes_its_page_say_so() {
    let url = "http://a.ke/";
    let links = [("meta", "http://a.ke/m"), ("a", "http://a.ke/n")]
        .iter()
        .zip(0..)
        .map(|((element, to), at)| RecordedLink { element, nofollow: true, ..link(url, at, to) })
        .collect::<Vec<_>>();
    let html = text(&response(&replay(&[page(url, 2)], &links), url));
    assert!(html.contains("<meta name=\"robots\" content=\"nofollow\"/>"), "{html}");
    assert!(html.contains("content=\"9; url=/m\"") && !html.contains(" rel="), "{html}");
}

#[test]
fn a_page_is_in_the_charset_it_was_read_in_whatever_the_header_says() {
    let read = |charset, content_type| {
        let page = RecordedExchange {
            title: Some("日本é"),
            charset: Some(charset),
            content_type: Some(content_type),
            ..page("http://a.ke/", 0)
        };
        response(&replay(&[page], &[]), "http://a.ke/").body
    };
    let has = |body: &[u8], part: &[u8]| body.windows(part.len()).any(|window| window == part);
    assert!(has(&read("Shift_JIS", "text/html"), b"<title>\x93\xfa\x96\x7b&#233;"));
    assert!(has(&read("windows-1252", "text/html"), b"<title>&#26085;&#26412;\xe9"));
    assert!(read("UTF-16LE", "text/html").starts_with(b"\xff\xfe<\0!\0"));
    let xhtml = read("windows-1252", "application/xhtml+xml");
    assert!(xhtml.starts_with(b"<?xml version=\"1.0\" encoding=\"windows-1252\"?>"));
}

#[test]
fn a_page_that_its_body_told_is_told_by_its_type() {
    let served = |content_type| {
        let page = RecordedExchange { content_type, ..page("http://a.ke/", 0) };
        response(&replay(&[page], &[]), "http://a.ke/").content_type.unwrap().into_owned()
    };
    for content_type in [None, Some("html"), Some("*/*"), Some("text/xml"), Some("text/plain, text/html")] {
        assert_eq!(served(content_type), "text/html", "{content_type:?}");
    }
    for content_type in ["Text/HTML; charset=x", "application/xhtml+xml", "text/html, charset=utf-8"] {
        assert_eq!(served(Some(content_type)), content_type);
    }
    let unread = |status| {
        let failed = RecordedExchange {
            failure: Some("body_encoding"),
            status: Some(status),
            ..recorded("http://a.ke/")
        };
        response(&replay(&[failed], &[]), "http://a.ke/").content_type.unwrap().into_owned()
    };
    assert_eq!((unread(200).as_str(), unread(404).as_str()), ("application/octet-stream", "text/html"));
}

#[test]
fn robots_txt_is_what_it_was_also_where_its_url_is_a_page_too() {
    let robots =
        |url| RecordedExchange { is_robots: true, content_type: Some("text/plain"), ..recorded(url) };
    let mut builder = Replay::builder();
    builder.exchange(&robots("http://a.ke/robots.txt"));
    builder.exchange(&recorded("http://a.ke/robots.txt"));
    builder.robots_txt("http://a.ke/robots.txt", "User-agent: *\nDisallow: /x\n");
    builder.exchange(&page("http://a.ke/home", 0));
    builder.exchange(&robots("http://a.ke/home"));
    builder.robots_txt("http://a.ke/home", "not this");
    let replay = builder.build();
    let file = response(&replay, "http://a.ke/robots.txt");
    assert_eq!(
        (text(&file).as_str(), file.content_type.as_deref()),
        ("User-agent: *\nDisallow: /x\n", Some("text/plain"))
    );
    assert!(text(&response(&replay, "http://a.ke/home")).contains("<html>"));
    assert_eq!(replay.contents().repeated, 2);
}

#[test]
fn hosts_without_an_address_fail_as_they_did() {
    let at_no_address =
        |url, failure| RecordedExchange { address: None, total: None, ..failed(url, failure) };
    let replay = replay(
        &[
            at_no_address("http://x.ke/", "dns_nxdomain"),
            at_no_address("http://n.ke/", "dns_no_address"),
            at_no_address("http://t.ke/", "dns_timeout"),
            at_no_address("http://s.ke/", "dns_servfail"),
            recorded("http://once.ke/"),
            at_no_address("http://once.ke/later", "dns_timeout"),
        ],
        &[],
    );
    let looked_up = ["x.ke", "n.ke", "t.ke", "s.ke", "never.ke"].map(|host| replay.lookup(host));
    let expected = [
        Lookup::NoSuchName,
        Lookup::Found(Records::default()),
        Lookup::Silence,
        Lookup::ServerFailure,
        Lookup::NoSuchName,
    ];
    assert_eq!(looked_up, expected);
    assert_eq!(ask(&replay, "http://x.ke/"), Reaction::NoSuchHost);
    assert!(matches!(replay.lookup("once.ke"), Lookup::Found(_)));
    assert_eq!(ask(&replay, "http://once.ke/later"), Reaction::Reset);
}

#[test]
fn requests_fail_as_they_did_or_as_nearly_as_a_gateway_can() {
    let words = ["reset", "connect_refused", "first_byte_timeout", "connect_timeout"];
    let urls = words.map(|word| format!("http://a.ke/{word}"));
    let exchanges: Vec<_> = urls.iter().zip(words).map(|(url, word)| failed(url, word)).collect();
    let replay = replay(&exchanges, &[]);
    let reactions = urls.each_ref().map(|url| ask(&replay, url));
    assert_eq!(reactions, [Reaction::Reset, Reaction::Reset, Reaction::Silence, Reaction::Silence]);
    let approximated: Vec<_> = replay.contents().approximated.keys().map(String::as_str).collect();
    assert_eq!(approximated, ["connect_refused", "connect_timeout"]);
}

#[test]
fn bodies_that_were_cut_short_have_what_was_kept_and_one_byte_more() {
    let (cut, long) = ("http://a.ke/cut", "http://a.ke/long");
    let with = |url, failure| RecordedExchange { failure: Some(failure), body_bytes: 5000, ..page(url, 0) };
    let replay = replay(&[with(cut, "body_truncated"), with(long, "body_too_large")], &[]);
    let answer = response(&replay, cut);
    assert_eq!((answer.body.len(), answer.cut_after), (5001, Some(5000)));
    let answer = response(&replay, long);
    assert_eq!((answer.body.len(), answer.cut_after), (5001, None));
}

#[test]
fn tls_clients_are_greeted_by_the_certificate_that_was_seen() {
    let with = |url, tls_error| RecordedExchange { is_encrypted: true, tls_error, ..recorded(url) };
    let replay = replay(
        &[
            with("https://good.ke/", None),
            with("https://old.ke/", Some("expired")),
            with("https://own.ke/", Some("unknown_issuer")),
            recorded("http://plain.ke/"),
            failed("https://plain.ke/", "tls_handshake"),
        ],
        &[],
    );
    let certificate = |kind| Handshake::Certificate(kind);
    assert_eq!(
        ["good.ke", "old.ke", "own.ke", "plain.ke"].map(|host| replay.handshake(host)),
        [
            certificate(Certificate::Valid),
            certificate(Certificate::Expired),
            certificate(Certificate::SelfSigned),
            Handshake::Closed
        ]
    );
    assert_eq!(response(&replay, "https://good.ke/").status, 200);
    assert_eq!(response(&replay, "http://good.ke/").status, 404, "it was asked with TLS only");
}

#[test]
fn what_was_not_asked_is_unknown_and_counted() {
    let replay = replay(&[recorded("http://a.ke/"), failed("http://a.ke/later", "held_off")], &[]);
    assert_eq!(response(&replay, "http://a.ke/%7e").status, 404);
    assert_eq!(response(&replay, "http://a.ke/later").status, 404);
    assert_eq!((replay.unknown(), replay.contents().not_asked), (2, 1));
}

#[test]
fn a_url_is_the_same_in_every_spelling_and_its_last_answer_counts() {
    let busy = RecordedExchange { status: Some(503), ..recorded("http://a.ke/%7Efoo") };
    let replay = replay(&[busy, recorded("http://a.ke/~foo")], &[]);
    assert_eq!(response(&replay, "http://a.ke/%7efoo").status, 200);
    assert_eq!((replay.contents().urls, replay.contents().repeated), (1, 1));
}

#[test]
fn links_that_are_missing_and_rows_that_cannot_be_read_are_told() {
    let url = "http://a.ke/";
    let twice = [link(url, 0, "http://a.ke/x"), link(url, 0, "http://a.ke/y"), link(url, 1, "http://a.ke/z")];
    let replay = replay(&[page(url, 3), recorded("nonsense"), failed("http://a.ke/f", "mood")], &twice);
    let contents = replay.contents();
    assert_eq!((contents.pages_without_links, contents.unreadable, contents.links), (1, 2, 2));
    assert!(text(&response(&replay, url)).contains("href=\"/y\""), "the last time the page was told counts");
}

#[test]
fn a_header_field_never_becomes_two() {
    let exchange = RecordedExchange { location: Some("/x\r\nSet-Cookie: y"), ..recorded("http://a.ke/") };
    let answer = response(&replay(&[exchange], &[]), "http://a.ke/");
    assert_eq!(answer.location.as_deref(), Some("/x  Set-Cookie: y"));
}
