use std::path::PathBuf;

use serde::Serialize;

use crate::analysis::{Choice, Comparison, Completeness, Forecast, Influence, SkippedPages, Verdict};
use crate::report::Banner;

/// What is told.
#[derive(Serialize)]
pub(super) struct Advice {
    pub survey: PathBuf,
    /// How far the survey has come.
    pub standing: Completeness,
    /// The warning of a partial survey, whose advice is provisional.
    pub partial: Option<Banner>,
    #[serde(flatten)]
    pub answer: Recommendation,
    /// One depth for all sites beside other strategies.
    pub comparison: Comparison,
    /// The site without which the answer would change most.
    pub influence: Option<Influence>,
    /// What groups are told apart by.
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

/// The answer for a part of the site trees.
#[derive(Serialize)]
pub(super) struct Group {
    pub name: String,
    pub trees: u64,
    #[serde(flatten)]
    pub answer: Recommendation,
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
    /// Whether there is advice, and it is of the whole survey.
    pub(super) fn is_final(&self) -> bool {
        self.partial.is_none() && self.comparison.recommended.is_some()
    }
}
