use std::collections::HashMap;
use std::path::Path;

use super::error::SurveyError;
use super::journal::{Entry, Heard, Reader};

/// The recorded answers of a tree, given back by number. They were written in the order of their
/// arrival, so only few are held at a time.
pub(super) struct Replay {
    reader: Reader,
    ahead: HashMap<u32, Heard>,
}

impl Replay {
    pub(super) fn open(path: &Path) -> Result<Self, SurveyError> {
        Ok(Self { reader: Reader::open(path)?, ahead: HashMap::new() })
    }

    /// The answer to this question, if it is recorded; it can still be taken.
    pub(super) fn peek(&mut self, number: u32) -> Result<Option<&Heard>, SurveyError> {
        if let Some(heard) = self.take(number)? {
            self.ahead.insert(number, heard);
        }
        Ok(self.ahead.get(&number))
    }

    /// The answer to this question, if it is recorded.
    pub(super) fn take(&mut self, number: u32) -> Result<Option<Heard>, SurveyError> {
        if let Some(heard) = self.ahead.remove(&number) {
            return Ok(Some(heard));
        }
        while let Some(entry) = self.reader.next()? {
            match entry {
                Entry::Heard(heard) if heard.ask.number == number => return Ok(Some(*heard)),
                Entry::Heard(heard) => {
                    self.ahead.insert(heard.ask.number, *heard);
                }
                Entry::Asked { .. } | Entry::Unsent { .. } | Entry::Opened { .. } => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::journal::Journal;
    use crate::survey::journal::tests::heard;

    #[test]
    fn answers_that_came_in_another_order_are_given_back_by_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.journal");
        let (mut journal, _) = Journal::open(&path).unwrap();
        [0, 2, 1, 4].iter().for_each(|number| journal.write(&heard(*number)).unwrap());
        let mut replay = Replay::open(&path).unwrap();
        let taken: Vec<bool> = (0..5).map(|number| replay.take(number).unwrap().is_some()).collect();
        assert_eq!(taken, [true, true, true, false, true]);
    }
}
