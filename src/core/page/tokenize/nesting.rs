use super::element_name::{ElementKind, ElementName, Namespace};
use super::tag::{Attribute, Tag};
use super::tag_name::TagName;

/// How a document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::page) enum Syntax {
    Html,
    /// HTML with all open elements stored.
    WholeHtml,
    Xml,
}

/// As much of the tree around a tag as its meaning needs: whether it is in foreign content (`svg`, `math`),
/// whether in a template, which is not shown, and whether in the body of a document or in its frameset.
///
/// Open elements are stored from the outermost `svg` or `math` on, by the rules of WHATWG HTML §13.2.6.5. In
/// few pages this content has an end tag of an element outside it. Whether that tag ends the foreign content
/// depends on all open elements, as does whether a frame counts. Such a page is read once more, with all open
/// elements stored (`is_whole`). Of the rules for HTML elements, this type implements those that decide which
/// element an end tag ends. It does not reconstruct formatting elements, which end nothing.
#[derive(Default)]
pub(in crate::page) struct Nesting {
    open: Vec<OpenElement>,
    /// Open elements beyond [`MOST_OPEN`].
    untracked: u32,
    /// `open` is in use: it is whole, or not empty. Also set in XML, whose namespaces are stored elsewhere.
    is_kept: bool,
    is_whole: bool,
    is_xml: bool,
    is_whole_needed: bool,
    /// The number of open templates that are not shown.
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

/// Content of other namespaces that an element may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IntegrationPoint {
    None,
    /// An HTML integration point: `foreignObject`.
    Html,
    /// A MathML text integration point: `mi`.
    Text,
    /// An `annotation-xml` that is not an HTML integration point; it may contain an `svg`.
    Annotation,
    /// A template of HTML whose content is not shown.
    Inert,
}

/// The stage of a document; tracked if all open elements are stored.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Before its body.
    #[default]
    Head,
    /// In a body that a `frameset` may still replace.
    Replaceable,
    Body,
    /// In this number of framesets.
    Framesets(u32),
    /// After the outermost frameset.
    Behind,
}

/// The effect of a start tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::page) enum TagPlacement {
    /// It has content, up to its end tag.
    Open,
    /// It has no content, because it is self-closing.
    Empty,
    /// Browsers ignore it.
    Nowhere,
    /// It is the frameset that replaces the body.
    InPlaceOfBody,
}

/// The limit on stored open elements; deeper ones are only counted. Browsers nest 512 and real pages fewer
/// than a hundred. An end tag may search all of them.
const MOST_OPEN: usize = 256;

impl Nesting {
    pub(in crate::page) fn new(syntax: Syntax) -> Self {
        let (is_whole, is_xml) = (syntax == Syntax::WholeHtml, syntax == Syntax::Xml);
        Self { is_whole, is_xml, is_kept: is_whole || is_xml, ..Self::default() }
    }

    /// Whether the document must be read once more, with all open elements stored.
    pub(in crate::page) fn is_whole_needed(&self) -> bool {
        self.is_whole_needed
    }

    /// Whether more names must be distinguished than those of [`TagName`].
    #[inline]
    pub(in crate::page) fn is_kept(&self) -> bool {
        self.is_kept
    }

    pub(in crate::page) fn is_inert(&self) -> bool {
        self.templates > 0
    }

    /// Whether the innermost open element is in the namespace of `svg` or `math`.
    pub(in crate::page) fn is_foreign(&self) -> bool {
        self.open.last().is_some_and(OpenElement::is_foreign)
    }

    /// The namespace that an element of this name would have, whatever its attributes.
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

    /// Takes note of text between tags.
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

    /// Whether text is shown at the current stage of the document.
    pub(in crate::page) fn has_body(&self) -> bool {
        !matches!(self.stage, Stage::Framesets(_) | Stage::Behind)
    }

    /// Whether a frameset may still take the place of the body that has begun.
    fn is_replaceable(&self) -> bool {
        self.stage == Stage::Replaceable
    }

    /// Enters an element, and sets its namespace on the tag.
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
        match self.advance_stage(name, tag.name) {
            Some(placement) => return placement,
            None if matches!(tag.name, TagName::Svg | TagName::Math) => return self.enter_root(tag),
            // The foreign content has ended; nothing is stored any more.
            None if !self.is_kept => return TagPlacement::Open,
            None => {}
        }
        tag.is_replaceable = self.is_replaceable();
        self.close_implied(name);
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

    /// Opens a template. A declarative shadow root is shown; unless `open` is in use, its end tag finds no
    /// template open.
    pub(in crate::page) fn open_template(&mut self, tag: &Tag) {
        let is_inert = self.is_inert() || !tag.has(Attribute::ShadowRootMode);
        self.templates = self.templates.saturating_add(u32::from(is_inert));
        if self.is_kept && !self.is_xml {
            let point = if is_inert { IntegrationPoint::Inert } else { IntegrationPoint::None };
            self.push(OpenElement { name: tag.element, namespace: Namespace::Html, point });
        }
    }

    /// Advances the stage of the document with a start tag of HTML; returns the effect of the tag if the
    /// stage decides it.
    fn advance_stage(&mut self, name: ElementName, tag: TagName) -> Option<TagPlacement> {
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
                self.untracked = 0;
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
    fn close_implied(&mut self, name: ElementName) {
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
        let is_same_item = |open: ElementName| {
            if name.is_named(b"li") { open.is(name) } else { open.is_one_of([b"dd", b"dt"]) }
        };
        for at in (0..self.open.len()).rev() {
            let open = self.open[at];
            if open.is_html(is_same_item) {
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

    /// Ends the elements that are open in a part of a table, before the next part.
    fn clear_to_table(&mut self, kind: ElementKind) {
        let Some(table) = self.table() else { return };
        let is_retained = |open: ElementName| match kind {
            ElementKind::TableCell => {
                open.kind == ElementKind::TableRow || open.is_one_of([b"tbody", b"thead", b"tfoot"])
            }
            ElementKind::TableRow => open.is_one_of([b"tbody", b"thead", b"tfoot"]),
            _ => false,
        };
        let last =
            (table..self.open.len()).rev().find(|at| *at == table || self.open[*at].is_html(is_retained));
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

    /// Leaves an element; all elements open in it end too.
    pub(in crate::page) fn leave(&mut self, tag: &Tag) {
        if self.is_xml || !self.is_kept {
            if tag.name == TagName::Template {
                self.templates = self.templates.saturating_sub(1);
            }
            return;
        }
        if self.untracked > 0 {
            self.untracked -= 1;
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

    /// Ends a template and all elements open in it, including foreign ones. A template in `svg` is an
    /// ordinary element.
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
                self.find_before_special(name)
            }
        };
        match found {
            ScopeSearch::At(at) => self.end(at, name),
            // The element may be open around the foreign content.
            ScopeSearch::Nowhere if !self.is_whole => {
                self.is_whole_needed = true;
                self.truncate(0);
            }
            ScopeSearch::Nowhere | ScopeSearch::Behind => {}
        }
    }

    /// Ends an element and the elements open in it. A form ends alone, and so does a formatting element
    /// around blocks.
    fn end(&mut self, at: usize, name: ElementName) {
        match name.kind {
            ElementKind::Formatting => self.end_formatting(at),
            ElementKind::Form => drop(self.open.remove(at)),
            _ => self.truncate(at),
        }
        self.is_kept = self.is_whole || !self.open.is_empty();
    }

    /// Ends a formatting element as the adoption agency algorithm does (§13.2.6.4.7): all special elements in
    /// it stay open, and other formatting elements around these.
    fn end_formatting(&mut self, at: usize) {
        let last = self.open[at..].iter().rposition(OpenElement::is_special).map_or(at, |last| at + last + 1);
        self.truncate(last);
        if at < self.open.len() {
            self.open.remove(at);
            let within = self.open.split_off(at);
            let is_retained = |open: &OpenElement| {
                open.is_special() || open.is_html(|open| open.kind == ElementKind::Formatting)
            };
            self.open.extend(within.into_iter().filter(is_retained));
        }
    }

    /// The innermost open element for which `is_it` holds, unless an element that bounds a scope is inside
    /// it.
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

    /// The innermost open element of this name, unless a special element is inside it.
    fn find_before_special(&self, name: ElementName) -> ScopeSearch {
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
        let is_retained = |open: &OpenElement| {
            !open.is_foreign() || matches!(open.point, IntegrationPoint::Html | IntegrationPoint::Text)
        };
        self.truncate(self.open.iter().rposition(is_retained).map_or(0, |last| last + 1));
    }

    fn push(&mut self, open: OpenElement) {
        if self.open.len() < MOST_OPEN {
            self.open.push(open);
        } else {
            self.untracked = self.untracked.saturating_add(1);
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

/// The result of a search for an open element.
enum ScopeSearch {
    At(usize),
    /// A boundary of the search comes first; the element may be open beyond it.
    Behind,
    /// It is not among the stored elements.
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
