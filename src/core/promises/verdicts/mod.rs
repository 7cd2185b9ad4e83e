//! The promises, and the verdicts on them.

pub(super) mod promise;
pub(super) mod verdict;

use std::net::IpAddr;
use std::time::Duration;

use super::units::{self, thousands};
use super::{
    BudgetScope, Count, Judgement, LoadAmount, Observations, Peak, Promise, PromisedLimits, ShortPauses,
    Verdict,
};
use promise::micros;

/// The verdict on each promise that the observations can judge.
#[must_use]
pub fn verdicts(seen: &Observations, limits: &PromisedLimits) -> Vec<Verdict> {
    let judge = VerdictBuilder { seen, limits };
    let mut verdicts = judge.parallelism();
    verdicts.push(judge.least_pause());
    verdicts.extend(judge.pauses());
    verdicts.extend(judge.tree_budgets());
    verdicts.extend(judge.load_budgets());
    verdicts.extend(judge.survey_budget());
    verdicts.push(judge.rate());
    verdicts.push(judge.never(Promise::QuietHours, limits.quiet_hours.is_some(), &seen.in_quiet_hours));
    verdicts.push(judge.special_addresses());
    verdicts.push(judge.never(Promise::OptOut, true, &seen.opted_out));
    verdicts.extend(judge.order());
    verdicts
}

/// The broken promises, a sentence each, without the promises that [`breaches_at`] reports server by server.
pub fn broken(verdicts: &[Verdict]) -> impl Iterator<Item = String> {
    let reported_per_server = [Promise::OneAtATimeAtServer, Promise::LeastPause].map(Promise::id);
    let broken = verdicts.iter().filter(|verdict| verdict.judgement == Judgement::Broken);
    broken
        .filter(move |verdict| !reported_per_server.contains(&verdict.id.as_str().into()))
        .map(ToString::to_string)
}

/// The promises broken at one server, a sentence each: by its most exchanges at once, and by the shortest
/// time between two of them.
#[must_use]
pub fn breaches_at(
    server: IpAddr,
    most_parallel: u32,
    smallest_gap: Option<Duration>,
    limits: &PromisedLimits,
) -> Vec<String> {
    let pace = &limits.pace;
    let mut breaches = Vec::new();
    if most_parallel > pace.per_address {
        breaches.push(format!("{server} had {most_parallel} requests at once"));
    }
    // With several slots the pause holds in each slot, and gaps between slots may be shorter.
    let gap = smallest_gap.filter(|gap| pace.per_address == 1 && *gap < pace.min_delay);
    if let Some(gap) = gap {
        breaches.push(format!(
            "{server} got the next request after {gap:?}, but the least pause is {:?}",
            pace.min_delay
        ));
    }
    breaches
}

const NO_LIMIT: &str = "no limit was set";

/// Compares the observations with the promises.
struct VerdictBuilder<'a> {
    seen: &'a Observations,
    limits: &'a PromisedLimits,
}

impl VerdictBuilder<'_> {
    fn parallelism(&self) -> Vec<Verdict> {
        let Self { seen, limits } = self;
        let judge = |promise, most: Option<u32>, worst: &Peak| {
            let evidence = format!("at most {} at once{}", worst.most, peak_suffix(worst));
            self.bounded(promise, most.map(u64::from), worst, evidence)
        };
        let pace = &limits.pace;
        vec![
            judge(Promise::OneAtATimeAtServer, Some(pace.per_address), &seen.at_server),
            judge(Promise::OneAtATimeInSite, Some(pace.per_site), &seen.in_site),
            judge(Promise::OneAtATimeInNeighbourhood, pace.per_neighbourhood, &seen.in_neighbourhood),
        ]
    }

    fn least_pause(&self) -> Verdict {
        let Self { seen, limits } = self;
        let Some(gap) = seen.least_gap else {
            return self.held(Promise::LeastPause, "no server got a second request");
        };
        let is_short = match limits.pace.per_address {
            1 => gap < micros(limits.pace.min_delay.saturating_sub(limits.rounding)),
            // With several slots at a server, the pause is kept in each slot, and gaps between slots may be
            // shorter.
            _ => seen.short_rests.least.times > 0,
        };
        let evidence = format!("the shortest was {} ({})", LoadAmount::Busy.written(gap), seen.least_gap_at);
        let judgement = if is_short { Judgement::Broken } else { Judgement::Held };
        self.verdict(Promise::LeastPause, judgement, evidence)
    }

    /// The pauses that are due beside the least pause.
    fn pauses(&self) -> [Verdict; 7] {
        let Self { seen, limits } = self;
        let ShortPauses { slow, link, trouble, retry_after, crawl_delay, put_off, neighbourhood, .. } =
            &seen.short_rests;
        let judge = |promise, is_set, count: &Count| {
            let never = format!("never shorter in {}", units::count(seen.exchanges, "exchange"));
            self.counted(promise, is_set, count, never)
        };
        [
            judge(Promise::DelayFactor, limits.pace.factor > 0.0, slow),
            judge(Promise::Harm, limits.pace.harm.is_some(), link),
            judge(Promise::BackOff, true, trouble),
            judge(Promise::PutOff, true, put_off),
            judge(Promise::RetryAfter, true, retry_after),
            judge(Promise::CrawlDelay, true, crawl_delay),
            judge(Promise::NeighbourhoodPause, limits.pace.per_neighbourhood.is_some(), neighbourhood),
        ]
    }

    fn tree_budgets(&self) -> [Verdict; 3] {
        let [requests, moved] = &self.seen.tree;
        [
            self.budget(Promise::RequestBudget, LoadAmount::Requests, requests),
            self.budget(Promise::ByteBudget, LoadAmount::Bytes, moved),
            self.time_budget(),
        ]
    }

    /// A request that is due within the time of its site may wait up to `longest_wait` for its permit.
    fn time_budget(&self) -> Verdict {
        let longest = &self.seen.tree_time;
        let evidence = format!("at most {}{}", LoadAmount::Busy.written(longest.most), peak_suffix(longest));
        let wait = micros(self.limits.pace.longest_wait());
        let waited = Promise::TimeBudget.limit(self.limits).map(|most| most + wait);
        self.bounded(Promise::TimeBudget, waited, longest, evidence)
    }

    fn load_budgets(&self) -> Vec<Verdict> {
        let seen = self.seen;
        let mut verdicts = Vec::new();
        for scope in BudgetScope::ALL {
            let load = match scope {
                BudgetScope::Server => [&seen.server, &seen.server_day],
                BudgetScope::Network => [&seen.network, &seen.network_day],
                BudgetScope::System => [&seen.system, &seen.system_day],
            };
            for (per_day, load) in [false, true].into_iter().zip(load) {
                for (amount, worst) in LoadAmount::ALL.into_iter().zip(load) {
                    let promise = Promise::LoadBudget { scope, amount, per_day };
                    if promise.limit(self.limits).is_some() {
                        verdicts.push(self.budget(promise, amount, worst));
                    }
                }
            }
        }
        verdicts
    }

    fn rate(&self) -> Verdict {
        let (seen, promise) = (self.seen, Promise::Rate);
        match (self.limits.rate, seen.above_rate) {
            (None, _) => self.verdict(promise, Judgement::NotJudged, NO_LIMIT),
            (Some(_), 0) => {
                self.held(promise, format!("never exceeded in {}", units::count(seen.exchanges, "exchange")))
            }
            (Some(_), above) => {
                let above = LoadAmount::Bytes.written(above);
                self.verdict(
                    promise,
                    Judgement::Broken,
                    format!("{above} more than this rate and the saved-up bytes allow"),
                )
            }
        }
    }

    /// The verdict on the budget of the whole survey, if it has one.
    fn survey_budget(&self) -> Option<Verdict> {
        let sent = Peak { most: self.seen.exchanges, who: String::new() };
        let evidence = units::count(sent.most, "request");
        self.limits.survey.map(|most| self.bounded(Promise::SurveyBudget, Some(most), &sent, evidence))
    }

    fn special_addresses(&self) -> Verdict {
        let (promise, count) = (Promise::SpecialAddresses, &self.seen.special);
        if self.limits.permits_special_addresses && count.times > 0 {
            let evidence = format!("{}, permitted by the settings", units::count(count.times, "exchange"));
            return self.verdict(promise, Judgement::NotJudged, evidence);
        }
        self.never(promise, true, count)
    }

    fn order(&self) -> [Verdict; 4] {
        let order = &self.seen.order;
        [
            self.never(Promise::RobotsFirst, true, &order.before_robots),
            self.never(Promise::RobotsUnreachable, true, &order.despite_robots),
            self.never(Promise::RobotsRules, true, &order.against_robots),
            self.never(Promise::Once, true, &order.twice),
        ]
    }

    fn never(&self, promise: Promise, is_set: bool, count: &Count) -> Verdict {
        self.counted(
            promise,
            is_set,
            count,
            format!("no violation in {}", units::count(self.seen.exchanges, "exchange")),
        )
    }

    fn counted(&self, promise: Promise, is_set: bool, count: &Count, never: String) -> Verdict {
        match count.times {
            _ if !is_set => self.verdict(promise, Judgement::NotJudged, NO_LIMIT),
            0 => self.held(promise, never),
            times => {
                let evidence = match times {
                    1 => format!("once: {}", count.first),
                    _ => format!("{} times, first {}", thousands(times), count.first),
                };
                self.verdict(promise, Judgement::Broken, evidence)
            }
        }
    }

    fn budget(&self, promise: Promise, amount: LoadAmount, worst: &Peak) -> Verdict {
        let evidence = format!("at most {}{}", amount.written(worst.most), peak_suffix(worst));
        self.bounded(promise, promise.limit(self.limits), worst, evidence)
    }

    fn bounded(&self, promise: Promise, most: Option<u64>, worst: &Peak, evidence: String) -> Verdict {
        match most {
            None => self.verdict(promise, Judgement::NotJudged, format!("{NO_LIMIT}; {evidence}")),
            Some(most) if worst.most > most => self.verdict(promise, Judgement::Broken, evidence),
            Some(_) => self.held(promise, evidence),
        }
    }

    fn held(&self, promise: Promise, evidence: impl Into<String>) -> Verdict {
        self.verdict(promise, Judgement::Held, evidence)
    }

    fn verdict(&self, promise: Promise, judgement: Judgement, evidence: impl Into<String>) -> Verdict {
        Verdict::new(promise, self.limits, judgement, evidence)
    }
}

fn peak_suffix(worst: &Peak) -> String {
    if worst.who.is_empty() { String::new() } else { format!(" ({})", worst.who) }
}
