use serde::Serialize;

use super::ledger::Addresses;
use super::link_shares::LinkShares;
use super::names::Names;
use super::opt_outs::OptedOut;
use super::places::Neighbourhoods;
use super::rate::{Flow, flow, standstills};
use super::schedule::{Breach, Found, Schedule};
use super::sequence::{Most, Seen, Sequence};
use super::told::{Limit, Told};
use crate::address::special_range;
use crate::records::units::{self, byte_rate, bytes, thousands};
use crate::records::{Manifest, Timestamp};

/// A promise on load, and what the tables say of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Promise {
    /// A short name that stays the same.
    pub id: &'static str,
    /// What is promised, with the bound that was set.
    pub promise: String,
    pub verdict: Verdict,
    /// What was found, or why nothing can be.
    pub evidence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Held,
    Broken,
    NotShown,
}

/// Everything that promises are judged by. It comes from the times, addresses and answers of the exchanges; the
/// table of servers and what the survey says of itself are not asked.
pub(super) struct Evidence<'a> {
    pub told: &'a Told,
    pub manifest: &'a Manifest,
    pub addresses: &'a Addresses,
    pub links: &'a LinkShares,
    /// Which addresses were asked.
    pub asked: &'a [bool],
    pub sites: &'a Names,
    pub sequence: &'a Sequence,
    pub opted_out: Vec<OptedOut>,
}

impl Evidence<'_> {
    pub(super) fn judge(&self, schedule: &mut Schedule) -> Vec<Promise> {
        let neighbourhoods = Neighbourhoods::of(&self.addresses.names);
        let link = self.of_links(schedule);
        let found = schedule.judge(self.told, &neighbourhoods);
        let turns = schedule.by_time();
        let rate = if let Limit::Most(rate) = self.told.rate { Some(rate) } else { None };
        let flow = flow(turns, rate, self.told.max_body.unwrap_or_default());
        let standstills = standstills(turns);
        let mut promises = self.of_schedule(&found);
        promises.extend(self.of_neighbourhoods(&found));
        promises.push(link);
        promises.extend(self.of_quiet_hours());
        promises.extend(self.of_budgets(&standstills));
        promises.extend(self.of_budgets_of_places(turns, &neighbourhoods));
        promises.push(self.of_rate(&flow));
        promises.extend(self.of_robots());
        promises.extend([self.of_special_addresses(), self.of_opt_out()]);
        promises.extend([self.of_repeats(), self.of_records()]);
        promises.extend(of_others());
        promises
    }

    fn of_schedule(&self, found: &Found) -> Vec<Promise> {
        let told = self.told;
        let address = |breach: &Breach| self.breach(breach, &self.addresses.names);
        let at_once = |most: Option<u64>| match most {
            Some(1) | None => "One request at a time".to_owned(),
            Some(most) => format!("At most {most} requests at a time"),
        };
        let pause = format!(
            "After each exchange at least {} of rest for its address, or {} times as long as it took \
             (at most {})",
            span(told.min_delay),
            told.delay_factor.unwrap_or_default(),
            span(told.max_delay)
        );
        let back_off = "Twice the pause, up to the longest, after 429, 503, resets and time-outs".to_owned();
        let troubles = format!("Seen after {} exchanges.", thousands(found.troubles));
        let is_told = told.per_address.is_some() && told.min_delay.is_some() && told.delay_factor.is_some();
        let mut promises = vec![
            judged(
                "one_at_a_time_address",
                at_once(told.per_address) + " at each address",
                address(&found.at_once_at_address),
            ),
            judged(
                "one_at_a_time_site",
                at_once(told.per_site) + " for each site",
                self.breach(&found.at_once_in_site, self.sites),
            ),
            judged("least_pause", pause, address(&found.pause)),
            match address(&found.back_off) {
                None if found.troubles == 0 => not_shown("back_off", back_off, "No server had trouble."),
                None => held("back_off", back_off, troubles),
                broken => judged("back_off", back_off, broken),
            },
        ];
        if !is_told {
            promises.retain(|promise| promise.verdict != Verdict::Held);
            promises.push(not_shown(
                "pace",
                "The pace that was set".into(),
                "The manifest does not say which.",
            ));
        }
        promises
    }

    /// None when nothing was broken.
    pub(super) fn breach(&self, breach: &Breach, names: &Names) -> Option<String> {
        let (late, at, subject) = breach.worst?;
        Some(format!(
            "{} times; worst at {}, {}: {} too early.",
            thousands(breach.times),
            names.name(subject),
            Timestamp(at),
            milliseconds(late)
        ))
    }

    fn of_budgets(&self, standstills: &[(i64, i64)]) -> [Promise; 3] {
        let sequence = self.sequence;
        let requests = budget(
            "request_budget",
            "requests",
            self.told.max_requests,
            sequence.most_requests,
            self.sites,
            thousands,
        );
        let sizes =
            budget("byte_budget", "of traffic", self.told.max_bytes, sequence.most_bytes, self.sites, bytes);
        [requests, sizes, self.of_time_budget(standstills)]
    }

    fn of_time_budget(&self, standstills: &[(i64, i64)]) -> Promise {
        const ID: &str = "time_budget";
        let most = match self.told.max_time {
            Limit::Most(most) => most,
            limit => return unlimited(ID, "the time of a site tree", limit),
        };
        let promise = format!("No site tree is walked for longer than {}", span(Some(most)));
        let micros = i64::try_from(most.as_micros()).unwrap_or(i64::MAX);
        // Nobody's time is used while the whole survey stands still.
        let used = |first: i64, last: i64| {
            let idle = standstills.iter().map(|(from, to)| (last.min(*to) - first.max(*from)).max(0));
            last - first - idle.sum::<i64>()
        };
        let worst = self.sequence.long_trees.iter().map(|(site, first, last)| (used(*first, *last), *site));
        match worst.max().filter(|(used, _)| *used > micros) {
            Some((used, site)) => {
                let (site, used) = (self.sites.name(site), milliseconds(used));
                broken(ID, promise, format!("The exchanges of {site} began within {used}."))
            }
            None => {
                let longest = milliseconds(i64::try_from(self.sequence.longest.most).unwrap_or(i64::MAX));
                held(ID, promise, format!("From the first request of a tree to its last: {longest} at most."))
            }
        }
    }

    fn of_rate(&self, flow: &Flow) -> Promise {
        const ID: &str = "rate";
        let rate = match self.told.rate {
            Limit::Most(rate) => rate,
            limit => return unlimited(ID, "bytes per second of the survey", limit),
        };
        let promise = format!(
            "The whole survey moves at most {} (and a burst of ten seconds, or one exchange)",
            byte_rate(rate as f64)
        );
        let moved = format!(
            "{} on average, {} in the busiest minute.",
            byte_rate(flow.mean),
            byte_rate(flow.busiest_minute)
        );
        match flow.excess {
            None => held(ID, promise, moved),
            Some((excess, at)) => {
                let excess = bytes(excess.ceil() as u64);
                broken(ID, promise, format!("{excess} more at {}; {moved}", Timestamp(at)))
            }
        }
    }

    fn of_robots(&self) -> [Promise; 3] {
        let (before, despite) = (&self.sequence.before_robots, &self.sequence.despite_robots);
        let rules = if self.told.record_links {
            "The table of robots.txt files is there to judge it by; this report does not read them again."
        } else {
            "The files are not in the tables; a survey with --record-links keeps them."
        };
        [
            judged(
                "robots_first",
                "robots.txt is asked for before any page of its host".into(),
                seen(before),
            ),
            judged(
                "robots_unreachable",
                "Where robots.txt could not be had, nothing else is asked for".into(),
                seen(despite),
            ),
            not_shown(
                "robots_rules",
                "What robots.txt forbids is not asked for; Crawl-delay and Retry-After are obeyed".into(),
                rules,
            ),
        ]
    }

    fn of_special_addresses(&self) -> Promise {
        const ID: &str = "special_addresses";
        let promise = "No address in a private, loopback or other special range is asked".to_owned();
        let asked =
            self.addresses.names.iter().zip(self.asked).filter(|(_, asked)| **asked).map(|(name, _)| name);
        let (mut count, mut special, mut first) = (0, 0, None);
        for address in asked {
            count += 1;
            let range = address.parse().ok().and_then(special_range);
            special += u64::from(range.is_some());
            first = first.or(range.map(|range| format!("{address} ({range})")));
        }
        match first {
            None => {
                held(ID, promise, format!("{} addresses were asked, none of them special.", thousands(count)))
            }
            Some(first) if self.told.permits_special_addresses => {
                let why = format!("It was permitted: {} such addresses, first {first}.", thousands(special));
                not_shown(ID, promise, &why)
            }
            Some(first) => {
                broken(ID, promise, format!("{} addresses were asked, first {first}.", thousands(special)))
            }
        }
    }

    fn of_opt_out(&self) -> Promise {
        const ID: &str = "opt_out";
        let promise = "Hosts and networks on the opt-out list are left alone".to_owned();
        let after: u64 = self.opted_out.iter().map(|entry| entry.requests).sum();
        if let Some(entry) = self.opted_out.iter().find(|entry| entry.requests > 0) {
            let evidence =
                format!("{} requests after an entry was in force, first of {}.", thousands(after), entry.who);
            return broken(ID, promise, evidence);
        }
        match (seen(&self.sequence.asked_after_opt_out()), self.sequence.opted_out_hosts()) {
            (Some(evidence), _) => broken(ID, promise, evidence),
            (None, _) if !self.opted_out.is_empty() => {
                let entries = thousands(self.opted_out.len() as u64);
                held(ID, promise, format!("{entries} entries; 0 requests to any after it was in force."))
            }
            (None, 0) if self.told.has_opt_out_list => {
                held(ID, promise, "No host of the list was met.".into())
            }
            (None, 0) => not_shown(ID, promise, "There was no list."),
            (None, hosts) => {
                let evidence =
                    format!("{} hosts of it were met and not asked from then on.", thousands(hosts));
                held(ID, promise, evidence)
            }
        }
    }

    fn of_repeats(&self) -> Promise {
        let promise = "No page of a site tree is asked for twice, but after 429 and 503";
        judged("once", promise.into(), seen(&self.sequence.twice))
    }

    fn of_records(&self) -> Promise {
        let promise = "Every exchange is recorded".to_owned();
        match self.manifest.unrecorded_exchanges {
            0 => held("recorded", promise, "No request was under way when the program was killed.".into()),
            lost => {
                let lost = thousands(lost);
                let evidence = format!(
                    "{lost} requests were under way when the program was killed: sent, but not in the tables."
                );
                broken("recorded", promise, evidence)
            }
        }
    }
}

fn budget(
    id: &'static str,
    unit: &str,
    limit: Limit<u64>,
    found: Most,
    sites: &Names,
    written: impl Fn(u64) -> String,
) -> Promise {
    let most = match limit {
        Limit::Most(most) => most,
        limit => return unlimited(id, &format!("the {} of a site tree", id.replace('_', " ")), limit),
    };
    let promise = format!("No site tree costs more than {} {unit}", written(most));
    let site = found.site.map_or("none", |site| sites.name(site));
    let evidence = format!("The most is {} ({site}).", written(found.most));
    if found.most > most { broken(id, promise, evidence) } else { held(id, promise, evidence) }
}

pub(super) fn unlimited<T>(id: &'static str, unit: &str, limit: Limit<T>) -> Promise {
    let why = match limit {
        Limit::Untold => "The manifest does not say which.",
        Limit::None | Limit::Most(_) => "No limit was set.",
    };
    not_shown(id, format!("No more than {unit} is used"), why)
}

/// Promises that tables cannot show; tests of the program do.
fn of_others() -> [Promise; 2] {
    [
        not_shown("memory", "Memory is bounded by settings".into(), "The tables do not tell of memory."),
        not_shown(
            "cut",
            "The survey cut at a depth is the survey run to that depth".into(),
            "It takes a second survey to show it.",
        ),
    ]
}

fn seen(seen: &Seen) -> Option<String> {
    (seen.times > 0).then(|| format!("{} times; first {}.", thousands(seen.times), seen.first))
}

pub(super) fn judged(id: &'static str, promise: String, breach: Option<String>) -> Promise {
    match breach {
        None => held(id, promise, "No exception in the times of the exchanges.".into()),
        Some(evidence) => broken(id, promise, evidence),
    }
}

pub(super) fn held(id: &'static str, promise: String, evidence: String) -> Promise {
    Promise { id, promise, verdict: Verdict::Held, evidence }
}

pub(super) fn broken(id: &'static str, promise: String, evidence: String) -> Promise {
    Promise { id, promise, verdict: Verdict::Broken, evidence }
}

pub(super) fn not_shown(id: &'static str, promise: String, why: &str) -> Promise {
    Promise { id, promise, verdict: Verdict::NotShown, evidence: why.to_owned() }
}

pub(super) fn span(span: Option<std::time::Duration>) -> String {
    span.map_or_else(|| "an unknown time".to_owned(), |span| humantime::format_duration(span).to_string())
}

fn milliseconds(micros: i64) -> String {
    units::milliseconds(micros as f64 / 1000.0)
}
