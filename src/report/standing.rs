use crate::records::units::thousands;
use crate::records::{Manifest, SurveyState, SurveyedWeb, Timestamp};

/// What stands above all else: that a survey is not of the Internet, or that it is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    /// The heading of the warning.
    pub title: String,
    /// What that means.
    pub text: String,
}

/// How many site trees were known, done or not, when the survey last told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTrees {
    /// Known when the survey last told.
    pub trees: u64,
    /// When that was.
    pub at: Timestamp,
}

impl Banner {
    /// The banner of a survey whose Web is not the Internet.
    #[must_use]
    pub fn if_virtual(web: &SurveyedWeb) -> Option<Self> {
        web.warning().map(|[title, text]| Self { title, text })
    }

    /// The banner of a survey that is not over; none for a finished one.
    ///
    /// `done` are the site trees in the tables. What is known is left out where nothing tells it.
    #[must_use]
    pub fn if_unfinished(manifest: &Manifest, done: u64, known: Option<KnownTrees>) -> Option<Self> {
        let title = match manifest.state {
            SurveyState::Finished => return None,
            SurveyState::Running => "Partial: the survey is in progress, or was killed.",
            SurveyState::Interrupted => "Partial: the survey was interrupted.",
            SurveyState::Failed => "Partial: the survey has failed.",
        };
        // A process that was killed may have told last before it wrote its last trees.
        let reached = match known.filter(|known| known.trees >= done) {
            Some(KnownTrees { trees, at }) => format!(
                "{} of {} known site trees are done, as of {}",
                thousands(done),
                thousands(trees),
                at.second()
            ),
            None => format!("{} of the site trees are done", thousands(done)),
        };
        let text = format!(
            "{reached}; only these are in the figures. Sites that end early are not a random sample \
             (small ones end first, later generations last), so shares and intervals hold for what is \
             done, not for the whole survey. The command ccsurvey resume goes on."
        );
        Some(Self { title: title.to_owned(), text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(state: SurveyState, done: u64) -> Option<Banner> {
        let mut manifest = Manifest::new(serde_json::Value::Null, Timestamp(0));
        manifest.state = state;
        Banner::if_unfinished(&manifest, done, Some(KnownTrees { trees: 3400, at: Timestamp(90_500_000) }))
    }

    fn banner(state: SurveyState) -> Option<Banner> {
        told(state, 1200)
    }

    #[test]
    fn only_a_finished_survey_has_no_banner() {
        assert_eq!(banner(SurveyState::Finished), None);
        for state in [SurveyState::Running, SurveyState::Interrupted, SurveyState::Failed] {
            let banner = banner(state).unwrap();
            assert!(banner.title.starts_with("Partial: "), "{banner:?}");
            let reached = "1,200 of 3,400 known site trees are done, as of 1970-01-01 00:01:30 UTC; ";
            assert!(banner.text.starts_with(reached), "{banner:?}");
        }
    }

    #[test]
    fn what_was_told_before_the_tables_were_written_is_left_out() {
        let banner = told(SurveyState::Running, 3401).unwrap();
        assert!(banner.text.starts_with("3,401 of the site trees are done; "), "{banner:?}");
    }
}
