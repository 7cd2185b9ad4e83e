use std::borrow::Cow;

use encoding_rs::{DecoderResult, Encoding};

const REPLACEMENT: &str = "\u{fffd}";

/// A body without its byte order mark as UTF-8 text, and the number of its sequences that are invalid in its
/// charset: each is read as U+FFFD. A body in UTF-8 is returned as it is.
pub(in crate::page) fn decoded<'a>(body: &'a [u8], charset: &'static Encoding) -> (Cow<'a, [u8]>, u32) {
    match charset.decode_without_bom_handling_and_without_replacement(body) {
        Some(Cow::Borrowed(text)) => (Cow::Borrowed(text.as_bytes()), 0),
        Some(Cow::Owned(text)) => (Cow::Owned(text.into_bytes()), 0),
        None => {
            let (text, bad) = with_replacements(body, charset);
            (Cow::Owned(text.into_bytes()), bad)
        }
    }
}

fn with_replacements(body: &[u8], charset: &'static Encoding) -> (String, u32) {
    let mut decoder = charset.new_decoder_without_bom_handling();
    let (mut text, mut rest, mut bad) = (String::with_capacity(body.len()), body, 0_u32);
    loop {
        let (result, read) = decoder.decode_to_string_without_replacement(rest, &mut text, true);
        rest = &rest[read..];
        match result {
            DecoderResult::InputEmpty => return (text, bad),
            // Enough space for a decoder to make progress.
            DecoderResult::OutputFull => text.reserve(rest.len().max(16)),
            DecoderResult::Malformed(..) => {
                bad = bad.saturating_add(1);
                text.push_str(REPLACEMENT);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, ISO_2022_JP, SHIFT_JIS, UTF_8, UTF_16LE, WINDOWS_1252};
    use proptest::prelude::*;

    fn read_all(body: &[u8], charset: &'static Encoding) -> (Vec<u8>, u32) {
        let (text, bad) = decoded(body, charset);
        (text.into_owned(), bad)
    }

    #[test]
    fn a_body_that_is_utf_8_is_not_copied() {
        let body = "é".repeat(20_000);
        assert!(matches!(decoded(body.as_bytes(), UTF_8), (Cow::Borrowed(_), 0)));
    }

    #[test]
    fn bytes_that_do_not_exist_in_the_charset_are_replaced_and_counted() {
        assert_eq!(read_all(b"a\xffb\xfe", UTF_8), ("a\u{fffd}b\u{fffd}".into(), 2));
        assert_eq!(read_all(&vec![0xff; 40_000], UTF_8), ("\u{fffd}".repeat(40_000).into_bytes(), 40_000));
        assert_eq!(read_all(b"", UTF_8), (Vec::new(), 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn any_bytes_decode_as_they_do_in_one_piece(
            body: Vec<u8>,
            charset in prop::sample::select(vec![UTF_8, SHIFT_JIS, EUC_JP, ISO_2022_JP, UTF_16LE, WINDOWS_1252]),
        ) {
            let (whole, has_bad) = charset.decode_without_bom_handling(&body);
            let (text, bad) = read_all(&body, charset);
            prop_assert_eq!(text, whole.as_bytes());
            prop_assert_eq!(bad > 0, has_bad);
        }
    }
}
