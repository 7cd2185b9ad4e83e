use std::time::Duration;

use super::Rules;

/// The number of redirects that are followed to a robots.txt: RFC 9309 §2.3.1.2 asks for at least five, and
/// each one costs a server a request, so not one more.
pub const MAX_REDIRECTS: usize = 5;

/// The time for which a robots.txt is valid after it was requested: 24 hours by RFC 9309 §2.4. The RFC
/// permits the use of an older one if a new one is unreachable, but then §2.3.1.4 forbids everything, and
/// that is the more careful choice.
pub const MAX_AGE: Duration = Duration::from_hours(24);

/// The result of a request for a robots.txt, redirects followed (RFC 9309 §2.3.1).
///
/// ```
/// use ccsurvey_address::WebUrl;
/// use ccsurvey_core::robots::Availability;
/// let page = WebUrl::parse("http://example.ke/page").unwrap();
/// assert!(Availability::from_response(Some(404), b"no such file").rules("ccsurvey").allows(&page));
/// assert!(!Availability::from_response(Some(503), b"").rules("ccsurvey").allows(&page));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability<'a> {
    /// 2xx, with its body; an empty body (204 too) is a file without rules.
    Found(&'a [u8]),
    /// 4xx except 429, or a redirect that leads nowhere: there is no robots.txt, everything is allowed.
    Unavailable,
    /// 5xx, no response, or no valid response: what the owner wants is not known, nothing is allowed.
    Unreachable,
    /// More than [`MAX_REDIRECTS`]: may be treated as unavailable (§2.3.1.2), everything is allowed.
    TooManyRedirects,
    /// Status 429. For §2.3.1.3 it is a 4xx like any other, but a server that asks us to slow down must not
    /// be walked: nothing is allowed. The walk may request the file again after `Retry-After`.
    Busy,
}

impl<'a> Availability<'a> {
    /// Reads the status of the last response; none means that there was no response (name, connection, TLS,
    /// time-out).
    ///
    /// A 3xx arrives here only if it could not be followed (no usable `Location`, or an unrequested 304):
    /// redirects lead to no file, as with too many of them. Any other status outside 200..=499 is treated as
    /// a server error (RFC 9110 §15 for unknown classes).
    #[must_use]
    pub fn from_response(status: Option<u16>, body: &'a [u8]) -> Self {
        match status {
            Some(200..=299) => Self::Found(body),
            Some(429) => Self::Busy,
            Some(300..=499) => Self::Unavailable,
            _ => Self::Unreachable,
        }
    }

    /// The rules for our product token that follow from it.
    #[must_use]
    pub fn rules(&self, product_token: &str) -> Rules {
        match self {
            Self::Found(body) => Rules::parse(body, product_token),
            Self::Unavailable | Self::TooManyRedirects => Rules::allow_all(),
            Self::Unreachable | Self::Busy => Rules::disallow_all(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_one_availability() {
        for status in 0..=u16::MAX {
            let expected = match status {
                200..=299 => Availability::Found(b"x"),
                429 => Availability::Busy,
                300..=499 => Availability::Unavailable,
                _ => Availability::Unreachable,
            };
            assert_eq!(Availability::from_response(Some(status), b"x"), expected, "{status}");
        }
        assert_eq!(Availability::from_response(None, b""), Availability::Unreachable);
    }

    #[test]
    fn an_empty_204_is_a_file_without_rules() {
        assert_eq!(Availability::from_response(Some(204), b"").rules("ccsurvey"), Rules::allow_all());
    }

    #[test]
    fn a_server_that_is_busy_is_left_alone() {
        assert_eq!(Availability::from_response(Some(429), b"").rules("ccsurvey"), Rules::disallow_all());
    }
}
