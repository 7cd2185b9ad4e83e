use std::ops::Range;

use super::recorded::ReplayFailure;
use super::texts::{TextId, Texts};

/// The texts and links of all pages.
#[derive(Debug)]
pub(super) struct RecordedPages {
    pub texts: Texts,
    /// The targets of the links, page by page …
    pub targets: Vec<TextId>,
    /// … and how they are written.
    pub marks: Vec<LinkMark>,
}

/// The response of one URL.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordedResponse {
    pub replay_failure: ReplayFailure,
    /// 0 without a response.
    pub status: u16,
    pub is_page: bool,
    pub content_type: TextId,
    pub charset: TextId,
    pub language: TextId,
    pub title: TextId,
    pub location: TextId,
    /// Index into the software names.
    pub server: u32,
    pub last_modified: TextId,
    pub etag: TextId,
    pub robots_txt: TextId,
    pub body_bytes: u32,
    pub service_us: u32,
    pub first_link: u32,
    pub link_count: u32,
}

impl RecordedResponse {
    pub(crate) fn links(&self) -> Range<usize> {
        self.first_link as usize..(self.first_link + self.link_count) as usize
    }
}

/// How a link is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkMark {
    pub element: LinkElement,
    pub nofollow: bool,
}

/// The element of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkElement {
    A,
    Area,
    Frame,
    Iframe,
    Meta,
}

impl LinkElement {
    /// The element for a word of the table `links`; an unknown word counts as the most frequent element.
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "area" => Self::Area,
            "frame" => Self::Frame,
            "iframe" => Self::Iframe,
            "meta" => Self::Meta,
            _ => Self::A,
        }
    }

    pub(crate) fn has_rel(self) -> bool {
        matches!(self, Self::A | Self::Area)
    }
}
