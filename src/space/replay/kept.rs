use std::ops::Range;

use super::recorded::Mishap;
use super::texts::{TextId, Texts};

/// Everything that is written on pages.
#[derive(Debug)]
pub(super) struct RecordedPages {
    pub texts: Texts,
    /// What each link leads to, page by page …
    pub targets: Vec<TextId>,
    /// … and how it is written.
    pub marks: Vec<LinkMark>,
}

/// The answer of one URL.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordedResponse {
    pub mishap: Mishap,
    /// 0 where no answer came.
    pub status: u16,
    pub is_page: bool,
    pub content_type: TextId,
    pub charset: TextId,
    pub language: TextId,
    pub title: TextId,
    pub location: TextId,
    /// Which of the names that servers give themselves.
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

/// What a link was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkElement {
    A,
    Area,
    Frame,
    Iframe,
    Meta,
}

impl LinkElement {
    /// The element of a word of the table; an unknown one is taken for the commonest.
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
