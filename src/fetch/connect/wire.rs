use hyper::ext::ReasonPhrase;
use reqwest::header::{HeaderValue, TRANSFER_ENCODING};
use reqwest::{Response, Version};

use super::Moments;
use super::request::header_bytes;
use crate::exchange::Wire;

/// The size of the buffer of hyper's HTTP/1 connection. It limits the head, and the number of bytes that are
/// read ahead of what was asked for.
pub(in crate::fetch) const READ_AHEAD: u64 = 8192 + 4096 * 100;

/// Framing of a head, or of the bytes read ahead: at most 26 records and 51 chunks, as they are counted here.
pub(in crate::fetch) const FRAMES: u64 = 1024;

/// The largest handshake: TLS messages hold at most 64 KiB of certificates in rustls; the rest is the other
/// messages.
pub(in crate::fetch) const LARGEST_HANDSHAKE: u64 = 72 * 1024;

/// Overhead of a record: 5 bytes of header, 16 of authentication, 1 of type (RFC 8446 §5.2).
const RECORD: u64 = 22;
/// A record holds at most 2^14 bytes (RFC 8446 §5.1).
const RECORD_CONTENT: u64 = 16 * 1024;

/// Our part of a handshake: a ClientHello with a host name of usual length, and the end of the handshake.
const HANDSHAKE_SENT: u64 = 330;
/// The server's part without certificates, between the 480 bytes of a rustls server (ECDSA, small tickets)
/// and the 1000 of a typical OpenSSL server (a 2048-bit RSA signature, two tickets).
const HANDSHAKE_RECEIVED: u64 = 700;
/// The server's part when a session is resumed: no certificates and no signature.
const RESUMPTION_RECEIVED: u64 = 450;

/// The content of a chunk as it is assumed: the chunks themselves are not visible. Servers write them as
/// their buffers fill, usually at 8 kB; each adds four hexadecimal digits and two CRLF (RFC 9112 §7.1).
const CHUNK_CONTENT: u64 = 8 * 1024;
const CHUNK: u64 = 8;
/// The last chunk, `0` CRLF CRLF (RFC 9112 §7.1).
const LAST_CHUNK: u64 = 5;

/// Counts the bytes of one exchange.
pub(in crate::fetch) struct WireCount {
    pub wire: Wire,
    encrypted: bool,
    chunked: bool,
    /// Bytes of the body, before decoding and without framing.
    pub body: u64,
}

impl WireCount {
    pub(in crate::fetch) fn new(encrypted: bool) -> Self {
        Self { wire: Wire::default(), encrypted, chunked: false, body: 0 }
    }

    /// Counts the connection as far as it was set up, and the request if it could be sent.
    ///
    /// A response without a ready connection came over another one, which became free while a new one was
    /// being opened. The new connection stays and counts as well.
    pub(in crate::fetch) fn add_request(&mut self, moments: &Moments, request: u64, has_response: bool) {
        let is_new_connection = moments.ready.or(moments.tls_start).is_some()
            || (moments.connect_start.is_some() && has_response);
        self.wire.connections = u32::from(is_new_connection);
        if moments.tls_start.is_some() {
            self.wire.sent += HANDSHAKE_SENT;
            self.wire.received += match (moments.certificate_bytes, moments.ready) {
                (Some(bytes), _) => HANDSHAKE_RECEIVED + bytes,
                (None, Some(_)) => RESUMPTION_RECEIVED,
                (None, None) => 0,
            };
        }
        if has_response || moments.ready.is_some() || moments.connect_start.is_none() {
            self.wire.sent += request + self.records(request);
        }
    }

    /// Counts the status line and the header lines. Returns whether they are within the limit: a larger head
    /// can get here if it happened to arrive in few pieces.
    pub(in crate::fetch) fn add_head(&mut self, response: &Response) -> bool {
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

    /// Counts a head that was larger than the limit.
    pub(in crate::fetch) fn add_oversized_head(&mut self) {
        self.wire.received += READ_AHEAD;
    }

    /// Counts a piece of the body as it was read. The framing is computed from the length of the body so far,
    /// so that the same body counts the same whatever the pieces in which it arrives.
    pub(in crate::fetch) fn add_piece(&mut self, bytes: usize) {
        let before = self.framed(self.body);
        self.body += bytes as u64;
        self.wire.received += self.framed(self.body) - before;
    }

    fn framed(&self, body: u64) -> u64 {
        let chunks = if self.chunked { body.div_ceil(CHUNK_CONTENT) * CHUNK } else { 0 };
        body + chunks + self.records(body)
    }

    /// Counts the end of the body.
    pub(in crate::fetch) fn finish(&mut self) {
        if self.chunked {
            self.wire.received += LAST_CHUNK;
        }
    }

    fn records(&self, bytes: u64) -> u64 {
        if self.encrypted { bytes.div_ceil(RECORD_CONTENT) * RECORD } else { 0 }
    }
}

/// Whether `chunked` is the last coding of a list (RFC 9112 §6.3).
pub(in crate::fetch) fn ends_in_chunked(codings: &HeaderValue) -> bool {
    let last = codings.as_bytes().rsplit(|byte| *byte == b',').next().unwrap_or_default();
    last.trim_ascii().eq_ignore_ascii_case(b"chunked")
}
