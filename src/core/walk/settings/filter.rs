use crate::address::{Target, UrlPattern, WebUrl};
use crate::settings::{Extension, NonHtml};

/// Decides by the URL alone which internal URLs are requested.
///
/// The start URL is always requested, and so are the targets of its redirects: the user wants that site.
///
/// ```
/// use ccsurvey_address::WebUrl;
/// use ccsurvey_core::{settings::NonHtml, walk::Filter};
/// let filter = Filter { exclude: vec!["/shop/*.php".parse().unwrap()], ..Filter::default() };
/// let excludes = |url| filter.excludes(&WebUrl::parse(url).unwrap());
/// assert!(excludes("http://a.ke/report.PDF") && excludes("http://www.a.ke/shop/x.php?id=1"));
/// assert!(!excludes("http://a.ke/report.html") && !excludes("http://a.ke/get.php?file=report.pdf"));
/// let filter = Filter { non_html: NonHtml::Get, ..Filter::default() };
/// assert!(!filter.excludes(&WebUrl::parse("http://a.ke/report.pdf").unwrap()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The treatment of URLs that do not look like HTML.
    pub non_html: NonHtml,
    /// File name extensions that do not look like HTML.
    pub non_html_extensions: Vec<Extension>,
    /// URLs that match one of these are left out.
    pub exclude: Vec<UrlPattern>,
    /// If there are any, URLs that match none of these are left out.
    pub include: Vec<UrlPattern>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            non_html: NonHtml::default(),
            non_html_extensions: Extension::usual(),
            exclude: Vec::new(),
            include: Vec::new(),
        }
    }
}

impl Filter {
    /// Whether the filter excludes the URL.
    #[must_use]
    pub fn excludes(&self, url: &WebUrl) -> bool {
        (self.non_html == NonHtml::Skip && self.does_not_look_like_html(url))
            || (!self.exclude.is_empty() && matches_any(&self.exclude, url))
            || (!self.include.is_empty() && !matches_any(&self.include, url))
    }

    /// Whether a HEAD request must first find out whether the URL is HTML.
    #[must_use]
    pub fn needs_head(&self, url: &WebUrl) -> bool {
        self.non_html == NonHtml::Head && self.does_not_look_like_html(url)
    }

    fn does_not_look_like_html(&self, url: &WebUrl) -> bool {
        extension(url.path())
            .is_some_and(|found| self.non_html_extensions.iter().any(|extension| extension.is(found)))
    }
}

fn matches_any(patterns: &[UrlPattern], url: &WebUrl) -> bool {
    let target = Target::new(url.target());
    patterns.iter().any(|pattern| pattern.matches(url, &target))
}

/// The extension of the file name in a path, without path parameters. A name whose only dot is its first
/// character has none.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?.split(';').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty()).then_some(extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    #[test]
    fn the_ending_of_the_file_name_tells_whatever_its_case() {
        let found = |path| extension(path);
        assert_eq!(found("/a/b.tar.GZ"), Some("GZ"));
        assert_eq!(found("/a.pdf;v=1"), Some("pdf"));
        assert_eq!(found("/a.pdf/"), None);
        assert_eq!(found("/.png"), None);
        assert_eq!(found("/v1.2/about"), None);
        let filter = Filter::default();
        assert!(filter.excludes(&url("http://a.ke/x.JPG")) && filter.excludes(&url("http://a.ke/x.css?v=3")));
        for page in ["/x.html", "/x.php", "/x", "/x.aspx", "/x.xml", "/x.ke", "/x?y=z.pdf", "/x.pdf/view"] {
            assert!(!filter.excludes(&url(&format!("http://a.ke{page}"))), "{page}");
        }
    }

    #[test]
    fn where_something_is_included_all_else_is_left_out() {
        let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let filter = Filter {
            include: patterns(&["/en/", "/sw/"]),
            exclude: patterns(&["/en/old/"]),
            ..Filter::default()
        };
        let excludes = |path: &str| filter.excludes(&url(&format!("http://a.ke{path}")));
        assert!(!excludes("/en/1") && !excludes("/sw/1"));
        assert!(excludes("/fr/1") && excludes("/en/old/1") && excludes("/en/1.pdf"));
    }
}
