use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, SystemTime};

use super::PromisedLimits;
use super::fact::HORIZON;
use crate::exchange::Response;

/// Compares the bytes moved in any time with the rate of the survey. Of the rate one second's worth, or one
/// largest exchange, may be saved up.
///
/// Facts do not show when each byte moved, only a start and an end for the bytes up to the end of the head,
/// and for the bytes after it. The rate was exceeded if in any time more bytes moved than it allows. Only
/// bytes that certainly moved in that time count: their transfer neither began earlier nor ended later.
#[derive(Clone, Debug)]
pub(super) struct Ceiling {
    rate: f64,
    saved_up: f64,
    rounding: Duration,
    /// Transfers that may still follow one that ended earlier but is not reported yet; the one that ended
    /// first is on top.
    pending: BinaryHeap<Reverse<Transfer>>,
    latest: Option<SystemTime>,
    times: Times,
    excess: u64,
}

/// Bytes that moved between two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Transfer {
    until: SystemTime,
    from: SystemTime,
    bytes: u64,
}

/// At least this many seconds of the rate may be saved up.
const SECONDS_SAVED_UP: f64 = 1.0;
/// The clocks of start times and of durations differ by at most a thousandth (NTP slews by half of that) and
/// a millisecond.
const SLEW: u32 = 1000;
const TICK: Duration = Duration::from_millis(1);

impl Ceiling {
    /// None if no rate was promised.
    pub(super) fn new(limits: &PromisedLimits) -> Option<Self> {
        let rate = limits.rate? as f64;
        Some(Self {
            rate,
            saved_up: (rate * SECONDS_SAVED_UP).max(limits.largest as f64),
            rounding: limits.rounding,
            pending: BinaryHeap::new(),
            latest: None,
            times: Times::default(),
            excess: 0,
        })
    }

    /// Takes in an exchange; returns the worst excess so far, in bytes above the rate and the saved-up bytes.
    pub(super) fn add(&mut self, response: &Response) -> u64 {
        self.pending.extend(parts(response, self.rounding).map(Reverse));
        self.latest = self.latest.max(Some(response.started));
        if let Some(settled) = self.latest.and_then(|latest| latest.checked_sub(HORIZON)) {
            while let Some(Reverse(part)) = self.pending.peek().copied()
                && part.until <= settled
            {
                self.pending.pop();
                self.apply(part);
            }
        }
        self.excess
    }

    /// The same at the end, when no exchange that ended earlier can follow.
    pub(super) fn final_excess(&self) -> u64 {
        let mut all = self.clone();
        while let Some(Reverse(part)) = all.pending.pop() {
            all.apply(part);
        }
        all.excess
    }

    fn apply(&mut self, part: Transfer) {
        if let Some(peak) = self.times.max_excess(self.rate, part) {
            self.excess = self.excess.max((peak - self.saved_up).max(0.0).floor() as u64);
        }
    }
}

/// The bytes that moved since each moment, over all transfers that have ended. Moments are the starts of the
/// slots of time in which a transfer began.
#[derive(Clone, Debug, Default)]
struct Times {
    /// The start of the first slot.
    base: Option<SystemTime>,
    /// A tree whose leaves are the slots, and whose root is node 1.
    nodes: Vec<Node>,
}

/// Sums over some slots.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Bytes of the transfers that began in them.
    sum: f64,
    /// The maximum, over their moments, of the bytes that began since the moment, plus the bytes that the
    /// rate allows up to it.
    peak: f64,
}

const EMPTY: Node = Node { sum: 0.0, peak: f64::NEG_INFINITY };
const SLOT: Duration = Duration::from_millis(20);
/// Eleven minutes; when they are full, the later half is kept.
const SLOTS: usize = 1 << 15;

impl Times {
    /// The worst excess over the rate, in any time that ends with this transfer. Transfers come in the order
    /// of their ends.
    fn max_excess(&mut self, rate: f64, part: Transfer) -> Option<f64> {
        let before = SLOT * (SLOTS / 2) as u32;
        if self.nodes.is_empty() {
            self.nodes = vec![EMPTY; 2 * SLOTS];
        }
        let base = *self.base.get_or_insert(part.from.checked_sub(before)?);
        // None if it began before the first slot.
        let passed = part.from.duration_since(base).ok()?;
        let mut slot = usize::try_from(passed.as_nanos() / SLOT.as_nanos()).ok()?;
        if slot >= SLOTS {
            self.forget(slot - SLOTS / 2, rate);
            slot = SLOTS / 2;
        }
        let mut index = SLOTS + slot;
        let sum = self.nodes[index].sum + part.bytes as f64;
        self.nodes[index] = leaf(rate, slot, sum);
        while index > 1 {
            index /= 2;
            self.nodes[index] = Node::join(self.nodes[2 * index], self.nodes[2 * index + 1]);
        }
        let until = part.until.duration_since(self.base?).ok()?;
        Some(self.nodes[1].peak - rate * until.as_secs_f64())
    }

    /// Forgets the first slots.
    fn forget(&mut self, slots: usize, rate: f64) {
        let sums: Vec<f64> = self.nodes[SLOTS..].iter().skip(slots).map(|node| node.sum).collect();
        let sums = sums.into_iter().chain(std::iter::repeat(0.0)).take(SLOTS);
        for (slot, sum) in sums.enumerate() {
            self.nodes[SLOTS + slot] = if sum > 0.0 { leaf(rate, slot, sum) } else { EMPTY };
        }
        for index in (1..SLOTS).rev() {
            self.nodes[index] = Node::join(self.nodes[2 * index], self.nodes[2 * index + 1]);
        }
        let passed = SLOT.checked_mul(u32::try_from(slots).unwrap_or(u32::MAX)).unwrap_or_default();
        self.base = self.base.and_then(|base| base.checked_add(passed));
    }
}

impl Node {
    /// Joins the sums of slots with those of later slots.
    fn join(earlier: Self, later: Self) -> Self {
        Self { sum: earlier.sum + later.sum, peak: later.peak.max(earlier.peak + later.sum) }
    }
}

fn leaf(rate: f64, slot: usize, sum: f64) -> Node {
    Node { sum, peak: rate * SLOT.as_secs_f64() * slot as f64 + sum }
}

/// The bytes that an exchange moved up to the head of its response, and after it; all together if that is not
/// known.
fn parts(response: &Response, rounding: Duration) -> impl Iterator<Item = Transfer> + use<> {
    let (started, timings, wire) = (response.started, response.timings, response.wire);
    let slack = |took: Duration| took / SLEW + TICK + rounding;
    let all = wire.sent + wire.received;
    let body = response.after_head.min(all);
    let phases = [timings.connect, timings.tls, timings.first_byte];
    let head_time = phases.into_iter().flatten().sum::<Duration>().min(timings.total);
    let head_end = if body > 0 { head_time } else { timings.total };
    let from = |after: Duration| started.checked_sub(rounding).unwrap_or(started) + (after - after / SLEW);
    let head = Transfer {
        from: from(Duration::ZERO),
        until: started + head_end + slack(head_end),
        bytes: all - body,
    };
    let until = started + timings.total + slack(timings.total);
    [head, Transfer { from: from(head_time), until, bytes: body }].into_iter().filter(|part| part.bytes > 0)
}
