use std::net::IpAddr;
use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::exchange::{Failure, Outcome, Purpose, Request, Response};
use crate::walk::Content;

/// One entry of a site tree's journal.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::survey) enum Entry {
    /// A request is being sent to a server.
    Sending { number: u32, address: IpAddr, at: SystemTime },
    /// The final result of a request.
    Received(Box<ExchangeRecord>),
    /// The last request that was to be sent was never sent: no connection could be made, or none was allowed.
    Unsent { number: u32 },
    /// The walk continues, in the run of the survey that began at `run`.
    Opened { run: SystemTime, at: SystemTime },
    /// The result of an attempt at a request that has a fallback: another address, older TLS, or a new
    /// connection.
    Attempted(Box<ExchangeRecord>),
    /// There was no further fallback: the result of the last attempt is the final one.
    FinalAttempt { number: u32 },
    /// A response is about to be read. Holds what is known of it except its content.
    Reading(Box<ExchangeRecord>),
    /// The next exchange recorded under this number should not have happened: an objection of the owner stood
    /// against it.
    OwnerObjection { number: u32, had_opted_out: bool, in_quiet_hours: bool },
    /// From here on, an agent walks the tree.
    WalkedBy { agent: String },
    /// The walk ended here, with this outcome. The next tree of the site may have begun since.
    Ended { outcome: Outcome },
    /// The response for a robots.txt that another tree fetched less than a day ago. This tree sent no
    /// request.
    Shared(Box<ExchangeRecord>),
    /// The tree's part in a round begins.
    Round(RoundPart),
}

/// A tree's part in a round of a survey with a budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::survey) struct RoundPart {
    /// The number of the round.
    pub round: u32,
    /// The number of new external hosts that a request must be expected to bring.
    pub price: f64,
    /// The number of the tree's requests at which the part ends.
    pub until: u64,
}

impl Entry {
    /// The result of a request or of an attempt at it. None for a shared response, which is on record in
    /// another tree.
    pub(in crate::survey) fn into_record(self) -> Option<Box<ExchangeRecord>> {
        match self {
            Self::Received(record) | Self::Attempted(record) => Some(record),
            _ => None,
        }
    }
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(in crate::survey) struct ExchangeRecord {
    pub request: Request,
    pub response: Response,
    pub content: Content,
    /// The bytes that the page or file took when it was last transferred whole, if the server said that it
    /// has not changed since.
    pub unchanged_bytes: Option<u64>,
}

/// Stored as its fields, followed by what later versions added, so that entries of earlier versions can be
/// read ([`ExchangeRecord::LATER`]).
impl Serialize for ExchangeRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Response { head, facts, .. } = &self.response;
        (RecordFields(self), head.challenge, facts, self.content.page_facts()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ExchangeRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (ReadRecordFields(mut record), challenge, facts, page_facts) =
            Deserialize::deserialize(deserializer)?;
        record.response.head.challenge = challenge;
        record.response.facts = facts;
        record.content.set_page_facts(page_facts);
        Ok(record)
    }
}

/// The fields as `serde` derives them.
struct RecordFields<'a>(&'a ExchangeRecord);
struct ReadRecordFields(ExchangeRecord);

impl Serialize for RecordFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ExchangeRecord::serialize(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for ReadRecordFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ExchangeRecord::deserialize(deserializer).map(Self)
    }
}

impl ExchangeRecord {
    /// The bytes that entries of earlier versions lack at their end, as postcard writes them: no challenge
    /// was seen, and nothing of host and page. Entries that have a part of them are followed by more than they
    /// lack, which is not read.
    pub(in crate::survey) const LATER: [u8; 12] = [0; 12];

    /// Whether it is a page of its tree.
    pub(in crate::survey) fn is_page(&self) -> bool {
        matches!(self.content, Content::Page(_))
            && self.request.purpose != Purpose::Probe
            && self.response.head.challenge.is_none()
    }

    /// A response that could not be read.
    pub(in crate::survey) fn unreadable(request: Request, response: Response) -> Self {
        Self::nothing(request, Response { failure: Some(Failure::Unreadable), ..response })
    }

    /// A response that carries nothing for the walk.
    pub(in crate::survey) fn nothing(request: Request, response: Response) -> Self {
        Self { request, response, content: Content::Nothing, unchanged_bytes: None }
    }
}

#[cfg(test)]
pub(in crate::survey) mod tests {
    use super::*;
    use crate::address::WebUrl;
    use crate::exchange::Challenge;
    use crate::page::{Page, Source};

    pub(crate) fn record(number: u32) -> Entry {
        failed(number, Failure::Reset)
    }

    pub(crate) fn failed(number: u32, failure: Failure) -> Entry {
        Entry::Received(Box::new(failed_exchange(number, failure)))
    }

    pub(crate) fn failed_exchange(number: u32, failure: Failure) -> ExchangeRecord {
        let url = WebUrl::parse(&format!("http://a.ke/{number}")).unwrap();
        let request = Request { number, url, purpose: Purpose::Page, depth: None };
        let response = Response::not_sent(SystemTime::UNIX_EPOCH, None, failure, None);
        let content = Content::Robots(vec![number as u8; 50]);
        ExchangeRecord { request, response, content, unchanged_bytes: None }
    }

    #[test]
    fn what_earlier_versions_lack_is_no_challenge() {
        let mut record = failed_exchange(3, Failure::Reset);
        let bytes = postcard::to_stdvec(&record).unwrap();
        let (earlier, later) = bytes.split_at(bytes.len() - ExchangeRecord::LATER.len());
        assert_eq!(later, ExchangeRecord::LATER);
        postcard::from_bytes::<ExchangeRecord>(earlier).unwrap_err();
        let read: ExchangeRecord = postcard::from_bytes(&[earlier, &ExchangeRecord::LATER].concat()).unwrap();
        assert_eq!(read, record);
        for challenge in Challenge::ALL {
            record.response.head.challenge = Some(*challenge);
            let bytes = postcard::to_stdvec(&record).unwrap();
            assert_eq!(postcard::from_bytes::<ExchangeRecord>(&bytes).unwrap(), record);
        }
    }

    #[test]
    fn a_page_of_the_tree_is_one_that_was_asked_for_as_such() {
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let source = Source { body: b"x", url: &url, content_type: None, robots_tag: None };
        let page = Content::Page(Box::new(Page::read(source)));
        let counts_as_page = |purpose, content: &Content| {
            let mut record = failed_exchange(0, Failure::Reset);
            (record.request.purpose, record.content) = (purpose, content.clone());
            record.is_page()
        };
        assert!(counts_as_page(Purpose::Page, &page) && !counts_as_page(Purpose::Probe, &page));
        assert!(
            !counts_as_page(Purpose::Page, &Content::Nothing)
                && !counts_as_page(Purpose::Probe, &Content::Nothing)
        );
    }
}
