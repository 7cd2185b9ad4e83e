use crate::analysis::{Completeness, KnownTrees};
use crate::records::units::thousands;
use crate::records::{SurveyState, SurveyedWeb};

/// A warning at the top of the page: the survey is not of the Internet, or is not complete.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Banner {
    /// The heading of the warning.
    pub title: String,
    /// The explanation of the warning.
    pub text: String,
}

impl Banner {
    /// The banner of a survey of a Web that is not the Internet.
    #[must_use]
    pub fn if_virtual(web: &SurveyedWeb) -> Option<Self> {
        web.warning().map(|[title, text]| Self { title, text })
    }

    /// The banner of a survey whose tables do not cover all its site trees; none for a complete survey.
    #[must_use]
    pub fn if_partial(completeness: &Completeness) -> Option<Self> {
        if !completeness.is_partial() {
            return None;
        }
        let (done, ended) = (thousands(completeness.done), thousands(completeness.out_of_budget));
        let title = match completeness.state {
            SurveyState::Finished => "Partial: a budget shared by site trees was used up.",
            SurveyState::Running => "Partial: the survey is in progress, or was killed.",
            SurveyState::Interrupted => "Partial: the survey was interrupted.",
            SurveyState::Failed => "Partial: the survey has failed.",
        };
        let mut text = match (completeness.state, completeness.known) {
            (SurveyState::Finished, _) => format!(
                "{ended} of {done} site trees ended because the budget of their server, its network or its autonomous \
                 system was used up. Such trees are not a random sample: they are the last trees on large hosters. Shares and \
                 intervals hold for what was fetched, not for the whole survey."
            ),
            (_, Some(KnownTrees { trees, at })) => {
                format!(
                    "{done} of {} known site trees are done, as of {}{PARTIAL_NOTE}",
                    thousands(trees),
                    at.second()
                )
            }
            (_, None) => format!("{done} of the site trees are done{PARTIAL_NOTE}"),
        };
        if completeness.is_under_way() && completeness.is_resumable {
            text += " To continue it, run ccsurvey resume.";
        }
        if completeness.is_under_way() && completeness.out_of_budget > 0 {
            text += &format!(" Of these trees, {ended} ended because a shared budget was used up.");
        }
        Some(Self { title: title.to_owned(), text })
    }
}

/// For a survey that is not finished.
const PARTIAL_NOTE: &str = "; only these are in the figures. Sites that end early are not a random sample (small ones end first, \
                          later generations last), so shares and intervals hold for what is done, not for the whole survey.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Timestamp;

    fn completeness(state: SurveyState, done: u64, out_of_budget: u64) -> Completeness {
        let known = KnownTrees { trees: 3400, at: Timestamp(90_500_000) };
        Completeness { state, is_resumable: true, done, out_of_budget, known: None }
            .with_known_trees(Some(known))
    }

    fn banner(state: SurveyState, done: u64, out_of_budget: u64) -> Option<Banner> {
        Banner::if_partial(&completeness(state, done, out_of_budget))
    }

    #[test]
    fn only_a_finished_survey_has_no_banner() {
        assert_eq!(banner(SurveyState::Finished, 3400, 0), None);
        for state in [SurveyState::Running, SurveyState::Interrupted, SurveyState::Failed] {
            let banner = banner(state, 1200, 0).unwrap();
            assert!(banner.title.starts_with("Partial: "), "{banner:?}");
            let reached = "1,200 of 3,400 known site trees are done, as of 1970-01-01 00:01:30 UTC; ";
            assert!(banner.text.starts_with(reached), "{banner:?}");
        }
    }

    #[test]
    fn only_a_survey_that_can_go_on_is_said_to() {
        let completeness = completeness(SurveyState::Interrupted, 1200, 0);
        let says =
            |is_resumable| Banner::if_partial(&Completeness { is_resumable, ..completeness }).unwrap().text;
        assert!(
            says(true).ends_with("To continue it, run ccsurvey resume.") && !says(false).contains("resume")
        );
    }

    #[test]
    fn a_finished_survey_whose_trees_ran_into_a_shared_budget_has_one() {
        let Banner { title, text } = banner(SurveyState::Finished, 3400, 12).unwrap();
        assert!(
            title.starts_with("Partial: a budget") && text.starts_with("12 of 3,400 site trees ended"),
            "{text}"
        );
        assert!(!text.contains("resume"), "it is over: {text}");
        let text = banner(SurveyState::Interrupted, 1200, 12).unwrap().text;
        assert!(text.ends_with("Of these trees, 12 ended because a shared budget was used up."), "{text}");
    }

    #[test]
    fn what_was_told_before_the_tables_were_written_is_left_out() {
        let banner = banner(SurveyState::Running, 3401, 0).unwrap();
        assert!(banner.text.starts_with("3,401 of the site trees are done; "), "{banner:?}");
    }
}
