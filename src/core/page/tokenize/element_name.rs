use super::name::Name;

/// The namespace of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::page) enum Namespace {
    #[default]
    Html,
    Svg,
    Math,
    /// Any other; only XML has them.
    Other,
}

/// The name of an element, and its meaning for the tree of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::page) struct ElementName {
    /// Distinguishes names, except those that are too long to be stored.
    key: u64,
    pub(in crate::page) kind: ElementKind,
    /// Its start tag ends foreign content (WHATWG HTML §13.2.6.5). That of `font` does so only with certain
    /// attributes.
    pub(in crate::page) ends_foreign: bool,
    /// After its start tag a `frameset` no longer counts (§13.2.6.4.7, frameset-ok flag).
    pub(in crate::page) forbids_frameset: bool,
}

/// How start and end tags of an HTML element change the stack of open elements (§13.2.4.2, §13.2.6.4.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::page) enum ElementKind {
    /// It has no content: `br`.
    Void,
    /// It ends an open `p`, and its end tag ends all elements open in it: `div`.
    Block,
    /// Its end tag ends all elements open in it: `button`, `select`.
    Boxed,
    Heading,
    /// `li`, `dd`, `dt`: the next one ends it.
    Item,
    P,
    Form,
    Table,
    /// `caption`, `colgroup`, `tbody`, `thead`, `tfoot`.
    TableGroup,
    TableRow,
    TableCell,
    /// `object`, `applet`, `marquee`: end tags in it end nothing outside it.
    Scope,
    /// `b`, `a`: it may end across blocks.
    Formatting,
    Option,
    Template,
    /// Its text is not markup: `script`.
    Text,
    /// Special, but without its own rule that matters here: `noscript`.
    Special,
    /// `html`, `head`, `body`: a document has one of each.
    Document,
    #[default]
    Ordinary,
}

impl ElementName {
    /// The element of this name, in any case.
    pub(in crate::page) fn spelled(name: &[u8]) -> Self {
        let name = Name::in_lower_case(name);
        let name = name.as_bytes();
        Self {
            key: key_of(name),
            kind: kind_of(name),
            ends_foreign: ends_foreign(name),
            forbids_frameset: forbids_frameset(name),
        }
    }

    pub(in crate::page) fn is(self, other: Self) -> bool {
        self.key == other.key
    }

    /// Whether it has this name, given in lower case.
    pub(in crate::page) fn is_named(self, name: &[u8]) -> bool {
        self.key == key_of(name)
    }

    pub(in crate::page) fn is_one_of<const N: usize>(self, names: [&[u8]; N]) -> bool {
        names.into_iter().any(|name| self.is_named(name))
    }

    pub(in crate::page) fn is_special(self) -> bool {
        !matches!(self.kind, ElementKind::Ordinary | ElementKind::Formatting | ElementKind::Option)
    }
}

/// FNV-1a in 64 bits.
fn key_of(name: &[u8]) -> u64 {
    name.iter()
        .fold(0xcbf2_9ce4_8422_2325, |key, byte| (key ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[rustfmt::skip]
fn kind_of(name: &[u8]) -> ElementKind {
    match name {
        b"area" | b"base" | b"basefont" | b"bgsound" | b"br" | b"col" | b"embed" | b"frame" | b"hr" | b"image" | b"img"
        | b"input" | b"keygen" | b"link" | b"meta" | b"param" | b"source" | b"track" | b"wbr" => ElementKind::Void,
        b"address" | b"article" | b"aside" | b"blockquote" | b"center" | b"details" | b"dialog" | b"dir" | b"div" | b"dl"
        | b"fieldset" | b"figcaption" | b"figure" | b"footer" | b"header" | b"hgroup" | b"listing" | b"main" | b"menu"
        | b"nav" | b"ol" | b"pre" | b"search" | b"section" | b"summary" | b"ul" => ElementKind::Block,
        b"button" | b"select" => ElementKind::Boxed,
        b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => ElementKind::Heading,
        b"li" | b"dd" | b"dt" => ElementKind::Item,
        b"p" => ElementKind::P,
        b"form" => ElementKind::Form,
        b"table" => ElementKind::Table,
        b"caption" | b"colgroup" | b"tbody" | b"tfoot" | b"thead" => ElementKind::TableGroup,
        b"tr" => ElementKind::TableRow,
        b"td" | b"th" => ElementKind::TableCell,
        b"applet" | b"marquee" | b"object" => ElementKind::Scope,
        b"a" | b"b" | b"big" | b"code" | b"em" | b"font" | b"i" | b"nobr" | b"s" | b"small" | b"strike" | b"strong"
        | b"tt" | b"u" => ElementKind::Formatting,
        b"optgroup" | b"option" => ElementKind::Option,
        b"template" => ElementKind::Template,
        b"iframe" | b"noembed" | b"noframes" | b"plaintext" | b"script" | b"style" | b"textarea" | b"title"
        | b"xmp" => ElementKind::Text,
        b"noscript" => ElementKind::Special,
        b"body" | b"frameset" | b"head" | b"html" => ElementKind::Document,
        _ => ElementKind::Ordinary,
    }
}

#[rustfmt::skip]
fn ends_foreign(name: &[u8]) -> bool {
    matches!(
        name,
        b"b" | b"big" | b"blockquote" | b"body" | b"br" | b"center" | b"code" | b"dd" | b"div" | b"dl" | b"dt" | b"em"
        | b"embed" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"head" | b"hr" | b"i" | b"img" | b"li" | b"listing"
        | b"menu" | b"meta" | b"nobr" | b"ol" | b"p" | b"pre" | b"ruby" | b"s" | b"small" | b"span" | b"strike"
        | b"strong" | b"sub" | b"sup" | b"table" | b"tt" | b"u" | b"ul" | b"var"
    )
}

#[rustfmt::skip]
fn forbids_frameset(name: &[u8]) -> bool {
    matches!(
        name,
        b"applet" | b"area" | b"body" | b"br" | b"button" | b"dd" | b"dt" | b"embed" | b"hr" | b"iframe" | b"image"
        | b"img" | b"input" | b"keygen" | b"li" | b"listing" | b"marquee" | b"object" | b"plaintext" | b"pre" | b"select"
        | b"table" | b"textarea" | b"wbr" | b"xmp"
    )
}
