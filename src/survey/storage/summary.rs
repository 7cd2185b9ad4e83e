use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::promises::Promise;
use crate::records::units::{bytes, count, duration, thousands};
use crate::records::{
    AddedDelay, BudgetUsed, Cost, Judgement, LevelRow, Manifest, OtherUsers, ServerRow, SiteRow, SurveyState,
    SurveyedWeb, Timestamp, Unchanged, Verdict, exchange_counts, read_table,
};
use crate::survey::error::SurveyError;

/// What a survey found and what it cost, from its tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// As in the manifest.
    pub state: SurveyState,
    /// Whether its servers are those of the Internet.
    pub web: SurveyedWeb,
    /// Sites with a tree in the tables.
    pub sites: u64,
    /// Addresses that responded.
    pub servers: u64,
    /// HTML pages fetched.
    pub pages: u64,
    /// Exchanges that reached the network.
    pub requests: u64,
    /// On the wire, to servers.
    pub sent_bytes: u64,
    /// On the wire, from servers.
    pub received_bytes: u64,
    /// By depth, from 0.
    pub levels: Vec<LevelSummary>,
    /// Sites by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Site trees by generation.
    pub generations: BTreeMap<u32, u64>,
    /// Exchanges without a complete response by failure, and HTTP error statuses of pages.
    pub errors: BTreeMap<String, u64>,
    /// Pages and files that had not changed since an earlier survey (`--since`).
    pub unchanged: Unchanged,
    /// The shortest pause at any server, in milliseconds.
    pub smallest_gap_ms: Option<f64>,
    /// Most requests at once at any server.
    pub most_parallel: u32,
    /// At any server, in any 60 s.
    pub most_requests_per_minute: u32,
    /// From the start of the first site to the end of the last one, including the time between runs.
    pub lasted_seconds: f64,
    /// The delay added to other users; known for simulations only.
    pub others: Option<OtherUsers>,
    /// The budget of the survey, if it has one, and its rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Box<BudgetUsed>>,
    /// Requests without a response on record: a process was killed or stood still, or an agent or its link
    /// failed.
    pub unrecorded_exchanges: u64,
    /// One sentence each.
    pub broken_promises: Vec<String>,
    /// The verdict on each promise on load.
    pub promises: Vec<Verdict>,
}

/// The time span in which sites were walked.
#[derive(Default)]
struct WalkSpan {
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

/// One depth level over all sites.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LevelSummary {
    pub depth: u16,
    /// Exchanges that reached the network, robots.txt included.
    pub requests: u64,
    /// HTML pages fetched.
    pub pages: u64,
    /// On the wire, from servers.
    pub received_bytes: u64,
    pub busy_ms: f64,
    /// Internal URLs of this depth that were not fetched.
    pub not_fetched: u64,
    /// New in their site tree at this level.
    pub external_urls: u64,
    pub external_hosts: u64,
    pub external_sites: u64,
    /// Requests up to this level as a share of all.
    pub load_rate: f64,
    /// External URLs up to this level as a share of all, tree by tree.
    pub coverage: f64,
}

impl Summary {
    /// Reads the tables of the survey in `dir`, segment by segment.
    ///
    /// # Errors
    /// When there is no survey, or a table cannot be read.
    pub fn read(dir: &Path) -> Result<Self, SurveyError> {
        let manifest = Manifest::load(dir)?;
        let mut summary = Self {
            state: manifest.state,
            web: manifest.web(),
            unrecorded_exchanges: manifest.unrecorded_exchanges,
            broken_promises: manifest.broken_promises,
            promises: manifest.promises,
            budget: manifest.budget,
            ..Self::default()
        };
        let mut lasted = WalkSpan::default();
        each::<SiteRow>(dir, |row| {
            summary.add_site(&row);
            lasted.add(&row);
        })?;
        summary.lasted_seconds = lasted.seconds();
        each::<LevelRow>(dir, |row| summary.add_level(&row))?;
        each::<ServerRow>(dir, |row| summary.add_server(&row))?;
        let counts = exchange_counts(dir)?;
        (summary.errors, summary.unchanged) = (counts.errors, counts.unchanged);
        for (depth, cost) in counts.unlevelled {
            summary.add_unlevelled(depth, cost);
        }
        summary.add_rates();
        Ok(summary)
    }

    fn add_site(&mut self, row: &SiteRow) {
        self.sites += u64::from(row.seed == 0);
        self.pages += row.pages;
        self.requests += row.requests;
        self.sent_bytes += row.sent_bytes;
        self.received_bytes += row.received_bytes;
        *self.outcomes.entry(row.outcome.clone()).or_default() += 1;
        *self.generations.entry(row.generation).or_default() += 1;
    }

    fn add_level(&mut self, row: &LevelRow) {
        let level = self.level(row.depth);
        level.requests += row.requests;
        level.pages += row.pages;
        level.received_bytes += row.received_bytes;
        level.busy_ms += row.busy_ms;
        level.not_fetched += row.classes.not_fetched();
        level.external_urls += row.external_urls;
        level.external_hosts += row.external_hosts;
        level.external_sites += row.external_sites;
    }

    /// Adds requests for robots.txt to the level for which they were made.
    fn add_unlevelled(&mut self, depth: u16, cost: Cost) {
        let level = self.level(depth);
        level.requests += cost.requests;
        level.received_bytes += cost.received_bytes;
        level.busy_ms += cost.busy_ms;
    }

    fn level(&mut self, depth: u16) -> &mut LevelSummary {
        while self.levels.len() <= usize::from(depth) {
            let depth = u16::try_from(self.levels.len()).unwrap_or(u16::MAX);
            self.levels.push(LevelSummary { depth, ..LevelSummary::default() });
        }
        &mut self.levels[usize::from(depth)]
    }

    fn add_server(&mut self, row: &ServerRow) {
        self.servers += 1;
        self.most_parallel = self.most_parallel.max(row.most_parallel);
        self.most_requests_per_minute = self.most_requests_per_minute.max(row.most_requests_per_minute);
        if row.others_response_ms.is_some() {
            self.others.get_or_insert_default().add(row);
        }
        self.smallest_gap_ms = match (self.smallest_gap_ms, row.smallest_gap_ms) {
            (Some(least), Some(gap)) => Some(least.min(gap)),
            (one, other) => one.or(other),
        };
    }

    fn add_rates(&mut self) {
        let all_requests: u64 = self.levels.iter().map(|level| level.requests).sum();
        let all_urls: u64 = self.levels.iter().map(|level| level.external_urls).sum();
        let (mut requests, mut urls) = (0, 0);
        for level in &mut self.levels {
            requests += level.requests;
            urls += level.external_urls;
            level.load_rate = share(requests, all_requests);
            level.coverage = share(urls, all_urls);
        }
    }
}

impl WalkSpan {
    fn add(&mut self, row: &SiteRow) {
        self.first = Some(self.first.map_or(row.started, |first| first.min(row.started)));
        self.last = self.last.max(Some(row.finished));
    }

    fn seconds(&self) -> f64 {
        let span = |(first, last): (Timestamp, Timestamp)| last.0.saturating_sub(first.0) as f64 / 1e6;
        self.first.zip(self.last).map_or(0.0, span)
    }
}

fn each<R: crate::records::Row>(dir: &Path, mut visit: impl FnMut(R)) -> Result<(), SurveyError> {
    for segment in read_table::<R>(dir)? {
        segment?.into_iter().for_each(&mut visit);
    }
    Ok(())
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some([title, text]) = self.web.warning() {
            writeln!(f, "{title} {text}\n")?;
        }
        writeln!(
            f,
            "{} on {}: {}, {}, {} received",
            count(self.sites, "site"),
            count(self.servers, "server"),
            count(self.pages, "page"),
            count(self.requests, "request"),
            bytes(self.received_bytes)
        )?;
        writeln!(f)?;
        self.write_levels(f)?;
        writeln!(f)?;
        write_counts(f, "outcomes of site trees", &self.outcomes)?;
        write_counts(f, "site trees by generation", &self.generations)?;
        write_counts(f, "errors", &self.errors)?;
        self.write_unchanged(f)?;
        self.write_budget(f)?;
        self.write_load(f)
    }
}

impl Summary {
    fn write_levels(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = [
            "depth",
            "pages",
            "requests",
            "received",
            "busy",
            "URL pairs",
            "host pairs",
            "site pairs",
            "load",
            "coverage",
        ];
        let mut rows = vec![head.map(str::to_owned)];
        // Levels below the deepest one that was walked had no cost and no yield.
        rows.extend(self.levels.iter().filter(|level| level.requests > 0).map(|level| {
            [
                level.depth.to_string(),
                thousands(level.pages),
                thousands(level.requests),
                bytes(level.received_bytes),
                format!("{:.1} s", level.busy_ms / 1000.0),
                thousands(level.external_urls),
                thousands(level.external_hosts),
                thousands(level.external_sites),
                format!("{:.1} %", level.load_rate * 100.0),
                format!("{:.1} %", level.coverage * 100.0),
            ]
        }));
        let widths: Vec<usize> = (0..head.len())
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        for row in rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
            writeln!(f, "  {}", cells.join("  "))?;
        }
        Ok(())
    }

    fn write_unchanged(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unchanged { answers, received_bytes, whole_bytes } = self.unchanged;
        if answers == 0 {
            return Ok(());
        }
        writeln!(
            f,
            "not changed since the earlier survey: {} pages and files, {} received instead of {}",
            thousands(answers),
            bytes(received_bytes),
            bytes(whole_bytes)
        )
    }

    /// What became of the budget, and how long the rounds went on without a site to begin.
    fn write_budget(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(budget) = &self.budget else { return Ok(()) };
        let sent = self.requests + self.unrecorded_exchanges;
        let waited: f64 = budget.rounds.iter().map(|round| round.waited_seconds).sum();
        let left = match () {
            () if self.state != SurveyState::Finished => "; the survey is not finished",
            () if sent < budget.requests => "; nothing else was left to request",
            () => "",
        };
        writeln!(
            f,
            "budget: {} of {} in {}, in which for {} no further site waited for its turn{left}",
            thousands(sent),
            count(budget.requests, "request"),
            count(budget.rounds.len() as u64, "round"),
            duration(waited),
        )
    }

    fn write_load(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = self.smallest_gap_ms.map_or("none".to_owned(), |gap| format!("{gap:.1} ms"));
        writeln!(
            f,
            "load on servers: shortest pause {gap}, at most {} at once, at most {} per minute",
            count(u64::from(self.most_parallel), "request"),
            count(u64::from(self.most_requests_per_minute), "request")
        )?;
        writeln!(f, "time from the first site to the last: {}", duration(self.lasted_seconds))?;
        if let Some(others) = &self.others {
            let label = |servers: &str| format!("added delay for other users of {servers}:");
            let label_of_all = self.estimate().unwrap_or_else(|| label("these servers"));
            write_waits(f, &label_of_all, &others.all)?;
            write_waits(f, &label("servers with 512 kbit/s or less"), &others.thin)?;
        }
        if self.unrecorded_exchanges > 0 {
            writeln!(
                f,
                "without a recorded response (process killed, or request repeated): {}",
                count(self.unrecorded_exchanges, "request")
            )?;
        }
        self.write_promises(f)?;
        for broken in &self.broken_promises {
            writeln!(f, "PROMISE BROKEN: {broken}")?;
        }
        Ok(())
    }
}

impl Summary {
    /// The promise that the survey made by its estimate, and whether it was held; none if nothing was
    /// promised.
    fn estimate(&self) -> Option<String> {
        let verdict = self.promises.iter().find(|verdict| verdict.id == Promise::Harm.id())?;
        let judgement_word = match verdict.judgement {
            Judgement::Held => "held",
            Judgement::Broken => "broken",
            Judgement::NotJudged => return None,
        };
        Some(format!("{}: {judgement_word}; actual added delay:", verdict.promise))
    }

    fn write_promises(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let judged = |wanted| self.promises.iter().filter(|promise| promise.judgement == wanted).count();
        if self.promises.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "promises on load: {} held, {} broken, {} not judged (no limit was set)",
            judged(Judgement::Held),
            judged(Judgement::Broken),
            judged(Judgement::NotJudged)
        )
    }
}

fn write_waits(f: &mut fmt::Formatter<'_>, label: &str, waits: &AddedDelay) -> fmt::Result {
    if waits.servers == 0 {
        return Ok(());
    }
    let (overloaded, servers) = (thousands(waits.overburdened), thousands(waits.servers));
    writeln!(f, "{label} {waits}; overloaded servers: {overloaded} of {servers}")
}

fn write_counts(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    counts: &BTreeMap<impl fmt::Display, u64>,
) -> fmt::Result {
    let parts: Vec<String> =
        counts.iter().map(|(name, count)| format!("{name} {}", thousands(*count))).collect();
    writeln!(f, "{title}: {}", if parts.is_empty() { "none".to_owned() } else { parts.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promises::PromisedLimits;
    use crate::settings::Pace;

    #[test]
    fn promises_are_counted_and_those_that_were_broken_are_named() {
        let verdict = |judgement| Verdict {
            id: "opt_out".into(),
            promise: "no contact with opted-out servers".into(),
            judgement,
            evidence: "2 times, first 41.90.0.1 for a.ke".into(),
        };
        let broken = verdict(Judgement::Broken);
        let summary = Summary {
            broken_promises: vec![broken.to_string()],
            promises: vec![broken, verdict(Judgement::Held), verdict(Judgement::NotJudged)],
            ..Summary::default()
        };
        let printed = summary.to_string();
        let end = "promises on load: 1 held, 1 broken, 1 not judged (no limit was set)\n\
                   PROMISE BROKEN: no contact with opted-out servers: 2 times, first 41.90.0.1 for a.ke\n";
        assert!(printed.ends_with(end), "{printed}");
    }

    #[test]
    fn one_thing_has_no_plural_and_no_worst_server_is_named_where_nobody_waited() {
        let all = AddedDelay { servers: 1, ..AddedDelay::default() };
        let others = Some(OtherUsers { all, ..OtherUsers::default() });
        let printed =
            Summary { sites: 1, servers: 1, pages: 1, requests: 2, others, ..Summary::default() }.to_string();
        assert!(printed.starts_with("1 site on 1 server: 1 page, 2 requests, 0 B received\n"), "{printed}");
        let waited =
            "added delay for other users of these servers: 0.00 % on average; overloaded servers: 0 of 1\n";
        assert!(printed.contains(waited), "{printed}");
    }

    #[test]
    fn an_estimate_and_the_truth_stand_in_one_line() {
        let limits = PromisedLimits {
            pace: Pace { harm: Some(0.02), ..Pace::default() },
            ..PromisedLimits::default()
        };
        let (a, b) = ("192.0.2.1".to_owned(), "192.0.2.2".to_owned());
        let all = AddedDelay {
            servers: 116,
            mean_extra_share: 0.003,
            most_extra_share: 0.0324,
            most_address: a,
            worst_extra_share: 0.1114,
            worst_address: b,
            ..AddedDelay::default()
        };
        let others = Some(OtherUsers { all, ..OtherUsers::default() });
        let promises = vec![Verdict::new(Promise::Harm, &limits, Judgement::Held, "")];
        let printed = Summary { others, promises, ..Summary::default() }.to_string();
        let line = "other users wait at most 2 % longer for the responses of each server (estimated over the survey): held; \
                    actual added delay: 0.30 % on average, 3.24 % at the worst server (192.0.2.1), 11.14 % \
                    in the worst hour (192.0.2.2); overloaded servers: 0 of 116\n";
        assert!(printed.contains(line), "{printed}");
    }

    #[test]
    fn rates_are_cumulative_shares_of_load_and_coverage() {
        let mut summary = Summary::default();
        for (depth, requests, external_urls) in [(0, 10, 5), (1, 30, 5), (2, 60, 0)] {
            summary.add_level(&LevelRow { depth, requests, external_urls, ..LevelRow::default() });
        }
        summary.add_rates();
        let rates: Vec<_> = summary.levels.iter().map(|level| (level.load_rate, level.coverage)).collect();
        assert_eq!(rates, [(0.1, 0.5), (0.4, 1.0), (1.0, 1.0)]);
    }
}
