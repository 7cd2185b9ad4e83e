use std::cmp::Ordering;

use super::table::OnResume;
use super::{Setting, Settings};

/// A setting that must not change when a survey is resumed.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    /// Key of the setting.
    pub key: &'static str,
    /// The value in the survey.
    pub was: String,
    /// The requested value.
    pub is: String,
    /// The values that are allowed instead.
    pub expected: &'static str,
}

/// The first setting that a survey cannot be resumed with, because it began with another value.
///
/// A survey may become more polite at any time, for instance after a complaint: its promises are judged by
/// the settings that it began with. A setting that decides the content of tables must stay, or one survey
/// would mix the rows of two.
#[must_use]
pub fn first_forbidden_change(started_with: &Settings, resumed_with: &Settings) -> Option<Change> {
    let mut changed = Settings::TABLE.iter().filter(|setting| setting.differs(started_with, resumed_with));
    changed.find_map(|setting| {
        let expected = match setting.rules.on_resume {
            OnResume::Free => return None,
            OnResume::Fixed => "that value, because tables depend on it",
            _ if !setting.is_less_polite(started_with, resumed_with) => return None,
            _ => "that value or a more polite one",
        };
        let [was, is] = [started_with, resumed_with].map(|settings| (setting.written)(settings).in_message());
        Some(Change { key: setting.key, was, is, expected })
    })
}

/// The current settings of a survey, with each setting in `requested` that differs from the value that the
/// survey began with.
///
/// # Errors
/// If a value cannot be read back as it is written.
pub fn with_changes(
    started_with: &Settings,
    current: &Settings,
    requested: &Settings,
) -> Result<Settings, String> {
    let mut settings = current.clone();
    for setting in Settings::TABLE.iter().filter(|setting| setting.differs(started_with, requested)) {
        let read = (setting.read)(&mut settings, &(setting.written)(requested));
        read.map_err(|refusal| refusal.for_key(setting.key))?;
    }
    Ok(settings)
}

impl Setting {
    pub(super) fn differs(&self, one: &Settings, other: &Settings) -> bool {
        (self.written)(one) != (self.written)(other)
    }

    /// Whether the setting became less polite to servers; settings without influence on load never do.
    pub(super) fn is_less_polite(&self, was: &Settings, is: &Settings) -> bool {
        let (was, is) = ((self.amount)(was), (self.amount)(is));
        match self.rules.on_resume {
            OnResume::Less => !matches!(is.partial_cmp(&was), Some(Ordering::Less | Ordering::Equal)),
            OnResume::More => !matches!(is.partial_cmp(&was), Some(Ordering::Greater | Ordering::Equal)),
            OnResume::Free | OnResume::Fixed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::{DepthRule, Size, Span};

    fn refused_key(change: impl FnOnce(&mut Settings)) -> Option<&'static str> {
        let mut settings = Settings::default();
        change(&mut settings);
        first_forbidden_change(&Settings::default(), &settings).map(|change| change.key)
    }

    #[test]
    fn a_survey_may_be_made_gentler_and_told_other_ways_to_servers() {
        assert_eq!(refused_key(|_| {}), None);
        assert_eq!(refused_key(|settings| settings.min_delay = Span(Duration::from_secs(10))), None);
        assert_eq!(refused_key(|settings| settings.rate = Some(Size(1000))), None);
        assert_eq!(refused_key(|settings| settings.budgets.server.in_all.requests = Some(5)), None);
        assert_eq!(refused_key(|settings| settings.harm = Some(0.001)), None);
        assert_eq!(refused_key(|settings| settings.dns = Some("127.0.0.1:53".parse().unwrap())), None);
        assert_eq!(refused_key(|settings| settings.opt_out = Some("list.txt".into())), None);
    }

    #[test]
    fn a_survey_may_not_be_made_harsher_nor_another_one() {
        assert_eq!(refused_key(|settings| settings.min_delay = Span::default()), Some("min-delay"));
        assert_eq!(refused_key(|settings| settings.max_requests = None), Some("max-requests"));
        assert_eq!(refused_key(|settings| settings.harm = None), Some("harm"));
        assert_eq!(refused_key(|settings| settings.per_address = 2), Some("per-address"));
        assert_eq!(refused_key(|settings| settings.depth = DepthRule::Levels(3)), Some("depth"));
        assert_eq!(
            refused_key(|settings| settings.exclude_text.push("for sale".into())),
            Some("exclude-text")
        );
    }

    #[test]
    fn what_is_wished_otherwise_than_it_began_counts_and_all_else_stands() {
        let seconds = |number| Span(Duration::from_secs(number));
        let began = Settings { min_delay: seconds(2), depth: DepthRule::Levels(5), ..Settings::default() };
        let stands = Settings { min_delay: seconds(10), ..began.clone() };
        let requested = Settings { depth: DepthRule::Levels(4), sites: 7, ..began.clone() };
        let all = with_changes(&began, &stands, &requested).unwrap();
        assert_eq!((all.min_delay, all.depth, all.sites), (seconds(10), DepthRule::Levels(4), 7));
        assert_eq!(with_changes(&began, &stands, &began).unwrap(), stands);
    }

    #[test]
    fn every_limit_on_load_may_be_made_smaller() {
        let limits = Settings::TABLE.iter().filter(|setting| setting.key.starts_with("max-"));
        for limit in limits.filter(|setting| !["max-urls", "max-body", "max-depth"].contains(&setting.key)) {
            assert!([OnResume::Less, OnResume::More].contains(&limit.rules.on_resume), "{}", limit.key);
        }
    }
}
