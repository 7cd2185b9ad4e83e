use std::io::Read;

use flate2::read::GzDecoder;

use crate::Response;

/// The parts of a request that decide how its response is written; the default is a plain GET.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFields {
    /// The request method.
    pub method: Method,
    /// Whether the request uses HTTP/1.0.
    pub is_http_1_0: bool,
    /// Whether the client decodes gzip (RFC 9110 §12.5.3).
    pub accepts_gzip: bool,
    /// The value of `If-None-Match`, as sent (RFC 9110 §13.1).
    pub if_none_match: Option<String>,
    /// The value of `If-Modified-Since`, as sent.
    pub if_modified_since: Option<String>,
}

/// A request method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// GET, for head and body.
    #[default]
    Get,
    /// HEAD, for the head only.
    Head,
    /// Any other method; no server of a virtual Web implements one.
    Other,
}

/// A response in the form in which it is written: the same in process and over the network.
///
/// There is no `Date` field, so the bytes do not depend on the time of sending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireResponse {
    /// The HTTP status code.
    pub status: u16,
    /// Names and values in the order in which they are written.
    pub fields: Vec<(&'static str, String)>,
    /// The bytes sent before the connection breaks; empty for a response without a body.
    pub body: Vec<u8>,
    /// Whether the body is sent in chunks, without a Content-Length.
    pub is_chunked: bool,
    /// Whether the connection ends before the body does.
    pub is_cut: bool,
}

/// The size of a chunk: small enough that most pages have several.
const CHUNK_BYTES: usize = 1500;

impl WireResponse {
    /// Set `is_last` if the connection is closed after this response.
    #[must_use]
    pub fn new(response: Response, request_fields: &RequestFields, is_last: bool) -> Self {
        match request_fields.method {
            Method::Other => Self::bodiless(501, vec![length(0)], &response, is_last),
            _ if is_unchanged(&response, request_fields) => {
                Self::bodiless(304, validators(&response), &response, is_last)
            }
            // RFC 9110 §6.4.1: these have no body, even if the Web supplies one.
            _ if matches!(response.status, 100..=199 | 204 | 304) => {
                Self::bodiless(response.status, validators(&response), &response, is_last)
            }
            _ => Self::with_body(response, request_fields, is_last),
        }
    }

    fn bodiless(status: u16, own: Vec<(&'static str, String)>, response: &Response, is_last: bool) -> Self {
        let fields = server(response).into_iter().chain(own).chain([connection(is_last)]).collect();
        Self { status, fields, body: Vec::new(), is_chunked: false, is_cut: false }
    }

    fn with_body(mut response: Response, request_fields: &RequestFields, is_last: bool) -> Self {
        if response.content_encoding == Some("gzip") && !request_fields.accepts_gzip {
            response.content_encoding = None;
            response.body = decoded(&response.body);
        }
        // RFC 9112 §6.1: chunks are for clients of HTTP/1.1.
        let is_chunked = response.is_chunked && !request_fields.is_http_1_0;
        let framing = if is_chunked {
            ("Transfer-Encoding", "chunked".to_owned())
        } else {
            length(response.body.len())
        };
        let fields = described(&response).into_iter().chain([framing, connection(is_last)]).collect();
        let sends_body = request_fields.method == Method::Get;
        let sent = response.cut_after.map_or(response.body.len(), |cut| cut.min(response.body.len()));
        let is_cut = sends_body && sent < response.body.len();
        response.body.truncate(if sends_body { sent } else { 0 });
        Self {
            status: response.status,
            fields,
            body: response.body,
            is_chunked: is_chunked && sends_body,
            is_cut,
        }
    }

    /// The reason phrase.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        reason(self.status)
    }

    /// All bytes sent on the connection.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("HTTP/1.1 {} {}\r\n", self.status, self.reason()).into_bytes();
        for (name, value) in &self.fields {
            for part in [name, ": ", value.as_str(), "\r\n"] {
                bytes.extend_from_slice(part.as_bytes());
            }
        }
        bytes.extend_from_slice(b"\r\n");
        if self.is_chunked {
            push_chunks(&self.body, self.is_cut, &mut bytes);
        } else {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

/// RFC 9112 §7.1; a truncated response lacks the last chunk.
fn push_chunks(body: &[u8], is_cut: bool, bytes: &mut Vec<u8>) {
    for chunk in body.chunks(CHUNK_BYTES) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    if !is_cut {
        bytes.extend_from_slice(b"0\r\n\r\n");
    }
}

/// RFC 9110 §13.2.2: entity tags take precedence over dates. Dates are compared as nginx does by default
/// (`if_modified_since exact`), which needs no calendar.
fn is_unchanged(response: &Response, request_fields: &RequestFields) -> bool {
    if response.status != 200 {
        return false;
    }
    match (&request_fields.if_none_match, &request_fields.if_modified_since) {
        (Some(tags), _) => response.etag.as_ref().is_some_and(|own| has_tag(tags, own)),
        (None, Some(date)) => response.last_modified.as_ref() == Some(date),
        (None, None) => false,
    }
}

/// Weak comparison (RFC 9110 §8.8.3.2).
fn has_tag(tags: &str, own: &str) -> bool {
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    tags.trim() == "*" || tags.split(',').any(|tag| strong(tag) == strong(own))
}

fn described(response: &Response) -> Vec<(&'static str, String)> {
    let retry_after = response.retry_after.map(|seconds| ("Retry-After", seconds.to_string()));
    let content = [
        ("Content-Type", response.content_type.as_deref()),
        ("Content-Encoding", response.content_encoding),
        ("Location", response.location.as_deref()),
    ];
    let content = content.into_iter().filter_map(|(name, value)| Some((name, value?.to_owned())));
    let more = response.more_fields.iter().cloned();
    server(response)
        .into_iter()
        .chain(content)
        .chain(retry_after)
        .chain(validators(response))
        .chain(more)
        .collect()
}

fn validators(response: &Response) -> Vec<(&'static str, String)> {
    let both = [("Last-Modified", &response.last_modified), ("ETag", &response.etag)];
    both.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect()
}

/// None if the server does not name its software.
fn server(response: &Response) -> Option<(&'static str, String)> {
    (!response.server.is_empty()).then(|| ("Server", response.server.to_owned()))
}

fn length(bytes: usize) -> (&'static str, String) {
    ("Content-Length", bytes.to_string())
}

fn connection(is_last: bool) -> (&'static str, String) {
    ("Connection", if is_last { "close" } else { "keep-alive" }.to_owned())
}

/// A body that is no valid gzip is sent as it is.
fn decoded(body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(body).read_to_end(&mut plain).map_or_else(|_| body.to_vec(), |_| plain)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        410 => "Gone",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Answer",
    }
}
