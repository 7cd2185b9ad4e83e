use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use super::entry::{Entry, ExchangeRecord, RoundPart};
use crate::exchange::Outcome;

/// Requests sent and responses received, in the order in which a journal lists them.
///
/// A request that was sent more often than it received a response was in flight when a process died.
#[derive(Debug, Default)]
pub(in crate::survey) struct Unanswered {
    /// For each request, the servers and times at which it was sent, until a response to it is met.
    open: BTreeMap<u32, Vec<(IpAddr, SystemTime)>>,
    lost: Vec<(IpAddr, SystemTime)>,
    /// Responses that were being read when a process died, and how often that happened to each.
    unread: BTreeMap<u32, (ExchangeRecord, u32)>,
}

/// What a journal says about the runs of the survey that wrote it.
#[derive(Debug, Default)]
pub(in crate::survey) struct JournalHistory {
    pub unanswered: Unanswered,
    /// The time in which no request was due: between the runs of the survey, and between the tree's parts in
    /// rounds.
    pub stopped_for: Duration,
    /// As much of it as came before the last request that has a response.
    pub stopped_before_last: Duration,
    /// When the first request was sent.
    pub began: Option<SystemTime>,
    /// The outcome of the walk, if it ended.
    pub outcome: Option<Outcome>,
    /// The tree's parts in rounds.
    pub parts: Vec<RoundPart>,
    /// The latest time on record.
    pub latest: Option<SystemTime>,
    run: Option<SystemTime>,
    /// The time since the latest entry when the walk continued in the same run.
    rested: Duration,
    /// What `stopped_for` was when a request was last sent.
    stopped_before_sending: Duration,
}

impl JournalHistory {
    /// Notes the next entry.
    pub(in crate::survey) fn note(&mut self, entry: &Entry) {
        self.unanswered.note(entry);
        self.note_times(entry);
    }

    fn note_times(&mut self, entry: &Entry) {
        match entry {
            Entry::Opened { run, at } => {
                let rested =
                    self.latest.and_then(|latest| at.duration_since(latest).ok()).unwrap_or_default();
                let is_new_run = self.run.replace(*run).is_some_and(|before| before != *run);
                // If a process died before it recorded the part that it had begun, the next one records it.
                if is_new_run {
                    self.stopped_for += rested;
                } else {
                    self.rested = rested;
                }
                self.latest = self.latest.max(Some(*at));
            }
            Entry::Sending { at, .. } => {
                if self.began.is_none() {
                    (self.began, self.stopped_for) = (Some(*at), Duration::ZERO);
                }
                self.rested = Duration::ZERO;
                self.stopped_before_sending = self.stopped_for;
                self.latest = self.latest.max(Some(*at));
            }
            Entry::Received(record) | Entry::Attempted(record) | Entry::Reading(record) => {
                if record.response.was_sent() {
                    self.stopped_before_last = self.stopped_before_sending;
                }
                self.latest = self.latest.max(Some(record.response.ended()));
            }
            Entry::Ended { outcome } => self.outcome = Some(*outcome),
            Entry::Unsent { .. }
            | Entry::FinalAttempt { .. }
            | Entry::OwnerObjection { .. }
            | Entry::WalkedBy { .. }
            | Entry::Shared(_) => {}
            Entry::Round(part) => {
                self.end_rest();
                self.parts.push(*part);
            }
        }
    }

    /// The tree goes on with its next part: the time since the part before it is no time of the tree.
    pub(in crate::survey) fn end_rest(&mut self) {
        self.stopped_for += std::mem::take(&mut self.rested);
    }
}

/// If this many processes died at the same response, it is not requested again: one death may be chance.
const MAX_DEATHS: u32 = 2;

impl Unanswered {
    pub(in crate::survey) fn note(&mut self, entry: &Entry) {
        match entry {
            Entry::Sending { number, address, at } => {
                self.open.entry(*number).or_default().push((*address, *at));
            }
            Entry::Unsent { number } => {
                self.open.get_mut(number).and_then(Vec::pop);
            }
            Entry::Opened { .. }
            | Entry::FinalAttempt { .. }
            | Entry::OwnerObjection { .. }
            | Entry::WalkedBy { .. }
            | Entry::Ended { .. }
            | Entry::Round(_) => {}
            // A failure that never reached the network does not count as a response: an earlier request stays
            // lost.
            Entry::Received(record) | Entry::Attempted(record) if !record.response.was_sent() => {}
            Entry::Attempted(record) => {
                self.open.get_mut(&record.request.number).and_then(Vec::pop);
            }
            Entry::Reading(record) => {
                let earlier_reading = self
                    .unread
                    .get(&record.request.number)
                    .filter(|(before, _)| before.request == record.request);
                let deaths = earlier_reading.map_or(1, |(_, deaths)| deaths + 1);
                self.unread.insert(record.request.number, ((**record).clone(), deaths));
            }
            Entry::Received(record) => {
                self.unread.remove(&record.request.number);
                // The response belongs to the last time that the request was sent.
                let mut times = self.open.remove(&record.request.number).unwrap_or_default();
                times.pop();
                self.lost.append(&mut times);
            }
            // No request was sent. Earlier ones have no response and will receive none.
            Entry::Shared(record) => {
                self.unread.remove(&record.request.number);
                self.lost.extend(self.open.remove(&record.request.number).unwrap_or_default());
            }
        }
    }

    /// Whether a request was last sent at this time and has no response.
    pub(in crate::survey) fn is_pending(&self, number: u32, at: SystemTime) -> bool {
        self.open.get(&number).and_then(|times| times.last()).is_some_and(|(_, sent_at)| *sent_at == at)
    }

    /// The requests without a response so far, and how often each was sent.
    pub(in crate::survey) fn times(&self) -> HashMap<u32, usize> {
        self.open.iter().map(|(number, times)| (*number, times.len())).collect()
    }

    /// Requests whose responses were being read when a process died.
    pub(in crate::survey) fn suspects(&self) -> impl Iterator<Item = u32> + '_ {
        self.unread.keys().copied()
    }

    /// The responses that are not to be requested again, in the form in which they are to be recorded.
    pub(in crate::survey) fn unreadable(&self) -> Vec<ExchangeRecord> {
        let given_up = self.unread.values().filter(|(_, deaths)| *deaths >= MAX_DEATHS);
        given_up
            .map(|(record, _)| ExchangeRecord::unreadable(record.request.clone(), record.response.clone()))
            .collect()
    }

    /// The number of times that a request was sent without a response on record.
    pub(in crate::survey) fn count(&self) -> u64 {
        self.sent_requests().count() as u64
    }

    /// The server and the time of each request that counts as unanswered.
    pub(in crate::survey) fn sent_requests(&self) -> impl Iterator<Item = (IpAddr, SystemTime)> + '_ {
        self.lost.iter().chain(self.open.values().flatten()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Failure, Purpose};
    use crate::survey::journal::entry::tests::{failed, failed_exchange, record};
    use crate::survey::journal::{Journal, JournalReader};
    use crate::walk::Content;

    #[test]
    fn what_was_lost_stays_counted_once_it_is_answered() {
        let sending =
            |number| Entry::Sending { number, address: [41, 90, 0, 1].into(), at: SystemTime::UNIX_EPOCH };
        let mut unanswered = Unanswered::default();
        for number in [1, 2] {
            [sending(number), sending(number), record(number)]
                .iter()
                .for_each(|entry| unanswered.note(entry));
        }
        assert_eq!((unanswered.count(), unanswered.times().len()), (2, 0));
    }

    #[test]
    fn every_time_a_question_was_put_in_vain_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let (journal, _) = Journal::open(&path).unwrap();
        let at = |second| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(second);
        let sending =
            |number, second| Entry::Sending { number, address: [41, 90, 0, 1].into(), at: at(second) };
        let refused = failed(3, Failure::ServerBudget);
        [
            sending(0, 1),
            record(0),
            sending(1, 2),
            sending(1, 3),
            record(1),
            sending(2, 4),
            sending(2, 5),
            sending(3, 6),
            refused,
            sending(4, 7),
            Entry::Unsent { number: 4 },
            sending(5, 8),
            Entry::Unsent { number: 5 },
            sending(5, 9),
            record(5),
        ]
        .iter()
        .for_each(|entry| journal.write(entry).unwrap());
        let unanswered = JournalReader::open(&path).unwrap().history().unwrap().unanswered;
        let times: Vec<_> = unanswered.sent_requests().map(|(_, time)| time).collect();
        assert_eq!(times, [at(2), at(4), at(5), at(6)], "what was not asked again is no answer");
        assert_eq!(unanswered.count(), 4);
    }

    #[test]
    fn each_try_at_a_question_answers_the_time_it_was_put_last() {
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let sending = |second| Entry::Sending { number: 0, address: [41, 90, 0, 1].into(), at: at(second) };
        let tried = || Entry::Attempted(Box::new(failed_exchange(0, Failure::ConnectTimeout)));
        let mut unanswered = Unanswered::default();
        // Killed at 2, failed attempt at 3, killed at 4, the next address responds at 5.
        for entry in [sending(2), sending(3), tried(), sending(4), sending(5), record(0)] {
            unanswered.note(&entry);
        }
        assert_eq!(unanswered.sent_requests().map(|(_, time)| time).collect::<Vec<_>>(), [at(2), at(4)]);
        // The last attempt is final: nothing is open.
        let mut unanswered = Unanswered::default();
        [sending(2), tried(), Entry::FinalAttempt { number: 0 }]
            .iter()
            .for_each(|entry| unanswered.note(entry));
        assert_eq!(unanswered.count(), 0);
    }

    #[test]
    fn an_answer_at_which_two_processes_died_is_recorded_as_unreadable() {
        let read = |number| Entry::Reading(Box::new(failed_exchange(number, Failure::Reset)));
        let mut unanswered = Unanswered::default();
        let mut counts = Vec::new();
        // A process died at 4; the next one too, after it had read 7.
        for entry in [read(4), read(7), record(7), read(4)] {
            unanswered.note(&entry);
            counts.push((unanswered.suspects().collect::<Vec<_>>(), unanswered.unreadable().len()));
        }
        assert_eq!(counts, [(vec![4], 0), (vec![4, 7], 0), (vec![4], 0), (vec![4], 1)]);
        let unreadable = unanswered.unreadable().remove(0);
        assert_eq!(unreadable.request, failed_exchange(4, Failure::Reset).request);
        assert_eq!(
            (unreadable.response.failure, unreadable.content),
            (Some(Failure::Unreadable), Content::Nothing)
        );
        unanswered.note(&record(4));
        assert!(unanswered.suspects().next().is_none() && unanswered.unreadable().is_empty());
        // A different request under the same number is not suspect because of the first one's deaths.
        let mut other = failed_exchange(4, Failure::Reset);
        other.request.purpose = Purpose::Robots;
        [read(4), Entry::Reading(Box::new(other))].iter().for_each(|entry| unanswered.note(entry));
        assert_eq!((unanswered.suspects().count(), unanswered.unreadable().len()), (1, 0));
    }

    #[test]
    fn the_time_between_parts_in_rounds_is_no_time_of_the_tree() {
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let opened = |second| Entry::Opened { run: at(1), at: at(second) };
        let sending =
            |number, second| Entry::Sending { number, address: [41, 90, 0, 1].into(), at: at(second) };
        let part = |round| Entry::Round(RoundPart { round, price: 0.5, until: 9 });
        let mut history = JournalHistory::default();
        let mut stopped_after = |entries: &[Entry]| {
            entries.iter().for_each(|entry| history.note(entry));
            [history.stopped_for, history.stopped_before_last].map(|time| time.as_secs())
        };
        assert_eq!(stopped_after(&[opened(10), part(1), sending(0, 20), record(0)]), [0, 0]);
        // Put off within its part until 50; the second part begins at 100.
        assert_eq!(stopped_after(&[opened(50), sending(1, 60), record(1), opened(100), part(2)]), [40, 0]);
        assert_eq!(stopped_after(&[sending(2, 110), record(2), opened(500), part(3)]), [430, 40]);
        // No time follows that a request was sent in if the request was taken back, or is lost.
        let unsent = Entry::Unsent { number: 3 };
        assert_eq!(stopped_after(&[sending(3, 510), unsent, sending(3, 520)]), [430, 40]);
        // A process dies between the two entries with which a part begins.
        let reopened = Entry::Opened { run: at(900), at: at(1000) };
        assert_eq!(stopped_after(&[record(3), opened(720), reopened, part(4)]), [430 + 200 + 280, 430]);
    }

    #[test]
    fn a_stop_before_the_first_request_is_no_time_of_the_tree() {
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let opened = |run, second| Entry::Opened { run: at(run), at: at(second) };
        let sending = Entry::Sending { number: 0, address: [41, 90, 0, 1].into(), at: at(810) };
        let part = Entry::Round(RoundPart { round: 2, price: 0.5, until: 9 });
        let mut history = JournalHistory::default();
        for entry in [opened(1, 10), opened(500, 500), opened(500, 800), part, sending, record(0)] {
            history.note(&entry);
        }
        assert_eq!((history.began, history.stopped_for), (Some(at(810)), Duration::ZERO));
        history.note(&opened(900, 1000));
        assert_eq!(history.stopped_for, Duration::from_secs(190));
    }

    #[test]
    fn the_time_between_runs_is_told_from_a_put_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let (journal, _) = Journal::open(&path).unwrap();
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let opened = |run, second| Entry::Opened { run: at(run), at: at(second) };
        let sending =
            |number, second| Entry::Sending { number, address: [41, 90, 0, 1].into(), at: at(second) };
        // Put off from 20 to 100; killed during a request at 110; resumed at 500, killed at once, resumed at
        // 700.
        [opened(1, 10), sending(0, 20), opened(1, 100), sending(1, 110), opened(450, 500), opened(690, 700)]
            .iter()
            .for_each(|entry| journal.write(entry).unwrap());
        assert_eq!(
            JournalReader::open(&path).unwrap().history().unwrap().stopped_for,
            Duration::from_secs(390 + 200)
        );
    }
}
