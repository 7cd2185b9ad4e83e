use reqwest::header::{HeaderMap, X_CONTENT_TYPE_OPTIONS};
use reqwest::{Response, Version};

use crate::exchange::{MediaType, Purpose, is_bodiless, skips_body};
use crate::fetch::settings::ROBOTS_BYTES;

/// How the body of a response is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fetch) enum BodyUse {
    /// Read and decode it, up to this number of bytes; with a media type, only as long as it may be a page.
    Keep(usize, Option<MediaType>),
    /// Not needed, but read to its end if it is short, so that the connection stays open.
    Drain,
    /// Close the connection: reading an image or an archive would cost more than a new connection.
    HangUp,
}

impl BodyUse {
    pub(in crate::fetch) fn for_response(
        purpose: Purpose,
        response: &Response,
        content_type: Option<&str>,
        max_body: u64,
    ) -> Self {
        let status = response.status();
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        match purpose {
            _ if skips_body(purpose, status.as_u16(), content_type) => Self::HangUp,
            _ if !status.is_success() || is_bodiless(status.as_u16()) => Self::Drain,
            Purpose::Head => Self::Drain,
            Purpose::Robots => Self::Keep(bytes(ROBOTS_BYTES), None),
            Purpose::Page | Purpose::Probe | Purpose::Check => {
                let media_type = MediaType::from_fields(content_type);
                if media_type == MediaType::Unknown && forbids_sniffing(response.headers()) {
                    return Self::HangUp;
                }
                // Without a head there is no media type: the bytes first show which protocol it is, before
                // they are examined as a page.
                let is_http_09 = response.version() == Version::HTTP_09;
                Self::Keep(bytes(max_body), (!is_http_09).then_some(media_type))
            }
        }
    }
}

/// Whether a body without a type is never HTML (MIME Sniffing §7, the no-sniff flag).
fn forbids_sniffing(headers: &HeaderMap) -> bool {
    let value = headers.get(X_CONTENT_TYPE_OPTIONS).map(|value| value.as_bytes());
    // Fetch, "determine nosniff": the first value counts.
    let first = value.and_then(|value| value.split(|byte| *byte == b',').next());
    first.is_some_and(|first| first.trim_ascii().eq_ignore_ascii_case(b"nosniff"))
}

/// Whether a response without a status line is a page: HTTP/0.9 has nothing but HTML, and the banner of
/// another protocol does not begin with a tag.
pub(in crate::fetch) fn is_markup(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"<")
}
