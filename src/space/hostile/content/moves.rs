//! Redirects that lead in circles, nowhere, or to forbidden places.

use crate::hostile::case::{Case, neighbour};
use crate::hostile::pages::{CaseRequest, LINK_TO_NEXT, html, on_front, redirect, response};
use crate::web::Act;

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("redirect-to-itself", "A page that redirects to itself.", |request| {
        redirect(request.target)
    }),
    Case::of_pages("redirect-loop", "Two pages that redirect to each other.", |request| {
        redirect(if request.target == "/" { "/other" } else { "/" })
    }),
    Case::of_pages("redirects-without-end", "Every page redirects to a new one.", |request| {
        redirect(&format!("{}x", request.target))
    }),
    Case::of_pages("redirect-chain", "Nine redirects, then a page.", |request| {
        match request.target.trim_start_matches('/').len() {
            hops @ 0..9 => redirect(&format!("/{}", "x".repeat(hops + 1))),
            _ => html(LINK_TO_NEXT),
        }
    }),
    Case::of_pages("redirect-between-schemes", "http redirects to https and back.", |request| match request
        .target
    {
        "/" => redirect(&format!("https://{}/s", request.main_host)),
        "/s" => redirect(&format!("http://{}/", request.main_host)),
        _ => html(""),
    }),
    Case::of_pages(
        "redirects-round-all-doors",
        "www and the bare name, http and https redirect in a circle.",
        |request| {
            let (bare, https) = (request.main_host, request.is_https);
            match (request.target, request.host == bare, https) {
                ("/", true, false) => redirect(&format!("https://{bare}/")),
                ("/", true, true) => redirect(&format!("https://www.{bare}/")),
                ("/", false, true) => redirect(&format!("http://www.{bare}/")),
                ("/", false, false) => redirect(&format!("http://{bare}/")),
                _ => html(""),
            }
        },
    ),
    Case::of_pages("redirect-to-other-schemes", "Redirects to ftp, file, javascript and data.", |request| {
        match request.target {
            "/ftp" => redirect(&format!("ftp://{}/", request.main_host)),
            "/file" => redirect("file:///etc/passwd"),
            "/script" => redirect("javascript:location='/x'"),
            "/data" => redirect("data:text/html,<a href=/x>x</a>"),
            _ => front_with_links(request, &["/ftp", "/file", "/script", "/data"]),
        }
    }),
    Case::of_pages("redirect-to-private-address", "A redirect into a private network.", |_| {
        redirect("http://10.0.0.1/admin")
    }),
    Case::of_pages(
        "redirect-to-link-local",
        "A redirect to the link-local address where clouds keep secrets.",
        |_| redirect("http://169.254.169.254/latest/meta-data/"),
    ),
    Case::of_pages("redirect-to-disguised-loopback", "Redirects to loopback in odd spellings.", |request| {
        match request.target {
            "/decimal" => redirect("http://2130706433:8080/"),
            "/hex" => redirect("http://0x7f.1/"),
            "/octal" => redirect("http://0177.0.0.01/"),
            "/six" => redirect("http://[::ffff:127.0.0.1]/"),
            "/name" => redirect("http://localhost/"),
            _ => front_with_links(request, &["/decimal", "/hex", "/octal", "/six", "/name"]),
        }
    }),
    Case::of_pages("redirect-to-opted-out", "A redirect to a site that opted out.", |request| {
        redirect(&format!("http://{}/", neighbour(request.main_host, "opted-out")))
    }),
    Case::of_pages("opted-out", "A site to be put on the opt-out list.", crate::hostile::pages::front),
    Case::of_pages(
        "opted-out-part",
        "A site whose host left-alone is to be put on the opt-out list.",
        |request| {
            let host = format!("http://left-alone.{}/", request.main_host);
            on_front(request, || crate::hostile::pages::links([host.as_str(), "/next"]))
        },
    ),
    Case::of_pages("redirect-without-location", "A redirect without a location.", |_| {
        response("302 Found", &[], LINK_TO_NEXT.as_bytes())
    }),
    Case::of_pages("redirect-to-nonsense", "Redirects to text that is not a URL.", |request| {
        match request.target {
            "/empty" => redirect(""),
            "/bytes" => vec![Act::Send(
                b"HTTP/1.1 302 Found\r\nLocation: http://\xff\xfe/\r\nContent-Length: 0\r\n\r\n".to_vec(),
            )],
            "/spaces" => redirect("http://a b c/ d"),
            "/port" => redirect(&format!("http://{}:99999/", request.main_host)),
            "/bracket" => redirect("http://[::1/"),
            _ => front_with_links(request, &["/empty", "/bytes", "/spaces", "/port", "/bracket"]),
        }
    }),
    Case::of_pages("redirect-to-long-url", "A redirect to a URL of 100 kB.", |request| {
        on_front(request, || redirect(&format!("/{}", "x".repeat(100_000))))
    }),
    Case::of_pages("redirect-to-many-places", "A redirect with three locations.", |request| {
        on_front(request, || response("302 Found", &["Location: /next", "Location: /b", "Location: /c"], b""))
    }),
    Case::of_pages("redirect-in-latin-1", "A redirect to a path in Latin-1.", |request| {
        redirect_in_bytes(request, b"/th\xe9", "/th%E9")
    }),
    Case::of_pages("redirect-in-shift-jis", "A redirect to a path in Shift_JIS.", |request| {
        redirect_in_bytes(request, b"/\x93\xfa\x96{", "/%93%FA%96%7B")
    }),
    Case::of_pages("redirect-in-utf-8", "A redirect to a path in UTF-8.", |request| {
        redirect_in_bytes(request, "/th\u{e9}".as_bytes(), "/th%C3%A9")
    }),
    Case::of_pages("header-refresh", "A page without links, whose Refresh header leads on.", |request| {
        on_front(request, || response("200 OK", &["Refresh: 0; url=next"], b"<p>Wait.</p>"))
    }),
    Case::of_pages("header-refresh-and-base", "A base element, which a Refresh header ignores.", |request| {
        let refresh = || response("200 OK", &["Refresh: 5;URL='next'"], b"<base href=\"/a/\"><p>Wait.</p>");
        if request.target == "/a/next" {
            crate::hostile::pages::missing()
        } else {
            on_front(request, refresh)
        }
    }),
    Case::of_pages("redirect-and-refresh", "A redirect that also refreshes, to another page.", |request| {
        on_front(request, || response("302 Found", &["Location: /next", "Refresh: 0; url=/b"], b""))
    }),
    Case::of_robots("robots-to-private-address", "robots.txt redirects into a private network.", |request| {
        redirect_robots(request, "http://192.168.1.1/robots.txt")
    }),
    Case::of_robots("robots-to-opted-out", "robots.txt redirects to a site that opted out.", |request| {
        let to = format!("http://{}/robots.txt", neighbour(request.main_host, "opted-out"));
        redirect_robots(request, &to)
    }),
    Case::of_robots("robots-to-other-scheme", "robots.txt redirects to ftp.", |request| {
        redirect_robots(request, &format!("ftp://{}/robots.txt", request.main_host))
    }),
];

/// A redirect with these bytes as Location. Only `target` and `/next` have a page.
fn redirect_in_bytes(request: &CaseRequest<'_>, location: &[u8], target: &str) -> Vec<Act> {
    let (before, after) = (&b"HTTP/1.1 302 Found\r\nLocation: "[..], &b"\r\nContent-Length: 0\r\n\r\n"[..]);
    match request.target {
        "/" => vec![Act::Send([before, location, after].concat())],
        other if other == target => html(LINK_TO_NEXT),
        "/next" => html("<p>A page.</p>"),
        _ => crate::hostile::pages::missing(),
    }
}

fn front_with_links(request: &CaseRequest<'_>, targets: &[&str]) -> Vec<Act> {
    on_front(request, || crate::hostile::pages::links(targets))
}

fn redirect_robots(request: &CaseRequest<'_>, to: &str) -> Vec<Act> {
    if request.target == "/robots.txt" { redirect(to) } else { crate::hostile::pages::front(request) }
}
