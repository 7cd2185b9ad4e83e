use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, HOST, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    USER_AGENT,
};
use reqwest::{Method, Request, Url};
use url::Position;

use crate::address::WebUrl;
use crate::exchange::{Purpose, Validators};
use crate::fetch::FetchError;

/// Makes requests: the same few header fields in the same order, with nothing that distinguishes one visit
/// from another.
pub(in crate::fetch) struct Requests {
    user_agent: HeaderValue,
}

/// Longer validators are not sent; these include the ones that were cut to be stored. A tag of Apache or
/// nginx has fewer than 40 characters, one made of SHA-256 in hexadecimal 68, a date 29. With both, our
/// fields stay within the allowance of [`max_exchange_bytes`](crate::fetch::max_exchange_bytes).
const LONGEST_TAGS: usize = 120;
const LONGEST_DATE: usize = 40;

impl Requests {
    pub(in crate::fetch) fn new(user_agent: &str) -> Result<Self, FetchError> {
        let value = HeaderValue::from_str(user_agent);
        let user_agent = value.map_err(|_| FetchError::UserAgent(user_agent.to_owned()))?;
        Ok(Self { user_agent })
    }

    /// The request for a URL, sent to the server at `connect_url`, conditional on a version other than
    /// the one in `known`. None when the host is not a valid header value.
    pub(in crate::fetch) fn make(
        &self,
        url: &WebUrl,
        purpose: Purpose,
        known: &Validators,
        connect_url: Url,
    ) -> Option<Request> {
        let method = match purpose {
            Purpose::Head => Method::HEAD,
            Purpose::Page | Purpose::Robots | Purpose::Probe | Purpose::Check => Method::GET,
        };
        let accept = match purpose {
            Purpose::Robots => "text/plain, */*;q=0.1",
            Purpose::Page | Purpose::Head | Purpose::Probe | Purpose::Check => {
                "text/html, application/xhtml+xml;q=0.9, */*;q=0.1"
            }
        };
        let mut request = Request::new(method, connect_url);
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_str(&url.authority()).ok()?);
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd"));
        // RFC 9110 §13.1.3: servers that support entity tags use the tag, others the date.
        add_condition(headers, IF_NONE_MATCH, known.tags().as_deref(), LONGEST_TAGS);
        add_condition(headers, IF_MODIFIED_SINCE, known.last_modified.as_deref(), LONGEST_DATE);
        Some(request)
    }
}

/// A validator that cannot be sent back as it was received is left out: the server then sends the page.
fn add_condition(headers: &mut HeaderMap, name: HeaderName, validator: Option<&str>, longest: usize) {
    let is_usable = |text: &&str| !text.is_empty() && text.len() <= longest && text.is_ascii();
    if let Some(Ok(value)) = validator.filter(is_usable).map(HeaderValue::from_str) {
        headers.insert(name, value);
    }
}

/// The length of the request on the wire: `METHOD target HTTP/1.1`, header lines, an empty line.
pub(in crate::fetch) fn request_bytes(request: &Request) -> u64 {
    let target = &request.url()[Position::BeforePath..];
    let line = request.method().as_str().len() + 1 + target.len() + " HTTP/1.1\r\n".len();
    line as u64 + header_bytes(request.headers()) + 2
}

/// The length of header lines written as `name: value` CRLF.
pub(in crate::fetch) fn header_bytes(headers: &HeaderMap) -> u64 {
    headers.iter().map(|(name, value)| (name.as_str().len() + value.len() + 4) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(etag: &str, last_modified: &str) -> (Option<String>, Option<String>) {
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let known = Validators { etag: Some(etag.to_owned()), last_modified: Some(last_modified.to_owned()) };
        let requests = Requests::new("ccsurvey").unwrap();
        let request =
            requests.make(&url, Purpose::Page, &known, Url::parse("http://a.ke/").unwrap()).unwrap();
        let field = |name| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        (field(IF_NONE_MATCH), field(IF_MODIFIED_SINCE))
    }

    #[test]
    fn validators_are_given_back_as_they_were_received() {
        let (tag, date) = ("W/\"5f1-63a\"", "Tue, 10 Nov 2026 09:00:00 GMT");
        assert_eq!(conditions(tag, date), (Some(tag.to_owned()), Some(date.to_owned())));
        assert_eq!(conditions("", "yesterday"), (None, Some("yesterday".to_owned())));
    }

    #[test]
    fn what_cannot_be_given_back_as_it_was_is_not_sent() {
        let long = "x".repeat(LONGEST_TAGS + 1);
        assert_eq!(conditions(&long, "caf\u{e9}"), (None, None));
        assert_eq!(conditions("a\r\nHost: b.ke", "\u{0}"), (None, None));
    }
}
