//! The parts of the room `fetch` that read bytes of servers, without its sockets.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use hickory_proto::rr::Record;
use reqwest::header::HeaderMap;

use crate::address::{OptOut, OptOuts, WebUrl};
use crate::exchange::Head;

#[path = "../../../src/fetch/decode.rs"]
mod decode;
#[path = "../../../src/fetch/gate.rs"]
mod gate;
#[path = "../../../src/fetch/gunzip.rs"]
mod gunzip;
#[path = "../../../src/fetch/head.rs"]
mod head;
#[path = "../../../src/fetch/retry_after.rs"]
mod retry_after;
#[path = "../../../src/fetch/route.rs"]
mod route;

/// What a survey keeps of a response's header fields, on a day in 2026.
pub fn head_of(headers: &HeaderMap) -> Head {
    head::pick(200, headers, UNIX_EPOCH + Duration::from_secs(1_795_000_000))
}

/// A body in pieces without its content encoding, at most `cap` bytes of it; none if the encoding is unknown.
pub fn decoded<'a>(
    encoding: Option<&str>,
    pieces: impl Iterator<Item = &'a [u8]>,
    cap: usize,
) -> Option<Vec<u8>> {
    let mut decoder = decode::Decoder::new(encoding, None, cap)?;
    let mut state = decode::DecodeState::More;
    for piece in pieces {
        state = decoder.feed(&Bytes::copy_from_slice(piece));
        if state != decode::DecodeState::More {
            break;
        }
    }
    if state == decode::DecodeState::More {
        decoder.end();
    }
    Some(decoder.into_bytes())
}

/// The address among these answers that a survey would contact for a URL, special ones never.
pub fn chosen_address(url: &WebUrl, answers: &[Record]) -> Option<IpAddr> {
    let no_opt_outs = OptOuts::new(OptOut::default(), Box::new(|_| None));
    // With a gateway, so that no routing table decides.
    let gate = gate::Gate::new(Arc::new(no_opt_outs), false, true);
    let address = gate.choose(&gate::addresses_in(answers), &[]).address.ok()?;
    gate.check_exchange(url, address).ok().map(|()| address)
}
