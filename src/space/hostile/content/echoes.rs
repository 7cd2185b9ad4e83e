//! Servers that serve a page for every path, so that relative links lead ever deeper, and ordinary sites that
//! look like them. All have the same number of external links.

use xxhash_rust::xxh3::xxh3_64;

use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, anchors, html, missing, redirect};
use crate::web::Act;

/// External links of each case.
const SOUND: u64 = 12;

const MENU: [&str; 6] = ["en/about/", "en/news/", "en/team/", "en/jobs/", "en/maps/", "en/contact/"];

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages(
        "one-page-for-every-path",
        "Every path shows the same page, with relative links.",
        |request| maze(request, "<p>Welcome.</p>", MENU),
    )
    .with_request_limit(35),
    Case::of_pages(
        "path-info",
        "A script shows the page that the last segment of the path names.",
        |request| {
            let menu = (0..12).map(|n| format!("index.php/page{n}/"));
            maze(request, &filler_words(last_segment(request.target), 60), menu)
        },
    )
    .with_request_limit(40),
    Case::of_pages("path-info-first", "The first segment of the path names the page.", |request| {
        let menu = ["a.php/list/", "b.php/list/", "c.php/all/", "d.php/all/new/"];
        maze(request, &filler_words(request.target.split('/').nth(1).unwrap_or(""), 60), menu)
    })
    .with_request_limit(80),
    Case::of_pages(
        "ever-new-text",
        "Every path shows the same page, with its path and the time in it.",
        |request| {
            let text = format!(
                "<p>You are here: {}. {} Made in {} s.</p>",
                request.target,
                filler_words("text", 90),
                filler_words(request.target, 2)
            );
            maze(request, &text, MENU)
        },
    )
    .with_request_limit(45),
    Case::of_pages(
        "ever-new-short-text",
        "Every path shows a short page; a third of its text is new.",
        |request| {
            maze(request, &format!("<p>Welcome to our place. {}</p>", filler_words(request.target, 3)), MENU)
        },
    )
    .with_request_limit(60),
    Case::of_pages("links-without-protocol", "Links to other hosts as relative paths.", |request| {
        let hosts = [
            "www.bbc.com",
            "facebook.com/event",
            "twitter.com/ke/status.html",
            "youtube.com/watch",
            "x.ke/y/z",
        ];
        maze(request, "<p>Our friends.</p>", hosts)
    })
    .with_request_limit(60),
    Case::of_pages(
        "menu-without-itself",
        "Single words as folders, each page without a link to itself.",
        |request| {
            let current_name = last_segment(request.target);
            let words = (0..14).map(|n| char::from(b'a' + n).to_string());
            let item = |word: String| {
                if word == current_name { "<b>x</b>\n".to_owned() } else { anchors([format!("{word}/")]) }
            };
            maze(request, &words.map(item).collect::<String>(), [""; 0])
        },
    )
    .with_request_limit(140),
    Case::of_pages(
        "queries-below-every-path",
        "Relative links to folders and to queries in them.",
        |request| {
            let menu = ["list/new/?page=1", "list/new/", "list/old/?page=2", "show/old/", "show/old/?x"];
            let path = request.target.split('?').next().unwrap_or("");
            maze(request, &filler_words(last_segment(path), 60), menu)
        },
    )
    .with_request_limit(70),
    Case::of_pages(
        "relative-links-of-all-lengths",
        "Relative links of one to four segments, and to parent folders.",
        |request| {
            maze(
                request,
                "<p>Welcome.</p>",
                ["a/b/c/d/", "E/f.html", "../g/h/", "../../i/", "e/F.html", "j.html/k.html"],
            )
        },
    )
    .with_request_limit(70),
    Case::of_pages("redirects-below-every-path", "Every folder redirects to its start page.", |request| {
        if request.target.ends_with('/') && !request.target.ends_with("/start/") && request.target != "/" {
            return redirect("start/");
        }
        maze(request, "<p>Welcome.</p>", MENU)
    })
    .with_request_limit(80),
    Case::of_pages(
        "untranslated-languages",
        "Five languages; in most of them, pages are not translated yet.",
        |request| {
            let languages = ["/en/", "/fr/", "/sw/", "/so/", "/"];
            let path = request.target;
            let folder = languages.into_iter().find(|language| path.starts_with(language)).unwrap_or("/");
            match path[folder.len()..]
                .strip_suffix('/')
                .and_then(|name| name.strip_prefix("page")?.parse::<u64>().ok())
            {
                None if path == folder => {
                    let menu = anchors((0..24).map(|n| format!("page{n}/")));
                    html(format!("<p>Welcome.</p>{menu}{}", anchors(languages)))
                }
                // The last two pages are translated into one language only, and only the translation has
                // their external link.
                Some(n @ 22..24) if folder == "/so/" => {
                    page_with_external_link(&format!("Ukurasa {}", filler_words("so", 40)), n - 12)
                }
                Some(n @ 0..24) => page_with_external_link(&format!("Page {n}"), n.min(9)),
                _ => missing(),
            }
        },
    )
    .with_request_limit(1 + 5 * 25),
    Case::of_pages("empty-catalogue", "Groups within groups, all with the same empty template.", |request| {
        let text = "<p>There is nothing here yet.</p>";
        let depth = request.target.matches('/').count();
        let is_there = request.target.split('/').skip(1).enumerate().all(|(at, part)| {
            part.is_empty() || (0..3).any(|n| part == format!("group{at}{}", char::from(b'a' + n)))
        });
        match depth {
            _ if !is_there => missing(),
            1..=3 => {
                let groups =
                    (0..3).map(|n| format!("{}group{}{}/", request.target, depth - 1, char::from(b'a' + n)));
                html(format!("{text}{}", anchors(groups)))
            }
            // Its index among the 27, from the last letters of its three names.
            _ => {
                let letters = request.target.split('/').filter_map(|part| part.bytes().last());
                let page_number =
                    letters.fold(0, |page_number, letter| 3 * page_number + u64::from(letter - b'a'));
                page_with_external_link(text, page_number % SOUND)
            }
        }
    })
    .with_request_limit(1 + 1 + 3 + 9 + 27),
    Case::of_pages(
        "not-found-below-folders",
        "Missing paths show a page that says so, in every folder.",
        |request| {
            let folders = || anchors((0..SOUND).map(|n| format!("/folder{n}/")));
            let number = request
                .target
                .strip_prefix("/folder")
                .and_then(|rest| rest.strip_suffix('/')?.parse::<u64>().ok());
            match number {
                Some(n) => page_with_external_link(
                    &format!("Folder {n} {} {}", folders(), anchors(["old/img/", "old/old/", "img/"])),
                    n,
                ),
                None if request.target == "/" => html(format!("<p>Welcome.</p>{}", folders())),
                None => html(format!("<p>Not found.</p>{}", folders())),
            }
        },
    )
    .with_request_limit(1 + 1 + 12 * 4),
];

/// A page of a maze. All maze pages link to the ordinary `/sound` pages, each of which has one external link.
fn maze<T: AsRef<str>>(
    request: &CaseRequest<'_>,
    text: &str,
    relative: impl IntoIterator<Item = T>,
) -> Vec<Act> {
    match request.target.strip_prefix("/sound").and_then(|number| number.parse().ok()) {
        Some(number) => page_with_external_link(&format!("Sound page {number}"), number),
        None => {
            html(format!("{text}{}{}", anchors(relative), anchors((0..SOUND).map(|n| format!("/sound{n}")))))
        }
    }
}

/// A page with one external link.
fn page_with_external_link(text: &str, number: u64) -> Vec<Act> {
    html(format!("<p>{text}</p>{}", anchors([format!("http://sound{number}.example/")])))
}

/// Words that depend only on `text`.
fn filler_words(text: &str, words: u32) -> String {
    (0..words).map(|at| format!("{:x} ", xxh3_64(format!("{text} {at}").as_bytes()))).collect()
}

fn last_segment(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}
