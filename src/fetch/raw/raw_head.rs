use bytes::Bytes;
use memchr::memchr;
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use reqwest::{StatusCode, Version};

use super::raw_body::Framing;
use crate::fetch::connect::wire::READ_AHEAD;

/// The head of a response in a form that the HTTP library refuses and browsers and curl read.
#[derive(Debug)]
pub(in crate::fetch) struct RawHead {
    pub status: StatusCode,
    pub version: Version,
    pub reason: Bytes,
    pub headers: HeaderMap,
    pub framing: Framing,
    /// The number of bytes it took.
    pub length: usize,
}

/// The result of parsing the first bytes of a response.
#[derive(Debug)]
pub(in crate::fetch) enum ParsedHead {
    Head(Box<RawHead>),
    /// More bytes are needed.
    More,
    /// Not a head of HTTP/1.
    NotHttp,
    TooLarge,
    /// A head that browsers refuse too: with two different lengths, or with a zero byte in it.
    Refused,
}

/// The number of junk bytes that may precede the status line, as in Chromium.
const SLOP: usize = 4;
const HTTP: &[u8] = b"http";
/// A longer line is not a status line.
const LONGEST_STATUS_LINE: usize = 8192;

/// Parses the head at the beginning of these bytes; `has_body` unless it is the response to HEAD.
///
/// Beyond RFC 9112 it accepts what Chromium accepts: a version of any number and in any case, any white space
/// around the status, four junk bytes before it, lines that end with LF or CR, meaningless fields, control
/// bytes in values.
pub(in crate::fetch) fn parse(bytes: &[u8], has_body: bool) -> ParsedHead {
    let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let Some(begin) = begin(&bytes[blank..]).map(|begin| blank + begin) else {
        let is_open = bytes.len() - blank < SLOP + HTTP.len() && !bytes[blank..].starts_with(b"<");
        return if is_open && bytes.len() <= LONGEST_STATUS_LINE {
            ParsedHead::More
        } else {
            ParsedHead::NotHttp
        };
    };
    let text = &bytes[begin..];
    let line_end = memchr(b'\n', text);
    let line = &text[..line_end.unwrap_or(text.len()).min(LONGEST_STATUS_LINE)];
    let status_line = status_line(line);
    if line_end.is_none() && line.len() < LONGEST_STATUS_LINE {
        return ParsedHead::More;
    }
    let Some((version, status, reason)) = status_line else { return ParsedHead::NotHttp };
    let Some(end) = end_of_head(text) else {
        return if bytes.len() as u64 > READ_AHEAD { ParsedHead::TooLarge } else { ParsedHead::More };
    };
    if end as u64 > READ_AHEAD {
        return ParsedHead::TooLarge;
    }
    let fields = &text[line.len()..end];
    if memchr(0, &text[..end]).is_some() {
        return ParsedHead::Refused;
    }
    let headers = headers(fields);
    let Some(framing) = framing(status, &headers, has_body) else { return ParsedHead::Refused };
    let reason = Bytes::copy_from_slice(reason);
    ParsedHead::Head(Box::new(RawHead { status, version, reason, headers, framing, length: begin + end }))
}

/// The position of the status line. A page without a head (HTTP/0.9) may contain `http` near its beginning.
fn begin(bytes: &[u8]) -> Option<usize> {
    let is_markup = bytes.trim_ascii_start().starts_with(b"<");
    let mut positions = bytes.windows(HTTP.len()).take(SLOP + 1);
    positions.position(|window| window.eq_ignore_ascii_case(HTTP)).filter(|_| !is_markup)
}

/// The end of the head: after the first empty line.
pub(in crate::fetch) fn end_of_head(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', text).find_map(|at| match text[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// `HTTP/1.1 200 OK`. A version above 1.0 is read as 1.1 (RFC 9110 §2.5), a missing one as 1.0.
fn status_line(line: &[u8]) -> Option<(Version, StatusCode, &[u8])> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
    let rest = &line[HTTP.len()..];
    let end = rest.iter().position(is_space)?;
    let version = match &rest[..end] {
        b"" => Version::HTTP_10,
        [b'/', major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit() => {
            if (*major, *minor) > (b'1', b'0') { Version::HTTP_11 } else { Version::HTTP_10 }
        }
        _ => return None,
    };
    let rest = &rest[end..];
    let rest = &rest[rest.iter().take_while(|byte| is_space(byte)).count()..];
    let (digits, reason) = rest.split_at_checked(3)?;
    let is_number = digits.iter().all(u8::is_ascii_digit) && !reason.first().is_some_and(u8::is_ascii_digit);
    let status = StatusCode::from_bytes(digits).ok().filter(|_| is_number)?;
    Some((version, status, reason.trim_ascii()))
}

fn headers(fields: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut open: Option<(HeaderName, Vec<u8>)> = None;
    let mut close = |open: Option<(HeaderName, Vec<u8>)>| {
        let Some((name, mut value)) = open else { return };
        value
            .iter_mut()
            .filter(|byte| byte.is_ascii_control() && **byte != b'\t')
            .for_each(|byte| *byte = b' ');
        if let Ok(value) = HeaderValue::from_bytes(value.trim_ascii()) {
            // If there are more fields than a map can hold, the first ones count.
            let _ = headers.try_append(name, value);
        }
    };
    for line in fields.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty()) {
        // RFC 9112 §5.2: a line that begins with white space continues the field before it.
        if matches!(line[0], b' ' | b'\t') {
            if let Some((_, value)) = &mut open {
                value.push(b' ');
                value.extend_from_slice(line.trim_ascii());
            }
            continue;
        }
        close(open.take());
        if let Some(colon) = memchr(b':', line)
            && let Ok(name) = HeaderName::from_bytes(line[..colon].trim_ascii_end())
        {
            open = Some((name, line[colon + 1..].trim_ascii_start().to_vec()));
        }
    }
    close(open);
    headers
}

/// How the body is framed (RFC 9112 §6.3), or where a length is invalid, by Fetch, "extract a length"; none
/// where there are two different lengths.
fn framing(status: StatusCode, headers: &HeaderMap, has_body: bool) -> Option<Framing> {
    let is_bodiless = status.is_informational()
        || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
        || !has_body;
    if is_bodiless {
        return Some(Framing::Length(0));
    }
    let codings = headers
        .get_all(TRANSFER_ENCODING)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    // HTTP/1.0 has no chunks, but a server that declares them sends them (RFC 9112 §6.1).
    if codings.last().is_some_and(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked")) {
        return Some(Framing::chunked());
    }
    let mut lengths =
        headers.get_all(CONTENT_LENGTH).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let Some(length) = lengths.next().map(<[u8]>::trim_ascii) else { return Some(Framing::ToEnd) };
    if lengths.any(|other| other.trim_ascii() != length) {
        return None;
    }
    let is_number = !length.is_empty() && length.iter().all(u8::is_ascii_digit);
    let number =
        std::str::from_utf8(length).ok().filter(|_| is_number).and_then(|length| length.parse().ok());
    Some(number.map_or(Framing::ToEnd, Framing::Length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head(text: &str) -> RawHead {
        match parse(text.as_bytes(), true) {
            ParsedHead::Head(head) => *head,
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn status_lines_are_read_as_browsers_read_them() {
        for (line, status, version) in [
            ("HTTP/1.1 200 OK", 200, Version::HTTP_11),
            ("HTTP/1.0 404 Not Found", 404, Version::HTTP_10),
            ("HTTP/1.1  200  OK", 200, Version::HTTP_11),
            ("HTTP/1.1\t301\tMoved", 301, Version::HTTP_11),
            ("HTTP/1.2 200 OK", 200, Version::HTTP_11),
            ("HTTP/2.0 200", 200, Version::HTTP_11),
            ("http/1.1 200 ok", 200, Version::HTTP_11),
            ("Http/0.9 200 ok", 200, Version::HTTP_10),
            ("HTTP 200 OK", 200, Version::HTTP_10),
            ("HTTP/1.1 200OK", 200, Version::HTTP_11),
            ("HTTP/1.1 200 O\u{1}K", 200, Version::HTTP_11),
            ("\r\n\nxyHTTP/1.1 999 No", 999, Version::HTTP_11),
        ] {
            let head = head(&format!("{line}\r\nA: b\r\n\r\n"));
            assert_eq!((head.status.as_u16(), head.version), (status, version), "{line}");
            assert_eq!(head.headers["a"], "b", "{line}");
        }
    }

    #[test]
    fn what_is_no_status_line_is_not_http() {
        for line in [
            "SSH-2.0-OpenSSH_9.2",
            "HTTP/1.1 abc",
            "HTTP/1.1 20",
            "HTTP/1.1 2000 OK",
            "HTTP/1.1 099 OK",
            "HTTP/11 200 OK",
            "HTTP/x.1 200 OK",
            "HTTP://a.ke/",
            "HTTPS 200 OK",
            "<p>http 200 </p>",
            " <http/1.1 200 OK",
            "junk! HTTP/1.1 200 OK",
            "{\"http\": 200}",
            "\0\0\0\0\0\0\0\0",
        ] {
            let parsed = parse(format!("{line}\r\n\r\n").as_bytes(), true);
            assert!(matches!(parsed, ParsedHead::NotHttp), "{line}: {parsed:?}");
        }
    }

    #[test]
    fn fields_without_sense_are_left_out_and_others_kept() {
        let head = head(
            "HTTP/1.1 200 OK\n folded into nothing\r\nA : 1\r\nno colon\r\n: 2\r\nX Y: 3\r\nB: 4\r\n\t5 \nC: 6\rD: 7\r\nE: \u{1}8\u{7f}9\r\nF:\nA:10\r\n\n",
        );
        let fields: Vec<_> =
            head.headers.iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap())).collect();
        assert_eq!(fields, ["a=1", "a=10", "b=4 5", "c=6", "d=7", "e=8 9", "f="]);
    }

    #[test]
    fn bodies_are_framed_as_fetch_and_the_rfc_say() {
        let chunked = Framing::chunked();
        for (fields, framing) in [
            ("", Some(Framing::ToEnd)),
            ("Content-Length: 42", Some(Framing::Length(42))),
            ("Content-Length: 042", Some(Framing::Length(42))),
            ("Content-Length: 42, 42\r\nContent-Length:42", Some(Framing::Length(42))),
            ("Content-Length: 42s", Some(Framing::ToEnd)),
            ("Content-Length: 42s\r\nContent-Length: 42s", Some(Framing::ToEnd)),
            ("Content-Length: 20 bytes", Some(Framing::ToEnd)),
            ("Content-Length: -1", Some(Framing::ToEnd)),
            ("Content-Length: +20", Some(Framing::ToEnd)),
            ("Content-Length: 0x20", Some(Framing::ToEnd)),
            ("Content-Length:", Some(Framing::ToEnd)),
            ("Content-Length: 99999999999999999999", Some(Framing::ToEnd)),
            ("Content-Length: 42\r\nContent-Length: 43", None),
            ("Content-Length: 42, 43", None),
            ("Content-Length: 42\r\nContent-Length: x", None),
            ("Content-Length: 030, 30", None),
            ("Content-Length: 42\r\nContent-Length: 43\r\nTransfer-Encoding: chunked", Some(chunked.clone())),
            ("Transfer-Encoding: gzip\r\nTransfer-Encoding: Chunked", Some(chunked.clone())),
            ("Transfer-Encoding: chunked, chunked", Some(chunked.clone())),
            ("Transfer-Encoding: identity\r\nContent-Length: 3", Some(Framing::Length(3))),
        ] {
            for version in ["1.0", "1.1"] {
                match (parse(format!("HTTP/{version} 200 OK\r\n{fields}\r\n\r\n").as_bytes(), true), &framing)
                {
                    (ParsedHead::Head(head), Some(framing)) => assert_eq!(head.framing, *framing, "{fields}"),
                    (parsed, framing) => {
                        assert!(
                            matches!(parsed, ParsedHead::Refused) && framing.is_none(),
                            "{fields}: {parsed:?}"
                        );
                    }
                }
            }
        }
        for status in ["204", "304", "101"] {
            let text = format!("HTTP/1.1 {status} x\r\nContent-Length: 42\r\n\r\n");
            assert_eq!(head(&text).framing, Framing::Length(0), "{status}");
        }
        let ParsedHead::Head(head) = parse(b"HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n", false) else {
            panic!()
        };
        assert_eq!(head.framing, Framing::Length(0), "HEAD");
    }

    #[test]
    fn zero_bytes_are_refused_and_heads_without_end_too_large() {
        assert!(matches!(parse(b"HTTP/1.2 200 OK\r\nA: \0\r\n\r\n", true), ParsedHead::Refused));
        let long = [b"HTTP/1.2 200 OK\r\nA: ".as_slice(), &vec![b'x'; READ_AHEAD as usize]].concat();
        assert!(matches!(parse(&long, true), ParsedHead::TooLarge));
        assert!(matches!(parse(&[long, b"\r\n\r\n".to_vec()].concat(), true), ParsedHead::TooLarge));
        let line = [b"HTTP/1.1 ".as_slice(), &vec![b' '; LONGEST_STATUS_LINE]].concat();
        assert!(matches!(parse(&line, true), ParsedHead::NotHttp));
        assert!(matches!(parse(&vec![b'\n'; 2 * LONGEST_STATUS_LINE], true), ParsedHead::NotHttp));
    }

    #[test]
    fn ten_thousand_fields_are_a_head() {
        let fields: String = (0..10_000).map(|number| format!("X-{number}: {number}\r\n")).collect();
        assert_eq!(head(&format!("HTTP/1.2 200 OK\r\n{fields}\r\n")).headers.len(), 10_000);
        let repeated_fields = "A: b\r\n".repeat(40_000);
        assert!(head(&format!("HTTP/1.2 200 OK\r\n{repeated_fields}\r\n")).headers.len() > 20_000);
    }

    proptest! {
        #[test]
        fn a_head_is_the_same_however_it_comes(text in "(HTTP/1.[01][ \t]{1,2}[12]0[04] ?O?K?)?[A-Ca-c:, \r\n0-9\t\u{0}]{0,40}(\r?\n\r?\n)?x?", cut in 0usize..80) {
            let whole = parse(text.as_bytes(), true);
            let cut = cut.min(text.len());
            match (parse(&text.as_bytes()[..cut], true), &whole) {
                (ParsedHead::More, _) => {}
                (ParsedHead::Head(part), ParsedHead::Head(whole)) => {
                    prop_assert_eq!((part.length, &part.headers, part.status), (whole.length, &whole.headers, whole.status));
                    prop_assert!(whole.length <= cut);
                }
                (part, whole) => prop_assert_eq!(std::mem::discriminant(&part), std::mem::discriminant(whole)),
            }
        }

        #[test]
        fn any_bytes_are_parsed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes, true);
            let _ = parse(&[b"HTTP/1.1 200 OK\r\n", &bytes[..], b"\r\n\r\n"].concat(), true);
        }
    }
}
