//! The distributions of the bytes, compared with their keys, and the properties that every page must have.

use std::collections::BTreeMap;
use std::sync::Arc;

use encoding_rs::Encoding;

use super::charset::{Charset, Writing};
use super::files::file_bytes;
use super::filler::Filler;
use super::validators::{ResponseValidators, changed};
use crate::draw::Key;
use crate::model::change::last_change;
use crate::model::content::{Content, Page, Url};
use crate::model::facts::prose::PageText;
use crate::model::site::Site;
use crate::model::url_location::UrlLocation;
use crate::sampling::{MANY, assert_share, assert_shares, assert_within, log_normal};
use crate::scan::scan;
use crate::{Date, Reaction, Response, Web, World};

/// A world without faults.
const OPEN: &str = "
[faults]
no_dns_share = 0.0
servfail_share = 0.0
reset_share = 0.0
unavailable_share = 0.0
moved_share = 0.0
dns_silent_share = 0.0
silent_share = 0.0
forbidden_share = 0.0
[copies]
mirror_share = 0.0
";

const ALL_CHARSETS: &str = "[pages]
utf8_share = 0.2
windows_1252_share = 0.1
windows_1256_share = 0.1
shift_jis_share = 0.1
euc_jp_share = 0.1
iso_2022_jp_share = 0.05
mixed_share = 0.1
undeclared_share = 0.15
";

fn world(text: &str) -> World {
    World::parse(&format!("seed = 41\n{text}")).unwrap()
}

fn keys() -> impl Iterator<Item = Key> {
    (0..MANY).map(|number| Key::of_world("keys of the tests", 42).child(number))
}

fn response(world: &World, host: &str, target: &str) -> Response {
    match world.respond(false, host, target) {
        Reaction::Response(response) => response,
        other => panic!("{host}{target}: {other:?}"),
    }
}

fn page(world: &World, host: &str, target: &str) -> Option<(Arc<Site>, Page)> {
    let location = UrlLocation::find(world, &Url::http(host, target))?;
    match location.content(world) {
        Content::Page(page) => Some((location.site, page)),
        _ => None,
    }
}

/// Front pages, and some pages below them.
fn some_pages(world: &World) -> Vec<Url> {
    let hosts = (0..world.sites.count).map(|index| Site::new(world, index).main_host);
    let urls = hosts.flat_map(|host| {
        ["/", "/part-0.html", "/part-1.html", "/part-1/0.html"].map(|target| Url::http(&host, target))
    });
    urls.filter(|url| page(world, &url.host, &url.target).is_some()).collect()
}

#[test]
fn charsets_have_their_shares() {
    let world = world(ALL_CHARSETS);
    let (mut declared, mut undeclared, mut mixed) = (BTreeMap::new(), BTreeMap::new(), 0);
    for key in keys() {
        let writing = Writing::new(&world, key);
        if writing.title != writing.text {
            mixed += 1;
            continue;
        }
        let counts = if writing.place.is_some() { &mut declared } else { &mut undeclared };
        *counts.entry(writing.text).or_insert(0) += 1;
    }
    let shares = [0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05];
    let of = |counts: &BTreeMap<Charset, u64>| Charset::ALL.map(|charset| counts[&charset]).to_vec();
    let all = [of(&declared), vec![mixed, undeclared.values().sum()]].concat();
    assert_shares("sites", &all, &[&shares[..], &[0.1, 0.15]].concat());
    assert_shares("undeclared sites", &of(&undeclared), &shares.map(|share| share / 0.75));
}

#[test]
fn declarations_are_right_wrong_or_missing_by_their_shares() {
    let world = world(
        "[pages]\nutf8_share = 1.0\nwindows_1252_share = 0.0\nwindows_1256_share = 0.0\nundeclared_share = 0.0\nwrong_charset_share = 0.2\nmissing_charset_share = 0.1\n",
    );
    let writing = Writing::new(&world, Key::of_world("site", 1));
    let mut counts = [0; 3];
    for key in keys() {
        match writing.declared(&world, key) {
            Some((Charset::Utf8, _)) => counts[0] += 1,
            Some(_) => counts[1] += 1,
            None => counts[2] += 1,
        }
    }
    assert_shares("declarations", &counts, &[0.7, 0.2, 0.1]);
}

#[test]
fn what_is_declared_stands_in_header_and_page() {
    let world = world(&format!("[sites]\ncount = 60\n{OPEN}"));
    let mut declared = 0;
    for url in some_pages(&world) {
        let (site, page) = page(&world, &url.host, &url.target).unwrap();
        let meant = Writing::new(&world, site.key).declared(&world, page.key);
        let response = response(&world, &url.host, &url.target);
        let header = response.content_type.unwrap();
        let head = String::from_utf8_lossy(&response.body[..100]).into_owned();
        match meant {
            None => assert!(!header.contains("charset") && !head.contains("charset"), "{url}"),
            Some((charset, _)) => {
                let says = format!("charset={}", charset.label());
                assert!(header.ends_with(&says) || head.contains(&says), "{url}: {header}, {head}");
                declared += 1;
            }
        }
    }
    assert!(declared > 50);
}

#[test]
fn text_is_in_the_charset_of_the_site() {
    for charset in Charset::ALL {
        let world = in_charset(charset.label());
        for url in some_pages(&world) {
            let body = response(&world, &url.host, &url.target).body;
            let (text, _, is_broken) = charset.encoding().decode(&body);
            assert!(!is_broken, "{charset:?} {url}");
            assert!(!text.is_ascii(), "{charset:?} {url}");
        }
    }
}

#[test]
fn a_cut_excerpt_breaks_one_character_and_no_link() {
    let toml = "[pages]\nbytes_median = 4000.0\nutf8_share = 1.0\nwindows_1252_share = 0.0\n\
                windows_1256_share = 0.0\nundeclared_share = 0.0\ncut_excerpt_share = 1.0\n";
    let world = world(&format!("[sites]\ncount = 6\n{OPEN}{toml}"));
    for url in some_pages(&world) {
        let body = response(&world, &url.host, &url.target).body;
        let broken = body.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty());
        assert_eq!(broken.map(|chunk| chunk.invalid().len()).collect::<Vec<_>>(), [1], "{url}");
        let (_, page) = page(&world, &url.host, &url.target).unwrap();
        let found = scan(&url.to_string(), &body).into_iter().map(|link| link.url);
        assert!(found.eq(page.links.iter().map(|link| link.url.to_string())), "{url}");
    }
}

/// A small world in which all sites use one charset, or all are mixed.
fn in_charset(label: &str) -> World {
    let key = match label {
        "ISO-8859-1" => "base_share = 0.2".to_owned(),
        label => format!("{}_share = 1.0", label.to_lowercase().replace('-', "_").replace("utf_8", "utf8")),
    };
    let zero = ["utf8_share", "windows_1252_share", "windows_1256_share", "undeclared_share"];
    let zeros = zero.iter().filter(|zero| !key.starts_with(*zero)).map(|zero| format!("{zero} = 0.0\n"));
    world(&format!(
        "[sites]\ncount = 6\n{OPEN}[pages]\nbytes_median = 4000.0\nalias_share = 0.5\n{key}\n{}",
        zeros.collect::<String>()
    ))
}

#[test]
fn no_charset_read_as_any_other_swallows_or_adds_a_link() {
    // All encodings of the WHATWG Encoding standard except UTF-16, which no declaration in a page can select,
    // and "replacement".
    let encodings: Vec<&Encoding> = [
        "utf-8",
        "ibm866",
        "iso-8859-2",
        "iso-8859-3",
        "iso-8859-4",
        "iso-8859-5",
        "iso-8859-6",
        "iso-8859-7",
        "iso-8859-8",
        "iso-8859-8-i",
        "iso-8859-10",
        "iso-8859-13",
        "iso-8859-14",
        "iso-8859-15",
        "iso-8859-16",
        "koi8-r",
        "koi8-u",
        "macintosh",
        "windows-874",
        "windows-1250",
        "windows-1251",
        "windows-1252",
        "windows-1253",
        "windows-1254",
        "windows-1255",
        "windows-1256",
        "windows-1257",
        "windows-1258",
        "x-mac-cyrillic",
        "gbk",
        "gb18030",
        "big5",
        "euc-jp",
        "iso-2022-jp",
        "shift_jis",
        "euc-kr",
        "x-user-defined",
    ]
    .into_iter()
    .map(|label| Encoding::for_label(label.as_bytes()).unwrap())
    .collect();
    for written in Charset::ALL.map(Charset::label).into_iter().chain(["mixed"]) {
        let world = in_charset(written);
        let mut links = 0;
        for url in some_pages(&world) {
            let (_, page) = page(&world, &url.host, &url.target).unwrap();
            let meant: Vec<String> = page.links.iter().map(|link| link.url.to_string()).collect();
            let body = response(&world, &url.host, &url.target).body;
            links += meant.len();
            for encoding in &encodings {
                let text = encoding.decode_without_bom_handling(&body).0;
                let found = scan(&url.to_string(), text.as_bytes()).into_iter().map(|link| link.url);
                assert_eq!(found.collect::<Vec<_>>(), meant, "{written} as {}: {url}", encoding.name());
            }
        }
        assert!(links > 50, "{written}");
    }
}

#[test]
fn page_sizes_are_log_normal() {
    let world = world("");
    let keys: Vec<Key> = keys().collect();
    let size =
        |site: Key, page: Key| f64::from(u32::try_from(Filler::page_bytes(&world, site, page)).unwrap());
    let sample: Vec<f64> = keys.iter().map(|key| size(key.part("site"), *key)).collect();
    assert_within("pages of all sites", &sample, (0.0, 200_000.0), |x| log_normal(x, 10_000.0, 1.2));
    // Within a site the rest of the variance remains, around the site's median.
    let logs: Vec<f64> = keys.iter().map(|key| size(keys[0], *key).ln()).collect();
    let mean = logs.iter().sum::<f64>() / 20_000.0;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 20_000.0;
    assert!((variance.sqrt() - (1.2_f64 * 1.2 - 0.64).sqrt()).abs() < 0.03, "{variance}");
}

#[test]
fn a_page_has_the_size_drawn_for_it_unless_its_links_need_more() {
    let world = world(&format!("[sites]\ncount = 80\n{OPEN}"));
    let mut exact = 0;
    for url in some_pages(&world) {
        let (site, page) = page(&world, &url.host, &url.target).unwrap();
        let (drawn, is) = (
            Filler::page_bytes(&world, site.content, page.key),
            response(&world, &url.host, &url.target).body.len(),
        );
        assert!(is >= drawn, "{url}");
        assert!(is == drawn || drawn < 600 + 160 * page.links.len(), "{url}: {is} instead of {drawn}");
        exact += u64::from(is == drawn);
    }
    assert!(exact > 60, "{exact}");
}

#[test]
fn nearly_half_of_all_content_is_a_block_that_all_pages_of_a_site_share() {
    let world = world("");
    let (mut template, mut all) = (0, 0);
    for (number, page) in (0_u64..).zip(keys()) {
        let site = Key::of_world("sites", number / 20);
        let room = Filler::page_bytes(&world, site, page);
        template += Filler::new(&world, site, page, &[], room).template_bytes();
        all += room;
    }
    let percent = template * 100 / all;
    assert!((40..=50).contains(&percent), "{percent} %");
}

#[test]
fn the_block_is_the_same_on_every_page_of_a_site() {
    let world = world(&format!("[sites]\ncount = 30\n[pages]\nbytes_sigma = 0.0\ndecoy_share = 0.0\n{OPEN}"));
    let block = |url: &Url| {
        let body = response(&world, &url.host, &url.target).body;
        let at = body.windows(4).position(|window| window == b"<p>\n").unwrap();
        body[at..at + 4000].to_vec()
    };
    let pages = some_pages(&world);
    let same_site = pages.windows(2).filter(|pair| pair[0].host == pair[1].host);
    assert!(same_site.clone().count() > 20);
    for pair in same_site {
        assert!(block(&pair[0]) == block(&pair[1]), "{} {}", pair[0], pair[1]);
        let bodies = [&pair[0], &pair[1]].map(|url| response(&world, &url.host, &url.target).body);
        assert!(bodies[0] != bodies[1], "{}", pair[0]);
    }
}

/// The validators of a page with this key, changed by the editions that its key draws.
fn of_page(world: &World, key: Key) -> ResponseValidators {
    let changed = last_change(world, key);
    let written_at = Url::http("a.ke", "/");
    let page = Page {
        key,
        text: PageText::Filler,
        links: Vec::new(),
        nofollow: false,
        written_at,
        is_cut: false,
        changed,
    };
    ResponseValidators::of_page(world, &page)
}

#[test]
fn validators_have_their_shares_and_ages() {
    let world = world("date = \"2006-06-01\"");
    for (of, last_modified_share, etag_share) in [
        (of_page as fn(&World, Key) -> ResponseValidators, 0.4, 0.35),
        (ResponseValidators::of_file, 0.95, 0.9),
    ] {
        let (mut dated, mut tagged) = (0, 0);
        for key in keys() {
            let validators = of(&world, key);
            dated += u64::from(validators.last_modified.is_some());
            tagged += u64::from(validators.etag.is_some());
        }
        assert_share("Last-Modified", dated, MANY, last_modified_share);
        assert_share("ETag", tagged, MANY, etag_share);
    }
    let now = Date::parse("2006-06-01").unwrap().seconds();
    let most = 4169.0; // Days from 1995-01-01.
    #[expect(clippy::cast_precision_loss, reason = "seconds are exact in an f64")]
    let ages: Vec<f64> = keys().map(|key| (now - changed(&world, key, None)) as f64 / 86_400.0).collect();
    assert_within("age", &ages, (0.0, most), |x| log_normal(x, 180.0, 1.8));
}

#[test]
fn an_edition_changes_tag_and_date_of_its_share_and_nothing_else() {
    let text =
        |edition| format!("date = \"2006-06-01\"\n[validators]\nedition = {edition}\nchanged_share = 0.2");
    let [made, first, second] = [0, 1, 2].map(|edition| world(&text(edition)));
    let changed = |world, key| changed(world, key, last_change(world, key));
    let (mut changed_once, mut changed_again) = (0, 0);
    for key in keys() {
        let [before, after, later] = [&made, &first, &second].map(|world| of_page(world, key));
        assert_eq!(before.etag.is_some(), after.etag.is_some());
        assert_eq!(before.last_modified.is_some(), after.last_modified.is_some());
        let (is_new, is_newer) =
            (changed(&made, key) < changed(&first, key), changed(&first, key) < changed(&second, key));
        assert!(before.etag.is_none() || (before.etag != after.etag) == is_new);
        assert!(before.etag.is_none() || (after.etag != later.etag) == is_newer);
        changed_once += u64::from(is_new);
        changed_again += u64::from(is_newer);
    }
    assert_share("changed once", changed_once, MANY, 0.2);
    assert_share("changed again", changed_again, MANY, 0.2);
}

#[test]
fn files_are_log_normal_by_kind_and_begin_as_they_should() {
    let world = world("");
    for (content_type, median, start) in [
        ("application/pdf", 80_000.0, &b"%PDF"[..]),
        ("image/jpeg", 12_000.0, b"\xff\xd8"),
        ("image/png", 6_000.0, b"\x89PNG"),
        ("application/msword", 40_000.0, b"\xd0\xcf"),
        ("application/zip", 100_000.0, b"PK"),
    ] {
        let sizes = keys().map(|key| file_bytes(&world, content_type, key));
        let sample: Vec<f64> = sizes.map(|size| f64::from(u32::try_from(size).unwrap())).collect();
        assert!(sample.iter().all(|size| *size <= 200_000.0));
        assert_within(content_type, &sample, (0.0, 200_000.0), |x| log_normal(x, median, 1.2));
        let bytes = super::files::file(&world, content_type, Key::of_world("file", 1));
        assert!(bytes.starts_with(start), "{content_type}");
    }
}

#[test]
fn gzipped_pages_are_the_same_pages_and_a_third_as_long() {
    let text =
        format!("[sites]\ncount = 60\n{OPEN}[pages]\nwrong_charset_share = 0.0\n[servers]\ngzip_share = ");
    let (plain, gzipped) = (world(&format!("{text}0.0")), world(&format!("{text}1.0")));
    let (mut before, mut after) = (0, 0);
    for url in some_pages(&plain) {
        let (one, other) =
            (response(&plain, &url.host, &url.target), response(&gzipped, &url.host, &url.target));
        assert_eq!(other.content_encoding, Some("gzip"));
        assert_eq!(one.content_encoding, None);
        assert!(one.body == *other.identity_body(), "{url}");
        before += one.body.len();
        after += other.body.len();
    }
    assert!((20..=40).contains(&(after * 100 / before)), "{after} of {before}");
}

#[test]
fn every_key_of_bytes_and_servers_says_where_its_number_is_from() {
    let described = crate::describe(&world(""));
    let sections = ["pages.", "validators.", "files.", "servers.", "time."];
    for key in described["keys"].as_array().unwrap() {
        let name = key["key"].as_str().unwrap();
        if sections.iter().any(|section| name.starts_with(section)) {
            assert!(key["source"].is_string(), "{name}");
            assert!(key["meaning"].as_str().unwrap().ends_with("]."), "{name}");
        }
    }
}
