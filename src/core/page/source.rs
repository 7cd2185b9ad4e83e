use serde::{Deserialize, Serialize};

use crate::address::WebUrl;
use crate::exchange::Document;

/// The input from which a page is read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Without content encoding; possibly truncated.
    pub body: &'a [u8],
    /// The URL of the page: the base of its references, and a hint at its charset.
    pub url: &'a WebUrl,
    /// The header fields, joined by commas.
    pub content_type: Option<&'a str>,
    /// `X-Robots-Tag`, all its lines joined by commas.
    pub robots_tag: Option<&'a str>,
}

impl Source<'_> {
    /// Whether it is XML, in which a self-closed tag has no content.
    pub(super) fn is_xml(&self) -> bool {
        Document::detect(self.content_type, self.body) == Some(Document::Xhtml)
    }
}

/// The defects of a page, in counts; none of them stops the reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defects {
    /// Byte sequences that are invalid in the page's charset, each read as U+FFFD.
    pub bad_bytes: u32,
    /// A charset is declared that is unknown, or that cannot be the charset of the bytes.
    pub unknown_charset: bool,
    /// The first `base` leads to no Web page: relative references lead nowhere, or were resolved without it
    /// if it is not a URL.
    pub bad_base: bool,
    /// Distinct references that are not a URL, have no usable host, or a port that browsers refuse.
    pub bad_urls: u32,
    /// References longer than any URL that is stored.
    pub too_long_urls: u32,
    /// References beyond the limit for one page.
    pub links_dropped: u32,
}

impl Defects {
    /// Adds the defects of an embedded document.
    pub(super) fn add(&mut self, other: Self) {
        self.bad_bytes = self.bad_bytes.saturating_add(other.bad_bytes);
        self.unknown_charset |= other.unknown_charset;
        self.bad_base |= other.bad_base;
        self.bad_urls = self.bad_urls.saturating_add(other.bad_urls);
        self.too_long_urls = self.too_long_urls.saturating_add(other.too_long_urls);
        self.links_dropped = self.links_dropped.saturating_add(other.links_dropped);
    }
}
