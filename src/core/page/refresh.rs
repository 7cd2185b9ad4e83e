/// The target of `<meta http-equiv=refresh>`, from its `content`, or of a header `Refresh` (WHATWG HTML
/// §4.2.5.3, shared declarative refresh steps); none if it only reloads the page or is invalid.
pub(super) fn target(content: &str) -> Option<&str> {
    let rest = after_seconds(content.trim_ascii_start())?.trim_ascii_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii_start();
    if rest.is_empty() {
        return None;
    }
    Some(match after_url_equals(rest) {
        UrlPrefix::Whole(rest) => unquoted(rest),
        UrlPrefix::Broken => rest,
        UrlPrefix::Absent => unquoted(rest),
    })
}

/// The text after the seconds, if there are any and the character after them is allowed.
fn after_seconds(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == text.len() && !rest.starts_with('.') {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_terminated =
        rest.is_empty() || rest.starts_with(|c: char| matches!(c, ';' | ',') || c.is_ascii_whitespace());
    is_terminated.then_some(rest)
}

/// Whether a text begins with `url=`.
enum UrlPrefix<'a> {
    Whole(&'a str),
    /// It begins like this, but is itself a URL (`urls.html`).
    Broken,
    Absent,
}

fn after_url_equals(text: &str) -> UrlPrefix<'_> {
    let Some(rest) = text.strip_prefix(['u', 'U']) else {
        return UrlPrefix::Absent;
    };
    let rest = rest.strip_prefix(['r', 'R']).and_then(|rest| rest.strip_prefix(['l', 'L']));
    match rest.and_then(|rest| rest.trim_ascii_start().strip_prefix('=')) {
        Some(rest) => UrlPrefix::Whole(rest.trim_ascii_start()),
        None => UrlPrefix::Broken,
    }
}

/// The text within its quotes; the closing one may be missing.
fn unquoted(text: &str) -> &str {
    for quote in ['\'', '"'] {
        if let Some(rest) = text.strip_prefix(quote) {
            return rest.split(quote).next().unwrap_or(rest);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_that_browsers_follow_leads_there() {
        for content in [
            "0;url=x",
            "5; URL='x'",
            "5;url=\"x\" junk",
            "5,x",
            "5 x",
            "  0.5 ; Url = x",
            ".5;x",
            "1;'x'",
            "0;url='x",
        ] {
            assert_eq!(target(content), Some("x"), "{content}");
        }
        assert_eq!(target("0;urls.html"), Some("urls.html"));
        assert_eq!(target("0;url x"), Some("url x"));
        assert_eq!(target("0;u"), Some("u"));
    }

    #[test]
    fn a_reload_or_nonsense_leads_nowhere() {
        for content in ["", "5", "5;", " 5 , ", "url=x", "-1;url=x", "5x;url=x", ";x"] {
            assert_eq!(target(content), None, "{content}");
        }
    }

    #[test]
    fn a_header_adds_a_link_that_is_seen_from_the_page_itself() {
        use super::super::{Element, Page, Source};
        use crate::address::WebUrl;

        let url = WebUrl::parse("http://a.ke/b/").unwrap();
        let links = |body: &str, header| {
            let source = Source { body: body.as_bytes(), url: &url, content_type: None, robots_tag: None };
            let links = Page::read(source).refreshed_by(header, &url).links;
            links
                .iter()
                .map(|link| (link.url.as_str().to_owned(), link.element, link.nofollow))
                .collect::<Vec<_>>()
        };
        let meta = |url: &str| (url.to_owned(), Element::Meta, false);
        assert_eq!(links("<base href=/c/>", Some("0; url=home")), [meta("http://a.ke/b/home")]);
        assert_eq!(links("", Some("5, URL='http://b.ke/'")), [meta("http://b.ke/")]);
        let known = links("<a href=home rel=nofollow>x</a>", Some("0;home"));
        assert_eq!(known, [("http://a.ke/b/home".to_owned(), Element::A, false)]);
        for nowhere in [None, Some("5"), Some("url=/x"), Some("0; url=mailto:a@b.ke")] {
            assert_eq!(links("", nowhere), [], "{nowhere:?}");
        }
    }

    #[test]
    fn an_empty_url_is_the_page_itself() {
        assert_eq!(target("5;url="), Some(""));
    }
}
