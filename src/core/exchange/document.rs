use super::MediaType;

/// The markup language of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// HTML.
    Html,
    /// XHTML as XML, in which a self-closed tag has no content.
    Xhtml,
}

/// What the beginning of a body shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniffed {
    /// It is a page.
    Page(Document),
    /// It is something else.
    NoPage,
    /// More of it must be read; never returned for [`SNIFFED_BYTES`] or more.
    More,
}

/// How much of a body is examined. Browsers examine 1,445 bytes for HTML (MIME Sniffing §5.2). The prologue
/// of an XML document contains comments and declarations too, and to read this much costs less than the next
/// connection.
pub const SNIFFED_BYTES: usize = 16 * 1024;

/// How many bytes may come before the tag that identifies HTML (MIME Sniffing §5.2).
const RESOURCE_HEADER: usize = 1445;

impl Document {
    /// The markup language of a body, if it is a page.
    ///
    /// This is the only rule on what counts as a page: WHATWG MIME Sniffing and Fetch for the type, MIME
    /// Sniffing §7.1 where the type is unknown, and an XHTML root for XML. As in browsers, `text/plain` is
    /// not a page, whatever it contains.
    ///
    /// ```
    /// use ccsurvey_core::exchange::Document;
    /// assert_eq!(Document::detect(Some("text/html"), b"any"), Some(Document::Html));
    /// assert_eq!(Document::detect(Some("html"), b" <!DOCTYPE html><p>"), Some(Document::Html));
    /// assert_eq!(Document::detect(Some("text/plain"), b"<html>"), None);
    /// let xhtml = b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'/>";
    /// assert_eq!(Document::detect(Some("text/xml"), xhtml), Some(Document::Xhtml));
    /// ```
    #[must_use]
    pub fn detect(content_type: Option<&str>, body: &[u8]) -> Option<Self> {
        match sniff(MediaType::from_fields(content_type), body, true) {
            Sniffed::Page(document) => Some(document),
            Sniffed::NoPage | Sniffed::More => None,
        }
    }
}

/// Decides from the type and the beginning of a body whether it is a page; `is_complete` if no more of the
/// body will come.
#[must_use]
pub fn sniff(media_type: MediaType, body: &[u8], is_complete: bool) -> Sniffed {
    let start = &body[..body.len().min(SNIFFED_BYTES)];
    let is_complete = is_complete || start.len() == SNIFFED_BYTES;
    match media_type {
        MediaType::Html => Sniffed::Page(Document::Html),
        MediaType::Xhtml => Sniffed::Page(Document::Xhtml),
        MediaType::Other => Sniffed::NoPage,
        MediaType::Xml => xhtml(start, is_complete),
        MediaType::Unknown => match body_kind(start, is_complete) {
            BodyKind::Html => Sniffed::Page(Document::Html),
            BodyKind::Xml => xhtml(start, is_complete),
            BodyKind::Other => Sniffed::NoPage,
            BodyKind::More => Sniffed::More,
        },
    }
}

/// The kind of a body without a type.
enum BodyKind {
    Html,
    Xml,
    Other,
    More,
}

/// The tags by which MIME Sniffing §7.1 identifies HTML, each followed by a byte that ends its name.
const TAGS: [&[u8]; 17] = [
    b"<!DOCTYPE HTML",
    b"<HTML",
    b"<HEAD",
    b"<SCRIPT",
    b"<IFRAME",
    b"<H1",
    b"<DIV",
    b"<FONT",
    b"<TABLE",
    b"<A",
    b"<STYLE",
    b"<TITLE",
    b"<B",
    b"<BODY",
    b"<BR",
    b"<P",
    b"<!--",
];
const XML: &[u8] = b"<?xml";

/// MIME Sniffing §7.1, "identifying a resource with an unknown MIME type", for HTML and XML only.
///
/// A tag's name may end with any white space or `/`, where the standard allows a space and `>` only: Chromium
/// requires no end at all, and `<html` at the end of a line is common.
fn body_kind(body: &[u8], is_complete: bool) -> BodyKind {
    let header = &body[..body.len().min(RESOURCE_HEADER)];
    let is_complete = is_complete || header.len() == RESOURCE_HEADER;
    if XML.starts_with(header) && !is_complete {
        return BodyKind::More;
    }
    if header.starts_with(XML) {
        return BodyKind::Xml;
    }
    let text = header.trim_ascii_start();
    let mut may_be_cut = text.is_empty();
    for tag in TAGS {
        let (name, rest) = text.split_at(text.len().min(tag.len()));
        if !name.eq_ignore_ascii_case(&tag[..name.len()]) {
            continue;
        }
        match rest.first() {
            Some(b'>' | b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/') if name.len() == tag.len() => {
                return BodyKind::Html;
            }
            // A comment may be followed by anything.
            Some(_) if tag == b"<!--" => return BodyKind::Html,
            Some(_) => {}
            None => may_be_cut = true,
        }
    }
    if may_be_cut && !is_complete { BodyKind::More } else { BodyKind::Other }
}

/// The longest byte order mark.
const BYTES_OF_MARK: usize = 3;

/// Whether the root of an XML document is XHTML's.
fn xhtml(body: &[u8], is_complete: bool) -> Sniffed {
    if body.len() < BYTES_OF_MARK && !is_complete {
        return Sniffed::More;
    }
    // In UTF-16 each byte of markup is next to a zero.
    let narrow: Vec<u8>;
    let text = match body {
        [0xfe, 0xff, rest @ ..] | [0xff, 0xfe, rest @ ..] | rest @ ([0, b'<', ..] | [b'<', 0, ..]) => {
            narrow = rest.iter().copied().filter(|byte| *byte != 0).collect();
            &narrow
        }
        _ => body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body),
    };
    match root_tag(text) {
        Root::Tag(tag) if is_in_xhtml(tag) => Sniffed::Page(Document::Xhtml),
        Root::Tag(_) | Root::None => Sniffed::NoPage,
        Root::Cut if is_complete => Sniffed::NoPage,
        Root::Cut => Sniffed::More,
    }
}

/// The start of the first element of an XML document.
enum Root<'a> {
    /// The text between `<` and `>`.
    Tag(&'a [u8]),
    /// The document breaks off before its first element.
    Cut,
    /// It is not XML.
    None,
}

fn root_tag(text: &[u8]) -> Root<'_> {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        let after = if rest.starts_with(b"<!--") {
            after(&rest[4..], b"-->")
        } else if rest.starts_with(b"<?") {
            after(&rest[2..], b"?>")
        } else if rest.starts_with(b"<!") && !b"<!--".starts_with(rest) {
            after_declaration(&rest[2..])
        } else if let [b'<', name, ..] = rest
            && !b"!?".contains(name)
        {
            return tag(&rest[1..]).map_or(Root::Cut, Root::Tag);
        } else {
            return if rest.is_empty() || b"<!--".starts_with(rest) { Root::Cut } else { Root::None };
        };
        let Some(after) = after else { return Root::Cut };
        rest = after;
    }
}

fn after<'a>(text: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    memchr::memmem::find(text, end).map(|at| &text[at + end.len()..])
}

/// The text after `<!DOCTYPE …>`; quotes and brackets inside it may contain `>`.
fn after_declaration(text: &[u8]) -> Option<&[u8]> {
    let (mut quote, mut is_inner) = (None, false);
    for (at, byte) in text.iter().enumerate() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[') => is_inner = true,
            (None, b']') => is_inner = false,
            (None, b'>') if !is_inner => return Some(&text[at + 1..]),
            (None, _) => {}
        }
    }
    None
}

/// A tag up to the `>` that ends it.
fn tag(text: &[u8]) -> Option<&[u8]> {
    let mut quote = None;
    let is_end = |byte: &u8| {
        match quote {
            Some(open) if *byte == open => quote = None,
            Some(_) => {}
            None if matches!(byte, b'"' | b'\'') => quote = Some(*byte),
            None => return *byte == b'>',
        }
        false
    };
    text.iter().position(is_end).map(|end| &text[..end])
}

const XHTML: &[u8] = b"http://www.w3.org/1999/xhtml";

/// Whether a tag declares XHTML as the namespace of its own name.
fn is_in_xhtml(tag: &[u8]) -> bool {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
    let end = tag.iter().position(is_space).unwrap_or(tag.len());
    let prefix = tag[..end].iter().position(|byte| *byte == b':').map_or(&b""[..], |at| &tag[..at]);
    let mut rest = &tag[end..];
    while let Some(at) = rest.iter().position(|byte| *byte == b'=') {
        let name = rest[..at].trim_ascii();
        let value = rest[at + 1..].trim_ascii_start();
        let Some((quote, value)) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))
        else {
            return false;
        };
        let Some(end) = value.iter().position(|byte| byte == quote) else { return false };
        let declared = match name.strip_prefix(b"xmlns") {
            Some(b"") => Some(&b""[..]),
            Some(declared) => declared.strip_prefix(b":"),
            None => None,
        };
        if declared == Some(prefix) {
            return &value[..end] == XHTML;
        }
        rest = &value[end + 1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NO_TYPE: Option<&str> = None;
    const HTML: Option<Document> = Some(Document::Html);
    const XHTML: Option<Document> = Some(Document::Xhtml);

    #[test]
    fn a_body_without_a_type_is_html_by_any_tag_of_the_standard() {
        for tag in TAGS {
            let tag = String::from_utf8(tag.to_ascii_lowercase()).unwrap();
            for body in [format!("{tag}>"), format!("\r\n\t \x0c{tag} x"), format!("{tag}\nlang=sw>")] {
                assert_eq!(Document::detect(NO_TYPE, body.as_bytes()), HTML, "{body}");
            }
            if tag != "<!--" {
                assert_eq!(Document::detect(NO_TYPE, format!("{tag}x>").as_bytes()), None, "{tag}");
            }
            assert_eq!(Document::detect(NO_TYPE, tag.as_bytes()), None, "{tag}: it has no end");
        }
    }

    #[test]
    fn a_body_without_a_type_that_is_something_else_is_no_page() {
        for body in [
            "",
            "   ",
            "Hello",
            "GIF89a",
            "%PDF-1.7",
            "{\"a\": \"<html>\"}",
            "x<html>",
            "\u{feff}<html>",
            "<ul><li>",
            "<!DOCTYPE svg>",
            "User-agent: *",
        ] {
            assert_eq!(Document::detect(NO_TYPE, body.as_bytes()), None, "{body}");
        }
        let far = format!("{}<html>", " ".repeat(RESOURCE_HEADER));
        assert_eq!(Document::detect(NO_TYPE, far.as_bytes()), None, "beyond what browsers look at");
    }

    #[test]
    fn a_type_that_is_known_counts_whatever_the_body_is() {
        for (content_type, document) in
            [("text/html", HTML), ("application/xhtml+xml", XHTML), ("text/plain", None), ("image/gif", None)]
        {
            for body in ["", "GIF89a", "<html>"] {
                assert_eq!(Document::detect(Some(content_type), body.as_bytes()), document, "{content_type}");
            }
        }
    }

    #[test]
    fn xml_is_a_page_if_its_root_is_xhtml() {
        let ns = "http://www.w3.org/1999/xhtml";
        let dtd = "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"a>b\" [<!ENTITY x \"]>\">]>";
        for (body, document) in [
            (format!("<html xmlns=\"{ns}\">"), XHTML),
            (format!("<html xml:lang='sw' xmlns = '{ns}' >"), XHTML),
            (format!("<div xmlns='{ns}'/>"), XHTML),
            (format!("<h:html xmlns='x' xmlns:h='{ns}'>"), XHTML),
            (format!("\u{feff}<?xml version='1.0'?>\n<!-- <feed> -->\n{dtd}<html xmlns='{ns}'>"), XHTML),
            (format!("<?xml-stylesheet href='a?b'?><!----><html xmlns='{ns}'>"), XHTML),
            (format!("<html a='>' xmlns='{ns}'>"), XHTML),
            ("<html>".to_owned(), None),
            (format!("<html xmlns:h='{ns}'>"), None),
            (format!("<h:html xmlns='{ns}'>"), None),
            (format!("<feed xmlns='http://www.w3.org/2005/Atom'><div xmlns='{ns}'/>"), None),
            (format!("<html xmlns={ns}>"), None),
            (format!("<html xmlns='{ns}"), None),
            (format!("text <html xmlns='{ns}'>"), None),
            (String::new(), None),
        ] {
            assert_eq!(Document::detect(Some("application/xml"), body.as_bytes()), document, "{body}");
            let wide: Vec<u8> = format!("\u{feff}{body}").encode_utf16().flat_map(u16::to_le_bytes).collect();
            if !body.starts_with('\u{feff}') {
                assert_eq!(Document::detect(Some("text/xml"), &wide), document, "{body} in UTF-16");
            }
        }
        let body = format!("<?xml version='1.0'?><html xmlns='{ns}'>");
        assert_eq!(Document::detect(NO_TYPE, body.as_bytes()), XHTML);
        assert_eq!(Document::detect(NO_TYPE, b"<?xml version='1.0'?><rss>"), None);
    }

    #[test]
    fn no_more_is_read_than_the_bound() {
        let long = [b"<!-- ".as_slice(), &vec![b'x'; SNIFFED_BYTES]].concat();
        assert_eq!(sniff(MediaType::Xml, &long[..SNIFFED_BYTES - 1], false), Sniffed::More);
        assert_eq!(sniff(MediaType::Xml, &long, false), Sniffed::NoPage);
        assert_eq!(sniff(MediaType::Unknown, &[b' '; RESOURCE_HEADER], false), Sniffed::NoPage);
    }

    fn markup() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            "<",
            "!",
            "--",
            "-->",
            "?",
            "?>",
            "xml",
            "html",
            "HTML ",
            " xmlns='http://www.w3.org/1999/xhtml'",
            ">",
            "DOCTYPE ",
            "[",
            "]",
            "'",
            "\"",
            "=",
            " ",
            "\n",
            "h:",
            "\u{feff}",
            "\0",
            "x",
        ]);
        prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn what_the_beginning_tells_the_whole_body_tells_too(body in markup(), cut in 0usize..100) {
            let cut = cut.min(body.len());
            for media_type in [MediaType::Unknown, MediaType::Xml] {
                let sniffed = sniff(media_type, &body[..cut], false);
                if sniffed != Sniffed::More {
                    prop_assert_eq!(sniffed, sniff(media_type, &body, true));
                }
                prop_assert_ne!(sniff(media_type, &body, true), Sniffed::More);
            }
        }
    }
}
