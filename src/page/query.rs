use std::borrow::Cow;

use encoding_rs::{EncoderResult, Encoding};

/// A query in the bytes of the page's charset, as browsers send it (WHATWG URL §1.3, percent-encode
/// after encoding): what the charset lacks becomes a percent-encoded numeric reference.
pub(super) fn in_charset<'a>(query: &'a str, encoding: &'static Encoding) -> Cow<'a, [u8]> {
    if query.is_ascii() {
        return Cow::Borrowed(query.as_bytes());
    }
    let mut encoder = encoding.output_encoding().new_encoder();
    let mut bytes = Vec::with_capacity(2 * query.len());
    let mut rest = query;
    loop {
        // Room for any one character with its escape sequences, so that each turn gets on.
        bytes.reserve(rest.len() + 16);
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return Cow::Owned(bytes),
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(c) => {
                bytes.extend_from_slice(format!("%26%23{}%3B", u32::from(c)).as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, ISO_2022_JP, SHIFT_JIS, UTF_16LE, WINDOWS_1252};

    #[test]
    fn a_query_has_the_bytes_of_the_charset() {
        assert_eq!(&*in_charset("q=日", SHIFT_JIS), b"q=\x93\xfa");
        assert_eq!(&*in_charset("q=日", EUC_JP), b"q=\xc6\xfc");
        assert_eq!(&*in_charset("q=日", ISO_2022_JP), b"q=\x1b$BF|\x1b(B");
        assert_eq!(&*in_charset("q=é&x", WINDOWS_1252), b"q=\xe9&x");
    }

    #[test]
    fn what_the_charset_lacks_is_a_numeric_reference() {
        assert_eq!(&*in_charset("日é", WINDOWS_1252), b"%26%2326085%3B\xe9");
        assert_eq!(&*in_charset("日😀本", ISO_2022_JP), b"\x1b$BF|\x1b(B%26%23128512%3B\x1b$BK\\\x1b(B");
    }

    #[test]
    fn pages_in_utf_16_send_utf_8() {
        assert_eq!(&*in_charset("é", UTF_16LE), "é".as_bytes());
    }
}
