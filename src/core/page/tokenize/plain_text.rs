//! The content between tags, in its most common forms. Where the content has another form, each function
//! reads nothing.

use memchr::memmem::find;
use memchr::{memchr, memchr_iter};

use super::tag_name::{TagName, Text};

/// The references that are common in pages. html5gum handles the other two thousand of the standard.
const NAMED: [(&[u8], &str); 6] =
    [(b"lt;", "<"), (b"gt;", ">"), (b"amp;", "&"), (b"quot;", "\""), (b"nbsp;", "\u{a0}"), (b"apos;", "'")];
/// The number of digits in a numeric reference: enough for any character.
const MOST_DIGITS: usize = 7;

/// Passes the character of a character reference (WHATWG HTML §13.2.5.72) to `emit`, and returns the text
/// after it. An `&` that begins no reference is passed as it is.
pub(in crate::page) fn reference(text: &[u8], emit: impl FnOnce(&[u8])) -> Option<&[u8]> {
    let after = text.strip_prefix(b"&")?;
    match after.first()? {
        b'#' => {
            let (character, after) = numeric(&after[1..])?;
            emit(character.encode_utf8(&mut [0; 4]).as_bytes());
            Some(after)
        }
        first if first.is_ascii_alphanumeric() => {
            let (name, character) = NAMED.iter().find(|(name, _)| after.starts_with(name))?;
            emit(character.as_bytes());
            Some(&after[name.len()..])
        }
        _ => {
            emit(b"&");
            Some(after)
        }
    }
}

/// A number up to its `;`. Control characters are left out, because they stand for other characters
/// (§13.2.5.80).
fn numeric(text: &[u8]) -> Option<(char, &[u8])> {
    let (base, digits) = match text {
        [b'x' | b'X', digits @ ..] => (16, digits),
        digits => (10, digits),
    };
    let end = memchr(b';', &digits[..digits.len().min(MOST_DIGITS + 1)])?;
    let mut code = 0;
    for digit in &digits[..end] {
        code = code * base + char::from(*digit).to_digit(base)?;
    }
    let character = char::from_u32(code).filter(|character| end > 0 && !character.is_control())?;
    Some((character, &digits[end + 1..]))
}

/// The text after a comment (§13.2.5.43 and those after it).
pub(in crate::page) fn after_comment(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"<!--")?;
    // The dashes that open it may close it (`<!-->`, `<!--->`), but not as `<!--!>`.
    let unread = &text[2..];
    let closes = |end: &usize| {
        let content = &unread[..*end];
        content.ends_with(b"--") || content.get(2..).is_some_and(|content| content.ends_with(b"--!"))
    };
    memchr_iter(b'>', unread).find(closes).map(|end| &unread[end + 1..])
}

/// The text of an element whose text is not markup, and the rest, which begins with its end tag.
pub(in crate::page) fn raw_text(name: TagName, text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr_iter(b'<', text).find(|at| ends(name, &text[*at..]))?;
    let (content, after) = text.split_at(end);
    let is_plain = match name.text() {
        Text::Raw => true,
        Text::Script => find(content, b"<!--").is_none(),
        Text::Markup | Text::Escapable | Text::Endless => false,
    };
    (is_plain && memchr(0, content).is_none()).then_some((content, after))
}

/// Whether the end tag of the element is at this position.
fn ends(name: TagName, text: &[u8]) -> bool {
    let is_in_name = |byte: &u8| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'\x0c' | b'/' | b'>');
    let Some(text) = text.strip_prefix(b"</") else { return false };
    let spelled = text.iter().position(|byte| !is_in_name(byte)).map(|end| &text[..end]);
    spelled.is_some_and(|spelled| TagName::spelled(spelled) == name)
}
