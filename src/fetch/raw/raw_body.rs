use std::io;

use bytes::{Buf, Bytes};
use memchr::memchr;

/// How a body is framed, and how far it has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::fetch) enum Framing {
    /// The number of bytes left.
    Length(u64),
    Chunked(Chunks),
    /// The body ends when the connection does.
    ToEnd,
}

/// The position in a chunked body (RFC 9112 §7.1). Bytes after the last chunk are not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::fetch) enum Chunks {
    /// In the line with the size of a chunk.
    Size(SizeLine),
    /// In a chunk, with the number of bytes left.
    Data(u64),
    /// At the line end after a chunk.
    LineEnd { has_cr: bool },
    /// After the last chunk.
    Over,
}

/// The part of a chunk-size line that has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::fetch) struct SizeLine {
    size: Option<u64>,
    /// The number has ended.
    is_over: bool,
    bytes: usize,
}

/// The longest chunk-size line with its extensions, as in Chromium.
const LONGEST_LINE: usize = 16 * 1024;

impl Framing {
    pub(in crate::fetch) fn chunked() -> Self {
        Self::Chunked(Chunks::Size(SizeLine::default()))
    }

    /// Whether the body is complete, whatever the connection does.
    pub(in crate::fetch) fn is_over(&self) -> bool {
        matches!(self, Self::Length(0) | Self::Chunked(Chunks::Over))
    }

    /// Whether the body is complete if the connection ends here.
    pub(in crate::fetch) fn may_end(&self) -> bool {
        self.is_over() || *self == Self::ToEnd
    }

    /// The next bytes of the body, taken from the bytes that arrived; none if more must arrive.
    ///
    /// # Errors
    /// When the bytes are not a chunk.
    pub(in crate::fetch) fn next_piece(&mut self, received: &mut Bytes) -> io::Result<Option<Bytes>> {
        match self {
            _ if received.is_empty() => Ok(None),
            Self::ToEnd => Ok(Some(received.split_to(received.len()))),
            Self::Length(left) => Ok(split(received, left)),
            Self::Chunked(chunks) => chunks.next_piece(received),
        }
    }
}

impl Chunks {
    fn next_piece(&mut self, received: &mut Bytes) -> io::Result<Option<Bytes>> {
        while let Some(byte) = received.first().copied() {
            match self {
                Self::Data(left) => {
                    let piece = split(received, left);
                    if *left == 0 {
                        *self = Self::LineEnd { has_cr: false };
                    }
                    return Ok(piece);
                }
                Self::Size(line) => {
                    received.advance(1);
                    match line.push(byte)? {
                        Some(0) => *self = Self::Over,
                        Some(size) => *self = Self::Data(size),
                        None if line.is_over => line.skip(received)?,
                        None => {}
                    }
                }
                Self::LineEnd { has_cr } => {
                    received.advance(1);
                    match byte {
                        b'\r' if !*has_cr => *has_cr = true,
                        b'\n' => *self = Self::Size(SizeLine::default()),
                        _ => return Err(invalid("no end of line behind a chunk")),
                    }
                }
                Self::Over => return Ok(None),
            }
        }
        Ok(None)
    }
}

impl SizeLine {
    /// Takes a byte of the line; returns the size when that byte was the last.
    fn push(&mut self, byte: u8) -> io::Result<Option<u64>> {
        self.bytes += 1;
        if self.bytes > LONGEST_LINE {
            return Err(invalid("the line of a chunk's size is too long"));
        }
        match (byte, char::from(byte).to_digit(16)) {
            (b'\n', _) => return self.size.ok_or_else(|| invalid("a chunk without a size")).map(Some),
            (_, Some(digit)) if !self.is_over => {
                let size =
                    self.size.unwrap_or(0).checked_mul(16).and_then(|size| size.checked_add(digit.into()));
                self.size = Some(size.ok_or_else(|| invalid("a chunk beyond 64 bits"))?);
            }
            (b' ' | b'\t', _) if self.size.is_none() => {}
            (b' ' | b'\t' | b'\r' | b';', _) if self.size.is_some() => self.is_over = true,
            _ if self.is_over => {}
            _ => return Err(invalid("a chunk's size is no number")),
        }
        Ok(None)
    }

    /// Skips an extension.
    fn skip(&mut self, received: &mut Bytes) -> io::Result<()> {
        let skipped = memchr(b'\n', received).unwrap_or(received.len());
        received.advance(skipped);
        self.bytes += skipped;
        if self.bytes > LONGEST_LINE {
            Err(invalid("the extensions of a chunk are too long"))
        } else {
            Ok(())
        }
    }
}

fn split(received: &mut Bytes, left: &mut u64) -> Option<Bytes> {
    let consumed = usize::try_from(*left).unwrap_or(usize::MAX).min(received.len());
    *left -= consumed as u64;
    (consumed > 0).then(|| received.split_to(consumed))
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The body, whether it is complete, and the number of bytes it took.
    fn read_all(mut framing: Framing, text: &[u8], piece: usize) -> (Vec<u8>, bool, usize) {
        let (mut body, mut consumed) = (Vec::new(), 0);
        for piece in text.chunks(piece) {
            let mut received = Bytes::copy_from_slice(piece);
            loop {
                match framing.next_piece(&mut received) {
                    Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                    Ok(None) => break,
                    Err(_) => return (body, false, consumed),
                }
            }
            consumed += piece.len() - received.len();
            if framing.is_over() {
                break;
            }
        }
        (body, framing.may_end(), consumed)
    }

    #[test]
    fn chunks_are_read_in_pieces_of_any_size() {
        for (text, body) in [
            ("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "abcde"),
            ("3\nabc\n2\nde\n0\n\n", "abcde"),
            ("3\nabc\r\n2\r\nde\n0\r\n", "abcde"),
            (" 3 \r\nabc\r\n0002 ;x=\"5\"\r\nde\r\n00\r\n", "abcde"),
            ("A;x\r\n0123456789\r\n0;y\r\nTrailer: x\r\n\r\n", "0123456789"),
            ("0\r\n", ""),
        ] {
            for piece in 1..40 {
                let (found, is_whole, consumed) = read_all(Framing::chunked(), text.as_bytes(), piece);
                assert_eq!((found.as_slice(), is_whole), (body.as_bytes(), true), "{text:?} in {piece}");
                assert!(consumed <= text.len());
            }
        }
    }

    #[test]
    fn broken_chunks_give_what_came_before_them() {
        let long = format!("3\r\nabc\r\n5;{}", "x".repeat(2 * LONGEST_LINE));
        let endless = format!("3\r\nabc\r\n{}", "0".repeat(2 * LONGEST_LINE));
        for text in [
            "3\r\nabc\r\nmany\r\n",
            "3\r\nabc\r\n\r\n",
            "3\r\nabc\r\n0x10\r\n",
            "3\r\nabc\r\n-1\r\n",
            "3\r\nabc\r\n5 5\r\nabcde",
            "3\r\nabcde\r\n0\r\n",
            "3\r\nabc\r\r\n0\r\n",
            "3\r\nabc\r\n10000000000000000\r\nx",
            "3\r\nabc\r\n",
            "3\r\nabc",
            &long,
            &endless,
        ] {
            for piece in [1, 7, 1000, 100_000] {
                let (found, is_whole, _) = read_all(Framing::chunked(), text.as_bytes(), piece);
                let expected = if text.contains("5 5") { &b"abcabcde"[..] } else { b"abc" };
                assert_eq!((found.as_slice(), is_whole), (expected, false), "{text:?} in {piece}");
            }
        }
    }

    #[test]
    fn a_length_ends_a_body_and_without_one_the_connection_does() {
        assert_eq!(read_all(Framing::Length(3), b"abcde", 2), (b"abc".to_vec(), true, 3));
        assert_eq!(read_all(Framing::Length(9), b"abcde", 2), (b"abcde".to_vec(), false, 5));
        assert_eq!(read_all(Framing::Length(0), b"abcde", 2), (Vec::new(), true, 0));
        assert_eq!(read_all(Framing::ToEnd, b"abcde", 2), (b"abcde".to_vec(), true, 5));
    }

    proptest! {
        #[test]
        fn any_body_survives_chunking(body in prop::collection::vec(any::<u8>(), 0..300), size in 1usize..50, piece in 1usize..40) {
            let mut text = Vec::new();
            for chunk in body.chunks(size) {
                text.extend_from_slice(format!("{:X}\r\n", chunk.len()).as_bytes());
                text.extend_from_slice(chunk);
                text.extend_from_slice(b"\r\n");
            }
            text.extend_from_slice(b"0\r\n");
            prop_assert_eq!(read_all(Framing::chunked(), &text, piece), (body, true, text.len()));
        }

        #[test]
        fn any_bytes_are_the_same_chunks_in_pieces_of_any_size(text in "[0-3a\r\n; x]{0,60}", piece in 1usize..30) {
            let whole = read_all(Framing::chunked(), text.as_bytes(), 1000);
            let pieces = read_all(Framing::chunked(), text.as_bytes(), piece);
            prop_assert_eq!((whole.0, whole.1), (pieces.0, pieces.1));
        }
    }
}
