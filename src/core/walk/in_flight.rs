use std::collections::VecDeque;

use super::entry::PendingRequest;
use crate::address::WebUrl;

/// What was asked and is not merged yet, in the order asked.
#[derive(Default)]
pub(super) struct InFlight {
    waiting: VecDeque<PendingRequest>,
    asked: u32,
}

impl InFlight {
    /// How many questions were asked: the number of the next.
    pub(super) fn request_count(&self) -> u32 {
        self.asked
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn urls(&self) -> impl ExactSizeIterator<Item = &WebUrl> {
        self.waiting.iter().map(|waiting| &waiting.url)
    }

    /// One more question is asked.
    pub(super) fn push(&mut self, waiting: PendingRequest) {
        debug_assert_eq!(waiting.number, self.asked);
        self.asked += 1;
        self.waiting.push_back(waiting);
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut PendingRequest> {
        self.waiting.iter_mut().find(|waiting| waiting.number == number)
    }

    /// The first, if it has been answered.
    pub(super) fn pop_answered(&mut self) -> Option<PendingRequest> {
        self.waiting.pop_front_if(|waiting| waiting.response.is_some())
    }
}
