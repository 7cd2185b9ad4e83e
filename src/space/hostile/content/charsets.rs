//! Pages in several charsets at once, in unusual ones, and in ones that do not exist.

use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS};

use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, LINK_TO_NEXT, on_front};
use crate::web::Act;

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("mixed-charsets", "ISO-2022-JP, EUC-JP and Shift_JIS in one page.", |request| {
        let parts = [ISO_2022_JP, EUC_JP, SHIFT_JIS].map(japanese);
        page(request, "text/html", &[&parts.concat(), LINK_TO_NEXT.as_bytes()].concat())
    }),
    Case::of_pages("mixed-charsets-declared", "The same, declared as one of them.", |request| {
        let parts = [EUC_JP, SHIFT_JIS, ISO_2022_JP].map(japanese);
        let body = [&parts.concat(), LINK_TO_NEXT.as_bytes()].concat();
        page(request, "text/html; charset=euc-jp", &body)
    }),
    Case::of_pages("unended-shift", "ISO-2022-JP that never shifts back to ASCII.", |request| {
        let body = [b"\x1b$B".as_slice(), LINK_TO_NEXT.as_bytes()].concat();
        page(request, "text/html; charset=iso-2022-jp", &body)
    }),
    Case::of_pages("utf-16-with-mark", "UTF-16 with a byte order mark.", |request| {
        page(request, "text/html", &[b"\xff\xfe".as_slice(), &utf_16(LINK_TO_NEXT)].concat())
    }),
    Case::of_pages(
        "utf-16-declared",
        "UTF-16 declared in the header, without a byte order mark.",
        |request| page(request, "text/html; charset=utf-16le", &utf_16(LINK_TO_NEXT)),
    ),
    Case::of_pages("utf-16-in-vain", "An ASCII page that declares itself as UTF-16.", |request| {
        let body = [b"<meta charset=utf-16>".as_slice(), LINK_TO_NEXT.as_bytes()].concat();
        page(request, "text/html", &body)
    }),
    Case::of_pages("unknown-charset", "A charset that does not exist.", |request| {
        page(request, "text/html; charset=x-swahili-1", LINK_TO_NEXT.as_bytes())
    }),
    Case::of_pages("charset-of-10-kb", "A charset with a name of 10 kB.", |request| {
        let content_type = format!("text/html; charset={}", "x".repeat(10_000));
        page(request, &content_type, LINK_TO_NEXT.as_bytes())
    }),
    Case::of_pages("utf-7", "UTF-7, in which tags can hide from filters.", |request| {
        page(request, "text/html; charset=utf-7", b"+ADw-a href=+ACI-/next+ACIAPg-x+ADw-/a+AD4-")
    }),
    Case::of_pages("no-text-at-all", "All 256 byte values, sent as HTML.", |request| {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
        page(request, "text/html", &[LINK_TO_NEXT.as_bytes(), &bytes].concat())
    }),
];

fn page(request: &CaseRequest<'_>, content_type: &str, body: &[u8]) -> Vec<Act> {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n");
    on_front(request, || vec![Act::Send([head.as_bytes(), body].concat())])
}

/// A paragraph with a link whose path and query are Japanese.
fn japanese(charset: &'static Encoding) -> Vec<u8> {
    let path = charset.name().to_ascii_lowercase();
    let text = format!("<p>日本語のページです。<a href=\"/{path}/目次?頁=次\">次へ</a></p>\n");
    charset.encode(&text).0.into_owned()
}

fn utf_16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}
