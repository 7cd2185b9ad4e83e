use serde::Serialize;

use crate::records::{Manifest, SurveyState, SurveyedWeb, Timestamp};

/// How far a survey has come: whether its tables are of all that it was to survey.
///
/// The trees that are done first are no random sample: small ones end early. What is computed from a part of the trees holds for
/// that part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Completeness {
    /// As its manifest says.
    pub state: SurveyState,
    /// Whether a run can go on with it: a survey that is walked in process cannot.
    pub is_resumable: bool,
    /// Site trees in its tables.
    pub done: u64,
    /// Of these, trees that ended because the budget of their server, its network or its autonomous system was used up:
    /// which trees these are depends on their neighbours.
    pub out_of_budget: u64,
    /// All site trees, done or not; none where nothing tells it, and where the survey is finished.
    pub known: Option<KnownTrees>,
}

/// How many site trees were known, done or not, when the survey last told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KnownTrees {
    /// Known when the survey last told.
    pub trees: u64,
    /// When that was.
    pub at: Timestamp,
}

impl Completeness {
    /// Of a survey with so many trees in its tables, of which some ran into a budget that they share.
    #[must_use]
    pub fn new(manifest: &Manifest, done: u64, out_of_budget: u64) -> Self {
        let is_in_process = matches!(manifest.web(), SurveyedWeb::Virtual(_) | SurveyedWeb::Recorded(_));
        Self { state: manifest.state, is_resumable: !is_in_process, done, out_of_budget, known: None }
    }

    /// With what the survey last told of its trees. A process that was killed may have told that before it wrote its last
    /// trees: then it is left out. A finished survey has all of its trees in its tables.
    #[must_use]
    pub fn knowing(self, known: Option<KnownTrees>) -> Self {
        let is_of_use = |known: &KnownTrees| self.state != SurveyState::Finished && known.trees >= self.done;
        Self { known: known.filter(is_of_use), ..self }
    }

    /// Whether site trees may be known that are not in the tables yet.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.state != SurveyState::Finished
    }

    /// Whether the trees in the tables are but some of those that were to be surveyed.
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
