use std::collections::hash_map::Entry;

use encoding_rs::{Encoding, UTF_8};
use foldhash::{HashMap, HashMapExt};
use memchr::memchr;
use xxhash_rust::xxh3::xxh3_64;

use crate::address::{Base, PageKey, UrlError, WebUrl};

use super::query::QueryEncoder;
use super::tokenize::tag::AttributeValue;
use super::{Defects, Element, Link, Source};

/// The limit on links of one page: as many as a body of 1 MiB can hold at a hundred bytes a link. A page with
/// more is a trap or a list that no visitor reads.
pub const MAX_LINKS: usize = 10_000;
/// Several references (`x#a`, `x#b`, `./x`) may be one link.
const MAX_REFERENCES: usize = 4 * MAX_LINKS;
/// Four hundred bytes a link, for the spelled references and for the resolved links.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// A `base` makes long links out of short references. This limits the growth: per link on average, or in
/// total to [`BASE_BYTES`] or [`BASE_TIMES_BODY`] bodies, so that a page of 16 kB does not become megabytes.
const BASE_BYTES_A_LINK: usize = 400;
const BASE_BYTES: usize = 64 * 1024;
/// A directory name of 66 Thai letters has 600 bytes in each link of its index, and the index has 150 bytes
/// of markup around each link.
const BASE_TIMES_BODY: usize = 8;

/// The number of documents embedded in a page that are read.
const MAX_INNER: usize = 1000;

/// The references of a page as they are spelled, each spelling once, ignoring its fragment.
#[derive(Default)]
pub(super) struct References {
    text: String,
    spelled: Vec<Reference>,
    by_spelling: HashMap<u64, usize>,
    /// `href` of the first `base` of the page; later ones do not count.
    base: Option<String>,
    /// The embedded documents, in the order in which they begin.
    inner: Vec<NestedDocument>,
    /// The documents that are being read, the innermost last.
    entered: Vec<OpenDocument>,
}

struct Reference {
    start: usize,
    end: usize,
    element: Element,
    is_nofollow: bool,
    /// The page is 0, embedded documents are numbered from 1.
    document: usize,
}

/// An embedded document (`srcdoc`). Its queries are in UTF-8, whatever the page's charset.
struct NestedDocument {
    /// The document around it, whose base it has unless it has its own.
    parent: usize,
    base: Option<String>,
}

/// A document that is being read.
struct OpenDocument {
    document: usize,
    /// The index of its first reference.
    first: usize,
}

impl References {
    /// Adds a reference, unless it cannot lead to a Web page or the page is full.
    pub(super) fn add(
        &mut self,
        element: Element,
        value: AttributeValue<'_>,
        is_nofollow: bool,
        defects: &mut Defects,
    ) {
        let spelled = value.bytes.trim_ascii();
        let is_blank_frame = spelled.is_empty() && matches!(element, Element::Frame | Element::Iframe);
        if is_blank_frame || has_other_scheme(spelled) {
            return;
        }
        if value.is_cut {
            defects.too_long_urls = defects.too_long_urls.saturating_add(1);
            return;
        }
        let spelled = without_fragment(spelled);
        let document = self.document();
        let entry = self.by_spelling.entry(spelling(spelled, document));
        if let Entry::Occupied(known) = &entry {
            let known = &mut self.spelled[*known.get()];
            // A spelling in another document may have the same hash.
            if known.document == document {
                known.is_nofollow &= is_nofollow;
                return;
            }
        }
        let start = self.text.len();
        if self.spelled.len() >= MAX_REFERENCES || start + spelled.len() > MAX_TEXT_BYTES {
            defects.links_dropped = defects.links_dropped.saturating_add(1);
            return;
        }
        self.text.push_str(&String::from_utf8_lossy(spelled));
        entry.insert_entry(self.spelled.len());
        let end = self.text.len();
        self.spelled.push(Reference { start, end, element, is_nofollow, document });
    }

    /// Sets the `base` of the document that is being read; the first one in each document counts.
    pub(super) fn set_base(&mut self, href: &str) {
        let base = match self.document().checked_sub(1) {
            Some(inner) => &mut self.inner[inner].base,
            None => &mut self.base,
        };
        base.get_or_insert_with(|| href.to_owned());
    }

    /// Whether one more document may be entered.
    pub(super) fn has_room(&self) -> bool {
        self.inner.len() < MAX_INNER
    }

    /// Continues with a document embedded in this one.
    pub(super) fn enter(mut self) -> Self {
        self.inner.push(NestedDocument { parent: self.document(), base: None });
        self.entered.push(OpenDocument { document: self.inner.len(), first: self.spelled.len() });
        self
    }

    /// Returns to the document around it. The embedded document itself decides whether its links are to be
    /// followed; a refresh of it redirects the frame and not the page.
    pub(super) fn leave(mut self, is_nofollow: bool) -> Self {
        let first = self.entered.pop().map_or(self.spelled.len(), |entered| entered.first);
        for reference in &mut self.spelled[first..] {
            reference.is_nofollow |= is_nofollow;
            if reference.element == Element::Meta {
                reference.element = Element::Iframe;
            }
        }
        self
    }

    /// Whether the document that is being read already has a `base`.
    pub(super) fn has_base(&self) -> bool {
        let inner = self.document().checked_sub(1);
        inner.map_or(&self.base, |inner| &self.inner[inner].base).is_some()
    }

    /// Drops the references of the body, because a frameset takes its place, and the base if it is in the
    /// body. A refresh counts wherever it stands.
    pub(super) fn forget_body(&mut self, with_base: bool) {
        match self.document().checked_sub(1) {
            Some(inner) if with_base => self.inner[inner].base = None,
            None if with_base => self.base = None,
            _ => {}
        }
        let mut outer_count = self.entered.last().map_or(0, |entered| entered.first);
        self.spelled.retain(|reference| {
            let is_retained = outer_count > 0 || reference.element == Element::Meta;
            outer_count = outer_count.saturating_sub(1);
            is_retained
        });
        let spelled = self.spelled.iter().enumerate().map(|(at, reference)| {
            let text = &self.text[reference.start..reference.end];
            (spelling(text.as_bytes(), reference.document), at)
        });
        self.by_spelling = spelled.collect();
    }

    fn document(&self) -> usize {
        self.entered.last().map_or(0, |entered| entered.document)
    }

    /// The links of the references, resolved against the page's base and in its charset.
    pub(super) fn resolve(
        self,
        page: Source<'_>,
        encoding: &'static Encoding,
        defects: &mut Defects,
    ) -> Vec<Link> {
        let base_bytes =
            BASE_BYTES.max(BASE_BYTES_A_LINK * self.spelled.len()).max(BASE_TIMES_BODY * page.body.len());
        let grown_bytes = self.text.len() + base_bytes;
        let queries = (encoding != UTF_8).then(|| QueryEncoder::new(encoding));
        let bases = self.bases(page.url, defects);
        let mut links =
            Links::with_limits(self.spelled.len().min(MAX_LINKS), grown_bytes.min(MAX_TEXT_BYTES));
        for reference in &self.spelled {
            let text = &self.text[reference.start..reference.end];
            if links.is_full {
                defects.links_dropped = defects.links_dropped.saturating_add(1);
                continue;
            }
            let queries = queries.as_ref().filter(|_| reference.document == 0);
            match join(bases.base(reference.document), text, queries) {
                Ok(url) if is_within(text) && url.page_key() == page.url.page_key() => {}
                Ok(url) => links.add(url, reference, defects),
                Err(UrlError::NotWeb) => {}
                Err(UrlError::TooLong) => defects.too_long_urls = defects.too_long_urls.saturating_add(1),
                Err(UrlError::Malformed | UrlError::BadHost | UrlError::RefusedPort) => {
                    defects.bad_urls = defects.bad_urls.saturating_add(1);
                }
            }
        }
        links.kept
    }

    /// The bases of the page and of its embedded documents. A `base` that is not a URL is ignored.
    fn bases(&self, page: &WebUrl, defects: &mut Defects) -> Bases {
        let mut with_href = |parent: &Base, href: &str| {
            let base = parent.with_href(href).ok();
            defects.bad_base |= !base.as_ref().is_some_and(Base::is_web);
            base
        };
        let own = Base::new(page.clone());
        let base = self.base.as_deref().and_then(|href| with_href(&own, href)).unwrap_or(own);
        let mut bases = Bases { distinct: vec![base], by_document: vec![0] };
        for NestedDocument { parent, base } in &self.inner {
            let parent = bases.by_document[*parent];
            let own = base.as_deref().and_then(|href| with_href(&bases.distinct[parent], href));
            bases.by_document.push(if own.is_some() { bases.distinct.len() } else { parent });
            bases.distinct.extend(own);
        }
        bases
    }
}

/// The base URLs for the references of a page and of its embedded documents.
struct Bases {
    distinct: Vec<Base>,
    /// The index of each document's base.
    by_document: Vec<usize>,
}

impl Bases {
    fn base(&self, document: usize) -> &Base {
        &self.distinct[self.by_document[document]]
    }
}

/// The key of a spelling in a document.
fn spelling(spelled: &[u8], document: usize) -> u64 {
    xxh3_64(spelled) ^ (document as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The links of a page, each page once.
struct Links {
    kept: Vec<Link>,
    by_page: HashMap<PageKey, usize>,
    text_bytes: usize,
    max_text_bytes: usize,
    /// A link was dropped; further ones are ignored.
    is_full: bool,
}

impl Links {
    fn with_limits(max_links: usize, max_text_bytes: usize) -> Self {
        Self {
            kept: Vec::with_capacity(max_links),
            by_page: HashMap::with_capacity(max_links),
            text_bytes: 0,
            max_text_bytes,
            is_full: false,
        }
    }

    fn add(&mut self, url: WebUrl, reference: &Reference, defects: &mut Defects) {
        match self.by_page.entry(url.page_key()) {
            Entry::Occupied(known) => self.kept[*known.get()].nofollow &= reference.is_nofollow,
            Entry::Vacant(new) => {
                let text_bytes = self.text_bytes + url.as_str().len();
                if self.kept.len() >= MAX_LINKS || text_bytes > self.max_text_bytes {
                    self.is_full = true;
                    defects.links_dropped = defects.links_dropped.saturating_add(1);
                    return;
                }
                self.text_bytes = text_bytes;
                new.insert(self.kept.len());
                self.kept.push(Link { url, element: reference.element, nofollow: reference.is_nofollow });
            }
        }
    }
}

/// Resolves a reference; only the query is in the page's charset, the path is always in UTF-8.
fn join(base: &Base, spelled: &str, queries: Option<&QueryEncoder>) -> Result<WebUrl, UrlError> {
    match queries {
        Some(queries) if !spelled.is_ascii() => base.join(spelled, Some(&|text| queries.encode(text))),
        _ => base.join(spelled, None),
    }
}

/// Removes the fragment, because it is not part of the page that is requested (RFC 3986 §3.5), and a page may
/// link to a hundred positions in another. The `#` stays where nothing precedes it. After white space the
/// whole fragment stays, because white space counts there, but not at the end (WHATWG URL §4.4).
fn without_fragment(spelled: &[u8]) -> &[u8] {
    match memchr(b'#', spelled) {
        Some(0) => &spelled[..1],
        Some(at) if spelled[at - 1] > b' ' => &spelled[..at],
        _ => spelled,
    }
}

/// Whether a reference names only a position within a page: `#top` and the empty reference. It is a link only
/// where a `base` makes it one to another page.
fn is_within(spelled: &str) -> bool {
    spelled.is_empty() || spelled.starts_with('#')
}

/// Whether a reference clearly has another scheme: `mailto:`, `javascript:`, `data:` …
fn has_other_scheme(spelled: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let Some(end) = spelled.iter().position(|byte| !is_part(byte)) else {
        return false;
    };
    let scheme = &spelled[..end];
    spelled[end] == b':'
        && scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && !scheme.eq_ignore_ascii_case(b"http")
        && !scheme.eq_ignore_ascii_case(b"https")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(spelled: impl IntoIterator<Item = String>, base: &str) -> (Vec<Link>, Defects) {
        links_of_page(b"", spelled, base)
    }

    fn links_of_page(
        body: &[u8],
        spelled: impl IntoIterator<Item = String>,
        base: &str,
    ) -> (Vec<Link>, Defects) {
        let mut references = References::default();
        let mut defects = Defects::default();
        for reference in spelled {
            let value = AttributeValue { bytes: reference.as_bytes(), is_cut: false };
            references.add(Element::A, value, false, &mut defects);
        }
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let page = Source { body, url: &url, content_type: None, robots_tag: None };
        references.set_base(base);
        (references.resolve(page, UTF_8, &mut defects), defects)
    }

    #[test]
    fn links_beyond_the_limit_are_counted() {
        let (kept, defects) = links((0..MAX_LINKS + 7).map(|n| n.to_string()), "http://a.ke/");
        assert_eq!(kept.len(), MAX_LINKS);
        assert_eq!(defects.links_dropped, 7);
    }

    #[test]
    fn many_spellings_of_one_page_do_not_use_up_the_limit() {
        let spelled = (0..3 * MAX_LINKS).map(|n| format!("x#{n}")).chain(["y".to_owned()]);
        let (kept, defects) = links(spelled, "http://a.ke/");
        assert_eq!(kept.len(), 2);
        assert_eq!(defects, Defects::default());
    }

    #[test]
    fn a_long_base_cannot_make_a_page_large() {
        let base = format!("http://a.ke/{}/", "x".repeat(2000));
        let (kept, defects) = links((0..MAX_LINKS).map(|n| n.to_string()), &base);
        assert!(kept.iter().map(|link| link.url.as_str().len()).sum::<usize>() <= MAX_TEXT_BYTES);
        assert_eq!(kept.len() + defects.links_dropped as usize, MAX_LINKS);
    }

    #[test]
    fn a_long_base_drops_no_link_of_an_ordinary_page_and_long_links_are_kept() {
        let base = format!("http://a.ke/{}/", "x".repeat(300));
        let (kept, defects) = links((0..500).map(|n| n.to_string()), &base);
        assert_eq!((kept.len(), defects.links_dropped), (500, 0));
        let long = (0..500).map(|n| format!("{n}?{}", "y".repeat(1500)));
        assert_eq!(links(long, "http://a.ke/").0.len(), 500);
        let long = (0..2000).map(|n| format!("{n}?{}", "y".repeat(1500)));
        assert_eq!(links(long, "http://a.ke/").1, Defects::default());
        let base = format!("http://a.ke/{}/", "x".repeat(1900));
        let (kept, defects) = links((0..1000).map(|n| n.to_string()), &base);
        assert_eq!(kept.len() + defects.links_dropped as usize, 1000);
        assert!((200..300).contains(&kept.len()), "{}", kept.len());
        assert_eq!(links((0..30).map(|n| n.to_string()), &base).0.len(), 30);
    }

    #[test]
    fn the_index_of_a_folder_with_a_long_name_loses_no_link() {
        let folder = format!("http://a.ke/{}/", "ก".repeat(66));
        let names = || (0..1000).map(|n| format!("file{n}.pdf"));
        let row = "<tr><td><img src=/icons/layout.gif><td><a href=file1000.pdf>file1000.pdf</a><td>2026-11-02 10:00<td>97K";
        let (kept, defects) = links_of_page(row.repeat(1000).as_bytes(), names(), &folder);
        assert_eq!((kept.len(), defects), (1000, Defects::default()));
        assert!(
            links(names(), &folder).1.links_dropped > 0,
            "without that markup it is many links of few bytes"
        );
    }

    #[test]
    fn the_text_of_references_is_bounded() {
        let spelled = (0..5000).map(|n| format!("{n:04}{}", "y".repeat(1020)));
        let mut references = References::default();
        let mut defects = Defects::default();
        for reference in spelled {
            let value = AttributeValue { bytes: reference.as_bytes(), is_cut: false };
            references.add(Element::A, value, false, &mut defects);
        }
        assert_eq!(references.text.len(), MAX_TEXT_BYTES);
        assert_eq!(defects.links_dropped as usize, 5000 - MAX_TEXT_BYTES / 1024);
        let of_a_kibibyte = (0..4100).map(|n| format!("{n}?{}", "y".repeat(1024 - 13 - n.to_string().len())));
        assert_eq!(links(of_a_kibibyte, "http://a.ke/").0.len(), MAX_TEXT_BYTES / 1024);
        let (kept, defects) = links((0..MAX_REFERENCES + 5).map(|n| format!("{n}/../x")), "http://a.ke/");
        assert_eq!((kept.len(), defects.links_dropped), (1, 5));
    }

    #[test]
    fn the_index_of_a_book_with_a_hundred_thousand_places_leaves_room_for_its_links() {
        let places = (0..100_000).flat_map(|n| [format!("#{n}"), format!("book#{n}")]);
        let spelled = places.chain(["after".to_owned(), "a #b".to_owned(), "a".to_owned()]);
        let (kept, defects) = links(spelled, "http://a.ke/");
        let paths: Vec<_> = kept.iter().map(|link| link.url.path()).collect();
        assert_eq!(paths, ["/book", "/after", "/a%20", "/a"]);
        assert_eq!(defects, Defects::default());
    }

    #[test]
    fn other_schemes_are_told_by_their_first_letters() {
        for other in ["mailto:x@a.ke", "JavaScript:void(0)", "data:text/html,x", "android-app:x", "tel:1"] {
            assert!(has_other_scheme(other.as_bytes()), "{other}");
        }
        for web in ["http:x", "HTTPS://a.ke", "a/b:c", "?x:y", "1:2", ":", "", "x", "//a.ke:80/"] {
            assert!(!has_other_scheme(web.as_bytes()), "{web}");
        }
    }
}
