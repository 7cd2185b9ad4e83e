use std::time::Duration;

use super::{MediaType, Purpose};

/// The bytes that a server may send before the receiver reads any: the first receive window of common
/// systems. Linux gives a socket 131,072 bytes (`tcp_rmem`) and announces half of that to the server.
pub const RECEIVE_WINDOW: u64 = 64 * 1024;

/// The longest total pause of an exchange because the rate of the survey is used up. With the default
/// time-out of an exchange it ends within five minutes; Web servers wait a minute or more for each next
/// acknowledgement.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(240);

/// Whether the reader hangs up after the head of a response with this status and `Content-Type`: of a file
/// that is not a page, a survey needs to know only that it exists. If the type is unknown, the body decides
/// ([`sniff`](super::sniff)).
///
/// ```
/// use ccsurvey_core::exchange::{Purpose, skips_body};
/// assert!(skips_body(Purpose::Page, 200, Some("image/png")));
/// assert!(!skips_body(Purpose::Page, 200, Some("Text/HTML, charset=utf-8")));
/// assert!(
///     !skips_body(Purpose::Page, 404, Some("image/png")),
///     "error pages are short: the connection lives on"
/// );
/// assert!(!skips_body(Purpose::Robots, 200, Some("image/png")));
/// ```
#[must_use]
pub fn skips_body(purpose: Purpose, status: u16, content_type: Option<&str>) -> bool {
    let is_success = (200..300).contains(&status) && !is_bodiless(status);
    matches!(purpose, Purpose::Page | Purpose::Probe | Purpose::Check)
        && is_success
        && !MediaType::from_fields(content_type).may_be_page()
}

/// Whether a success has no body (RFC 9110 §15.3.5 and §15.3.6): browsers stay on the current page, and no
/// new page arrived.
#[must_use]
pub fn is_bodiless(status: u16) -> bool {
    matches!(status, 204 | 205)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_successes_that_are_no_page_are_hung_up_on_and_robots_txt_never() {
        for (purpose, is_for_links) in
            [(Purpose::Page, true), (Purpose::Probe, true), (Purpose::Robots, false), (Purpose::Head, false)]
        {
            for (status, has_body) in [
                (199, false),
                (200, true),
                (203, true),
                (204, false),
                (205, false),
                (206, true),
                (299, true),
                (301, false),
                (404, false),
                (500, false),
            ] {
                let skips_body = |content_type| skips_body(purpose, status, content_type);
                assert_eq!(skips_body(Some("image/png")), is_for_links && has_body, "{status}");
                for may_be in
                    [Some("text/html, charset=utf-8"), Some("text/xml"), Some("html"), Some(""), None]
                {
                    assert!(!skips_body(may_be), "{status} {may_be:?}");
                }
            }
        }
    }
}
