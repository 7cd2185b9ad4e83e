use std::borrow::Cow;

use crate::address::MAX_URL_BYTES;

use super::element_name::{ElementName, Namespace};
use super::name::Name;
use super::tag_name::TagName;

/// The limit on an attribute's value: as much as `address` accepts of a reference before it parses it.
const MAX_VALUE_BYTES: usize = 4 * MAX_URL_BYTES;
/// The limit on an embedded document: as much as is read of a page.
const MAX_SRCDOC_BYTES: usize = 1024 * 1024;

/// The attributes that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::page) enum Attribute {
    /// `data-adblockkey`, with which parking services sign their pages.
    AdvertisingKey,
    Charset,
    Content,
    Encoding,
    Href,
    HttpEquiv,
    Lang,
    /// `color`, `face` or `size`.
    Look,
    Name,
    Rel,
    /// The reference of a script, a `link` or an `img`. Only its beginning is needed: it may end at a
    /// character reference, a NUL or a carriage return.
    Resource,
    ShadowRootMode,
    Src,
    Srcdoc,
    XlinkHref,
    XmlLang,
}

const ATTRIBUTES: usize = 16;

impl Attribute {
    /// The attribute of this name, if it has a meaning on this tag.
    pub(in crate::page) fn named(tag: TagName, name: &[u8]) -> Option<Self> {
        match (tag, name) {
            (TagName::A | TagName::Area | TagName::Base, b"href") => Some(Self::Href),
            (TagName::A | TagName::Area, b"rel") => Some(Self::Rel),
            (TagName::A, b"xlink:href") => Some(Self::XlinkHref),
            (TagName::Frame | TagName::Iframe, b"src") => Some(Self::Src),
            (TagName::Iframe, b"srcdoc") => Some(Self::Srcdoc),
            (TagName::Meta, b"charset") => Some(Self::Charset),
            (TagName::Meta, b"content") => Some(Self::Content),
            (TagName::Meta, b"http-equiv") => Some(Self::HttpEquiv),
            (TagName::Meta, b"name") => Some(Self::Name),
            (TagName::Img | TagName::Script, b"src") | (TagName::Link, b"href") => Some(Self::Resource),
            (TagName::Html, b"data-adblockkey") => Some(Self::AdvertisingKey),
            (TagName::Html, b"lang") => Some(Self::Lang),
            (TagName::Html, b"xml:lang") => Some(Self::XmlLang),
            (TagName::Template, b"shadowrootmode") => Some(Self::ShadowRootMode),
            (TagName::AnnotationXml, b"encoding") => Some(Self::Encoding),
            (TagName::Font, b"color" | b"face" | b"size") => Some(Self::Look),
            _ => None,
        }
    }

    /// As [`named`](Self::named), with the name in any case.
    pub(in crate::page) fn spelled(tag: TagName, name: &[u8]) -> Option<Self> {
        Self::named(tag, Name::in_lower_case(name).as_bytes())
    }
}

/// A tag that is being read: its name and the values of the attributes needed. One is used for all tags of a
/// page, so that its buffers are allocated once.
#[derive(Default)]
pub(in crate::page) struct Tag {
    pub(in crate::page) name: TagName,
    pub(in crate::page) is_end: bool,
    pub(in crate::page) is_self_closing: bool,
    /// Determined when the tag opens its element.
    pub(in crate::page) namespace: Namespace,
    /// It has no content, because it is self-closing where that counts.
    pub(in crate::page) is_empty: bool,
    /// It is in a body that a frameset may replace.
    pub(in crate::page) is_replaceable: bool,
    /// Determined where more of the name is needed than `name` holds.
    pub(in crate::page) element: ElementName,
    values: [Buffer; ATTRIBUTES],
    /// The attributes that the tag has, one bit each.
    present: u16,
}

#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    is_cut: bool,
}

/// The value of an attribute, with character references decoded.
#[derive(Clone, Copy)]
pub(in crate::page) struct AttributeValue<'a> {
    pub(in crate::page) bytes: &'a [u8],
    /// It was longer than the limit.
    pub(in crate::page) is_cut: bool,
}

impl Tag {
    pub(in crate::page) fn begin(&mut self, is_end: bool) {
        self.name = TagName::Other;
        self.is_end = is_end;
        self.is_self_closing = false;
        self.present = 0;
    }

    /// Begins an attribute; false if the tag has it already, because the first one counts.
    pub(in crate::page) fn begin_value(&mut self, attribute: Attribute) -> bool {
        if self.has(attribute) {
            return false;
        }
        self.present |= 1 << attribute as u16;
        let value = &mut self.values[attribute as usize];
        value.is_cut = false;
        value.bytes.clear();
        true
    }

    pub(in crate::page) fn push_value(&mut self, attribute: Attribute, piece: &[u8]) {
        let max_bytes = if attribute == Attribute::Srcdoc { MAX_SRCDOC_BYTES } else { MAX_VALUE_BYTES };
        let value = &mut self.values[attribute as usize];
        let free_bytes = max_bytes - value.bytes.len();
        value.is_cut |= piece.len() > free_bytes;
        value.bytes.extend_from_slice(&piece[..piece.len().min(free_bytes)]);
    }

    pub(in crate::page) fn value(&self, attribute: Attribute) -> Option<AttributeValue<'_>> {
        let value = &self.values[attribute as usize];
        self.has(attribute).then_some(AttributeValue { bytes: &value.bytes, is_cut: value.is_cut })
    }

    pub(in crate::page) fn has(&self, attribute: Attribute) -> bool {
        self.present & (1 << attribute as u16) != 0
    }

    /// The value as text. Only a value cut within a character is not UTF-8.
    pub(in crate::page) fn text(&self, attribute: Attribute) -> Option<Cow<'_, str>> {
        self.value(attribute).map(|value| String::from_utf8_lossy(value.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_attributes_counts_and_a_long_one_is_cut() {
        let mut tag = Tag::default();
        tag.begin(false);
        assert!(tag.begin_value(Attribute::Href));
        tag.push_value(Attribute::Href, b"one");
        assert!(!tag.begin_value(Attribute::Href));
        assert_eq!(tag.text(Attribute::Href).as_deref(), Some("one"));
        tag.push_value(Attribute::Href, &[b'x'; MAX_VALUE_BYTES]);
        tag.push_value(Attribute::Href, b"x");
        let value = tag.value(Attribute::Href).unwrap();
        assert!(value.is_cut);
        assert_eq!(value.bytes.len(), MAX_VALUE_BYTES);
        tag.begin(false);
        assert!(tag.value(Attribute::Href).is_none());
    }

    #[test]
    fn a_value_as_long_as_the_limit_is_whole_and_one_byte_more_is_cut() {
        let mut tag = Tag::default();
        let mut push = |pieces: &[usize]| {
            tag.begin(false);
            tag.begin_value(Attribute::Href);
            for &bytes in pieces {
                tag.push_value(Attribute::Href, &vec![b'x'; bytes]);
            }
            let value = tag.value(Attribute::Href).unwrap();
            (value.bytes.len(), value.is_cut)
        };
        for pieces in [&[MAX_VALUE_BYTES][..], &[1, MAX_VALUE_BYTES - 1], &[MAX_VALUE_BYTES - 1, 1, 0]] {
            assert_eq!(push(pieces), (MAX_VALUE_BYTES, false), "{pieces:?}");
        }
        for pieces in [
            &[MAX_VALUE_BYTES + 1][..],
            &[MAX_VALUE_BYTES, 1],
            &[MAX_VALUE_BYTES, 1, 1],
            &[2, MAX_VALUE_BYTES, 0],
        ] {
            assert_eq!(push(pieces), (MAX_VALUE_BYTES, true), "{pieces:?}");
        }
    }
}
