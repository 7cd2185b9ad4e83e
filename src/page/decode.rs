use std::convert::Infallible;

use encoding_rs::{Decoder, DecoderResult, Encoding};
use html5gum::{Readable, Reader};

/// Decoded text waiting to be read: as large as html5gum's own buffer for files.
const BUFFER_BYTES: usize = 16 * 1024;
/// What a decoder is sure to make progress in, and a replacement character fits into.
const ROOM_BYTES: usize = 16;
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// A body as UTF-8 text, decoded piece by piece while the tokenizer reads it.
pub(super) struct DecodedText<'a> {
    rest: &'a [u8],
    decoder: Decoder,
    buffer: Vec<u8>,
    /// The unread text is `buffer[start..end]`.
    start: usize,
    end: usize,
    is_finished: bool,
    bad_sequences: u32,
}

impl<'a> DecodedText<'a> {
    /// The text of a body without its byte order mark.
    pub(super) fn new(body: &'a [u8], encoding: &'static Encoding) -> Self {
        Self {
            rest: body,
            decoder: encoding.new_decoder_without_bom_handling(),
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            is_finished: false,
            bad_sequences: 0,
        }
    }

    /// How many sequences were replaced in what has been read.
    pub(super) fn bad_sequences(&self) -> u32 {
        self.bad_sequences
    }

    /// Decodes on behind what is unread; afterwards nothing is unread only at the end.
    #[cold]
    fn refill(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while !self.is_finished && self.end + 2 * ROOM_BYTES <= self.buffer.len() {
            let limit = self.buffer.len() - ROOM_BYTES;
            let out = &mut self.buffer[self.end..limit];
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(self.rest, out, true);
            self.rest = &self.rest[read..];
            self.end += written;
            match result {
                DecoderResult::InputEmpty => self.is_finished = true,
                DecoderResult::OutputFull => break,
                DecoderResult::Malformed(..) => self.replace(),
            }
        }
    }

    fn replace(&mut self) {
        self.bad_sequences = self.bad_sequences.saturating_add(1);
        let end = self.end + REPLACEMENT.len();
        self.buffer[self.end..end].copy_from_slice(REPLACEMENT);
        self.end = end;
    }

    /// What is unread, with at least `wanted` bytes unless the text ends before.
    #[inline]
    fn unread(&mut self, wanted: usize) -> &[u8] {
        if self.end - self.start < wanted && !self.is_finished {
            self.refill();
        }
        &self.buffer[self.start..self.end]
    }
}

// Inlined into each state of the tokenizer, what it looks for is a constant and a page is read
// about one and a half times as fast.
#[allow(clippy::inline_always)]
impl Reader for &mut DecodedText<'_> {
    type Error = Infallible;

    #[inline]
    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        let byte = self.unread(1).first().copied();
        self.start += usize::from(byte.is_some());
        Ok(byte)
    }

    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        _: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        let mut unread = self.unread(1).to_reader();
        let found = unread.read_until(needle, &mut [0; 4])?.map_or(0, <[u8]>::len);
        let start = self.start;
        self.start += found;
        Ok((found > 0).then(|| &self.buffer[start..start + found]))
    }

    #[inline]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        let is_next = self.unread(text.len()).to_reader().try_read_string(text, case_sensitive)?;
        self.start += if is_next { text.len() } else { 0 };
        Ok(is_next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, ISO_2022_JP, SHIFT_JIS, UTF_8, UTF_16LE, WINDOWS_874, WINDOWS_1252};
    use proptest::prelude::*;

    fn read_all(body: &[u8], encoding: &'static Encoding) -> (Vec<u8>, u32) {
        let mut text = DecodedText::new(body, encoding);
        let mut all = Vec::new();
        let mut reader = &mut text;
        while let Some(piece) = reader.read_until(b"<&", &mut [0; 4]).unwrap() {
            all.extend_from_slice(piece);
        }
        (all, text.bad_sequences())
    }

    #[test]
    fn a_body_longer_than_the_buffer_is_the_same_text() {
        let (bytes, _, _) = SHIFT_JIS.encode("<p>日本語の文書");
        let (text, bad) = read_all(&bytes.repeat(5000), SHIFT_JIS);
        assert_eq!(text, "<p>日本語の文書".repeat(5000).into_bytes());
        assert_eq!(bad, 0);
    }

    #[test]
    fn bytes_that_do_not_exist_in_the_charset_are_replaced_and_counted() {
        assert_eq!(read_all(b"a\xffb\xfe", UTF_8), ("a\u{fffd}b\u{fffd}".into(), 2));
        assert_eq!(read_all(&vec![0xff; 40_000], UTF_8), ("\u{fffd}".repeat(40_000).into_bytes(), 40_000));
        assert_eq!(read_all(b"", UTF_8), (Vec::new(), 0));
        // However a replacement lies at the edge of the buffer.
        for (encoding, ahead) in [UTF_8, EUC_JP, WINDOWS_874].into_iter().flat_map(|encoding| {
            (BUFFER_BYTES - 3 * ROOM_BYTES..BUFFER_BYTES).map(move |ahead| (encoding, ahead))
        }) {
            let text = ["x".repeat(ahead), "\u{fffd}".repeat(40)].concat().into_bytes();
            let body = [vec![b'x'; ahead], vec![0xff; 40]].concat();
            assert_eq!(read_all(&body, encoding), (text, 40), "{} {ahead}", encoding.name());
        }
    }

    #[test]
    fn the_buffer_is_filled_whole_and_again_only_when_all_of_it_is_read() {
        for byte in [b'x', 0xff] {
            let body = vec![byte; 3 * BUFFER_BYTES];
            let mut text = DecodedText::new(&body, UTF_8);
            let filled = text.unread(1).len();
            assert!(filled > BUFFER_BYTES - 3 * ROOM_BYTES, "{filled}");
            let waiting = text.rest.len();
            for _ in 0..filled {
                (&mut text).read_byte().unwrap();
                assert_eq!(text.rest.len(), waiting);
            }
            (&mut text).read_byte().unwrap();
            assert!(text.rest.len() < waiting);
        }
    }

    #[test]
    fn a_string_is_found_across_the_edge_of_the_buffer() {
        for ahead in BUFFER_BYTES - 40..BUFFER_BYTES {
            let body = [vec![b'x'; ahead], b"OctYpe".to_vec()].concat();
            let mut text = DecodedText::new(&body, UTF_8);
            let mut reader = &mut text;
            for _ in 0..ahead {
                assert_eq!(reader.read_byte(), Ok(Some(b'x')));
            }
            assert_eq!(reader.try_read_string(b"octype", true), Ok(false));
            assert_eq!(reader.try_read_string(b"octype", false), Ok(true));
            assert_eq!(reader.read_byte(), Ok(None));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn any_bytes_decode_as_they_do_in_one_piece(
            body: Vec<u8>,
            encoding in prop::sample::select(vec![UTF_8, SHIFT_JIS, EUC_JP, ISO_2022_JP, UTF_16LE, WINDOWS_1252]),
        ) {
            let body = body.repeat(2 * BUFFER_BYTES / body.len().max(1));
            let (whole, _) = encoding.decode_without_bom_handling(&body);
            prop_assert!(read_all(&body, encoding).0 == whole.as_bytes());
        }
    }
}
