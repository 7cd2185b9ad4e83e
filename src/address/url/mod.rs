//! URLs in canonical form, and the types that read, resolve and match them.

pub(super) mod base;
pub(super) mod parsed;
pub(super) mod path_pattern;
pub(super) mod ports;
pub(super) mod session;
pub(super) mod url_list;
pub(super) mod url_pattern;

use std::borrow::Cow;
use std::fmt;

use memchr::{memchr, memchr3};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Host, is_refused_port};
use parsed::{MAX_URL_BYTES, Parsed, UrlError, encode_path, extra_bytes, without_stand_in};
use session::{path_and_query, without_session};

/// A checked `http` or `https` URL: a host that DNS can carry, a port that browsers do not refuse, no
/// fragment, no credentials.
///
/// It is requested in its original spelling and compared in canonical form:
///
/// ```
/// use ccsurvey_address::WebUrl;
/// let one = WebUrl::parse("HTTP://Example.KE:80/a/../%7efoo/#top").unwrap();
/// let two = WebUrl::parse("https://example.ke/~foo/").unwrap();
/// assert_eq!(one.as_str(), "http://example.ke/%7efoo/");
/// assert_eq!(one.canonical(), "http://example.ke/~foo/");
/// assert_eq!(one.page_key(), two.page_key());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Recorded")]
pub struct WebUrl {
    /// Scheme, `://`, authority, path and query, as the URL standard spells them.
    url: String,
    host: Host,
}

/// A URL as it is stored on disk. It was checked before it was stored and is not parsed again: a survey reads
/// all links that it has found once more when it writes its tables.
#[derive(Deserialize)]
#[serde(rename = "WebUrl")]
struct Recorded {
    url: String,
    host: Host,
}

impl TryFrom<Recorded> for WebUrl {
    type Error = UrlError;

    fn try_from(Recorded { url, host }: Recorded) -> Result<Self, UrlError> {
        let authority = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)).ok_or(UrlError::NotWeb)?;
        if !authority.contains('/') {
            return Err(UrlError::Malformed);
        }
        Ok(Self { url, host })
    }
}

const SCHEMES: [&str; 2] = ["http://", "https://"];

/// Identifies a page: host, port, path and query in canonical form, without the scheme and without the
/// session identifiers that servers write into links. It is a 64-bit hash (XXH3, stable across versions), so
/// that a site tree of 10^5 URLs has a chance of 3 in 10^10 of a collision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageKey(pub u64);

/// Identifies a script, which query URLs call: the [`PageKey`] of the URL without query and path parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScriptKey(pub PageKey);

impl WebUrl {
    /// Reads an absolute URL.
    ///
    /// # Errors
    /// When it is not an absolute `http` or `https` URL with a usable host.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        Self::check(Parsed::read(text, None, None)?, None)
    }

    /// Resolves a reference found on this page, without a charset for its query. For many references, a
    /// [`Base`](super::Base) is faster.
    ///
    /// # Errors
    /// When the reference does not lead to an `http` or `https` URL.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        Self::check(Parsed::read(reference, Some(&self.parsed()?), None)?, Some(&self.host))
    }

    /// The URL split into its parts.
    pub(super) fn parsed(&self) -> Result<Parsed, UrlError> {
        Parsed::read(&self.url, None, None)
    }

    /// A URL of a host whose other parts are spelled as parsing would spell them.
    pub(super) fn from_parts(url: String, host: Host) -> Self {
        Self { url, host }
    }

    /// A `known_host` host was checked before: most links lead to the host of their page.
    pub(super) fn check(parsed: Parsed, known_host: Option<&Host>) -> Result<Self, UrlError> {
        let (mut url, undecoded) = parsed.into_parts();
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::NotWeb);
        }
        let extra_bytes = undecoded.as_deref().map_or(0, extra_bytes);
        if url.as_str().len() > MAX_URL_BYTES + extra_bytes {
            return Err(UrlError::TooLong);
        }
        let named = undecoded.as_deref().or(url.host_str());
        let host = match known_host.filter(|known_host| named == Some(known_host.as_str())) {
            Some(known_host) => known_host.clone(),
            None => match (&undecoded, url.host().ok_or(UrlError::BadHost)?) {
                (Some(name), _) => Host::from_domain(name).ok_or(UrlError::BadHost)?,
                (None, ::url::Host::Domain(name)) => Host::from_domain(name).ok_or(UrlError::BadHost)?,
                (None, ::url::Host::Ipv4(ip)) => Host::from_ip(ip.into()),
                (None, ::url::Host::Ipv6(ip)) => Host::from_ip(ip.into()),
            },
        };
        if url.port().is_some_and(is_refused_port) {
            return Err(UrlError::RefusedPort);
        }
        if url.fragment().is_some() {
            url.set_fragment(None);
        }
        if undecoded.is_none() && url.host_str() != Some(host.as_str()) {
            url.set_host(Some(host.as_str())).map_err(|_| UrlError::BadHost)?;
        }
        if !url.username().is_empty() || url.password().is_some() {
            // Never sent: a page must not make us log in somewhere.
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
        let mut url = encode_path(url.into());
        if undecoded.is_some() {
            url = without_stand_in(&url, host.as_str());
        }
        if url.len() > MAX_URL_BYTES { Err(UrlError::TooLong) } else { Ok(Self { url, host }) }
    }

    /// The spelling that is requested.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// In canonical form.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Whether it is requested over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.starts_with(SCHEMES[1])
    }

    /// The port that a connection goes to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.own_port().unwrap_or(if self.is_https() { 443 } else { 80 })
    }

    /// `host` or `host:port`, as in the `Host` header.
    #[must_use]
    pub fn authority(&self) -> String {
        let mut text = String::new();
        self.push_authority(&mut text);
        text
    }

    fn push_authority(&self, text: &mut String) {
        text.push_str(self.host.as_str());
        if let Some(port) = self.own_port() {
            text.push(':');
            text.push_str(&port.to_string());
        }
    }

    /// The port, if it is not the default port of the scheme.
    fn own_port(&self) -> Option<u16> {
        let (_host, port) = self.url[self.authority_start()..self.path_start()].rsplit_once(':')?;
        // The last part of an IPv6 address ends with a bracket.
        port.parse().ok()
    }

    fn authority_start(&self) -> usize {
        SCHEMES[usize::from(self.is_https())].len()
    }

    pub(super) fn path_start(&self) -> usize {
        let start = self.authority_start();
        memchr(b'/', &self.url.as_bytes()[start..]).map_or(self.url.len(), |bytes| start + bytes)
    }

    /// Path and query as they are sent in the request.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.url[self.path_start()..]
    }

    /// The path from its first slash on, percent-encoded.
    #[must_use]
    pub fn path(&self) -> &str {
        path_and_query(self.target()).0
    }

    /// The query without its question mark, if there is one.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        path_and_query(self.target()).1
    }

    /// The front page of this URL's host, with the same scheme and port.
    #[must_use]
    pub fn front_page_url(&self) -> Self {
        self.with_path("/")
    }

    /// Whether this is the front page of its host: the path `/` and no query, with or without a session
    /// identifier.
    #[must_use]
    pub fn is_front_page(&self) -> bool {
        without_session(self.target()) == "/"
    }

    /// The same page without the session identifiers that its server wrote into the URL. Its [`PageKey`] is
    /// the same. A request uses the URL as it was found, because the server may accept no other.
    #[must_use]
    pub fn without_session(&self) -> Cow<'_, Self> {
        match without_session(self.target()) {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(target) => Cow::Owned(self.with_path(&target)),
        }
    }

    /// Whether its server wrote a session identifier into it.
    #[must_use]
    pub fn has_session(&self) -> bool {
        matches!(without_session(self.target()), Cow::Owned(_))
    }

    /// The same URL with https for http, and with http for https; `None` if it has a port of its own.
    #[must_use]
    pub fn with_other_scheme(&self) -> Option<Self> {
        let scheme = SCHEMES[usize::from(!self.is_https())];
        let url = || format!("{scheme}{}", &self.url[self.authority_start()..]);
        self.own_port().is_none().then(|| Self { url: url(), host: self.host.clone() })
    }

    /// The robots.txt of this URL's host (RFC 9309 §2.3).
    #[must_use]
    pub fn robots_txt(&self) -> Self {
        self.with_path("/robots.txt")
    }

    fn with_path(&self, path: &str) -> Self {
        Self { url: format!("{}{path}", &self.url[..self.path_start()]), host: self.host.clone() }
    }

    /// The canonical form: percent-encoding normalised (RFC 3986 §6.2.2) on top of WHATWG parsing.
    #[must_use]
    pub fn canonical(&self) -> String {
        if self.is_normal() {
            return self.url.clone();
        }
        let mut text = String::with_capacity(self.url.len());
        text.push_str(&self.url[..self.authority_start()]);
        self.push_authority(&mut text);
        normalise_percent(self.target(), &mut text);
        text
    }

    /// Key of this page in a site tree; the same for `http` and `https`.
    #[must_use]
    pub fn page_key(&self) -> PageKey {
        let spelled = &self.url[self.authority_start()..];
        let is_plain = memchr3(b'%', b'=', b'(', spelled.as_bytes()).is_none();
        if spelled.starts_with(self.host.as_str()) && (is_plain || (self.is_normal() && !self.has_session()))
        {
            return PageKey(xxh3_64(spelled.as_bytes()));
        }
        self.key_with_target(self.target())
    }

    /// Whether this spelling is the canonical form: nothing is percent-encoded, and the host is spelled as in
    /// DNS.
    fn is_normal(&self) -> bool {
        self.url[self.authority_start()..].starts_with(self.host.as_str())
            && memchr(b'%', self.url.as_bytes()).is_none()
    }

    /// Key of the page with this path and query, at an [`authority`](Self::authority) of any host.
    #[must_use]
    pub fn page_key_of(authority: &str, target: &str) -> PageKey {
        PageKey::new(authority.to_owned(), target)
    }

    /// The script that this URL queries, for a URL with `?` or with a `;` path parameter that is not a
    /// session identifier.
    #[must_use]
    pub fn script(&self) -> Option<ScriptKey> {
        let target = without_session(self.target());
        let path = query_path(&target)?;
        Some(ScriptKey(self.key_with_target(&without_parameters(path))))
    }

    /// Whether it is a query URL of a script.
    #[must_use]
    pub fn is_query(&self) -> bool {
        query_path(&without_session(self.target())).is_some()
    }

    fn key_with_target(&self, target: &str) -> PageKey {
        let mut authority = String::with_capacity(self.url.len());
        self.push_authority(&mut authority);
        PageKey::new(authority, target)
    }
}

impl PageKey {
    fn new(authority: String, target: &str) -> Self {
        let mut text = authority;
        normalise_percent(&without_session(target), &mut text);
        Self(xxh3_64(text.as_bytes()))
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The path of a target that has a query or a path parameter.
fn query_path(target: &str) -> Option<&str> {
    let (path, _) = path_and_query(target);
    (path.len() < target.len() || memchr(b';', path.as_bytes()).is_some()).then_some(path)
}

fn without_parameters(path: &str) -> String {
    path.split('/').map(|segment| segment.split(';').next().unwrap_or(segment)).collect::<Vec<_>>().join("/")
}

/// RFC 3986 §6.2.2.1 and §6.2.2.2: hexadecimal digits in upper case, unreserved characters bare.
fn normalise_percent(text: &str, out: &mut String) {
    // Text that is normal already is copied together with the text after it.
    let mut written = 0;
    for at in text.bytes().enumerate().filter_map(|(at, byte)| (byte == b'%').then_some(at)) {
        let pair = text.as_bytes().get(at + 1..at + 3);
        let byte = pair.and_then(hex_pair);
        if byte.is_some_and(|byte| !is_unreserved(byte)) && !pair.is_some_and(has_lower_case) {
            continue;
        }
        out.push_str(&text[written..at]);
        written = at + 3;
        match byte {
            Some(byte) if is_unreserved(byte) => out.push(char::from(byte)),
            Some(_) => out.push_str(&text[at..at + 3].to_ascii_uppercase()),
            // A lone percent sign: encoded, so that the canonical form is stable.
            None => {
                out.push_str("%25");
                written = at + 1;
            }
        }
    }
    out.push_str(&text[written..]);
}

fn has_lower_case(pair: &[u8]) -> bool {
    pair.iter().any(u8::is_ascii_lowercase)
}

fn hex_pair(pair: &[u8]) -> Option<u8> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    Some(digit(pair[0])? << 4 | digit(pair[1])?)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    #[test]
    fn http_and_https_are_one_page() {
        assert_eq!(url("http://a.ke/x").page_key(), url("https://a.ke:443/x").page_key());
        assert_ne!(url("http://a.ke/x").page_key(), url("http://a.ke:8080/x").page_key());
    }

    #[test]
    fn spelling_is_kept_for_asking_and_normalised_for_comparing() {
        let spelled = url("http://A.ke/%7euser/%e3%81%82?q=%41%2f");
        assert_eq!(spelled.as_str(), "http://a.ke/%7euser/%e3%81%82?q=%41%2f");
        assert_eq!(spelled.canonical(), "http://a.ke/~user/%E3%81%82?q=A%2F");
        assert_eq!(spelled.target(), "/%7euser/%e3%81%82?q=%41%2f");
    }

    #[test]
    fn credentials_fragment_and_trailing_dot_are_dropped() {
        for text in
            ["me:secret@a.ke./x#frag", "me@a.ke/x", ":secret@a.ke/x", "me:@a.ke/x", ":@a.ke/x", "@A.ke:80/x#"]
        {
            assert_eq!(url(&format!("http://{text}")).as_str(), "http://a.ke/x", "{text}");
            assert_eq!(
                url("http://b.ke/").join(&format!("//{text}")).unwrap().as_str(),
                "http://a.ke/x",
                "{text}"
            );
        }
    }

    #[test]
    fn a_query_or_path_parameter_makes_a_query_url() {
        let script = url("http://a.ke/s.php").page_key();
        for query in [
            "http://a.ke/s.php?id=1",
            "http://a.ke/s.php?",
            "https://a.ke/s.php;v=2",
            "http://a.ke/s.php;v=2?id=3",
        ] {
            assert_eq!(url(query).script(), Some(ScriptKey(script)), "{query}");
        }
        assert_eq!(url("http://a.ke/s.php").script(), None);
        assert_eq!(url("http://a.ke/x;s=1/y").script(), Some(ScriptKey(url("http://a.ke/x/y").page_key())));
    }

    #[test]
    fn other_schemes_are_not_defects() {
        let page = url("http://a.ke/dir/page");
        assert_eq!(page.join("mailto:x@a.ke"), Err(UrlError::NotWeb));
        assert_eq!(page.join("javascript:void(0)"), Err(UrlError::NotWeb));
        assert_eq!(page.join("http://"), Err(UrlError::Malformed));
        assert_eq!(page.join("../x").unwrap().as_str(), "http://a.ke/x");
        assert_eq!(page.join("//b.ke").unwrap().as_str(), "http://b.ke/");
    }

    #[test]
    fn long_references_are_refused() {
        let front_page_url = "http://a.ke/";
        let url_of_bytes =
            |bytes: usize| format!("{front_page_url}{}", "x".repeat(bytes - front_page_url.len()));
        assert_eq!(url(&url_of_bytes(MAX_URL_BYTES)).as_str().len(), MAX_URL_BYTES);
        assert_eq!(WebUrl::parse(&url_of_bytes(MAX_URL_BYTES + 1)), Err(UrlError::TooLong));
        // Parts that parsing drops from a reference do not count towards the limit, up to four times that
        // limit.
        let padded = |bytes: usize| format!("{}x", "./".repeat(bytes / 2));
        assert_eq!(
            url(front_page_url).join(&padded(4 * MAX_URL_BYTES - 2)).unwrap().as_str(),
            "http://a.ke/x"
        );
        assert_eq!(
            url(front_page_url).join(&format!("{}#", padded(4 * MAX_URL_BYTES - 2))).unwrap().path(),
            "/x"
        );
        assert_eq!(url(front_page_url).join(&padded(4 * MAX_URL_BYTES)), Err(UrlError::TooLong));
    }

    #[test]
    fn the_parts_of_a_url_are_those_that_a_request_has() {
        for (text, authority, port, is_https, target, path, query, is_front_page) in [
            ("http://A.ke", "a.ke", 80, false, "/", "/", None, true),
            ("https://a.ke:443/?", "a.ke", 443, true, "/?", "/", Some(""), false),
            ("https://a.ke:80/x?y=1#z", "a.ke:80", 80, true, "/x?y=1", "/x", Some("y=1"), false),
            ("http://[2001:DB8::1]:8080/", "[2001:db8::1]:8080", 8080, false, "/", "/", None, true),
            ("http://0x7f.1/?x", "127.0.0.1", 80, false, "/?x", "/", Some("x"), false),
        ] {
            let url = url(text);
            assert_eq!(
                (url.authority().as_str(), url.port(), url.is_https()),
                (authority, port, is_https),
                "{text}"
            );
            assert_eq!((url.target(), url.path(), url.query()), (target, path, query), "{text}");
            assert_eq!(url.is_front_page(), is_front_page, "{text}");
            assert_eq!(url.to_string(), url.as_str());
            assert_eq!(WebUrl::page_key_of(authority, target), url.page_key(), "{text}");
            assert_eq!(url.page_key().0, xxh3_64(format!("{authority}{target}").as_bytes()), "{text}");
        }
    }

    #[test]
    fn the_other_scheme_is_that_of_the_same_page_at_the_usual_port() {
        let other = |text: &str| url(text).with_other_scheme().map(|url| url.to_string());
        assert_eq!(other("http://a.ke/x?y").as_deref(), Some("https://a.ke/x?y"));
        assert_eq!(other("https://a.ke/x?y").as_deref(), Some("http://a.ke/x?y"));
        assert_eq!(other("http://a.ke:8080/x"), None);
        assert_eq!(other("https://a.ke:80/x"), None);
    }

    #[test]
    fn percent_signs_are_compared_as_the_standard_says() {
        let canonical =
            |path: &str| url(&format!("http://a.ke/{path}")).canonical()["http://a.ke/".len()..].to_owned();
        for (spelled, normal) in [
            ("%41%5a%61%7A%30%39", "AZaz09"),
            ("%2d%2E%5f%7e", "-._~"),
            ("%2f%3F%25%c3%a9", "%2F%3F%25%C3%A9"),
            ("%", "%25"),
            ("%4", "%254"),
            ("%4g%g4", "%254g%25g4"),
            ("%%41", "%25A"),
            ("a%41b%2fc%zz", "aAb%2Fc%25zz"),
        ] {
            assert_eq!(canonical(spelled), normal, "{spelled}");
            assert_eq!(
                url(&format!("http://a.ke/{spelled}")).page_key(),
                WebUrl::page_key_of("a.ke", &format!("/{normal}"))
            );
        }
        assert_eq!(url("https://a.ke:8443/%7e").canonical(), "https://a.ke:8443/~");
    }

    #[test]
    fn a_port_that_browsers_refuse_is_no_url_of_the_web_wherever_it_comes_from() {
        let page = WebUrl::parse("http://a.ke/dir/").unwrap();
        for text in [
            "http://a.ke:25/",
            "https://a.ke:22/x?y",
            "http://A.KE:06667/",
            "http://a.ke:0/",
            "http://[::1]:53/",
        ] {
            assert_eq!(WebUrl::parse(text), Err(UrlError::RefusedPort), "{text}");
            assert_eq!(page.join(text), Err(UrlError::RefusedPort), "{text}");
        }
        assert_eq!(WebUrl::parse("http://a.ke:8080/").unwrap().port(), 8080);
    }

    #[test]
    fn a_name_that_does_not_decode_is_a_host_like_others() {
        for (text, read) in [
            ("http://XN--A.ke", "http://xn--a.ke/"),
            ("https://me:secret@xn--0.ke.:443/../x?y#z", "https://xn--0.ke/x?y"),
            ("http:\\\\www.xn--1ug.ke:81\\x^y", "http://www.xn--1ug.ke:81/x%5Ey"),
            (" ht\ttp://xn--zn7c.k\ne/\n", "http://xn--zn7c.ke/"),
            ("http:xn--a.ke", "http://xn--a.ke/"),
            ("http://%78N--a%2eke/", "http://xn--a.ke/"),
        ] {
            let found = url(text);
            assert_eq!(found.as_str(), read, "{text}");
            assert_eq!(url(found.as_str()), found);
            assert_eq!(found.page_key(), WebUrl::page_key_of(&found.authority(), found.target()));
            let written = serde_json::to_value(&found).unwrap();
            assert_eq!(serde_json::from_value::<WebUrl>(written).unwrap(), found);
        }
        let page = url("http://xn--a.ke:81/x/y?z");
        for (reference, read) in [
            ("w", "http://xn--a.ke:81/x/w"),
            ("../w w", "http://xn--a.ke:81/w%20w"),
            ("?\u{e9}", "http://xn--a.ke:81/x/y?%C3%A9"),
            ("", "http://xn--a.ke:81/x/y?z"),
            ("//xn--0.ke/", "http://xn--0.ke/"),
            ("///xn--0.ke", "http://xn--0.ke/"),
            ("//b.ke/", "http://b.ke/"),
            ("https://xn--a.ke/", "https://xn--a.ke/"),
        ] {
            assert_eq!(page.join(reference).unwrap().as_str(), read, "{reference}");
        }
        assert_eq!(page.robots_txt().as_str(), "http://xn--a.ke:81/robots.txt");
        let label = "0".repeat(60);
        for (text, error) in [
            ("http://xn--a.ke:25/", UrlError::RefusedPort),
            ("http://xn--a..ke/", UrlError::BadHost),
            (&format!("http://xn--{label}.ke/"), UrlError::BadHost),
            ("http://xn--a b.ke/", UrlError::Malformed),
            ("http://xn--a.1/", UrlError::Malformed),
            ("http://xn--a.\u{65e5}/", UrlError::Malformed),
            ("ftp://xn--a.ke/", UrlError::Malformed),
        ] {
            assert_eq!(WebUrl::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_name_that_does_not_decode_takes_no_room_from_the_path() {
        let long_url =
            |bytes: usize| format!("http://xn--a.ke/{}", "x".repeat(bytes - "http://xn--a.ke/".len()));
        assert_eq!(url(&long_url(MAX_URL_BYTES)).as_str().len(), MAX_URL_BYTES);
        assert_eq!(WebUrl::parse(&long_url(MAX_URL_BYTES + 1)), Err(UrlError::TooLong));
    }

    #[test]
    fn what_url_leaves_bare_in_a_path_is_encoded_there_alone() {
        assert_eq!(url("http://a.ke/x^y|z?^|#^").as_str(), "http://a.ke/x%5Ey%7Cz?^|");
        assert_eq!(url("http://a.ke/x^y").page_key(), url("http://a.ke/x%5ey").page_key());
        let long = format!("http://a.ke/{}", "^".repeat(MAX_URL_BYTES - 20));
        assert_eq!(WebUrl::parse(&long), Err(UrlError::TooLong));
    }

    /// For each character in path, query and user, the result of `url` and [`encode_path`] equals that of
    /// Chromium 156.
    #[test]
    fn each_sign_is_encoded_as_in_chromium() {
        let encoded = |path: &str| url(&format!("http://h.ke/{path}")).target().to_owned();
        for character in (0x20..0x7f_u8).map(char::from) {
            let as_hex = format!("%{:02X}", character as u32);
            let path = match character {
                ' ' | '"' | '<' | '>' | '^' | '`' | '{' | '|' | '}' => format!("/a{as_hex}b"),
                '#' => "/a".to_owned(),
                '\\' => "/a/b".to_owned(),
                _ => format!("/a{character}b"),
            };
            assert_eq!(encoded(&format!("a{character}b")), path, "path {character:?}");
            let query = match character {
                ' ' | '"' | '\'' | '<' | '>' => format!("/?a{as_hex}b"),
                '#' => "/?a".to_owned(),
                _ => format!("/?a{character}b"),
            };
            assert_eq!(encoded(&format!("?a{character}b")), query, "query {character:?}");
        }
    }

    #[test]
    fn door_and_robots_keep_scheme_and_port() {
        assert_eq!(url("https://a.ke:8443/x?y").front_page_url().as_str(), "https://a.ke:8443/");
        assert_eq!(url("https://a.ke:8443/x?y").robots_txt().as_str(), "https://a.ke:8443/robots.txt");
    }

    #[test]
    fn a_page_is_the_same_in_every_session_and_asked_for_as_it_is_spelled() {
        let page = url("http://a.ke/x/y.aspx?z=1");
        for spelled in [
            "http://a.ke/x/(S(lit3py55t21z5v55vlm25s55))/y.aspx?z=1",
            "https://a.ke/(A(b)F(c))/x/y%2Easpx?z=1&PHPSESSID=7",
            "http://a.ke/x/y.aspx;jsessionid=0A.n1?z=1",
        ] {
            let in_session = url(spelled);
            assert_eq!((in_session.page_key(), in_session.as_str()), (page.page_key(), spelled));
            assert_eq!(in_session.script(), page.script(), "{spelled}");
            assert!(in_session.has_session() && !in_session.without_session().has_session());
            assert_eq!(in_session.without_session().page_key(), page.page_key());
            assert_eq!(WebUrl::page_key_of(&in_session.authority(), in_session.target()), page.page_key());
        }
        assert!(!page.has_session() && page.is_query());
        let bare = url("http://a.ke/x;jsessionid=1?PHPSESSID=2");
        assert_eq!((bare.script(), bare.is_query()), (None, false), "it queries nothing");
        assert_eq!(bare.page_key(), url("http://a.ke/x").page_key());
        assert!(url("http://a.ke/(S(x))/").is_front_page() && !url("http://a.ke/(S(x))/?y").is_front_page());
    }

    proptest! {
        #[test]
        fn any_text_parses_or_is_refused(text in ".{0,200}") {
            let base = url("http://a.ke/b/c?d");
            let _ = WebUrl::parse(&text);
            let _ = base.join(&text);
        }

        #[test]
        fn the_canonical_form_is_stable(path in "[ -~]{0,60}") {
            if let Ok(first) = WebUrl::parse(&format!("http://a.ke/{path}")) {
                let again = WebUrl::parse(&first.canonical()).unwrap();
                prop_assert_eq!(again.canonical(), first.canonical());
                prop_assert_eq!(again.page_key(), first.page_key());
            }
        }
    }
}
