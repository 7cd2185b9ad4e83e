use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::address::Host;

/// How much is looked at to detect a charset: chardetng reads about 30 MB/s, and what 64 KiB
/// do not tell, more will not.
const DETECTION_BYTES: usize = 64 * 1024;
/// Only bytes beyond ASCII tell charsets apart, and so many tell enough: the accents of five pages of
/// French, or a paragraph of Japanese. A page in ISO-2022-JP has none and is looked at as a whole.
const TELLING_BYTES: usize = 400;

/// The likeliest charset of the bytes, the country of the host as a hint.
pub(super) fn guess(body: &[u8], host: &Host) -> &'static Encoding {
    match body {
        [b'<', 0, _, 0, ..] => return UTF_16LE,
        [0, b'<', 0, _, ..] => return UTF_16BE,
        _ => {}
    }
    // Up to the first byte that tells anything, all charsets look the same.
    let Some(first) = body.iter().position(|byte| *byte >= 0x80 || *byte == 0x1b) else {
        return encoding_rs::UTF_8;
    };
    // The detector takes up to two bytes before as context.
    let sample = &body[first.saturating_sub(2)..];
    let window = &sample[..sample.len().min(DETECTION_BYTES)];
    let mut telling = window.iter().enumerate().filter(|(_, byte)| **byte >= 0x80).map(|(at, _)| at);
    // One byte more, lest a pair be cut that is one character.
    let window = telling.nth(TELLING_BYTES).map_or(window, |end| &window[..=end]);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(window, window.len() == sample.len());
    detector.guess(top_level_domain(host), Utf8Detection::Allow)
}

fn top_level_domain(host: &Host) -> Option<&[u8]> {
    let label = host.as_str().rsplit('.').next()?.as_bytes();
    let is_plain =
        label.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
    (host.ip().is_none() && is_plain).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_host_is_a_hint_or_none() {
        let of = |name: &str| top_level_domain(&Host::parse(name).unwrap()).map(<[u8]>::to_vec);
        assert_eq!(of("a.中国").as_deref(), Some(b"xn--fiqs8s".as_slice()));
        assert_eq!(of("192.0.2.1"), None);
        assert_eq!(of("[2001:db8::1]"), None);
    }
}
