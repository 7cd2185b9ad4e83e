//! HTML bytes as tags and text, with the nesting of elements that decides what is foreign content.

pub(super) mod element_name;
pub(super) mod emitter;
pub(super) mod name;
pub(super) mod namespaces;
pub(super) mod nesting;
pub(super) mod plain_tag;
pub(super) mod plain_text;
pub(super) mod shallow;
pub(super) mod tag;
pub(super) mod tag_name;

use std::cell::Cell;
use std::convert::Infallible;

use html5gum::{Emitter, ForwardingEmitter, Readable, Reader, Tokenizer};
use memchr::memchr2;

use emitter::{Listener, TagEmitter};
use nesting::Syntax;
use shallow::BoundedStackText;

/// Passes the tags and the text of a document, in UTF-8, to a listener.
///
/// html5gum implements the rules of tokenizing (WHATWG HTML §13.2.5). Most markup of most pages has a simple
/// form that needs only a few of these rules: it is read here, several times as fast. html5gum gets the rest,
/// from its `<` or `&` to the end of the next tag after which text is markup again. The listener receives the
/// same as from html5gum alone, except that carriage returns in text stay as they are.
///
/// Returns whether the listener needs more of the tree than it received: then the document must be read once
/// more, as [`Syntax::WholeHtml`], by a new listener.
pub(super) fn tokenize<L: Listener>(text: &[u8], listener: &mut L, syntax: Syntax) -> bool {
    let mut emitter = TagEmitter::new(listener, syntax);
    read(text, &mut emitter);
    emitter.is_whole_needed()
}

fn read<L: Listener>(text: &[u8], emitter: &mut TagEmitter<'_, L>) {
    let mut unread = text;
    while !emitter.is_done() {
        let text = upto_markup(unread);
        emitter.emit_text(text);
        unread = &unread[text.len()..];
        let after = match unread {
            [] => return,
            [b'&', ..] => plain_text::reference(unread, |character| emitter.emit_text(character)),
            [b'<', b'!', ..] => plain_text::after_comment(unread),
            _ => plain_tag::read(unread, emitter),
        };
        unread = match after {
            Some(after) => after,
            None => {
                let rest = Cell::new(unread);
                let mut tokenizer = Tokenizer::new_with_emitter(
                    BoundedStackText::new(UnreadText(&rest)),
                    BorrowedEmitter(&mut *emitter),
                );
                // The tokenizer ends at the end of the text, or after a tag.
                if tokenizer.next().is_none() {
                    return;
                }
                rest.get()
            }
        };
    }
}

/// The text before the next `<` or `&`. NUL is text too (§13.2.5.1).
fn upto_markup(unread: &[u8]) -> &[u8] {
    match unread.first() {
        None | Some(b'<' | b'&') => &[],
        Some(_) => &unread[..memchr2(b'<', b'&', unread).unwrap_or(unread.len())],
    }
}

/// An emitter that a tokenizer borrows.
struct BorrowedEmitter<'e, E>(&'e mut E);

impl<E: Emitter> ForwardingEmitter for BorrowedEmitter<'_, E> {
    type Token = E::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = E::Token> {
        self.0
    }

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }
}

/// A text from which a tokenizer reads as much as it needs.
struct UnreadText<'r, 'a>(&'r Cell<&'a [u8]>);

// Once these are inlined into each state of the tokenizer, the needle is a constant and a page is read about
// one and a half times as fast.
#[allow(clippy::inline_always)]
impl Reader for UnreadText<'_, '_> {
    type Error = Infallible;

    #[inline]
    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        let mut unread = self.0.get().to_reader();
        let byte = unread.read_byte()?;
        self.0.set(&self.0.get()[usize::from(byte.is_some())..]);
        Ok(byte)
    }

    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        _: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        let unread = self.0.get();
        let length = unread.to_reader().read_until(needle, &mut [0; 4])?.map_or(0, <[u8]>::len);
        let (found, rest) = unread.split_at(length);
        self.0.set(rest);
        Ok((length > 0).then_some(found))
    }

    #[inline]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        let unread = self.0.get();
        let is_next = unread.to_reader().try_read_string(text, case_sensitive)?;
        self.0.set(&unread[if is_next { text.len() } else { 0 }..]);
        Ok(is_next)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fragments::{FRAGMENTS, OPENINGS};
    use super::tag::{Attribute, Tag};
    use super::tag_name::TagName;
    use super::*;
    use proptest::prelude::*;

    const ALL: [Attribute; 14] = [
        Attribute::Charset,
        Attribute::Content,
        Attribute::Encoding,
        Attribute::Href,
        Attribute::HttpEquiv,
        Attribute::Lang,
        Attribute::Look,
        Attribute::Name,
        Attribute::Rel,
        Attribute::ShadowRootMode,
        Attribute::Src,
        Attribute::Srcdoc,
        Attribute::XlinkHref,
        Attribute::XmlLang,
    ];

    /// The events that a listener received, with pieces of text joined.
    #[derive(Default, Debug, PartialEq)]
    struct ReceivedTokens {
        events: Vec<String>,
        text: Vec<u8>,
    }

    impl ReceivedTokens {
        fn end_text(&mut self) {
            if !self.text.is_empty() {
                let text = std::mem::take(&mut self.text);
                self.events.push(format!("text {:?}", String::from_utf8_lossy(&text)));
            }
        }
    }

    impl Listener for ReceivedTokens {
        fn start(&mut self, tag: &Tag) {
            self.end_text();
            let values: Vec<_> = ALL.iter().map(|attribute| tag.text(*attribute)).collect();
            self.events.push(format!("{:?} {} {:?} {values:?}", tag.name, tag.is_empty, tag.namespace));
        }

        fn end(&mut self, name: TagName) {
            self.end_text();
            self.events.push(format!("/{name:?}"));
        }

        fn text(&mut self, piece: &[u8]) {
            // Only html5gum normalises newlines.
            let lines = piece.split_inclusive(|byte| *byte == b'\n');
            for line in lines
                .map(|line| line.strip_suffix(b"\r\n").map_or(line.to_vec(), |line| [line, b"\n"].concat()))
            {
                self.text.extend(line.into_iter().map(|byte| if byte == b'\r' { b'\n' } else { byte }));
            }
        }

        fn is_done(&self) -> bool {
            false
        }
    }

    fn tokens(body: &str, syntax: Syntax) -> Vec<String> {
        let mut tokens = ReceivedTokens::default();
        tokenize(body.as_bytes(), &mut tokens, syntax);
        tokens.end_text();
        tokens.events
    }

    fn tokens_by_html5gum(body: &str, syntax: Syntax) -> Vec<String> {
        let mut tokens = ReceivedTokens::default();
        let emitter = TagEmitter::new(&mut tokens, syntax);
        Tokenizer::new_with_emitter(BoundedStackText::new(body.to_reader()), emitter).for_each(drop);
        tokens.end_text();
        tokens.events
    }

    fn assert_same(body: &str) {
        for syntax in [Syntax::Html, Syntax::WholeHtml, Syntax::Xml] {
            assert_eq!(tokens(body, syntax), tokens_by_html5gum(body, syntax), "{syntax:?} {body:?}");
        }
    }

    #[test]
    fn each_way_to_write_a_tag_is_told_as_html5gum_tells_it() {
        let values = [
            "",
            "=",
            "=b",
            "=b/",
            "=\"b c\"",
            "='b>c'",
            "=\"b&amp;c\"",
            "=b&amp;c",
            "=\"b\0\"",
            " =b",
            "= b",
            "=\"b",
        ];
        for name in [
            "a",
            "A",
            "b",
            "meta",
            "script",
            "title",
            "svg",
            "template",
            "a-b",
            "a:b",
            "a1",
            "1",
            "averyveryverylongname",
        ] {
            for attribute in [
                "href",
                "HREF",
                "x",
                "rel",
                "content",
                "xml:lang",
                "@click",
                "a\"b",
                "a'b",
                "a=b",
                "href=x href",
            ] {
                for value in values {
                    for end in [">", " >", "/>", " />", "\n>", "\r\n>", "", " ", "y>", " /y>", "\x0cx>"] {
                        assert_same(&format!("t<{name} {attribute}{value}{end}u</{name}{end}v<a href=z>"));
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_mix_of_fragments_is_told_as_html5gum_tells_it(
            opening in prop::sample::select(OPENINGS.to_vec()),
            fragments in prop::collection::vec(prop::sample::select(FRAGMENTS.to_vec()), 0..20),
        ) {
            assert_same(&(opening.to_owned() + &fragments.concat()));
        }

        #[test]
        fn any_mix_of_references_comments_and_raw_text_is_told_as_html5gum_tells_it(
            body in "(&#[xX]?[0-9a-fA-F]{0,8};?|&(lt|gt|amp|quot|nbsp|apos|Lt|eacute|a|#)?;?|<!-{0,3}|-{0,3}!?>|[-!> a]|</?(script|Script|style|title|xmp)[ />]?>?|</?p>|\\x00){0,30}"
        ) {
            assert_same(&body);
        }

        #[test]
        fn any_mix_of_the_bytes_of_tags_is_told_as_html5gum_tells_it(body in "(<[abAB/]?|[ab =\"'/>\\n\\r&;\\x00]|href|meta|é){0,30}") {
            assert_same(&body);
        }
    }
}
