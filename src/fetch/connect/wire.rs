use hyper::ext::ReasonPhrase;
use reqwest::header::{HeaderValue, TRANSFER_ENCODING};
use reqwest::{Response, Version};

use super::Moments;
use super::request::header_bytes;
use crate::exchange::Wire;

/// The largest head that is read, and the most that is read ahead of what we asked for: the
/// buffer of hyper's HTTP/1 connection.
pub(in crate::fetch) const READ_AHEAD: u64 = 8192 + 4096 * 100;

/// What frames a head, or what is read ahead: at most 26 records and 51 chunks, as they are counted here.
pub(in crate::fetch) const FRAMES: u64 = 1024;

/// TLS messages hold at most 64 KiB of certificates in rustls; with the rest of a handshake.
pub(in crate::fetch) const LARGEST_HANDSHAKE: u64 = 72 * 1024;

/// What a record adds: 5 bytes of header, 16 of authentication, 1 of type (RFC 8446 §5.2).
const RECORD: u64 = 22;
/// A record holds at most 2^14 bytes (RFC 8446 §5.1).
const RECORD_CONTENT: u64 = 16 * 1024;

/// Our part of a handshake: a hello with a host name of usual length, and the end.
const HANDSHAKE_SENT: u64 = 330;
/// The server's part without certificates, between the 480 bytes of a rustls server (ECDSA,
/// small tickets) and the 1000 of a usual OpenSSL one (a 2048-bit RSA signature, two tickets).
const HANDSHAKE_RECEIVED: u64 = 700;
/// The server's part when a session is resumed: neither certificates nor signature.
const RESUMPTION_RECEIVED: u64 = 450;

/// Chunks are not visible, only what they hold. Servers write them as their buffers fill, usually 8 kB:
/// four hexadecimal digits and two CRLF each (RFC 9112 §7.1).
const CHUNK_CONTENT: u64 = 8 * 1024;
const CHUNK: u64 = 8;
/// The last chunk, `0` CRLF CRLF (RFC 9112 §7.1).
const LAST_CHUNK: u64 = 5;

/// Counts the bytes of one exchange.
pub(in crate::fetch) struct WireCount {
    pub wire: Wire,
    encrypted: bool,
    chunked: bool,
    /// Of the body, before decoding and without what frames it.
    pub body: u64,
}

impl WireCount {
    pub(in crate::fetch) fn new(encrypted: bool) -> Self {
        Self { wire: Wire::default(), encrypted, chunked: false, body: 0 }
    }

    /// The connection as far as it came, and the request if there was a way for it.
    ///
    /// An answer without a ready connection came over one that became free while a new one was
    /// being opened; the new one stays and counts as well.
    pub(in crate::fetch) fn connected(&mut self, moments: &Moments, request: u64, answered: bool) {
        let opened = moments.ready.or(moments.hello).is_some() || (moments.begun.is_some() && answered);
        self.wire.connections = u32::from(opened);
        if moments.hello.is_some() {
            self.wire.sent += HANDSHAKE_SENT;
            self.wire.received += match (moments.certificate_bytes, moments.ready) {
                (Some(bytes), _) => HANDSHAKE_RECEIVED + bytes,
                (None, Some(_)) => RESUMPTION_RECEIVED,
                (None, None) => 0,
            };
        }
        if answered || moments.ready.is_some() || moments.begun.is_none() {
            self.wire.sent += request + self.records(request);
        }
    }

    /// The status line and the header lines; whether they are no more than the limit. A larger head may be there
    /// when it happened to come in few pieces.
    pub(in crate::fetch) fn head(&mut self, response: &Response) -> bool {
        if response.version() == Version::HTTP_09 {
            return true;
        }
        let status = response.status();
        let reason = match response.extensions().get::<ReasonPhrase>() {
            Some(reason) => reason.as_bytes().len(),
            None => status.canonical_reason().map_or(0, str::len),
        };
        let line = "HTTP/1.1 200 \r\n".len() + reason;
        let bytes = line as u64 + header_bytes(response.headers()) + 2;
        let last_coding = response.headers().get_all(TRANSFER_ENCODING).iter().next_back();
        self.chunked = last_coding.is_some_and(ends_in_chunked);
        let counted = bytes.min(READ_AHEAD);
        self.wire.received += counted + self.records(counted);
        bytes <= READ_AHEAD
    }

    /// A head that was larger than the limit.
    pub(in crate::fetch) fn head_too_large(&mut self) {
        self.wire.received += READ_AHEAD;
    }

    /// A piece of the body as it was read. What frames it is counted by the length of the body so far, so
    /// that the same body counts the same however it came.
    pub(in crate::fetch) fn piece(&mut self, bytes: usize) {
        let before = self.framed(self.body);
        self.body += bytes as u64;
        self.wire.received += self.framed(self.body) - before;
    }

    fn framed(&self, body: u64) -> u64 {
        let chunks = if self.chunked { body.div_ceil(CHUNK_CONTENT) * CHUNK } else { 0 };
        body + chunks + self.records(body)
    }

    /// The end of the body.
    pub(in crate::fetch) fn end(&mut self) {
        if self.chunked {
            self.wire.received += LAST_CHUNK;
        }
    }

    fn records(&self, bytes: u64) -> u64 {
        if self.encrypted { bytes.div_ceil(RECORD_CONTENT) * RECORD } else { 0 }
    }
}

/// Whether chunks are the last coding of a list (RFC 9112 §6.3).
pub(in crate::fetch) fn ends_in_chunked(codings: &HeaderValue) -> bool {
    let last = codings.as_bytes().rsplit(|byte| *byte == b',').next().unwrap_or_default();
    last.trim_ascii().eq_ignore_ascii_case(b"chunked")
}
