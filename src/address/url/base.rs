use std::cell::OnceCell;

use super::parsed::{MAX_URL_BYTES, Parsed, QueryEncoder, UrlError};
use crate::WebUrl;

/// The base URL against which the references of a page are resolved: the URL of the page, or that of its
/// `base` element.
///
/// ```
/// use ccsurvey_address::{Base, WebUrl};
/// let page = WebUrl::parse("http://example.ke/news/today?page=2").unwrap();
/// let base = Base::new(page);
/// assert_eq!(base.join("../about/", None).unwrap().as_str(), "http://example.ke/about/");
/// assert_eq!(base.join("//other.ke", None).unwrap().as_str(), "http://other.ke/");
/// ```
pub struct Base {
    /// None if the page's `base` element leads to no Web page.
    url: Option<WebUrl>,
    /// Parsed when the first reference needs it.
    parsed: OnceCell<Result<Parsed, UrlError>>,
    /// Index at which the path begins.
    root: usize,
    /// Index after the last slash of the path.
    folder: usize,
}

impl Base {
    /// Prepares a URL for many references.
    #[must_use]
    pub fn new(url: WebUrl) -> Self {
        let root = url.path_start();
        let folder = root + url.path().rfind('/').map_or(0, |last| last + 1);
        Self { url: Some(url), parsed: OnceCell::new(), root, folder }
    }

    /// The base URL that a document's `base` element makes of the base URL without it (WHATWG HTML §4.2.3).
    /// It need not be a Web page (`file:`, a port that browsers refuse): then only absolute references lead
    /// anywhere.
    ///
    /// # Errors
    /// When the `href` is not a URL, or has a scheme that browsers ignore in a `base`.
    ///
    /// ```
    /// use ccsurvey_address::{Base, UrlError, WebUrl};
    /// let page = Base::new(WebUrl::parse("http://example.ke/").unwrap());
    /// let base = page.with_href("file:///C:/My Web/").unwrap();
    /// assert_eq!(base.join("a.html", None), Err(UrlError::NotWeb));
    /// assert_eq!(base.join("http://example.ke/a", None).unwrap().as_str(), "http://example.ke/a");
    /// ```
    pub fn with_href(&self, href: &str) -> Result<Self, UrlError> {
        let read = || Parsed::read(href, Some(self.parsed()?), None);
        let parsed = read()?;
        if parsed.is_no_base() {
            return Err(UrlError::NotWeb);
        }
        Ok(match WebUrl::check(parsed, None) {
            Ok(url) => Self::new(url),
            Err(_) => Self {
                url: None,
                parsed: read().map(|parsed| OnceCell::from(Ok(parsed)))?,
                root: 0,
                folder: 0,
            },
        })
    }

    /// Whether relative references lead to Web pages.
    #[must_use]
    pub fn is_web(&self) -> bool {
        self.url.is_some()
    }

    fn parsed(&self) -> Result<&Parsed, UrlError> {
        let parse = || self.url.as_ref().ok_or(UrlError::NotWeb)?.parsed();
        self.parsed.get_or_init(parse).as_ref().map_err(|error| *error)
    }

    /// Resolves a reference; its query is encoded in the page's charset if that is not UTF-8.
    ///
    /// # Errors
    /// When the reference does not lead to an `http` or `https` URL.
    pub fn join(&self, reference: &str, encoder: Option<QueryEncoder<'_>>) -> Result<WebUrl, UrlError> {
        if let Some(url) = self.join_plain(reference) {
            return Ok(url);
        }
        let parsed = Parsed::read(reference, Some(self.parsed()?), encoder)?;
        WebUrl::check(parsed, self.url.as_ref().map(WebUrl::host))
    }

    /// Resolves a reference that parsing would leave unchanged. Most references are the path of a file,
    /// relative to this folder, to a folder above or to the root.
    fn join_plain(&self, reference: &str) -> Option<WebUrl> {
        let url = self.url.as_ref()?;
        let text = url.as_str();
        let (mut folder, mut path) = (self.folder, reference);
        if let Some(from_root) = path.strip_prefix('/') {
            (folder, path) = (self.root + 1, from_root);
        }
        while let Some(from_above) = path.strip_prefix("../") {
            path = from_above;
            // The root has no parent.
            folder = text[self.root..folder - 1].rfind('/').map_or(self.root, |slash| self.root + slash) + 1;
        }
        let bytes = folder + path.len();
        // A reference that is only a query keeps the page's own path.
        let is_path = !reference.is_empty() && !reference.starts_with('?');
        (is_path && bytes <= MAX_URL_BYTES && is_plain_path(path)).then(|| {
            let mut joined = String::with_capacity(bytes);
            joined.push_str(&text[..folder]);
            joined.push_str(path);
            WebUrl::from_parts(joined, url.host().clone())
        })
    }
}

/// Whether a path without a leading slash, with or without a query, consists of plain names: no dot segment
/// (`.`, `..`), and no character that is percent-encoded or has a special meaning.
fn is_plain_path(reference: &str) -> bool {
    let (path, query) = reference.split_once('?').unwrap_or((reference, ""));
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~' | b',' | b'+');
    let mut is_first = true;
    let mut is_path_byte = |byte: &u8| {
        let was_first = std::mem::replace(&mut is_first, *byte == b'/');
        is_name(byte) || *byte == b'/' || *byte == b'.' && !was_first
    };
    path.as_bytes().iter().all(&mut is_path_byte)
        && !path.starts_with('/')
        && query.bytes().all(|byte| is_name(&byte) || matches!(byte, b'.' | b'/' | b'=' | b'&' | b';'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASES: [&str; 10] = [
        "http://a.ke/",
        "https://a.ke/b",
        "http://a.ke:8080/b/c/d.html?e/f",
        "http://a.ke//",
        "http://a.ke/b//c//",
        "http://a.ke/%7eb/c;d/?",
        "http://[2001:db8::1]/x/y",
        "http://[::ffff:1.2.3.4]:81/x/y",
        "http://10.0.0.1/%E3%81%82/",
        "http://xn--a.ke:81/x/y",
    ];

    fn base(text: &str) -> Base {
        Base::new(WebUrl::parse(text).unwrap())
    }

    #[test]
    fn a_plain_reference_is_what_parsing_says_it_is() {
        let base = base("http://a.ke/b/c/d.html?e");
        for (reference, url) in [
            ("x.html", "http://a.ke/b/c/x.html"),
            ("x/y.html?z=1&w", "http://a.ke/b/c/x/y.html?z=1&w"),
            ("../x", "http://a.ke/b/x"),
            ("../../../../x", "http://a.ke/x"),
            ("../", "http://a.ke/b/"),
            ("/", "http://a.ke/"),
            ("/../x", "http://a.ke/x"),
            ("/x//y/", "http://a.ke/x//y/"),
        ] {
            assert_eq!(base.join_plain(reference).unwrap().as_str(), url, "{reference}");
        }
        for other in [
            "",
            "?x",
            "#x",
            "./x",
            "x/../y",
            "x/.",
            "..",
            ".x",
            "//b.ke",
            "/../..//x",
            "x:y",
            "x%41",
            "x y",
            "x\\y",
        ] {
            assert!(base.join_plain(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_url_that_grows_too_long_is_refused() {
        let base = base("http://a.ke/");
        let free_bytes = MAX_URL_BYTES - "http://a.ke/".len();
        assert_eq!(base.join(&"x".repeat(free_bytes), None).unwrap().as_str().len(), MAX_URL_BYTES);
        assert_eq!(base.join(&"x".repeat(free_bytes + 1), None), Err(UrlError::TooLong));
    }

    proptest! {
        #[test]
        fn any_reference_leads_where_parsing_leads(
            url in prop::sample::select(&BASES[..]),
            reference in "(/|//|\\?|\\.\\./){0,3}([a-z~+,]|[.]|/|[?]|[=&;%#: \t\\\\@]){0,12}",
        ) {
            let url = WebUrl::parse(url).unwrap();
            prop_assert_eq!(Base::new(url.clone()).join(&reference, None), url.join(&reference));
        }

        #[test]
        fn most_plain_references_are_not_parsed(reference in "(\\.\\./){0,3}([a-z0-9]{1,5}/){0,3}[a-z0-9]{1,5}\\.html") {
            prop_assert!(base(BASES[2]).join_plain(&reference).is_some());
        }

        #[test]
        fn a_url_read_from_disk_is_the_one_that_was_written(
            base in prop::sample::select(&BASES[..]),
            reference in "[ -~]{0,30}",
        ) {
            if let Ok(url) = WebUrl::parse(base).unwrap().join(&reference) {
                let read: WebUrl = serde_json::from_value(serde_json::to_value(&url).unwrap()).unwrap();
                prop_assert_eq!(read.page_key(), url.page_key());
                prop_assert_eq!(read, url);
            }
        }
    }
}
