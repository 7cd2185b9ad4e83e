use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::exchange::Response;

/// The load on one server, measured from the times in the responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Exchanges that reached the network.
    pub requests: u64,
    /// Requests that got a response with a status.
    pub answers: u64,
    /// Wire bytes to the server.
    pub sent_bytes: u64,
    /// Wire bytes from the server.
    pub received_bytes: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Sum of the durations of the exchanges.
    pub busy: Duration,
    /// Least time from the end of one exchange to the start of the next; zero when they overlapped.
    pub smallest_gap: Option<Duration>,
    /// Most exchanges in flight at once.
    pub most_parallel: u32,
    /// Most requests in any 60 s; counted in whole seconds, so it may be too high by the requests of one
    /// second.
    pub most_requests_per_minute: u32,
    /// Server software, as last reported by the server.
    pub software: Option<String>,
    last_end: Option<SystemTime>,
    /// Requests begun in each second of about the last minute.
    recent: VecDeque<(u64, u32)>,
}

impl Ledger {
    /// Books an exchange; `in_flight` is the number of exchanges in flight, this one included.
    pub(super) fn book(&mut self, response: &Response, in_flight: u32) {
        self.requests += 1;
        self.answers += u64::from(response.status.is_some());
        self.sent_bytes += response.wire.sent;
        self.received_bytes += response.wire.received;
        self.connections += u64::from(response.wire.connections);
        self.busy += response.timings.total;
        self.most_parallel = self.most_parallel.max(in_flight.max(1));
        if response.head.server.is_some() {
            self.software.clone_from(&response.head.server);
        }
        if let Some(last_end) = self.last_end {
            let gap = response.started.duration_since(last_end);
            if gap.is_err() {
                self.most_parallel = self.most_parallel.max(2);
            }
            let gap = gap.unwrap_or(Duration::ZERO);
            self.smallest_gap = Some(self.smallest_gap.map_or(gap, |least| least.min(gap)));
        }
        self.last_end = self.last_end.max(Some(response.ended()));
        self.count_minute(response.started);
    }

    fn count_minute(&mut self, started: SystemTime) {
        let second = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        match self.recent.back_mut() {
            Some((last, count)) if *last >= second => *count += 1,
            _ => self.recent.push_back((second, 1)),
        }
        while self.recent.front().is_some_and(|(first, _)| first + 60 < second) {
            self.recent.pop_front();
        }
        let requests = self.recent.iter().map(|(_, count)| count).sum();
        self.most_requests_per_minute = self.most_requests_per_minute.max(requests);
    }

    /// When the last exchange ended.
    #[must_use]
    pub fn last_end(&self) -> Option<SystemTime> {
        self.last_end
    }
}
