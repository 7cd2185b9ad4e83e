use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::rests::Rests;
use super::{Load, Network, Networks, Pace, ServerState, ShortRests};
use crate::address::{Neighbourhood, Site, special_range};
use crate::exchange::{Answer, Purpose};

/// What somebody would have seen who watched the survey's exchanges and nothing else: no permit, no queue.
///
/// Promises are judged by it while the survey runs. What it has seen outlasts the process ([`Seen`]).
#[derive(Debug)]
pub struct Watch {
    seen: Seen,
    in_sites: Overlaps<Site>,
    in_neighbourhoods: Overlaps<Neighbourhood>,
    rests: Rests,
    ceiling: Option<Ceiling>,
}

/// The worst that was seen, of each thing that is promised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    pub exchanges: u64,
    /// At once, and where.
    pub at_server: Worst,
    pub in_site: Worst,
    pub in_neighbourhood: Worst,
    /// The shortest time from the end of an exchange at a server to the start of the next, in microseconds.
    pub least_gap: Option<u64>,
    pub least_gap_at: String,
    /// Exchanges that began sooner than the server could expect after the one before.
    pub short_rests: ShortRests,
    /// What a server bore in all and on a day: requests, bytes, microseconds.
    pub server: [Worst; 3],
    pub server_day: [Worst; 3],
    /// The same of a neighbourhood of addresses, and of an autonomous system, where that is bounded.
    pub network: [Worst; 3],
    pub network_day: [Worst; 3],
    pub system: [Worst; 3],
    pub system_day: [Worst; 3],
    /// What a site tree cost: requests, bytes.
    pub tree: [Worst; 2],
    /// Bytes above the survey's rate and what may be saved up of it.
    pub above_rate: u64,
    /// Exchanges with addresses in special ranges, and with whom had opted out.
    pub special: Count,
    pub opted_out: Count,
    pub in_quiet_hours: Count,
}

/// The most of something, and who had it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worst {
    pub most: u64,
    pub who: String,
}

/// Wishes of owners that stood against an exchange when it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    pub had_opted_out: bool,
    pub in_quiet_hours: bool,
}

/// How often something happened, and to whom first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    pub times: u64,
    pub first: String,
}

/// Exchanges end within so long, time-outs and a late clock included: what ended earlier overlaps with nothing
/// that is still to be told.
const HORIZON: Duration = Duration::from_secs(600);
/// Where nothing was seen for that long, nothing is remembered; that is looked for every so many exchanges.
const SWEEP: u64 = 1024;

impl Watch {
    /// What ended so long ago has nothing to do with what is still to be told.
    pub const HORIZON: Duration = HORIZON;

    /// Begins with what was seen before. `rate` is the survey's ceiling in bytes per second, `largest` what one
    /// exchange may move.
    #[must_use]
    pub fn new(seen: Seen, rate: Option<u64>, largest: u64) -> Self {
        let ceiling = rate.map(|rate| Ceiling::new(rate, largest));
        Self {
            seen,
            in_sites: Overlaps::default(),
            in_neighbourhoods: Overlaps::default(),
            rests: Rests::default(),
            ceiling,
        }
    }

    #[must_use]
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// The same at the end of a run: exchanges of the last minutes count into the rate too, for none that began
    /// earlier is still to be told.
    #[must_use]
    pub fn seen_at_the_end(&self) -> Seen {
        let of_the_end = self.ceiling.as_ref().map_or(0, Ceiling::above_at_the_end);
        Seen { above_rate: self.seen.above_rate.max(of_the_end), ..self.seen.clone() }
    }

    /// What was seen before, counts of all its exchanges included.
    pub fn restore(&mut self, seen: Seen) {
        self.seen = seen;
    }

    /// An exchange with a server was seen; exchanges are told as they end.
    pub fn note(&mut self, site: &Site, address: IpAddr, answer: &Answer, against: Wishes) {
        self.seen.count(site, address, against);
        self.recall(site, address, answer);
        if self.seen.exchanges.is_multiple_of(SWEEP) {
            self.in_sites.forget_before(answer.ended() - HORIZON);
            self.in_neighbourhoods.forget_before(answer.ended() - HORIZON);
            self.rests.forget_before(answer.ended() - HORIZON);
        }
    }

    /// The same of an exchange that is counted already: what follows may overlap with it.
    pub fn recall(&mut self, site: &Site, address: IpAddr, answer: &Answer) {
        let span = span(answer);
        let neighbourhood = Neighbourhood::of(address);
        self.seen.in_site.take(self.in_sites.add(site.clone(), span), || site.as_str().to_owned());
        let at_once = self.in_neighbourhoods.add(neighbourhood, span);
        self.seen.in_neighbourhood.take(at_once, || neighbourhood.to_string());
        if let Some(ceiling) = &mut self.ceiling {
            ceiling.add(answer.started, answer.wire.sent + answer.wire.received);
            self.seen.above_rate = self.seen.above_rate.max(ceiling.above);
        }
    }

    /// When an exchange with a server began and ended, by the pauses of `pace`; `state` is as it left the server, and
    /// `crawl_delay` what the robots.txt of its host asks for.
    ///
    /// The first exchange of a run is not judged so: nothing was seen of the one before.
    pub fn note_rest(
        &mut self,
        pace: &Pace,
        (address, purpose, answer): (IpAddr, Purpose, &Answer),
        crawl_delay: Option<Duration>,
        state: &ServerState,
    ) {
        self.rests.compare(address, answer, crawl_delay, &mut self.seen.short_rests);
        self.rests.owe(address, pace, purpose, answer, state);
    }

    /// What a server and its networks have borne so far, after an exchange with it.
    pub fn note_burden(&mut self, address: IpAddr, load: &Load) {
        if let Some(state) = load.state_of(address) {
            self.note_server(address, state);
        }
        self.note_networks(address, load.networks());
    }

    /// What a server has borne so far.
    pub fn note_server(&mut self, address: IpAddr, state: &ServerState) {
        let (ledger, seen) = (&state.ledger, &mut self.seen);
        let name = || address.to_string();
        seen.at_server.take(u64::from(ledger.most_parallel), name);
        let borne =
            [ledger.requests, ledger.sent_bytes + ledger.received_bytes, ledger.busy.as_micros() as u64];
        let [_, on_day] = state.account().told();
        take_each(&mut seen.server, borne, name);
        take_each(&mut seen.server_day, on_day, name);
        let gap = ledger.smallest_gap.map(|gap| gap.as_micros() as u64);
        if gap.is_some_and(|gap| seen.least_gap.is_none_or(|least| gap < least)) {
            (seen.least_gap, seen.least_gap_at) = (gap, name());
        }
    }

    /// What the networks of an address have borne so far.
    pub fn note_networks(&mut self, address: IpAddr, networks: &Networks) {
        for (network, [in_all, on_day]) in networks.told(address) {
            let [most, most_on_day] = match network {
                Network::Neighbourhood(_) => [&mut self.seen.network, &mut self.seen.network_day],
                Network::System(_) => [&mut self.seen.system, &mut self.seen.system_day],
            };
            take_each(most, in_all, || network.to_string());
            take_each(most_on_day, on_day, || network.to_string());
        }
    }

    /// A site tree is done and has cost so much.
    pub fn note_tree(&mut self, site: &Site, requests: u64, bytes: u64) {
        take_each(&mut self.seen.tree, [requests, bytes], || site.as_str().to_owned());
    }
}

impl Seen {
    /// Counts an exchange. Counts add up, whatever the order of the exchanges.
    pub fn count(&mut self, site: &Site, address: IpAddr, against: Wishes) {
        self.exchanges += 1;
        if special_range(address).is_some() {
            self.special.add(|| address.to_string());
        }
        let who = || format!("{address} for {}", site.as_str());
        if against.had_opted_out {
            self.opted_out.add(who);
        }
        if against.in_quiet_hours {
            self.in_quiet_hours.add(who);
        }
    }

    /// Adds what others counted of other exchanges.
    pub fn add_counts(&mut self, other: &Self) {
        self.exchanges += other.exchanges;
        self.special.join(&other.special);
        self.opted_out.join(&other.opted_out);
        self.in_quiet_hours.join(&other.in_quiet_hours);
    }

    /// The worst of both, with the counts of this one.
    #[must_use]
    pub fn or_worse(self, other: &Self) -> Self {
        let Self { exchanges, special, opted_out, in_quiet_hours, .. } = self;
        let (gap, theirs) = (self.least_gap.unwrap_or(u64::MAX), other.least_gap.unwrap_or(u64::MAX));
        let (least_gap, least_gap_at) = if theirs < gap {
            (other.least_gap, other.least_gap_at.clone())
        } else {
            (self.least_gap, self.least_gap_at)
        };
        Self {
            exchanges,
            special,
            opted_out,
            in_quiet_hours,
            least_gap,
            least_gap_at,
            short_rests: self.short_rests.or_more(&other.short_rests),
            at_server: self.at_server.or_more(&other.at_server),
            in_site: self.in_site.or_more(&other.in_site),
            in_neighbourhood: self.in_neighbourhood.or_more(&other.in_neighbourhood),
            server: or_more_each(self.server, &other.server),
            server_day: or_more_each(self.server_day, &other.server_day),
            network: or_more_each(self.network, &other.network),
            network_day: or_more_each(self.network_day, &other.network_day),
            system: or_more_each(self.system, &other.system),
            system_day: or_more_each(self.system_day, &other.system_day),
            tree: or_more_each(self.tree, &other.tree),
            above_rate: self.above_rate.max(other.above_rate),
        }
    }
}

fn or_more_each<const N: usize>(mut worst: [Worst; N], other: &[Worst; N]) -> [Worst; N] {
    for (worst, other) in worst.iter_mut().zip(other) {
        worst.take(other.most, || other.who.clone());
    }
    worst
}

fn take_each<const N: usize>(worst: &mut [Worst; N], amounts: [u64; N], who: impl Fn() -> String) {
    for (worst, amount) in worst.iter_mut().zip(amounts) {
        worst.take(amount, &who);
    }
}

/// When an exchange ran. Starts are told by the clock of the day and durations by a steady one: a thousandth (NTP
/// slews by half of that at most) and a millisecond are between them.
fn span(answer: &Answer) -> Interval {
    let took = answer.timings.total;
    let sure = took.saturating_sub(took / 1000 + Duration::from_millis(1));
    (answer.started, answer.started + sure)
}

impl Worst {
    fn take(&mut self, amount: u64, who: impl FnOnce() -> String) {
        if amount > self.most {
            (self.most, self.who) = (amount, who());
        }
    }

    fn or_more(mut self, other: &Self) -> Self {
        self.take(other.most, || other.who.clone());
        self
    }
}

impl Count {
    pub(super) fn add(&mut self, who: impl FnOnce() -> String) {
        if self.times == 0 {
            self.first = who();
        }
        self.times += 1;
    }

    pub(super) fn or_more(self, other: &Self) -> Self {
        if other.times > self.times { other.clone() } else { self }
    }

    fn join(&mut self, other: &Self) {
        if self.times == 0 {
            self.first.clone_from(&other.first);
        }
        self.times += other.times;
    }
}

type Interval = (SystemTime, SystemTime);

/// The latest exchanges of each of many.
#[derive(Debug)]
struct Overlaps<K>(HashMap<K, Vec<Interval>>);

impl<K> Default for Overlaps<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Hash + Eq> Overlaps<K> {
    /// The most that ran at one moment of this exchange, itself included.
    fn add(&mut self, key: K, (started, ended): Interval) -> u64 {
        let list = self.0.entry(key).or_default();
        list.retain(|(_, end)| *end + HORIZON > ended);
        list.push((started, ended));
        let begun = list.iter().map(|(from, _)| *from).filter(|from| (started..ended).contains(from));
        let at_once = |moment| list.iter().filter(|(from, to)| (*from..*to).contains(&moment)).count();
        begun.map(at_once).max().unwrap_or(1) as u64
    }

    fn forget_before(&mut self, time: SystemTime) {
        self.0.retain(|_, list| list.iter().any(|(_, end)| *end > time));
    }
}

/// The bytes of exchanges by when they began, against a ceiling: ten seconds of it, or the largest exchange, may be
/// saved up.
#[derive(Clone, Debug)]
struct Ceiling {
    rate: f64,
    capacity: f64,
    /// Begun so lately that one which began earlier may still be told.
    begun: BinaryHeap<Reverse<(SystemTime, u64)>>,
    /// Bytes that the ceiling has not made good yet, as of this time.
    owed: f64,
    at: Option<SystemTime>,
    above: u64,
}

const SAVED_SECONDS: f64 = 10.0;

impl Ceiling {
    fn new(rate: u64, largest: u64) -> Self {
        let rate = rate as f64;
        let capacity = (rate * SAVED_SECONDS).max(largest as f64);
        Self { rate, capacity, begun: BinaryHeap::new(), owed: 0.0, at: None, above: 0 }
    }

    fn add(&mut self, started: SystemTime, bytes: u64) {
        self.begun.push(Reverse((started, bytes)));
        while let Some(Reverse((first, bytes))) = self.begun.peek().copied()
            && first + HORIZON < started
        {
            self.begun.pop();
            self.weigh(first, bytes);
        }
    }

    fn weigh(&mut self, started: SystemTime, bytes: u64) {
        let passed = self.at.and_then(|at| started.duration_since(at).ok()).unwrap_or_default();
        self.owed = (self.owed - passed.as_secs_f64() * self.rate).max(0.0) + bytes as f64;
        self.at = self.at.max(Some(started));
        // A byte for rounding.
        self.above = self.above.max((self.owed - self.capacity - 1.0).max(0.0).ceil() as u64);
    }

    fn above_at_the_end(&self) -> u64 {
        let mut all = self.clone();
        while let Some(Reverse((started, bytes))) = all.begun.pop() {
            all.weigh(started, bytes);
        }
        all.above
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::address::Host;
    use crate::exchange::{Failure, Wire};

    fn at(seconds: f64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs_f64(1_000_000.0 + seconds)
    }

    fn site(name: &str) -> Site {
        Site::new(Host::parse(name).unwrap())
    }

    fn answer(started: f64, seconds: f64, bytes: u64) -> Answer {
        let mut answer = Answer::not_asked(at(started), None, Failure::Reset, None);
        (answer.failure, answer.status) = (None, Some(200));
        answer.timings.total = Duration::from_secs_f64(seconds);
        answer.wire = Wire { sent: 0, received: bytes, connections: 1 };
        answer
    }

    const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(41, 90, 0, 1));
    const BESIDE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(41, 90, 0, 2));
    const FAR: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(41, 91, 0, 1));

    #[test]
    fn exchanges_one_after_the_other_are_one_at_a_time() {
        let mut watch = Watch::new(Seen::default(), None, 0);
        for second in 0..3000 {
            watch.note(&site("a.ke"), SERVER, &answer(f64::from(second), 1.0, 10), Wishes::default());
        }
        assert_eq!((watch.seen().in_site.most, watch.seen().in_neighbourhood.most), (1, 1));
    }

    #[test]
    fn exchanges_of_a_site_and_of_a_neighbourhood_at_once_are_seen() {
        let mut watch = Watch::new(Seen::default(), None, 0);
        watch.note(&site("a.ke"), SERVER, &answer(0.0, 2.0, 10), Wishes::default());
        watch.note(&site("a.ke"), FAR, &answer(1.0, 2.0, 10), Wishes::default());
        watch.note(&site("b.ke"), BESIDE, &answer(0.5, 4.0, 10), Wishes::default());
        let Seen { in_site, in_neighbourhood, .. } = watch.seen();
        assert_eq!((in_site.most, in_site.who.as_str()), (2, "a.ke"));
        assert_eq!((in_neighbourhood.most, in_neighbourhood.who.as_str()), (2, "41.90.0.0/24"));
    }

    #[test]
    fn a_rate_that_is_exceeded_is_seen_however_the_exchanges_end() {
        let seen = |bytes: u64| {
            let mut watch = Watch::new(Seen::default(), Some(1000), 0);
            for second in 0..2000 {
                let lasts = if second % 2 == 0 { 5.0 } else { 0.5 };
                watch.note(
                    &site("a.ke"),
                    SERVER,
                    &answer(f64::from(second), lasts, bytes),
                    Wishes::default(),
                );
            }
            assert_eq!(watch.seen().above_rate > 0, watch.seen_at_the_end().above_rate > 0);
            watch.seen().above_rate
        };
        assert_eq!(seen(1000), 0);
        assert!(seen(1100) > 100_000, "{}", seen(1100));
    }

    #[test]
    fn a_rate_that_is_exceeded_in_a_survey_of_minutes_is_seen_at_its_end() {
        let mut watch = Watch::new(Seen::default(), Some(1000), 0);
        for second in 0..60 {
            watch.note(&site("a.ke"), SERVER, &answer(f64::from(second), 0.5, 2000), Wishes::default());
        }
        assert_eq!(watch.seen().above_rate, 0, "what began earlier may still be told");
        // 10 s of the rate are saved up, and the last second brings nothing any more.
        assert_eq!(watch.seen_at_the_end().above_rate, 60 * 2000 - 59 * 1000 - 10_000 - 1);
    }

    #[test]
    fn contacts_that_must_not_be_are_counted_and_outlast_the_process() {
        let mut watch = Watch::new(Seen::default(), None, 0);
        watch.note(&site("a.ke"), [10, 0, 0, 1].into(), &answer(0.0, 1.0, 1), Wishes::default());
        watch.note(
            &site("a.ke"),
            SERVER,
            &answer(9.0, 1.0, 1),
            Wishes { had_opted_out: true, in_quiet_hours: true },
        );
        let told = serde_json::to_string(watch.seen()).unwrap();
        let seen: Seen = serde_json::from_str(&told).unwrap();
        let later = Watch::new(seen, None, 0);
        assert_eq!(later.seen().exchanges, 2);
        assert_eq!((later.seen().special.times, later.seen().opted_out.times), (1, 1));
        assert_eq!(later.seen().in_quiet_hours.times, 1);
        assert_eq!(later.seen().opted_out.first, "41.90.0.1 for a.ke");
    }

    #[test]
    fn what_is_told_late_is_weighed_when_nothing_earlier_can_come() {
        for (next, above_rate) in [(600.0, 0), (600.001, 50_000 - 10_000 - 1), (900.0, 50_000 - 10_000 - 1)] {
            let mut watch = Watch::new(Seen::default(), Some(1000), 0);
            for (started, bytes) in [(0.0, 50_000), (next, 1)] {
                watch.note(&site("a.ke"), SERVER, &answer(started, 0.5, bytes), Wishes::default());
            }
            assert_eq!(watch.seen().above_rate, above_rate, "{next}");
        }
    }

    #[test]
    fn an_exchange_costs_the_rate_what_it_sent_and_what_it_received() {
        let mut watch = Watch::new(Seen::default(), Some(1000), 0);
        let wire = Wire { sent: 30_000, received: 20_000, connections: 1 };
        let told = Answer { wire, ..answer(0.0, 0.5, 0) };
        watch.note(&site("a.ke"), SERVER, &told, Wishes::default());
        assert_eq!(watch.seen_at_the_end().above_rate, 50_000 - 10_000 - 1);
    }

    #[test]
    fn what_runs_when_old_exchanges_are_forgotten_is_still_known() {
        let pace = Pace { min_delay: Duration::ZERO, link_share: None, ..Pace::default() };
        let (mut watch, state) = (Watch::new(Seen::default(), None, 0), ServerState::default());
        for number in 1..SWEEP {
            watch.note(&site("old.ke"), FAR, &answer(number as f64, 0.5, 1), Wishes::default());
        }
        let begun = SWEEP as f64 + 1.0;
        let long = answer(begun, 10.0, 1);
        watch.note_rest(&pace, (SERVER, Purpose::Page, &long), None, &state);
        watch.note(&site("a.ke"), SERVER, &long, Wishes::default());
        assert_eq!(watch.seen().exchanges, SWEEP, "now the old ones are forgotten");
        watch.note(&site("a.ke"), FAR, &answer(begun + 9.0, 2.0, 1), Wishes::default());
        watch.note(&site("b.ke"), BESIDE, &answer(begun + 9.5, 2.0, 1), Wishes::default());
        let soon = answer(begun + 11.0, 1.0, 1);
        watch.note_rest(&pace, (SERVER, Purpose::Page, &soon), None, &state);
        let Seen { in_site, in_neighbourhood, short_rests, .. } = watch.seen();
        assert_eq!((in_site.most, in_site.who.as_str()), (2, "a.ke"));
        assert_eq!((in_neighbourhood.most, short_rests.slow.times), (2, 1));
    }

    #[test]
    fn exchanges_that_ended_before_a_time_are_forgotten() {
        let mut overlaps = Overlaps::default();
        assert_eq!(overlaps.add("a", (at(0.0), at(1.0))), 1);
        overlaps.forget_before(at(0.999));
        assert_eq!(overlaps.0.len(), 1);
        overlaps.forget_before(at(1.0));
        assert!(overlaps.0.is_empty());
    }

    #[test]
    fn the_shortest_gap_is_known_with_its_server() {
        let mut watch = Watch::new(Seen::default(), None, 0);
        for (number, gap) in [(1, 5), (2, 3), (3, 3), (4, 4)] {
            let mut state = ServerState::default();
            state.ledger.smallest_gap = Some(Duration::from_secs(gap));
            watch.note_server([41, 90, 0, number].into(), &state);
        }
        let Seen { least_gap, least_gap_at, .. } = watch.seen();
        assert_eq!((*least_gap, least_gap_at.as_str()), (Some(3_000_000), "41.90.0.2"));
    }

    /// Of `who` is all that was seen, and of each thing so much.
    fn seen_at(who: &str, amount: u64) -> Seen {
        let count = || Count { times: amount, first: who.to_owned() };
        let worst = || Worst { most: amount, who: who.to_owned() };
        let three = || [worst(), worst(), worst()];
        Seen {
            exchanges: amount,
            at_server: worst(),
            in_site: worst(),
            in_neighbourhood: worst(),
            least_gap: Some(1000 - amount),
            least_gap_at: who.to_owned(),
            short_rests: ShortRests {
                slow: count(),
                link: count(),
                trouble: count(),
                retry_after: count(),
                crawl_delay: count(),
            },
            server: three(),
            server_day: three(),
            network: three(),
            network_day: three(),
            system: three(),
            system_day: three(),
            tree: [worst(), worst()],
            above_rate: amount,
            special: count(),
            opted_out: count(),
            in_quiet_hours: count(),
        }
    }

    #[test]
    fn the_worst_of_two_is_the_worse_of_each_thing_and_counts_are_kept() {
        let (mild, bad) = (seen_at("mild", 3), seen_at("bad", 7));
        let Seen { exchanges, special, opted_out, in_quiet_hours, .. } = mild.clone();
        let expected = Seen { exchanges, special, opted_out, in_quiet_hours, ..bad.clone() };
        assert_eq!(mild.clone().or_worse(&bad), expected);
        assert_eq!(bad.clone().or_worse(&mild), bad);
        assert_eq!(bad.clone().or_worse(&seen_at("another", 7)), bad, "of equals the first is named");
        assert_eq!(bad.clone().or_worse(&Seen::default()), bad);
        let mut watch = Watch::new(mild, None, 0);
        watch.restore(bad.clone());
        assert_eq!(watch.seen(), &bad);
    }

    #[test]
    fn counts_of_different_exchanges_add_up_and_name_the_first() {
        let mut all = Seen::default();
        all.add_counts(&seen_at("first", 3));
        all.add_counts(&seen_at("second", 4));
        let count = Count { times: 7, first: "first".to_owned() };
        assert_eq!((all.special, all.opted_out, all.in_quiet_hours), (count.clone(), count.clone(), count));
        assert_eq!((all.exchanges, all.above_rate, all.at_server), (7, 0, Worst::default()));
    }
}
