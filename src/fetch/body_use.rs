use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Response, StatusCode};

use super::settings::ROBOTS_BYTES;
use crate::exchange::{Purpose, hangs_up};

/// What is done with the body of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyUse {
    /// Read and decoded, up to so many bytes.
    Keep(usize),
    /// Of no use, but read to its end if it is short, so that the connection lives on.
    Drain,
    /// Not read: an image or an archive would cost more than a new connection.
    HangUp,
}

impl BodyUse {
    pub(super) fn for_answer(purpose: Purpose, response: &Response, max_body: u64) -> Self {
        let media_type = response.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        let keep = |bytes| Self::Keep(usize::try_from(bytes).unwrap_or(usize::MAX));
        match purpose {
            _ if hangs_up(purpose, response.status().as_u16(), media_type) => Self::HangUp,
            _ if !response.status().is_success() || is_empty(response.status()) => Self::Drain,
            Purpose::Head => Self::Drain,
            Purpose::Robots => keep(ROBOTS_BYTES),
            Purpose::Page | Purpose::Probe | Purpose::Check => keep(max_body),
        }
    }
}

/// A success without a body (RFC 9110 §15.3.5 and §15.3.6).
fn is_empty(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT)
}

/// Whether an answer without status line is a page: HTTP/0.9 knows nothing but HTML, while the
/// banner of another protocol does not begin with a tag.
pub(super) fn is_markup(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"<")
}
