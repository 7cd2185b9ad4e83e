use html5gum::Emitter;
use memchr::{memchr, memchr3};

use super::emitter::{Listener, TagEmitter};
use super::plain_text;
use super::tag::Attribute;
use super::tag_name::{TagName, Text};

/// Reads a tag that is written as most are, and gives what is behind it; none if something else stands here, or a tag that
/// is written in a rarer way: then nothing is read, and nobody has been told anything.
///
/// As most are: `<`, for an end tag `/`, a name of ASCII letters and digits, then white space before each attribute,
/// whose name is of letters, digits, `-`, `:`, `_` and is followed at once by `=` and a value or by nothing, and `>` or `/>`.
/// Values that are kept have no character reference in them. With an element whose text is no markup its text is read, too.
pub(super) fn read<'t, L: Listener>(text: &'t [u8], emitter: &mut TagEmitter<'_, L>) -> Option<&'t [u8]> {
    let unread = text.strip_prefix(b"<")?;
    let is_end = unread.first() == Some(&b'/');
    let (name, mut unread) = split_name(&unread[usize::from(is_end)..], u8::is_ascii_alphanumeric)?;
    let name = TagName::spelled(name);
    let is_markup = is_end || name.text() == Text::Markup;
    emitter.begin(is_end, name);
    loop {
        let before = unread;
        unread = without_space(unread);
        match unread {
            [b'>', behind @ ..] if is_markup => {
                emitter.emit_plain_tag();
                return Some(behind);
            }
            [b'>', behind @ ..] => {
                let (text, behind) = plain_text::raw_text(name, behind)?;
                emitter.emit_plain_tag();
                emitter.emit_text(text);
                return Some(behind);
            }
            [b'/', b'>', behind @ ..] if is_markup => {
                emitter.set_self_closing();
                emitter.emit_plain_tag();
                return Some(behind);
            }
            _ if is_end || before.len() == unread.len() => return None,
            _ => unread = read_attribute(unread, name, emitter)?,
        }
    }
}

/// Reads an attribute, and gives what is behind it: white space, or the end of the tag.
fn read_attribute<'t, L: Listener>(
    text: &'t [u8],
    tag: TagName,
    emitter: &mut TagEmitter<'_, L>,
) -> Option<&'t [u8]> {
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'_');
    let (name, unread) = split_name(text, is_in_name)?;
    let (value, behind) = match unread {
        [b'=', quote @ (b'"' | b'\''), rest @ ..] => {
            let end = memchr(*quote, rest)?;
            (&rest[..end], &rest[end + 1..])
        }
        [b'=', rest @ ..] => split_unquoted(rest)?,
        // `a =b`: the value is further on.
        _ if without_space(unread).first() == Some(&b'=') => return None,
        _ => (&[][..], unread),
    };
    if !matches!(behind.first()?, b' ' | b'\n' | b'\t' | b'\x0c' | b'>' | b'/') {
        return None;
    }
    if tag != TagName::Other
        && let Some(attribute) = Attribute::spelled(tag, name)
    {
        if memchr3(b'&', 0, b'\r', value).is_some() {
            return None;
        }
        emitter.give(attribute, value);
    }
    Some(behind)
}

/// A name and what is behind it.
fn split_name(text: &[u8], is_in_name: impl Fn(&u8) -> bool) -> Option<(&[u8], &[u8])> {
    text.first().filter(|first| first.is_ascii_alphabetic())?;
    let end = text.iter().position(|byte| !is_in_name(byte))?;
    Some(text.split_at(end))
}

/// A value without quotes, which has a byte at least, and what is behind it: white space or `>`.
fn split_unquoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let ends = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\x0c' | b'>');
    let end = text.iter().position(ends).filter(|end| *end > 0)?;
    let (value, behind) = text.split_at(end);
    let is_rare = |byte: &u8| matches!(byte, b'"' | b'\'' | b'<' | b'=' | b'`' | b'\r');
    (!value.iter().any(is_rare)).then_some((value, behind))
}

fn without_space(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\t' | b'\x0c'));
    &text[end.unwrap_or(text.len())..]
}
