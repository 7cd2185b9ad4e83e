use super::charset::Charset;
use super::{Page, Source};

impl Page {
    /// Drops the links of a page that contains one of these `words`, and records which: the first of them
    /// that occurs anywhere in its text or markup, ignoring case. White space must match exactly.
    ///
    /// ```
    /// use ccsurvey_address::WebUrl;
    /// use ccsurvey_core::page::{Page, Source};
    /// let url = WebUrl::parse("http://example.ke/").unwrap();
    /// let body = b"<h1>This Domain Is For Sale</h1> <a href=/buy>Buy</a>";
    /// let source = Source { body, url: &url, content_type: Some("text/html"), robots_tag: None };
    /// let page = Page::read(source).exclude_if_contains(&["for sale".to_owned()], source);
    /// assert_eq!((page.excluded_by.as_deref(), page.links.len()), (Some("for sale"), 0));
    /// ```
    #[must_use]
    pub fn exclude_if_contains(self, words: &[String], source: Source<'_>) -> Self {
        match first_contained(words, source) {
            Some(words) => Self { links: Vec::new(), excluded_by: Some(words.clone()), ..self },
            None => self,
        }
    }
}

fn first_contained<'a>(words: &'a [String], source: Source<'_>) -> Option<&'a String> {
    if words.is_empty() {
        return None;
    }
    let charset = Charset::settle(source, source.is_xml());
    let (text, _) = charset.encoding.decode_without_bom_handling(&source.body[charset.bom_bytes..]);
    let text = text.to_lowercase();
    words.iter().find(|words| text.contains(&words.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::WebUrl;

    fn match_in(words: &str, body: &[u8], content_type: &str) -> Option<String> {
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let source = Source { body, url: &url, content_type: Some(content_type), robots_tag: None };
        Page::read(source)
            .exclude_if_contains(&["no such words".to_owned(), words.to_owned()], source)
            .excluded_by
    }

    #[test]
    fn words_are_found_in_any_charset_and_case() {
        let words = "\u{58f2}\u{308a}\u{307e}\u{3059}";
        let (body, _, _) = encoding_rs::SHIFT_JIS.encode(words);
        assert_eq!(match_in(words, &body, "text/html; charset=shift_jis").as_deref(), Some(words));
        assert_eq!(
            match_in("\u{e9}TAT", b"l'\xc9tat", "text/html; charset=iso-8859-1").as_deref(),
            Some("\u{e9}TAT")
        );
        assert_eq!(
            match_in("generator", b"<META name=Generator>", "text/html").as_deref(),
            Some("generator")
        );
        assert_eq!(match_in("sale", b"salt", "text/html"), None);
    }

    #[test]
    fn only_a_page_that_says_one_of_them_loses_its_links() {
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let source = Source { body: b"<a href=x>y</a>", url: &url, content_type: None, robots_tag: None };
        let page = Page::read(source);
        assert_eq!(page.clone().exclude_if_contains(&["sale".to_owned()], source), page);
        assert_eq!(page.clone().exclude_if_contains(&[], source), page);
        let excluded = page.clone().exclude_if_contains(&["href=X".to_owned()], source);
        assert_eq!(excluded, Page { links: Vec::new(), excluded_by: Some("href=X".to_owned()), ..page });
    }
}
