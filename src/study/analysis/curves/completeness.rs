use serde::Serialize;

use crate::records::{Manifest, SurveyState, SurveyedWeb, Timestamp};

/// The progress of a survey: whether its tables hold all site trees that it was to walk.
///
/// The trees that finish first are not a random sample: small trees end early. A figure computed from some of
/// the trees holds for those trees only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Completeness {
    /// The state in the manifest.
    pub state: SurveyState,
    /// Whether the survey can be resumed. A survey that is walked in process cannot.
    pub is_resumable: bool,
    /// Finished site trees: the trees in the tables.
    pub done: u64,
    /// Trees among them that ended because the budget of their server, its network or its autonomous system
    /// was used up. Which trees these are depends on their neighbours.
    pub out_of_budget: u64,
    /// All site trees, finished or not; none if the number is not known or the survey is finished.
    pub known: Option<KnownTrees>,
}

/// The number of site trees, finished or not, in the last report of the survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KnownTrees {
    /// The number of known trees at that time.
    pub trees: u64,
    /// The time of the report.
    pub at: Timestamp,
}

impl Completeness {
    /// The completeness of a survey with `done` trees in its tables, of which `out_of_budget` ended at a
    /// shared budget.
    #[must_use]
    pub fn new(manifest: &Manifest, done: u64, out_of_budget: u64) -> Self {
        let is_in_process = matches!(manifest.web(), SurveyedWeb::Virtual(_) | SurveyedWeb::Recorded(_));
        Self { state: manifest.state, is_resumable: !is_in_process, done, out_of_budget, known: None }
    }

    /// Adds the survey's last report on the number of its trees. A process that was killed may have made the
    /// report before it wrote its last trees: if the report has fewer trees than the tables, it is ignored. A
    /// finished survey has all its trees in the tables.
    #[must_use]
    pub fn with_known_trees(self, known: Option<KnownTrees>) -> Self {
        let is_useful = |known: &KnownTrees| self.state != SurveyState::Finished && known.trees >= self.done;
        Self { known: known.filter(is_useful), ..self }
    }

    /// Whether site trees may be known that are not in the tables yet.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.state != SurveyState::Finished
    }

    /// Whether the tables hold only some of the trees that were to be surveyed.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.is_under_way() || self.out_of_budget > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_is_whole_when_it_is_finished_and_no_shared_budget_cut_its_trees() {
        let mut manifest = Manifest::new(serde_json::Value::Null, Timestamp(0));
        let is_partial = |manifest: &Manifest, cut| Completeness::new(manifest, 5, cut).is_partial();
        for state in [SurveyState::Running, SurveyState::Interrupted, SurveyState::Failed] {
            manifest.state = state;
            assert!(is_partial(&manifest, 0));
        }
        manifest.state = SurveyState::Finished;
        assert_eq!([0, 1].map(|cut| is_partial(&manifest, cut)), [false, true]);
    }
}
