use std::borrow::Cow;
use std::ops::Range;

use ::url::{ParseError, Url};
use memchr::{memchr, memchr2};

use crate::host::undecoded_name;

/// The longest URL that is kept: the limit of the sitemap protocol, which pages meant to be found obey. It
/// limits the storage that a hostile page can use.
pub const MAX_URL_BYTES: usize = 2048;

/// Why a reference is not a URL that a survey can use.
#[derive(Debug, Clone, Copy, thiserror::Error, PartialEq, Eq)]
pub enum UrlError {
    /// Another scheme: `mailto:`, `javascript:`, `ftp:` … Not a defect, just not a Web page.
    #[error("not an http or https URL")]
    NotWeb,
    /// The text is not a URL.
    #[error("not a URL")]
    Malformed,
    /// The host is neither a name that DNS can have nor an address.
    #[error("no usable host")]
    BadHost,
    /// A service other than the Web listens at such a port; browsers do not connect to it, nor does a survey.
    #[error("a port that browsers refuse")]
    RefusedPort,
    /// It is longer than any URL that is kept.
    #[error("longer than {MAX_URL_BYTES} bytes")]
    TooLong,
}

/// Turns a query into bytes of the page's charset, as browsers do (WHATWG URL §4.1).
pub type QueryEncoder<'a> = &'a dyn Fn(&str) -> Cow<'_, [u8]>;

/// A URL of any scheme, split into its parts as the URL standard defines.
///
/// The parser is `url` 2.5.8, which deviates from the standard in three respects. They are corrected here and
/// in [`encode_path`]. A name with an `xn--` label that does not decode is a valid host (`url` refuses it, so
/// the library is given [`STAND_IN`] in its place). Any number of slashes before a host counts as two, also
/// without a scheme. `^` is percent-encoded in a path.
pub(crate) struct Parsed {
    url: Url,
    /// The host that the stand-in replaces.
    undecoded: Option<String>,
}

/// A host that no `WebUrl` has: its label is longer than DNS allows.
const STAND_IN: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

impl Parsed {
    /// Reads an absolute URL, or a reference that is resolved against `base`.
    pub(crate) fn read(
        text: &str,
        base: Option<&Self>,
        encoder: Option<QueryEncoder<'_>>,
    ) -> Result<Self, UrlError> {
        if text.len() > MAX_REFERENCE_BYTES {
            return Err(UrlError::TooLong);
        }
        let has_web_base = base.is_some_and(|base| is_web(&base.url));
        let text = if has_web_base { with_two_slashes(text) } else { Cow::Borrowed(text) };
        let options = Url::options().base_url(base.map(|base| &base.url)).encoding_override(encoder);
        match options.parse(&text) {
            Ok(url) => {
                let base_name = base.and_then(|base| base.undecoded.as_ref());
                let undecoded = base_name.filter(|_| url.host_str() == Some(STAND_IN)).cloned();
                Ok(Self { url, undecoded })
            }
            Err(ParseError::IdnaError) => {
                let (spelled, name) = with_stand_in(&text, has_web_base).ok_or(UrlError::Malformed)?;
                let url = options.parse(&spelled).map_err(|_| UrlError::Malformed)?;
                Ok(Self { url, undecoded: Some(name) })
            }
            // `mailto:` as a base: only absolute references lead anywhere.
            Err(ParseError::RelativeUrlWithCannotBeABaseBase) => Err(UrlError::NotWeb),
            Err(_) => Err(UrlError::Malformed),
        }
    }

    /// The URL, and the name that its stand-in replaces, if it contains the stand-in.
    pub(crate) fn into_parts(self) -> (Url, Option<String>) {
        (self.url, self.undecoded)
    }

    /// Whether browsers ignore such a URL as a base (WHATWG HTML §4.2.3).
    pub(crate) fn is_no_base(&self) -> bool {
        matches!(self.url.scheme(), "data" | "javascript")
    }
}

/// A reference much longer than any URL is not worth parsing. Parsing may shorten it (dot segments,
/// fragment), hence the factor.
const MAX_REFERENCE_BYTES: usize = 4 * MAX_URL_BYTES;

/// Replaces the stand-in by the name that it stands for, in a URL without credentials.
pub(crate) fn without_stand_in(url: &str, name: &str) -> String {
    url.replacen(STAND_IN, name, 1)
}

/// How many bytes longer the URL with the stand-in is than the one with the name.
pub(crate) fn extra_bytes(name: &str) -> usize {
    STAND_IN.len().saturating_sub(name.len())
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Reduces three slashes or more to two (WHATWG URL §4.4, special authority ignore slashes state). `url` does
/// so only after a scheme.
fn with_two_slashes(text: &str) -> Cow<'_, str> {
    if text.as_bytes().first().is_none_or(u8::is_ascii_alphanumeric) {
        return Cow::Borrowed(text);
    }
    let reference = text.trim_start_matches(|first| first <= ' ');
    let host = reference.trim_start_matches(|next| is_slash(next) || is_dropped(next));
    let slashes = reference[..reference.len() - host.len()].chars().filter(|next| is_slash(*next)).count();
    if slashes > 2 { Cow::Owned(format!("//{host}")) } else { Cow::Borrowed(text) }
}

/// The text with the stand-in for a host that does not decode, and that host; `None` if the host is not the
/// cause.
fn with_stand_in(text: &str, has_web_base: bool) -> Option<(String, String)> {
    let text: String = text.chars().filter(|next| !is_dropped(*next)).collect();
    let text = text.trim_matches(|end| end <= ' ');
    let host = host_range(text, has_web_base)?;
    let name = undecoded_name(&text[host.clone()])?;
    Some((format!("{}{STAND_IN}{}", &text[..host.start], &text[host.end..]), name))
}

/// The range of the host of a Web URL, in a text without the characters that parsing removes.
fn host_range(text: &str, has_web_base: bool) -> Option<Range<usize>> {
    let scheme = ["http:", "https:"]
        .into_iter()
        .find(|scheme| text.get(..scheme.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(scheme)));
    let after_scheme = match scheme {
        Some(scheme) => &text[scheme.len()..],
        None if has_web_base => text,
        None => return None,
    };
    let after_scheme = after_scheme.trim_start_matches(is_slash);
    let start = text.len() - after_scheme.len();
    let authority = after_scheme.split(['/', '\\', '?', '#']).next()?;
    let user = authority.rfind('@').map_or(0, |at| at + 1);
    let host = authority[user..].split(':').next()?;
    Some(start + user..start + user + host.len())
}

fn is_slash(character: char) -> bool {
    matches!(character, '/' | '\\')
}

/// Whether parsing removes this character wherever it occurs.
fn is_dropped(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r')
}

/// Percent-encodes the characters that `url` leaves bare in the path of a Web URL: `^`, which is in the path
/// percent-encode set of the URL standard (§1.3), and `|`, which is not but which Chromium encodes. Tomcat
/// refuses requests with either.
pub(crate) fn encode_path(url: String) -> String {
    let path_end = memchr(b'?', url.as_bytes()).unwrap_or(url.len());
    if memchr2(b'^', b'|', &url.as_bytes()[..path_end]).is_none() {
        return url;
    }
    let (path, query) = url.split_at(path_end);
    path.replace('^', "%5E").replace('|', "%7C") + query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_slashes_are_two_whatever_stands_among_them() {
        for (spelled, read) in [
            ("///a.ke/x", "//a.ke/x"),
            ("\\\\\\/a.ke", "//a.ke"),
            ("/\t/\n/a.ke", "//a.ke"),
            (" \u{1}///a.ke", "//a.ke"),
            ("////", "//"),
            ("//a.ke///x", "//a.ke///x"),
            ("/x///y", "/x///y"),
            ("/ //a.ke", "/ //a.ke"),
            ("http:///a.ke", "http:///a.ke"),
            ("", ""),
        ] {
            assert_eq!(with_two_slashes(spelled), read, "{spelled:?}");
        }
    }

    #[test]
    fn the_host_is_found_where_parsing_finds_it() {
        for (text, has_web_base, host) in [
            ("http://xn--a.ke/x@y", false, Some("xn--a.ke")),
            ("HTTPS:\\\\me:a@b@xn--a.ke:81?x", false, Some("xn--a.ke")),
            ("http:xn--a.ke#x", false, Some("xn--a.ke")),
            ("//xn--a.ke", true, Some("xn--a.ke")),
            ("//xn--a.ke", false, None),
            ("ftp://xn--a.ke", false, None),
            ("http://", false, Some("")),
        ] {
            assert_eq!(host_range(text, has_web_base).map(|range| &text[range]), host, "{text}");
        }
    }
}
