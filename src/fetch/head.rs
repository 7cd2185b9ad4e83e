use std::time::SystemTime;

use percent_encoding::percent_encode_byte;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_TYPE, DATE, ETAG, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED, LOCATION,
    REFRESH, RETRY_AFTER, SERVER, STRICT_TRANSPORT_SECURITY,
};

use super::retry_after::retry_after;
use crate::address::MAX_URL_BYTES;
use crate::exchange::{Challenge, Head, HostFacts, SiteSoftware};

/// The number of characters kept of a field; the longest honest `Server` or `Content-Type` is shorter.
const FIELD: usize = 256;
/// The limit for `X-Robots-Tag`, which may come in several lines, one for each robot.
const ROBOTS_TAG: usize = 1024;
/// The limit for a reference: as much as a URL may shrink in parsing.
const REFERENCE: usize = 4 * MAX_URL_BYTES;

/// Picks the header fields that a survey keeps.
pub(super) fn pick(status: u16, headers: &HeaderMap, now: SystemTime) -> Head {
    let first = |name: HeaderName, limit: usize| headers.get(name).map(|value| text(value, limit));
    let robots_tag = HeaderName::from_static("x-robots-tag");
    Head {
        content_type: all(headers, &CONTENT_TYPE, FIELD),
        content_encoding: all(headers, &CONTENT_ENCODING, FIELD),
        location: headers.get(LOCATION).map(reference),
        server: first(SERVER, FIELD),
        last_modified: first(LAST_MODIFIED, FIELD),
        etag: first(ETAG, FIELD),
        robots_tag: all(headers, &robots_tag, ROBOTS_TAG),
        retry_after: first(RETRY_AFTER, FIELD)
            .and_then(|value| retry_after(&value, first(DATE, FIELD).as_deref(), now)),
        challenge: Challenge::from_fields(status, |name| headers.get(name).map(HeaderValue::as_bytes)),
        refresh: headers.get(REFRESH).map(reference),
    }
}

/// Picks the header fields that tell something of the host.
pub(super) fn pick_facts(headers: &HeaderMap, is_encrypted: bool) -> HostFacts {
    let first = |name: HeaderName| headers.get(name).map(|value| text(value, FIELD));
    HostFacts {
        // RFC 6797 §8.1: the first field counts, and over http none does.
        hsts: first(STRICT_TRANSPORT_SECURITY).filter(|_| is_encrypted),
        software: SiteSoftware::from_fields(
            headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())),
        ),
        powered_by: all(headers, &HeaderName::from_static("x-powered-by"), FIELD),
        ..HostFacts::default()
    }
}

/// All lines of a field, joined by commas (RFC 9110 §5.3).
fn all(headers: &HeaderMap, name: &HeaderName, limit: usize) -> Option<String> {
    let mut lines = headers.get_all(name).iter();
    let mut joined = text(lines.next()?, limit);
    for line in lines {
        joined.push_str(", ");
        joined.push_str(&text(line, limit));
        if joined.len() >= limit {
            let end = joined.char_indices().nth(limit).map(|(end, _)| end);
            joined.truncate(end.unwrap_or(joined.len()));
            break;
        }
    }
    Some(joined)
}

/// A reference as text: UTF-8 where it is valid. In any other charset each byte beyond ASCII is
/// percent-encoded, as in browsers: the server means its own charset.
fn reference(value: &HeaderValue) -> String {
    if std::str::from_utf8(value.as_bytes()).is_ok() {
        return text(value, REFERENCE);
    }
    let mut reference = String::new();
    for byte in value.as_bytes() {
        if reference.len() >= REFERENCE {
            break;
        }
        if byte.is_ascii() {
            reference.push(char::from(*byte));
        } else {
            reference.push_str(percent_encode_byte(*byte));
        }
    }
    reference
}

/// A field's value as text: UTF-8 where it is valid, else Latin-1, as old servers send it.
fn text(value: &HeaderValue, limit: usize) -> String {
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => text.chars().take(limit).collect(),
        Err(_) => value.as_bytes().iter().take(limit).map(|byte| char::from(*byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn headers(lines: &[(&'static str, &[u8])]) -> HeaderMap {
        let line = |(name, value): &(&'static str, &[u8])| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap())
        };
        lines.iter().map(line).collect()
    }

    #[test]
    fn fields_in_any_encoding_become_text_of_bounded_length() {
        let long = vec![b'x'; 20_000];
        let head = pick(
            200,
            &headers(&[("server", b"caf\xe9"), ("etag", "\u{e9}".as_bytes()), ("location", &long)]),
            UNIX_EPOCH,
        );
        assert_eq!(head.server.as_deref(), Some("caf\u{e9}"));
        assert_eq!(head.etag.as_deref(), Some("\u{e9}"));
        assert_eq!(head.location.map(|text| text.len()), Some(4 * MAX_URL_BYTES));
    }

    #[test]
    fn a_reference_in_another_charset_keeps_its_bytes() {
        for (sent, location) in [
            (&b"/th\xe9"[..], "/th%E9"),
            (b"/\x93\xfa\x96{?q=\xa0", "/%93%FA%96{?q=%A0"),
            ("/th\u{e9}/\u{65e5}".as_bytes(), "/th\u{e9}/\u{65e5}"),
            (b"/%e9", "/%e9"),
            // A mix of UTF-8 and other bytes is not UTF-8.
            (b"/\xc3\xa9/\xe9", "/%C3%A9/%E9"),
        ] {
            assert_eq!(
                pick(302, &headers(&[("location", sent)]), UNIX_EPOCH).location.as_deref(),
                Some(location)
            );
            let refresh = [b"0; url=", sent].concat();
            let head = pick(200, &headers(&[("refresh", &refresh)]), UNIX_EPOCH);
            assert_eq!(head.refresh, Some(format!("0; url={location}")));
        }
        let long = vec![0xe9; 20_000];
        let location = pick(302, &headers(&[("location", &long)]), UNIX_EPOCH).location.unwrap();
        assert!((REFERENCE..REFERENCE + 3).contains(&location.len()));
    }

    #[test]
    fn types_in_several_lines_are_one_list() {
        let lines = [("content-type", &b"text/plain"[..]), ("content-type", b"text/html")];
        let head = pick(200, &headers(&lines), UNIX_EPOCH);
        assert_eq!(head.content_type.as_deref(), Some("text/plain, text/html"));
    }

    #[test]
    fn a_pause_until_a_date_is_as_long_as_the_server_means() {
        let lines =
            [("date", b"Sun Nov  6 08:49:07 1994".as_slice()), ("retry-after", b"Sun Nov  6 08:49:37 1994")];
        assert_eq!(pick(200, &headers(&lines), UNIX_EPOCH).retry_after, Some(Duration::from_secs(30)));
    }

    #[test]
    fn lines_of_one_field_are_joined_and_bounded() {
        let repeated =
            headers(&[("x-robots-tag", b"noindex"), ("x-robots-tag", b"bot: none"), ("retry-after", b"7")]);
        let head = pick(200, &repeated, UNIX_EPOCH);
        assert_eq!(head.robots_tag.as_deref(), Some("noindex, bot: none"));
        assert_eq!(head.retry_after, Some(Duration::from_secs(7)));
        let many = headers(&vec![("x-robots-tag", b"noindex, nofollow, noarchive".as_slice()); 90]);
        assert_eq!(pick(200, &many, UNIX_EPOCH).robots_tag.map(|text| text.len()), Some(ROBOTS_TAG));
    }
}
