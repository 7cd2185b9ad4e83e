//! Rewritten pages are read like the originals.

use ccsurvey::address::WebUrl;
use ccsurvey::page::{Page, Source};
use ccsurvey::space::{Reaction, RecordedExchange, RecordedLink, Replay, Web};

/// The last header names an unknown charset.
const TYPES: [&str; 3] = ["text/html", "application/xhtml+xml", "text/html; charset=x"];
const CHARSETS: [&str; 7] =
    ["UTF-8", "windows-1252", "windows-1256", "Shift_JIS", "ISO-2022-JP", "UTF-16LE", "UTF-16BE"];
const PAGE: &str = "http://a.ke/dir/page;x=1?q=%E9";
const TITLE: &str = "A & <b> 日本 é";
const BODY_BYTES: u64 = 3000;
/// Element, target, whether it is marked `nofollow`.
const LINKS: [(&str, &str, bool); 7] = [
    ("meta", "http://a.ke/m", false),
    ("a", "http://a.ke/caf%E9?x=%E6%97&y=\"'<>", true),
    ("area", "http://a.ke//two", false),
    ("frame", "https://a.ke/tls", false),
    ("iframe", "http://a.ke:8080/port", false),
    ("a", "http://b.ke/&amp;&copy;", true),
    ("a", PAGE, false),
];

#[test]
fn whatever_it_was_read_as_a_page_is_read_as_the_same_again() {
    for content_type in TYPES {
        CHARSETS.iter().for_each(|charset| check(charset, content_type));
    }
    check("windows-1252", "text/html; charset=ISO-8859-1");
    check("UTF-8", "text/html; charset=ISO-8859-1");
    check("UTF-16LE", "text/html; charset=ISO-8859-1");
}

#[track_caller]
fn check(charset: &str, content_type: &str) {
    let what = format!("{charset}, {content_type}");
    let page = read(&replay(charset, content_type));
    let found: Vec<_> =
        page.links.iter().map(|link| (link.element.as_str(), link.url.canonical(), link.nofollow)).collect();
    let canonical = |url: &str| WebUrl::parse(url).unwrap().canonical();
    let expected: Vec<_> =
        LINKS.iter().map(|(element, url, nofollow)| (*element, canonical(url), *nofollow)).collect();
    assert_eq!(found, expected, "{what}");
    assert_eq!(page.charset, charset, "{what}");
    assert_eq!(page.title.as_deref(), Some(TITLE), "{what}");
    assert_eq!((page.language.as_deref(), page.nofollow), (Some("sw-ke"), false), "{what}");
}

fn replay(charset: &str, content_type: &str) -> Replay {
    let mut builder = Replay::builder();
    builder.exchange(&RecordedExchange {
        url: PAGE,
        address: Some("41.0.0.1".parse().unwrap()),
        status: Some(200),
        content_type: Some(content_type),
        charset: Some(charset),
        language: Some("sw-ke"),
        title: Some(TITLE),
        links: Some(7),
        body_bytes: BODY_BYTES,
        ..RecordedExchange::default()
    });
    for ((element, url, nofollow), position) in LINKS.into_iter().zip(0..) {
        let link = RecordedLink { page: PAGE, position, url, element, nofollow, is_internal: true };
        builder.page_link(&link);
    }
    builder.build()
}

fn read(replay: &Replay) -> Page {
    let url = WebUrl::parse(PAGE).unwrap();
    let Reaction::Response(response) = replay.respond(url.is_https(), url.host().as_str(), url.target())
    else {
        panic!("no answer");
    };
    assert!(response.body.len() as u64 >= BODY_BYTES);
    let content_type = response.content_type.as_deref();
    Page::read(Source { body: &response.body, url: &url, content_type, robots_tag: None })
}
