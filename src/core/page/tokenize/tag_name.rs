use super::name::Name;

/// The elements whose tags have a meaning here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::page) enum TagName {
    A,
    /// Only where open elements are stored.
    AnnotationXml,
    Area,
    Base,
    /// Only where open elements are stored.
    Font,
    Frame,
    Frameset,
    Head,
    Html,
    Iframe,
    Img,
    Link,
    Math,
    Meta,
    Noembed,
    Noframes,
    Noscript,
    Object,
    Plaintext,
    Script,
    Style,
    Svg,
    Template,
    Textarea,
    Title,
    Xmp,
    /// Any other.
    #[default]
    Other,
}

impl TagName {
    /// The element of this name, in lower case.
    pub(in crate::page) fn named(name: &[u8]) -> Self {
        match name {
            b"a" => Self::A,
            b"area" => Self::Area,
            b"base" => Self::Base,
            b"frame" => Self::Frame,
            b"frameset" => Self::Frameset,
            b"head" => Self::Head,
            b"html" => Self::Html,
            b"iframe" => Self::Iframe,
            b"img" => Self::Img,
            b"link" => Self::Link,
            b"math" => Self::Math,
            b"meta" => Self::Meta,
            b"noembed" => Self::Noembed,
            b"noframes" => Self::Noframes,
            b"noscript" => Self::Noscript,
            b"object" => Self::Object,
            b"plaintext" => Self::Plaintext,
            b"script" => Self::Script,
            b"style" => Self::Style,
            b"svg" => Self::Svg,
            b"template" => Self::Template,
            b"textarea" => Self::Textarea,
            b"title" => Self::Title,
            b"xmp" => Self::Xmp,
            _ => Self::Other,
        }
    }

    /// The element of this name, in any case.
    pub(in crate::page) fn spelled(name: &[u8]) -> Self {
        match Self::named(name) {
            Self::Other if name.iter().any(u8::is_ascii_uppercase) => {
                Self::named(Name::in_lower_case(name).as_bytes())
            }
            known => known,
        }
    }

    /// Whether tags in it may have another meaning.
    pub(in crate::page) fn nests(self) -> bool {
        matches!(self, Self::Frame | Self::Frameset | Self::Math | Self::Svg | Self::Template)
    }

    /// The element of this name in foreign content, where two more elements count.
    pub(in crate::page) fn in_tree(self, name: &[u8]) -> Self {
        match (self, name.len()) {
            (Self::Other, 4) if name.eq_ignore_ascii_case(b"font") => Self::Font,
            (Self::Other, 14) if name.eq_ignore_ascii_case(b"annotation-xml") => Self::AnnotationXml,
            _ => self,
        }
    }

    /// How the text of the element is read (WHATWG HTML §13.2.6.4), with scripting off: `noscript` is
    /// content. `noframes` is raw text, because frames are followed.
    pub(in crate::page) fn text(self) -> Text {
        match self {
            Self::Title | Self::Textarea => Text::Escapable,
            Self::Style | Self::Xmp | Self::Iframe | Self::Noembed | Self::Noframes => Text::Raw,
            Self::Script => Text::Script,
            Self::Plaintext => Text::Endless,
            _ => Text::Markup,
        }
    }
}

/// What the text of an element may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::page) enum Text {
    /// Tags, character references and comments.
    Markup,
    /// Only character references (RCDATA).
    Escapable,
    /// Nothing but text up to the element's end tag.
    Raw,
    /// Like raw text, except that after `<!--` another script may begin and end.
    Script,
    /// Nothing but text up to the end of the page.
    Endless,
}
