use super::facts::{Clues, ReferenceKind};
use super::references::References;
use super::simhash::SimHash;
use super::title::Title;
use super::tokenize::element_name::Namespace;
use super::tokenize::emitter::Listener;
use super::tokenize::nesting::Syntax;
use super::tokenize::tag::{Attribute, AttributeValue, Tag};
use super::tokenize::tag_name::{TagName, Text};
use super::tokenize::tokenize;
use super::{Defects, Element, refresh, robots_directives};

/// The meaning of a page's tags, collected while it is read.
#[derive(Default)]
pub(super) struct Markup {
    pub(super) references: References,
    /// A robots `meta` asks not to follow the page's links.
    pub(super) nofollow: bool,
    pub(super) title: Title,
    /// Of the visible text.
    pub(super) simhash: SimHash,
    pub(super) language: Option<String>,
    /// From `<meta http-equiv=content-language>`, which counts only where `language` is none.
    pub(super) pragma_language: Option<String>,
    pub(super) defects: Defects,
    /// What the page shows of its site; not in embedded documents.
    pub(super) clues: Clues,
    skips_facts: bool,
    /// The number of documents around this one.
    depth: u8,
    title_state: TitleState,
    is_hidden: bool,
    is_script: bool,
    /// The base is in a body that a frameset may replace; likewise the title.
    base_is_replaceable: bool,
    title_is_replaceable: bool,
}

/// Only the first title is the document's.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum TitleState {
    #[default]
    Awaited,
    Open,
    Read,
}

impl Markup {
    /// With `skips_facts`, clues are not collected.
    pub(super) fn read(text: &[u8], is_xml: bool, skips_facts: bool) -> Self {
        let blank = || Self { skips_facts, ..Self::default() };
        let mut markup = blank();
        let is_whole_needed = tokenize(text, &mut markup, if is_xml { Syntax::Xml } else { Syntax::Html });
        if is_whole_needed {
            markup = blank();
            tokenize(text, &mut markup, Syntax::WholeHtml);
        }
        markup
    }

    /// Reads an embedded document; its links are links of this one.
    fn read_srcdoc(&mut self, text: &[u8]) {
        if self.depth == MOST_DEPTH || !self.references.has_room() {
            self.defects.links_dropped = self.defects.links_dropped.saturating_add(1);
            return;
        }
        let references = std::mem::take(&mut self.references);
        let (depth, skips_facts) = (self.depth + 1, self.skips_facts);
        let mut inner = Self { depth, skips_facts, references: references.enter(), ..Self::default() };
        tokenize(text, &mut inner, Syntax::WholeHtml);
        self.references = inner.references.leave(inner.nofollow);
        self.defects.add(inner.defects);
    }

    fn end_word(&mut self) {
        self.simhash.end_word();
        if !self.skips_facts {
            self.clues.text.end_word();
        }
    }

    fn refer(&mut self, element: Element, tag: &Tag, attribute: Attribute) {
        let Some(value) = tag.value(attribute) else {
            return;
        };
        let is_nofollow = tag.value(Attribute::Rel).is_some_and(|rel| has_nofollow(rel.bytes));
        self.references.add(element, value, is_nofollow, &mut self.defects);
    }

    fn read_meta(&mut self, tag: &Tag) {
        let Some(content) = tag.text(Attribute::Content) else {
            return;
        };
        if tag.text(Attribute::Name).is_some_and(|name| robots_directives::is_for_us(&name)) {
            self.nofollow |= robots_directives::content_says_nofollow(&content);
        }
        if tag.text(Attribute::Name).is_some_and(|name| name.trim().eq_ignore_ascii_case("generator")) {
            self.clues.add_generator(&content);
        }
        let Some(pragma) = tag.text(Attribute::HttpEquiv) else {
            return;
        };
        if pragma.trim().eq_ignore_ascii_case("refresh") {
            let is_cut = tag.value(Attribute::Content).is_some_and(|value| value.is_cut);
            if let Some(target) = refresh::target(&content) {
                let value = AttributeValue { bytes: target.as_bytes(), is_cut };
                self.references.add(Element::Meta, value, false, &mut self.defects);
            }
        } else if pragma.trim().eq_ignore_ascii_case("content-language") && self.pragma_language.is_none() {
            self.pragma_language = tidy_language(&content);
        }
    }

    fn read_language(&mut self, tag: &Tag) {
        let language_of = |attribute| tag.text(attribute).and_then(|text| tidy_language(&text));
        if self.language.is_none() {
            self.language = language_of(Attribute::Lang).or_else(|| language_of(Attribute::XmlLang));
        }
    }

    fn read_base(&mut self, tag: &Tag) {
        if let Some(href) = tag.text(Attribute::Href) {
            self.base_is_replaceable |= tag.is_replaceable && !self.references.has_base();
            self.references.set_base(&href);
        }
    }

    /// Handles what the page loads or shows.
    fn start_resource(&mut self, tag: &Tag) {
        let kind = match tag.name {
            TagName::Img => ReferenceKind::Picture,
            _ => ReferenceKind::Loaded,
        };
        self.clues.has_picture |= tag.name == TagName::Img;
        self.clues.has_script |= tag.name == TagName::Script;
        if let Some(value) = tag.value(Attribute::Resource) {
            self.clues.add_reference(kind, value.bytes);
        }
    }

    /// Handles an element of HTML.
    fn start_html(&mut self, tag: &Tag) {
        self.is_hidden = is_hidden(tag.name) && !tag.is_empty;
        self.is_script = tag.name == TagName::Script;
        match tag.name {
            TagName::A => self.refer(Element::A, tag, Attribute::Href),
            TagName::Area => self.refer(Element::Area, tag, Attribute::Href),
            TagName::Frame => self.refer(Element::Frame, tag, Attribute::Src),
            TagName::Iframe => match tag.value(Attribute::Srcdoc) {
                Some(document) => self.read_srcdoc(document.bytes),
                None => self.refer(Element::Iframe, tag, Attribute::Src),
            },
            TagName::Base => self.read_base(tag),
            TagName::Meta => self.read_meta(tag),
            TagName::Html => {
                self.read_language(tag);
                self.clues.has_advertising_key |= tag.has(Attribute::AdvertisingKey);
            }
            TagName::Img | TagName::Link | TagName::Script if !self.skips_facts => self.start_resource(tag),
            TagName::Object => self.clues.has_picture = true,
            TagName::Title if self.title_state == TitleState::Awaited => {
                self.title_state = if tag.is_empty { TitleState::Read } else { TitleState::Open };
                self.title_is_replaceable = tag.is_replaceable;
            }
            _ => {}
        }
    }

    /// Handles an element of SVG. An `href` without a namespace takes precedence over one of XLink (SVG 2
    /// §16.1.6).
    fn start_svg(&mut self, tag: &Tag) {
        self.is_hidden = matches!(tag.name, TagName::Script | TagName::Style) && !tag.is_empty;
        self.is_script = false;
        self.clues.has_picture = true;
        if tag.name == TagName::A {
            let href = if tag.has(Attribute::Href) { Attribute::Href } else { Attribute::XlinkHref };
            self.refer(Element::A, tag, href);
        }
    }
}

/// The limit on the nesting of documents. Nobody writes four layers of character references by hand.
const MOST_DEPTH: u8 = 4;

impl Listener for Markup {
    fn start(&mut self, tag: &Tag) {
        self.end_word();
        match tag.namespace {
            Namespace::Html => self.start_html(tag),
            Namespace::Svg => self.start_svg(tag),
            Namespace::Math | Namespace::Other => self.is_hidden = false,
        }
    }

    fn end(&mut self, name: TagName) {
        self.end_word();
        self.is_hidden = false;
        if self.title_state == TitleState::Open && name == TagName::Title {
            self.title_state = TitleState::Read;
        }
    }

    fn text(&mut self, piece: &[u8]) {
        if self.title_state == TitleState::Open {
            self.title.push(piece);
        } else if !self.is_hidden {
            self.simhash.push(piece);
            if !self.skips_facts {
                self.clues.text.push(piece);
            }
        } else if self.is_script && !self.skips_facts {
            self.clues.add_script(piece);
        }
    }

    fn is_done(&self) -> bool {
        false
    }

    fn forget_body(&mut self) {
        self.references.forget_body(self.base_is_replaceable);
        if std::mem::take(&mut self.title_is_replaceable) {
            self.title = Title::default();
            self.title_state = TitleState::Awaited;
        }
    }
}

/// Whether the text of an element is not visible. Such an element holds no other elements, so that the next
/// tag ends it.
fn is_hidden(name: TagName) -> bool {
    name != TagName::Xmp && matches!(name.text(), Text::Raw | Text::Script)
}

fn has_nofollow(rel: &[u8]) -> bool {
    rel.split(u8::is_ascii_whitespace).any(|token| token.eq_ignore_ascii_case(b"nofollow"))
}

/// RFC 5646 §4.4.1: enough for any registered language tag with all its subtags.
const MAX_LANGUAGE_BYTES: usize = 35;

/// A language tag in lower case, or none if it is not a tag. The common spelling `en_US` is read as `en-us`.
fn tidy_language(text: &str) -> Option<String> {
    let text = text.trim();
    let is_tag = (2..=MAX_LANGUAGE_BYTES).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_tag.then(|| text.to_ascii_lowercase().replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_a_tag_in_lower_case() {
        assert_eq!(tidy_language(" sw-KE ").as_deref(), Some("sw-ke"));
        assert_eq!(tidy_language("en_US").as_deref(), Some("en-us"));
        for tag in ["sw", &"a".repeat(35)] {
            assert_eq!(tidy_language(tag).as_deref(), Some(tag));
        }
        for junk in ["", "x", "<?php echo $lang ?>", "en,fr", "日本語", &"a".repeat(36)] {
            assert_eq!(tidy_language(junk), None, "{junk}");
        }
    }
}
