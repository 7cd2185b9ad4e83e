use std::sync::atomic::{AtomicU64, Ordering};

/// The most requests that a survey may send in all its runs.
#[derive(Debug, Default)]
pub(in crate::survey) struct Ceiling {
    limit: Option<u64>,
    sent: AtomicU64,
}

impl Ceiling {
    pub(in crate::survey) fn new(limit: Option<u64>) -> Self {
        Self { limit, sent: AtomicU64::new(0) }
    }

    /// Adds requests that earlier runs have sent.
    pub(in crate::survey) fn add_sent(&self, requests: u64) {
        self.sent.fetch_add(requests, Ordering::SeqCst);
    }

    /// The number of requests that were sent, or may be.
    pub(in crate::survey) fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    /// Takes the place of a request that may be sent; returns false if none is left.
    pub(in crate::survey) fn try_take(&self) -> bool {
        let has_room = |sent| self.limit.is_none_or(|limit| sent < limit).then_some(sent + 1);
        self.sent.fetch_update(Ordering::SeqCst, Ordering::SeqCst, has_room).is_ok()
    }

    /// A request whose place was taken was not sent.
    pub(in crate::survey) fn give_back(&self) {
        self.sent.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_requests_are_sent_than_the_survey_may_send() {
        let ceiling = Ceiling::new(Some(3));
        ceiling.add_sent(1);
        assert!(ceiling.try_take() && ceiling.try_take() && !ceiling.try_take());
        ceiling.give_back();
        assert!(ceiling.try_take() && !ceiling.try_take());
        assert_eq!(ceiling.sent(), 3);
        let endless = Ceiling::new(None);
        assert!((0..9).all(|_| endless.try_take()));
    }
}
