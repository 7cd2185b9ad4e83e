use std::net::IpAddr;
use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::exchange::{Failure, Outcome, Purpose, Request, Response};
use crate::walk::Content;

/// One line of a site tree's journal.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::survey) enum Entry {
    /// A question is being put to a server.
    Sending { number: u32, address: IpAddr, at: SystemTime },
    /// What came of a question.
    Received(Box<ExchangeRecord>),
    /// The question that was to be put last was never sent: no connection came about, or none was allowed.
    Unsent { number: u32 },
    /// The walk goes on, in the run of the survey that began at `run`.
    Opened { run: SystemTime, at: SystemTime },
    /// What came of a try at a question that may be put in another way: at another address, by older TLS, or on a new
    /// connection.
    Attempted(Box<ExchangeRecord>),
    /// There was no other way: what came of the last try at a question is its answer.
    FinalAttempt { number: u32 },
    /// An answer is about to be read; what is known of it but its content.
    Reading(Box<ExchangeRecord>),
    /// The exchange that is heard next under this number should not have been: a wish of an owner stood against it.
    OwnerObjection { number: u32, had_opted_out: bool, in_quiet_hours: bool },
    /// From here on an agent walks the tree.
    WalkedBy { agent: String },
    /// The walk has ended here, for this reason: the next tree of the site may have been begun.
    Ended { outcome: Outcome },
    /// The response for a robots.txt that another tree got less than a day ago: none was asked for here.
    Shared(Box<ExchangeRecord>),
}

impl Entry {
    /// What came of a question, or of a try at it; nothing of what is shared, which is on record in another tree.
    pub(in crate::survey) fn into_record(self) -> Option<Box<ExchangeRecord>> {
        match self {
            Self::Received(record) | Self::Attempted(record) => Some(record),
            _ => None,
        }
    }
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(in crate::survey) struct ExchangeRecord {
    pub request: Request,
    pub response: Response,
    pub content: Content,
    /// What the page or file took when it last came whole, where the server said that it has not changed since.
    pub unchanged_bytes: Option<u64>,
}

/// It is stored as its fields, and behind them what came later: so entries of earlier versions can be read
/// ([`ExchangeRecord::LATER`]).
impl Serialize for ExchangeRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (RecordFields(self), self.response.head.challenge).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ExchangeRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (ReadRecordFields(mut record), challenge) = Deserialize::deserialize(deserializer)?;
        record.response.head.challenge = challenge;
        Ok(record)
    }
}

/// What `serde` makes of the fields.
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
    /// What entries of earlier versions lack at their end, as postcard writes it: no challenge was seen.
    pub(in crate::survey) const LATER: [u8; 1] = [0; 1];

    /// Whether it is a page of its tree.
    pub(in crate::survey) fn is_page(&self) -> bool {
        matches!(self.content, Content::Page(_))
            && self.request.purpose != Purpose::Probe
            && self.response.head.challenge.is_none()
    }

    /// An answer that nothing could read.
    pub(in crate::survey) fn unreadable(request: Request, response: Response) -> Self {
        Self::nothing(request, Response { failure: Some(Failure::Unreadable), ..response })
    }

    /// An answer that carries nothing for the walk.
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
        Entry::Received(Box::new(what_was_heard(number, failure)))
    }

    pub(crate) fn what_was_heard(number: u32, failure: Failure) -> ExchangeRecord {
        let url = WebUrl::parse(&format!("http://a.ke/{number}")).unwrap();
        let request = Request { number, url, purpose: Purpose::Page, depth: None };
        let response = Response::not_sent(SystemTime::UNIX_EPOCH, None, failure, None);
        let content = Content::Robots(vec![number as u8; 50]);
        ExchangeRecord { request, response, content, unchanged_bytes: None }
    }

    #[test]
    fn what_earlier_versions_lack_is_no_challenge() {
        let mut record = what_was_heard(3, Failure::Reset);
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
        let of = |purpose, content: &Content| {
            let mut record = what_was_heard(0, Failure::Reset);
            (record.request.purpose, record.content) = (purpose, content.clone());
            record.is_page()
        };
        assert!(of(Purpose::Page, &page) && !of(Purpose::Probe, &page));
        assert!(!of(Purpose::Page, &Content::Nothing) && !of(Purpose::Probe, &Content::Nothing));
    }
}
