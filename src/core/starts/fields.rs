use std::borrow::Cow;
use std::fmt;

/// The number of lines that a cell of a spreadsheet may have.
pub(super) const MOST_CELL_LINES: usize = 20;

/// The separator between two columns.
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
    /// Those that a header can reveal, in the order of preference.
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

/// A line that is divided by a separator.
#[derive(Default)]
pub(super) struct DividedLine<'a> {
    /// The fields without their quotes (RFC 4180).
    pub fields: Vec<Cow<'a, [u8]>>,
    /// A quote is still open at the end of the line.
    pub is_open: bool,
    /// There is text between a closing quote and the next separator that belongs to no field.
    pub has_rest: bool,
}

/// The fields of a line; the second value is whether a quote is still open at its end.
pub(super) fn split(line: &[u8], separator: Separator) -> (Vec<Cow<'_, [u8]>>, bool) {
    let DividedLine { fields, is_open, .. } = divided(line, separator);
    (fields, is_open)
}

pub(super) fn divided(line: &[u8], separator: Separator) -> DividedLine<'_> {
    let Some(byte) = separator.byte() else {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        return DividedLine { fields: words.map(Cow::Borrowed).collect(), ..DividedLine::default() };
    };
    let mut row = DividedLine::default();
    let mut rest = line;
    loop {
        let begins = rest.iter().position(|byte| *byte != b' ').unwrap_or(0);
        if rest.get(begins) != Some(&b'"') {
            let end = rest.iter().position(|found| *found == byte);
            row.fields.push(Cow::Borrowed(&rest[..end.unwrap_or(rest.len())]));
            match end {
                Some(end) => rest = &rest[end + 1..],
                None => return row,
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
                    row.fields.push(Cow::Owned(value));
                    row.is_open = true;
                    return row;
                }
            }
        }
        let end = rest[at..].iter().position(|found| *found == byte);
        let after_quote = &rest[at + 1..end.map_or(rest.len(), |end| at + end)];
        row.has_rest |= !after_quote.trim_ascii().is_empty();
        row.fields.push(Cow::Owned(value));
        match end {
            Some(end) => rest = &rest[at + end + 1..],
            None => return row,
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
        for (line, has_rest) in
            [("\"a\" ,b", false), ("\"a\"", false), ("\"a\" x", true), ("1,\"a\";2,b", true)]
        {
            assert_eq!(divided(line.as_bytes(), Separator::Comma).has_rest, has_rest, "{line}");
        }
    }
}
