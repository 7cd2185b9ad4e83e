use html5gum::{Emitter, Error, State};

use super::nesting::Nesting;
use super::tag::{Attribute, Name, Tag};

/// Who hears of the tags and the text of a document. What stands in templates is not told.
pub(super) trait Listener {
    fn start(&mut self, tag: &Tag);
    fn end(&mut self, name: &[u8]);
    /// A piece of text, not always of whole characters.
    fn text(&mut self, piece: &[u8]);
    /// Whether reading can end here.
    fn is_done(&self) -> bool;
}

/// Puts the tokenizer's events together into tags, and tells the tokenizer where text is not
/// markup. Nothing is allocated per tag.
pub(super) struct TagEmitter<'a, L> {
    listener: &'a mut L,
    is_xml: bool,
    tag: Tag,
    attribute_name: Name,
    reading: AttributePart,
    /// The last start tag, whose end tag alone ends raw text.
    last_start: Name,
    nesting: Nesting,
}

/// What of an attribute is being read.
#[derive(Clone, Copy)]
enum AttributePart {
    Nothing,
    Name,
    Value(Attribute),
}

impl<'a, L: Listener> TagEmitter<'a, L> {
    pub(super) fn new(listener: &'a mut L, is_xml: bool) -> Self {
        Self {
            listener,
            is_xml,
            tag: Tag::default(),
            attribute_name: Name::default(),
            reading: AttributePart::Nothing,
            last_start: Name::default(),
            nesting: Nesting::default(),
        }
    }

    fn begin_tag(&mut self, is_end: bool) {
        self.tag.begin(is_end);
        self.reading = AttributePart::Nothing;
    }

    /// The attribute's name is complete: from here on its value is read, or nothing.
    fn settle_name(&mut self) {
        if !matches!(self.reading, AttributePart::Name) {
            return;
        }
        let wanted = Attribute::wanted(self.tag.name(), self.attribute_name.as_bytes());
        self.reading = match wanted {
            Some(attribute) if !self.tag.is_end && self.tag.begin_value(attribute) => {
                AttributePart::Value(attribute)
            }
            _ => AttributePart::Nothing,
        };
    }

    fn end_tag(&mut self) {
        if !self.nesting.is_inert() {
            self.listener.end(self.tag.name());
        }
        self.nesting.close(self.tag.name());
    }

    fn start_tag(&mut self) -> Option<State> {
        self.tag.is_foreign = self.nesting.is_foreign();
        // In HTML proper the slash of `<script/>` means nothing.
        let has_content = !(self.tag.is_self_closing && (self.is_xml || self.tag.is_foreign));
        if !self.nesting.is_inert() {
            self.listener.start(&self.tag);
        }
        self.nesting.open(&self.tag, has_content);
        self.last_start = self.tag.name;
        if has_content { text_after(self.tag.name()) } else { None }
    }
}

/// How the text of an element is tokenized (WHATWG HTML §13.2.6.4), as with scripting off:
/// `noscript` is content. `noframes` is raw text, for frames are followed.
fn text_after(name: &[u8]) -> Option<State> {
    match name {
        b"title" | b"textarea" => Some(State::RcData),
        b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" => Some(State::RawText),
        b"script" => Some(State::ScriptData),
        b"plaintext" => Some(State::PlainText),
        _ => None,
    }
}

impl<L: Listener> Emitter for TagEmitter<'_, L> {
    type Token = ();

    fn init_start_tag(&mut self) {
        self.begin_tag(false);
    }

    fn init_end_tag(&mut self) {
        self.begin_tag(true);
    }

    fn push_tag_name(&mut self, piece: &[u8]) {
        self.tag.name.push(piece);
    }

    fn init_attribute(&mut self) {
        self.settle_name();
        self.attribute_name.clear();
        self.reading = AttributePart::Name;
    }

    fn push_attribute_name(&mut self, piece: &[u8]) {
        self.attribute_name.push(piece);
    }

    fn init_attribute_value(&mut self) {
        self.settle_name();
    }

    fn push_attribute_value(&mut self, piece: &[u8]) {
        if let AttributePart::Value(attribute) = self.reading {
            self.tag.push_value(attribute, piece);
        }
    }

    fn set_self_closing(&mut self) {
        self.tag.is_self_closing = true;
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.settle_name();
        self.reading = AttributePart::Nothing;
        if self.tag.is_end {
            self.end_tag();
            return None;
        }
        self.start_tag()
    }

    fn emit_string(&mut self, piece: &[u8]) {
        if !self.nesting.is_inert() {
            self.listener.text(piece);
        }
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.tag.is_end && self.tag.name() == self.last_start.as_bytes() && !self.tag.name().is_empty()
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.is_xml || self.nesting.is_foreign()
    }

    fn pop_token(&mut self) -> Option<()> {
        self.listener.is_done().then_some(())
    }

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    // Called only by tests of html5gum itself.
    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}

    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn emit_current_doctype(&mut self) {}
}
