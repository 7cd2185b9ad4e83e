//! Words of strangers, made harmless.

/// Characters shown of one text; a title may have as many as its page has bytes.
const LONGEST: usize = 200;

/// A text as it may stand on the page: control characters, direction marks and other characters that are
/// not seen become visible as `⟨U+202E⟩`; what is too long is cut and ends in `…`.
///
/// It is still to be escaped for HTML, which the template does.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len().min(LONGEST * 4));
    for (number, character) in text.chars().enumerate() {
        if number == LONGEST {
            plain.push('…');
            break;
        }
        match character {
            '\t' | '\n' | '\r' => plain.push(' '),
            hidden if is_hidden(hidden) => plain.push_str(&format!("⟨U+{:04X}⟩", u32::from(hidden))),
            seen => plain.push(seen),
        }
    }
    plain
}

/// Control characters, and the marks of Unicode that turn or hide what stands beside them (UAX #9, UTR #36);
/// noncharacters, which HTML forbids.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
        || u32::from(character) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_or_hides_text_becomes_visible() {
        assert_eq!(plain("a\u{202e}b\u{0}c\u{200b}\u{ffff}"), "a⟨U+202E⟩b⟨U+0000⟩c⟨U+200B⟩⟨U+FFFF⟩");
        assert_eq!(plain("one\r\ntwo\tthree"), "one  two three");
        assert_eq!(plain("日本 <b>\"&"), "日本 <b>\"&");
    }

    #[test]
    fn what_is_long_is_cut() {
        assert_eq!(plain(&"é".repeat(1000)).chars().count(), LONGEST + 1);
        assert!(!plain(&"é".repeat(LONGEST)).contains('…'));
    }
}
