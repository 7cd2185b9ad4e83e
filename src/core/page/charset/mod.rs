//! The charset of a page: its declaration, its detection from the bytes, and decoding to text.

pub(super) mod declaration;
pub(super) mod decode;
pub(super) mod detection;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use serde::{Deserialize, Serialize};

use super::Source;
use declaration::Declared;

/// The first bytes of a page, in which UTF-16 must show a zero byte: its markup is ASCII.
const UTF_16_BYTES: usize = 1024;

/// The source of a page's charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CharsetOrigin {
    /// A byte order mark.
    Bom,
    /// The `charset` of `Content-Type`.
    Header,
    /// The document: a `meta` or its XML declaration.
    Meta,
    /// The bytes of the page alone.
    Detected,
    /// An earlier survey, which read the page.
    Recorded,
}

/// The charset in which a page is read, and how it was determined.
pub(super) struct Charset {
    pub(super) encoding: &'static Encoding,
    pub(super) origin: CharsetOrigin,
    pub(super) bom_bytes: usize,
    pub(super) declared: Option<String>,
    pub(super) has_unknown_label: bool,
}

impl Charset {
    /// Determines the charset as browsers do: byte order mark, header, document, detection. A wrong
    /// declaration is used, unless nothing could be read with it.
    pub(super) fn settle(source: Source<'_>, is_xml: bool) -> Self {
        let body = source.body;
        let mut header = source.content_type.map(declaration::in_header).unwrap_or_default();
        refuse_utf_16(&mut header, body);
        let bom = Encoding::for_bom(body);
        let document = if header.encoding.is_some() || (bom.is_some() && header.label.is_some()) {
            Declared::default()
        } else {
            in_document(body, is_xml)
        };
        let (encoding, origin) = match (bom, header.encoding, document.encoding) {
            (Some((encoding, _)), _, _) => (encoding, CharsetOrigin::Bom),
            (_, Some(encoding), _) => (encoding, CharsetOrigin::Header),
            (_, _, Some(encoding)) => (encoding, CharsetOrigin::Meta),
            _ => (detection::guess(body, source.url.host()), CharsetOrigin::Detected),
        };
        Self {
            encoding,
            origin,
            bom_bytes: bom.map_or(0, |(_, bytes)| bytes),
            declared: header.label.or(document.label),
            has_unknown_label: header.has_unknown_label || document.has_unknown_label,
        }
    }
}

/// The declaration in the document: XML uses its XML declaration, HTML its `meta`, and each uses the other if
/// its own is missing.
fn in_document(body: &[u8], is_xml: bool) -> Declared {
    let (mut first, second): (Declared, fn(&[u8]) -> Declared) = if is_xml {
        (declaration::in_xml_declaration(body), declaration::in_meta)
    } else {
        (declaration::in_meta(body), declaration::in_xml_declaration)
    };
    if first.encoding.is_none() {
        let second = second(body);
        first.encoding = second.encoding;
        first.label = first.label.or(second.label);
        first.has_unknown_label |= second.has_unknown_label;
    }
    first
}

/// Ignores UTF-16 in the header for a page without a zero byte at its beginning: it is not in UTF-16, and
/// would lose all its links if read so.
fn refuse_utf_16(header: &mut Declared, body: &[u8]) {
    let is_utf_16 = header.encoding.is_some_and(|encoding| encoding == UTF_16LE || encoding == UTF_16BE);
    if is_utf_16 && !body[..body.len().min(UTF_16_BYTES)].contains(&0) {
        header.encoding = None;
        header.has_unknown_label = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Page;
    use super::*;
    use crate::address::WebUrl;
    use encoding_rs::{EUC_JP, ISO_2022_JP, SHIFT_JIS, UTF_8};

    const JAPANESE: &str = "<title>日本語の文書</title><p>これはテストです。アフリカのウェブサーバを調べます。\
                            <a href='/経路?検索=日本'>次へ</a>";

    fn read(body: &[u8], content_type: Option<&str>) -> Page {
        let url = WebUrl::parse("http://a.co.jp/").unwrap();
        Page::read(Source { body, url: &url, content_type, robots_tag: None })
    }

    fn settled(page: &Page) -> (&str, CharsetOrigin) {
        (&page.charset, page.charset_origin)
    }

    #[test]
    fn japanese_pages_are_read_whoever_tells_their_charset() {
        for encoding in [SHIFT_JIS, EUC_JP, ISO_2022_JP] {
            let name = encoding.name();
            let in_charset = |text: &str| encoding.encode(text).0.into_owned();
            let header = format!("text/html; charset={name}");
            let meta = format!("<meta http-equiv=content-type content='text/html; charset={name}'>");
            for (page, origin) in [
                (read(&in_charset(JAPANESE), Some(&header)), CharsetOrigin::Header),
                (read(&in_charset(&(meta + JAPANESE)), Some("text/html")), CharsetOrigin::Meta),
                (read(&in_charset(JAPANESE), None), CharsetOrigin::Detected),
            ] {
                assert_eq!(settled(&page), (name, origin));
                assert_eq!(page.title.as_deref(), Some("日本語の文書"));
                assert_eq!(page.defects.bad_bytes, 0);
                let url = page.links[0].url.as_str();
                assert!(url.starts_with("http://a.co.jp/%E7%B5%8C%E8%B7%AF?"), "{url}");
            }
        }
    }

    #[test]
    fn a_query_is_sent_in_the_charset_of_the_page() {
        let query = |encoding: &'static Encoding| {
            let page =
                read(&encoding.encode(JAPANESE).0, Some(&format!("text/html; charset={}", encoding.name())));
            page.links[0].url.query().map(str::to_owned)
        };
        assert_eq!(query(SHIFT_JIS).as_deref(), Some("%8C%9F%8D%F5=%93%FA%96{"));
        assert_eq!(query(EUC_JP).as_deref(), Some("%B8%A1%BA%F7=%C6%FC%CB%DC"));
        assert_eq!(query(UTF_8).as_deref(), Some("%E6%A4%9C%E7%B4%A2=%E6%97%A5%E6%9C%AC"));
    }

    #[test]
    fn a_byte_order_mark_outdoes_every_declaration() {
        let page = read(b"\xef\xbb\xbf<title>\xc3\xa9</title>", Some("text/html; charset=shift_jis"));
        assert_eq!(settled(&page), ("UTF-8", CharsetOrigin::Bom));
        assert_eq!(page.title.as_deref(), Some("é"));
        assert_eq!(page.declared_charset.as_deref(), Some("shift_jis"));
    }

    #[test]
    fn a_header_outdoes_the_document() {
        let page = read(b"<meta charset=euc-jp>", Some("text/html; charset=Shift_JIS"));
        assert_eq!(settled(&page), ("Shift_JIS", CharsetOrigin::Header));
        let page = read(b"<meta charset=klingon>", Some("text/html; charset=Shift_JIS"));
        assert!(!page.defects.unknown_charset, "the document is not heard");
    }

    #[test]
    fn utf_16_is_read_with_a_mark_a_header_or_its_pattern() {
        let utf_16: Vec<u8> = "<a href=x>日本</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked = [b"\xff\xfe".to_vec(), utf_16.clone()].concat();
        for (body, header, origin) in [
            (&marked, None, CharsetOrigin::Bom),
            (&utf_16, Some("text/html; charset=utf-16"), CharsetOrigin::Header),
            (&utf_16, Some("text/html"), CharsetOrigin::Detected),
        ] {
            let page = read(body, header);
            assert_eq!(settled(&page), ("UTF-16LE", origin));
            assert_eq!(page.links[0].url.as_str(), "http://a.co.jp/x");
            assert_eq!(page.defects.bad_bytes, 0);
        }
    }

    #[test]
    fn a_wrong_declaration_is_kept_counted_and_breaks_no_link() {
        let page = read(&SHIFT_JIS.encode(JAPANESE).0, Some("text/html; charset=utf-8"));
        assert_eq!(settled(&page), ("UTF-8", CharsetOrigin::Header));
        assert!(page.defects.bad_bytes > 10);
        assert_eq!(page.links.len(), 1);
    }

    #[test]
    fn a_declaration_that_would_hide_the_links_is_not_believed() {
        for header in ["text/html; charset=utf-16", "text/html; charset=iso-2022-kr", "text/html; charset=x"]
        {
            let page = read(b"<a href=x>", Some(header));
            assert_eq!(settled(&page), ("UTF-8", CharsetOrigin::Detected));
            assert!(page.defects.unknown_charset);
            assert_eq!(page.links.len(), 1);
        }
    }

    #[test]
    fn plain_ascii_and_nothing_at_all_are_utf_8() {
        assert_eq!(settled(&read(b"<p>habari", None)), ("UTF-8", CharsetOrigin::Detected));
        assert_eq!(settled(&read(b"", None)), ("UTF-8", CharsetOrigin::Detected));
    }

    #[test]
    fn words_say_what_told_the_charset() {
        for (word, origin) in [
            ("bom", CharsetOrigin::Bom),
            ("header", CharsetOrigin::Header),
            ("meta", CharsetOrigin::Meta),
            ("detected", CharsetOrigin::Detected),
            ("recorded", CharsetOrigin::Recorded),
        ] {
            assert_eq!(serde_json::to_value(origin).unwrap(), word);
        }
    }

    #[test]
    fn an_xml_declaration_counts_first_in_xhtml_and_last_in_html() {
        let body = b"<?xml version='1.0' encoding='euc-jp'?><meta charset=shift_jis>";
        assert_eq!(read(body, Some("application/xhtml+xml")).charset, "EUC-JP");
        assert_eq!(read(body, Some("text/html")).charset, "Shift_JIS");
        for (body, is_unknown_in_xhtml, is_unknown_in_html) in [
            (&b"<?xml encoding='klingon'?><meta charset=shift_jis>"[..], true, false),
            (b"<?xml encoding='sjis'?><meta charset=klingon>", false, true),
            (b"<?xml encoding='sjis'?><meta charset=''>", false, false),
        ] {
            for (content_type, is_unknown) in
                [("application/xhtml+xml", is_unknown_in_xhtml), ("text/html", is_unknown_in_html)]
            {
                let page = read(body, Some(content_type));
                assert_eq!(settled(&page), ("Shift_JIS", CharsetOrigin::Meta));
                assert_eq!(page.defects.unknown_charset, is_unknown, "{content_type}");
            }
        }
    }

    #[test]
    fn utf_16_in_a_header_is_believed_where_a_zero_byte_stands_near_the_beginning() {
        for (label, charset) in [("utf-16le", "UTF-16LE"), ("utf-16be", "UTF-16BE")] {
            let header = format!("text/html; charset={label}");
            for (ahead, expected) in [(0, charset), (UTF_16_BYTES - 1, charset), (UTF_16_BYTES, "UTF-8")] {
                let body = [vec![b'x'; ahead], vec![0; 2]].concat();
                let page = read(&body, Some(&header));
                assert_eq!(page.charset, expected, "{ahead}");
                assert_eq!(page.defects.unknown_charset, expected == "UTF-8", "{ahead}");
                assert_eq!(page.declared_charset.as_deref(), Some(label));
            }
        }
    }

    #[test]
    fn with_a_mark_the_document_is_heard_only_where_the_header_names_none() {
        let body = b"\xef\xbb\xbf<meta charset=euc-jp>";
        for (header, declared) in [("text/html", "euc-jp"), ("text/html; charset=klingon", "klingon")] {
            let page = read(body, Some(header));
            assert_eq!(settled(&page), ("UTF-8", CharsetOrigin::Bom));
            assert_eq!(page.declared_charset.as_deref(), Some(declared));
        }
    }

    #[test]
    fn what_tells_the_charset_may_come_late() {
        let late = [vec![b'x'; 100_000], EUC_JP.encode(JAPANESE).0.into_owned()].concat();
        assert_eq!(read(&late, None).charset, "EUC-JP");
        let late = [vec![b'x'; 100_000], ISO_2022_JP.encode(JAPANESE).0.into_owned()].concat();
        assert_eq!(read(&late, None).charset, "ISO-2022-JP");
    }
}
