use std::path::Path;

use polars::prelude::DataFrame;
use serde::Serialize;

use crate::analysis::tables::for_each_frame;
use crate::analysis::{AnalysisError, Kind, Recorded, SpentBudget, Verdict};
use crate::exchange::Class;
use crate::records::LevelRow;
use crate::settings::{DepthRule, Settings};

/// Why no depth is recommended for a survey that left pages out.
pub const NO_DEPTH_REASON: &str =
    "pages were left out at every level, so that nothing can be told of a survey to a depth";

/// The result for a survey that left pages out at every level (`--depth auto`, `--budget`, `--focus`). Such a
/// survey does not show what a survey to a given depth would have found, only its own cost and what it left
/// out.
#[derive(Clone, Debug, Serialize)]
pub struct SkippedPages {
    /// What the survey says about the depth.
    pub verdict: Verdict,
    /// The flags because of which it left pages out.
    pub flags: String,
    /// What the end of its budget brought, if it had one and has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<SpentBudget>,
    /// Whether it could have requested a sample of these pages (`--probe-depth`); with a budget it cannot.
    #[serde(skip)]
    pub may_have_sample: bool,
    /// Site trees of the survey.
    pub trees: u64,
    /// Requests sent, robots.txt included, without the probes of pages left out.
    pub requests: u64,
    /// Distinct external hosts that the survey knows.
    pub hosts: u64,
    /// URLs that were found and left out.
    pub urls: u64,
    /// External hosts, new in their trees, that these pages themselves were expected to bring.
    pub expected_hosts: f64,
}

impl SkippedPages {
    /// Reads the numbers of pages left out by the survey in `dir`.
    ///
    /// # Errors
    /// The table of levels cannot be read.
    pub fn read(dir: &Path, recorded: &Recorded) -> Result<Self, AnalysisError> {
        let (mut urls, mut expected_hosts) = (0, 0.0);
        let (urls_column, hosts_column) = (Class::Yield.as_str(), "expected_external_hosts");
        for_each_frame::<LevelRow>(dir, &[urls_column, hosts_column], |frame: &DataFrame| {
            urls += frame.column(urls_column)?.u64()?.iter().flatten().sum::<u64>();
            expected_hosts += frame.column(hosts_column)?.f64()?.iter().flatten().sum::<f64>();
            Ok(())
        })?;
        let settings = Settings::recorded(&recorded.manifest.settings);
        let flags = match (settings.focus, settings.depth) {
            _ if let Some(budget) = settings.budget => format!("--budget {budget}"),
            (Some(share), _) => format!("--focus {share}"),
            (None, DepthRule::Auto) => {
                format!("--depth auto --coverage {}", settings.wanted_coverage().unwrap_or(1.0))
            }
            (None, DepthRule::Levels(depth)) => format!("--depth {depth}"),
        };
        let budget = SpentBudget::read(dir, &recorded.manifest)?;
        let levels = |tree| recorded.trees.levels(tree).iter();
        Ok(Self {
            verdict: Verdict::LeavesPagesOut,
            flags,
            budget,
            may_have_sample: settings.budget.is_none(),
            trees: recorded.trees.len() as u64,
            requests: (0..recorded.trees.len()).flat_map(levels).map(|level| u64::from(level.requests)).sum(),
            hosts: recorded.known.counts(Kind::Hosts).total(),
            urls,
            expected_hosts,
        })
    }
}
