use std::borrow::Cow;
use std::cell::OnceCell;

use super::url::guard;
use super::{MAX_URL_BYTES, UrlError, WebUrl};

/// Turns a query into bytes of the page's charset, as browsers do (WHATWG URL §4.1).
pub type QueryEncoder<'a> = &'a dyn Fn(&str) -> Cow<'_, [u8]>;

/// What the references of a page are resolved against: its own URL, or that of its `base`.
///
/// ```
/// use ccsurvey::address::{Base, WebUrl};
/// let page = WebUrl::parse("http://example.ke/news/today?page=2").unwrap();
/// let base = Base::of(page);
/// assert_eq!(base.join("../about/", None).unwrap().as_str(), "http://example.ke/about/");
/// assert_eq!(base.join("//other.ke", None).unwrap().as_str(), "http://other.ke/");
/// ```
pub struct Base {
    url: WebUrl,
    /// Parsed when the first reference asks for it.
    parsed: OnceCell<Result<::url::Url, UrlError>>,
    /// Where the path begins.
    root: usize,
    /// Behind the last slash of the path.
    folder: usize,
}

impl Base {
    /// Makes a URL ready for many references.
    #[must_use]
    pub fn of(url: WebUrl) -> Self {
        let root = url.path_start();
        let folder = root + url.path().rfind('/').map_or(0, |last| last + 1);
        Self { url, parsed: OnceCell::new(), root, folder }
    }

    /// Resolves a reference, its query in the page's charset if that is not UTF-8.
    ///
    /// # Errors
    /// When the reference leads to no `http` or `https` URL.
    pub fn join(&self, reference: &str, encoder: Option<QueryEncoder<'_>>) -> Result<WebUrl, UrlError> {
        if let Some(url) = self.join_plain(reference) {
            return Ok(url);
        }
        let base = self.parsed.get_or_init(|| self.url.parsed()).as_ref().map_err(|wrong| *wrong)?;
        let options = ::url::Url::options().base_url(Some(base)).encoding_override(encoder);
        WebUrl::check(options.parse(guard(reference)?), Some(self.url.host()))
    }

    /// Resolves a reference that parsing leaves as it is spelled: most are the path of a file, from here, from folders
    /// above or from the root.
    fn join_plain(&self, reference: &str) -> Option<WebUrl> {
        let text = self.url.as_str();
        let (mut folder, mut path) = (self.folder, reference);
        if let Some(from_root) = path.strip_prefix('/') {
            (folder, path) = (self.root + 1, from_root);
        }
        while let Some(from_above) = path.strip_prefix("../") {
            path = from_above;
            // There is nothing above the root.
            folder = text[self.root..folder - 1].rfind('/').map_or(self.root, |slash| self.root + slash) + 1;
        }
        let bytes = folder + path.len();
        // With nothing but a query it is the page's own path.
        let is_path = !reference.is_empty() && !reference.starts_with('?');
        (is_path && bytes <= MAX_URL_BYTES && is_plain_path(path)).then(|| {
            let mut url = String::with_capacity(bytes);
            url.push_str(&text[..folder]);
            url.push_str(path);
            WebUrl::of_parts(url, self.url.host().clone())
        })
    }
}

/// Whether a path without a slash before it, and with a query or without, says nothing but names: no folder here or
/// above (`.`, `..`), and no letter that is encoded or has a meaning of its own.
fn is_plain_path(reference: &str) -> bool {
    let (path, query) = reference.split_once('?').unwrap_or((reference, ""));
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~' | b',' | b'+');
    let mut is_first = true;
    let mut goes_on = |byte: &u8| {
        let was_first = std::mem::replace(&mut is_first, *byte == b'/');
        is_name(byte) || *byte == b'/' || *byte == b'.' && !was_first
    };
    path.as_bytes().iter().all(&mut goes_on)
        && !path.starts_with('/')
        && query.bytes().all(|byte| is_name(&byte) || matches!(byte, b'.' | b'/' | b'=' | b'&' | b';'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASES: [&str; 9] = [
        "http://a.ke/",
        "https://a.ke/b",
        "http://a.ke:8080/b/c/d.html?e/f",
        "http://a.ke//",
        "http://a.ke/b//c//",
        "http://a.ke/%7eb/c;d/?",
        "http://[2001:db8::1]/x/y",
        "http://[::ffff:1.2.3.4]:81/x/y",
        "http://10.0.0.1/%E3%81%82/",
    ];

    fn base(text: &str) -> Base {
        Base::of(WebUrl::parse(text).unwrap())
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
        let room = MAX_URL_BYTES - "http://a.ke/".len();
        assert_eq!(base.join(&"x".repeat(room), None).unwrap().as_str().len(), MAX_URL_BYTES);
        assert_eq!(base.join(&"x".repeat(room + 1), None), Err(UrlError::TooLong));
    }

    proptest! {
        #[test]
        fn any_reference_leads_where_parsing_leads(
            url in prop::sample::select(&BASES[..]),
            reference in "(/|//|\\?|\\.\\./){0,3}([a-z~+,]|[.]|/|[?]|[=&;%#: \t\\\\@]){0,12}",
        ) {
            let url = WebUrl::parse(url).unwrap();
            prop_assert_eq!(Base::of(url.clone()).join(&reference, None), url.join(&reference));
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
