use std::fmt;

use super::facts::prose::PageText;
use super::robots::Robots;
use crate::address::WebUrl;
use crate::draw::Key;

/// An absolute URL of the model, in canonical form by construction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Url {
    pub is_https: bool,
    pub host: String,
    /// Path and query.
    pub target: String,
}

/// The content of a URL, before it is turned into bytes.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The connection is refused.
    Refused,
    /// The connection is closed without a response.
    Reset,
    /// The server accepts the request and never responds.
    Silence,
    /// A response with no content to read: 401, 403, 404, 410, 500 or 503.
    Status(u16),
    RobotsTxt(Robots),
    Redirect(u16, Url),
    /// A file with this content type.
    File(&'static str),
    Page(Page),
}

/// A page: its links, in document order.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub key: Key,
    pub text: PageText,
    pub links: Vec<Link>,
    /// The robots meta element says nofollow.
    pub nofollow: bool,
    /// The URL that the page is written for; copies of the page have the same bytes.
    pub written_at: Url,
    /// The connection ends after the last link.
    pub is_cut: bool,
    /// The last edition that changed the page; none if it is as in edition 0.
    pub changed: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub url: Url,
    pub element: Element,
    pub nofollow: bool,
}

/// The HTML element of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    A,
    Area,
    Iframe,
    Refresh,
}

impl Url {
    pub(crate) fn http(host: &str, target: impl Into<String>) -> Self {
        Self { is_https: false, host: host.to_owned(), target: target.into() }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http{}://{}{}", if self.is_https { "s" } else { "" }, self.host, self.target)
    }
}

/// The target in the canonical form that the model writes.
pub(crate) fn canonical(host: &str, target: &str) -> String {
    let is_plain =
        target.starts_with('/') && !target.contains(['%', ' ', '\\', '#']) && !target.contains("/.");
    if is_plain {
        return target.to_owned();
    }
    let url = WebUrl::parse(&format!("http://{host}{target}"));
    url.map(|url| url.canonical())
        .ok()
        .and_then(|url| {
            let rest = url.strip_prefix("http://")?;
            Some(rest[rest.find('/')?..].to_owned())
        })
        .unwrap_or_else(|| target.to_owned())
}
