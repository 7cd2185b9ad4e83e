use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::Response;
use reqwest::header::{CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};
use tokio::time::{Instant, timeout_at};

use crate::exchange::{Failure, MediaType, RECEIVE_WINDOW, Sniffed, sniff};
use crate::fetch::connect::wire::{WireCount, ends_in_chunked};
use crate::fetch::decode::{DecodeState, Decoder};
use crate::fetch::raw::Unframed;

/// Decides when an exchange may read on: the rate of the survey may be used up.
pub trait Meter: Send + Sync {
    /// Waits until the exchange may have transferred `bytes` in total, in both directions.
    fn read_on(&self, bytes: u64) -> BoxFuture<'_, ()>;
}

/// A meter for exchanges without a rate limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unmetered;

impl Meter for Unmetered {
    fn read_on(&self, _bytes: u64) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

/// The body of a response as it arrives, within its time-outs.
pub(in crate::fetch) struct IncomingBody<'a> {
    response: Response,
    /// The end of the connection marks its end, not a length or a last chunk.
    unframed: bool,
    /// The number of bytes left, where only this type counts them. A server that names a transfer coding
    /// other than `chunked` (such as `identity`) and a length goes by the length, as browsers do, and may
    /// keep the connection open.
    remaining: Option<u64>,
    length: Option<u64>,
    limits: BodyLimits<'a>,
}

/// How fast and for how long a body is read.
pub(in crate::fetch) struct BodyLimits<'a> {
    pub meter: &'a dyn Meter,
    /// How much longer the exchange may take because it pauses.
    pub pause_allowance: Duration,
    /// Between two pieces.
    pub idle: Duration,
    /// Of the whole exchange, unless it pauses.
    pub deadline: Instant,
}

/// Which body to read, and how much of it.
pub(in crate::fetch) struct WantedBody<'a> {
    /// `Content-Encoding`.
    pub encoding: Option<&'a str>,
    /// The limit on decoded bytes.
    pub cap: usize,
    /// The media type, if the body is of use only as a page.
    pub media_type: Option<MediaType>,
    /// The limit on the bytes that the whole exchange receives.
    pub wire_limit: u64,
}

/// The part of a body that was read.
#[derive(Default)]
pub(in crate::fetch) struct BodyRead {
    pub bytes: Vec<u8>,
    pub failure: Option<Failure>,
}

/// An unwanted body up to this length is read to its end to keep the connection alive: a new connection costs
/// as much again in packets, and more with TLS.
const WORTH_DRAINING: u64 = 16 * 1024;

impl<'a> IncomingBody<'a> {
    pub(in crate::fetch) fn new(response: Response, limits: BodyLimits<'a>) -> Self {
        let headers = response.headers();
        let last_coding = headers.get_all(TRANSFER_ENCODING).iter().next_back();
        let is_unchunked = last_coding.is_some_and(|codings| !ends_in_chunked(codings));
        // The HTTP library sees no length for such a body.
        let remaining = if is_unchunked { content_length(headers) } else { None };
        let unframed = remaining.is_none()
            && (response.extensions().get::<Unframed>().is_some()
                || is_unchunked
                || (!headers.contains_key(CONTENT_LENGTH) && last_coding.is_none()));
        let length = if last_coding.is_none() { content_length(headers) } else { remaining };
        Self { response, unframed, remaining, length, limits }
    }

    /// Reads and decodes until the end, or until a cap is reached. If the body turns out not to be a page,
    /// closes the connection and keeps none of it.
    pub(in crate::fetch) async fn keep(mut self, wanted: WantedBody<'_>, tally: &mut WireCount) -> BodyRead {
        let WantedBody { encoding, cap, media_type, wire_limit } = wanted;
        let transfer_coding = transfer_coding(self.response.headers());
        let Some(mut decoder) = Decoder::new(encoding, transfer_coding.as_deref(), cap) else {
            return BodyRead { bytes: Vec::new(), failure: Some(Failure::BodyEncoding) };
        };
        decoder = decoder.with_known_body(self.response.extensions_mut().remove());
        // For most bodies the media type decides.
        let mut undecided_type =
            media_type.filter(|media_type| sniff(*media_type, b"", false) == Sniffed::More);
        let failure = loop {
            if tally.wire.received >= wire_limit {
                break Some(Failure::BodyTooLarge);
            }
            let state = match self.next(tally).await {
                Ok(Some(piece)) => decoder.feed(&piece),
                Ok(None) => break failure_of(decoder.end()),
                Err(failure) => break Some(failure),
            };
            if state != DecodeState::More {
                break failure_of(state);
            }
            match undecided_type.map(|media_type| decoder.inspect(|bytes| sniff(media_type, bytes, false))) {
                Some(Sniffed::NoPage) => return BodyRead::default(),
                Some(Sniffed::Page(_)) => undecided_type = None,
                Some(Sniffed::More) | None => {}
            }
        };
        let bytes = decoder.into_bytes();
        match undecided_type.map(|media_type| sniff(media_type, &bytes, true)) {
            Some(Sniffed::NoPage | Sniffed::More) => BodyRead { bytes: Vec::new(), failure },
            Some(Sniffed::Page(_)) | None => BodyRead { bytes, failure },
        }
    }

    /// Reads a short body that is not wanted; for a longer one, or one beyond the limit, closes the
    /// connection. Returns the output of the decoder, if there is one.
    pub(in crate::fetch) async fn drain(
        mut self,
        wire_limit: u64,
        mut decoder: Option<Decoder>,
        tally: &mut WireCount,
    ) -> Vec<u8> {
        if self.unframed
            || content_length(self.response.headers()).is_some_and(|length| length > WORTH_DRAINING)
        {
            return Vec::new();
        }
        let drain_limit = tally.wire.received + WORTH_DRAINING;
        let is_within_limits = |received| received <= drain_limit && received < wire_limit;
        let mut is_decoding = true;
        while is_within_limits(tally.wire.received)
            && let Ok(Some(piece)) = self.next(tally).await
        {
            if let Some(decoder) = decoder.as_mut().filter(|_| is_decoding) {
                is_decoding = decoder.feed(&piece) == DecodeState::More;
            }
        }
        let Some(mut decoder) = decoder else { return Vec::new() };
        if is_decoding {
            decoder.end();
        }
        decoder.into_bytes()
    }

    /// Waits until the bytes that the server can send, once the next piece is read, are within the rate of
    /// the survey.
    async fn pause(&mut self, tally: &WireCount) -> Result<(), Failure> {
        let transferred = tally.wire.sent + tally.wire.received;
        let outstanding = self.length.map_or(u64::MAX, |length| length.saturating_sub(tally.body));
        let limits = &mut self.limits;
        let start = Instant::now();
        let readable = limits.meter.read_on(transferred + outstanding.min(RECEIVE_WINDOW));
        let result = timeout_at(limits.deadline + limits.pause_allowance, readable).await;
        let paused = start.elapsed().min(limits.pause_allowance);
        limits.pause_allowance -= paused;
        limits.deadline += paused;
        result.map_err(|_| Failure::TooSlow)
    }

    /// The next piece, or none at the end.
    async fn next(&mut self, tally: &mut WireCount) -> Result<Option<Bytes>, Failure> {
        if self.remaining == Some(0) {
            return Ok(None);
        }
        self.pause(tally).await?;
        let BodyLimits { deadline, idle, .. } = self.limits;
        let piece_deadline = deadline.min(Instant::now() + idle);
        match timeout_at(piece_deadline, self.response.chunk()).await {
            Err(_) if piece_deadline == deadline => Err(Failure::TooSlow),
            Err(_) => Err(Failure::IdleTimeout),
            Ok(Ok(Some(mut piece))) => {
                if let Some(remaining) = &mut self.remaining {
                    piece.truncate(usize::try_from(*remaining).unwrap_or(usize::MAX));
                    *remaining -= piece.len() as u64;
                }
                tally.add_piece(piece.len());
                Ok(Some(piece))
            }
            Ok(Ok(None)) if self.remaining.is_some() => Err(Failure::BodyTruncated),
            Ok(Ok(None)) => {
                tally.finish();
                Ok(None)
            }
            Ok(Err(error)) if self.unframed && is_missing_close_notify(&error) => Ok(None),
            Ok(Err(error)) if tally.body == 0 && has_cause(&error, io::ErrorKind::InvalidInput) => {
                Err(Failure::OddHttp)
            }
            Ok(Err(_)) => Err(Failure::BodyTruncated),
        }
    }
}

/// `Content-Length`, if it is a number.
fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// The transfer codings of a body other than `chunked` (RFC 9112 §7), which the HTTP library has already
/// undone.
fn transfer_coding(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(TRANSFER_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let codings = lines.flat_map(|line| line.split(',')).map(str::trim);
    let other_codings: Vec<&str> = codings.filter(|coding| !coding.eq_ignore_ascii_case("chunked")).collect();
    (!other_codings.is_empty()).then(|| other_codings.join(","))
}

fn failure_of(state: DecodeState) -> Option<Failure> {
    match state {
        DecodeState::More => None,
        DecodeState::Full => Some(Failure::BodyTooLarge),
        DecodeState::Broken => Some(Failure::BodyEncoding),
    }
}

/// Whether a TLS connection ended without the alert that should close it. Where the end of the connection is
/// the end of the body, many servers omit the alert, and browsers accept this as the end (RFC 9112 §9.8).
fn is_missing_close_notify(error: &reqwest::Error) -> bool {
    has_cause(error, io::ErrorKind::UnexpectedEof)
}

/// Whether an error of this kind is among the causes. hyper reports chunks that it cannot read as
/// `InvalidInput`.
fn has_cause(error: &reqwest::Error, kind: io::ErrorKind) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let io = error.downcast_ref::<io::Error>();
        if io.is_some_and(|io| io.kind() == kind) {
            return true;
        }
        cause = error.source();
    }
    false
}
