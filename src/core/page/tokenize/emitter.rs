use html5gum::{Emitter, Error, State};

use super::element_name::{ElementName, Namespace};
use super::name::Name;
use super::namespaces::Namespaces;
use super::nesting::{Nesting, Syntax, TagPlacement};
use super::tag::{Attribute, Tag};
use super::tag_name::{TagName, Text};

/// Receives the tags and the text of a document, except those in templates.
pub(in crate::page) trait Listener {
    fn start(&mut self, tag: &Tag);
    fn end(&mut self, name: TagName);
    /// A piece of text, which may begin or end within a character.
    fn text(&mut self, piece: &[u8]);
    /// Whether reading can end here.
    fn is_done(&self) -> bool;
    /// The body so far does not count: a frameset takes its place.
    fn forget_body(&mut self) {}
}

/// Assembles the tokenizer's events into tags, and tells the tokenizer where text is not markup. Nothing is
/// allocated per tag.
pub(in crate::page) struct TagEmitter<'a, L> {
    listener: &'a mut L,
    is_xml: bool,
    tag: Tag,
    /// The name of the tag or of an attribute, as far as it has been read.
    name: Name,
    reading: TagPart,
    /// A tag was emitted after which text is markup.
    is_between: bool,
    /// The last start tag, whose end tag alone ends raw text.
    last_start: TagName,
    nesting: Nesting,
    namespaces: Namespaces,
}

/// The part of a tag that is being read.
#[derive(Clone, Copy)]
enum TagPart {
    Name,
    AttributeName,
    Value(Attribute),
    /// The value of an `xmlns`.
    Declaration,
    /// A part that is not needed.
    Other,
}

impl<'a, L: Listener> TagEmitter<'a, L> {
    pub(in crate::page) fn new(listener: &'a mut L, syntax: Syntax) -> Self {
        Self {
            listener,
            is_xml: syntax == Syntax::Xml,
            tag: Tag::default(),
            name: Name::default(),
            reading: TagPart::Other,
            is_between: false,
            last_start: TagName::Other,
            nesting: Nesting::new(syntax),
            namespaces: Namespaces::default(),
        }
    }

    pub(in crate::page) fn is_done(&self) -> bool {
        self.listener.is_done()
    }

    /// Whether the document is to be read once more, as [`Syntax::WholeHtml`].
    pub(in crate::page) fn is_whole_needed(&self) -> bool {
        self.nesting.is_whole_needed()
    }

    pub(in crate::page) fn is_xml(&self) -> bool {
        self.is_xml
    }

    /// Begins a tag whose complete name is known; returns which tag it is.
    #[inline]
    pub(in crate::page) fn begin(&mut self, is_end: bool, spelled: &[u8]) -> TagName {
        self.tag.begin(is_end);
        self.tag.name = TagName::spelled(spelled);
        if self.nesting.is_kept() {
            self.settle_element(spelled);
        }
        self.tag.name
    }

    /// Determines what the open elements need to know of the tag's name.
    #[inline(never)]
    fn settle_element(&mut self, spelled: &[u8]) {
        if self.is_xml {
            self.tag.name = TagName::spelled(self.namespaces.begin(spelled));
        } else {
            self.tag.name = self.tag.name.in_tree(spelled);
        }
        self.tag.element = ElementName::spelled(spelled);
    }

    /// How to read the text after the start tag that was begun.
    #[inline]
    pub(in crate::page) fn text(&self) -> Text {
        if self.nesting.is_kept() { self.nested_text() } else { self.tag.name.text() }
    }

    #[inline(never)]
    fn nested_text(&self) -> Text {
        let namespace =
            if self.is_xml { self.namespaces.current() } else { self.nesting.namespace_of(self.tag.element) };
        let is_read = self.nesting.has_body() || self.tag.name == TagName::Noframes;
        if is_read && namespace == Namespace::Html { self.text_of_html() } else { Text::Markup }
    }

    /// In XML all text is markup. The text of scripts, styles and fallbacks for frames is not visible, and is
    /// read as in HTML, because many pages write it so.
    fn text_of_html(&self) -> Text {
        match self.tag.name.text() {
            Text::Escapable | Text::Endless if self.is_xml => Text::Markup,
            text => text,
        }
    }

    /// Adds an attribute with its value to the tag, unless the tag already has it.
    pub(in crate::page) fn add_attribute(&mut self, attribute: Attribute, value: &[u8]) {
        if self.tag.begin_value(attribute) {
            self.tag.push_value(attribute, value);
        }
    }

    /// Emits the tag that was begun; text after it is markup.
    pub(in crate::page) fn emit_plain_tag(&mut self) {
        if self.tag.is_end {
            self.end_tag();
        } else {
            self.start_tag();
        }
    }

    /// Emits a piece of text, which may be empty.
    pub(in crate::page) fn emit_text(&mut self, piece: &[u8]) {
        if self.nesting.is_kept() {
            self.nesting.add_text(piece);
            if !self.nesting.has_body() {
                return;
            }
        }
        if !self.nesting.is_inert() {
            self.listener.text(piece);
        }
    }

    fn begin_tag(&mut self, is_end: bool) {
        self.tag.begin(is_end);
        self.begin_name(TagPart::Name);
    }

    fn begin_name(&mut self, part: TagPart) {
        self.name.clear();
        self.reading = part;
    }

    /// The name that was being read is complete.
    fn settle_name(&mut self) {
        let name = self.name;
        let name = name.as_bytes();
        self.reading = match self.reading {
            TagPart::Name => {
                self.tag.name = TagName::named(name);
                if self.nesting.is_kept() {
                    self.settle_element(name);
                }
                TagPart::Other
            }
            TagPart::AttributeName if !self.tag.is_end => match Attribute::named(self.tag.name, name) {
                Some(attribute) if self.tag.begin_value(attribute) => TagPart::Value(attribute),
                None if self.is_xml && self.namespaces.declare(name) => TagPart::Declaration,
                _ => TagPart::Other,
            },
            TagPart::AttributeName => TagPart::Other,
            part => part,
        };
    }

    fn end_tag(&mut self) {
        if !self.nesting.is_inert() {
            self.listener.end(self.tag.name);
        }
        if self.nesting.is_kept() || self.tag.name == TagName::Template {
            self.namespaces.leave(self.tag.element);
            self.nesting.leave(&self.tag);
        }
    }

    fn start_tag(&mut self) -> Option<State> {
        if self.nesting.is_kept() || self.tag.name.nests() {
            return self.start_nested();
        }
        // This applies to nearly every tag.
        self.tag.namespace = Namespace::Html;
        self.tag.is_empty = false;
        if !self.nesting.is_inert() {
            self.listener.start(&self.tag);
        }
        self.last_start = self.tag.name;
        state_in(self.tag.name.text())
    }

    /// Handles a start tag that changes the meaning of others, or whose own meaning depends on them.
    #[inline(never)]
    fn start_nested(&mut self) -> Option<State> {
        let was_inert = self.nesting.is_inert();
        let placement = if self.is_xml { self.enter_xml() } else { self.nesting.enter(&mut self.tag) };
        self.tag.is_empty = placement == TagPlacement::Empty;
        match placement {
            TagPlacement::Nowhere => return None,
            TagPlacement::InPlaceOfBody => self.listener.forget_body(),
            TagPlacement::Open | TagPlacement::Empty => {}
        }
        if !was_inert {
            self.listener.start(&self.tag);
        }
        self.last_start = self.tag.name;
        let is_text = placement == TagPlacement::Open && self.tag.namespace == Namespace::Html;
        if is_text { state_in(self.text_of_html()) } else { None }
    }

    /// Enters an element of XML: its namespace decides its meaning, and templates are handled as in HTML.
    fn enter_xml(&mut self) -> TagPlacement {
        let is_empty = self.tag.is_self_closing;
        self.tag.namespace = self.namespaces.enter(self.tag.element, is_empty);
        if is_empty {
            return TagPlacement::Empty;
        }
        if self.tag.namespace == Namespace::Html && self.tag.name == TagName::Template {
            self.nesting.open_template(&self.tag);
        }
        TagPlacement::Open
    }
}

/// The tokenizer's state for such a text, if it differs from the state between elements.
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
        self.begin_name(TagPart::AttributeName);
    }

    fn push_attribute_name(&mut self, piece: &[u8]) {
        self.name.push(piece);
    }

    fn init_attribute_value(&mut self) {
        self.settle_name();
    }

    fn push_attribute_value(&mut self, piece: &[u8]) {
        match self.reading {
            TagPart::Value(attribute) => self.tag.push_value(attribute, piece),
            TagPart::Declaration => self.namespaces.push_value(piece),
            _ => {}
        }
    }

    fn set_self_closing(&mut self) {
        self.tag.is_self_closing = true;
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.settle_name();
        self.reading = TagPart::Other;
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

    /// A token means that reading can pause: after a tag where text is markup, or because the listener is
    /// done.
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
