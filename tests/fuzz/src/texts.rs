use std::sync::{Arc, LazyLock};

use crate::address::{Host, MAX_URL_BYTES, Scope, ScopeRule, SuffixSection, Suffixes, WebUrl};
use crate::page::{MAX_LINKS, Page, Source};
use crate::robots::{Availability, Rules};
use crate::structure;

static BASE: LazyLock<WebUrl> =
    LazyLock::new(|| WebUrl::parse("http://www.example.co.ke/a/b;c?d=e").expect("a good URL"));

static SCOPE: LazyLock<Scope> = LazyLock::new(|| {
    let list = include_str!("../../../data/public_suffix_list.dat");
    let suffixes = Suffixes::parse(list, SuffixSection::Icann).expect("a good list");
    Scope::new(BASE.host(), ScopeRule::default(), Arc::new(suffixes))
});

/// A URL in canonical form is its own canonical form, of bounded length, on a host that is in one site.
pub fn url_reference(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for url in [WebUrl::parse(&text), BASE.join(&text)].into_iter().flatten() {
        check_url(&url);
        let up = url.join("../x").expect("a path below a good URL");
        assert_eq!(up.host(), url.host());
    }
    if let Ok(host) = Host::parse(&text) {
        assert_eq!(Host::parse(host.as_str()).as_ref(), Ok(&host));
    }
}

fn check_url(url: &WebUrl) {
    let text = url.as_str();
    assert!(text.len() <= MAX_URL_BYTES && !text.contains('#') && text.is_ascii());
    assert!(!text.bytes().any(|byte| byte.is_ascii_control() || byte == b' '));
    assert!(text.starts_with("http://") || text.starts_with("https://"));
    let again = WebUrl::parse(text).expect("canonical");
    assert_eq!((&again, again.page_key()), (url, url.page_key()));
    assert!(url.target().starts_with('/') && url.path().starts_with('/'));
    let site = SCOPE.site_of(url.host());
    assert!(url.host().is_at_or_below(site.root()));
    assert_eq!(site, SCOPE.site_of(site.root()), "the root of a site is in it");
    if SCOPE.contains(url.host()) {
        assert_eq!(&site, SCOPE.site());
    }
}

/// A page has a bounded number of good links, and reads alike twice. The first byte says what the header
/// said.
pub fn html_page(bytes: &[u8]) {
    const CONTENT_TYPES: [Option<&str>; 8] = [
        None,
        Some("text/html"),
        Some("text/html; charset=utf-8"),
        Some("text/html; charset=iso-2022-jp"),
        Some("text/html; charset=Shift_JIS"),
        Some("text/html; charset=utf-16le"),
        Some("application/xhtml+xml"),
        Some("text/html; charset=nonsense"),
    ];
    let Some((first, body)) = bytes.split_first() else { return };
    let content_type = CONTENT_TYPES[usize::from(*first) % CONTENT_TYPES.len()];
    let robots_tag = (first & 0x80 != 0).then_some("ccsurvey: nofollow");
    let read = || Page::read(Source { body, url: &BASE, content_type, robots_tag });
    let page = read();
    assert_eq!(page, read());
    assert!(page.links.len() <= MAX_LINKS);
    assert!(page.title.is_none_or(|title| title.chars().count() <= 512));
    for link in &page.links {
        assert_eq!(WebUrl::parse(link.url.as_str()).as_ref(), Ok(&link.url));
    }
}

/// As much as a built page may hold.
const BUILT_BYTES: usize = 64 * 1024;

/// What holds of a page holds of one that is built from fragments of markup as the bytes say. The first byte
/// says what the header said, the second whether the plan is repeated until the page is long.
pub fn built_page(bytes: &[u8]) {
    let Some(([first, length], plan)) = bytes.split_first_chunk() else { return };
    let min_bytes = if length % 4 == 0 { BUILT_BYTES } else { 0 };
    let mut page = vec![*first];
    page.extend(structure::page(plan, min_bytes, BUILT_BYTES));
    html_page(&page);
}

/// robots.txt has rules that answer for any URL, and it may always be asked for itself. The first two bytes
/// are its status.
pub fn robots_txt(bytes: &[u8]) {
    let Some((status, body)) = bytes.split_first_chunk() else { return };
    let rules = Rules::parse(body, "ccsurvey");
    let path: String = body.iter().rev().take(60).map(|byte| char::from(*byte)).collect();
    let itself = BASE.join("/robots.txt").expect("a good URL");
    for rules in
        [rules, Availability::from_response(Some(u16::from_le_bytes(*status)), body).rules("ccsurvey")]
    {
        assert!(rules.allows(&itself), "RFC 9309 section 2.2.2: it is always allowed");
        let delay = rules.crawl_delay();
        if let Ok(url) = BASE.join(&path) {
            assert_eq!((rules.allows(&url), rules.crawl_delay()), (rules.allows(&url), delay));
        }
    }
}
