//! Servers that write a session identifier into every URL, a new one at each visit. All have the same pages.

use xxhash_rust::xxh3::xxh3_64;

use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, anchors, html, redirect};
use crate::web::Act;

/// Pages beside the front page; half of them have an external link.
const PAGES: u64 = 24;
const WITH_ALL: u64 = 1 + PAGES;

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("asp-net-sessions", "Every page redirects into an ASP.NET session.", |request| {
        match request.target.split_once("))/") {
            Some((_, name)) => page(name, |name| format!("/{name}")),
            None => redirect(&format!("/(S({})){}", token(request), request.target)),
        }
    })
    .with_request_limit(1 + 2 * WITH_ALL),
    Case::of_pages(
        "asp-net-sessions-in-links",
        "Every link leads into an ASP.NET session of its own.",
        |request| {
            let name = request.target.rsplit('/').next().unwrap_or_default();
            page(name, |name| format!("/(A(x-y_1)S({}))/{name}", token(request)))
        },
    )
    .with_request_limit(1 + WITH_ALL),
    Case::of_pages(
        "asp-net-cookie-check",
        "Checks whether a client accepts cookies, then writes the session into the path.",
        |request| {
            let path = request.target.split('?').next().unwrap_or_default();
            match (path.split_once("))/"), request.target.contains("AspxAutoDetectCookieSupport=1")) {
                (Some((_, name)), _) => page(name, str::to_owned),
                (None, true) => redirect(&format!("/(X(1)S({})){}", token(request), request.target)),
                (None, false) => redirect(&format!("{path}?AspxAutoDetectCookieSupport=1")),
            }
        },
    )
    .with_request_limit(3 + WITH_ALL),
    Case::of_pages("jsessionid-in-links", "Every link has a Java session of its own.", |request| {
        let name = request.target[1..].split(';').next().unwrap_or_default();
        page(name, |name| format!("/{name};jsessionid={}.node1", token(request)))
    })
    .with_request_limit(1 + WITH_ALL),
    Case::of_pages(
        "jsessionid-taken-out",
        "Links have a Java session, which a redirect removes.",
        |request| match request.target[1..].split_once(';') {
            None => page(&request.target[1..], |name| format!("/{name};jsessionid={}", token(request))),
            Some((name, _)) => redirect(&format!("/{name}")),
        },
    )
    .with_request_limit(1 + 2 * WITH_ALL),
    Case::of_pages("php-sessions", "Every page redirects into a PHP session.", |request| {
        match request.target[1..].split_once("?PHPSESSID=") {
            Some((name, _)) => page(name, |name| format!("/{name}")),
            None => redirect(&format!("{}?PHPSESSID={}", request.target, token(request))),
        }
    })
    .with_request_limit(1 + 2 * WITH_ALL),
];

/// A page that links to all others.
fn page(name: &str, link: impl Fn(&str) -> String) -> Vec<Act> {
    let number: Option<u64> = name.strip_prefix("page").and_then(|number| number.parse().ok());
    let external_links =
        number.filter(|number| number % 2 == 0).map(|number| format!("http://sound{number}.example/"));
    let all = anchors((0..PAGES).map(|number| link(&format!("page{number}"))));
    html(format!("<p>Page {name}</p>{all}{}", anchors(external_links)))
}

/// Letters and digits as in ASP.NET sessions, new for every URL.
fn token(request: &CaseRequest<'_>) -> String {
    let digit = |at: u64| {
        let drawn = xxh3_64(format!("{}{} {at}", request.host, request.target).as_bytes()) % 32;
        char::from(b"abcdefghijklmnopqrstuvwxyz012345"[usize::try_from(drawn).unwrap_or_default()])
    };
    (0..24).map(digit).collect()
}
