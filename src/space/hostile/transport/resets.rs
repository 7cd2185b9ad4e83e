//! Connections that break in every phase in which a server behind a gateway can break them.

use crate::Handshake;
use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, LINK_TO_NEXT, front, missing, on_front, raw, response, unframed};
use crate::web::Act;

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_tls("reset-in-handshake", "Reset when the TLS handshake begins.", || {
        Handshake::Acts(vec![Act::Reset])
    }),
    Case::of_pages("reset-before-answer", "Reset before the first byte.", |request| {
        on_front(request, || vec![Act::Reset])
    }),
    Case::of_pages("reset-in-header", "Reset within the header.", |request| {
        on_front(request, || vec![raw("HTTP/1.1 200 OK\r\nContent-Type: te"), Act::Reset])
    }),
    Case::of_pages("reset-in-body", "Reset within the page.", |request| {
        on_front(request, || vec![unframed("Content-Length: 9999\r\n", LINK_TO_NEXT.as_bytes()), Act::Reset])
    }),
    Case::of_pages("reset-in-chunk", "Reset within a chunk.", |request| {
        let begin = format!("ffff\r\n{LINK_TO_NEXT}");
        on_front(request, || vec![unframed("Transfer-Encoding: chunked\r\n", begin.as_bytes()), Act::Reset])
    }),
    Case::of_robots("reset-between-requests", "Reset at the second request on a connection.", |request| {
        [ordinary_response(request), vec![Act::Hear, Act::Reset]].concat()
    }),
    Case::of_robots(
        "close-under-every-second-request",
        "Every connection closes at its second request.",
        |request| [ordinary_response(request), vec![Act::Hear, Act::Close]].concat(),
    ),
    Case::of_robots(
        "keep-alive-not-kept",
        "Keep-Alive promises a minute, but every second request is reset.",
        |request| {
            let keep_alive_fields = ["Connection: keep-alive", "Keep-Alive: timeout=60, max=100"];
            let (status, body) = match request.target {
                "/robots.txt" => ("404 Not Found", ""),
                "/" => ("200 OK", LINK_TO_NEXT),
                _ => ("200 OK", "<p>A page.</p>"),
            };
            [response(status, &keep_alive_fields, body.as_bytes()), vec![Act::Hear, Act::Reset]].concat()
        },
    ),
    Case::of_robots(
        "close-without-a-word",
        "Every connection closes after its first response, without notice.",
        |request| [ordinary_response(request), vec![Act::Close]].concat(),
    ),
    Case::of_robots(
        "close-under-a-request-then-for-good",
        "The connection closes at the second request, and the page is reset on a new connection too.",
        |request| match request.target {
            "/robots.txt" => [missing(), vec![Act::Hear, Act::Close]].concat(),
            _ => vec![Act::Reset],
        },
    ),
    Case::of_robots("reset-always", "Every request is reset.", |_| vec![Act::Reset]),
    Case::of_robots("reset-by-http", "http is reset; https works.", |request| match request {
        CaseRequest { is_https: false, .. } => vec![Act::Reset],
        CaseRequest { target: "/robots.txt", .. } => missing(),
        _ => front(request),
    }),
];

fn ordinary_response(request: &CaseRequest<'_>) -> Vec<Act> {
    if request.target == "/robots.txt" { missing() } else { front(request) }
}
