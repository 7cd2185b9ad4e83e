//! One exchange, from its connection to the last byte of its body.

pub(super) mod body;

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use reqwest::header::HeaderValue;
use reqwest::{Request, Response, StatusCode, Version};
use tokio::time::{Instant, sleep_until};

use super::connect::request::request_bytes;
use super::connect::wire::WireCount;
use super::connect::{Moments, Notes};
use super::decode::Decoder;
use super::line::Line;
use super::raw::body_use::{BodyUse, is_markup};
use super::raw::is_http2;
use super::{Clock, Settings};
use super::{head, tls};
use crate::address::WebUrl;
use crate::exchange::{
    self, Challenge, Failure, Head, HostFacts, Purpose, Timings, Wire, is_refusal, requests_pause,
};
use body::{BodyLimits, BodyRead, IncomingBody, Meter, WantedBody};

/// The number of decoded bytes of a refusal that are searched for marks of a block page.
const BLOCK_PAGE: usize = 16 * 1024;

/// One exchange in progress.
pub(super) struct Exchange<'a> {
    pub settings: &'a Settings,
    pub line: &'a Line,
    pub address: IpAddr,
    pub url: &'a WebUrl,
    pub purpose: Purpose,
    pub encrypted: bool,
    /// The limit on received bytes.
    pub wire_limit: u64,
    pub clock: Clock,
    pub meter: &'a dyn Meter,
}

impl Exchange<'_> {
    pub(super) async fn run(self, request: Request, start: Instant) -> (exchange::Response, Vec<u8>) {
        let deadline = start + self.settings.timeouts.whole;
        let notes = Arc::<Notes>::default();
        let idle = self.line.begin_exchange();
        let mut tally = WireCount::new(self.encrypted);
        let sent = request_bytes(&request);
        let response = Notes::during(notes.clone(), self.head(request, &notes, start, deadline)).await;
        let head_received = Instant::now();
        let moments = notes.moments();
        tally.add_request(&moments, sent, response.is_ok());
        let mut outcome = self.blank_response(self.clock.at(start));
        outcome.timings = timings(&moments, start, head_received, response.is_ok());
        let mut bytes = Vec::new();
        match response {
            Ok(response)
                if moments.connect_start.is_none() && response.status() == StatusCode::REQUEST_TIMEOUT =>
            {
                // RFC 9110 §15.5.9: with this status a server closes an idle connection.
                tally.add_head(&response);
                self.line.note_limit(|limit| limit.note_closed(idle));
                self.line.hang_up();
                outcome.failure = Some(Failure::IdleClosed);
            }
            Ok(response) => {
                let read = self.read(response, &mut outcome, &mut tally, (start, deadline)).await;
                outcome.failure = read.failure;
                bytes = read.bytes;
            }
            Err(failure) => {
                if failure == Failure::HeaderTooLarge {
                    tally.add_oversized_head();
                }
                let was_idle = failure == Failure::Reset && moments.connect_start.is_none();
                if was_idle {
                    self.line.note_limit(|limit| limit.note_closed(idle));
                }
                outcome.failure = Some(if was_idle { Failure::IdleClosed } else { failure });
                outcome.may_speak_older_tls = moments.may_speak_older_tls;
            }
        }
        outcome.wire = tally.wire;
        // Whether an exchange opens a connection depends on time; robots.txt comes first.
        if self.encrypted && self.purpose == Purpose::Robots {
            outcome.facts.certificate = self.line.certificate_check.certificate();
        }
        outcome.after_head = tally.body;
        outcome.body_bytes = bytes.len() as u64;
        outcome.timings.total = start.elapsed();
        self.line.end_exchange();
        (outcome, bytes)
    }

    /// From the connection to the head of the response.
    async fn head(
        &self,
        request: Request,
        notes: &Notes,
        start: Instant,
        deadline: Instant,
    ) -> Result<Response, Failure> {
        let first_byte = self.settings.timeouts.first_byte;
        let mut pending = pin!(self.line.execute(request, self.url, self.purpose, notes));
        let mut timer = pin!(sleep_until(deadline));
        poll_fn(|cx| {
            if let Poll::Ready(result) = pending.as_mut().poll(cx) {
                return Poll::Ready(result);
            }
            let moments = notes.moments();
            let due = head_deadline(&moments, start, first_byte).map_or(deadline, |due| due.min(deadline));
            if timer.deadline() != due {
                timer.as_mut().reset(due);
            }
            timer.as_mut().poll(cx).map(|()| Err(timeout_failure(&moments)))
        })
        .await
    }

    /// From the head to the end: fills in `outcome` and reads as much of the body as is needed.
    async fn read(
        &self,
        response: Response,
        outcome: &mut exchange::Response,
        tally: &mut WireCount,
        (start, deadline): (Instant, Instant),
    ) -> BodyRead {
        let failed = |failure| BodyRead { bytes: Vec::new(), failure: Some(failure) };
        if self.is_from_wrong_address(&response) {
            tracing::error!(address = %self.address, "discarded a response from another address");
            return failed(Failure::AddressRefused);
        }
        if !tally.add_head(&response) {
            return failed(Failure::HeaderTooLarge);
        }
        let now = self.clock.system_time_at(outcome.started + start.elapsed());
        outcome.status = Some(response.status().as_u16());
        outcome.head = head::pick(response.status().as_u16(), response.headers(), now);
        outcome.facts = head::pick_facts(response.headers(), self.encrypted);
        if let Some(Ok(value)) = response.headers().get("keep-alive").map(HeaderValue::to_str) {
            self.line.note_limit(|limit| limit.note_field(value));
        }
        outcome.http_version = Some(format!("{:?}", response.version()));
        outcome.tls_version = tls::version(response.extensions());
        let content_type = outcome.head.content_type.as_deref();
        let body_use = BodyUse::for_response(self.purpose, &response, content_type, self.settings.max_body);
        let is_http_09 = response.version() == Version::HTTP_09;
        let Settings { timeouts, pause_allowance, .. } = self.settings;
        let limits = BodyLimits {
            meter: self.meter,
            pause_allowance: *pause_allowance,
            idle: timeouts.idle,
            deadline,
        };
        let body = IncomingBody::new(response, limits);
        let read = match body_use {
            BodyUse::Keep(cap, media_type) => {
                let encoding = outcome.head.content_encoding.as_deref();
                let wanted = WantedBody { encoding, cap, media_type, wire_limit: self.wire_limit };
                let read = body.keep(wanted, tally).await;
                let status = outcome.status.filter(|_| outcome.head.challenge.is_none());
                if let (Purpose::Robots, Some(status), true) = (self.purpose, status, is_markup(&read.bytes))
                {
                    outcome.head.challenge = Challenge::from_body(status, &read.bytes);
                }
                read
            }
            BodyUse::Drain => {
                let encoding = outcome.head.content_encoding.as_deref();
                let status = outcome.status.filter(|_| outcome.head.challenge.is_none());
                let block_page = status.filter(|status| is_refusal(*status) || requests_pause(Some(*status)));
                let decoder = block_page.and_then(|_| Decoder::new(encoding, None, BLOCK_PAGE));
                let bytes = body.drain(self.wire_limit, decoder, tally).await;
                if let Some(status) = block_page {
                    outcome.head.challenge = Challenge::from_body(status, &bytes);
                }
                BodyRead::default()
            }
            BodyUse::HangUp => BodyRead::default(),
        };
        if is_http_09 && !is_markup(&read.bytes) {
            outcome.status = None;
            return failed(if self.encrypted && is_http2(&read.bytes) {
                Failure::TlsHttp2Only
            } else {
                Failure::BadHttp
            });
        }
        if read.failure == Some(Failure::OddHttp) {
            (outcome.status, outcome.head) = (None, Head::default());
            outcome.facts = HostFacts::default();
        }
        read
    }

    /// Whether the response came from an address other than the expected one. The line cannot lead anywhere
    /// else; this is a second check.
    fn is_from_wrong_address(&self, response: &Response) -> bool {
        let expected = self.settings.gateway.map_or(self.address, |gateway| gateway.ip());
        response.remote_addr().is_some_and(|actual| actual.ip().to_canonical() != expected.to_canonical())
    }

    fn blank_response(&self, started: SystemTime) -> exchange::Response {
        exchange::Response {
            started,
            address: Some(self.address),
            status: None,
            failure: None,
            head: Head::default(),
            http_version: None,
            tls_version: None,
            tls_error: self.line.certificate_check.defect().map(|defect| defect.as_str().to_owned()),
            wire: Wire::default(),
            timings: Timings::default(),
            body_bytes: 0,
            facts: HostFacts::default(),
            after_head: 0,
            may_speak_older_tls: false,
        }
    }
}

/// The deadline for the head of the response: `first_byte` after the request could be sent. It cannot be sent
/// while the connection is being set up, which has time-outs of its own.
fn head_deadline(moments: &Moments, start: Instant, first_byte: Duration) -> Option<Instant> {
    match (moments.connect_start, moments.ready) {
        (_, Some(ready)) => Some(ready + first_byte),
        (Some(_), None) if !moments.failed => None,
        _ => Some(start + first_byte),
    }
}

/// The failure that names what the exchange was waiting for when its time was over.
fn timeout_failure(moments: &Moments) -> Failure {
    match (moments.connect_start, moments.tls_start, moments.ready) {
        (Some(_), None, None) => Failure::ConnectTimeout,
        (Some(_), Some(_), None) => Failure::TlsTimeout,
        _ => Failure::FirstByteTimeout,
    }
}

fn timings(moments: &Moments, start: Instant, head_received: Instant, has_response: bool) -> Timings {
    let connected = moments.tls_start.or(moments.ready);
    let span = |from: Option<Instant>, to: Option<Instant>| Some(to?.saturating_duration_since(from?));
    Timings {
        dns: None,
        connect: span(moments.connect_start, connected),
        tls: span(moments.tls_start, moments.ready),
        first_byte: has_response
            .then(|| head_received.saturating_duration_since(moments.ready.unwrap_or(start))),
        total: Duration::ZERO,
    }
}
