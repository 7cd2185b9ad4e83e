use html5gum::Emitter;
use memchr::{memchr, memchr3};

use super::emitter::{Listener, TagEmitter};
use super::plain_text;
use super::tag::Attribute;
use super::tag_name::{TagName, Text};

/// Reads a tag in common form, and returns the text after it. Returns none if there is no tag here, or a tag
/// in a rarer form: then nothing has been read or emitted.
///
/// The common form is: `<`, for an end tag `/`, a name of ASCII letters and digits, then white space before
/// each attribute, and `>` or `/>`. The name of an attribute consists of letters, digits, `-`, `:` and `_`,
/// and is followed at once by `=` and a value, or by nothing. Values that are needed contain no character
/// reference. If the text of the element is not markup, it is read too.
pub(in crate::page) fn read<'t, L: Listener>(
    text: &'t [u8],
    emitter: &mut TagEmitter<'_, L>,
) -> Option<&'t [u8]> {
    let unread = text.strip_prefix(b"<")?;
    let is_end = unread.first() == Some(&b'/');
    let (spelled, mut unread) = split_name(&unread[usize::from(is_end)..], &IN_TAG_NAMES)?;
    let name = emitter.begin(is_end, spelled);
    let is_markup = is_end || emitter.text() == Text::Markup;
    // In XML any element may declare a namespace.
    let has_known_attributes = name != TagName::Other || emitter.is_xml();
    loop {
        let before = unread;
        unread = without_space(unread);
        match unread {
            [b'>', after @ ..] if is_markup => {
                emitter.emit_plain_tag();
                return Some(after);
            }
            [b'>', after @ ..] => {
                let (text, after) = plain_text::raw_text(name, after)?;
                emitter.emit_plain_tag();
                emitter.emit_text(text);
                return Some(after);
            }
            [b'/', b'>', after @ ..] if is_markup => {
                emitter.set_self_closing();
                emitter.emit_plain_tag();
                return Some(after);
            }
            _ if is_end || before.len() == unread.len() => return None,
            _ => unread = read_attribute(unread, has_known_attributes.then_some(name), emitter)?,
        }
    }
}

/// Reads an attribute, and returns the text after it: white space, or the end of the tag. `tag` is none where
/// no attribute has a meaning.
fn read_attribute<'t, L: Listener>(
    text: &'t [u8],
    tag: Option<TagName>,
    emitter: &mut TagEmitter<'_, L>,
) -> Option<&'t [u8]> {
    let (name, unread) = split_name(text, &IN_ATTRIBUTE_NAMES)?;
    let (value, after) = match unread {
        [b'=', quote @ (b'"' | b'\''), rest @ ..] => {
            let end = memchr(*quote, rest)?;
            (&rest[..end], &rest[end + 1..])
        }
        [b'=', rest @ ..] => split_unquoted(rest)?,
        // `a =b`: the value comes later.
        _ if without_space(unread).first() == Some(&b'=') => return None,
        _ => (&[][..], unread),
    };
    if !matches!(after.first()?, b' ' | b'\n' | b'\t' | b'\x0c' | b'>' | b'/') {
        return None;
    }
    let Some(tag) = tag else { return Some(after) };
    if let Some(attribute) = Attribute::spelled(tag, name) {
        match memchr3(b'&', 0, b'\r', value) {
            // Half of all scripts and styles have an `&` in their query, which nothing needs.
            Some(end) if attribute == Attribute::Resource => emitter.add_attribute(attribute, &value[..end]),
            Some(_) => return None,
            None => emitter.add_attribute(attribute, value),
        }
    } else if emitter.is_xml() && name.starts_with(b"xmlns") {
        return None;
    }
    Some(after)
}

/// A table of bytes in a set: a fast look-up, because most bytes of most pages are in tags.
type Bytes = [bool; 256];

const IN_TAG_NAMES: Bytes = letters_and_digits_and(b"");
const IN_ATTRIBUTE_NAMES: Bytes = letters_and_digits_and(b"-:_");

const fn letters_and_digits_and(signs: &[u8]) -> Bytes {
    let mut bytes = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        bytes[byte as usize] = u8::is_ascii_alphanumeric(&byte);
        byte += 1;
    }
    let mut sign = 0;
    while sign < signs.len() {
        bytes[signs[sign] as usize] = true;
        sign += 1;
    }
    bytes
}

/// A name, which begins with a letter, and the text after it.
fn split_name<'t>(text: &'t [u8], in_names: &Bytes) -> Option<(&'t [u8], &'t [u8])> {
    text.first().filter(|first| first.is_ascii_alphabetic())?;
    let end = text.iter().position(|byte| !in_names[usize::from(*byte)])?;
    Some(text.split_at(end))
}

/// A value without quotes, at least one byte long, and the text after it: white space or `>`.
fn split_unquoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let ends = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\x0c' | b'>');
    let end = text.iter().position(ends).filter(|end| *end > 0)?;
    let (value, after) = text.split_at(end);
    let is_rare = |byte: &u8| matches!(byte, b'"' | b'\'' | b'<' | b'=' | b'`' | b'\r');
    (!value.iter().any(is_rare)).then_some((value, after))
}

fn without_space(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\t' | b'\x0c'));
    &text[end.unwrap_or(text.len())..]
}
