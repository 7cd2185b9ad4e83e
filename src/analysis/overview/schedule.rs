use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::exchange::{Exchange, microseconds};
use super::link_shares;
use super::places::Neighbourhoods;
use super::told::{Limit, Told};

/// When each exchange was at which server and for which site: 24 bytes each.
#[derive(Default)]
pub(super) struct Schedule {
    list: Vec<Turn>,
}

/// One exchange at a server. Times in microseconds.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub started: i64,
    /// Over an hour is cut to that: no exchange lasts so long.
    pub took: u32,
    pub address: u32,
    site: u32,
    /// Both ways, a gibibyte at most; the two highest bits are marks.
    bytes: u32,
}

/// The server had trouble.
const TROUBLED: u32 = 1 << 31;
/// It tells the rate of the server's link.
const TELLING: u32 = 1 << 30;
/// Starts are told by the clock of the day, durations by a steady one, and both are rounded.
const ROUNDING: i64 = 1_000;
const MINUTE: i64 = 60_000_000;

/// What one address bore, from the times of its exchanges.
#[derive(Clone, Copy, Default)]
pub(super) struct Borne {
    pub requests: u64,
    pub bytes: u64,
    pub busy_ms: f64,
    /// From the end of one exchange to the start of the next; 0 when they overlap.
    pub smallest_gap_ms: Option<f64>,
    pub most_parallel: u32,
    /// That began within any 60 seconds.
    pub most_per_minute: u32,
}

/// How often a rule was broken, and where it was broken worst.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Breach {
    pub times: u64,
    /// How much too early, in microseconds; when; which address or site.
    pub worst: Option<(i64, i64, u32)>,
}

/// What the schedule says of the promises about times at addresses and in sites.
#[derive(Default)]
pub(super) struct Found {
    pub at_once_at_address: Breach,
    pub pause: Breach,
    pub back_off: Breach,
    pub at_once_in_site: Breach,
    /// Of neighbourhoods, where these have places.
    pub at_once_in_neighbourhood: Breach,
    pub pause_in_neighbourhood: Breach,
    /// Exchanges after which a server was to be left alone for longer.
    pub troubles: u64,
}

impl Schedule {
    pub(super) fn with_capacity(exchanges: u64) -> Self {
        // What the table says it holds may be wrong; a Vec grows when it must.
        let expected = usize::try_from(exchanges).unwrap_or(0).min(1 << 26);
        Self { list: Vec::with_capacity(expected) }
    }

    pub(super) fn add(&mut self, exchange: &Exchange<'_>) {
        let (Some(ms), Some(address)) = (exchange.total_ms, exchange.address) else { return };
        let bytes = u32::try_from(exchange.bytes()).unwrap_or(u32::MAX).min(TELLING - 1);
        let trouble = if is_trouble(exchange) { TROUBLED } else { 0 };
        let telling = if link_shares::tells(exchange) { TELLING } else { 0 };
        let took = u32::try_from(microseconds(ms).max(0)).unwrap_or(u32::MAX);
        let (started, site) = (exchange.started, exchange.site);
        self.list.push(Turn { started, took, address, site, bytes: bytes | trouble | telling });
    }

    /// Exchanges of each address together, in order of time.
    pub(super) fn by_address(&mut self) -> impl Iterator<Item = &[Turn]> {
        self.list.sort_unstable_by_key(|turn| (turn.address, turn.started, turn.took));
        self.list.chunk_by(|a, b| a.address == b.address)
    }

    fn by_site(&mut self) -> impl Iterator<Item = &[Turn]> {
        self.list.sort_unstable_by_key(|turn| (turn.site, turn.started, turn.took));
        self.list.chunk_by(|a, b| a.site == b.site)
    }

    pub(super) fn by_time(&mut self) -> &[Turn] {
        self.list.sort_unstable_by_key(|turn| (turn.started, turn.address));
        &self.list
    }

    pub(super) fn judge(&mut self, told: &Told, neighbourhoods: &Neighbourhoods) -> Found {
        let mut found = Found::default();
        if let Limit::Most(places) = told.per_neighbourhood {
            self.judge_neighbourhoods(told, places, neighbourhoods, &mut found);
        }
        let (per_address, per_site) = (told.per_address.unwrap_or(1), told.per_site.unwrap_or(1));
        for turns in self.by_address() {
            judge_address(turns, told, per_address, &mut found);
        }
        for turns in self.by_site() {
            let mut running = Ends::default();
            for turn in turns {
                if let Some(late) = running.until_fewer_than(per_site, turn.started) {
                    found.at_once_in_site.note(late, turn.started, turn.site);
                }
                running.add(turn.ended());
            }
        }
        found
    }

    /// The addresses of a neighbourhood share its places and their pauses.
    fn judge_neighbourhoods(
        &mut self,
        told: &Told,
        places: u64,
        neighbourhoods: &Neighbourhoods,
        found: &mut Found,
    ) {
        let stands_in = |turn: &Turn| neighbourhoods.number(turn.address);
        self.list.sort_unstable_by_key(|turn| (stands_in(turn), turn.started, turn.took));
        for turns in self.list.chunk_by(|a, b| stands_in(a) == stands_in(b)) {
            let mut of_this = Found::default();
            judge_address(turns, told, places, &mut of_this);
            found.at_once_in_neighbourhood.join(&of_this.at_once_at_address);
            found.pause_in_neighbourhood.join(&of_this.pause);
        }
    }
}

impl Turn {
    pub(super) fn ended(&self) -> i64 {
        self.started.saturating_add(i64::from(self.took))
    }

    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.bytes & !(TROUBLED | TELLING))
    }

    pub(super) fn tells_rate(&self) -> bool {
        self.bytes & TELLING != 0
    }

    fn is_troubled(&self) -> bool {
        self.bytes & TROUBLED != 0
    }

    /// The least pause after it, and what it is at least after trouble, in microseconds.
    fn pauses(&self, told: &Told) -> (i64, i64) {
        let micros = |span: Option<std::time::Duration>| {
            i64::try_from(span.unwrap_or_default().as_micros()).unwrap_or(i64::MAX)
        };
        let most = micros(told.max_delay);
        let slow = (f64::from(self.took) * told.delay_factor.unwrap_or_default()) as i64;
        let calm = slow.min(most).max(micros(told.min_delay));
        // Trouble doubles the pause at least once, up to the most.
        let backed_off = if self.is_troubled() { calm.max(calm.saturating_mul(2).min(most)) } else { calm };
        (calm, backed_off)
    }
}

/// Every exchange takes a place at its address and keeps it while it runs and for its pause: there are as many
/// places as exchanges are allowed at once.
fn judge_address(turns: &[Turn], told: &Told, places: u64, found: &mut Found) {
    let (mut running, mut resting, mut backing_off) = (Ends::default(), Ends::default(), Ends::default());
    for turn in turns {
        let (at, address) = (turn.started, turn.address);
        if let Some(late) = running.until_fewer_than(places, at) {
            found.at_once_at_address.note(late, at, address);
        } else if let Some(late) = resting.until_fewer_than(places, at) {
            found.pause.note(late, at, address);
        } else if let Some(late) = backing_off.until_fewer_than(places, at) {
            found.back_off.note(late, at, address);
        }
        let (calm, backed_off) = turn.pauses(told);
        running.add(turn.ended());
        resting.add(turn.ended().saturating_add(calm));
        backing_off.add(turn.ended().saturating_add(backed_off));
        found.troubles += u64::from(turn.is_troubled());
    }
}

/// What the exchanges of one address make together.
pub(super) fn borne(turns: &[Turn]) -> Borne {
    let mut borne = Borne::default();
    let (mut running, mut last_end, mut first_of_minute) = (Ends::default(), None::<i64>, 0);
    for (place, turn) in turns.iter().enumerate() {
        borne.requests += 1;
        borne.bytes += turn.bytes();
        borne.busy_ms += f64::from(turn.took) / 1000.0;
        if let Some(ended) = last_end {
            let gap = (turn.started - ended).max(0) as f64 / 1000.0;
            borne.smallest_gap_ms = Some(borne.smallest_gap_ms.map_or(gap, |least| least.min(gap)));
        }
        last_end = last_end.max(Some(turn.ended()));
        while turns[first_of_minute].started <= turn.started - MINUTE {
            first_of_minute += 1;
        }
        let in_minute = place + 1 - first_of_minute;
        borne.most_per_minute = borne.most_per_minute.max(u32::try_from(in_minute).unwrap_or(u32::MAX));
        running.add(turn.ended());
        let parallel = running.count_at(turn.started).max(1);
        borne.most_parallel = borne.most_parallel.max(u32::try_from(parallel).unwrap_or(u32::MAX));
    }
    borne
}

/// Moments at which something ends, the next one first.
#[derive(Default)]
struct Ends(BinaryHeap<Reverse<i64>>);

impl Ends {
    fn add(&mut self, end: i64) {
        self.0.push(Reverse(end));
    }

    /// How many have not ended at `now`; questions are asked in order of time.
    fn count_at(&mut self, now: i64) -> u64 {
        while self.0.peek().is_some_and(|end| end.0 <= now + ROUNDING) {
            self.0.pop();
        }
        self.0.len() as u64
    }

    /// How long it takes from `now` until one more has ended, when `places` or more have not.
    fn until_fewer_than(&mut self, places: u64, now: i64) -> Option<i64> {
        if self.count_at(now) < places {
            return None;
        }
        self.0.peek().map(|end| end.0 - now)
    }
}

impl Breach {
    fn join(&mut self, other: &Self) {
        if let Some((late, at, subject)) = other.worst {
            self.note(late, at, subject);
            self.times += other.times - 1;
        }
    }

    fn note(&mut self, late: i64, at: i64, subject: u32) {
        self.times += 1;
        if self.worst.is_none_or(|(most, ..)| late > most) {
            self.worst = Some((late, at, subject));
        }
    }
}

/// What makes the survey pause longer: the server asks for it, or may have too much to do.
fn is_trouble(exchange: &Exchange<'_>) -> bool {
    let asks_for_pause = matches!(exchange.status, Some(429 | 503));
    asks_for_pause
        || matches!(
            exchange.failure,
            Some(
                "reset"
                    | "connect_refused"
                    | "connect_timeout"
                    | "tls_timeout"
                    | "first_byte_timeout"
                    | "idle_timeout"
                    | "too_slow"
            )
        )
}
