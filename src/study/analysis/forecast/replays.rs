use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::analysis::policies::{Fetched, GraphError, Policy, RecordedGraph};
use crate::analysis::{Estimate, Evidence, Exchanges, Kind, LoadUnit, Reading, Recorded, Sampling};
use crate::records::FURTHER_REQUESTS;
use crate::records::units::thousands;
use crate::settings::Settings;
use crate::walk::yields::Rates;

/// A way to walk the sites in the next survey.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "strategy", rename_all = "snake_case")]
pub enum Strategy {
    /// Every site to one depth.
    Depth {
        /// The deepest level.
        depth: u16,
    },
    /// Each site for as long as the expected yield is worth its cost: `--depth auto`.
    Auto {
        /// The value of `--coverage`.
        wanted: f64,
    },
    /// The best of all sites, within a number of requests of the whole survey: `--budget`.
    Budget {
        /// The value of `--budget`.
        budget: u64,
    },
    /// Only the pages whose yield was worth their cost in an earlier survey: `--focus`.
    Focus {
        /// The value of `--focus`: the share of the earlier survey's requests to spend.
        share: f64,
        /// The folder for `--since` of the next survey: the survey on whose pages the strategy was replayed.
        since: PathBuf,
    },
}

/// A strategy that this survey cannot evaluate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotWeighed {
    /// The flags of the strategy.
    pub flags: &'static str,
    /// The reason, and what to do.
    pub reason: String,
}

/// The pages of a survey, on which strategies other than a depth are replayed: which of the survey's pages
/// each would have fetched, and what it would have found.
#[derive(Clone)]
pub struct Replays<'a> {
    dir: &'a Path,
    recorded: &'a Recorded,
    sampling: Sampling,
    confidence: f64,
    rates: Arc<Rates>,
    deepest: u16,
    graph: Option<Arc<RecordedGraph>>,
    focus: Option<(Strategy, Policy)>,
    /// The strategies that cannot be replayed on it.
    pub not_weighed: Vec<NotWeighed>,
}

/// A strategy with its replay: the pages fetched and the hosts found.
pub(in crate::analysis) struct Replayed {
    /// The strategy.
    pub(in crate::analysis) strategy: Strategy,
    /// Its curves: level 0 is the strategy.
    evidence: Evidence,
    fetched: Fetched,
}

/// The maximum number of rows of exchanges and page links that are read: their graph is held in memory, and
/// the choice of a depth should not take long.
const MAX_ROWS: u64 = 10_000_000;
/// The share of the earlier survey's requests with which `--focus` is compared: the value in the guide.
const FOCUS: f64 = 0.1;
const AUTO_FLAGS: &str = "--depth auto";
const REPLAYED_FLAGS: &str = "--depth auto and --budget";
const FOCUS_FLAGS: &str = "--focus";

/// The shares of the requests of a survey, in hundredths, whose budgets are replayed. It is told of those in
/// between what they would have bought: the first and the last one only show how the curve begins and goes
/// on.
const PLAYED: [u64; 9] = [1, FIRST_TOLD, 5, 10, 20, 30, 40, LAST_TOLD, 70];
const FIRST_TOLD: u64 = 2;
const LAST_TOLD: u64 = 50;

/// What a budget would have bought in a survey.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetPoint {
    /// The value of `--budget`.
    pub budget: u64,
    /// The budget as a share of the requests of the survey.
    pub load: f64,
    /// Distinct external hosts.
    pub hosts: u64,
    /// These as a share of those that the survey knows.
    pub coverage: f64,
    /// How many more hosts [`FURTHER_REQUESTS`] further requests would bring, or those that are left:
    /// interpolated between the budgets that were replayed.
    pub next_hosts: f64,
    /// The price of the last host: requests for each host since the next smaller budget that was replayed.
    /// None if they brought none.
    pub last_price: Option<f64>,
}

impl Strategy {
    /// The flags of `ccsurvey survey` for this strategy.
    #[must_use]
    pub fn flags(&self) -> String {
        match self {
            Self::Depth { depth } => format!("--depth {depth}"),
            Self::Auto { wanted } => format!("{AUTO_FLAGS} --coverage {wanted}"),
            Self::Budget { budget } => format!("--budget {budget}"),
            Self::Focus { share, since } => format!("--since {} {FOCUS_FLAGS} {share}", since.display()),
        }
    }
}

impl<'a> Replays<'a> {
    /// Reads the pages of the survey in `dir`, if replays can give coverage `of` this kind at a cost in this
    /// unit. If they cannot, the reason goes to `not_weighed`; it is not an error.
    #[must_use]
    pub fn open(
        dir: &'a Path,
        recorded: &'a Recorded,
        (of, unit): (Kind, LoadUnit),
        (sampling, confidence): (Sampling, f64),
        rates: Arc<Rates>,
    ) -> Self {
        let settings = Settings::recorded(&recorded.manifest.settings);
        let mut replays = Self {
            dir,
            recorded,
            sampling,
            confidence,
            rates,
            deepest: settings.deepest(),
            graph: None,
            focus: None,
            not_weighed: Vec::new(),
        };
        let graph = match (of, unit) {
            (Kind::Hosts, LoadUnit::Requests) => graph(dir),
            (Kind::Hosts, _) => Err("only requests are replayed: leave out --load-unit".to_owned()),
            _ => Err("only external hosts are replayed: --of hosts".to_owned()),
        };
        match graph {
            Ok(graph) => {
                replays.graph = Some(Arc::new(graph));
                match replays.earlier(settings.since.as_deref()) {
                    Ok(focus) => replays.focus = Some(focus),
                    Err(reason) => replays.not_weighed.push(NotWeighed { flags: FOCUS_FLAGS, reason }),
                }
            }
            Err(reason) => replays.not_weighed.push(NotWeighed { flags: REPLAYED_FLAGS, reason }),
        }
        replays
    }

    /// The same pages, with another confidence for the evidence.
    #[must_use]
    pub fn with_confidence(&self, confidence: f64) -> Self {
        Self { confidence, ..self.clone() }
    }

    /// The `--focus` strategy and its policy, from the survey before this one.
    fn earlier(&self, since: Option<&Path>) -> Result<(Strategy, Policy), String> {
        let since = since.ok_or_else(|| {
            "it takes a survey made again in full, with --since and --record-links, to tell what it would have found there".to_owned()
        })?;
        // The recorded path may be relative to another folder. Surveys are mostly in the same parent folder.
        let sibling = self.dir.parent().zip(since.file_name()).map(|(parent, name)| parent.join(name));
        let found = [Some(since.to_owned()), sibling].into_iter().flatten().find(|path| path.is_dir());
        let path = found.ok_or_else(|| format!("the earlier survey, {}, is not there", since.display()))?;
        let (memories, focus) = graph(&path)?.memories(&self.rates, FOCUS);
        let price = focus.price.unwrap_or(f64::INFINITY);
        let policy = Policy::Focus(self.rates.clone(), price, Arc::new(memories));
        // The next survey continues from this one.
        Ok((Strategy::Focus { share: FOCUS, since: self.dir.to_owned() }, policy))
    }

    /// Replays `--depth auto` to find the least coverage that `is_enough`. It tries the `wanted` coverage
    /// first, and then the coverages for which the rates have prices: lower ones while they are enough,
    /// otherwise higher ones until one is enough. Without a wanted coverage, it starts at the highest
    /// coverage and goes down until `is_enough` is true. Returns all that were tried, in that order.
    pub(in crate::analysis) fn auto<T>(
        &self,
        wanted: Option<f64>,
        evaluate: impl Fn(&Replayed) -> T,
        is_enough: impl Fn(&T) -> bool,
    ) -> Vec<T> {
        let play = |wanted: f64| {
            let policy = Policy::Auto(self.rates.clone(), self.rates.price(wanted));
            self.play(Strategy::Auto { wanted }, &policy).map(|replayed| evaluate(&replayed))
        };
        let coverages = || self.rates.prices.iter().map(|price| price.coverage);
        let Some(wanted) = wanted else { return up_to(&mut coverages().rev().filter_map(play), &is_enough) };
        let Some(first) = play(wanted) else { return Vec::new() };
        let more = if is_enough(&first) {
            let less = &mut coverages().rev().filter(|less| *less < wanted).filter_map(play);
            up_to(less, |item| !is_enough(item))
        } else {
            up_to(&mut coverages().filter(|more| *more > wanted).filter_map(play), &is_enough)
        };
        std::iter::once(first).chain(more).collect()
    }

    /// Replays `--budget` to find the least budget that `is_enough`, to two digits. Without a wanted coverage
    /// it finds the greatest one for which that is true. If there is none, returns the one nearest to it.
    pub(in crate::analysis) fn budget<T>(
        &self,
        is_coverage_wanted: bool,
        evaluate: impl Fn(&Replayed) -> T,
        is_enough: impl Fn(&T) -> bool,
    ) -> Option<T> {
        let all = self.graph.as_ref()?.recorded_run().requests();
        let evaluated = |hundredths: u64| {
            let budget = to_two_digits(all * hundredths / 100).max(1);
            let policy = Policy::Budget(self.rates.clone(), budget);
            self.play(Strategy::Budget { budget }, &policy).map(|replayed| evaluate(&replayed))
        };
        // Between these the answer lies: with the first it is not enough, or the budget may be larger.
        let (mut low, mut high) = (0, 101);
        let mut nearest = evaluated(if is_coverage_wanted { 100 } else { 1 })?;
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            let candidate = evaluated(middle)?;
            let fits = is_enough(&candidate);
            if fits == is_coverage_wanted {
                high = middle;
            } else {
                low = middle;
            }
            if fits {
                nearest = candidate;
            }
        }
        Some(nearest)
    }

    /// What budgets buy: shares of the requests of this survey.
    pub(in crate::analysis) fn budgets(&self) -> Vec<BudgetPoint> {
        let Some(graph) = &self.graph else { return Vec::new() };
        let full_run = graph.recorded_run();
        let (all_requests, all_hosts) = (full_run.requests(), full_run.distinct_hosts());
        let share = |hundredths| to_two_digits(all_requests * hundredths / 100);
        let budgets: BTreeSet<u64> = PLAYED.into_iter().map(share).collect();
        let played = budgets.into_iter().filter(|budget| (1..all_requests).contains(budget)).map(|budget| {
            let run = graph.play(&Policy::Budget(self.rates.clone(), budget), self.deepest);
            (budget, run.distinct_hosts())
        });
        let mut curve: Vec<(u64, u64)> =
            std::iter::once((0, 0)).chain(played).chain([(all_requests, all_hosts)]).collect();
        // A larger budget is spent in other rounds, and by chance finds a little less now and then.
        for at in 1..curve.len() {
            curve[at].1 = curve[at].1.max(curve[at - 1].1);
        }
        let told = share(FIRST_TOLD)..=share(LAST_TOLD);
        let pairs = curve.windows(2).take(curve.len() - 2).filter(|pair| told.contains(&pair[1].0));
        let point = |pair: &[(u64, u64)]| {
            let [(from, before), (budget, hosts)] = [pair[0], pair[1]];
            BudgetPoint {
                budget,
                load: budget as f64 / all_requests.max(1) as f64,
                hosts,
                coverage: hosts as f64 / all_hosts.max(1) as f64,
                next_hosts: interpolated(&curve, budget + FURTHER_REQUESTS) - hosts as f64,
                last_price: (hosts > before).then(|| (budget - from) as f64 / (hosts - before) as f64),
            }
        };
        pairs.map(point).collect()
    }

    /// Replays `--focus`, if there is an earlier survey.
    pub(in crate::analysis) fn focus(&self) -> Option<Replayed> {
        let (strategy, policy) = self.focus.as_ref()?;
        self.play(strategy.clone(), policy)
    }

    fn play(&self, strategy: Strategy, policy: &Policy) -> Option<Replayed> {
        let graph = self.graph.as_ref()?;
        let (run, fetched) = graph.trace(policy, self.deepest);
        let as_survey = graph.in_two_levels(&run, self.recorded);
        let evidence = Evidence::measure(&as_survey, &self.sampling, self.confidence);
        Some(Replayed { strategy, evidence, fetched })
    }

    /// The exchanges that the strategy would make.
    pub(in crate::analysis) fn exchanges(&self, replayed: &Replayed, all: &Exchanges) -> Option<Exchanges> {
        Some(self.graph.as_ref()?.exchanges_of(&replayed.fetched, self.recorded, all))
    }
}

impl Replayed {
    /// The coverage, as a share of the hosts that the survey knows.
    pub(in crate::analysis) fn coverage(&self, reading: Reading) -> Estimate {
        let level = self.evidence.curves.levels.first();
        level.map_or_else(Estimate::default, |level| reading.coverage(level, Kind::Hosts))
    }

    /// The deciding coverage.
    pub(in crate::analysis) fn deciding_coverage(&self, reading: Reading) -> f64 {
        self.evidence.deciding_coverage(Kind::Hosts, reading).first().copied().unwrap_or_default()
    }

    /// The load, as a share of the requests of the survey.
    pub(in crate::analysis) fn load(&self) -> Estimate {
        let level = self.evidence.curves.levels.first();
        level.map_or_else(Estimate::default, |level| level.load(LoadUnit::Requests))
    }

    /// The deciding load.
    pub(in crate::analysis) fn deciding_load(&self) -> f64 {
        self.evidence.deciding_load(LoadUnit::Requests).first().copied().unwrap_or(1.0)
    }

    pub(in crate::analysis) fn requests(&self) -> u64 {
        self.evidence.curves.levels.first().map_or(0, |level| level.requests)
    }
}

/// The hosts of a budget, between those of a curve of budgets and hosts.
fn interpolated(curve: &[(u64, u64)], budget: u64) -> f64 {
    let after = curve.partition_point(|(requests, _)| *requests < budget);
    let (Some(to), Some(from)) = (curve.get(after), after.checked_sub(1).map(|before| curve[before])) else {
        return curve.last().map_or(0.0, |(_, hosts)| *hosts as f64);
    };
    let along = (budget - from.0) as f64 / (to.0 - from.0) as f64;
    from.1 as f64 + along * (to.1 - from.1) as f64
}

/// Rounded up to two significant digits.
fn to_two_digits(number: u64) -> u64 {
    let unit = 10_u64.pow(number.max(1).ilog10().saturating_sub(1));
    number.div_ceil(unit) * unit
}

/// The items up to and including the first for which `is_end` is true.
fn up_to<T>(all: &mut dyn Iterator<Item = T>, is_end: impl Fn(&T) -> bool) -> Vec<T> {
    let mut items = Vec::new();
    for item in all {
        let is_last = is_end(&item);
        items.push(item);
        if is_last {
            break;
        }
    }
    items
}

/// The recorded graph of a survey that is not too large, or the reason why there is none.
fn graph(dir: &Path) -> Result<RecordedGraph, String> {
    let describe = |error: GraphError| match error {
        GraphError::NoPageLinks(dir) => {
            format!("{} has no recorded page links: survey with --record-links", dir.display())
        }
        other => other.to_string(),
    };
    let rows = RecordedGraph::rows(dir).map_err(describe)?;
    if rows > MAX_ROWS {
        return Err(format!(
            "{} exchanges and page links are more than the {} that are read for this answer",
            thousands(rows),
            thousands(MAX_ROWS)
        ));
    }
    RecordedGraph::read(dir).map_err(describe)
}
