/// Whether a body of this `Content-Type` is read for links.
///
/// A missing type counts as HTML: it comes from servers too simple to send one.
///
/// ```
/// use ccsurvey::page::is_html;
/// assert!(is_html(Some("Text/HTML; charset=utf-8")));
/// assert!(is_html(None));
/// assert!(!is_html(Some("application/pdf")));
/// ```
#[must_use]
pub fn is_html(content_type: Option<&str>) -> bool {
    let essence = content_type.map_or("", essence);
    essence.is_empty() || essence.eq_ignore_ascii_case("text/html") || is_xhtml(content_type)
}

/// Whether the document is XML, in which a self-closed tag has no content.
pub(super) fn is_xhtml(content_type: Option<&str>) -> bool {
    content_type.is_some_and(|value| essence(value).eq_ignore_ascii_case("application/xhtml+xml"))
}

/// Type and subtype, without parameters and without what a repeated header adds after a comma.
fn essence(content_type: &str) -> &str {
    content_type.split([';', ',']).next().unwrap_or("").trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_and_xhtml_are_pages_in_any_case_and_with_any_parameters() {
        for html in
            ["text/html", "TEXT/HTML", " text/html ;x=y", "application/xhtml+xml; a", "text/html, text/html"]
        {
            assert!(is_html(Some(html)), "{html}");
        }
        for other in ["text/plain", "image/png", "application/xml", "text/htmlx", "html"] {
            assert!(!is_html(Some(other)), "{other}");
        }
    }

    #[test]
    fn a_missing_or_empty_type_counts_as_html() {
        assert!(is_html(None));
        assert!(is_html(Some("")));
        assert!(is_html(Some("; charset=utf-8")));
    }
}
