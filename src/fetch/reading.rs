use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Response, StatusCode};

use super::settings::ROBOTS_BYTES;
use crate::exchange::Purpose;

/// What is done with the body of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Read and decoded, up to so many bytes.
    Keep(usize),
    /// Of no use, but read to its end if it is short, so that the connection lives on.
    Drain,
    /// Not read: an image or an archive would cost more than a new connection.
    HangUp,
}

impl Reading {
    pub(super) fn of(purpose: Purpose, response: &Response, max_body: u64) -> Self {
        let media_type = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        let keep = |bytes| Self::Keep(usize::try_from(bytes).unwrap_or(usize::MAX));
        match purpose {
            _ if !response.status().is_success() || is_empty(response.status()) => Self::Drain,
            Purpose::Head => Self::Drain,
            Purpose::Robots => keep(ROBOTS_BYTES),
            Purpose::Page if is_html(media_type) => keep(max_body),
            Purpose::Page => Self::HangUp,
        }
    }
}

/// A success without a body (RFC 9110 §15.3.5 and §15.3.6).
fn is_empty(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT)
}

/// HTML or XHTML, or what may well be it because nothing is said.
fn is_html(content_type: Option<&[u8]>) -> bool {
    let essence = content_type.unwrap_or(b"").split(|byte| *byte == b';').next().unwrap_or(b"").trim_ascii();
    ["", "text/html", "application/xhtml+xml"]
        .iter()
        .any(|html| essence.eq_ignore_ascii_case(html.as_bytes()))
}

/// Whether an answer without status line is a page: HTTP/0.9 knows nothing but HTML, while the
/// banner of another protocol does not begin with a tag.
pub(super) fn is_markup(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_told_by_its_media_type_in_any_spelling() {
        for html in ["text/html", "Text/HTML; charset=x", " application/xhtml+xml ;q", "", ";charset=utf-8"] {
            assert!(is_html(Some(html.as_bytes())), "{html}");
        }
        for other in ["text/plain", "image/png", "text/htmlx", "application/xml"] {
            assert!(!is_html(Some(other.as_bytes())), "{other}");
        }
        assert!(is_html(None));
    }
}
