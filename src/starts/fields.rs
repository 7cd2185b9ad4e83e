use std::borrow::Cow;
use std::fmt;

/// Lines that a cell of a spreadsheet may have.
pub(super) const MOST_CELL_LINES: usize = 20;

/// What stands between two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// `\t`
    Tab,
    /// `;`
    Semicolon,
    /// `,`
    Comma,
    /// `|`
    Bar,
    /// Any number of spaces and tabs.
    Blanks,
}

impl Separator {
    /// Those that can be told by a header, in the order of preference.
    pub(super) const BYTES: [Self; 4] = [Self::Tab, Self::Semicolon, Self::Comma, Self::Bar];
    pub(super) const EVERY: [Self; 5] = [Self::Tab, Self::Semicolon, Self::Comma, Self::Bar, Self::Blanks];

    pub(super) fn byte(self) -> Option<u8> {
        match self {
            Self::Tab => Some(b'\t'),
            Self::Semicolon => Some(b';'),
            Self::Comma => Some(b','),
            Self::Bar => Some(b'|'),
            Self::Blanks => None,
        }
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tab => "tabs",
            Self::Semicolon => "semicolons",
            Self::Comma => "commas",
            Self::Bar => "bars",
            Self::Blanks => "blanks",
        })
    }
}

/// The fields of a line, quotes taken off (RFC 4180); the second is whether a quote is still open at its end.
pub(super) fn split(line: &[u8], separator: Separator) -> (Vec<Cow<'_, [u8]>>, bool) {
    let Some(byte) = separator.byte() else {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        return (words.map(Cow::Borrowed).collect(), false);
    };
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let begins = rest.iter().position(|byte| *byte != b' ').unwrap_or(0);
        if rest.get(begins) != Some(&b'"') {
            let end = rest.iter().position(|found| *found == byte);
            fields.push(Cow::Borrowed(&rest[..end.unwrap_or(rest.len())]));
            match end {
                Some(end) => rest = &rest[end + 1..],
                None => return (fields, false),
            }
            continue;
        }
        let mut value = Vec::new();
        let mut at = begins + 1;
        loop {
            match (rest.get(at), rest.get(at + 1)) {
                (Some(b'"'), Some(b'"')) => {
                    value.push(b'"');
                    at += 2;
                }
                (Some(b'"'), _) => break,
                (Some(other), _) => {
                    value.push(*other);
                    at += 1;
                }
                (None, _) => {
                    fields.push(Cow::Owned(value));
                    return (fields, true);
                }
            }
        }
        // What follows a closing quote belongs to no field.
        let end = rest[at..].iter().position(|found| *found == byte);
        fields.push(Cow::Owned(value));
        match end {
            Some(end) => rest = &rest[at + end + 1..],
            None => return (fields, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str, separator: Separator) -> (Vec<String>, bool) {
        let (fields, is_open) = split(line.as_bytes(), separator);
        (fields.into_iter().map(|field| String::from_utf8(field.into_owned()).unwrap()).collect(), is_open)
    }

    #[test]
    fn fields_are_divided_outside_of_quotes() {
        let comma = |line| fields(line, Separator::Comma);
        assert_eq!(comma("1,a.ke,"), (vec!["1".into(), "a.ke".into(), String::new()], false));
        assert_eq!(comma("\"a \"\"b\"\", c\", d"), (vec!["a \"b\", c".into(), " d".into()], false));
        assert_eq!(comma("\"a\" x,b"), (vec!["a".into(), "b".into()], false));
        assert_eq!(comma("a,\"b"), (vec!["a".into(), "b".into()], true));
        assert_eq!(comma(""), (vec![String::new()], false));
        assert_eq!(fields("a;b,c", Separator::Semicolon), (vec!["a".into(), "b,c".into()], false));
        assert_eq!(fields("  7 \t a.ke ", Separator::Blanks), (vec!["7".into(), "a.ke".into()], false));
    }
}
