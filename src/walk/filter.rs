use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::address::{Host, WebUrl};
use crate::robots::{PathPattern, Target};

/// Which internal URLs are asked for, as far as a URL tells.
///
/// The start URL is always asked for, and so is what it redirects to: somebody wanted that site.
///
/// ```
/// use ccsurvey::{address::WebUrl, walk::{Filter, NonHtml}};
/// let filter = Filter { exclude: vec!["/shop/*.php".parse().unwrap()], ..Filter::default() };
/// let leaves_out = |url| filter.leaves_out(&WebUrl::parse(url).unwrap());
/// assert!(leaves_out("http://a.ke/report.PDF") && leaves_out("http://www.a.ke/shop/x.php?id=1"));
/// assert!(!leaves_out("http://a.ke/report.html") && !leaves_out("http://a.ke/get.php?file=report.pdf"));
/// let filter = Filter { non_html: NonHtml::Get, ..Filter::default() };
/// assert!(!filter.leaves_out(&WebUrl::parse("http://a.ke/report.pdf").unwrap()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// What becomes of URLs that look as if they were no HTML.
    pub non_html: NonHtml,
    /// The endings of file names that look so.
    pub non_html_extensions: Vec<Extension>,
    /// URLs that match one of these are left out.
    pub exclude: Vec<UrlPattern>,
    /// Where there are any, URLs that match none of these are left out.
    pub include: Vec<UrlPattern>,
}

/// What becomes of a URL that looks as if it were no HTML.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NonHtml {
    /// It is not asked for.
    #[default]
    Skip,
    /// HEAD asks what it is; if it is HTML after all, GET follows: two requests then.
    Head,
    /// It is asked for like any other; the body is broken off when its header says that it is no HTML.
    Get,
}

/// The ending of a file name, in lower case and without the dot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Extension(String);

/// URLs by host and path: `/shop/` on every host of a site, `blog.example.ke/2009/` on that host and those
/// below it, `example.ke` all of them. A host has a dot in it, so that `list` is an error. The path reads as in robots.txt (RFC 9309 §2.2.3): it is the beginning, `*` is
/// anything, `$` the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UrlPattern {
    text: String,
    host: Option<Host>,
    path: PathPattern,
}

/// Endings that are in use for what has no links to read: pictures, sound, films, archives, programs, fonts,
/// documents of office programs, styles, scripts and bare data. `xml` is not among them, for it may be XHTML.
pub const NON_HTML_EXTENSIONS: [&str; 99] = [
    "jpg", "jpeg", "jpe", "gif", "png", "bmp", "ico", "svg", "tif", "tiff", "webp", "avif", "heic",
    "psd", //
    "mp3", "ogg", "oga", "wav", "m4a", "wma", "ra", "ram", "mid", "midi", "aac", "flac", "amr",
    "opus", //
    "mp4", "mpg", "mpeg", "avi", "mov", "wmv", "flv", "webm", "mkv", "3gp", "m4v", "ogv", "swf", "asf",
    "rm", //
    "zip", "gz", "tgz", "bz2", "xz", "7z", "rar", "tar", "jar", "cab", "dmg", "iso", "exe", "msi",
    "deb", //
    "rpm", "apk", "bin", "torrent", "woff", "woff2", "ttf", "otf", "eot", "pdf", "doc", "docx", //
    "xls", "xlsx", "ppt", "pptx", "pps", "ppsx", "odt", "ods", "odp", "rtf", "ps", "eps", "ai", "epub",
    "mobi", //
    "djvu", "mdb", "vsd", "dwg", "css", "js", "mjs", "json", "csv", "sql", "kml", "kmz", "gpx", //
    "ics",
];

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
    /// Whether the URL is not to be asked for.
    #[must_use]
    pub fn leaves_out(&self, url: &WebUrl) -> bool {
        (self.non_html == NonHtml::Skip && self.looks_like_no_html(url))
            || (!self.exclude.is_empty() && matches_any(&self.exclude, url))
            || (!self.include.is_empty() && !matches_any(&self.include, url))
    }

    /// Whether HEAD is to ask first what the URL is.
    #[must_use]
    pub fn wants_head(&self, url: &WebUrl) -> bool {
        self.non_html == NonHtml::Head && self.looks_like_no_html(url)
    }

    fn looks_like_no_html(&self, url: &WebUrl) -> bool {
        extension(url.path()).is_some_and(|found| {
            self.non_html_extensions.iter().any(|Extension(word)| word.eq_ignore_ascii_case(found))
        })
    }
}

impl Extension {
    /// [`NON_HTML_EXTENSIONS`].
    #[must_use]
    pub fn usual() -> Vec<Self> {
        NON_HTML_EXTENSIONS.map(|word| Self(word.to_owned())).to_vec()
    }
}

impl FromStr for Extension {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = text.trim().trim_start_matches('.');
        let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_word.then(|| Self(word.to_ascii_lowercase())).ok_or_else(|| {
            format!("'{}' is no ending of file names (expected for example 'pdf')", text.escape_debug())
        })
    }
}

impl FromStr for UrlPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |expected: &str| {
            format!("'{}' is no pattern of URLs (expected for example {expected})", text.escape_debug())
        };
        let pattern = Self::parse(text.trim());
        let pattern = pattern.ok_or_else(|| wrong("'/shop/', '*/print$' or 'blog.example.ke/2009/'"))?;
        match pattern.lone_word() {
            Some(word) => Err(wrong(&format!("'*{word}*', '/{word}/' or '{word}.example.ke/'"))),
            None => Ok(pattern),
        }
    }
}

impl UrlPattern {
    fn parse(text: &str) -> Option<Self> {
        let (host, path) = Self::split(text);
        let host = if host.is_empty() && !text.is_empty() { None } else { Some(Host::parse(host).ok()?) };
        Some(Self { text: text.to_owned(), host, path: PathPattern::parse(path.as_bytes())? })
    }

    fn split(text: &str) -> (&str, &str) {
        text.find(['/', '*']).map_or((text, "/"), |at| text.split_at(at))
    }

    /// What stands where a host does and is none that a survey meets: `list`, `shop/`, `2009/`. Who writes that
    /// means a part of the path, and a pattern that matches nothing would be obeyed in silence.
    fn lone_word(&self) -> Option<&str> {
        let (host, _) = Self::split(&self.text);
        (!host.is_empty() && !host.contains(['.', '['])).then_some(host)
    }

    fn matches(&self, url: &WebUrl, target: &Target) -> bool {
        self.host.as_ref().is_none_or(|host| url.host().is_at_or_below(host)) && self.path.matches(target)
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for UrlPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<UrlPattern> for String {
    fn from(pattern: UrlPattern) -> Self {
        pattern.text
    }
}

impl TryFrom<String> for Extension {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Extension> for String {
    fn from(extension: Extension) -> Self {
        extension.0
    }
}

fn matches_any(patterns: &[UrlPattern], url: &WebUrl) -> bool {
    let target = Target::of(url.target());
    patterns.iter().any(|pattern| pattern.matches(url, &target))
}

/// The ending of the file name in a path, path parameters left out. A name that begins with its only dot has none.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?.split(';').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty()).then_some(extension)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        assert!(
            filter.leaves_out(&url("http://a.ke/x.JPG")) && filter.leaves_out(&url("http://a.ke/x.css?v=3"))
        );
        for page in ["/x.html", "/x.php", "/x", "/x.aspx", "/x.xml", "/x.ke", "/x?y=z.pdf", "/x.pdf/view"] {
            assert!(!filter.leaves_out(&url(&format!("http://a.ke{page}"))), "{page}");
        }
    }

    #[test]
    fn no_extension_is_listed_twice_or_could_not_be_compared() {
        let distinct: std::collections::BTreeSet<_> = NON_HTML_EXTENSIONS.into_iter().collect();
        assert_eq!(distinct.len(), NON_HTML_EXTENSIONS.len());
        assert!(
            distinct
                .iter()
                .all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
        );
        assert!(
            !distinct.iter().any(|word| ["html", "htm", "php", "asp", "aspx", "jsp", "xml"].contains(word))
        );
    }

    #[test]
    fn patterns_are_paths_of_robots_txt_on_all_hosts_or_on_one_and_those_below() {
        let matches = |pattern: &str, text: &str| {
            let url = url(text);
            pattern.parse::<UrlPattern>().unwrap().matches(&url, &Target::of(url.target()))
        };
        assert!(matches("/shop/", "http://a.ke/shop/1") && !matches("/shop/", "http://a.ke/x/shop/1"));
        assert!(matches("*/print$", "http://a.ke/x/print") && !matches("*/print$", "http://a.ke/x/print/1"));
        assert!(matches("*sort=", "http://a.ke/x?sort=up"));
        assert!(matches("blog.a.ke/2009/", "https://x.blog.a.ke/2009/1"));
        assert!(!matches("blog.a.ke/2009/", "http://a.ke/2009/1") && !matches("a.ke", "http://ba.ke/"));
        assert!(matches("A.ke", "http://www.a.ke/any") && matches("a.ke/*.php", "http://a.ke/x/y.php"));
        assert!(matches("[2001:db8::1]", "http://[2001:db8::1]/any"));
        for none in ["", "a b/", "http://a.ke/", "?x"] {
            assert!(none.parse::<UrlPattern>().unwrap_err().contains("is no pattern of URLs"), "{none:?}");
        }
    }

    #[test]
    fn a_word_alone_is_neither_path_nor_host() {
        for none in ["list", "list/", "list*", "2009", "shop/*.php", "LIST"] {
            assert!(none.parse::<UrlPattern>().unwrap_err().contains("is no pattern of URLs"), "{none:?}");
        }
        for some in ["*list*", "/list/", "list.a.ke", "/list", "41.90.0.1/list"] {
            assert!(some.parse::<UrlPattern>().is_ok(), "{some}");
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
        let leaves_out = |path: &str| filter.leaves_out(&url(&format!("http://a.ke{path}")));
        assert!(!leaves_out("/en/1") && !leaves_out("/sw/1"));
        assert!(leaves_out("/fr/1") && leaves_out("/en/old/1") && leaves_out("/en/1.pdf"));
    }

    #[test]
    fn an_ending_is_a_word_with_or_without_its_dot() {
        for text in ["pdf", ".PDF", " .Pdf "] {
            assert_eq!(text.parse(), Ok(Extension("pdf".to_owned())), "{text}");
        }
        for none in ["", ".", " ", "tar.gz", "a b", "*", "é"] {
            let message = format!("'{none}' is no ending of file names (expected for example 'pdf')");
            assert_eq!(none.parse::<Extension>(), Err(message));
        }
    }

    #[test]
    fn endings_and_patterns_are_written_in_files_as_they_are_typed() {
        let extension: Extension = serde_json::from_str("\".PDF\"").unwrap();
        assert_eq!(serde_json::to_string(&extension).unwrap(), "\"pdf\"");
        assert!(serde_json::from_str::<Extension>("\"\"").is_err());
        let pattern: UrlPattern = serde_json::from_str("\"Blog.a.ke/2009/\"").unwrap();
        assert_eq!(serde_json::to_string(&pattern).unwrap(), "\"Blog.a.ke/2009/\"");
        assert_eq!(pattern.to_string(), "Blog.a.ke/2009/");
        assert!(serde_json::from_str::<UrlPattern>("\"list\"").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern_or_none_and_any_url_is_compared(pattern in ".{0,60}", path in "[ -~]{0,60}") {
            let pattern = pattern.parse::<UrlPattern>();
            if let (Ok(pattern), Ok(url)) = (pattern, WebUrl::parse(&format!("http://a.ke/{path}"))) {
                pattern.matches(&url, &Target::of(url.target()));
            }
        }
    }
}
