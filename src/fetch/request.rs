use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HOST, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::{Method, Request, Url};
use url::Position;

use super::FetchError;
use crate::address::WebUrl;
use crate::exchange::Purpose;

/// Makes requests: the same few header fields in the same order, nothing that tells one visit
/// from another.
pub(super) struct Requests {
    user_agent: HeaderValue,
}

impl Requests {
    pub(super) fn new(user_agent: &str) -> Result<Self, FetchError> {
        let value = HeaderValue::from_str(user_agent);
        let user_agent = value.map_err(|_| FetchError::UserAgent(user_agent.to_owned()))?;
        Ok(Self { user_agent })
    }

    /// The request for a URL, sent to where `there` leads; none when the host cannot stand in a
    /// header.
    pub(super) fn make(&self, url: &WebUrl, purpose: Purpose, there: Url) -> Option<Request> {
        let method = match purpose {
            Purpose::Head => Method::HEAD,
            Purpose::Page | Purpose::Robots => Method::GET,
        };
        let accept = match purpose {
            Purpose::Robots => "text/plain, */*;q=0.1",
            Purpose::Page | Purpose::Head => "text/html, application/xhtml+xml;q=0.9, */*;q=0.1",
        };
        let mut request = Request::new(method, there);
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_str(&url.authority()).ok()?);
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd"));
        Some(request)
    }
}

/// Bytes of the request on the wire: `METHOD target HTTP/1.1`, header lines, an empty line.
pub(super) fn request_bytes(request: &Request) -> u64 {
    let target = &request.url()[Position::BeforePath..];
    let line = request.method().as_str().len() + 1 + target.len() + " HTTP/1.1\r\n".len();
    line as u64 + header_bytes(request.headers()) + 2
}

/// Bytes of header lines written as `name: value` CRLF.
pub(super) fn header_bytes(headers: &HeaderMap) -> u64 {
    headers.iter().map(|(name, value)| (name.as_str().len() + value.len() + 4) as u64).sum()
}
