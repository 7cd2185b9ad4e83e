//! Pages that want to do harm: no panic, bounded results, work linear in the length of the body.

use html5gum::{Emitter, ForwardingEmitter, Tokenizer};
use proptest::prelude::*;

use crate::address::WebUrl;

use super::emitter::TagEmitter;
use super::markup::Markup;
use super::{MAX_LINKS, Page, Source};

fn read(body: &[u8], content_type: Option<&str>, robots_tag: Option<&str>) -> Page {
    let url = WebUrl::parse("http://a.co.ke/dir/page?x").unwrap();
    Page::read(Source { body, url: &url, content_type, robots_tag })
}

/// Counts the steps of the tokenizer (it pops a token before each) and the bytes it hands over.
struct Counting<'a> {
    inner: TagEmitter<'a, Markup>,
    work: &'a mut usize,
}

impl ForwardingEmitter for Counting<'_> {
    type Token = ();

    fn inner(&mut self) -> &mut impl Emitter<Token = ()> {
        &mut self.inner
    }

    fn pop_token(&mut self) -> Option<()> {
        *self.work += 1;
        self.inner.pop_token()
    }

    fn emit_string(&mut self, piece: &[u8]) {
        *self.work += piece.len();
        self.inner.emit_string(piece);
    }

    fn push_tag_name(&mut self, piece: &[u8]) {
        *self.work += piece.len();
        self.inner.push_tag_name(piece);
    }

    fn push_attribute_name(&mut self, piece: &[u8]) {
        *self.work += piece.len();
        self.inner.push_attribute_name(piece);
    }

    fn push_attribute_value(&mut self, piece: &[u8]) {
        *self.work += piece.len();
        self.inner.push_attribute_value(piece);
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }
}

fn work(body: &str) -> usize {
    let mut work = 0;
    let mut markup = Markup::default();
    let emitter = Counting { inner: TagEmitter::new(&mut markup, false), work: &mut work };
    Tokenizer::new_with_emitter(body, emitter).next();
    work
}

/// Fragments that, repeated, drive a careless reader into square time or unbounded memory.
const TRAPS: [&str; 30] = [
    "<a",
    "<!--",
    "<!-",
    "--",
    "&",
    "&am",
    "&#x",
    "&#9",
    "<",
    "</",
    "</a",
    "<a href=x>",
    "<a href='",
    "<a x=y ",
    "<table><tr><td>",
    "<svg>",
    "<template>",
    "<script><!--<script>",
    "</scrip",
    "<title></titl",
    "<textarea>",
    "<![CDATA[",
    "]]",
    "<meta charset=",
    "<meta http-equiv=refresh content='0;url=x'>",
    "\0",
    "\r",
    "\u{1b}$B",
    "<base href=a/>",
    "é",
];

#[test]
fn a_mebibyte_of_any_trap_is_read_with_linear_work() {
    for trap in TRAPS {
        let body = trap.repeat((1 << 20) / trap.len());
        let work = work(&body);
        assert!(work <= 4 * body.len() + 64, "{trap}: {work} for {}", body.len());
        let page = read(body.as_bytes(), None, None);
        assert!(page.links.len() <= 2, "{trap}: {:?}", page.links.len());
        assert!(page.title.is_none_or(|title| title.chars().count() <= 512), "{trap}");
    }
}

#[test]
fn a_page_of_nothing_but_links_keeps_the_first_ones() {
    let body = (0..100_000).map(|n| format!("<a href={n}>")).collect::<Vec<_>>().concat();
    let page = read(body.as_bytes(), None, None);
    assert_eq!(page.links.len(), MAX_LINKS);
    assert_eq!(page.defects.links_dropped, 90_000);
    assert_eq!(page.links[MAX_LINKS - 1].url.path(), format!("/dir/{}", MAX_LINKS - 1));
}

#[test]
fn long_foreign_host_names_are_refused() {
    let body = (0..300)
        .map(|n| format!("<a href=http://{n}{}.ke/>", "日本ü".repeat(300)))
        .collect::<Vec<_>>()
        .concat();
    let page = read(body.as_bytes(), Some("text/html; charset=utf-8"), None);
    assert!(page.links.is_empty());
    assert_eq!(page.defects.bad_urls, 300);
}

fn soup() -> impl Strategy<Value = String> {
    let words = [
        "<a ",
        "href=",
        "src=",
        "content=",
        "http-equiv=refresh ",
        "name=robots ",
        "rel=nofollow",
        "<meta ",
        "<base ",
        "<frame ",
        "<iframe ",
        "<title>",
        "</title>",
        "<script>",
        "</script>",
        "<style>",
        "</style>",
        "<noscript>",
        "<template>",
        "</template>",
        "<svg>",
        "</svg>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "'",
        "\"",
        ">",
        "/",
        "=",
        " ",
        "&amp;",
        "&copy",
        "&#x110000;",
        "&#",
        "0;url=",
        "http://",
        "//",
        "#",
        "?",
        ":",
        "日本",
        "\u{fffd}",
        "\0",
        "\r\n",
        "charset=",
        "utf-16",
        "shift_jis",
        "\u{1b}$B",
        "<?xml encoding=",
        "lang=",
        "<html ",
        "%",
        "[::",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60).prop_map(|words| words.concat())
}

fn content_type() -> impl Strategy<Value = Option<String>> {
    let label = prop::sample::select(vec![
        "utf-8",
        "shift_jis",
        "euc-jp",
        "iso-2022-jp",
        "utf-16",
        "utf-16be",
        "gb18030",
        "big5",
        "x",
        "",
    ]);
    let kind = prop::sample::select(vec!["text/html", "application/xhtml+xml", ""]);
    prop_oneof![
        Just(None),
        ".{0,40}".prop_map(Some),
        (kind, label).prop_map(|(kind, label)| Some(format!("{kind};charset={label}"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_with_any_headers_are_a_page(
        body: Vec<u8>, content_type in content_type(), robots_tag in prop::option::of(".{0,40}"),
    ) {
        let page = read(&body, content_type.as_deref(), robots_tag.as_deref());
        prop_assert_eq!(&page, &read(&body, content_type.as_deref(), robots_tag.as_deref()));
    }

    #[test]
    fn any_soup_of_tags_is_a_page(soup in soup(), content_type in content_type()) {
        let page = read(soup.as_bytes(), content_type.as_deref(), None);
        let mut keys: Vec<_> = page.links.iter().map(|link| link.url.page_key()).collect();
        keys.sort_unstable();
        keys.dedup();
        prop_assert_eq!(keys.len(), page.links.len());
        prop_assert!(work(&soup) <= 4 * soup.len() + 64);
    }
}
