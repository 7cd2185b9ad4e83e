//! CSV that people open in spreadsheets although some of its cells come from untrusted sources.

use std::borrow::Cow;

/// The first characters that make a spreadsheet run a cell as a formula (OWASP, *CSV Injection*). The
/// full-width forms have the same effect in Chinese, Japanese and Korean spreadsheets.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Characters that need quotes: the separators of RFC 4180, and those at which spreadsheets of other
/// languages split lines, so that no part of a cell becomes a cell of its own.
const QUOTED: [char; 6] = [',', '"', '\n', '\r', ';', '\t'];

/// Makes a text cell harmless in a spreadsheet: puts an apostrophe before text that would be a formula.
/// Numbers need none.
#[must_use]
pub fn disarmed(words: &str) -> Cow<'_, str> {
    if words.starts_with(FORMULA) { format!("'{words}").into() } else { words.into() }
}

/// Cells as a line of CSV (RFC 4180), without the line end.
pub fn csv_line<C: AsRef<str>>(cells: impl IntoIterator<Item = C>) -> String {
    let mut line = String::new();
    for (number, cell) in cells.into_iter().enumerate() {
        if number > 0 {
            line.push(',');
        }
        let cell = cell.as_ref();
        if cell.contains(QUOTED) {
            line.push('"');
            line.push_str(&cell.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(cell);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_would_be_a_formula_is_text() {
        for words in ["=cmd()", "+1", "-1", "@sum", "\t=1", "\r=1", "\n=1", "＝cmd()", "=hyperlink(\"x\").ke"]
        {
            assert_eq!(disarmed(words), format!("'{words}"));
        }
        for words in ["", "a.ke", "a-b.ke", "http://a.ke/=1", "'=1", " =1", "5", "–"] {
            assert_eq!(disarmed(words), words);
        }
    }

    #[test]
    fn a_cell_that_another_separator_would_divide_is_quoted() {
        assert_eq!(
            csv_line(["http://a.ke/x;=1+1", "a, b", "\"", "", "-5"]),
            "\"http://a.ke/x;=1+1\",\"a, b\",\"\"\"\",,-5"
        );
    }

    proptest! {
        #[test]
        fn any_cells_come_back(cells in prop::collection::vec("\\PC{0,9}|[,;\"\r\n\t=]{0,4}", 2..5)) {
            let line = csv_line(&cells);
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
            let read: Vec<String> = reader.records().next().unwrap().unwrap().iter().map(str::to_owned).collect();
            prop_assert_eq!(read, cells);
        }
    }
}
