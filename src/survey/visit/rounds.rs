use std::collections::VecDeque;

use crate::frontier::EndedPart;
use crate::survey::error::SurveyError;
use crate::survey::journal::Journal;
use crate::survey::journal::entry::{Entry, RoundPart};
use crate::survey::journal::history::JournalHistory;
use crate::survey::parts::Parts;
use crate::survey::parts::rounds::encode_waiting;
use crate::walk::{External, Waiting, Walk};

/// The rounds of a visit: those on record, which are walked again, and the one that this visit is for.
pub(super) struct VisitRounds {
    upcoming: VecDeque<RoundPart>,
    /// The number of the tree's requests at which the part ends.
    until: u64,
    /// The prices of parts that began in the middle of a request. The walk enters them after it.
    due: VecDeque<f64>,
    /// No further request is sent: the tree ends with what it has.
    is_last: bool,
    /// The number of external URLs that were reported at the end of earlier parts.
    reported: usize,
}

impl VisitRounds {
    /// The rounds of a visit of this tree; none if the survey has no rounds. Records the part that begins.
    pub(super) fn begin(
        parts: &Parts,
        order: u64,
        journal: &Journal,
        history: &mut JournalHistory,
    ) -> Result<Option<Self>, SurveyError> {
        let Some(rounds) = &parts.rounds else { return Ok(None) };
        let current = rounds.part_of(order);
        let is_last = current.is_some_and(|part| part.round.price.is_none());
        if let Some(current) = current
            && let Some(price) = current.round.price
            && history.parts.last().is_none_or(|last| last.round < current.round.number)
        {
            let part = RoundPart { round: current.round.number, price, until: current.until };
            let entry = Entry::Round(part);
            journal.write(&entry)?;
            history.note(&entry);
        } else if is_last {
            history.end_rest();
        }
        let upcoming = history.parts.iter().copied().collect();
        Ok(Some(Self { upcoming, until: 0, due: VecDeque::new(), is_last, reported: 0 }))
    }

    /// Whether a tree that has counted this many requests may send one more in its part. If not, the next
    /// part begins, if there is one.
    pub(super) fn allows(&mut self, counted: u64) -> bool {
        while counted >= self.until {
            if !self.take_next() {
                return false;
            }
        }
        true
    }

    /// Begins the next part; returns false if there is none. The walk enters it when it can.
    fn take_next(&mut self) -> bool {
        let Some(next) = self.upcoming.pop_front() else { return false };
        self.until = next.until;
        self.due.push_back(next.price);
        true
    }

    /// Whether no further request is sent.
    pub(super) fn is_last(&self) -> bool {
        self.is_last
    }

    /// Whether the walk must enter a part before it requests anything new.
    pub(super) fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The walk's round is over: it enters the next part, or ends if there is no further round. Returns false
    /// if it waits for the next round.
    pub(super) fn go_on(&mut self, walk: &mut Walk) -> bool {
        if self.due.is_empty() {
            self.take_next();
        }
        let known = walk.externals().len();
        match self.due.pop_front() {
            Some(price) => walk.next_round(price),
            None if self.is_last => walk.end_rounds(),
            None => return false,
        }
        self.reported = known;
        true
    }
}

/// The state of a tree at the end of its part in a round; `counted` is the number of requests that its budget
/// counts.
pub(super) fn ended_part(
    parts: &Parts,
    rounds: &VisitRounds,
    walk: &Walk,
    counted: u64,
    waiting: Option<&Waiting>,
) -> Result<EndedPart, SurveyError> {
    let candidates = |externals: &[External]| parts.boundaries.candidates_among(externals);
    let reported = candidates(&walk.externals()[..rounds.reported]).len();
    let found = candidates(walk.externals()).split_off(reported);
    Ok(EndedPart { counted, waiting: waiting.map(encode_waiting).transpose()?, found })
}
