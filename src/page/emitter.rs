use html5gum::{Emitter, Error, State};

use super::name::Name;
use super::nesting::Nesting;
use super::tag::{Attribute, Tag};
use super::tag_name::{TagName, Text};

/// Who hears of the tags and the text of a document. What stands in templates is not told.
pub(super) trait Listener {
    fn start(&mut self, tag: &Tag);
    fn end(&mut self, name: TagName);
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
    /// Of the tag or of an attribute, as far as it is read.
    name: Name,
    reading: Part,
    /// A tag has been told behind which text is markup.
    is_between: bool,
    /// The last start tag, whose end tag alone ends raw text.
    last_start: TagName,
    nesting: Nesting,
}

/// What of a tag is being read.
#[derive(Clone, Copy)]
enum Part {
    Name,
    AttributeName,
    Value(Attribute),
    /// What nobody wants to know.
    Other,
}

impl<'a, L: Listener> TagEmitter<'a, L> {
    pub(super) fn new(listener: &'a mut L, is_xml: bool) -> Self {
        Self {
            listener,
            is_xml,
            tag: Tag::default(),
            name: Name::default(),
            reading: Part::Other,
            is_between: false,
            last_start: TagName::Other,
            nesting: Nesting::default(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.listener.is_done()
    }

    /// Begins a tag whose name is known whole.
    pub(super) fn begin(&mut self, is_end: bool, name: TagName) {
        self.tag.begin(is_end);
        self.tag.name = name;
    }

    /// Gives the tag an attribute with its value, unless it has it already.
    pub(super) fn give(&mut self, attribute: Attribute, value: &[u8]) {
        if self.tag.begin_value(attribute) {
            self.tag.push_value(attribute, value);
        }
    }

    /// Tells the tag that was begun; text behind it is markup.
    pub(super) fn emit_plain_tag(&mut self) {
        if self.tag.is_end {
            self.end_tag();
        } else {
            self.start_tag();
        }
    }

    /// Tells a piece of text, which may be empty.
    pub(super) fn emit_text(&mut self, piece: &[u8]) {
        if !self.nesting.is_inert() {
            self.listener.text(piece);
        }
    }

    fn begin_tag(&mut self, is_end: bool) {
        self.tag.begin(is_end);
        self.begin_name(Part::Name);
    }

    fn begin_name(&mut self, part: Part) {
        self.name.clear();
        self.reading = part;
    }

    /// The name that was being read is complete.
    fn settle_name(&mut self) {
        let name = self.name.as_bytes();
        self.reading = match self.reading {
            Part::Name => {
                self.tag.name = TagName::of(name);
                Part::Other
            }
            Part::AttributeName if !self.tag.is_end => match Attribute::of(self.tag.name, name) {
                Some(attribute) if self.tag.begin_value(attribute) => Part::Value(attribute),
                _ => Part::Other,
            },
            Part::AttributeName => Part::Other,
            part => part,
        };
    }

    fn end_tag(&mut self) {
        if !self.nesting.is_inert() {
            self.listener.end(self.tag.name);
        }
        self.nesting.close(self.tag.name);
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
        if has_content { state_in(self.tag.name.text()) } else { None }
    }
}

/// The tokenizer's state in such a text, if it is another than between elements.
fn state_in(text: Text) -> Option<State> {
    match text {
        Text::Markup => None,
        Text::Escapable => Some(State::RcData),
        Text::Raw => Some(State::RawText),
        Text::Script => Some(State::ScriptData),
        Text::Endless => Some(State::PlainText),
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
        self.name.push(piece);
    }

    fn init_attribute(&mut self) {
        self.settle_name();
        self.begin_name(Part::AttributeName);
    }

    fn push_attribute_name(&mut self, piece: &[u8]) {
        self.name.push(piece);
    }

    fn init_attribute_value(&mut self) {
        self.settle_name();
    }

    fn push_attribute_value(&mut self, piece: &[u8]) {
        if let Part::Value(attribute) = self.reading {
            self.tag.push_value(attribute, piece);
        }
    }

    fn set_self_closing(&mut self) {
        self.tag.is_self_closing = true;
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.settle_name();
        self.reading = Part::Other;
        let state = if self.tag.is_end {
            self.end_tag();
            None
        } else {
            self.start_tag()
        };
        self.is_between = state.is_none();
        state
    }

    fn emit_string(&mut self, piece: &[u8]) {
        self.emit_text(piece);
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.settle_name();
        self.tag.is_end && self.tag.name == self.last_start && self.tag.name != TagName::Other
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.is_xml || self.nesting.is_foreign()
    }

    /// The token is that reading can pause: behind a tag where text is markup, or because the listener has heard enough.
    fn pop_token(&mut self) -> Option<()> {
        (std::mem::take(&mut self.is_between) || self.is_done()).then_some(())
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
