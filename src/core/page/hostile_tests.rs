//! Hostile pages: no panic, bounded results, work linear in the length of the body.

use std::cell::Cell;
use std::convert::Infallible;
use std::thread;

use html5gum::{Emitter, ForwardingEmitter, Readable, Reader, StringReader, Tokenizer};
use proptest::prelude::*;

use crate::address::WebUrl;

use super::fragments::{FRAGMENTS, OPENINGS};
use super::markup::Markup;
use super::tokenize::emitter::TagEmitter;
use super::tokenize::nesting::Syntax;
use super::tokenize::shallow::BoundedStackText;
use super::{MAX_LINKS, Page, Source};

fn read(body: &[u8], content_type: Option<&str>, robots_tag: Option<&str>) -> Page {
    let url = WebUrl::parse("http://a.co.ke/dir/page?x").unwrap();
    Page::read(Source { body, url: &url, content_type, robots_tag })
}

/// Counts the steps of the tokenizer (it pops a token before each) and the bytes that it passes on.
struct Counting<'a> {
    inner: TagEmitter<'a, Markup>,
    work: &'a Cell<usize>,
}

impl ForwardingEmitter for Counting<'_> {
    type Token = ();

    fn inner(&mut self) -> &mut impl Emitter<Token = ()> {
        &mut self.inner
    }

    fn pop_token(&mut self) -> Option<()> {
        self.work.set(self.work.get() + 1);
        self.inner.pop_token()
    }

    fn emit_string(&mut self, piece: &[u8]) {
        self.work.set(self.work.get() + piece.len());
        self.inner.emit_string(piece);
    }

    fn push_tag_name(&mut self, piece: &[u8]) {
        self.work.set(self.work.get() + piece.len());
        self.inner.push_tag_name(piece);
    }

    fn push_attribute_name(&mut self, piece: &[u8]) {
        self.work.set(self.work.get() + piece.len());
        self.inner.push_attribute_name(piece);
    }

    fn push_attribute_value(&mut self, piece: &[u8]) {
        self.work.set(self.work.get() + piece.len());
        self.inner.push_attribute_value(piece);
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }
}

/// Counts the calls of the tokenizer to its input, and the bytes that it reads or looks for.
struct CountingText<'a> {
    inner: BoundedStackText<StringReader<'a>>,
    work: &'a Cell<usize>,
}

impl CountingText<'_> {
    fn count(&self, bytes: usize) {
        self.work.set(self.work.get() + 1 + bytes);
    }
}

impl Reader for CountingText<'_> {
    type Error = Infallible;

    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        self.count(1);
        self.inner.read_byte()
    }

    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buf: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        let work = self.work;
        let piece = self.inner.read_until(needle, buf)?;
        work.set(work.get() + 1 + piece.map_or(0, <[u8]>::len));
        Ok(piece)
    }

    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        self.count(text.len());
        self.inner.try_read_string(text, case_sensitive)
    }
}

/// Counts the steps of the tokenizer, the bytes that it reads and looks for, and the bytes that it passes on.
fn work(body: &str, syntax: Syntax) -> usize {
    let work = Cell::new(0);
    let mut markup = Markup::default();
    let emitter = Counting { inner: TagEmitter::new(&mut markup, syntax), work: &work };
    let text = CountingText { inner: BoundedStackText::new(body.to_reader()), work: &work };
    Tokenizer::new_with_emitter(text, emitter).for_each(drop);
    work.get()
}

/// Runs a task with as small a stack as a thread of any program has.
fn on_a_small_stack(task: impl FnOnce() + Send + 'static) {
    const STACK_BYTES: usize = 256 * 1024;
    thread::Builder::new().stack_size(STACK_BYTES).spawn(task).unwrap().join().unwrap();
}

fn read_repeated(opening: &str, fragment: &str, body_bytes: usize) {
    let body = opening.to_owned() + &fragment.repeat(body_bytes / fragment.len());
    for content_type in ["text/html", "application/xhtml+xml"] {
        let page = read(body.as_bytes(), Some(content_type), None);
        assert!(page.links.len() <= 2, "{opening} {fragment}: {:?}", page.links.len());
        assert!(page.title.is_none_or(|title| title.chars().count() <= 512), "{opening} {fragment}");
    }
}

#[test]
fn a_mebibyte_of_any_fragment_is_read_on_a_small_stack() {
    on_a_small_stack(|| FRAGMENTS.iter().for_each(|fragment| read_repeated("", fragment, 1 << 20)));
}

#[test]
fn any_fragment_repeated_in_any_state_is_read_on_a_small_stack() {
    on_a_small_stack(|| {
        for opening in OPENINGS {
            FRAGMENTS.iter().for_each(|fragment| read_repeated(opening, fragment, 1 << 14));
        }
    });
}

#[test]
fn any_fragment_repeated_in_any_state_is_linear_work() {
    for opening in OPENINGS {
        for fragment in FRAGMENTS {
            let body = opening.to_owned() + &fragment.repeat((1 << 13) / fragment.len());
            for syntax in [Syntax::Html, Syntax::WholeHtml, Syntax::Xml] {
                // The most expensive input is names that are almost those of a character: each is searched
                // for among similar ones.
                let work = work(&body, syntax);
                assert!(work <= 32 * body.len() + 64, "{opening} {fragment}: {work} for {}", body.len());
            }
        }
    }
}

#[test]
fn a_tag_of_a_mebibyte_of_attributes_is_read_to_its_end_on_a_small_stack() {
    on_a_small_stack(|| {
        for attribute in
            [" a=\"b\"", " a=\"\"", "\ta = \"b\"\r\n", " a='b'", " a=b", " a", " /a=\"b\"", " a=\"&amp;\""]
        {
            let body = format!("<p{}><a href=x>", attribute.repeat((1 << 20) / attribute.len()));
            assert_eq!(read(body.as_bytes(), None, None).links.len(), 1, "{attribute}");
            let numbered: String = (0..10_000).map(|n| format!(" a{n}=\"{n}\"")).collect();
            let body = format!("<meta{numbered}{attribute} charset=\"euc-jp\"><a href=x>");
            assert_eq!(read(body.as_bytes(), None, None).links.len(), 1, "{attribute}");
        }
    });
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

/// Elements of SVG, and names of HTML elements that have no meaning in it.
const DRAWN: [&str; 12] = [
    "g", "style", "script", "textarea", "xmp", "iframe", "template", "noframes", "path", "defs", "article",
    "font",
];

fn paths(body: &str) -> Vec<String> {
    read(body.as_bytes(), None, None).links.iter().map(|link| link.url.path().to_owned()).collect()
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

    /// However it is nested and spelled, SVG without HTML in it has its own links and hides none after it.
    #[test]
    fn a_drawing_has_its_links_however_it_is_written(
        names in prop::collection::vec(prop::sample::select(DRAWN.to_vec()), 0..12),
        root in prop::sample::select(vec!["svg", "SVG"]),
        is_closed: bool, is_in_a_block: bool, is_whole: bool,
    ) {
        let links: String = (0..=names.len()).map(|n| format!("<a href={n}></a>")).collect();
        let open = |name: &str, n: usize| format!("<{name}><a\n\txlink:href='{n}'/>");
        let drawn: String = names.iter().enumerate().map(|(n, name)| open(name, n)).collect();
        let ends: String = names.iter().rev().map(|name| format!("</{name} >")).collect();
        let ends = if is_closed { format!("{ends}</{root}>") } else { String::new() };
        let (block, end) = if is_in_a_block || !is_closed { ("<div>", "</div>") } else { ("", "") };
        // An end tag without an open element makes all open elements count.
        let stray = if is_whole { "</x-y>" } else { "" };
        let body = format!("{block}<{root}>{stray}{drawn}{ends}{end}<script>'<a href=no>'</script><a href={}>", names.len());
        prop_assert_eq!(paths(&body), paths(&links), "{}", body);
    }

    #[test]
    fn any_soup_of_tags_is_a_page(soup in soup(), content_type in content_type()) {
        let page = read(soup.as_bytes(), content_type.as_deref(), None);
        let mut keys: Vec<_> = page.links.iter().map(|link| link.url.page_key()).collect();
        keys.sort_unstable();
        keys.dedup();
        prop_assert_eq!(keys.len(), page.links.len());
        prop_assert!(work(&soup, Syntax::Html) <= 32 * soup.len() + 64);
    }
}
