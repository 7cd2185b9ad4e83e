use super::area::Area;
use super::entry::{start_url, without_comment};
use crate::address::WebUrl;

/// The start URL that a text is beyond doubt: its host is an address, or ends with a top-level domain that is known. Forms of
/// lists are told by these.
pub(super) fn clear_start_url(text: &str, area: Option<&Area>) -> Option<WebUrl> {
    let url = start_url(text).ok()?;
    let is_clear = |area: &Area| {
        let is_known = url.host().ip().is_some() || area.suffixes.has_top_level(url.host());
        is_known && area.objection(text, &url).is_none()
    };
    area.is_none_or(is_clear).then_some(url)
}

/// The texts of several start URLs, where a text holds them and nothing else: names on one line, or in one cell.
///
/// A URL may have commas and bars in it. So without a blank only names are several, and URLs that are whole each; and without
/// an area, as surveys read the lists that they wrote, nothing is.
pub(super) fn several<'a>(text: &'a str, area: Option<&Area>) -> Option<Vec<&'a str>> {
    let text = without_comment(text);
    if area.is_none() || !text.contains(is_between) {
        return None;
    }
    let parts: Vec<&str> = parts(text).collect();
    let is_plain = text.contains(char::is_whitespace)
        || parts.iter().all(|part| part.contains("://"))
        || !parts.iter().any(|part| part.contains('/'));
    let is_list =
        parts.len() > 1 && is_plain && parts.iter().all(|part| clear_start_url(part, area).is_some());
    is_list.then_some(parts)
}

/// What stands between blanks, commas, semicolons and bars.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    without_comment(text).split(is_between).filter(|part| !part.is_empty())
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '|')
}
