use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memrchr_iter;

use crate::exchange::charset_in_fields;
use crate::page::tokenize::emitter::Listener;
use crate::page::tokenize::nesting::Syntax;
use crate::page::tokenize::tag::{Attribute, Tag};
use crate::page::tokenize::tag_name::TagName;
use crate::page::tokenize::tokenize;

/// The first bytes, in which a declaration has to be (WHATWG HTML §13.2.3.2) …
const PRESCAN_BYTES: usize = 1024;
/// … and the limit for the search in a longer head, as in browsers.
const HEAD_BYTES: usize = 64 * 1024;
/// The limit for a stored label; the longest known one has 19 bytes (`cseucpkdfmtjapanese`).
const MAX_LABEL_BYTES: usize = 40;

/// The charsets that a document or header names.
#[derive(Default)]
pub(in crate::page) struct Declared {
    /// The first known charset.
    pub(in crate::page) encoding: Option<&'static Encoding>,
    /// The first label, known or not, in lower case.
    pub(in crate::page) label: Option<String>,
    pub(in crate::page) has_unknown_label: bool,
}

impl Declared {
    /// Takes a label; the first known one counts.
    fn add_label(&mut self, label: &[u8]) {
        let label = label.trim_ascii();
        if self.encoding.is_some() || label.is_empty() {
            return;
        }
        // The replacement encoding would hide the links of pages in the charsets that it stands for.
        self.encoding = Encoding::for_label_no_replacement(label);
        self.has_unknown_label |= self.encoding.is_none();
        if self.label.is_none() {
            let kept = String::from_utf8_lossy(&label[..label.len().min(MAX_LABEL_BYTES)]);
            self.label = Some(kept.to_ascii_lowercase());
        }
    }

    /// Corrects a UTF-16 label: it cannot be true if it could be read byte by byte (WHATWG HTML §13.2.3.2).
    fn corrected(mut self) -> Self {
        self.encoding = self.encoding.map(|encoding| {
            if encoding == UTF_16LE || encoding == UTF_16BE {
                UTF_8
            } else if encoding == encoding_rs::X_USER_DEFINED {
                WINDOWS_1252
            } else {
                encoding
            }
        });
        self
    }
}

/// The charset in a `Content-Type`. If the field does not parse, it is read like the `content` of a `meta`.
pub(in crate::page) fn in_header(content_type: &str) -> Declared {
    let mut declared = Declared::default();
    match charset_in_fields(content_type) {
        Some(label) => label.iter().for_each(|label| declared.add_label(label.as_bytes())),
        None => label_in(content_type.as_bytes()).into_iter().for_each(|label| declared.add_label(label)),
    }
    declared
}

/// The charset in `meta` elements: within the first bytes, or else within a longer head.
pub(in crate::page) fn in_meta(body: &[u8]) -> Declared {
    let head = &body[..body.len().min(HEAD_BYTES)];
    let scan = |start: &[u8], only_head: bool| {
        let mut metas = Metas { only_head, ..Metas::default() };
        tokenize(start, &mut metas, Syntax::Html);
        metas.declared
    };
    let start = &head[..head.len().min(PRESCAN_BYTES)];
    // This search costs a tenth of tokenizing, and the name of a tag can be spelled in no other way.
    let first = if last_meta(start).is_some() { scan(start, false) } else { Declared::default() };
    if first.encoding.is_some() {
        return first.corrected();
    }
    let Some(last) = last_meta(head) else { return Declared::default() };
    let has_seen_all = start.len() == head.len() || start.get(last..).is_some_and(|tag| tag.contains(&b'>'));
    if has_seen_all {
        return first.corrected();
    }
    scan(head, true).corrected()
}

/// The position of the last `meta` tag.
fn last_meta(bytes: &[u8]) -> Option<usize> {
    let begins =
        |at: &usize| bytes.get(at + 1..at + 5).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"));
    memrchr_iter(b'<', bytes).find(begins)
}

/// The charset in an XML declaration.
pub(in crate::page) fn in_xml_declaration(body: &[u8]) -> Declared {
    let mut declared = Declared::default();
    let start = &body[..body.len().min(PRESCAN_BYTES)];
    if let Some(rest) = start.strip_prefix(b"<?xml") {
        let end = rest.iter().position(|byte| *byte == b'>').unwrap_or(0);
        if let Some(label) = value_after(&rest[..end], b"encoding") {
            declared.add_label(label);
        }
    }
    declared.corrected()
}

/// Listens for the `meta` elements of a document.
#[derive(Default)]
struct Metas {
    declared: Declared,
    only_head: bool,
    is_head_over: bool,
}

impl Listener for Metas {
    fn start(&mut self, tag: &Tag) {
        match tag.name {
            TagName::Meta => {
                if let Some(charset) = tag.value(Attribute::Charset) {
                    self.declared.add_label(charset.bytes);
                } else if let (Some(pragma), Some(content)) =
                    (tag.value(Attribute::HttpEquiv), tag.value(Attribute::Content))
                    && pragma.bytes.trim_ascii().eq_ignore_ascii_case(b"content-type")
                    && let Some(label) = label_in(content.bytes)
                {
                    self.declared.add_label(label);
                }
            }
            TagName::Html
            | TagName::Head
            | TagName::Title
            | TagName::Base
            | TagName::Link
            | TagName::Style
            | TagName::Script
            | TagName::Noscript
            | TagName::Object
            | TagName::Template => {}
            _ => self.is_head_over = self.only_head,
        }
    }

    fn end(&mut self, name: TagName) {
        self.is_head_over |= self.only_head && name == TagName::Head;
    }

    fn text(&mut self, _: &[u8]) {}

    fn is_done(&self) -> bool {
        self.declared.encoding.is_some() || self.is_head_over
    }
}

/// The label in a `Content-Type` or its `meta` (WHATWG HTML §2.4.2, extracting a character
/// encoding from a meta element).
fn label_in(content: &[u8]) -> Option<&[u8]> {
    value_after(content, b"charset")
}

/// The value after `name =`, quoted or not.
fn value_after<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = text;
    loop {
        let at = rest.windows(name.len()).position(|window| window.eq_ignore_ascii_case(name))?;
        rest = rest[at + name.len()..].trim_ascii_start();
        if let Some(value) = rest.strip_prefix(b"=") {
            return Some(first_word(value.trim_ascii_start()));
        }
    }
}

fn first_word(text: &[u8]) -> &[u8] {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b';' | b',' | b'\'' | b'"');
    match text {
        [quote @ (b'"' | b'\''), rest @ ..] => rest.split(|byte| byte == quote).next().unwrap_or(rest),
        _ => text.split(is_end).next().unwrap_or(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, SHIFT_JIS};

    fn meta(html: &str) -> Option<&'static str> {
        in_meta(html.as_bytes()).encoding.map(Encoding::name)
    }

    #[test]
    fn what_the_first_bytes_say_outside_the_head_counts_whatever_comes_after_them() {
        let long = "x".repeat(2 * PRESCAN_BYTES);
        for rest in ["", "<meta", &long, &format!("{long}<b>"), &format!("{long}<b>metal")] {
            let result = in_meta(format!("<p><meta charset=nonsense>{rest}").as_bytes());
            assert!(result.has_unknown_label, "{}", rest.trim_matches('x'));
        }
        assert_eq!(meta(&format!("<p><meta charset=euc-jp>{long}<meta name=a>")), Some(EUC_JP.name()));
    }

    #[test]
    fn a_header_names_its_charset_in_many_ways() {
        for header in [
            "text/html;charset=shift_jis",
            "text/html; Charset = \"Shift_JIS\"",
            "text/html; charset='sjis'",
            "text/html; charsets; charset=x-sjis; q=1",
            "text/html; charset=ms_kanji, text/html",
        ] {
            assert_eq!(in_header(header).encoding, Some(SHIFT_JIS), "{header}");
        }
        assert!(in_header("text/html; charset=").label.is_none());
    }

    #[test]
    fn an_unknown_or_replaced_label_is_noted_but_does_not_count() {
        for label in ["klingon", "none", "iso-2022-kr"] {
            let declared = in_header(&format!("text/html; charset={label}"));
            assert!(declared.encoding.is_none() && declared.has_unknown_label);
            assert_eq!(declared.label.as_deref(), Some(label));
        }
    }

    #[test]
    fn both_kinds_of_meta_declare() {
        assert_eq!(meta("<meta charset=EUC-JP>"), Some("EUC-JP"));
        assert_eq!(
            meta("<META content='text/html; charset=x-euc-jp' HTTP-EQUIV=Content-Type>"),
            Some("EUC-JP")
        );
        assert_eq!(meta("<meta name=x content='charset=euc-jp'>"), None);
        assert_eq!(meta("<meta charset=klingon><meta charset=sjis>"), Some("Shift_JIS"));
        assert_eq!(meta("<!-- <meta charset=sjis> --><script>'<meta charset=sjis>'</script>"), None);
    }

    #[test]
    fn a_meta_that_bytes_belie_is_mended() {
        assert_eq!(meta("<meta charset=utf-16>"), Some("UTF-8"));
        assert_eq!(meta("<meta charset=x-user-defined>"), Some("windows-1252"));
    }

    #[test]
    fn a_late_meta_counts_only_in_the_head() {
        let filler = format!("<!--{}-->", "x".repeat(2000));
        assert_eq!(
            meta(&format!("<head><script>if(a<b)</script>{filler}<meta charset=sjis>")),
            Some("Shift_JIS")
        );
        assert_eq!(meta(&format!("<head>{filler}</head><meta charset=sjis>")), None);
        assert_eq!(meta(&format!("<p>{filler}<meta charset=sjis>")), None);
        for body in ["<p><meta charset=sjis>".to_owned(), format!("<p><meta charset=sjis>{filler}")] {
            assert_eq!(meta(&body), Some("Shift_JIS"), "{body}");
        }
    }

    #[test]
    fn an_xml_declaration_declares() {
        let xml = |body: &[u8]| in_xml_declaration(body).encoding;
        assert_eq!(xml(b"<?xml version='1.0' encoding = 'euc-jp' ?><html>"), Some(EUC_JP));
        assert_eq!(xml(b"<?xml version='1.0' encoding=\"UTF-16\"?>"), Some(UTF_8));
        assert_eq!(xml(b"<?xml version='1.0'?><p encoding='euc-jp'>"), None);
        assert_eq!(xml(b" <?xml encoding='euc-jp'?>"), None);
    }
}
