//! Servers that ban clients after some pages, and sites of which a large part is forbidden to all clients.

use crate::Handshake;
use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, anchors, html, links, missing, redirect, response};
use crate::web::Act;

/// Pages delivered, the front page included, before a client is banned.
const DELIVERED: u32 = 21;
const FORBIDDEN: &str = "403 Forbidden";
/// Interstitials as sent to crawlers, named after their titles.
const JUST_A_MOMENT: &[u8] = b"<html><head><title>Just a moment...</title></head><body>Enable JavaScript and cookies to \
    continue<script>window._cf_chl_opt={}</script><a href=\"https://www.cloudflare.com/\">Cloudflare</a></body></html>";
const NOT_A_BOT: &[u8] = b"<html><head><title>Making sure you&#39;re not a bot!</title></head><body>\
    <a href=\"https://anubis.techaro.lol/\">Anubis</a></body></html>";

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("ban-403", "403 for everything after twenty pages.", |request| {
        ban_after_pages(request, response(FORBIDDEN, &[], b""))
    }),
    Case::of_pages(
        "ban-by-challenge",
        "Cloudflare's challenge for everything after twenty pages.",
        |request| ban_after_pages(request, response(FORBIDDEN, &["cf-mitigated: challenge"], JUST_A_MOMENT)),
    ),
    Case::of_pages("ban-406", "406 for everything after twenty pages, as ModSecurity does.", |request| {
        ban_after_pages(request, response("406 Not Acceptable", &[], b"<h1>Not Acceptable!</h1>"))
    }),
    Case::of_pages("ban-by-interstitial", "An interstitial with status 200 after twenty pages.", |request| {
        ban_after_pages(request, html(JUST_A_MOMENT))
    }),
    Case::of_pages("ban-by-captcha-202", "Status 202 and a captcha after twenty pages.", |request| {
        let body = b"<html><head><meta http-equiv=\"refresh\" content=\"0;/.well-known/sgcaptcha/?r=x\"></head></html>";
        ban_after_pages(request, response("202 Accepted", &["SG-Captcha: challenge"], body))
    }),
    Case::of_pages("ban-by-resets", "Resets after twenty pages.", |request| {
        ban_after_pages(request, vec![Act::Reset])
    }),
    Case::of_pages(
        "ban-by-closing",
        "Connections closed without a response after twenty pages.",
        |request| ban_after_pages(request, vec![Act::Close]),
    ),
    Case::of_pages("ban-503", "503 for everything after twenty pages.", |request| {
        ban_after_pages(request, response("503 Service Unavailable", &[], b""))
    }),
    Case::of_pages("ban-429", "429 for everything after twenty pages.", |request| {
        ban_after_pages(request, response("429 Too Many Requests", &[], b""))
    }),
    Case::of_pages(
        "ban-in-words",
        "403 after twenty pages whose paths are words, each in a folder of its own.",
        |request| {
            let pages =
                (1..=60).map(|page| format!("/{}/{}/", WORDS[page % WORDS.len()], WORDS[page / WORDS.len()]));
            let delivered = if request.target == "/" { links(pages) } else { html("<p>A page.</p>") };
            [vec![Act::Turn(DELIVERED, response(FORBIDDEN, &[], b""))], delivered].concat()
        },
    ),
    Case::of_pages("ban-at-one-host", "One host bans after twenty pages, the other never does.", |request| {
        let shop = format!("shop.{}", request.main_host);
        if request.host == shop {
            return [vec![Act::Turn(20, response(FORBIDDEN, &[], b""))], html("<p>A page.</p>")].concat();
        }
        // The links alternate between the two hosts.
        let pages = (1..=50).flat_map(|page| [format!("http://{shop}/p{page}"), format!("/p{page}")]);
        if request.target == "/" { links(pages) } else { html("<p>A page.</p>") }
    }),
    Case::of_pages(
        "ban-beside-one-refusal",
        "One host bans after twenty pages; another host of the same server refuses one page and continues.",
        |request| {
            let shop = format!("shop.{}", request.main_host);
            if request.host == shop && request.target == "/forbidden" {
                return response(FORBIDDEN, &[], b"");
            } else if request.host == shop {
                return html("<p>A page.</p>");
            }
            let forbidden = format!("http://{shop}/forbidden");
            let pages = (1..=25).map(|page| format!("/p{page}")).chain([forbidden]);
            let pages = pages.chain((26..=60).map(|page| format!("/p{page}")));
            let pages = pages.chain((1..=10).map(|page| format!("http://{shop}/p{page}")));
            let delivered = if request.target == "/" { links(pages) } else { html("<p>A page.</p>") };
            [vec![Act::Turn(DELIVERED, response(FORBIDDEN, &[], b""))], delivered].concat()
        },
    ),
    Case::of_pages(
        "forbidden-folder",
        "A folder of sixty pages that are forbidden to everybody.",
        |request| {
            let private = (1..=60).map(|page| format!("/private/{page}"));
            let open = (1..=30).map(|page| format!("/open/{page}"));
            match request.target {
                "/" => links(private.chain(open)),
                target if target.starts_with("/private/") => response(FORBIDDEN, &[], b""),
                _ => html("<p>A page.</p>"),
            }
        },
    ),
    Case::of_pages(
        "forbidden-run",
        "Forty pages in a row that are forbidden to everybody, between pages of the same kind that are not.",
        |request| match request.target.strip_prefix("/p").and_then(|page| page.parse::<u32>().ok()) {
            None => links((1..=80).map(|page| format!("/p{page}"))),
            Some(21..=60) => response(FORBIDDEN, &["Server: ddos-guard"], b""),
            Some(_) => html("<p>A page.</p>"),
        },
    ),
    Case::of_pages("members-only", "A front page, and sixty pages that need a password.", |request| {
        let members = (1..=60).map(|page| format!("/members/{page}"));
        if request.target == "/" {
            return links(members);
        }
        response("401 Unauthorized", &["WWW-Authenticate: Basic realm=\"members\""], b"")
    }),
    Case::of_pages("challenge-at-once", "A challenge from the first page on.", |_| {
        response(FORBIDDEN, &["cf-mitigated: challenge"], JUST_A_MOMENT)
    }),
    Case::of_pages("interstitial-at-once", "An interstitial with status 200 from the first page on.", |_| {
        html(NOT_A_BOT)
    }),
    Case::of_pages(
        "page-about-a-challenge",
        "A page of many links with the title of an interstitial.",
        |request| {
            let page = format!(
                "<title>Just a moment...</title>{}",
                anchors((1..=12).map(|page| format!("/{page}")))
            );
            if request.target == "/" { html(page) } else { html("<p>A page.</p>") }
        },
    ),
    Case::of_pages(
        "retry-after-everywhere",
        "Retry-After on a redirect, a 403, a 404 and a page.",
        |request| {
            let after = "Retry-After: 1";
            match request.target {
                "/" => links(["/moved", "/forbidden", "/missing", "/page"]),
                "/moved" => response("302 Found", &["Location: /next", after], b""),
                "/forbidden" => response(FORBIDDEN, &[after], b""),
                "/missing" => response("404 Not Found", &[after], b""),
                "/page" => response("200 OK", &[after], b"<p>A page.</p>"),
                _ => html("<p>A page.</p>"),
            }
        },
    ),
    // robots.txt forbids nothing on these sites.
    Case {
        handshake: || Handshake::Closed,
        ..Case::of_robots(
            "https-closed-behind-redirect",
            "http redirects to https, which is closed.",
            redirect_to_https,
        )
    },
    Case {
        // RFC 8446 §6: fatal, access_denied.
        handshake: || Handshake::Acts(vec![Act::Send(vec![21, 3, 3, 0, 2, 2, 49]), Act::Close]),
        ..Case::of_robots(
            "https-alert-behind-redirect",
            "http redirects to https, which sends an alert.",
            redirect_to_https,
        )
    },
    Case {
        handshake: || Handshake::Acts(vec![Act::Reset]),
        ..Case::of_robots(
            "https-reset-behind-redirect",
            "http redirects to https, which resets.",
            redirect_to_https,
        )
    },
    Case::of_robots(
        "robots-missing-host",
        "robots.txt redirects to a host that does not exist.",
        |request| match request.target {
            "/robots.txt" => redirect("http://no-such-host.no-such-site.ke/robots.txt"),
            _ => html("<p>A page.</p>"),
        },
    ),
    Case::of_robots("robots-forbidding-all", "Rules that forbid everything.", |request| {
        match request.target {
            "/robots.txt" => response("200 OK", &[], b"User-agent: *\nDisallow: /\n"),
            _ => html("<p>A page.</p>"),
        }
    }),
];

/// A front page that links to sixty pages; twenty of them are delivered.
fn ban_after_pages(request: &CaseRequest<'_>, refusal: Vec<Act>) -> Vec<Act> {
    let pages = (1..=60).map(|page| format!("/p{page}"));
    let delivered = if request.target == "/" { links(pages) } else { html("<p>A page.</p>") };
    [vec![Act::Turn(DELIVERED, refusal)], delivered].concat()
}

/// Redirects everything to https, robots.txt included.
fn redirect_to_https(request: &CaseRequest<'_>) -> Vec<Act> {
    if request.is_https {
        missing()
    } else {
        redirect(&format!("https://{}{}", request.host, request.target))
    }
}

const WORDS: [&str; 8] = ["about", "news", "shop", "people", "history", "contact", "projects", "library"];
