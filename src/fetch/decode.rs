use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brotli::DecompressorWriter;
use bytes::Bytes;
use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};
use zstd::stream::raw;
use zstd::stream::raw::DParameter;
use zstd::stream::zio;

/// Undoes the Content-Encoding of a body piece by piece, keeping at most so many decoded bytes.
///
/// A bomb costs no memory beyond that cap and the windows of the decoders: 32 KiB for gzip,
/// 8 MiB for zstd (RFC 9659), 16 MiB for Brotli (RFC 7932 §9.1).
pub(super) struct Decoder {
    chain: Next,
    kept: Kept,
    fed: bool,
    known: Option<Known>,
}

/// What a Web in this process encoded, beside the encoded body of its answer.
#[derive(Clone)]
pub(super) struct Identity(pub Bytes);

/// A body that need not be decoded if it comes whole.
struct Known {
    identity: Bytes,
    /// What came of it, encoded.
    pieces: Vec<Bytes>,
    is_whole: bool,
}

/// How a decoder stands after a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fed {
    More,
    /// More decoded bytes than the cap.
    Full,
    /// Not what the Content-Encoding says.
    Broken,
}

/// Encodings on top of each other that are undone; no honest server applies more.
const MOST_ENCODINGS: usize = 2;
/// A power of 2: the 8 MiB that RFC 9659 §3 allows a zstd window.
const ZSTD_WINDOW_LOG: u32 = 23;
const BUFFER: usize = 32 * 1024;
/// A body is mostly no longer than so many times its first piece, and then never moved to a larger place.
const ROOM_FOR_PIECES: usize = 8;

impl Decoder {
    /// A decoder for a `Content-Encoding`; none when it names an unknown one or too many.
    pub(super) fn new(content_encoding: Option<&str>, cap: usize) -> Option<Self> {
        let kept = Kept(Arc::new(Mutex::new(Store { bytes: Vec::new(), cap, overflowed: false })));
        let mut chain: Next = Box::new(kept.clone());
        let names = content_encoding.unwrap_or("").split(',').map(|name| name.trim().to_ascii_lowercase());
        // The last one listed was applied last (RFC 9110 §8.4) and is undone first.
        for (count, name) in names.filter(|name| !name.is_empty() && name != "identity").enumerate() {
            if count == MOST_ENCODINGS {
                return None;
            }
            chain = undo(&name, chain)?;
        }
        Some(Self { chain, kept, fed: false, known: None })
    }

    /// The same for a body of which it is known what it is when it is whole.
    pub(super) fn knowing(mut self, identity: Option<Identity>) -> Self {
        let fits = |identity: &Identity| identity.0.len() <= self.kept.store().cap;
        let identity = identity.filter(fits);
        self.known =
            identity.map(|Identity(identity)| Known { identity, pieces: Vec::new(), is_whole: false });
        self
    }

    pub(super) fn feed(&mut self, piece: &Bytes) -> Fed {
        self.fed |= !piece.is_empty();
        if let Some(known) = &mut self.known {
            known.pieces.push(piece.clone());
            return Fed::More;
        }
        let fed = self.chain.write_all(piece);
        self.state(&fed)
    }

    /// The body is complete: is what was encoded?
    pub(super) fn end(&mut self) -> Fed {
        if !self.fed {
            return Fed::More;
        }
        if let Some(known) = &mut self.known {
            known.is_whole = true;
            return Fed::More;
        }
        let ended = self.chain.end();
        self.state(&ended)
    }

    fn state(&self, result: &io::Result<()>) -> Fed {
        match result {
            _ if self.kept.store().overflowed => Fed::Full,
            Ok(()) => Fed::More,
            Err(_) => Fed::Broken,
        }
    }

    /// What was decoded, also of a body that broke off.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        let Self { mut chain, kept, known, .. } = self;
        if let Some(Known { identity, pieces, is_whole }) = known {
            if is_whole {
                return identity.into();
            }
            // What broke off is decoded as far as it came.
            let _ = pieces.iter().try_for_each(|piece| chain.write_all(piece));
        }
        // It may fail where decoding failed before; what it passes on counts.
        let _ = chain.flush();
        drop(chain);
        mem::take(&mut kept.store().bytes)
    }
}

/// A stage of decoding that passes its output on.
trait Stage: Write + Send {
    /// The input is complete; an error if the encoded data is not.
    fn end(&mut self) -> io::Result<()>;
}

type Next = Box<dyn Stage>;

fn undo(name: &str, next: Next) -> Option<Next> {
    Some(match name {
        "gzip" | "x-gzip" => Box::new(Ending::new(GzDecoder::new(next))),
        "deflate" => Box::new(Ending::new(Inflate::Undecided(Vec::new(), Some(next)))),
        "br" => Box::new(Ending::new(DecompressorWriter::new(next, BUFFER))),
        "zstd" => {
            let mut decoder = raw::Decoder::new().ok()?;
            decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).ok()?;
            Box::new(zio::Writer::new(next, decoder))
        }
        _ => return None,
    })
}

/// The end of the chain: keeps bytes up to the cap.
#[derive(Clone)]
struct Kept(Arc<Mutex<Store>>);

struct Store {
    bytes: Vec<u8>,
    cap: usize,
    overflowed: bool,
}

impl Kept {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut store = self.store();
        let taken = bytes.len().min(store.cap - store.bytes.len());
        if store.bytes.is_empty() {
            let room = (ROOM_FOR_PIECES * bytes.len()).min(store.cap);
            store.bytes.reserve_exact(room);
        }
        store.bytes.extend_from_slice(&bytes[..taken]);
        if taken < bytes.len() {
            store.overflowed = true;
            return Err(io::Error::other("more decoded bytes than the cap"));
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stage for Kept {
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A decoder whose data may be followed by more bytes, which are ignored as browsers do: it
/// tells its end by taking nothing.
struct Ending<D> {
    decoder: D,
    ended: bool,
}

impl<D> Ending<D> {
    fn new(decoder: D) -> Self {
        Self { decoder, ended: false }
    }
}

impl<D: Write> Write for Ending<D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(bytes.len());
        }
        let taken = self.decoder.write(bytes)?;
        self.ended = taken == 0 && !bytes.is_empty();
        Ok(if self.ended { bytes.len() } else { taken })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.decoder.flush()
    }
}

impl Stage for Ending<GzDecoder<Next>> {
    fn end(&mut self) -> io::Result<()> {
        self.decoder.try_finish()?;
        self.decoder.get_mut().end()
    }
}

impl Stage for Ending<DecompressorWriter<Next>> {
    fn end(&mut self) -> io::Result<()> {
        self.decoder.close()?;
        self.decoder.get_mut().end()
    }
}

impl Stage for zio::Writer<Next, raw::Decoder<'static>> {
    fn end(&mut self) -> io::Result<()> {
        self.finish()?;
        self.writer_mut().end()
    }
}

/// `deflate` is zlib by the standard (RFC 9110 §8.4.1.2) and raw in some servers; the first two
/// bytes tell. That the data ended early is not noticed here.
enum Inflate {
    Undecided(Vec<u8>, Option<Next>),
    Zlib(ZlibDecoder<Next>),
    Raw(DeflateDecoder<Next>),
}

impl Inflate {
    fn begin(start: &[u8], next: Next) -> io::Result<Self> {
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
                let taken = bytes.len().min(2 - start.len());
                start.extend_from_slice(&bytes[..taken]);
                if start.len() == 2
                    && let Some(next) = next.take()
                {
                    *self = Self::begin(&mem::take(start), next)?;
                }
                Ok(taken)
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

impl Stage for Ending<Inflate> {
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
