use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;

use parking_lot::{Mutex, MutexGuard};

use crate::frontier::{Allowances, Round, RoundMember, UnfinishedTree, UnfinishedTrees};
use crate::records::{BudgetUsed, FURTHER_REQUESTS, LeftRecord, RoundRecord};
use crate::roster::{RoundPlan, RoundPlanner, TreeBetweenRounds};
use crate::survey::error::SurveyError;
use crate::survey::storage::encode;
use crate::survey::storage::progress::RoundStatus;
use crate::walk::Waiting;

/// The rounds of a survey with a budget of requests: which trees have a part in the round, and how far.
pub(in crate::survey) struct Rounds {
    most_requests: u64,
    current: Mutex<CurrentRound>,
    used: Mutex<BudgetUsed>,
    /// The URLs that the planned round is for: their mean expected yield, and their number.
    planned: Mutex<Option<(f64, u64)>>,
}

#[derive(Default)]
struct CurrentRound {
    round: Option<Round>,
    /// Since when no further tree waits to begin its part.
    all_begun: Option<SystemTime>,
    /// The trees whose part has not begun.
    waiting: VecDeque<u64>,
    /// For each tree of the round, the number of its requests at which its part ends.
    until: HashMap<u64, u64>,
}

/// A tree's part in the round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::survey) struct CurrentPart {
    pub round: Round,
    /// The number of the tree's requests at which it ends.
    pub until: u64,
}

impl Rounds {
    pub(in crate::survey) fn new(most_requests: u64, used: BudgetUsed) -> Self {
        Self { most_requests, current: Mutex::default(), used: Mutex::new(used), planned: Mutex::default() }
    }

    /// The budget of the survey, and the rounds that have ended.
    pub(in crate::survey) fn used(&self) -> BudgetUsed {
        self.lock_used().clone()
    }

    /// Begins a round at this time, by the clock of the system, or goes on with one that an earlier run began.
    pub(in crate::survey) fn begin(&self, round: Round, members: Vec<RoundMember>, now: SystemTime) {
        let planned = self.planned().take();
        let records = &mut self.lock_used().rounds;
        if let Some(price) = round.price
            && records.iter().all(|record| record.number != round.number)
        {
            records.push(RoundRecord {
                number: round.number,
                price,
                expected: planned.map(|(mean, _)| mean),
                urls: planned.map_or(0, |(_, urls)| urls),
                trees: members.len() as u64,
                began: now.into(),
                ended: now.into(),
                waited_seconds: 0.0,
            });
        }
        let waiting = members.iter().map(|member| member.order).collect();
        let until = members.into_iter().map(|RoundMember { order, until }| (order, until)).collect();
        *self.current() = CurrentRound { round: Some(round), all_begun: None, waiting, until };
    }

    /// Records that the round has ended; `system_time` gives the time of the system's clock.
    pub(in crate::survey) fn end(&self, now: SystemTime, system_time: impl Fn(SystemTime) -> SystemTime) {
        let current = self.current();
        let Some(round) = current.round else { return };
        let waited = current.all_begun.and_then(|since| now.duration_since(since).ok()).unwrap_or_default();
        drop(current);
        let records = &mut self.lock_used().rounds;
        if let Some(record) = records.iter_mut().find(|record| record.number == round.number) {
            record.ended = system_time(now).into();
            record.waited_seconds = waited.as_secs_f64();
        }
    }

    /// The next tree whose part begins.
    pub(in crate::survey) fn take_next(&self, now: SystemTime) -> Option<u64> {
        let mut current = self.current();
        let next = current.waiting.pop_front();
        if next.is_none() {
            current.all_begun.get_or_insert(now);
        }
        next
    }

    /// The round, and the number of trees whose part in it has not begun.
    pub(in crate::survey) fn standing(&self) -> Option<(Round, usize)> {
        let current = self.current();
        current.round.map(|round| (round, current.waiting.len()))
    }

    /// The round, for the status.
    pub(in crate::survey) fn status(&self) -> Option<RoundStatus> {
        let (Round { number, price }, waiting) = self.standing()?;
        Some(RoundStatus { number, price, trees_to_begin: waiting as u64, budget: self.most_requests })
    }

    /// The part of a tree in the round.
    pub(in crate::survey) fn part_of(&self, order: u64) -> Option<CurrentPart> {
        let current = self.current();
        let until = current.until.get(&order).copied()?;
        current.round.map(|round| CurrentPart { round, until })
    }

    /// Plans the round with this number; `sent` is the number of requests that the survey has sent.
    pub(in crate::survey) fn plan(
        &self,
        number: u32,
        sent: u64,
        trees: &UnfinishedTrees<'_>,
    ) -> Result<Option<Allowances>, redb::Error> {
        let read =
            || -> Result<_, redb::Error> { Ok(trees.read()?.map(|tree| tree.and_then(between_rounds))) };
        let plan = RoundPlanner::new(self.most_requests).next(number, sent, read)?;
        *self.planned() = plan.as_ref().and_then(|plan| Some((plan.mean_expected()?, plan.urls)));
        if plan.is_some() {
            self.lock_used().left = None;
        } else {
            let further = RoundPlanner::further(FURTHER_REQUESTS, read)?;
            self.note_left(further.as_ref());
        }
        Ok(plan.map(|plan| Allowances { price: plan.price, requests: plan.allowances }))
    }

    /// Records what is left once the budget is spent, or nothing waits any more. What was recorded before
    /// stays: sites that are tried again after that are not what the survey would have requested next.
    pub(in crate::survey) fn note_left(&self, further: Option<&RoundPlan>) {
        self.lock_used().left.get_or_insert(LeftRecord {
            requests: FURTHER_REQUESTS,
            useful: further.map_or(0, |plan| plan.useful),
            expected: further.and_then(RoundPlan::mean_expected),
        });
    }

    fn planned(&self) -> MutexGuard<'_, Option<(f64, u64)>> {
        self.planned.lock()
    }

    fn lock_used(&self) -> MutexGuard<'_, BudgetUsed> {
        self.used.lock()
    }

    fn current(&self) -> MutexGuard<'_, CurrentRound> {
        self.current.lock()
    }
}

/// Encodes what waits in a tree, for [`between_rounds`].
pub(in crate::survey) fn encode_waiting(waiting: &Waiting) -> Result<Vec<u8>, SurveyError> {
    encode(&(waiting.is_entering, waiting.certain, &waiting.scores))
}

/// A tree as it stands between two rounds. One that had no part in a round waits to be entered.
fn between_rounds((number, waiting): UnfinishedTree) -> Result<TreeBetweenRounds, redb::Error> {
    let Some(waiting) = waiting else {
        return Ok(TreeBetweenRounds { is_entering: true, ..TreeBetweenRounds::nothing(number) });
    };
    match postcard::from_bytes(&waiting) {
        Ok((is_entering, certain, scores)) => Ok(TreeBetweenRounds { number, is_entering, certain, scores }),
        Err(error) => Err(redb::Error::Corrupted(format!("what waits in site tree {number}: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_round_that_two_runs_took_part_in_is_one_round() {
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let members =
            |orders: &[u64]| orders.iter().map(|order| RoundMember { order: *order, until: 2 }).collect();
        let round = Round { number: 1, price: Some(0.5) };
        let killed = Rounds::new(9, BudgetUsed::default());
        killed.begin(round, members(&[0, 1, 2]), at(10));
        let resumed = Rounds::new(9, killed.used());
        resumed.begin(round, members(&[2]), at(500));
        assert_eq!((resumed.take_next(at(500)), resumed.take_next(at(501))), (Some(2), None));
        resumed.end(at(504), |time| time);
        let records = resumed.used().rounds;
        assert_eq!(records.len(), 1);
        assert_eq!((records[0].trees, records[0].waited_seconds), (3, 3.0));
        assert_eq!((records[0].began, records[0].ended), (at(10).into(), at(504).into()));
        // In the last round nothing is sent.
        resumed.begin(Round { number: 2, price: None }, members(&[0]), at(600));
        resumed.end(at(601), |time| time);
        assert_eq!(resumed.used().rounds, records);
    }
}
