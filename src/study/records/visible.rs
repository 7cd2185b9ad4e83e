//! Makes text from untrusted sources safe to show: on a terminal, in a log, in the report.

use std::borrow::Cow;

/// One line without invisible characters or characters that control a terminal. Such characters become
/// visible as `⟨U+202E⟩`; line ends and tabs become spaces.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    replace_hidden(text, |character| match character {
        '\t' | '\n' | '\r' => Some(Cow::Borrowed(" ")),
        hidden if is_hidden(hidden) => Some(Cow::Owned(format!("⟨U+{:04X}⟩", u32::from(hidden)))),
        _ => None,
    })
}

/// As [`visible`], for a text of several lines whose line ends and tabs are our own.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    replace_hidden(text, |character| match character {
        '\t' | '\n' => None,
        hidden if is_hidden(hidden) => Some(Cow::Owned(format!("⟨U+{:04X}⟩", u32::from(hidden)))),
        _ => None,
    })
}

/// JSON with such characters escaped (RFC 8259 §7). Programs read the same text; a terminal does not act on
/// it.
#[must_use]
pub fn visible_json(json: &str) -> Cow<'_, str> {
    replace_hidden(json, |character| match character {
        // Outside strings only; inside strings they are already escaped.
        '\t' | '\n' | '\r' => None,
        hidden if is_hidden(hidden) => {
            let mut units = [0; 2];
            let units = hidden.encode_utf16(&mut units).iter();
            Some(Cow::Owned(units.map(|unit| format!("\\u{unit:04x}")).collect()))
        }
        _ => None,
    })
}

fn replace_hidden(text: &str, replacement: impl Fn(char) -> Option<Cow<'static, str>>) -> Cow<'_, str> {
    let Some(first) = text.char_indices().find(|(_, character)| replacement(*character).is_some()) else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at(first.0);
    let mut output = String::with_capacity(text.len() * 2);
    output.push_str(clean);
    for character in rest.chars() {
        match replacement(character) {
            Some(other) => output.push_str(&other),
            None => output.push(character),
        }
    }
    Cow::Owned(output)
}

/// Control characters (C0, DEL, C1), line and paragraph separators, all format characters of Unicode 16
/// (general category Cf: direction marks, zero widths, tags …; UAX #9, UTR #36), and noncharacters, which
/// HTML forbids.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
        || u32::from(character) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_or_hides_becomes_visible() {
        assert_eq!(
            visible("a\u{202e}b\u{0}c\u{9b}d\u{200b}\u{ffff}"),
            "a⟨U+202E⟩b⟨U+0000⟩c⟨U+009B⟩d⟨U+200B⟩⟨U+FFFF⟩"
        );
        assert_eq!(visible("one\r\ntwo\tthree"), "one  two three");
        assert_eq!(visible_lines("one\n\ttwo\r\u{1b}[31m"), "one\n\ttwo⟨U+000D⟩⟨U+001B⟩[31m");
        assert!(matches!(visible("日本 <b>\"& é"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_says_the_same_without_such_characters() {
        let value = serde_json::json!({"server": "a\u{9b}\u{202e}\u{e0041}\u{7f}\n\u{1b}"});
        let json = serde_json::to_string_pretty(&value).unwrap();
        let output = visible_json(&json);
        assert!(output.chars().all(|character| character == '\n' || !is_hidden(character)), "{output}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&output).unwrap(), value);
    }
}
