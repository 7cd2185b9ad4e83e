use super::Purpose;

/// Whether an answer with this status and media type is hung up on after its head: of a file that is no page nothing
/// is wanted but that it is there.
///
/// ```
/// use ccsurvey::exchange::{Purpose, hangs_up};
/// assert!(hangs_up(Purpose::Page, 200, b"image/png"));
/// assert!(!hangs_up(Purpose::Page, 200, b"Text/HTML; charset=utf-8"));
/// assert!(!hangs_up(Purpose::Page, 404, b"image/png"), "error pages are short: the connection lives on");
/// assert!(!hangs_up(Purpose::Robots, 200, b"image/png"));
/// ```
#[must_use]
pub fn hangs_up(purpose: Purpose, status: u16, media_type: &[u8]) -> bool {
    let is_success = (200..300).contains(&status) && !EMPTY.contains(&status);
    matches!(purpose, Purpose::Page | Purpose::Probe | Purpose::Check) && is_success && !is_html(media_type)
}

/// Successes without a body (RFC 9110 §15.3.5 and §15.3.6).
const EMPTY: [u16; 2] = [204, 205];

/// HTML or XHTML, or what may well be it because nothing is said.
fn is_html(media_type: &[u8]) -> bool {
    let essence = media_type.split(|byte| *byte == b';').next().unwrap_or(b"").trim_ascii();
    ["", "text/html", "application/xhtml+xml"]
        .iter()
        .any(|html| essence.eq_ignore_ascii_case(html.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_successes_that_are_no_html_are_hung_up_on_and_robots_txt_never() {
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
                assert_eq!(hangs_up(purpose, status, b"image/png"), is_for_links && has_body, "{status}");
                assert!(!hangs_up(purpose, status, b"text/html") && !hangs_up(purpose, status, b""));
            }
        }
    }

    #[test]
    fn html_is_told_by_its_media_type_in_any_spelling() {
        for html in ["text/html", "Text/HTML; charset=x", " application/xhtml+xml ;q", "", ";charset=utf-8"] {
            assert!(is_html(html.as_bytes()), "{html}");
        }
        for other in ["text/plain", "image/png", "text/htmlx", "application/xml"] {
            assert!(!is_html(other.as_bytes()), "{other}");
        }
    }
}
