use serde::{Deserialize, Serialize};

/// How often a pause is doubled: once more for each trouble, and once less for four sound responses in a row.
/// The slow decrease leaves the server time to recover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::load) struct Doublings {
    count: u8,
    /// Sound responses since the last trouble, or since a doubling was taken back.
    sound: u8,
}

/// More doublings of 2 s than this exceed the cap of 60 s anyway.
const MAX_DOUBLINGS: u8 = 8;
/// Sound responses in a row that take one doubling back.
const SOUND_PER_HALVING: u8 = 4;

impl Doublings {
    pub(in crate::load) fn count(self) -> u8 {
        self.count
    }

    pub(in crate::load) fn note_trouble(&mut self) {
        self.count = (self.count + 1).min(MAX_DOUBLINGS);
        self.sound = 0;
    }

    pub(in crate::load) fn note_sound(&mut self) {
        self.sound += 1;
        if self.sound >= SOUND_PER_HALVING {
            self.sound = 0;
            self.count = self.count.saturating_sub(1);
        }
    }
}
