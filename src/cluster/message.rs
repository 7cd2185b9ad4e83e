use std::cell::RefCell;
use std::io;
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::{Compressor, Decompressor};

use super::ClusterError;
use super::machine::MachineLoad;
use crate::survey::{RemoteRequest, RemoteResponse};

/// The first byte of every message. The coordinator and its agents must be of the same version.
const VERSION: u8 = 6;
/// A reply with a page of 10,000 links of 2 kB each stays below this.
const LARGEST_REPLY: usize = 64 << 20;
/// Compression level: it reduces a reply to a quarter of its size, in little time.
const COMPRESSION_LEVEL: i32 = 1;

/// An agent reports that it is alive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Heartbeat {
    /// Identifies this run of the agent.
    pub id: String,
    pub name: String,
    /// The version of the program.
    pub program: String,
    /// Number of site trees that it walks at once.
    pub sites: u32,
    pub capacity: f64,
    /// Which settings the agent has received ([`SurveyTerms::hash`]); 0 if none.
    pub terms: u64,
    /// The agent takes no further dispatches.
    pub is_leaving: bool,
    /// Number of requests that it is working on.
    pub in_flight: u64,
    /// Since the agent was started, as pages are.
    pub requests: u64,
    pub pages: u64,
    pub machine: MachineLoad,
    /// Time since it sent the last ping that got a reply in time; none if there never was one.
    pub ping_age: Option<Duration>,
}

/// The coordinator's reply to a heartbeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum HeartbeatReply {
    Accepted,
    /// The settings of the survey, and the time by the coordinator's clock now.
    NewTerms(SurveyTerms, SystemTime),
    /// Not now: send the next heartbeat later.
    Wait(String),
    /// The coordinator does not accept this agent.
    Refused(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SurveyTerms {
    /// In the format of `survey.toml`.
    pub settings: String,
    /// Further root certificates (PEM).
    pub roots: Vec<String>,
}

impl SurveyTerms {
    /// Distinguishes these settings from others; never 0.
    pub(super) fn hash(&self) -> u64 {
        let all: Vec<&str> = std::iter::once(&self.settings).chain(&self.roots).map(String::as_str).collect();
        xxh3_64(all.join("\0").as_bytes()).max(1)
    }
}

/// What the coordinator replies to a ping.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PingReply {
    /// By the clock of the survey.
    pub now: SystemTime,
    /// How long before `now` the coordinator looked at the opt-out list.
    pub list_age: Duration,
    /// The version of the list in force.
    pub opt_outs: u64,
}

/// A request, as it is dispatched to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Dispatch {
    /// The last sequence on the subject of the tree.
    pub after: u64,
    pub remote_request: RemoteRequest,
}

/// An event of a site tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Event {
    /// The request that was recorded at `requested_at` is being sent.
    Sending { requested_at: SystemTime },
    /// The request was sent, and there will be no response.
    Lost { requested_at: SystemTime },
    /// The request was not sent, and will not be.
    Unsent { requested_at: SystemTime },
    /// Part `number` of the `part_count` parts of the reply, and when the exchange began, by the
    /// coordinator's clock.
    ResponsePart { requested_at: SystemTime, number: u32, part_count: u32, began: SystemTime, bytes: Vec<u8> },
    /// The exchange wants to have moved this number of bytes in all. Reported to the coordinator only, whose
    /// reply says when it may.
    ReadMore { requested_at: SystemTime, moved: u64 },
    /// No dispatch from before this entry is carried out any more.
    Fence,
}

/// An event that an agent reports to the coordinator only; the bus does not keep it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    pub tree: u64,
    /// Sequence of the agent's last entry on the subject of the tree.
    pub sequence: u64,
    pub event: Event,
}

/// Encodes a message.
pub(super) fn encode(message: &impl Serialize) -> Result<Vec<u8>, ClusterError> {
    postcard::to_extend(message, vec![VERSION]).map_err(|error| ClusterError::Message(error.to_string()))
}

/// Decodes a message, which anyone may have sent.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ClusterError> {
    match bytes.split_first() {
        Some((&VERSION, message)) => match postcard::take_from_bytes(message) {
            Ok((message, [])) => Ok(message),
            Ok(_) => Err(ClusterError::Message("a message is longer than its content".to_owned())),
            Err(error) => Err(ClusterError::Message(format!("a message cannot be decoded: {error}"))),
        },
        Some((version, _)) => Err(ClusterError::Message(format!(
            "a message has version {version} (expected {VERSION}: use the same version of ccsurvey everywhere)"
        ))),
        None => Err(ClusterError::Message("a message is empty".to_owned())),
    }
}

thread_local! {
    // Creating one takes longer than using it.
    static COMPRESSOR: RefCell<io::Result<Compressor<'static>>> = RefCell::new(Compressor::new(COMPRESSION_LEVEL));
    static DECOMPRESSOR: RefCell<io::Result<Decompressor<'static>>> = RefCell::new(Decompressor::new());
}

/// Splits a reply into parts of up to `max_bytes` bytes.
pub(super) fn split_reply(
    requested_at: SystemTime,
    began: SystemTime,
    reply: &RemoteResponse,
    max_bytes: usize,
) -> Result<Vec<Event>, ClusterError> {
    let to_error = |message: String| ClusterError::Message(message);
    let bytes = postcard::to_stdvec(reply).map_err(|error| to_error(error.to_string()))?;
    let packed = COMPRESSOR
        .with_borrow_mut(|compressor| {
            compressor
                .as_mut()
                .map_err(|error| error.to_string())?
                .compress(&bytes)
                .map_err(|error| error.to_string())
        })
        .map_err(to_error)?;
    let parts: Vec<Vec<u8>> = packed.chunks(max_bytes.max(1)).map(<[u8]>::to_vec).collect();
    let part_count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let part = |(number, bytes): (u32, Vec<u8>)| Event::ResponsePart {
        requested_at,
        number,
        part_count,
        began,
        bytes,
    };
    Ok((0..part_count).zip(parts).map(part).collect())
}

/// A reply that arrives in parts.
#[derive(Debug, Default)]
pub(super) struct ReplyParts {
    packed: Vec<u8>,
    next: u32,
}

impl ReplyParts {
    /// Takes the next part; returns the reply with the last one.
    pub(super) fn take(
        &mut self,
        number: u32,
        part_count: u32,
        bytes: &[u8],
    ) -> Result<Option<RemoteResponse>, ClusterError> {
        let invalid = |what: &str| ClusterError::Message(what.to_owned());
        if number == 0 {
            *self = Self::default();
        } else if number < self.next {
            // It arrived twice.
            return Ok(None);
        }
        if number != self.next || part_count <= number || self.packed.len() + bytes.len() > LARGEST_REPLY {
            return Err(invalid("a part of a response is out of order, or the response is too large"));
        }
        self.next += 1;
        self.packed.extend_from_slice(bytes);
        if self.next < part_count {
            return Ok(None);
        }
        let packed = std::mem::take(&mut self.packed);
        let size = LARGEST_REPLY.min(unpacked_bytes(&packed));
        let bytes = DECOMPRESSOR
            .with_borrow_mut(|decompressor| {
                decompressor
                    .as_mut()
                    .map_err(|error| error.to_string())?
                    .decompress(&packed, size)
                    .map_err(|error| error.to_string())
            })
            .map_err(ClusterError::Message)?;
        match postcard::take_from_bytes(&bytes) {
            Ok((reply, [])) => Ok(Some(reply)),
            _ => Err(invalid("a response cannot be decoded")),
        }
    }
}

/// The unpacked size that a frame states; 0 for a frame that states none.
fn unpacked_bytes(packed: &[u8]) -> usize {
    let content_size = zstd::zstd_safe::get_frame_content_size(packed).ok().flatten();
    content_size.map_or(0, |content_size| usize::try_from(content_size).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use proptest::prelude::*;

    use super::*;
    use crate::address::WebUrl;
    use crate::exchange::{Failure, HostFacts, Purpose, Request, Response};
    use crate::page::PageFacts;
    use crate::walk::Content;

    fn reply(bytes: usize) -> RemoteResponse {
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let request = Request { number: 3, url, purpose: Purpose::Robots, depth: None };
        let response = Response::not_sent(UNIX_EPOCH, None, Failure::Reset, None);
        // Bytes that cannot be compressed.
        let body = (0..bytes as u64).map(|at| xxhash_rust::xxh3::xxh3_64(&at.to_le_bytes()) as u8).collect();
        RemoteResponse {
            request,
            response,
            after_head: 7,
            may_speak_older_tls: true,
            challenge: None,
            facts: HostFacts::default(),
            page_facts: PageFacts::NONE,
            content: Content::Robots(body),
        }
    }

    fn parts(reply: &RemoteResponse, max_bytes: usize) -> Vec<(u32, u32, Vec<u8>)> {
        let events = split_reply(UNIX_EPOCH, UNIX_EPOCH, reply, max_bytes).unwrap().into_iter();
        events
            .map(|event| match event {
                Event::ResponsePart { number, part_count, bytes, .. } => (number, part_count, bytes),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_reply_of_many_parts_is_put_together() {
        for (bytes, max_bytes) in [(0, 1000), (10_000, 1000), (10_000, 1), (500_000, 1 << 20)] {
            let reply = reply(bytes);
            let mut reply_parts = ReplyParts::default();
            let parts = parts(&reply, max_bytes);
            let read: Vec<_> = parts
                .iter()
                .map(|(number, part_count, part)| reply_parts.take(*number, *part_count, part).unwrap())
                .collect();
            assert!(read[..read.len() - 1].iter().all(Option::is_none));
            assert_eq!(read.last().unwrap().as_ref(), Some(&reply));
        }
    }

    #[test]
    fn parts_out_of_place_are_no_reply_and_the_next_reply_is_one() {
        let reply = reply(3000);
        let parts = parts(&reply, 1000);
        let mut reply_parts = ReplyParts::default();
        reply_parts.take(1, 4, &parts[1].2).unwrap_err();
        reply_parts.take(0, 4, &parts[0].2).unwrap();
        reply_parts.take(2, 4, &parts[2].2).unwrap_err();
        reply_parts.take(0, 0, &[]).unwrap_err();
        let read: Vec<_> = parts
            .iter()
            .map(|(number, part_count, part)| reply_parts.take(*number, *part_count, part).unwrap())
            .collect();
        assert_eq!(read.last().unwrap().as_ref(), Some(&reply));
    }

    #[test]
    fn a_part_that_comes_twice_counts_once() {
        let reply = reply(3000);
        let mut reply_parts = ReplyParts::default();
        let twice = parts(&reply, 1000).into_iter().flat_map(|part| [part.clone(), part]);
        let read: Vec<_> = twice
            .filter_map(|(number, part_count, part)| {
                reply_parts.take(number, part_count, &part).ok().flatten()
            })
            .collect();
        assert_eq!(read.first(), Some(&reply));
    }

    #[test]
    fn a_reply_that_claims_to_be_huge_is_not_unpacked() {
        let huge = zstd::bulk::compress(&vec![0; LARGEST_REPLY + 1], 1).unwrap();
        assert!(huge.len() < 10_000);
        ReplyParts::default().take(0, 1, &huge).unwrap_err();
    }

    #[test]
    fn a_message_of_another_version_or_with_more_behind_it_is_refused() {
        let event = Event::Sending { requested_at: UNIX_EPOCH };
        let bytes = encode(&event).unwrap();
        assert_eq!(decode::<Event>(&bytes).unwrap(), event);
        let of_another = [&[VERSION + 1], &bytes[1..]].concat();
        let error = decode::<Event>(&of_another).unwrap_err().to_string();
        assert!(
            error.contains(&format!("a message has version {} (expected {VERSION}", VERSION + 1)),
            "{error}"
        );
        decode::<Event>(&[&bytes[..], &[0]].concat()).unwrap_err();
        decode::<Event>(&[]).unwrap_err();
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (decode::<Event>(&bytes), decode::<Heartbeat>(&bytes), decode::<Dispatch>(&bytes), decode::<HeartbeatReply>(&bytes), decode::<PingReply>(&bytes));
            let with_version = [&[VERSION], &bytes[..]].concat();
            let _ = (decode::<Event>(&with_version), decode::<Heartbeat>(&with_version), decode::<Dispatch>(&with_version));
            let _ = ReplyParts::default().take(0, 1, &bytes);
        }
    }
}
