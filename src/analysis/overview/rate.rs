use super::schedule::Turn;

/// How much the whole survey moved in a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Flow {
    /// Bytes per second over the whole time.
    pub mean: f64,
    /// The most bytes of exchanges that began within any 60 seconds, per second.
    pub busiest_minute: f64,
    /// What exceeds the ceiling at its worst, in bytes, and when; none when it is kept.
    pub excess: Option<(f64, i64)>,
}

const SECOND: f64 = 1e6;
const MINUTE: i64 = 60_000_000;
/// Seconds of the rate that may be saved up for a burst.
const BURST_SECONDS: f64 = 10.0;
/// What one exchange may move besides a body: heads, handshake and what the kernel has read ahead.
const BESIDES_BODY: f64 = 1_048_576.0;

/// The ceiling holds for windows of every length: exchanges that begin within *T* seconds move at most
/// rate × *T* and a burst, which is ten seconds of the rate or the largest exchange.
///
/// `turns` are in order of time, `rate` is in bytes per second, `max_body` in bytes.
pub(super) fn flow(turns: &[Turn], rate: Option<u64>, max_body: u64) -> Flow {
    let mut flow = Flow { mean: mean(turns), busiest_minute: busiest_minute(turns), excess: None };
    let Some(rate) = rate.map(|rate| rate as f64) else { return flow };
    let burst = (rate * BURST_SECONDS).max(max_body as f64 + BESIDES_BODY);
    let (mut left, mut at) = (burst, turns.first().map_or(0, |turn| turn.started));
    for turn in turns {
        left = (left + (turn.started - at) as f64 / SECOND * rate).min(burst) - turn.bytes() as f64;
        at = turn.started;
        // A byte is not worth a word: sums of fractions are rounded.
        if -left > flow.excess.map_or(1.0, |(most, _)| most) {
            flow.excess = Some((-left, at));
        }
    }
    flow
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

/// Times of more than five minutes, the longest that a survey waits for one server, in which no exchange was
/// under way anywhere: from, to.
pub(super) fn standstills(turns: &[Turn]) -> Vec<(i64, i64)> {
    const LONGEST_WAIT: i64 = 300_000_000;
    let (mut list, mut last_end) = (Vec::new(), None::<i64>);
    for turn in turns {
        if let Some(ended) = last_end
            && turn.started - ended > LONGEST_WAIT
        {
            list.push((ended, turn.started));
        }
        last_end = last_end.max(Some(turn.ended()));
    }
    list
}
