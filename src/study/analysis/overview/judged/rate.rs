use std::time::Duration;

use super::timeline::ServerExchange;

/// The rate of the whole survey.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::analysis::overview) struct SurveyRate {
    /// Bytes per second over the duration of the survey, rounded up to whole minutes, so that it never
    /// exceeds the busiest minute.
    pub mean: f64,
    /// Bytes per second of the exchanges that began within the busiest 60 seconds.
    pub busiest_minute: f64,
}

const MINUTE: i64 = 60_000_000;

/// Computes the rate of a survey. `exchanges` are in order of time.
pub(in crate::analysis::overview) fn flow(exchanges: &[ServerExchange]) -> SurveyRate {
    let moved = exchanges.iter().map(|exchange| MovedBytes {
        started: exchange.started,
        ended: exchange.ended(),
        bytes: exchange.bytes(),
    });
    SurveyRate { mean: mean(moved.clone()), busiest_minute: busiest_minute(moved) }
}

/// The bytes that one exchange moved, with its start and end in microseconds since 1970.
#[derive(Clone, Copy, Debug)]
struct MovedBytes {
    started: i64,
    ended: i64,
    bytes: u64,
}

fn mean(mut moved: impl Iterator<Item = MovedBytes>) -> f64 {
    let Some(first) = moved.next() else { return 0.0 };
    let (bytes, last) = moved
        .fold((first.bytes, first.ended), |(bytes, last), next| (bytes + next.bytes, last.max(next.ended)));
    let minutes = (last - first.started).max(0) / MINUTE + 1;
    bytes as f64 / (minutes as f64 * 60.0)
}

fn busiest_minute(moved: impl Iterator<Item = MovedBytes> + Clone) -> f64 {
    let (mut oldest, mut bytes, mut max_bytes) = (moved.clone().peekable(), 0, 0);
    for next in moved {
        bytes += next.bytes;
        while let Some(old) = oldest.next_if(|old| old.started <= next.started - MINUTE) {
            bytes -= old.bytes;
        }
        max_bytes = max_bytes.max(bytes);
    }
    max_bytes as f64 / 60.0
}

/// Periods without any exchange in progress that are longer than a survey waits for any server.
pub(in crate::analysis::overview) struct Standstills {
    /// Start, end, and the total length of the periods before it, in order of time.
    list: Vec<(i64, i64, i64)>,
}

impl Standstills {
    /// Finds the standstills. `exchanges` are in order of time.
    pub(in crate::analysis::overview) fn find(exchanges: &[ServerExchange], longest_wait: Duration) -> Self {
        let longest_wait = i64::try_from(longest_wait.as_micros()).unwrap_or(i64::MAX);
        let (mut list, mut last_end, mut before) = (Vec::new(), None::<i64>, 0);
        for exchange in exchanges {
            if let Some(ended) = last_end
                && exchange.started - ended > longest_wait
            {
                list.push((ended, exchange.started, before));
                before += exchange.started - ended;
            }
            last_end = last_end.max(Some(exchange.ended()));
        }
        Self { list }
    }

    /// The total length of standstills between two points in time.
    pub(in crate::analysis::overview) fn idle_between(&self, first: i64, last: i64) -> i64 {
        self.idle_before(last) - self.idle_before(first)
    }

    fn idle_before(&self, moment: i64) -> i64 {
        let begun = self.list.partition_point(|(from, _, _)| *from <= moment);
        let Some((from, to, before)) = begun.checked_sub(1).map(|last| self.list[last]) else { return 0 };
        before + moment.min(to) - from
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: i64 = 1_000_000;

    fn flow_of(moved: &[(i64, i64, u64)]) -> (f64, f64) {
        let moved = moved.iter().map(|(started, duration, bytes)| MovedBytes {
            started: *started,
            ended: started + duration,
            bytes: *bytes,
        });
        (mean(moved.clone()), busiest_minute(moved))
    }

    #[test]
    fn the_mean_is_over_whole_minutes_and_the_busiest_minute_over_any_sixty_seconds() {
        assert_eq!(flow_of(&[]), (0.0, 0.0));
        // A survey that ends within its first minute.
        assert_eq!(flow_of(&[(0, SECOND, 600), (20 * SECOND, SECOND, 600)]), (20.0, 20.0));
        // Two bursts more than a minute apart: no minute has both.
        assert_eq!(flow_of(&[(0, SECOND, 600), (61 * SECOND, SECOND, 600)]), (10.0, 10.0));
        let steady: Vec<_> = (0..1200).map(|second| (second * SECOND, 0, 7)).collect();
        assert_eq!(flow_of(&steady), (7.0, 7.0));
        assert_eq!(flow_of(&[(0, 0, 60), (90 * SECOND, 0, 600), (100 * SECOND, 0, 600)]), (10.5, 20.0));
    }

    proptest! {
        #[test]
        fn no_mean_is_above_the_busiest_minute(
            gaps in prop::collection::vec((0..200 * SECOND, 0..90 * SECOND, 0..1_000_000u64), 0..40),
        ) {
            let mut started = 0;
            let moved: Vec<_> = gaps.iter().map(|(gap, duration, bytes)| {
                started += gap;
                (started, *duration, *bytes)
            }).collect();
            let (mean, busiest) = flow_of(&moved);
            prop_assert!(mean <= busiest, "{mean} of {busiest}");
        }
    }
}
