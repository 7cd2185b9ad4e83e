//! The content coding `gzip`, with the same bytes on every machine and in every run.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// As written in Content-Encoding.
pub(crate) const NAME: &str = "gzip";

/// Level 1: a server that compresses every response anew is configured for speed. The header has neither time
/// nor name, so the output depends only on the body and on the version of flate2.
pub(crate) fn encoded(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::fast());
    // Writing to memory does not fail; if it did, the empty body would show it.
    let written = encoder.write_all(body);
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}

/// Decodes a body; a damaged body is decoded as far as possible.
pub(crate) fn decoded(body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(body.len() * 4);
    let _ = GzDecoder::new(body).read_to_end(&mut plain);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_comes_back() {
        for body in [b"".to_vec(), b"a".repeat(100_000), (0..=255).collect()] {
            assert_eq!(decoded(&encoded(&body)), body);
        }
        assert!(encoded(&b"a".repeat(100_000)).len() < 2000);
        assert_eq!(decoded(b"no gzip"), b"");
    }
}
