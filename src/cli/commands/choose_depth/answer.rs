use std::path::PathBuf;

use serde::Serialize;

use crate::analysis::{Choice, Forecast, Verdict};

/// What is told.
#[derive(Serialize)]
pub(super) struct Advice {
    pub survey: PathBuf,
    #[serde(flatten)]
    pub answer: Answer,
    /// What groups are told apart by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grouped_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    pub notes: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Choice(Box<Choice>),
    Forecast(Box<Forecast>),
}

/// The answer for a part of the site trees.
#[derive(Serialize)]
pub(super) struct Group {
    pub name: String,
    pub trees: u64,
    #[serde(flatten)]
    pub answer: Answer,
}

impl Answer {
    pub(super) fn verdict(&self) -> Verdict {
        match self {
            Self::Choice(choice) => choice.verdict,
            Self::Forecast(forecast) => forecast.verdict,
        }
    }
}
