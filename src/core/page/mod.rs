//! Pages: the contents of any body as a reader without scripts sees them.
//!
//! The body of a response comes in as a [`Source`] with the header fields that explain it, and [`Page::read`]
//! returns a [`Page`], whatever the bytes are. Nothing here fails; what is wrong with a page is counted in
//! its [`Defects`].
//!
//! A page is read once, front to back. First its charset is determined (`charset`, `declaration`): byte order
//! mark, `Content-Type`, the declaration in the document, else `detection`. Its text, in UTF-8 (`decode`), is
//! split into tags and text by `tokenize`. `plain_tag` and `plain_text` read markup in common form, and the
//! html5gum tokenizer reads the rest; `shallow` limits the depth of its recursion. `emitter` assembles tags
//! (`tag`) with only the attributes that matter. The meaning of a tag depends on its context: `nesting`
//! tracks that of HTML (in SVG, MathML, a template, a frameset), `namespaces` that of XML. `markup`
//! interprets the tags: a reference, a base, a title, a language, a request not to follow links. Documents
//! embedded in the page (`srcdoc`) are read in the same way, and their links are the page's. References are
//! stored as they are spelled (`references`) until the end of the page, because a `base` also applies to
//! references before it. Then they become distinct [`Link`]s. What the page tells of its site (`facts`) is
//! judged at the end, from clues that are collected on the way.
//!
//! The content is what a visitor without scripts sees: `noscript` is content, while comments, scripts, styles
//! and templates are not. Frames are links, so their fallback content (`noframes`, the inside of `iframe`) is
//! skipped, as browsers do.
//!
//! Memory is bounded by the limits in this room and seven times the page (its text in UTF-8, and embedded
//! documents four layers deep). The stack is bounded by the limits alone, and time is linear in the length of
//! the page. This room never sends a request and never decides which links are followed.

mod charset;
mod facts;
mod link;
mod markup;
mod query;
mod references;
mod refresh;
mod robots_directives;
mod simhash;
mod source;
mod title;
mod tokenize;
mod words;

#[cfg(test)]
mod browser_tests;
#[cfg(test)]
mod fragments;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod reading_tests;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

pub use charset::CharsetOrigin;
pub use facts::PageFacts;
pub use link::{Element, Link};
pub use references::MAX_LINKS;
pub use source::{Defects, Source};

use crate::address::WebUrl;
use crate::exchange::{Depth, Request};
use charset::Charset;
use charset::decode::decoded;
use facts::Observed;
use markup::Markup;

/// The contents of a page.
///
/// ```
/// use ccsurvey_address::WebUrl;
/// use ccsurvey_core::page::{Page, Source};
/// let url = WebUrl::parse("http://example.ke/news/").unwrap();
/// let body = b"<title>News</title> <a href='../about?a=1&amp;b=2'>About us</a> <a href=#top>Up</a>";
/// let page = Page::read(Source { body, url: &url, content_type: Some("text/html"), robots_tag: None });
/// assert_eq!(page.title.as_deref(), Some("News"));
/// assert_eq!(page.links.len(), 1);
/// assert_eq!(page.links[0].url.as_str(), "http://example.ke/about?a=1&b=2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Distinct by page, in the order of their first occurrence; at most [`MAX_LINKS`].
    pub links: Vec<Link>,
    /// The page asks all robots, or this one by name, to follow none of its links.
    pub nofollow: bool,
    /// The charset in which the page was read, as the Encoding Standard names it: `Shift_JIS`.
    pub charset: String,
    /// The source of that charset.
    pub charset_origin: CharsetOrigin,
    /// The first charset that the header or the document names, known or not, in lower case.
    pub declared_charset: Option<String>,
    /// The language that the document declares, in lower case: `sw-ke`.
    pub language: Option<String>,
    /// At most 512 characters, white space collapsed; none when missing or empty.
    pub title: Option<String>,
    /// XXH3 of the body, 128 bits, stable across versions.
    pub body_hash: u128,
    /// SimHash of the visible text, without title and markup; none if there is no word.
    pub text_simhash: Option<u64>,
    /// Errors in the markup.
    pub defects: Defects,
    /// The exclusion words on the page, because of which the survey skips its links.
    pub excluded_by: Option<String>,
    /// What the page tells of its site. A journal stores it apart from the page.
    #[serde(skip)]
    pub facts: PageFacts,
}

/// The data that tables store of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedPage {
    /// If the page asks not to be followed, each link is marked so.
    pub links: Vec<Link>,
    /// As the Encoding Standard names it.
    pub charset: String,
    /// In lower case; none when the page declares none.
    pub language: Option<String>,
    /// At most 512 characters.
    pub title: Option<String>,
    /// XXH3 of the body.
    pub body_hash: u128,
    /// Of the visible text; none if there is no word.
    pub text_simhash: Option<u64>,
    /// References that were dropped; 0 where the earlier survey did not count them.
    pub dropped_links: u32,
    /// What the page told of its site; the default where the earlier survey did not look. Stored separately,
    /// because earlier versions did not have it.
    #[serde(skip)]
    pub facts: PageFacts,
}

impl Page {
    /// A page that was read by an earlier survey and has not changed; `robots_tag` is the current header of
    /// its server.
    ///
    /// Facts that no table stores are lost: the source of its charset, and its other defects.
    #[must_use]
    pub fn recalled(recorded: RecordedPage, robots_tag: Option<&str>) -> Self {
        Self {
            links: recorded.links,
            nofollow: robots_tag.is_some_and(robots_directives::header_says_nofollow),
            charset: recorded.charset,
            charset_origin: CharsetOrigin::Recorded,
            declared_charset: None,
            language: recorded.language,
            title: recorded.title,
            body_hash: recorded.body_hash,
            text_simhash: recorded.text_simhash,
            defects: Defects { links_dropped: recorded.dropped_links, ..Defects::default() },
            excluded_by: None,
            facts: recorded.facts,
        }
    }

    /// Adds the link of a header `Refresh`, which browsers follow in the same way as the `meta` element
    /// (WHATWG HTML, shared declarative refresh steps). It is resolved against the page's own URL, because it
    /// came before any `base`.
    #[must_use]
    pub fn refreshed_by(mut self, header: Option<&str>, page: &WebUrl) -> Self {
        let target = header.and_then(refresh::target).and_then(|target| page.join(target).ok());
        let Some(url) = target else { return self };
        if let Some(link) = self.links.iter_mut().find(|link| link.url == url) {
            link.nofollow = false;
        } else if self.links.len() < MAX_LINKS {
            self.links.push(Link { url, element: Element::Meta, nofollow: false });
        } else {
            self.defects.links_dropped += 1;
        }
        self
    }

    /// Reads any bytes as a page.
    #[must_use]
    pub fn read(source: Source<'_>) -> Self {
        Self::read_with(source, false)
    }

    /// Reads the response to a request as a page. What it tells of its site, half of the work, is read where a
    /// site is entered and on front pages only.
    #[must_use]
    pub fn read_response(request: &Request, source: Source<'_>) -> Self {
        let enters_site = request.depth == Some(Depth(0)) || request.url.is_front_page();
        Self::read_with(source, !enters_site)
    }

    fn read_with(source: Source<'_>, skips_facts: bool) -> Self {
        let is_xml = source.is_xml();
        let charset = Charset::settle(source, is_xml);
        let (text, bad_bytes) = decoded(&source.body[charset.bom_bytes..], charset.encoding);
        let markup = Markup::read(&text, is_xml, skips_facts);

        let mut defects = markup.defects;
        defects.unknown_charset = charset.has_unknown_label;
        defects.bad_bytes = bad_bytes;
        let links = markup.references.resolve(source, charset.encoding, &mut defects);
        let title = markup.title.finish();
        let words = markup.simhash.words();
        let observed = Observed { url: source.url, title: title.as_deref(), links: &links, words };
        let facts = if skips_facts { PageFacts::NONE } else { PageFacts::settle(&markup.clues, &observed) };
        Self {
            links,
            nofollow: markup.nofollow
                || source.robots_tag.is_some_and(robots_directives::header_says_nofollow),
            charset: charset.encoding.name().to_owned(),
            charset_origin: charset.origin,
            declared_charset: charset.declared,
            language: markup.language.or(markup.pragma_language),
            title,
            body_hash: xxh3_128(source.body),
            text_simhash: markup.simhash.finish(),
            defects,
            excluded_by: None,
            facts,
        }
    }
}
