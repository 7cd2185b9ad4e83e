use std::borrow::Cow;
use std::cell::RefCell;

use encoding_rs::{Encoder, EncoderResult, Encoding};
use foldhash::HashSet;

/// Encodes the queries of a page in its charset, as browsers send them (WHATWG URL §1.3, percent-encode after
/// encoding): a character that the charset lacks becomes a percent-encoded numeric reference.
pub(super) struct QueryEncoder {
    encoding: &'static Encoding,
    /// Characters that the charset lacks. To find that out, encoding_rs searches the whole table of a legacy
    /// charset, so each character is looked up only once.
    unmappable: RefCell<HashSet<char>>,
}

impl QueryEncoder {
    pub(super) fn new(charset: &'static Encoding) -> Self {
        Self { encoding: charset.output_encoding(), unmappable: RefCell::default() }
    }

    pub(super) fn encode<'a>(&self, query: &'a str) -> Cow<'a, [u8]> {
        if query.is_ascii() {
            return Cow::Borrowed(query.as_bytes());
        }
        let mut unmappable = self.unmappable.borrow_mut();
        let mut encoder = self.encoding.new_encoder();
        let mut bytes = Vec::with_capacity(2 * query.len());
        for letter in query.chars() {
            if unmappable.contains(&letter)
                || !write(&mut encoder, letter.encode_utf8(&mut [0; 4]), &mut bytes)
            {
                write(&mut encoder, &format!("%26%23{}%3B", u32::from(letter)), &mut bytes);
                unmappable.insert(letter);
            }
        }
        end(encoder, &mut bytes);
        Cow::Owned(bytes)
    }
}

/// Space for a character or its numeric reference with escape sequences: the output is never full.
const MOST_BYTES: usize = 64;

/// Whether the charset has the text; writes the part before the first character that it lacks.
fn write(encoder: &mut Encoder, text: &str, bytes: &mut Vec<u8>) -> bool {
    bytes.reserve(MOST_BYTES);
    let (result, _) = encoder.encode_from_utf8_to_vec_without_replacement(text, bytes, false);
    matches!(result, EncoderResult::InputEmpty)
}

/// Returns to ASCII where the charset has states.
fn end(mut encoder: Encoder, bytes: &mut Vec<u8>) {
    bytes.reserve(MOST_BYTES);
    let _ = encoder.encode_from_utf8_to_vec_without_replacement("", bytes, true);
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{
        BIG5, EUC_JP, EUC_KR, GB18030, GBK, ISO_2022_JP, SHIFT_JIS, UTF_16LE, WINDOWS_1252, X_USER_DEFINED,
    };
    use proptest::prelude::*;

    fn in_charset(query: &str, charset: &'static Encoding) -> Vec<u8> {
        QueryEncoder::new(charset).encode(query).into_owned()
    }

    #[test]
    fn a_query_has_the_bytes_of_the_charset() {
        assert_eq!(in_charset("q=日", SHIFT_JIS), b"q=\x93\xfa");
        assert_eq!(in_charset("q=日", EUC_JP), b"q=\xc6\xfc");
        assert_eq!(in_charset("q=日", ISO_2022_JP), b"q=\x1b$BF|\x1b(B");
        assert_eq!(in_charset("q=é&x", WINDOWS_1252), b"q=\xe9&x");
    }

    #[test]
    fn what_the_charset_lacks_is_a_numeric_reference() {
        assert_eq!(in_charset("日é", WINDOWS_1252), b"%26%2326085%3B\xe9");
        assert_eq!(in_charset("日😀本", ISO_2022_JP), b"\x1b$BF|\x1b(B%26%23128512%3B\x1b$BK\\\x1b(B");
    }

    #[test]
    fn a_letter_that_is_known_to_be_lacking_is_written_as_before() {
        for (charset, query) in [(ISO_2022_JP, "日é本é¥\\é~¥"), (BIG5, "é日é"), (WINDOWS_1252, "日日")]
        {
            let encoder = QueryEncoder::new(charset);
            let first = encoder.encode(query).into_owned();
            assert!(!encoder.unmappable.borrow().is_empty());
            assert_eq!(*encoder.encode(query), first, "{}", charset.name());
        }
    }

    proptest! {
        /// encoding_rs itself writes what a charset lacks as `&#233;`; in a query it is percent-encoded.
        #[test]
        fn queries_are_encoded_as_the_library_does(queries in prop::collection::vec("[a-z¥‾é日本語ｱ한😀\\\\~]{0,12}", 1..4)) {
            for charset in [BIG5, EUC_JP, EUC_KR, GB18030, GBK, ISO_2022_JP, SHIFT_JIS, WINDOWS_1252, X_USER_DEFINED] {
                let encoder = QueryEncoder::new(charset);
                for query in &queries {
                    let written = String::from_utf8_lossy(&encoder.encode(query)).into_owned();
                    let library = String::from_utf8_lossy(&charset.encode(query).0).into_owned();
                    prop_assert_eq!(written.replace("%26%23", "&#").replace("%3B", ";"), library);
                }
            }
        }
    }

    #[test]
    fn pages_in_utf_16_send_utf_8() {
        assert_eq!(in_charset("é", UTF_16LE), "é".as_bytes());
    }
}
