use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::{PageKey, ScriptKey};
use crate::exchange::Request;
use crate::page::Page;

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Put this question, with at least this pause between requests if the host asks for one.
    /// Polling again gives the same question until [`Walk::begin`](super::Walk::begin), or a robots.txt that has grown old meanwhile.
    Request(Request, Option<Duration>),
    /// An answer in flight decides what is next.
    Wait,
    /// The tree is finished.
    Done,
}

/// What an answer carried for the walk, beside its head.
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

/// What earlier trees of the same site know: such pages are not fetched again, such scripts are
/// used up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Pages that were asked for.
    pub pages: HashSet<PageKey>,
    /// How many query URLs of each script were asked for.
    pub scripts: HashMap<ScriptKey, u32>,
}

/// What is on record of the next question.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OnRecord {
    /// It is asked for the first time, or its answer was lost and nothing later is on record.
    #[default]
    Nothing,
    /// An earlier run put it and heard what came of it.
    Requested(Request),
    /// Its answer was lost, and that to a later question is on record.
    Lost,
}

impl OnRecord {
    pub(super) fn request(&self) -> Option<&Request> {
        if let Self::Requested(request) = self { Some(request) } else { None }
    }
}
