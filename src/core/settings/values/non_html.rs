use std::fmt;
use std::str::FromStr;

/// How to treat a URL that does not look like HTML.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonHtml {
    /// It is not fetched.
    #[default]
    Skip,
    /// A HEAD request finds out its type; if it is HTML after all, GET follows: two requests then.
    Head,
    /// It is fetched like any other; the body is broken off if its header says that it is not HTML.
    Get,
}

/// The ending of a file name, in lower case and without the dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension(String);

/// Endings in use for files without links to read: pictures, sound, films, archives, programs, fonts,
/// documents of office programs, styles, scripts and bare data. `xml` is not among them, because it may be
/// XHTML.
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

impl Extension {
    /// Whether a file name has this ending, ignoring case.
    #[must_use]
    pub fn is(&self, found: &str) -> bool {
        self.0.eq_ignore_ascii_case(found)
    }

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
            format!("'{}' is not a file name extension (expected for example 'pdf')", text.escape_debug())
        })
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn an_ending_is_a_word_with_or_without_its_dot() {
        for text in ["pdf", ".PDF", " .Pdf "] {
            assert_eq!(text.parse(), Ok(Extension("pdf".to_owned())), "{text}");
        }
        for none in ["", ".", " ", "tar.gz", "a b", "*", "é"] {
            let message = format!("'{none}' is not a file name extension (expected for example 'pdf')");
            assert_eq!(none.parse::<Extension>(), Err(message));
        }
    }
}
