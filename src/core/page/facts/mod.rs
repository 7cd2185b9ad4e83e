//! What a page tells of its site: the software behind it, how much content it has, and its language.
//!
//! While a page is read, `clues` collects what may matter of it, at most a few KiB: the generators, the
//! references to scripts, styles and pictures, and the beginning of the visible text (`visible_text`). At its
//! end, [`PageFacts::settle`] judges the clues. The room `exchange` has the rules of software; `content`
//! classifies the page with the signs of `data/content-signs.toml` (`signs`); `language` recognises the
//! language of the text. Only the page itself is judged: nothing here knows its status or its header.

mod clues;
mod content;
mod language;
mod signs;
mod visible_text;

use serde::{Deserialize, Serialize};

pub(super) use clues::{Clues, ReferenceKind};
pub(super) use content::Observed;

use crate::address::is_name_at_or_below;
use crate::exchange::{ContentClass, Reference, SiteSoftware};

/// What a page tells of its site. Each fact is none where the page shows nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFacts {
    /// The content of the first `<meta name=generator>`, white space collapsed, at most 128 characters.
    pub generator: Option<String>,
    /// The software behind the site, as the page alone shows it; [`SiteSoftware::preferred`] joins it with
    /// what the header fields show.
    pub software: Option<SiteSoftware>,
    /// How much of a site's own the page has.
    pub content: Option<ContentClass>,
    /// Why: `title: coming soon`, `text: this domain is for sale`, `words: 12, links: 1`.
    pub content_evidence: Option<String>,
    /// The language of the visible text: its code of ISO 639-1, or of ISO 639-3 where there is none. None if
    /// the text is short or no language is certain.
    pub text_language: Option<String>,
    /// The number of words of visible text. A word is a run of letters and digits; each Chinese, Japanese or
    /// Korean character is a word, and so is each run of Thai, Lao, Khmer or Burmese between spaces, which
    /// is about a clause.
    pub words: u32,
}

/// The links that are searched for paths of known software.
const SEARCHED_LINKS: usize = 50;

impl PageFacts {
    /// Nothing is known.
    pub const NONE: Self = Self {
        generator: None,
        software: None,
        content: None,
        content_evidence: None,
        text_language: None,
        words: 0,
    };

    pub(super) fn settle(clues: &Clues, page: &Observed<'_>) -> Self {
        let text = clues.text.finish();
        let (content, evidence) = content::classify(clues, text, page);
        Self {
            generator: clues.generators().next().map(str::to_owned),
            software: software(clues, page),
            content: Some(content),
            content_evidence: Some(evidence),
            text_language: language::detect(text).map(str::to_owned),
            words: page.words,
        }
    }
}

/// A link counts only on the page's own host: a page about WordPress links to files of other sites.
fn software(clues: &Clues, page: &Observed<'_>) -> Option<SiteSoftware> {
    let host = page.url.host().to_string();
    let references = clues.references().map(|(text, is_loaded)| {
        let is_own = !text.starts_with(b"//") || is_same_site(host_of(text), host.as_bytes());
        Reference { text, is_own, is_loaded }
    });
    let own = page.links.iter().take(SEARCHED_LINKS).filter(|link| link.url.host() == page.url.host());
    let paths = || own.map(|link| link.url.target().to_ascii_lowercase()).collect::<Vec<_>>();
    SiteSoftware::from_generators(clues.generators())
        .or_else(|| SiteSoftware::from_references(references))
        .or_else(|| {
            let paths = paths();
            let link = |path| Reference { text: path, is_own: true, is_loaded: false };
            SiteSoftware::from_references(paths.iter().map(|path| link(path.as_bytes())))
        })
}

/// The host in `//host/path`.
fn host_of(reference: &[u8]) -> &[u8] {
    let host = reference.strip_prefix(b"//").unwrap_or_default();
    let ends = |byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b':');
    &host[..host.iter().position(ends).unwrap_or(host.len())]
}

/// Whether a host is the page's, or below it: `cdn.a.ke` for a page of `www.a.ke`.
fn is_same_site(host: &[u8], page: &[u8]) -> bool {
    is_name_at_or_below(host, page.strip_prefix(b"www.").unwrap_or(page))
}

#[cfg(test)]
mod content_tests;
#[cfg(test)]
mod language_tests;
#[cfg(test)]
mod software_tests;
