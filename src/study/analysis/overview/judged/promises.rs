use super::ledger::Addresses;
use super::link_shares::{LargestLinkShare, LinkShares};
use super::rate::{Standstills, SurveyRate, flow};
use super::recorded_limits::RecordedLimits;
use super::request_order::TreeRequestChecks;
use super::timeline::Timeline;
use crate::analysis::overview::names::Names;
use crate::promises::units::{byte_rate, count};
use crate::promises::{Judge, Judgement, Observations, Promise, Verdict, verdicts};
use crate::records::Manifest;

/// The evidence by which promises are judged. It comes from the times, addresses and responses of the
/// exchanges. The survey's own verdicts are used only for what the tables do not record.
pub(in crate::analysis::overview) struct PromiseEvidence<'a> {
    pub recorded: &'a RecordedLimits,
    pub manifest: &'a Manifest,
    pub addresses: &'a Addresses,
    pub links: &'a LinkShares,
    pub sites: &'a Names,
}

impl PromiseEvidence<'_> {
    /// The verdicts of the same judge that ran during the survey, and the verdicts on promises that only
    /// tables can show.
    pub(in crate::analysis::overview) fn judge(
        &self,
        timeline: &mut Timeline,
        request_checks: &mut TreeRequestChecks,
    ) -> Vec<Verdict> {
        let limits = &self.recorded.limits;
        let systems = self.addresses.systems();
        let system_of = Box::new(move |address| systems.get(&address).copied());
        let mut judge = Judge::new(limits.clone(), Observations::default()).with_systems(system_of);
        timeline.feed(&mut judge, &self.addresses.names, self.sites);
        let server_exchanges = timeline.by_time();
        let flow = flow(server_exchanges);
        request_checks.feed(
            &mut judge,
            self.sites,
            &Standstills::find(server_exchanges, limits.pace.longest_wait()),
        );
        let mut seen = judge.final_observations();
        for host in request_checks.hosts_requested_after_opt_out() {
            seen.opted_out.add(|| host.to_owned());
        }
        let mut list = verdicts(&seen, limits);
        let mut of_survey =
            vec![Promise::RetryAfter, Promise::CrawlDelay, Promise::QuietHours, Promise::RobotsRules];
        // The tables do not show how long a tree waited for its next round, which is no time of its site.
        let is_too_long = |verdict: &Verdict| {
            verdict.id == Promise::TimeBudget.id() && verdict.judgement == Judgement::Broken
        };
        if self.manifest.budget.is_some() && list.iter().any(is_too_long) {
            of_survey.push(Promise::TimeBudget);
        }
        for promise in of_survey {
            replace(&mut list, self.verdict_of_survey(promise));
        }
        replace(&mut list, self.harm_verdict(timeline));
        if !self.recorded.has_pace {
            list.iter_mut()
                .filter(|verdict| PACE.iter().any(|it| it.id() == verdict.id))
                .for_each(set_not_judged);
        }
        if let Some(rate) = list.iter_mut().find(|verdict| verdict.id == Promise::Rate.id()) {
            add_flow(rate, &flow);
        }
        list.extend([
            self.recorded_verdict(),
            self.not_judged(Promise::Memory, "the tables do not record memory"),
        ]);
        list.push(self.not_judged(Promise::Cut, "only a second survey can show it"));
        list
    }

    /// The verdict on a promise that the tables cannot show.
    fn not_judged(&self, promise: Promise, why: &str) -> Verdict {
        Verdict::new(promise, &self.recorded.limits, Judgement::NotJudged, why)
    }

    /// The survey's own verdict: tables record neither the clocks of servers nor the pauses that a server
    /// requested.
    fn verdict_of_survey(&self, promise: Promise) -> Verdict {
        match self.manifest.promises.iter().find(|survey_verdict| survey_verdict.id == promise.id()) {
            Some(survey_verdict) if survey_verdict.judgement == Judgement::Broken => survey_verdict.clone(),
            Some(survey_verdict) if survey_verdict.judgement == Judgement::Held => self.not_judged(
                promise,
                &format!(
                    "the tables do not show it; the survey itself recorded: {}",
                    survey_verdict.evidence
                ),
            ),
            Some(survey_verdict) => self.not_judged(promise, &survey_verdict.evidence),
            None => self.not_judged(promise, "the tables do not show it"),
        }
    }

    /// Judges the total use of each link. The tables do not record the pause that each exchange owed to the
    /// link.
    fn harm_verdict(&self, timeline: &mut Timeline) -> Verdict {
        let mut limits = self.recorded.limits.clone();
        limits.pace.harm = self.recorded.harm;
        let verdict = |judgement, evidence: &str| Verdict::new(Promise::Harm, &limits, judgement, evidence);
        let Some(share) = self.recorded.harm else {
            return verdict(Judgement::NotJudged, "no limit was set");
        };
        let slots = f64::from(limits.pace.per_address);
        let longest_ms = limits.pace.longest_pause().as_secs_f64() * 1000.0 * share;
        let Some(largest) = self.links.judge(timeline.by_address(), longest_ms) else {
            return verdict(
                Judgement::NotJudged,
                "no server received a request after a response that shows its rate",
            );
        };
        let LargestLinkShare { servers, largest_share, share_at_even_pace, address } = largest;
        let mut evidence = format!(
            "estimate: at most {:.2} % ({}), by the best rates of {}",
            largest_share * 100.0,
            self.addresses.names.name(address),
            count(servers, "server")
        );
        if self.addresses.waits.servers > 0 {
            evidence += &format!("; truth: {}", self.addresses.waits);
        }
        let is_broken = share_at_even_pace > share * slots * ROUNDING;
        verdict(if is_broken { Judgement::Broken } else { Judgement::Held }, &evidence)
    }

    fn recorded_verdict(&self) -> Verdict {
        let (judgement, evidence) = match self.manifest.unrecorded_exchanges {
            0 => (Judgement::Held, "every request that was sent has a row".to_owned()),
            lost => {
                let lost = count(lost, "request");
                (Judgement::Broken, format!("{lost} without a row (interrupted in flight, or sent again)"))
            }
        };
        Verdict::new(Promise::Recorded, &self.recorded.limits, judgement, evidence)
    }
}

/// Times are rounded, and so are sums of times.
const ROUNDING: f64 = 1.001;

/// The promises that depend on the recorded settings for pauses and slots.
const PACE: [Promise; 7] = [
    Promise::OneAtATimeAtServer,
    Promise::OneAtATimeInSite,
    Promise::LeastPause,
    Promise::DelayFactor,
    Promise::BackOff,
    Promise::PutOff,
    Promise::NeighbourhoodPause,
];

fn set_not_judged(verdict: &mut Verdict) {
    if verdict.judgement == Judgement::Held {
        verdict.judgement = Judgement::NotJudged;
        "the manifest does not record the settings".clone_into(&mut verdict.evidence);
    }
}

fn replace(list: &mut [Verdict], verdict: Verdict) {
    if let Some(existing) = list.iter_mut().find(|it| it.id == verdict.id) {
        *existing = verdict;
    }
}

fn add_flow(rate: &mut Verdict, flow: &SurveyRate) {
    let (mean, busiest) = (byte_rate(flow.mean), byte_rate(flow.busiest_minute));
    rate.evidence += &format!("; {mean} on average, {busiest} in the busiest minute");
}
