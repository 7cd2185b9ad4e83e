use super::element_name::{ElementKind, ElementName, Namespace};
use super::tag::{Attribute, Tag};
use super::tag_name::TagName;

/// How a document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::page) enum Syntax {
    Html,
    /// HTML of which all open elements are kept.
    WholeHtml,
    Xml,
}

/// As much of the tree around a tag as its meaning needs: whether it stands in foreign content (`svg`, `math`), whether
/// in a template, which is not shown, and whether in the body of a document or in its frameset.
///
/// Open elements are kept from the outermost `svg` or `math` on, by the rules of WHATWG HTML §13.2.6.5. Few pages have an
/// end tag there of an element that stands around it; whether it ends the foreign content depends on all open elements,
/// as does whether a frame counts. Such a page is read once more, and all of them are kept (`is_whole`). Of the rules for
/// HTML elements those are here that decide which element an end tag ends; not here are formatting elements that are
/// opened once more, which end nothing.
#[derive(Default)]
pub(in crate::page) struct Nesting {
    open: Vec<OpenElement>,
    /// Open elements beyond [`MOST_OPEN`].
    further: u32,
    /// `open` is in use: it is whole, or not empty; and in XML, whose namespaces are kept elsewhere.
    is_kept: bool,
    is_whole: bool,
    is_xml: bool,
    is_whole_needed: bool,
    /// Templates that are open and not shown.
    templates: u32,
    stage: Stage,
}

/// An open element.
#[derive(Clone, Copy)]
struct OpenElement {
    name: ElementName,
    namespace: Namespace,
    point: IntegrationPoint,
}

/// What else may stand in an element than what its namespace says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IntegrationPoint {
    None,
    /// An HTML integration point: `foreignObject`.
    Html,
    /// A MathML text integration point: `mi`.
    Text,
    /// An `annotation-xml` that is no HTML integration point; an `svg` may stand in it.
    Annotation,
    /// A template of HTML whose content is not shown.
    Inert,
}

/// How far a document has come; kept up if all open elements are.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Before its body.
    #[default]
    Head,
    /// In a body that a `frameset` may still replace.
    Replaceable,
    Body,
    /// In so many framesets.
    Framesets(u32),
    /// Behind the outermost frameset.
    Behind,
}

/// What becomes of a start tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::page) enum TagPlacement {
    /// It has content, up to its end tag.
    Open,
    /// It has none, for it closes itself.
    Empty,
    /// Browsers pass over it.
    Nowhere,
    /// It is the frameset that replaces the body.
    InPlaceOfBody,
}

/// Deeper elements are only counted; browsers nest 512 and real pages fewer than a hundred. An end tag may look at all
/// of them.
const MOST_OPEN: usize = 256;

impl Nesting {
    pub(in crate::page) fn new(syntax: Syntax) -> Self {
        let (is_whole, is_xml) = (syntax == Syntax::WholeHtml, syntax == Syntax::Xml);
        Self { is_whole, is_xml, is_kept: is_whole || is_xml, ..Self::default() }
    }

    /// Whether the document is to be read once more, with all open elements kept.
    pub(in crate::page) fn is_whole_needed(&self) -> bool {
        self.is_whole_needed
    }

    /// Whether names have to be told apart beyond those of [`TagName`].
    #[inline]
    pub(in crate::page) fn is_kept(&self) -> bool {
        self.is_kept
    }

    pub(in crate::page) fn is_inert(&self) -> bool {
        self.templates > 0
    }

    /// Whether the innermost open element is of `svg` or `math`.
    pub(in crate::page) fn is_foreign(&self) -> bool {
        self.open.last().is_some_and(OpenElement::is_foreign)
    }

    /// Where an element of this name would stand, whatever its attributes.
    pub(in crate::page) fn namespace_of(&self, name: ElementName) -> Namespace {
        let Some(top) = self.open.last() else { return Namespace::Html };
        let is_html = match top.point {
            IntegrationPoint::Html | IntegrationPoint::Inert => true,
            IntegrationPoint::Text => !name.is_one_of([b"mglyph", b"malignmark"]),
            IntegrationPoint::Annotation => name.ends_foreign || name.is_named(b"svg"),
            IntegrationPoint::None => name.ends_foreign || top.namespace == Namespace::Html,
        };
        if is_html { Namespace::Html } else { top.namespace }
    }

    /// Hears of text between tags.
    pub(in crate::page) fn add_text(&mut self, piece: &[u8]) {
        let is_pending = matches!(self.stage, Stage::Head | Stage::Replaceable) && self.is_whole;
        let is_hidden =
            || self.is_inert() || self.open.last().is_some_and(|top| top.name.kind == ElementKind::Text);
        if is_pending
            && piece.iter().any(|byte| !matches!(byte, 0 | b' ' | b'\t' | b'\n' | b'\r' | b'\x0c'))
            && !is_hidden()
        {
            self.stage = Stage::Body;
        }
    }

    /// Whether text is shown where the document has come to.
    pub(in crate::page) fn has_body(&self) -> bool {
        !matches!(self.stage, Stage::Framesets(_) | Stage::Behind)
    }

    /// Whether a frameset may still take the place of the body that has begun.
    fn is_replaceable(&self) -> bool {
        self.stage == Stage::Replaceable
    }

    /// Enters an element, and notes its namespace on the tag.
    pub(in crate::page) fn enter(&mut self, tag: &mut Tag) -> TagPlacement {
        if self.is_kept {
            return self.enter_kept(tag);
        }
        tag.namespace = Namespace::Html;
        match tag.name {
            TagName::Svg | TagName::Math => return self.enter_root(tag),
            TagName::Template => self.open_template(tag),
            TagName::Frame | TagName::Frameset => self.is_whole_needed |= !self.is_inert(),
            _ => {}
        }
        TagPlacement::Open
    }

    fn enter_root(&mut self, tag: &mut Tag) -> TagPlacement {
        tag.namespace = if tag.name == TagName::Svg { Namespace::Svg } else { Namespace::Math };
        let name = ElementName::spelled(if tag.name == TagName::Svg { b"svg" } else { b"math" });
        self.enter_foreign(tag, name)
    }

    fn enter_foreign(&mut self, tag: &Tag, name: ElementName) -> TagPlacement {
        if tag.is_self_closing {
            return TagPlacement::Empty;
        }
        let point = match tag.namespace {
            Namespace::Svg if name.is_one_of([b"foreignobject", b"desc", b"title"]) => IntegrationPoint::Html,
            Namespace::Math if name.is_one_of([b"mi", b"mo", b"mn", b"ms", b"mtext"]) => {
                IntegrationPoint::Text
            }
            Namespace::Math if tag.name == TagName::AnnotationXml => {
                let encoding = tag.text(Attribute::Encoding).unwrap_or_default();
                let is_html = ["text/html", "application/xhtml+xml"];
                let is_html = is_html.iter().any(|html| encoding.eq_ignore_ascii_case(html));
                if is_html { IntegrationPoint::Html } else { IntegrationPoint::Annotation }
            }
            _ => IntegrationPoint::None,
        };
        self.push(OpenElement { name, namespace: tag.namespace, point });
        TagPlacement::Open
    }

    fn enter_kept(&mut self, tag: &mut Tag) -> TagPlacement {
        let name = tag.element;
        let breaks = name.ends_foreign || tag.name == TagName::Font && tag.has(Attribute::Look);
        tag.namespace = self.namespace_of(name);
        if tag.namespace != Namespace::Html && !breaks {
            return self.enter_foreign(tag, name);
        }
        tag.namespace = Namespace::Html;
        if breaks {
            self.leave_foreign();
        }
        match self.pass(name, tag.name) {
            Some(place) => return place,
            None if matches!(tag.name, TagName::Svg | TagName::Math) => return self.enter_root(tag),
            // The foreign content has ended, and with it what is kept.
            None if !self.is_kept => return TagPlacement::Open,
            None => {}
        }
        tag.is_replaceable = self.is_replaceable();
        self.make_room(name);
        match name.kind {
            ElementKind::Void | ElementKind::Document => {}
            ElementKind::TableGroup | ElementKind::TableRow | ElementKind::TableCell
                if self.table().is_none() =>
            {
                self.is_whole_needed |= !self.is_whole;
            }
            ElementKind::Template => self.open_template(tag),
            _ => self.push(OpenElement { name, namespace: Namespace::Html, point: IntegrationPoint::None }),
        }
        TagPlacement::Open
    }

    /// A declarative shadow root is shown; without `open` its end tag finds no template open.
    pub(in crate::page) fn open_template(&mut self, tag: &Tag) {
        let is_inert = self.is_inert() || !tag.has(Attribute::ShadowRootMode);
        self.templates = self.templates.saturating_add(u32::from(is_inert));
        if self.is_kept && !self.is_xml {
            let point = if is_inert { IntegrationPoint::Inert } else { IntegrationPoint::None };
            self.push(OpenElement { name: tag.element, namespace: Namespace::Html, point });
        }
    }

    /// Goes through the stages of a document with a start tag of HTML; tells what becomes of the tag if that is settled
    /// by this.
    fn pass(&mut self, name: ElementName, tag: TagName) -> Option<TagPlacement> {
        if !self.is_whole || self.is_inert() {
            return None;
        }
        let is_of_head = matches!(
            tag,
            TagName::Base | TagName::Head | TagName::Html | TagName::Link | TagName::Meta | TagName::Noframes
        ) || matches!(
            tag,
            TagName::Noscript | TagName::Script | TagName::Style | TagName::Template | TagName::Title
        ) || name.is_one_of([b"basefont", b"bgsound"]);
        match (self.stage, tag) {
            (Stage::Head | Stage::Replaceable, TagName::Frameset) => {
                self.stage = Stage::Framesets(1);
                self.open.clear();
                self.further = 0;
                Some(TagPlacement::InPlaceOfBody)
            }
            (Stage::Body, TagName::Frameset | TagName::Frame) => Some(TagPlacement::Nowhere),
            (Stage::Head | Stage::Replaceable, TagName::Frame) => {
                self.stage = Stage::Replaceable;
                Some(TagPlacement::Nowhere)
            }
            (Stage::Framesets(depth), TagName::Frameset) => {
                self.stage = Stage::Framesets(depth.saturating_add(1));
                Some(TagPlacement::Open)
            }
            (Stage::Framesets(_), TagName::Frame | TagName::Noframes)
            | (Stage::Behind, TagName::Noframes) => Some(TagPlacement::Open),
            (Stage::Framesets(_) | Stage::Behind, _) => Some(TagPlacement::Nowhere),
            (Stage::Head, _) if is_of_head => None,
            (Stage::Head | Stage::Replaceable, _) => {
                self.stage = if name.forbids_frameset { Stage::Body } else { Stage::Replaceable };
                None
            }
            (Stage::Body, _) => None,
        }
    }

    /// Ends the open elements that a start tag ends.
    fn make_room(&mut self, name: ElementName) {
        match name.kind {
            ElementKind::Block | ElementKind::P | ElementKind::Form => self.close_p(),
            ElementKind::Heading => {
                self.close_p();
                if self.open.last().is_some_and(|top| top.is_html(|open| open.kind == ElementKind::Heading)) {
                    self.truncate(self.open.len() - 1);
                }
            }
            ElementKind::Item => self.close_item(name),
            ElementKind::Table => {
                self.close_p();
                let is_in_table = |open: ElementName| {
                    matches!(open.kind, ElementKind::Table | ElementKind::TableRow | ElementKind::TableGroup)
                };
                if self
                    .open
                    .last()
                    .is_some_and(|top| top.is_html(is_in_table) && !top.name.is_named(b"caption"))
                    && let Some(table) = self.table()
                {
                    self.truncate(table);
                }
            }
            ElementKind::TableGroup | ElementKind::TableRow | ElementKind::TableCell => {
                self.clear_to_table(name.kind);
            }
            ElementKind::Boxed | ElementKind::Formatting if name.is_one_of([b"button", b"select", b"a"]) => {
                if let ScopeSearch::At(at) = self.in_scope(|open| open.is(name), |_| false) {
                    self.end(at, name);
                }
            }
            ElementKind::Option
                if self.open.last().is_some_and(|top| top.is_html(|open| open.is_named(b"option"))) =>
            {
                self.truncate(self.open.len() - 1);
            }
            ElementKind::Void if name.is_named(b"hr") => self.close_p(),
            ElementKind::Text if name.is_one_of([b"plaintext", b"xmp"]) => self.close_p(),
            _ => {}
        }
    }

    /// Ends the last item of the list, and a paragraph in it.
    fn close_item(&mut self, name: ElementName) {
        let is_like = |open: ElementName| {
            if name.is_named(b"li") { open.is(name) } else { open.is_one_of([b"dd", b"dt"]) }
        };
        for at in (0..self.open.len()).rev() {
            let open = self.open[at];
            if open.is_html(is_like) {
                self.truncate(at);
                break;
            }
            if open.is_special() && !open.is_html(|open| open.is_one_of([b"address", b"div", b"p"])) {
                break;
            }
        }
        self.close_p();
    }

    fn close_p(&mut self) {
        if let ScopeSearch::At(at) =
            self.in_scope(|open| open.kind == ElementKind::P, |open| open.is_named(b"button"))
        {
            self.truncate(at);
        }
    }

    /// Ends what is open in a table's part before the next one.
    fn clear_to_table(&mut self, kind: ElementKind) {
        let Some(table) = self.table() else { return };
        let stays = |open: ElementName| match kind {
            ElementKind::TableCell => {
                open.kind == ElementKind::TableRow || open.is_one_of([b"tbody", b"thead", b"tfoot"])
            }
            ElementKind::TableRow => open.is_one_of([b"tbody", b"thead", b"tfoot"]),
            _ => false,
        };
        let last = (table..self.open.len()).rev().find(|at| *at == table || self.open[*at].is_html(stays));
        self.truncate(last.map_or(table, |at| at + 1));
    }

    /// The innermost open table (table scope).
    fn table(&self) -> Option<usize> {
        self.in_table_scope(|open| open.kind == ElementKind::Table)
    }

    fn in_table_scope(&self, is_it: impl Fn(ElementName) -> bool) -> Option<usize> {
        for at in (0..self.open.len()).rev() {
            let open = self.open[at];
            if open.is_html(&is_it) {
                return Some(at);
            }
            if open.is_html(|open| matches!(open.kind, ElementKind::Table | ElementKind::Template)) {
                return None;
            }
        }
        None
    }

    /// Leaves an element; whatever is open in it ends.
    pub(in crate::page) fn leave(&mut self, tag: &Tag) {
        if self.is_xml || !self.is_kept {
            if tag.name == TagName::Template {
                self.templates = self.templates.saturating_sub(1);
            }
            return;
        }
        if self.further > 0 {
            self.further -= 1;
            return;
        }
        let name = tag.element;
        match self.stage {
            Stage::Framesets(depth) if tag.name == TagName::Frameset => {
                self.stage = if depth > 1 { Stage::Framesets(depth - 1) } else { Stage::Behind };
                return;
            }
            Stage::Head if self.is_whole && (name.is_named(b"body") || name.is_named(b"br")) => {
                self.stage = Stage::Body;
            }
            _ => {}
        }
        if name.kind == ElementKind::Template {
            self.close_template();
            return;
        }
        if self.is_foreign() && name.is_one_of([b"br", b"p"]) {
            self.leave_foreign();
        }
        for at in (0..self.open.len()).rev() {
            if !self.open[at].is_foreign() {
                break;
            }
            if self.open[at].name.is(name) {
                self.truncate(at);
                return;
            }
        }
        self.leave_html(name);
    }

    /// A template ends with all that is open in it, be it foreign. One of `svg` is an element like others.
    fn close_template(&mut self) {
        let is_svgs = |open: &&OpenElement| open.is_foreign();
        let foreign = self
            .open
            .iter()
            .rev()
            .take_while(is_svgs)
            .position(|open| open.name.kind == ElementKind::Template);
        if let Some(steps) = foreign {
            self.truncate(self.open.len() - 1 - steps);
        } else if let Some(at) =
            self.open.iter().rposition(|open| open.is_html(|open| open.kind == ElementKind::Template))
        {
            self.truncate(at);
        } else if self.is_inert() {
            self.truncate(0);
            self.templates -= 1;
        }
    }

    fn leave_html(&mut self, name: ElementName) {
        let found = match name.kind {
            ElementKind::Void | ElementKind::Document | ElementKind::Template => return,
            ElementKind::P => self.in_scope(|open| open.is(name), |open| open.is_named(b"button")),
            ElementKind::Heading => self.in_scope(|open| open.kind == ElementKind::Heading, |_| false),
            ElementKind::Item if name.is_named(b"li") => {
                self.in_scope(|open| open.is(name), |open| open.is_one_of([b"ol", b"ul"]))
            }
            ElementKind::Block
            | ElementKind::Boxed
            | ElementKind::Item
            | ElementKind::Scope
            | ElementKind::Form
            | ElementKind::Formatting => self.in_scope(|open| open.is(name), |_| false),
            ElementKind::Table | ElementKind::TableGroup | ElementKind::TableRow | ElementKind::TableCell => {
                self.in_table_scope(|open| open.is(name)).map_or(ScopeSearch::Nowhere, ScopeSearch::At)
            }
            ElementKind::Option | ElementKind::Text | ElementKind::Special | ElementKind::Ordinary => {
                self.before_special(name)
            }
        };
        match found {
            ScopeSearch::At(at) => self.end(at, name),
            // It may be open around the foreign content.
            ScopeSearch::Nowhere if !self.is_whole => {
                self.is_whole_needed = true;
                self.truncate(0);
            }
            ScopeSearch::Nowhere | ScopeSearch::Behind => {}
        }
    }

    /// Ends an element and what is open in it; a form ends alone, and so does a formatting element around blocks.
    fn end(&mut self, at: usize, name: ElementName) {
        match name.kind {
            ElementKind::Formatting => self.end_formatting(at),
            ElementKind::Form => drop(self.open.remove(at)),
            _ => self.truncate(at),
        }
        self.is_kept = self.is_whole || !self.open.is_empty();
    }

    /// What the adoption agency algorithm leaves open (§13.2.6.4.7): of what stands in a formatting element all special
    /// elements, and around them other formatting elements.
    fn end_formatting(&mut self, at: usize) {
        let last = self.open[at..].iter().rposition(OpenElement::is_special).map_or(at, |last| at + last + 1);
        self.truncate(last);
        if at < self.open.len() {
            self.open.remove(at);
            let within = self.open.split_off(at);
            let stays = |open: &OpenElement| {
                open.is_special() || open.is_html(|open| open.kind == ElementKind::Formatting)
            };
            self.open.extend(within.into_iter().filter(stays));
        }
    }

    /// The innermost open element that it is, unless an element that bounds a scope stands within it.
    fn in_scope(
        &self,
        is_it: impl Fn(ElementName) -> bool,
        bounds: impl Fn(ElementName) -> bool,
    ) -> ScopeSearch {
        for at in (0..self.open.len()).rev() {
            let open = self.open[at];
            if open.is_html(&is_it) {
                return ScopeSearch::At(at);
            }
            if open.bounds_scope() || open.is_html(&bounds) {
                return ScopeSearch::Behind;
            }
        }
        ScopeSearch::Nowhere
    }

    /// The innermost open element of a name, unless a special element stands within it.
    fn before_special(&self, name: ElementName) -> ScopeSearch {
        for at in (0..self.open.len()).rev() {
            let open = self.open[at];
            if open.is_html(|open| open.is(name)) {
                return ScopeSearch::At(at);
            }
            if open.is_special() {
                return ScopeSearch::Behind;
            }
        }
        ScopeSearch::Nowhere
    }

    /// Ends foreign elements up to an integration point or an HTML element.
    fn leave_foreign(&mut self) {
        let stays = |open: &OpenElement| {
            !open.is_foreign() || matches!(open.point, IntegrationPoint::Html | IntegrationPoint::Text)
        };
        self.truncate(self.open.iter().rposition(stays).map_or(0, |last| last + 1));
    }

    fn push(&mut self, open: OpenElement) {
        if self.open.len() < MOST_OPEN {
            self.open.push(open);
        } else {
            self.further = self.further.saturating_add(1);
        }
        self.is_kept = true;
    }

    fn truncate(&mut self, length: usize) {
        let inert = self.open[length..].iter().filter(|open| open.point == IntegrationPoint::Inert).count();
        self.templates = self.templates.saturating_sub(u32::try_from(inert).unwrap_or(u32::MAX));
        self.open.truncate(length);
        self.is_kept = self.is_whole || !self.open.is_empty();
    }
}

/// Where an open element was looked for.
enum ScopeSearch {
    At(usize),
    /// What bounds the search stands within it, if it is open at all.
    Behind,
    /// It is not among those that are kept.
    Nowhere,
}

impl OpenElement {
    fn is_foreign(&self) -> bool {
        self.namespace != Namespace::Html
    }

    fn is_html(&self, is_it: impl Fn(ElementName) -> bool) -> bool {
        self.namespace == Namespace::Html && is_it(self.name)
    }

    fn is_special(&self) -> bool {
        if self.is_foreign() { self.point != IntegrationPoint::None } else { self.name.is_special() }
    }

    fn bounds_scope(&self) -> bool {
        if self.is_foreign() {
            return self.point != IntegrationPoint::None;
        }
        matches!(
            self.name.kind,
            ElementKind::Scope | ElementKind::Table | ElementKind::TableCell | ElementKind::Template
        ) || self.name.is_named(b"caption")
    }
}
