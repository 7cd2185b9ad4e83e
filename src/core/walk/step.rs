use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::{PageKey, ScriptKey};
use crate::exchange::Request;
use crate::page::{Page, PageFacts};

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Send this request, with at least this pause between requests if the host asks for one. Polling again
    /// returns the same request until [`Walk::begin`](super::Walk::begin), or one for a robots.txt that has
    /// grown old meanwhile.
    Request(Request, Option<Duration>),
    /// A response in flight decides what is next.
    Wait,
    /// Nothing that waits is worth the price of the round: the walk continues with
    /// [`Walk::next_round`](super::Walk::next_round), or ends with
    /// [`Walk::end_rounds`](super::Walk::end_rounds).
    RoundOver,
    /// The tree is finished.
    Done,
}

/// The part of a response that the walk reads, besides the head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Content {
    /// Nothing that the walk reads.
    #[default]
    Nothing,
    /// An HTML page.
    Page(Box<Page>),
    /// The body of a robots.txt.
    Robots(Vec<u8>),
}

/// What pages tell that are none.
static NO_FACTS: PageFacts = PageFacts::NONE;

impl Content {
    /// What the page tells of its site. The serialized content does not include it: it is stored separately,
    /// because earlier versions did not have it.
    #[must_use]
    pub fn page_facts(&self) -> &PageFacts {
        if let Self::Page(page) = self { &page.facts } else { &NO_FACTS }
    }

    /// Restores what the page tells of its site.
    pub fn set_page_facts(&mut self, facts: PageFacts) {
        if let Self::Page(page) = self {
            page.facts = facts;
        }
    }
}

/// What earlier trees of the same site know: such pages are not fetched again, such scripts are used up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Pages that were requested.
    pub pages: HashSet<PageKey>,
    /// The number of query URLs of each script that were requested.
    pub scripts: HashMap<ScriptKey, u32>,
}

/// What is on record for the next request.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OnRecord {
    /// It is sent for the first time, or its response was lost and nothing later is on record.
    #[default]
    Nothing,
    /// An earlier run sent it and recorded the result.
    Requested(Request),
    /// Its response was lost, and the response to a later request is on record.
    Lost,
}

impl OnRecord {
    pub(super) fn request(&self) -> Option<&Request> {
        if let Self::Requested(request) = self { Some(request) } else { None }
    }
}
