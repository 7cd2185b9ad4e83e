//! Every kind of robots.txt that RFC 9309 describes, and some that it does not.

use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, html, links, raw, redirect, response, unframed};
use crate::hostile::transport::codings::gzipped;
use crate::web::Act;

/// Forbids one of the two pages that the front page links to.
const RULES: &str = "User-agent: *\nDisallow: /private\n";

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_robots("robots-of-5-mb", "5 MB: a rule at the beginning, and one at the end.", |request| {
        let filler = "# filler\n".repeat(5_000_000 / 9);
        with_robots(request, || text(format!("{RULES}{filler}Disallow: /next\n")))
    }),
    Case::of_robots("endless-robots", "Rules without end.", |request| {
        with_robots(request, || vec![unframed("", RULES.as_bytes()), Act::endless(b"Disallow: /x\n")])
    }),
    Case::of_robots("robots-in-one-line", "5 MB in one line.", |request| {
        with_robots(request, || text(format!("{RULES}Disallow: /{}", "x".repeat(5_000_000))))
    }),
    Case::of_robots("robots-with-mark", "A byte order mark before the first rule.", |request| {
        with_robots(request, || text(format!("\u{feff}{RULES}")))
    }),
    Case::of_robots("robots-in-utf-16", "UTF-16, which RFC 9309 does not allow.", |request| {
        with_robots(request, || text(RULES.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()))
    }),
    Case::of_robots("robots-as-html", "A page instead of robots.txt.", |request| {
        with_robots(request, || html("<html><body>User-agent: * <p>Disallow: /next</p></body></html>"))
    }),
    Case::of_robots("robots-401", "401 for robots.txt.", |request| {
        with_robots(request, || status("401 Unauthorized"))
    }),
    Case::of_robots("robots-403", "403 for robots.txt.", |request| {
        with_robots(request, || status("403 Forbidden"))
    }),
    Case::of_robots("robots-410", "410 for robots.txt.", |request| {
        with_robots(request, || status("410 Gone"))
    }),
    Case::of_robots("robots-429", "429 for robots.txt.", |request| {
        with_robots(request, || status("429 Too Many Requests"))
    }),
    Case::of_robots("robots-500", "500 for robots.txt.", |request| {
        with_robots(request, || status("500 Internal Server Error"))
    }),
    Case::of_robots("robots-503", "503 for robots.txt.", |request| {
        with_robots(request, || status("503 Service Unavailable"))
    }),
    Case::of_robots("robots-time-out", "No response for robots.txt.", |request| {
        with_robots(request, || vec![Act::Stall])
    }),
    Case::of_robots("robots-reset", "Requests for robots.txt are reset.", |request| {
        with_robots(request, || vec![Act::Reset])
    }),
    Case::of_robots("robots-five-redirects", "Five redirects, then the rules.", |request| {
        redirects(request, 5)
    }),
    Case::of_robots("robots-six-redirects", "Six redirects, then the rules.", |request| {
        redirects(request, 6)
    }),
    Case::of_robots("robots-redirect-loop", "robots.txt redirects to itself.", |request| {
        with_robots(request, || redirect("/robots.txt"))
    }),
    Case::of_robots("robots-broken-gzip", "Rules that are declared as gzip but are not.", |request| {
        with_robots(request, || response("200 OK", &["Content-Encoding: gzip"], RULES.as_bytes()))
    }),
    Case::of_robots(
        "robots-in-members",
        "Gzipped rules in two members; the second forbids a page.",
        |request| {
            let members = ["User-agent: *\n", "Disallow: /private\n"].map(|rules| gzipped(rules.as_bytes()));
            with_robots(request, || response("200 OK", &["Content-Encoding: gzip"], &members.concat()))
        },
    ),
    Case::of_robots(
        "robots-coding-utf-8",
        "Rules whose charset is given as their content coding.",
        |request| with_robots(request, || response("200 OK", &["Content-Encoding: utf-8"], RULES.as_bytes())),
    ),
    Case::of_robots("robots-with-many-headers", "404 for robots.txt, with 200 header fields.", |request| {
        with_robots(request, || response("404 Not Found", &["X-Filler: x"; 200], b""))
    }),
    Case::of_robots("robots-truncated", "Rules that break off after the first.", |request| {
        with_robots(request, || vec![unframed("Content-Length: 9999\r\n", RULES.as_bytes()), Act::Close])
    }),
    Case::of_robots("robots-stalled", "Rules that stall after the first.", |request| {
        with_robots(request, || vec![unframed("Content-Length: 9999\r\n", RULES.as_bytes()), Act::Stall])
    }),
    Case::of_robots("robots-without-http", "Rules without a status line and header.", |request| {
        with_robots(request, || vec![raw(RULES), Act::Close])
    }),
    Case::of_robots("robots-of-nul", "A megabyte of zero bytes.", |request| {
        with_robots(request, || text(vec![0; 1 << 20]))
    }),
    Case::of_robots(
        "robots-challenge",
        "A challenge with status 200 for robots.txt, and for nothing else.",
        |request| {
            with_robots(request, || response("200 OK", &["cf-mitigated: challenge"], b"<p>One moment.</p>"))
        },
    ),
    Case::of_robots("robots-interstitial", "An interstitial instead of robots.txt.", |request| {
        with_robots(request, || html("<html><head><title>Just a moment...</title></head></html>"))
    }),
    Case::of_robots("robots-captcha-202", "Status 202 and a captcha for robots.txt.", |request| {
        with_robots(request, || response("202 Accepted", &["SG-Captcha: challenge"], b""))
    }),
    Case::of_robots("robots-evil-patterns", "Patterns made to take long to match.", |request| {
        let pattern = format!("Disallow: /{}$\n", "*x".repeat(1000));
        let rules = pattern.repeat(200);
        with_robots(request, || text(format!("{RULES}{rules}")))
    }),
];

/// Serves `robots` for robots.txt. The front page links to one page that the rules forbid and one that they
/// do not.
fn with_robots(request: &CaseRequest<'_>, robots: impl FnOnce() -> Vec<Act>) -> Vec<Act> {
    match request.target {
        "/robots.txt" => robots(),
        "/" => links(["/next", "/private"]),
        _ => html("<p>A page.</p>"),
    }
}

fn text(body: impl AsRef<[u8]>) -> Vec<Act> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n");
    vec![Act::Send([head.as_bytes(), body].concat())]
}

fn status(line: &str) -> Vec<Act> {
    response(line, &[], b"")
}

/// `/robots.txt`, `/rules/1`, `/rules/2` … redirect to the next, `redirect_count` times in all.
fn redirects(request: &CaseRequest<'_>, redirect_count: u32) -> Vec<Act> {
    let hop: Option<u32> = match request.target.strip_prefix("/rules/") {
        Some(number) => number.parse().ok(),
        None => (request.target == "/robots.txt").then_some(0),
    };
    match hop {
        Some(hop) if hop < redirect_count => redirect(&format!("/rules/{}", hop + 1)),
        Some(_) => text(RULES),
        None => with_robots(request, Vec::new),
    }
}
