use std::collections::VecDeque;

use super::entry::PendingRequest;
use crate::address::WebUrl;

/// The requests that are not merged yet, in the order in which they were sent.
#[derive(Default)]
pub(super) struct InFlight {
    waiting: VecDeque<PendingRequest>,
    count: u32,
}

impl InFlight {
    /// The number of requests so far: the number of the next one.
    pub(super) fn request_count(&self) -> u32 {
        self.count
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

    /// Adds a request.
    pub(super) fn push(&mut self, waiting: PendingRequest) {
        debug_assert_eq!(waiting.number, self.count);
        self.count += 1;
        self.waiting.push_back(waiting);
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut PendingRequest> {
        self.waiting.iter_mut().find(|waiting| waiting.number == number)
    }

    /// The first request, if its response has arrived.
    pub(super) fn pop_answered(&mut self) -> Option<PendingRequest> {
        self.waiting.pop_front_if(|waiting| waiting.response.is_some())
    }
}
