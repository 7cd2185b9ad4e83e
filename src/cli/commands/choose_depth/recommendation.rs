use std::path::PathBuf;

use serde::Serialize;

use crate::analysis::{Choice, Comparison, Completeness, Forecast, Influence, SkippedPages, Verdict};
use crate::report::Banner;

/// The output of the command.
#[derive(Serialize)]
pub(super) struct Advice {
    pub survey: PathBuf,
    /// Whether and how far the survey is complete.
    pub standing: Completeness,
    /// The warning of a partial survey, whose advice is provisional.
    pub partial: Option<Banner>,
    #[serde(flatten)]
    pub outcome: Recommendation,
    /// One depth for all sites, compared with other strategies.
    pub comparison: Comparison,
    /// The site whose removal would change the recommendation most.
    pub influence: Option<Influence>,
    /// The property that defines the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grouped_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    pub notes: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Recommendation {
    Choice(Box<Choice>),
    Forecast(Box<Forecast>),
    LeftOut(Box<SkippedPages>),
}

/// The recommendation for a group of site trees.
#[derive(Serialize)]
pub(super) struct Group {
    pub name: String,
    pub trees: u64,
    #[serde(flatten)]
    pub outcome: Recommendation,
}

impl Recommendation {
    pub(super) fn verdict(&self) -> Verdict {
        match self {
            Self::Choice(choice) => choice.verdict,
            Self::Forecast(forecast) => forecast.verdict,
            Self::LeftOut(left_out) => left_out.verdict,
        }
    }
}

impl Advice {
    /// Whether there is advice, and it is based on the whole survey.
    pub(super) fn is_final(&self) -> bool {
        self.partial.is_none() && self.comparison.recommended.is_some()
    }
}
