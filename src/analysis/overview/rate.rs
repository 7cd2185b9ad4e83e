use std::time::Duration;

use super::timeline::Turn;

/// How much the whole survey moved in a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Flow {
    /// Bytes per second over the whole time.
    pub mean: f64,
    /// The most bytes of exchanges that began within any 60 seconds, per second.
    pub busiest_minute: f64,
}

const SECOND: f64 = 1e6;
const MINUTE: i64 = 60_000_000;

/// `turns` are in order of time.
pub(super) fn flow(turns: &[Turn]) -> Flow {
    Flow { mean: mean(turns), busiest_minute: busiest_minute(turns) }
}

fn mean(turns: &[Turn]) -> f64 {
    let (Some(first), Some(last)) = (turns.first(), turns.iter().map(Turn::ended).max()) else { return 0.0 };
    let bytes: u64 = turns.iter().map(Turn::bytes).sum();
    bytes as f64 / ((last - first.started) as f64 / SECOND).max(1.0)
}

fn busiest_minute(turns: &[Turn]) -> f64 {
    let (mut first, mut bytes, mut most) = (0, 0, 0);
    for turn in turns {
        bytes += turn.bytes();
        while turns[first].started <= turn.started - MINUTE {
            bytes -= turns[first].bytes();
            first += 1;
        }
        most = most.max(bytes);
    }
    most as f64 / 60.0
}

/// Times longer than a survey waits for any server, in which no exchange was under way anywhere.
pub(super) struct Standstills {
    /// From, to, and how long those before took; in order of time.
    list: Vec<(i64, i64, i64)>,
}

impl Standstills {
    /// `turns` are in order of time.
    pub(super) fn of(turns: &[Turn], longest_wait: Duration) -> Self {
        let longest_wait = i64::try_from(longest_wait.as_micros()).unwrap_or(i64::MAX);
        let (mut list, mut last_end, mut before) = (Vec::new(), None::<i64>, 0);
        for turn in turns {
            if let Some(ended) = last_end
                && turn.started - ended > longest_wait
            {
                list.push((ended, turn.started, before));
                before += turn.started - ended;
            }
            last_end = last_end.max(Some(turn.ended()));
        }
        Self { list }
    }

    /// How much of the time between two moments they take.
    pub(super) fn within(&self, first: i64, last: i64) -> i64 {
        self.until(last) - self.until(first)
    }

    fn until(&self, moment: i64) -> i64 {
        let begun = self.list.partition_point(|(from, _, _)| *from <= moment);
        let Some((from, to, before)) = begun.checked_sub(1).map(|last| self.list[last]) else { return 0 };
        before + moment.min(to) - from
    }
}
