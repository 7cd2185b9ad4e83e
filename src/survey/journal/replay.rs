use std::collections::HashMap;
use std::path::Path;

use super::JournalReader;
use super::entry::{Entry, ExchangeRecord};
use crate::survey::error::SurveyError;
use crate::walk::OnRecord;

/// The recorded responses of a tree, returned by request number. They were written in order of arrival, so
/// only a few are held at a time.
pub(in crate::survey) struct Replay {
    reader: JournalReader,
    ahead: HashMap<u32, RecordedResult>,
}

/// What is on record for a request.
#[derive(Debug, Default, PartialEq)]
pub(in crate::survey) struct RecordedResult {
    /// Failed attempts before a fallback: another address, older TLS, or a new connection.
    pub tries: Vec<ExchangeRecord>,
    /// The offset of the last failed attempt in the journal.
    pub last_try_at: u64,
    /// None if a process died after a failed attempt.
    pub response: Option<ExchangeRecord>,
    /// The response was received by another tree.
    pub is_shared: bool,
}

impl RecordedResult {
    pub(in crate::survey) fn request(&self) -> Option<&crate::exchange::Request> {
        self.tries.first().or(self.response.as_ref()).map(|record| &record.request)
    }
}

impl Replay {
    pub(in crate::survey) fn open(path: &Path) -> Result<Self, SurveyError> {
        Ok(Self { reader: JournalReader::open(path)?, ahead: HashMap::new() })
    }

    /// What is on record for this request; it can still be taken.
    pub(in crate::survey) fn peek(&mut self, number: u32) -> Result<Option<&RecordedResult>, SurveyError> {
        if let Some(recorded) = self.take(number)? {
            self.ahead.insert(number, recorded);
        }
        Ok(self.ahead.get(&number))
    }

    /// The part of the record that a walk needs to know.
    pub(in crate::survey) fn on_record(&mut self, number: u32) -> Result<OnRecord, SurveyError> {
        if let Some(request) = self.peek(number)?.and_then(RecordedResult::request) {
            return Ok(OnRecord::Requested(request.clone()));
        }
        let has_later = self.ahead.keys().any(|later| *later > number);
        Ok(if has_later { OnRecord::Lost } else { OnRecord::Nothing })
    }

    /// Takes what is on record for this request.
    pub(in crate::survey) fn take(&mut self, number: u32) -> Result<Option<RecordedResult>, SurveyError> {
        while self.ahead.get(&number).is_none_or(|recorded| recorded.response.is_none()) {
            let at = self.reader.offset();
            match self.reader.next()? {
                Some(entry) => self.add_entry(entry, at),
                None => break,
            }
        }
        Ok(self.ahead.remove(&number))
    }

    fn add_entry(&mut self, entry: Entry, at: u64) {
        match entry {
            Entry::Received(record) => {
                let recorded = self.ahead.entry(record.request.number).or_default();
                recorded.response = Some(*record);
            }
            Entry::Shared(record) => {
                let recorded = self.ahead.entry(record.request.number).or_default();
                (recorded.response, recorded.is_shared) = (Some(*record), true);
            }
            Entry::Attempted(record) => {
                let recorded = self.ahead.entry(record.request.number).or_default();
                recorded.tries.push(*record);
                recorded.last_try_at = at;
            }
            Entry::FinalAttempt { number } => {
                if let Some(recorded) = self.ahead.get_mut(&number) {
                    recorded.response = recorded.tries.pop();
                }
            }
            Entry::Sending { .. }
            | Entry::Unsent { .. }
            | Entry::Opened { .. }
            | Entry::Reading(_)
            | Entry::OwnerObjection { .. }
            | Entry::WalkedBy { .. }
            | Entry::Ended { .. }
            | Entry::Round(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Failure;
    use crate::survey::journal::Journal;
    use crate::survey::journal::entry::tests::{failed, failed_exchange, record};

    #[test]
    fn answers_that_came_in_another_order_are_given_back_by_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let (journal, _) = Journal::open(&path).unwrap();
        [0, 2, 1, 4].iter().for_each(|number| journal.write(&record(*number)).unwrap());
        let mut replay = Replay::open(&path).unwrap();
        let taken: Vec<bool> = (0..5).map(|number| replay.take(number).unwrap().is_some()).collect();
        assert_eq!(taken, [true, true, true, false, true]);
    }

    #[test]
    fn tries_come_with_their_answer_and_the_last_one_is_it_where_it_stands() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let (journal, _) = Journal::open(&path).unwrap();
        let tried = |number, failure| Entry::Attempted(Box::new(failed_exchange(number, failure)));
        let (refused, late) = (Failure::ConnectRefused, Failure::ConnectTimeout);
        let entries = [
            tried(0, refused),
            tried(1, late),
            failed(0, Failure::Reset),
            tried(1, refused),
            Entry::FinalAttempt { number: 1 },
            tried(2, late),
        ];
        entries.iter().for_each(|entry| journal.write(entry).unwrap());
        let mut replay = Replay::open(&path).unwrap();
        let failures =
            |tries: &[ExchangeRecord]| tries.iter().filter_map(|it| it.response.failure).collect::<Vec<_>>();
        for (number, tries, response) in
            [(0, vec![refused], Some(Failure::Reset)), (1, vec![late], Some(refused)), (2, vec![late], None)]
        {
            assert!(replay.peek(number).unwrap().is_some());
            let recorded = replay.take(number).unwrap().unwrap();
            assert_eq!(failures(&recorded.tries), tries, "{number}");
            assert_eq!(recorded.response.and_then(|record| record.response.failure), response, "{number}");
        }
        assert_eq!(replay.take(3).unwrap(), None);
    }

    #[test]
    fn what_is_not_on_record_was_lost_where_something_later_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let (journal, _) = Journal::open(&path).unwrap();
        let tried = Entry::Attempted(Box::new(failed_exchange(3, Failure::ConnectTimeout)));
        [record(0), record(2), tried].iter().for_each(|entry| journal.write(entry).unwrap());
        let mut replay = Replay::open(&path).unwrap();
        let requested = |number| OnRecord::Requested(failed_exchange(number, Failure::Reset).request);
        for (number, expected) in [
            (0, requested(0)),
            (1, OnRecord::Lost),
            (2, requested(2)),
            (3, requested(3)),
            (4, OnRecord::Nothing),
        ] {
            assert_eq!(replay.on_record(number).unwrap(), expected, "{number}");
        }
        assert!(replay.take(2).unwrap().is_some(), "it can still be taken");
    }
}
