//! Reading a response that the HTTP library cannot read: its head, and a body in its framing.

pub(super) mod body_use;
pub(super) mod raw_body;
pub(super) mod raw_head;

use std::io;
use std::pin::Pin;

use bytes::{Buf, Bytes, BytesMut};
use futures_util::stream::{self, Stream, StreamExt};
use http::Extensions;
use hyper::ext::ReasonPhrase;
use reqwest::{Body, Response, StatusCode, Version};

use super::connect::wire::READ_AHEAD;
use super::tls::SpokenVersion;
use crate::exchange::Failure;
use body_use::is_markup;
use raw_body::Framing;
use raw_head::{ParsedHead, RawHead, end_of_head, parse};

/// Bytes as they arrive from a server.
pub(super) type Pieces = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// Marks a response whose body ends when its connection does, whatever its header fields say.
#[derive(Clone, Copy)]
pub(super) struct Unframed;

/// Up to this many bytes, the most that a status line can have, the data may still turn out not to be HTTP.
const UNCLEAR: usize = 8 * 1024;
/// The length of the shortest HTTP response.
const SHORTEST: usize = 16;
/// The number of bytes of an empty line that may have arrived before.
const LINE_ENDS: usize = 3;
/// Length of the header of an HTTP/2 frame: length, type, flags and stream (RFC 9113 §4.1).
const FRAME_HEAD: usize = 9;

/// Reads a response again that the HTTP library took for a page without a head, because it did not know the
/// version.
pub(super) async fn reread(mut response: Response, has_body: bool) -> Result<Response, Failure> {
    let extensions = std::mem::take(response.extensions_mut());
    let pieces: Pieces = Box::pin(response.bytes_stream().map(|piece| piece.map_err(io::Error::other)));
    match begin(pieces, has_body).await? {
        ResponseStart::Response(head, received, rest) => Ok(with_body(*head, received, rest, extensions)),
        ResponseStart::NotHttp(received, rest) => {
            let first = stream::once(std::future::ready(Ok(received)));
            let mut page = http::Response::new(Body::wrap_stream(first.chain(rest)));
            (*page.version_mut(), *page.extensions_mut()) = (Version::HTTP_09, extensions);
            Ok(page.into())
        }
    }
}

/// Reads the head of a response, and returns the response with its body still arriving.
pub(super) async fn read_response(
    pieces: Pieces,
    has_body: bool,
    extensions: Extensions,
) -> Result<Response, Failure> {
    match begin(pieces, has_body).await? {
        ResponseStart::Response(head, received, rest) => Ok(with_body(*head, received, rest, extensions)),
        ResponseStart::NotHttp(received, _)
            if extensions.get::<SpokenVersion>().is_some() && is_http2(&received) =>
        {
            Err(Failure::TlsHttp2Only)
        }
        ResponseStart::NotHttp(..) => Err(Failure::BadHttp),
    }
}

/// Whether bytes in place of a head are an HTTP/2 frame that begins or ends a connection, SETTINGS or GOAWAY
/// (RFC 9113 §4.1): its length, its type, no flags, stream 0.
pub(super) fn is_http2(bytes: &[u8]) -> bool {
    matches!(bytes, [0, _, _, 4 | 7, 0, 0, 0, 0, 0, ..])
}

/// The beginning of a response, the bytes read after it, and the pieces to come.
enum ResponseStart {
    Response(Box<RawHead>, Bytes, Pieces),
    NotHttp(Bytes, Pieces),
}

/// Reads up to the end of the head. All heads together, including those of interim responses (RFC 9110
/// §15.2), may be no longer than a single head may be.
async fn begin(mut pieces: Pieces, has_body: bool) -> Result<ResponseStart, Failure> {
    let (mut received, mut interim) = (BytesMut::new(), 0);
    loop {
        let piece = match pieces.next().await.transpose() {
            Ok(piece) => piece,
            Err(_) if received.is_empty() => return Err(Failure::Reset),
            // A server may end TLS without `close_notify`, and still have sent enough.
            Err(_) => None,
        };
        let (is_end, before) = (piece.is_none(), received.len().saturating_sub(LINE_ENDS));
        received.extend_from_slice(&piece.unwrap_or_default());
        let is_large = (received.len() + interim) as u64 > READ_AHEAD;
        // A head that arrives in small pieces is not parsed again for each of them.
        if !is_end && !is_large && received.len() > UNCLEAR && end_of_head(&received[before..]).is_none() {
            continue;
        }
        loop {
            match parse(&received, has_body) {
                ParsedHead::Head(head) if (head.length + interim) as u64 > READ_AHEAD => {
                    return Err(Failure::HeaderTooLarge);
                }
                ParsedHead::Head(head) if is_interim(head.status) => {
                    received.advance(head.length);
                    interim += head.length;
                }
                ParsedHead::Head(head) => {
                    let body = received.freeze().split_off(head.length);
                    return Ok(ResponseStart::Response(head, body, pieces));
                }
                ParsedHead::NotHttp if !is_end && received.len() < FRAME_HEAD && !is_markup(&received) => {
                    break;
                }
                ParsedHead::NotHttp => return Ok(ResponseStart::NotHttp(received.freeze(), pieces)),
                ParsedHead::More if is_end && received.len() < SHORTEST => {
                    return Ok(ResponseStart::NotHttp(received.freeze(), pieces));
                }
                ParsedHead::More if is_end => return Err(Failure::Reset),
                ParsedHead::More if !is_large => break,
                ParsedHead::More | ParsedHead::TooLarge => return Err(Failure::HeaderTooLarge),
                ParsedHead::Refused => return Err(Failure::BadHttp),
            }
        }
    }
}

fn is_interim(status: StatusCode) -> bool {
    status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS
}

fn with_body(head: RawHead, received: Bytes, pieces: Pieces, mut extensions: Extensions) -> Response {
    let RawHead { status, version, reason, headers, framing, .. } = head;
    if framing == Framing::ToEnd {
        extensions.insert(Unframed);
    }
    if let Ok(reason) = ReasonPhrase::try_from(reason) {
        extensions.insert(reason);
    }
    let body = RawBody { framing, received, pieces };
    let mut response = http::Response::new(Body::wrap_stream(stream::unfold(Some(body), RawBody::next)));
    *response.status_mut() = status;
    *response.version_mut() = version;
    *response.headers_mut() = headers;
    *response.extensions_mut() = extensions;
    response.into()
}

/// A body that is still arriving.
struct RawBody {
    framing: Framing,
    received: Bytes,
    pieces: Pieces,
}

impl RawBody {
    /// The next piece and the remaining body; reads nothing beyond the body's end.
    async fn next(this: Option<Self>) -> Option<(io::Result<Bytes>, Option<Self>)> {
        let mut this = this?;
        loop {
            match this.framing.next_piece(&mut this.received) {
                Ok(Some(piece)) => return Some((Ok(piece), Some(this))),
                Ok(None) if this.framing.is_over() => return None,
                Ok(None) => {}
                Err(error) => return Some((Err(error), None)),
            }
            match this.pieces.next().await {
                Some(Ok(piece)) => this.received = piece,
                Some(Err(error)) => return Some((Err(error), None)),
                None if this.framing.may_end() => return None,
                None => return Some((Err(io::ErrorKind::UnexpectedEof.into()), None)),
            }
        }
    }
}
