use std::borrow::Cow;
use std::collections::BTreeMap;

use super::area::Area;
use super::clear::{clear_start_url, label_of};
use super::entry::is_unseen;
use super::error::StartError;

/// The number of labels in a message.
const MAX_LABELS_SHOWN: usize = 5;
/// The least number of lines that count as numbered.
const MIN_NUMBERED: usize = 3;

/// Refuses texts whose names are not a list of what to survey: labelled records, tables that a program printed
/// for people, and lines whose numbers would be read as a part of the names.
///
/// `content` is `lines` without comments and empty lines. Without an area, as for the lists that surveys write
/// themselves, nothing is refused.
pub(super) fn check_is_list(
    content: &[&[u8]],
    lines: &[&[u8]],
    area: Option<&Area>,
) -> Result<(), StartError> {
    if area.is_none() {
        return Ok(());
    }
    let texts: Vec<Cow<'_, str>> = content.iter().map(|line| String::from_utf8_lossy(line)).collect();
    let reason = labels(&texts, area)
        .or_else(|| numbers(&texts, area))
        .or_else(|| is_printed(lines).then(|| PRINTED.to_owned()));
    reason.map_or(Ok(()), |reason| Err(StartError::Column(reason)))
}

/// Lines that each label their content (`domain: a.ke`, `nserver: ns.b.ke`): they belong to records, of which
/// few values are meant.
fn labels(lines: &[Cow<'_, str>], area: Option<&Area>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (label, rest) in lines.iter().filter_map(|line| label_of(bare(line))) {
        if clear_start_url(rest, area).is_some() {
            *counts.entry(label.to_lowercase()).or_default() += 1;
        }
    }
    let labelled: usize = counts.values().sum();
    counts.retain(|_, count| *count > 1);
    if counts.len() < 2 || labelled * 2 < lines.len() {
        return None;
    }
    let shown_labels: Vec<String> =
        counts.keys().take(MAX_LABELS_SHOWN).map(|label| format!("'{}:'", label.escape_debug())).collect();
    Some(format!(
        "its lines have labels ({}): make a list of the values to survey, one URL or host name per line",
        shown_labels.join(", ")
    ))
}

/// Lines that are numbered without a blank: `1.a.ke`, `2.b.ke` and `3.c.ke` are also names in DNS.
fn numbers(lines: &[Cow<'_, str>], area: Option<&Area>) -> Option<String> {
    let is_numbered = |(at, line): &(usize, &Cow<'_, str>)| {
        let rest = bare(line).strip_prefix(&format!("{}.", at + 1));
        rest.is_some_and(|rest| clear_start_url(rest, area).is_some())
    };
    // A header names the content, and the numbers begin below it.
    let count = |lines: &[Cow<'_, str>]| lines.iter().enumerate().take_while(is_numbered).count();
    let numbered = count(lines).max(count(lines.get(1..).unwrap_or_default()));
    (numbered >= MIN_NUMBERED && numbered + 1 >= lines.len()).then(|| {
        "its lines are numbered, and the numbers would be read as a part of the names: remove them, or put a blank after each \
         ('1. a.ke')"
            .to_owned()
    })
}

const PRINTED: &str =
    "it is a table as R or pandas prints it, which may lack most of its rows: write the table as CSV";

/// Whether the lines have the marks of a table that R or pandas prints: `# A tibble: 3,400 × 2`, and below
/// the last row `[3400 rows x 2 columns]`.
fn is_printed(lines: &[&[u8]]) -> bool {
    let is_number = |word: &str| word.parse::<u64>().is_ok();
    let is_size = |line: &str| {
        let words = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).unwrap_or_default();
        matches!(words.split(' ').collect::<Vec<_>>()[..], [rows, "rows", "x", columns, "columns"]
            if is_number(rows) && is_number(columns))
    };
    lines.iter().any(|line| {
        let line = String::from_utf8_lossy(line);
        let line = bare(&line);
        line.starts_with("# A tibble:") || is_size(line)
    })
}

/// A line without the blanks and invisible marks around it.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || is_unseen(c))
}
