//! Plays policies of depth on surveys that were walked deep: what each would have cost.
//!
//!     replay-policies RATES SURVEY…   JSON; RATES is a file of `ccsurvey learn`
//!
//! A depth for all sites, a depth with a bound on pages, ending a site after so many pages without a new
//! host, the rule of `--depth auto`, and full knowledge of every page, greedily used, which shows how far a
//! policy can come: the share of the survey's requests, robots.txt included, at which each comes to a share
//! of its external hosts. The surveys must have been made with --record-links; nothing is asked of any
//! server.

mod bound;
mod curve;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccsurvey::analysis::policies::{Policy, PolicyRun, RecordedGraph, prices};
use ccsurvey::survey::{load_rates, read_settings};
use ccsurvey::walk::yields::{Rates, Weights};
use serde::Serialize;

use curve::{Beside, Curve, Interval, beside, ratio_interval};

/// The loads at which it is told what is found.
const LOADS: [f64; 6] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5];
/// The coverages that are told.
const COVERAGES: [f64; 5] = [0.8, 0.9, 0.95, 0.98, 0.99];
/// Those at which `auto` is compared with the best depth.
const COMPARED: [f64; 2] = [0.95, 0.98];
/// Bounds on the pages of a site, and pages without a new host.
const PAGES: [u64; 10] = [12, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400];

/// What the policies cost on one survey.
#[derive(Serialize)]
struct Played {
    survey: PathBuf,
    trees: u64,
    requests_share: &'static str,
    pages: u64,
    hosts: u64,
    /// Internal URLs that a limit or the depth kept from being asked for: what they hold is not known.
    unrecorded: u64,
    policies: Vec<Loads>,
    /// `--depth auto` as it is for a coverage, beside the cheapest rule that needs no rates and finds as much.
    shipped: Vec<Shipped>,
    /// Requests of `auto`, at whatever price, as a share of those of the best depth.
    compared: Vec<Compared>,
    /// Requests of `auto`, at whatever price, as a share of those of the product: the same rates without weights.
    over_product: Vec<Compared>,
}

/// The load of a policy at each coverage.
#[derive(Serialize)]
struct Loads {
    policy: &'static str,
    loads: Vec<Load>,
    /// What is found within each of [`LOADS`].
    found: Vec<Found>,
}

#[derive(Serialize)]
struct Found {
    load: f64,
    /// None where the least strength of the policy costs more.
    coverage: Option<f64>,
}

#[derive(Serialize)]
struct Load {
    coverage: f64,
    /// None where no strength of the policy comes to that.
    load: Option<f64>,
}

/// What `--depth auto --coverage C` makes.
#[derive(Serialize)]
struct Shipped {
    /// Its `--coverage`.
    wanted: f64,
    /// The share of the requests, with its 95 % interval over draws of site trees.
    load: Interval,
    /// The share of the hosts.
    coverage: Interval,
    /// The rule of depths, pages and quiet pages that finds at least as many hosts for the fewest requests.
    rule: &'static str,
    rule_load: f64,
    rule_coverage: f64,
    /// Requests of `auto` for one of that rule, which is chosen anew in each draw.
    ratio: Interval,
}

#[derive(Serialize)]
struct Compared {
    coverage: f64,
    value: f64,
    low: f64,
    high: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rates, surveys @ ..] = arguments.as_slice() else {
        return Err("usage: replay-policies RATES SURVEY…".into());
    };
    let rates = Arc::new(load_rates(Path::new(rates))?);
    let played: Vec<Played> =
        surveys.iter().map(|dir| play(Path::new(dir), &rates)).collect::<Result<_, _>>()?;
    println!("{}", serde_json::to_string_pretty(&played)?);
    Ok(())
}

fn play(dir: &Path, rates: &Arc<Rates>) -> Result<Played, Box<dyn Error>> {
    let ground = RecordedGraph::read(dir)?;
    let deepest = read_settings(&dir.join("survey.toml"))?.deepest();
    let runs = |policies: Vec<Policy>| -> Vec<PolicyRun> {
        policies.iter().map(|policy| ground.play(policy, deepest)).collect()
    };
    let depths = runs((0..=deepest).map(Policy::Depth).collect());
    let whole = ground.play(&Policy::Depth(deepest), deepest);
    let caps =
        runs(PAGES.iter().flat_map(|most| (1..=deepest).map(|depth| Policy::Pages(depth, *most))).collect());
    let quiet = runs(PAGES.into_iter().map(Policy::Quiet).collect());
    let auto = runs(prices().map(|price| Policy::Auto(rates.clone(), price)).collect());
    let product = Arc::new({
        let mut rates = Rates::clone(rates);
        rates.weights = Weights::default();
        rates
    });
    let product = runs(prices().map(|price| Policy::Auto(product.clone(), price)).collect());
    let named = [("depth", &depths), ("depth and pages", &caps), ("quiet pages", &quiet)];
    let rules: Vec<&str> = named.iter().flat_map(|(name, runs)| vec![*name; runs.len()]).collect();
    let simple: Vec<PolicyRun> = named.iter().flat_map(|(_, runs)| runs.iter().cloned()).collect();
    let shipped = COMPARED.into_iter().filter_map(|wanted| {
        let auto = ground.play(&Policy::Auto(rates.clone(), rates.price(wanted)), deepest);
        let Beside { load, coverage, cheapest, other, ratio } = beside(&auto, &simple, &whole)?;
        let (rule_load, rule_coverage) = (other.load, other.coverage);
        Some(Shipped { wanted, load, coverage, rule: rules[cheapest], rule_load, rule_coverage, ratio })
    });
    let shipped: Vec<Shipped> = shipped.collect();
    let curve = |runs: &[PolicyRun]| Curve::of(runs.iter().map(|run| run.point(&whole)));
    let (depth_curve, cap_curve) = (curve(&depths), curve(&caps));
    let (quiet_curve, auto_curve, bound) = (curve(&quiet), curve(&auto), bound::bound(&ground));
    let product_curve = curve(&product);
    let policies = vec![
        Loads::of_few("depth", &depth_curve),
        Loads::of_any("breadth first", &depth_curve),
        Loads::of_few("depth and pages", &cap_curve),
        Loads::of_few("quiet pages", &quiet_curve),
        Loads::of_any("product", &product_curve),
        Loads::of_any("auto", &auto_curve),
        Loads::of_any("full knowledge", &bound),
    ];
    let against = |others: &[PolicyRun], coverage: f64, load: fn(&Curve, f64) -> Option<f64>| {
        let Interval { value, low, high } = ratio_interval(&auto, others, &whole, coverage, load)?;
        Some(Compared { coverage, value, low, high })
    };
    let compared = COMPARED.into_iter().filter_map(|coverage| against(&depths, coverage, Curve::cheapest));
    let over_product =
        COVERAGES.into_iter().filter_map(|coverage| against(&product, coverage, Curve::load_at));
    Ok(Played {
        survey: dir.to_owned(),
        trees: ground.source.trees,
        requests_share: "of the requests of the survey, robots.txt included",
        pages: ground.source.pages,
        hosts: ground.source.hosts,
        unrecorded: ground.unrecorded,
        policies,
        shipped,
        compared: compared.collect(),
        over_product: over_product.collect(),
    })
}

impl Loads {
    /// Of a policy with few strengths to choose from.
    fn of_few(policy: &'static str, curve: &Curve) -> Self {
        Self::of(policy, |coverage| curve.cheapest(coverage), |load| curve.best_within(load))
    }

    /// Of a policy that has a strength for any load.
    fn of_any(policy: &'static str, curve: &Curve) -> Self {
        Self::of(policy, |coverage| curve.load_at(coverage), |load| curve.coverage_at(load))
    }

    fn of(
        policy: &'static str,
        load_at: impl Fn(f64) -> Option<f64>,
        coverage_at: impl Fn(f64) -> Option<f64>,
    ) -> Self {
        let loads = COVERAGES.into_iter().map(|coverage| Load { coverage, load: load_at(coverage) });
        let found = LOADS.into_iter().map(|load| Found { load, coverage: coverage_at(load) });
        Self { policy, loads: loads.collect(), found: found.collect() }
    }
}
