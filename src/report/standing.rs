use crate::records::units::thousands;
use crate::records::{Manifest, SurveyState};

/// What stands above all else while a survey is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    pub title: String,
    pub text: String,
}

/// How many site trees are done of those that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: u64,
    pub known: u64,
}

impl Banner {
    /// The banner of a survey that is not over; none for a finished one.
    #[must_use]
    pub fn of(manifest: &Manifest, progress: Option<Progress>) -> Option<Self> {
        let title = match manifest.state {
            SurveyState::Finished => return None,
            SurveyState::Running => "Partial: the survey is in progress, or was killed.",
            SurveyState::Interrupted => "Partial: the survey was interrupted.",
            SurveyState::Failed => "Partial: the survey has failed.",
        };
        let reached = match progress {
            Some(Progress { done, known }) => {
                format!("{} of {} known site trees are done", thousands(done), thousands(known))
            }
            None => "How many of the known site trees are done is not told".to_owned(),
        };
        let text = format!(
            "{reached}; only these are in the figures, as of {}. Sites that are done early are not a random \
             choice of all (small ones end first, those of later generations come last): shares and intervals \
             hold for what is done, not for the whole survey. The command ccsurvey resume goes on.",
            manifest.updated
        );
        Some(Self { title: title.to_owned(), text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Timestamp;

    fn banner(state: SurveyState) -> Option<Banner> {
        let mut manifest = Manifest::new(serde_json::Value::Null, Timestamp(0));
        manifest.state = state;
        Banner::of(&manifest, Some(Progress { done: 1200, known: 3400 }))
    }

    #[test]
    fn only_a_finished_survey_has_no_banner() {
        assert_eq!(banner(SurveyState::Finished), None);
        for state in [SurveyState::Running, SurveyState::Interrupted, SurveyState::Failed] {
            let banner = banner(state).unwrap();
            assert!(banner.title.starts_with("Partial: "), "{banner:?}");
            assert!(banner.text.starts_with("1,200 of 3,400 known site trees are done;"), "{banner:?}");
        }
    }
}
