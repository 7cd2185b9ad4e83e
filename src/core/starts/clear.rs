use std::collections::HashSet;

use super::area::Area;
use super::entry::{is_wrapper, start_url, without_comment};
use crate::address::WebUrl;

pub(super) const SEVERAL: &str = "several names among other words: put each name on its own line";

/// The start URL of a text beyond doubt: its host is an address, or ends with a known top-level domain. The
/// forms of lists are detected by such URLs.
pub(super) fn clear_start_url(text: &str, area: Option<&Area>) -> Option<WebUrl> {
    let url = start_url(text).ok()?;
    area.is_none_or(|area| area.objection(&url).is_none()).then_some(url)
}

/// The texts of several start URLs, if a text holds them and nothing else: names on one line, or in one cell.
/// After a label one is enough.
///
/// A URL may contain commas and bars. So without blanks, only names, or URLs that are each complete, count as
/// several. Without an area, as for the lists that surveys write themselves, the result is none.
pub(super) fn list_values<'a>(text: &'a str, area: Option<&Area>) -> Option<Vec<&'a str>> {
    let text = without_comment(text);
    if area.is_none() || !text.contains(|c| is_separator(c) || c == '=') {
        return None;
    }
    let parts: Vec<&str> = parts(text).collect();
    let is_plain = text.contains(char::is_whitespace)
        || parts.iter().all(|part| part.contains("://"))
        || !parts.iter().any(|part| part.contains('/'));
    let is_enough = parts.len() > 1 || parts.len() == 1 && without_label(text).is_some();
    let is_list = is_enough && is_plain && parts.iter().all(|part| clear_start_url(part, area).is_some());
    is_list.then_some(parts)
}

/// The parts of a text between blanks, commas, semicolons and bars, without the words and marks that only
/// join them to a list.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let text = without_comment(text);
    let text = without_label(text).unwrap_or(text);
    // Next to other separators `y` is a value, and no word of Spanish.
    let is_prose = !text.contains(['\t', ';', '|']);
    text.split(is_separator)
        .filter(move |part| !(part.is_empty() || is_joint(part) || is_prose && AND.contains(part)))
}

/// The number of names of different sites in a text, whatever else it contains: all but one would be lost if
/// only one were taken.
pub(super) fn names_in(text: &str, area: Option<&Area>) -> usize {
    let Some(area) = area else { return 0 };
    let is_mark = |c: char| is_separator(c) || is_wrapper(c) || "[](){}=".contains(c);
    let words =
        without_comment(text).split(is_mark).map(|word| word.trim_matches(|c: char| ".:!?-*".contains(c)));
    let urls = words.filter_map(|word| clear_start_url(word, Some(area)));
    let names = urls.filter(|url| url.host().ip().is_none());
    names.map(|url| area.site_of(&url)).collect::<HashSet<_>>().len()
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '|' | '\u{3001}' | '\u{60c}' | '\u{ff0c}')
}

/// Whether it consists of brackets and other marks that occur in lists.
fn is_joint(part: &str) -> bool {
    part.chars().all(|c| "[](){}/&+\u{2022}\u{b7}".contains(c))
}

/// Words for *and* and *or*.
const AND: [&str; 16] =
    ["and", "or", "und", "oder", "sowie", "et", "ou", "y", "o", "e", "en", "of", "na", "au", "и", "و"];

/// The longest label before what it describes.
const MOST_LABEL_CHARS: usize = 40;

/// A label, and the text after it: `domain` and `a.ke` of `domain: a.ke`.
pub(super) fn label_of(text: &str) -> Option<(&str, &str)> {
    let rest = without_label(text)?;
    let label = text.split([':', '=']).next()?;
    Some((label.trim_matches(|c: char| !c.is_alphanumeric()), rest))
}

/// The text after a label: `Sites: a.ke, b.ke`, or `sites = ['a.ke', 'b.ke']`.
fn without_label(text: &str) -> Option<&str> {
    let at = text.find([':', '='])?;
    let (label, rest) = (&text[..at], &text[at + 1..]);
    let is_word = |c: char| c.is_alphanumeric() || c.is_whitespace() || "-_'\"".contains(c);
    let is_label = label.chars().take(MOST_LABEL_CHARS + 1).count() <= MOST_LABEL_CHARS
        && label.chars().all(is_word)
        && label.contains(char::is_alphabetic);
    let is_apart = text[at..].starts_with('=') || rest.starts_with(char::is_whitespace);
    (is_label && is_apart).then(|| rest.trim_start()).filter(|rest| !rest.is_empty())
}
