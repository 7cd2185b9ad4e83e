use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use brotli::DecompressorWriter;
use bytes::Bytes;
use flate2::write::{DeflateDecoder, ZlibDecoder};
use parking_lot::{Mutex, MutexGuard};
use zstd::stream::raw;
use zstd::stream::raw::DParameter;
use zstd::stream::zio;

use super::gunzip::{Gunzip, NextStage, Stage};

/// Undoes the Content-Encoding of a body piece by piece, and keeps decoded bytes up to a cap.
///
/// A decompression bomb costs no memory beyond that cap and the windows of the decoders: 32 KiB for gzip, 8
/// MiB for zstd (RFC 9659), 16 MiB for Brotli (RFC 7932 §9.1).
pub(super) struct Decoder {
    chain: NextStage,
    output: DecodedBytes,
    fed: bool,
    known: Option<KnownBody>,
}

/// The body before a Web in this process encoded it, passed along with the encoded body of its response.
#[derive(Clone)]
pub(super) struct Identity(pub Bytes);

/// A body that need not be decoded if it arrives whole.
struct KnownBody {
    identity: Bytes,
    /// The encoded pieces received so far.
    pieces: Vec<Bytes>,
    is_whole: bool,
}

/// The state of a decoder after a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecodeState {
    More,
    /// More decoded bytes than the cap.
    Full,
    /// The data is not what the Content-Encoding says.
    Broken,
}

/// The largest number of encodings on top of each other that are undone; no honest server applies more.
const MOST_ENCODINGS: usize = 2;
/// A power of 2: the 8 MiB that RFC 9659 §3 allows a zstd window.
const ZSTD_WINDOW_LOG: u32 = 23;
const BUFFER: usize = 32 * 1024;
/// A body is mostly no longer than its first piece times this number; its buffer is then never reallocated.
const ROOM_FOR_PIECES: usize = 8;

impl Decoder {
    /// A decoder for a `Content-Encoding` and for the transfer coding of the body. None when the body is
    /// encoded in a way that cannot be undone, or too many times.
    ///
    /// A `Content-Encoding` with a word that is not a coding (`none`, `UTF-8`, `text/html`) is ignored, and
    /// the body is taken as it is, as in Chromium. An unknown transfer coding cannot be undone (RFC 9112
    /// §6.1).
    pub(super) fn new(
        content_encoding: Option<&str>,
        transfer_coding: Option<&str>,
        cap: usize,
    ) -> Option<Self> {
        let output =
            DecodedBytes(Arc::new(Mutex::new(DecodedStore { bytes: Vec::new(), cap, overflowed: false })));
        let mut chain: NextStage = Box::new(output.clone());
        // The coding applied last is undone first, and transfer codings come after content codings (RFC 9110
        // §8.4).
        let transfer_codings = parse_codings(transfer_coding, &["identity", "none"])?;
        let codings = parse_codings(content_encoding, &["identity"]).unwrap_or_default();
        for (count, coding) in codings.into_iter().chain(transfer_codings).enumerate() {
            if count == MOST_ENCODINGS {
                return None;
            }
            chain = coding.undo(chain)?;
        }
        Some(Self { chain, output, fed: false, known: None })
    }

    /// Passes the bytes decoded so far to `inspect`.
    pub(super) fn inspect<T>(&mut self, inspect: impl FnOnce(&[u8]) -> T) -> T {
        if let Some(known) = &self.known {
            return inspect(&known.identity);
        }
        // Decoders pass their output on in large pieces. One that fails here fails at the next piece too.
        let _ = self.chain.flush();
        inspect(&self.output.store().bytes)
    }

    /// A decoder for a body whose decoded form is known, to be used if the body arrives whole.
    pub(super) fn with_known_body(mut self, identity: Option<Identity>) -> Self {
        let fits_cap = |identity: &Identity| identity.0.len() <= self.output.store().cap;
        let identity = identity.filter(fits_cap);
        self.known =
            identity.map(|Identity(identity)| KnownBody { identity, pieces: Vec::new(), is_whole: false });
        self
    }

    pub(super) fn feed(&mut self, piece: &Bytes) -> DecodeState {
        self.fed |= !piece.is_empty();
        if let Some(known) = &mut self.known {
            known.pieces.push(piece.clone());
            return DecodeState::More;
        }
        let fed = self.chain.write_all(piece);
        self.state(&fed)
    }

    /// The body is complete: checks whether the encoded data is too.
    pub(super) fn end(&mut self) -> DecodeState {
        if !self.fed {
            return DecodeState::More;
        }
        if let Some(known) = &mut self.known {
            known.is_whole = true;
            return DecodeState::More;
        }
        let ended = self.chain.end();
        self.state(&ended)
    }

    fn state(&self, result: &io::Result<()>) -> DecodeState {
        match result {
            _ if self.output.store().overflowed => DecodeState::Full,
            Ok(()) => DecodeState::More,
            Err(_) => DecodeState::Broken,
        }
    }

    /// The decoded bytes, including those of a body that broke off.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        let Self { mut chain, output, known, .. } = self;
        if let Some(KnownBody { identity, pieces, is_whole }) = known {
            if is_whole {
                return identity.into();
            }
            // A body that broke off is decoded as far as it arrived.
            let _ = pieces.iter().try_for_each(|piece| chain.write_all(piece));
        }
        // This may fail where decoding failed before; the bytes that it passes on count.
        let _ = chain.flush();
        drop(chain);
        mem::take(&mut output.store().bytes)
    }
}

/// A coding from the HTTP registry (RFC 9110 §8.4.1, RFC 9842 §3.3), and `zstd` (RFC 9659).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
    /// Not in our Accept-Encoding, and no browser undoes it without a dictionary.
    Other,
}

impl Coding {
    /// None for a word that is not a coding.
    fn from_token(token: &str) -> Option<Self> {
        let unsupported = ["compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip", "aes128gcm"];
        let is = |name: &str| token.eq_ignore_ascii_case(name);
        Some(match () {
            () if is("gzip") || is("x-gzip") => Self::Gzip,
            () if is("deflate") => Self::Deflate,
            () if is("br") => Self::Brotli,
            () if is("zstd") => Self::Zstd,
            () if unsupported.into_iter().any(is) => Self::Other,
            () => return None,
        })
    }

    fn undo(self, next: NextStage) -> Option<NextStage> {
        Some(match self {
            Self::Gzip => Box::new(Gunzip::new(next)),
            Self::Deflate => Box::new(TrailingIgnored::new(Inflate::Undecided(Vec::new(), Some(next)))),
            Self::Brotli => Box::new(TrailingIgnored::new(DecompressorWriter::new(next, BUFFER))),
            Self::Zstd => {
                let mut decoder = raw::Decoder::new().ok()?;
                decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).ok()?;
                Box::new(zio::Writer::new(next, decoder))
            }
            Self::Other => return None,
        })
    }
}

/// The codings of a list in the order in which they were applied, without those that have no effect. None
/// where a word in the list is not a coding.
fn parse_codings(list: Option<&str>, ignored: &[&str]) -> Option<Vec<Coding>> {
    let tokens = list.unwrap_or("").split(',').map(str::trim).filter(|token| !token.is_empty());
    let tokens = tokens.filter(|token| !ignored.iter().any(|ignored| token.eq_ignore_ascii_case(ignored)));
    tokens.map(Coding::from_token).collect()
}

/// The end of the chain: keeps bytes up to the cap.
#[derive(Clone)]
struct DecodedBytes(Arc<Mutex<DecodedStore>>);

struct DecodedStore {
    bytes: Vec<u8>,
    cap: usize,
    overflowed: bool,
}

impl DecodedBytes {
    fn store(&self) -> MutexGuard<'_, DecodedStore> {
        self.0.lock()
    }
}

impl Write for DecodedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut store = self.store();
        let consumed = bytes.len().min(store.cap - store.bytes.len());
        if store.bytes.is_empty() {
            let room = (ROOM_FOR_PIECES * bytes.len()).min(store.cap);
            store.bytes.reserve_exact(room);
        }
        store.bytes.extend_from_slice(&bytes[..consumed]);
        if consumed < bytes.len() {
            store.overflowed = true;
            return Err(io::Error::other("more decoded bytes than the cap"));
        }
        Ok(consumed)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stage for DecodedBytes {
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A decoder that ignores bytes after the end of its data, as browsers do. The inner decoder signals its end
/// by taking no bytes.
struct TrailingIgnored<D> {
    decoder: D,
    ended: bool,
}

impl<D> TrailingIgnored<D> {
    fn new(decoder: D) -> Self {
        Self { decoder, ended: false }
    }
}

impl<D: Write> Write for TrailingIgnored<D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(bytes.len());
        }
        let consumed = self.decoder.write(bytes)?;
        self.ended = consumed == 0 && !bytes.is_empty();
        Ok(if self.ended { bytes.len() } else { consumed })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.decoder.flush()
    }
}

impl Stage for TrailingIgnored<DecompressorWriter<NextStage>> {
    fn end(&mut self) -> io::Result<()> {
        self.decoder.close()?;
        self.decoder.get_mut().end()
    }
}

impl Stage for zio::Writer<NextStage, raw::Decoder<'static>> {
    fn end(&mut self) -> io::Result<()> {
        self.finish()?;
        self.writer_mut().end()
    }
}

/// `deflate` is zlib by the standard (RFC 9110 §8.4.1.2) and raw deflate on some servers; the first two bytes
/// tell which. Data that ends early is not detected here.
enum Inflate {
    Undecided(Vec<u8>, Option<NextStage>),
    Zlib(ZlibDecoder<NextStage>),
    Raw(DeflateDecoder<NextStage>),
}

impl Inflate {
    fn begin(start: &[u8], next: NextStage) -> io::Result<Self> {
        // RFC 1950 §2.2: the method is 8, and the two bytes are a multiple of 31.
        let zlib = start[0] & 0x0f == 8 && (u16::from(start[0]) << 8 | u16::from(start[1])) % 31 == 0;
        if zlib {
            let mut decoder = ZlibDecoder::new(next);
            decoder.write_all(start)?;
            Ok(Self::Zlib(decoder))
        } else {
            let mut decoder = DeflateDecoder::new(next);
            decoder.write_all(start)?;
            Ok(Self::Raw(decoder))
        }
    }
}

impl Write for Inflate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Zlib(decoder) => decoder.write(bytes),
            Self::Raw(decoder) => decoder.write(bytes),
            Self::Undecided(start, next) => {
                let consumed = bytes.len().min(2 - start.len());
                start.extend_from_slice(&bytes[..consumed]);
                if start.len() == 2
                    && let Some(next) = next.take()
                {
                    *self = Self::begin(&mem::take(start), next)?;
                }
                Ok(consumed)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Zlib(decoder) => decoder.flush(),
            Self::Raw(decoder) => decoder.flush(),
            Self::Undecided(..) => Ok(()),
        }
    }
}

impl Stage for TrailingIgnored<Inflate> {
    fn end(&mut self) -> io::Result<()> {
        match &mut self.decoder {
            Inflate::Zlib(decoder) => {
                decoder.try_finish()?;
                decoder.get_mut().end()
            }
            Inflate::Raw(decoder) => {
                decoder.try_finish()?;
                decoder.get_mut().end()
            }
            Inflate::Undecided(..) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
