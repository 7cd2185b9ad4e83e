use std::collections::VecDeque;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use foldhash::HashMap;

use super::ceiling::Ceiling;
use super::fact::HORIZON;
use super::observed_load::{ObservedLoad, SystemOf};
use super::pauses::DuePauses;
use super::seen::raise_each;
use super::{Fact, Observations, OrderBreaches, PromisedLimits, ServerRecord, Verdict, verdicts};
use crate::address::{Neighbourhood, Site, server_at};
use crate::exchange::Response;

/// Judges promises as an observer of the exchanges alone would, without access to permits and queues.
///
/// Exchanges are reported as they end, or all together in the order in which they began. The findings outlast
/// the process ([`Observations`]).
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use ccsurvey_address::{Host, Site};
/// use ccsurvey_core::exchange::{Response, Failure, Purpose};
/// use ccsurvey_core::promises::{Fact, Judge, Judgement, PromisedLimits, Observations, OwnerObjections};
/// let mut judge = Judge::new(PromisedLimits::default(), Observations::default());
/// let (site, address) = (Site::new(Host::parse("a.ke").unwrap()), "41.90.0.1".parse().unwrap());
/// // The second request came a second after the first had ended: two were promised.
/// for started in [0, 1] {
///     let started = UNIX_EPOCH + Duration::from_secs(started);
///     let response = Response::not_sent(started, Some(address), Failure::BadHttp, None);
///     let (purpose, url, objections) = (Purpose::Page, None, OwnerObjections::default());
///     let (response, crawl_delay) = (&response, None);
///     judge.note(&Fact { site: &site, address, purpose, url, response, crawl_delay, objections });
/// }
/// let broken = judge.final_verdicts().into_iter().filter(|it| it.judgement == Judgement::Broken);
/// assert_eq!(broken.map(|it| it.id).collect::<Vec<_>>(), ["least_pause"]);
/// ```
#[derive(Debug)]
pub struct Judge {
    limits: PromisedLimits,
    seen: Observations,
    at_servers: Overlaps<IpAddr>,
    in_sites: Overlaps<Site>,
    in_neighbourhoods: Overlaps<Neighbourhood>,
    pauses: DuePauses,
    load: ObservedLoad,
    ceiling: Option<Ceiling>,
}

impl Judge {
    /// An exchange that ended longer ago than this has no influence on exchanges that are reported later.
    pub const HORIZON: Duration = HORIZON;

    /// Begins with earlier observations.
    #[must_use]
    pub fn new(limits: PromisedLimits, seen: Observations) -> Self {
        let ceiling = Ceiling::new(&limits);
        Self {
            limits,
            seen,
            at_servers: Overlaps::default(),
            in_sites: Overlaps::default(),
            in_neighbourhoods: Overlaps::default(),
            pauses: DuePauses::default(),
            load: ObservedLoad::default(),
            ceiling,
        }
    }

    /// Adds a function that returns the autonomous system of an address; without it budgets of systems are
    /// not judged.
    #[must_use]
    pub fn with_systems(mut self, system_of: SystemOf) -> Self {
        self.load.with_systems(system_of);
        self
    }

    /// The observations so far.
    #[must_use]
    pub fn seen(&self) -> &Observations {
        &self.seen
    }

    /// The observations at the end of a run: exchanges of the last minutes count into the rate too, because
    /// no exchange that began earlier can follow.
    #[must_use]
    pub fn final_observations(&self) -> Observations {
        let end_excess = self.ceiling.as_ref().map_or(0, Ceiling::final_excess);
        Observations { above_rate: self.seen.above_rate.max(end_excess), ..self.seen.clone() }
    }

    /// The verdicts on the observations at the end of a run.
    #[must_use]
    pub fn final_verdicts(&self) -> Vec<Verdict> {
        verdicts(&self.final_observations(), &self.limits)
    }

    /// The limits that were promised.
    #[must_use]
    pub fn limits(&self) -> &PromisedLimits {
        &self.limits
    }

    /// Restores earlier observations, with the counts of all their exchanges.
    pub fn restore(&mut self, seen: Observations) {
        self.seen = seen;
    }

    /// Adds the record of a server that is not remembered here.
    pub fn add_server(&mut self, address: IpAddr, record: &ServerRecord) {
        let server = server_at(address);
        self.pauses.add_server(server, record);
        self.load.add_server(server, record);
    }

    /// Adds the record of a server before any of its exchanges is seen: it counts for its networks, too.
    pub fn remember(&mut self, address: IpAddr, record: &ServerRecord) {
        let (server, name) = (server_at(address), || address.to_string());
        self.seen.at_server.raise_to(u64::from(record.most_parallel), name);
        if let Some(gap) = record.smallest_gap {
            self.seen.note_gap(gap, name);
        }
        self.load.join(server, record, &self.limits, &mut self.seen);
    }

    /// Notes an exchange with a server.
    pub fn note(&mut self, fact: &Fact<'_>) {
        self.seen.count(fact.site, fact.address, fact.objections);
        self.recall(fact);
        self.note_pause(fact);
    }

    /// The same for an exchange that is counted already: later exchanges may overlap with it.
    pub fn recall(&mut self, fact: &Fact<'_>) {
        let (site, address, span) = (fact.site, server_at(fact.address), span(fact.response));
        let neighbourhood = Neighbourhood::from_address(address);
        self.seen.at_server.raise_to(self.at_servers.add(address, span), || address.to_string());
        self.seen.in_site.raise_to(self.in_sites.add(site.clone(), span), || site.as_str().to_owned());
        let at_once = self.in_neighbourhoods.add(neighbourhood, span);
        self.seen.in_neighbourhood.raise_to(at_once, || neighbourhood.to_string());
        if let Some(ceiling) = &mut self.ceiling {
            let above = ceiling.add(fact.response);
            self.seen.above_rate = self.seen.above_rate.max(above);
        }
    }

    /// Notes when an exchange with a server began and ended, and what it cost.
    ///
    /// The first exchange with a server has no pause to judge: the exchange before it was not seen.
    pub fn note_pause(&mut self, fact: &Fact<'_>) {
        let server = server_at(fact.address);
        if let Some(gap) = self.pauses.gap_before(server, fact.response.started) {
            self.seen.note_gap(gap, || server.to_string());
        }
        self.pauses.check(fact, &self.limits, &mut self.seen.short_rests);
        self.pauses.add_due_pauses(fact, &self.limits);
        self.load.add(server, fact.response, &self.limits, &mut self.seen);
    }

    /// Notes the end of a site tree: its cost and the time in which it sent requests, including earlier trees
    /// that share its account ([`Budget::account_of`](crate::settings::Budget::account_of)), and the breaches
    /// in the order of its requests.
    pub fn note_tree(
        &mut self,
        site: &Site,
        [requests, bytes]: [u64; 2],
        time: Duration,
        order: &OrderBreaches,
    ) {
        let name = || site.as_str().to_owned();
        raise_each(&mut self.seen.tree, [requests, bytes], name);
        self.seen.tree_time.raise_to(time.as_micros() as u64, name);
        self.seen.add_counts(&Observations { order: order.clone(), ..Observations::default() });
    }

    /// The number of servers and sites in memory: the largest of the counts kept for overlaps, due pauses and
    /// load.
    #[must_use]
    pub fn remembered(&self) -> usize {
        self.at_servers.len().max(self.in_sites.len()).max(self.pauses.len()).max(self.load.len())
    }

    /// Forgets exchanges that had ended by this time. For callers that report all exchanges in the order in
    /// which they began: none that began earlier can follow. Due pauses are not forgotten.
    pub fn forget_ended_by(&mut self, time: SystemTime) {
        self.at_servers.forget_before(time);
        self.in_sites.forget_before(time);
        self.in_neighbourhoods.forget_before(time);
    }

    /// Forgets servers at which no pause is due any more, and exchanges that overlap with none that can
    /// follow. Exchanges that ended after this time are kept.
    pub fn forget_before(&mut self, time: SystemTime) {
        self.forget_ended_by(time);
        self.pauses.forget_before(time);
        self.load.retain_servers(|server| self.pauses.contains(server));
    }
}

impl Observations {
    fn note_gap(&mut self, gap: Duration, describe: impl FnOnce() -> String) {
        let gap = gap.as_micros() as u64;
        if self.least_gap.is_none_or(|least| gap < least) {
            (self.least_gap, self.least_gap_at) = (Some(gap), describe());
        }
    }
}

/// The time in which an exchange ran. Starts come from the wall clock and durations from a monotonic one:
/// they may differ by a thousandth (NTP slews by half of that at most) and a millisecond.
fn span(response: &Response) -> Interval {
    let took = response.timings.total;
    let certain = took.saturating_sub(took / 1000 + Duration::from_millis(1));
    (response.started, response.started + certain)
}

type Interval = (SystemTime, SystemTime);

/// The latest exchanges for each key, in the order in which they were reported.
#[derive(Debug)]
pub(super) struct Overlaps<K>(HashMap<K, VecDeque<ExchangeSpan>>);

#[derive(Clone, Copy, Debug)]
struct ExchangeSpan {
    started: SystemTime,
    ended: SystemTime,
    /// The time at which all exchanges reported so far had ended.
    all_ended: SystemTime,
}

impl<K> Default for Overlaps<K> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K: Hash + Eq> Overlaps<K> {
    /// The most exchanges that ran at one moment of this exchange, itself included.
    pub(super) fn add(&mut self, key: K, (started, ended): Interval) -> u64 {
        let list = self.0.entry(key).or_default();
        while list.front().is_some_and(|first| first.all_ended + HORIZON <= ended) {
            list.pop_front();
        }
        let all_ended = list.back().map_or(ended, |last| last.all_ended.max(ended));
        list.push_back(ExchangeSpan { started, ended, all_ended });
        // It has no duration.
        if ended <= started {
            return 1;
        }
        let recent = list.iter().rev().take_while(|past_span| past_span.all_ended > started);
        let overlapping = recent.filter(|past_span| past_span.ended > started);
        // If exchanges are reported in the order in which they began, all of these are running now.
        if overlapping.clone().all(|past_span| past_span.started <= started) {
            return overlapping.count() as u64;
        }
        let (mut begins, mut ends): (Vec<_>, Vec<_>) =
            overlapping.map(|past_span| (past_span.started, past_span.ended)).unzip();
        begins.sort_unstable();
        ends.sort_unstable();
        // The maximum occurs when an exchange has just begun. If several begin at once, the last one has the
        // right count, because it includes all of them.
        let begun = begins.iter().enumerate().filter(|(_, from)| (started..ended).contains(*from));
        let at_once = |(earlier, from): (usize, &SystemTime)| {
            (earlier + 1).saturating_sub(ends.partition_point(|end| end <= from))
        };
        begun.map(at_once).max().unwrap_or(1) as u64
    }

    pub(super) fn forget_before(&mut self, time: SystemTime) {
        self.0.retain(|_, list| list.back().is_some_and(|last| last.all_ended > time));
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
