//! Content codings that are bombs, or that differ from what the header declares.

use std::io::Write;
use std::sync::LazyLock;

use crc32fast::Hasher;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use crate::hostile::case::Case;
use crate::hostile::pages::{LINK_TO_NEXT, on_front, response, unframed};
use crate::web::Act;

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("gzip-bomb", "A page of 1 GiB in 1 MB of gzip.", |request| {
        on_front(request, || encoded("gzip", &GZIP_BOMB))
    }),
    Case::of_pages("gzip-in-gzip-bomb", "A page of 1 GiB in a few kB, gzipped twice.", |request| {
        on_front(request, || encoded("gzip, gzip", &GZIP_IN_GZIP_BOMB))
    }),
    Case::of_pages("deflate-bomb", "A page of 4 MiB in a few kB of deflate.", |request| {
        on_front(request, || encoded("deflate", &DEFLATE_BOMB))
    }),
    Case::of_pages("brotli-bomb", "A page of 4 MiB in a few bytes of Brotli.", |request| {
        on_front(request, || encoded("br", &BROTLI_BOMB))
    }),
    Case::of_pages("zstd-bomb", "A page of 4 MiB in a few hundred bytes of zstd.", |request| {
        on_front(request, || encoded("zstd", &ZSTD_BOMB))
    }),
    Case::of_pages("zstd-window", "A zstd frame that needs a window of 2 GiB.", |request| {
        // RFC 8878 §3.1.1.1.2: the exponent 21 in the upper bits, then a raw last block of one byte.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x09, 0x00, 0x00, b'x'];
        on_front(request, || encoded("zstd", &frame))
    }),
    Case::of_pages("coding-that-is-not", "A plain page that is declared as gzip.", |request| {
        on_front(request, || encoded("gzip", LINK_TO_NEXT.as_bytes()))
    }),
    Case::of_pages("unsaid-coding", "A gzipped page that is not declared as gzip.", |request| {
        on_front(request, || response("200 OK", &[], &gzipped(LINK_TO_NEXT.as_bytes())))
    }),
    Case::of_pages("unknown-coding", "A coding that does not exist.", |request| {
        on_front(request, || encoded("rot13", b"<n uers=\"/arkg\">Arkg</n>"))
    }),
    Case::of_pages("coding-none", "A plain page with the coding none.", |request| {
        on_front(request, || encoded("none", LINK_TO_NEXT.as_bytes()))
    }),
    Case::of_pages("coding-utf-8", "A plain page whose charset is given as its content coding.", |request| {
        on_front(request, || encoded("UTF-8", LINK_TO_NEXT.as_bytes()))
    }),
    Case::of_pages(
        "coding-and-a-word",
        "A plain page with the coding gzip and a word that is not a coding.",
        |request| on_front(request, || encoded("gzip, binary", LINK_TO_NEXT.as_bytes())),
    ),
    Case::of_pages("compress", "A page with the coding compress, from the Unix of 1985.", |request| {
        on_front(request, || encoded("compress", b"\x1f\x9d\x90\x3c\x40\xc1"))
    }),
    Case::of_pages("dictionary-coding", "A page coded with a dictionary that no client has.", |request| {
        on_front(request, || encoded("dcb", b"\xff\x44\x43\x42"))
    }),
    Case::of_pages(
        "gzip-in-members",
        "Gzip of three members, with the link in the second and zeros after the last.",
        |request| {
            on_front(request, || {
                let members = [b"<p>One.</p>", LINK_TO_NEXT.as_bytes(), b"<p>Three.</p>"].map(gzipped);
                encoded("gzip", &[&members.concat()[..], &[0; 512]].concat())
            })
        },
    ),
    Case::of_pages("many-codings", "A page declared as gzipped twenty times, but gzipped once.", |request| {
        on_front(request, || encoded(&["gzip"; 20].join(", "), &gzipped(LINK_TO_NEXT.as_bytes())))
    }),
    Case::of_pages("truncated-gzip", "Gzip that is cut off before its end.", |request| {
        on_front(request, || {
            let whole = gzipped(&[LINK_TO_NEXT.as_bytes(), &[b'.'; 5000]].concat());
            encoded("gzip", &whole[..whole.len() - 12])
        })
    }),
    Case::of_pages("gzip-and-more", "Gzip, and something else after it.", |request| {
        on_front(request, || {
            encoded("gzip", &[&gzipped(LINK_TO_NEXT.as_bytes()), b"more".as_slice()].concat())
        })
    }),
    Case::of_pages("endless-gzip", "Gzip that never ends and holds almost nothing.", |request| {
        // Empty stored blocks (RFC 1951 §3.2.4), without end.
        let head = [GZIP_HEAD.as_slice(), &deflated(LINK_TO_NEXT.as_bytes())].concat();
        on_front(request, || {
            vec![unframed("Content-Encoding: gzip\r\n", &head), Act::endless(&[0, 0, 0, 0xff, 0xff])]
        })
    }),
];

const MIB: usize = 1 << 20;
/// Number of 1 MiB pieces in the largest bomb.
const PIECES: u32 = 1024;
/// RFC 1952 §2.3: deflate, no optional fields, no time, unknown system.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// RFC 1951 §3.2.6: the last block, empty, with fixed codes.
const LAST_BLOCK: [u8; 2] = [3, 0];

static GZIP_BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| gzip_bomb(PIECES));
static GZIP_IN_GZIP_BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| gzipped(&GZIP_BOMB));
static DEFLATE_BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let _ = encoder.write_all(&bomb_page());
    encoder.finish().unwrap_or_default()
});
static BROTLI_BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut bytes = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut bytes, 4096, 1, 22);
    let _ = encoder.write_all(&bomb_page());
    drop(encoder);
    bytes
});
static ZSTD_BOMB: LazyLock<Vec<u8>> =
    LazyLock::new(|| zstd::bulk::compress(&bomb_page(), 1).unwrap_or_default());

/// A link, followed by 4 MiB of spaces.
fn bomb_page() -> Vec<u8> {
    [LINK_TO_NEXT.as_bytes(), &vec![b' '; 4 * MIB]].concat()
}

fn encoded(coding: &str, body: &[u8]) -> Vec<Act> {
    response("200 OK", &[&format!("Content-Encoding: {coding}")], body)
}

pub(in crate::hostile) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Deflate blocks that end on a byte boundary and refer to nothing before them, so that they can be repeated.
fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let _ = encoder.write_all(bytes);
    let _ = encoder.flush();
    encoder.get_ref().clone()
}

/// A link and `pieces` MiB, compressed once and repeated.
fn gzip_bomb(pieces: u32) -> Vec<u8> {
    let (begin, piece) = (LINK_TO_NEXT.as_bytes(), vec![b' '; MIB]);
    let block = deflated(&piece);
    let mut bytes = [GZIP_HEAD.as_slice(), &deflated(begin)].concat();
    let (mut checksum, mut piece_checksum) = (Hasher::new(), Hasher::new());
    checksum.update(begin);
    piece_checksum.update(&piece);
    for _ in 0..pieces {
        bytes.extend_from_slice(&block);
        checksum.combine(&piece_checksum);
    }
    let size = (begin.len() as u32).wrapping_add(pieces.wrapping_mul(MIB as u32));
    bytes.extend_from_slice(&LAST_BLOCK);
    bytes.extend_from_slice(&checksum.finalize().to_le_bytes());
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_bomb_made_of_pieces_is_sound_gzip() {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(gzip_bomb(3).as_slice()).read_to_end(&mut plain).unwrap();
        assert_eq!(plain.len(), LINK_TO_NEXT.len() + 3 * MIB);
        assert!(plain.starts_with(LINK_TO_NEXT.as_bytes()));
    }

    #[test]
    fn bombs_are_small_and_hold_much() {
        assert!(
            GZIP_BOMB.len() < 2 * MIB && GZIP_IN_GZIP_BOMB.len() < 100_000,
            "{} {}",
            GZIP_BOMB.len(),
            GZIP_IN_GZIP_BOMB.len()
        );
        for bomb in [&DEFLATE_BOMB, &BROTLI_BOMB, &ZSTD_BOMB] {
            assert!(!bomb.is_empty() && bomb.len() < 100_000, "{}", bomb.len());
        }
    }
}
