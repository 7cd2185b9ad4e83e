use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::choose_depth::rates_or_built_in;
use crate::analysis::policies::{
    Beside, Curve, Ground, Interval, Policy, Run, beside, prices, ratio_interval,
};
use crate::cli::columns::{Columns, Side};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::print;
use crate::records::units::{percent, thousands};
use crate::survey::read_settings;
use crate::walk::yields::Rates;

/// Play policies of depth on surveys that were walked deep: what each would have cost.
///
/// A depth for all sites, a depth with a bound on pages, ending a site after so many pages without a new host, the rule of
/// `--depth auto`, and full knowledge of every page, greedily used, which shows how far a policy can come. Told is the share of the
/// survey's requests at which each comes to a share of its external hosts. The surveys must have been made with
/// --record-links; nothing is asked of any server.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReplayPolicies {
    /// The folders of the surveys
    #[arg(value_name = "SURVEY", required = true)]
    surveys: Vec<PathBuf>,

    /// Rates from `ccsurvey learn` [default: those built in]
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey replay-policies kenya-deep
  ccsurvey replay-policies kenya-deep --rates rates.json --json";

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
}

/// The load of a policy at each coverage.
#[derive(Serialize)]
struct Loads {
    policy: &'static str,
    loads: Vec<Load>,
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

impl ReplayPolicies {
    /// # Errors
    /// When a folder holds no survey with its links, or the rates cannot be read.
    pub fn execute(self) -> Result<Exit, CliError> {
        let rates = Arc::new(rates_or_built_in(self.rates.as_deref())?);
        let played: Vec<Played> =
            self.surveys.iter().map(|dir| play(dir, &rates)).collect::<Result<_, CliError>>()?;
        if self.json {
            print(&format!("{:#}\n", json!(played)))?;
        } else {
            played.iter().try_for_each(|played| print(&played.in_words()))?;
        }
        Ok(Exit::Done)
    }
}

fn play(dir: &Path, rates: &Arc<Rates>) -> Result<Played, CliError> {
    let ground = Ground::read(dir)?;
    let deepest = read_settings(&dir.join("survey.toml"))?.deepest();
    let runs = |policies: Vec<Policy>| -> Vec<Run> {
        policies.iter().map(|policy| ground.play(policy, deepest)).collect()
    };
    let depths = runs((0..=deepest).map(Policy::Depth).collect());
    let whole = ground.play(&Policy::Depth(deepest), deepest);
    let caps =
        runs(PAGES.iter().flat_map(|most| (1..=deepest).map(|depth| Policy::Pages(depth, *most))).collect());
    let quiet = runs(PAGES.into_iter().map(Policy::Quiet).collect());
    let auto = runs(prices().map(|price| Policy::Auto(rates.clone(), price)).collect());
    let named = [("depth", &depths), ("depth and pages", &caps), ("quiet pages", &quiet)];
    let rules: Vec<&str> = named.iter().flat_map(|(name, runs)| vec![*name; runs.len()]).collect();
    let simple: Vec<Run> = named.iter().flat_map(|(_, runs)| runs.iter().cloned()).collect();
    let shipped = COMPARED.into_iter().filter_map(|wanted| {
        let auto = ground.play(&Policy::Auto(rates.clone(), rates.price(wanted)), deepest);
        let Beside { load, coverage, cheapest, other, ratio } = beside(&auto, &simple, &whole)?;
        let (rule_load, rule_coverage) = (other.load, other.coverage);
        Some(Shipped { wanted, load, coverage, rule: rules[cheapest], rule_load, rule_coverage, ratio })
    });
    let shipped: Vec<Shipped> = shipped.collect();
    let curve = |runs: &[Run]| Curve::of(runs.iter().map(|run| run.point(&whole)));
    let (depth_curve, cap_curve) = (curve(&depths), curve(&caps));
    let (quiet_curve, auto_curve, bound) = (curve(&quiet), curve(&auto), ground.bound());
    let policies = vec![
        Loads::of("depth", |coverage| depth_curve.cheapest(coverage)),
        Loads::of("depth and pages", |coverage| cap_curve.cheapest(coverage)),
        Loads::of("quiet pages", |coverage| quiet_curve.cheapest(coverage)),
        Loads::of("auto", |coverage| auto_curve.load_at(coverage)),
        Loads::of("full knowledge", |coverage| bound.load_at(coverage)),
    ];
    let compared = COMPARED.into_iter().filter_map(|coverage| {
        let Interval { value, low, high } = ratio_interval(&auto, &depths, &whole, coverage)?;
        Some(Compared { coverage, value, low, high })
    });
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
    })
}

impl Loads {
    fn of(policy: &'static str, load: impl Fn(f64) -> Option<f64>) -> Self {
        let loads = COVERAGES.into_iter().map(|coverage| Load { coverage, load: load(coverage) });
        Self { policy, loads: loads.collect() }
    }
}

impl Played {
    fn in_words(&self) -> String {
        let mut table =
            Columns::new(&[Side::Left, Side::Right, Side::Right, Side::Right, Side::Right, Side::Right]);
        let head = COVERAGES.map(percent);
        table.row(with_first("requests for", &head));
        for Loads { policy, loads } in &self.policies {
            let cells: [String; COVERAGES.len()] = std::array::from_fn(|at| {
                loads.get(at).and_then(|one| one.load).map_or("–".to_owned(), percent)
            });
            table.row(with_first(policy, &cells));
        }
        let mut text = format!(
            "{}: {} pages of {} site trees, {} external hosts; {} URLs were found and not asked for\n\n{table}\n",
            self.survey.display(),
            thousands(self.pages),
            thousands(self.trees),
            thousands(self.hosts),
            thousands(self.unrecorded)
        );
        let between =
            |of: &Interval| format!("{} ({} to {})", percent(of.value), percent(of.low), percent(of.high));
        for Shipped { wanted, load, coverage, rule, rule_load, rule_coverage, ratio } in &self.shipped {
            text += &format!(
                "--depth auto --coverage {wanted} makes {} of the requests and finds {} of the hosts. The cheapest simple rule that \
                 finds as many ({rule}: {}) makes {}: auto makes {} of its requests. Intervals are over draws of these {} site trees.\n",
                between(load),
                between(coverage),
                percent(*rule_coverage),
                percent(*rule_load),
                between(ratio),
                thousands(self.trees)
            );
        }
        for Compared { coverage, value, low, high } in &self.compared {
            text += &format!(
                "For {} of the hosts auto, between two prices, makes {} ({} to {} over draws of these sites) of the requests \
                 of the best number of levels.\n",
                percent(*coverage),
                percent(*value),
                percent(*low),
                percent(*high)
            );
        }
        text + "\n"
    }
}

/// A row of the table: its name, and a cell for each coverage.
fn with_first<'a>(name: &'a str, cells: &'a [String; COVERAGES.len()]) -> [&'a str; COVERAGES.len() + 1] {
    std::array::from_fn(|at| at.checked_sub(1).map_or(name, |at| cells[at].as_str()))
}
