//! Responses whose bytes break the rules of HTTP/1, or stretch them to the limit.

use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, LINK_TO_NEXT, html, on_front, raw, response, unframed};
use crate::web::Act;

/// Every front page begins with a link; a request for its target shows that the beginning was used.
const BEGIN: &[u8] = LINK_TO_NEXT.as_bytes();

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("endless-body", "A page that never ends.", |request| {
        on_front(request, || vec![unframed("", BEGIN), Act::endless(b"<p>And so on.</p>\n")])
    }),
    Case::of_pages("one-byte-a-second", "A page that arrives at one byte per second.", |request| {
        on_front(request, || vec![unframed("", BEGIN), Act::Drip(b'.')])
    }),
    Case::of_pages("header-byte-a-second", "A header that arrives at one byte per second.", |request| {
        on_front(request, || vec![raw("HTTP/1.1 200 OK\r\nServer: "), Act::Drip(b'.')])
    }),
    Case::of_pages("stalled-body", "A page that stalls while the connection stays open.", |request| {
        on_front(request, || vec![unframed("Content-Length: 9999\r\n", BEGIN), Act::Stall])
    }),
    Case::of_pages("stalled-header", "A header that stalls.", |request| {
        on_front(request, || vec![raw("HTTP/1.1 200 OK\r\nContent-Type: te"), Act::Stall])
    }),
    Case::of_pages("header-of-1-mb", "A header field of 1 MB.", |request| {
        on_front(request, || with_fields(&format!("X-Filler: {}\r\n", "x".repeat(1 << 20))))
    }),
    Case::of_pages("endless-header", "A header that never ends.", |request| {
        on_front(request, || vec![raw("HTTP/1.1 200 OK\r\n"), Act::endless(b"X-Filler: and so on\r\n")])
    }),
    Case::of_pages("thousands-of-headers", "Five thousand header fields.", |request| {
        on_front(request, || with_fields(&"X-Filler: x\r\n".repeat(5000)))
    }),
    Case::of_pages("length-too-long", "A Content-Length longer than the page, which then ends.", |request| {
        on_front(request, || vec![unframed("Content-Length: 9999\r\n", BEGIN), Act::Close])
    }),
    Case::of_pages("length-too-short", "A Content-Length that ends within the page.", |request| {
        let length = format!("Content-Length: {}\r\n", BEGIN.len());
        on_front(request, || vec![unframed(&length, &[BEGIN, b"<p>What follows.</p>"].concat())])
    }),
    Case::of_pages("two-lengths", "Two lengths that contradict each other.", |request| {
        on_front(request, || vec![unframed("Content-Length: 5\r\nContent-Length: 34\r\n", BEGIN), Act::Close])
    }),
    Case::of_pages("absurd-length", "A length beyond 64 bits.", |request| {
        on_front(request, || vec![unframed("Content-Length: 99999999999999999999999\r\n", BEGIN), Act::Close])
    }),
    Case::of_pages("negative-length", "A negative length.", |request| {
        on_front(request, || vec![unframed("Content-Length: -1\r\n", BEGIN), Act::Close])
    }),
    Case::of_pages("length-and-chunks", "A length and chunks at once.", |request| {
        on_front(request, || {
            vec![unframed("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", &chunked(&[BEGIN]))]
        })
    }),
    Case::of_pages("broken-chunks", "Chunks whose sizes are not numbers.", |request| {
        on_front(request, || chunks(&[&chunk(BEGIN), b"many\r\nand so on\r\n0\r\n\r\n"]))
    }),
    Case::of_pages("unended-chunks", "Chunks without a last chunk.", |request| {
        on_front(request, || [chunks(&[&chunk(BEGIN)]), vec![Act::Close]].concat())
    }),
    Case::of_pages("absurd-chunk", "A chunk of 2^64 bytes.", |request| {
        on_front(request, || chunks(&[&chunk(BEGIN), b"ffffffffffffffffff\r\nx"]))
    }),
    Case::of_pages("endless-chunk-size", "A chunk size with endless zeros.", |request| {
        on_front(request, || [chunks(&[&chunk(BEGIN)]), vec![Act::endless(b"0")]].concat())
    }),
    Case::of_pages("endless-chunk-extension", "A chunk's extension never ends.", |request| {
        on_front(request, || [chunks(&[&chunk(BEGIN), b"5;filler="]), vec![Act::endless(b"x")]].concat())
    }),
    Case::of_pages("endless-trailer", "The fields after the last chunk never end.", |request| {
        on_front(request, || {
            [chunks(&[&chunk(BEGIN), b"0\r\n"]), vec![Act::endless(b"X-Filler: x\r\n")]].concat()
        })
    }),
    Case::of_pages("one-byte-chunks", "A page of 20 kB in chunks of one byte.", |request| {
        let (dots, end) = (b"1\r\n.\r\n".repeat(20_000), chunked(&[BEGIN]));
        on_front(request, || chunks(&[&dots, &end]))
    }),
    Case::of_robots("http-0-9", "Pages without a status line and header, as in 1991.", |request| {
        let body = if request.target == "/" { BEGIN } else { b"<p>A page.</p>" };
        vec![raw(body), Act::Close]
    }),
    Case::of_pages(
        "http-1-0-without-length",
        "HTTP/1.0, with a page that ends when the connection closes.",
        |request| {
            on_front(request, || {
                vec![raw("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"), raw(BEGIN), Act::Close]
            })
        },
    ),
    Case::of_pages("http-3-in-plain-text", "A status line of HTTP/3.", |request| {
        on_front(request, || vec![raw("HTTP/3.0 200 OK\r\nContent-Length: 0\r\n\r\n"), Act::Close])
    }),
    Case::of_pages("bodies-for-head", "HEAD gets a response with a body, like GET.", |request| {
        on_front(request, || html(BEGIN))
    }),
    Case::of_pages("continue-flood", "100 Continue without end.", |request| {
        on_front(request, || vec![Act::endless(b"HTTP/1.1 100 Continue\r\n\r\n")])
    }),
    Case::of_pages("early-hints-flood", "103 Early Hints without end, each with a field.", |request| {
        on_front(request, || {
            vec![Act::endless(b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n")]
        })
    }),
    Case::of_pages("some-continues", "Three times 100 Continue before the page.", |request| {
        on_front(request, || [vec![raw("HTTP/1.1 100 Continue\r\n\r\n".repeat(3))], html(BEGIN)].concat())
    }),
    Case::of_pages(
        "switching-protocols",
        "101 to a client that did not ask for another protocol.",
        |request| {
            on_front(request, || {
                vec![raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"), Act::Stall]
            })
        },
    ),
    Case::of_pages("not-modified-unasked", "304 to a client that has no earlier page.", |request| {
        on_front(request, || vec![raw("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n")])
    }),
    Case::of_pages("partial-unasked", "206 to a client that did not ask for a part.", |request| {
        on_front(request, || response("206 Partial Content", &["Content-Range: bytes 0-9/9999"], BEGIN))
    }),
    Case::of_pages("front-page-401", "A front page that needs a password.", |request| {
        let challenge = ["WWW-Authenticate: Basic realm=\"x\""];
        on_front(request, || response("401 Unauthorized", &challenge, LINK_TO_NEXT.as_bytes()))
    }),
    Case::of_pages("status-999", "A status outside all classes.", |request| {
        on_front(request, || response("999 Request Denied", &[], BEGIN))
    }),
    Case::of_pages("status-of-five-digits", "A status of five digits.", |request| {
        on_front(request, || response("20000 OK", &[], BEGIN))
    }),
    Case::of_pages("no-answer", "The connection is closed without a byte.", |request| {
        on_front(request, || vec![Act::Close])
    }),
    Case::of_pages("another-protocol", "The greeting of another protocol.", |request| {
        on_front(request, || vec![raw("SSH-2.0-OpenSSH_9.2\r\n"), Act::Close])
    }),
    Case::of_pages("zeros", "Zero bytes without end.", |request| {
        on_front(request, || vec![Act::endless(&[0])])
    }),
    Case::of_pages("bare-newlines", "Header lines that end with LF only.", |request| {
        on_front(request, || {
            let length = BEGIN.len();
            let head = format!("HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: {length}\n\n");
            vec![raw(head), raw(BEGIN)]
        })
    }),
    Case::of_pages("nul-in-field", "A field with a zero byte in it.", |request| {
        on_front(request, || with_fields("X-Nul: a\0b\r\n"))
    }),
    Case::of_pages("broken-fields", "Fields without name, without colon, with spaces, folded.", |request| {
        let fields =
            ": nameless\r\nwithout colon\r\nX Space: x\r\nX-Folded: a\r\n\tb\r\nX-\u{e9}: \u{e9}\r\n";
        on_front(request, || with_fields(fields))
    }),
    Case::of_pages(
        "hundreds-of-headers",
        "Three hundred header fields, like a preload for every file.",
        |request| {
            on_front(request, || with_fields(&"Link: </style.css>; rel=preload; as=style\r\n".repeat(300)))
        },
    ),
    Case::of_pages(
        "length-with-a-unit",
        "A Content-Length of 34 bytes, with the word bytes after the number.",
        |request| {
            let length = format!("Content-Length: {} bytes\r\n", BEGIN.len());
            on_front(request, || vec![unframed(&length, BEGIN), Act::Close])
        },
    ),
    Case::of_robots("empty-length", "A Content-Length without a number, for robots.txt too.", |request| {
        let (kind, body) = page_or_rules(request);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: \r\n\r\n");
        vec![raw(head), raw(body), Act::Close]
    }),
    Case::of_robots(
        "http-1-0-with-chunks",
        "HTTP/1.0 in chunks, which it does not define, for robots.txt too.",
        |request| {
            let (kind, body) = page_or_rules(request);
            let head =
                format!("HTTP/1.0 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n");
            vec![raw(head), raw(chunked(&[body])), Act::Close]
        },
    ),
    Case::of_pages("bare-newlines-in-chunks", "Chunks whose lines end with LF only.", |request| {
        let body = [format!("{:x}\n", BEGIN.len()).as_bytes(), BEGIN, b"\n0\n\n"].concat();
        on_front(request, || vec![unframed("Transfer-Encoding: chunked\r\n", &body), Act::Close])
    }),
    Case::of_pages("spaces-in-chunk-sizes", "Chunk sizes between spaces.", |request| {
        let body = [format!(" {:X} \r\n", BEGIN.len()).as_bytes(), BEGIN, b"\r\n0 \r\n\r\n"].concat();
        on_front(request, || vec![unframed("Transfer-Encoding: chunked\r\n", &body), Act::Close])
    }),
    Case::of_pages("gzip-on-its-way", "A page with the transfer codings gzip and chunked.", |request| {
        let body = chunked(&[&super::codings::gzipped(BEGIN)]);
        on_front(request, || vec![unframed("Transfer-Encoding: gzip, chunked\r\n", &body)])
    }),
    Case::of_pages(
        "unknown-transfer-coding",
        "A page in chunks, with an unknown transfer coding.",
        |request| {
            let body = chunked(&[&super::codings::gzipped(BEGIN)]);
            on_front(request, || vec![unframed("Transfer-Encoding: x, gzip, chunked\r\n", &body)])
        },
    ),
    Case::of_pages("two-spaces-in-status", "Two spaces before and after the status.", |request| {
        status_line(request, "HTTP/1.1  200  OK")
    }),
    Case::of_robots("tabs-in-status", "Tabs around the status, for robots.txt too.", |request| {
        status_lines(request, "HTTP/1.1\t200\tOK")
    }),
    Case::of_pages("http-1-2", "A status line of HTTP/1.2.", |request| {
        status_line(request, "HTTP/1.2 200 OK")
    }),
    Case::of_robots("http-2-in-plain-text", "A status line of HTTP/2.0, for robots.txt too.", |request| {
        status_lines(request, "HTTP/2.0 200 OK")
    }),
    Case::of_robots("http-in-lower-case", "A status line of http/1.1, for robots.txt too.", |request| {
        status_lines(request, "http/1.1 200 OK")
    }),
    Case::of_pages("control-byte-in-reason", "A reason with a control byte in it.", |request| {
        status_line(request, "HTTP/1.1 200 O\u{7}K")
    }),
    Case::of_pages("status-without-space", "A status and its reason in one word.", |request| {
        status_line(request, "HTTP/1.1 200OK")
    }),
    Case::of_pages("bare-return-in-field", "A carriage return within a field.", |request| {
        on_front(request, || with_fields("X-Odd: a\rb\r\nX-Return: \r\r\n"))
    }),
    Case::of_pages("odd-redirect", "A redirect with an odd head, to a page with a normal one.", |request| {
        on_front(request, || vec![raw("HTTP/1.1  302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n")])
    }),
    Case::of_pages("two-answers", "Every request gets two responses.", |request| {
        on_front(request, || [html(BEGIN), html("<a href=\"/second\">x</a>")].concat())
    }),
];

/// The rules, a front page that links to one forbidden and one allowed page, or another page.
fn page_or_rules(request: &CaseRequest<'_>) -> (&'static str, &'static [u8]) {
    match request.target {
        "/robots.txt" => ("text/plain", b"User-agent: *\nDisallow: /private\n"),
        "/" => ("text/html", b"<a href=\"/next\">x</a> <a href=\"/private\">x</a>"),
        _ => ("text/html", b"<p>A page.</p>"),
    }
}

fn head(status_line: &str, kind: &str, body: &[u8]) -> String {
    format!("{status_line}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len())
}

/// An ordinary front page with this status line.
fn status_line(request: &CaseRequest<'_>, line: &str) -> Vec<Act> {
    on_front(request, || vec![raw(head(line, "text/html", BEGIN)), raw(BEGIN)])
}

/// Ordinary rules and pages with this status line.
fn status_lines(request: &CaseRequest<'_>, line: &str) -> Vec<Act> {
    let (kind, body) = page_or_rules(request);
    vec![raw(head(line, kind, body)), raw(body)]
}

/// An ordinary page with additional header fields.
fn with_fields(fields: &str) -> Vec<Act> {
    let length = BEGIN.len();
    vec![unframed(&format!("{fields}Content-Length: {length}\r\n"), BEGIN)]
}

fn chunks(pieces: &[&[u8]]) -> Vec<Act> {
    vec![unframed("Transfer-Encoding: chunked\r\n", &pieces.concat())]
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

fn chunked(pieces: &[&[u8]]) -> Vec<u8> {
    [pieces.iter().flat_map(|piece| chunk(piece)).collect(), b"0\r\n\r\n".to_vec()].concat()
}
