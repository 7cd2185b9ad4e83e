//! Makes text from untrusted sources harmless.

use crate::records::visible;

/// The maximum number of characters shown of a text. A title may be as long as its page.
const MAX_CHARACTERS: usize = 200;

/// A text that is safe to show on the page: hidden characters become [`visible`], and a text that is too long
/// is cut and ends in `…`.
///
/// It must still be escaped for HTML, which the template does.
#[must_use]
pub fn plain(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", visible(&text[..end])),
        None => visible(text).into_owned(),
    }
}

/// Units that stay on the same line as their number.
const UNITS: [&str; 16] =
    ["%", "B", "kB", "MB", "GB", "TB", "PB", "ms", "s", "min", "h", "d", "kB/s", "MB/s", "req/s", "kbit/s"];

/// The text with no line break between a number and its unit.
#[must_use]
pub fn unbroken(text: &str) -> String {
    let mut unbroken = String::with_capacity(text.len());
    for (number, word) in text.split(' ').enumerate() {
        let unit = word.trim_end_matches(|mark: char| !mark.is_alphanumeric() && mark != '%');
        let follows_number = unbroken.ends_with(|last: char| last.is_ascii_digit());
        if number > 0 {
            unbroken.push(if follows_number && UNITS.contains(&unit) { '\u{a0}' } else { ' ' });
        }
        unbroken.push_str(word);
    }
    unbroken
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
        assert_eq!(plain(&"é".repeat(1000)).chars().count(), MAX_CHARACTERS + 1);
        assert!(!plain(&"é".repeat(MAX_CHARACTERS)).contains('…'));
    }

    #[test]
    fn a_number_keeps_its_unit() {
        assert_eq!(
            unbroken("95 % (93–97 %) of 1.2 GB; 8 h"),
            "95\u{a0}% (93–97\u{a0}%) of 1.2\u{a0}GB; 8\u{a0}h"
        );
        assert_eq!(unbroken("depth 8 so a  b"), "depth 8 so a  b");
    }
}
