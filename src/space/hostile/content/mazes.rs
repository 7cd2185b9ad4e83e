//! Oversized markup, and sites without end.

use xxhash_rust::xxh3::xxh3_64;

use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, LINK_TO_NEXT, anchors, html, links, on_front};
use crate::web::Act;

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("hundred-thousand-links", "100,000 links on a page.", |request| {
        on_front(request, || links((0..100_000).map(|n| format!("/{n}"))))
    }),
    Case::of_pages("hundred-thousand-externals", "100,000 links that leave the site.", |request| {
        on_front(request, || links((0..100_000).map(|n| format!("http://h{n}.example/"))))
    }),
    Case::of_pages("deep-nesting", "Elements within elements, 100,000 deep.", |request| {
        on_front(request, || html([&"<div><b>".repeat(50_000), LINK_TO_NEXT].concat()))
    }),
    Case::of_pages("many-attributes", "A tag with 50,000 attributes.", |request| {
        let attributes: String = (0..50_000).map(|n| format!(" a{n}=x")).collect();
        on_front(request, || html(format!("<p{attributes}></p>{LINK_TO_NEXT}")))
    }),
    Case::of_pages("unended-markup", "Comments, quotes and scripts that never end.", |request| {
        let odd = "<p title='it''s><!-- not -- over --!><![CDATA[ x ]]><style>a{</style>";
        on_front(request, || html(format!("{odd}{LINK_TO_NEXT}<script>\"</scrip>{LINK_TO_NEXT}")))
    }),
    Case::of_pages("evil-base", "Several base elements that lead elsewhere.", |request| {
        let bases = "<base href='javascript:x'><base href='http://10.0.0.1/'>";
        on_front(request, || html(format!("{bases}<a href='next'>x</a>{LINK_TO_NEXT}")))
    }),
    Case::of_pages("frames", "Frames within frames, and in themselves.", |request| {
        let frames = ["/", "/top", "/next"].map(|src| format!("<frame src='{src}'>")).concat();
        match request.target {
            "/" | "/top" => {
                html(format!("<frameset cols='*,*'>{frames}<iframe src='#'></iframe></frameset>"))
            }
            _ => html(""),
        }
    }),
    Case::of_pages("refresh-loop", "Pages that refresh to each other, and to themselves.", |request| {
        let refresh = |to: &str| html(format!("<meta http-equiv=refresh content=\"0; url={to}\">"));
        match request.target {
            "/" => refresh("/a"),
            "/a" => refresh("/b"),
            _ => refresh("/"),
        }
    }),
    Case::of_pages("refresh-without-end", "Every page refreshes to a new one.", |request| {
        html(format!("<meta http-equiv=refresh content=\"0; url={}\">", unused_path(request, 0)))
    }),
    Case::of_pages("calendar", "A calendar of all the months to come.", |request| {
        let month: u32 = request.target.rsplit('/').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
        let (year, next) = (2026 + month / 12, month + 1);
        if request.target.ends_with("/day") {
            return html("<p>Nothing on this day.</p>");
        }
        links([format!("/calendar/{year}/{next}/"), format!("/calendar/{year}/{month}/day")])
    }),
    Case::of_pages("session-ids", "Every visit gets new names for the same pages.", |request| {
        links((0..3).map(|n| format!("/session{}/page{n}", unused_path(request, n))))
    }),
    Case::of_pages("relative-paths", "A relative link that leads ever deeper.", |_| {
        links(["news/archive/", "/next"])
    }),
    Case::of_pages("facets", "A shop whose filters can be set in every order.", |request| {
        let more = ["red", "blue", "large", "small", "new", "used", "cheap"].into_iter();
        let more = more.filter(|facet| !request.target.contains(facet));
        let base = request.target.trim_end_matches('/');
        links(more.map(|facet| format!("{base}/{facet}/")))
    }),
    Case::of_pages("soft-404", "Missing paths show a page with links to more missing paths.", |request| {
        links((0..2).map(|n| format!("/gone{}", unused_path(request, n))))
    }),
    Case::of_pages("wildcard-subdomains", "Every name below the site is a host.", |request| {
        let host = request.main_host;
        links((0..2).map(|n| format!("http://w{}.{host}/", &unused_path(request, n)[1..])))
    }),
    Case::of_pages("endless-scripts", "Every query of a script leads to two more.", |request| {
        links((0..2).map(|n| format!("/list.php?id={}", &unused_path(request, n)[1..])))
    }),
    Case::of_pages(
        "renamed-folders",
        "The same three pages in ever new folders, each with a link that leaves the site.",
        |request| page_in_new_folders(request, |folder| folder),
    ),
    Case::of_pages(
        "renamed-in-letters",
        "The same three pages in ever new folders whose names are letters.",
        |request| {
            page_in_new_folders(request, |folder| {
                folder.chars().map(|c| (c as u8 % 26 + b'a') as char).collect()
            })
        },
    ),
    Case::of_pages("wide-and-deep", "A thousand new links on every page.", |request| {
        html(anchors((0..1000).map(|n| unused_path(request, n))))
    }),
];

/// One of three pages, with links to the other two in new folders.
fn page_in_new_folders(request: &CaseRequest<'_>, spelled: fn(String) -> String) -> Vec<Act> {
    let page_number =
        request.target.bytes().rfind(u8::is_ascii_digit).map_or(0, |digit| u64::from(digit - b'0'));
    let folder = |number| spelled(unused_path(request, number)[1..].to_owned());
    let next =
        (1..=2).map(|number| format!("/s/{}/page{}.html", folder(number), (2 * page_number + number) % 3));
    let paragraph = format!("<p>{}</p>", format!("What page {page_number} says of many things. ").repeat(30));
    html(paragraph + &anchors(next.chain([format!("http://out{page_number}.example/")])))
}

/// A path not used before, derived from the requested one.
fn unused_path(request: &CaseRequest<'_>, number: u64) -> String {
    format!("/{:x}", xxh3_64(format!("{}{} {number}", request.host, request.target).as_bytes()))
}
