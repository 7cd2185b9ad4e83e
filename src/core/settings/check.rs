use std::time::Duration;

use super::table::Bound;
use super::values::value::Amount;
use super::{Setting, Settings, Size, Span};

/// The smallest budgets of bytes and of busy time with which any request can be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallestBudgets {
    /// Wire bytes in both directions.
    pub bytes: Size,
    /// Busy time of a server.
    pub busy: Span,
}

impl SmallestBudgets {
    /// No budget is too small.
    pub const NONE: Self = Self { bytes: Size(0), busy: Span(Duration::ZERO) };
}

impl Settings {
    /// Why these settings are not valid, if they are not: the flag, its value and what is expected.
    ///
    /// Not checked here: the contact ([`Settings::contact_refusal`]), which a simulation does not need, and
    /// the content of the files in the settings.
    #[must_use]
    pub fn refusal(&self, least: &SmallestBudgets) -> Option<String> {
        let invalid_value = || Self::TABLE.iter().find_map(|setting| setting.refusal(self, least));
        self.no_country()
            .or_else(invalid_value)
            .or_else(|| self.empty_words())
            .or_else(|| self.delay_conflict())
            .or_else(|| self.unused_setting())
    }

    fn no_country(&self) -> Option<String> {
        let is_named = self.cctld.iter().any(|name| !name.trim().is_empty());
        (!is_named).then(|| {
            "no country domain given: add --cctld, for example --cctld ke or --cctld ke,tz,ug".to_owned()
        })
    }

    fn empty_words(&self) -> Option<String> {
        let are_empty = self.exclude_text.iter().any(|words| words.trim().is_empty());
        are_empty.then(|| "--exclude-text is empty, expected words that a page may contain".to_owned())
    }

    fn delay_conflict(&self) -> Option<String> {
        let Self { min_delay, max_delay, .. } = self;
        (min_delay > max_delay).then(|| {
            format!("--min-delay is {min_delay}, expected at most --max-delay, which is {max_delay}")
        })
    }
}

impl Setting {
    fn refusal(&self, settings: &Settings, least: &SmallestBudgets) -> Option<String> {
        let expected = self.expected_instead(settings, least)?;
        Some(format!("--{} is {}, expected {expected}", self.key, (self.written)(settings)))
    }

    /// What is expected in place of the current value, if that is out of bounds.
    #[must_use]
    pub fn expected_instead(&self, settings: &Settings, least: &SmallestBudgets) -> Option<String> {
        let amount = (self.amount)(settings);
        let (holds, expected) = match self.rules.bound {
            Bound::None => return None,
            Bound::Within(holds, expected) => (holds(amount), expected.to_owned()),
            _ if amount == Amount::Whole(0) => return Some("more than 0".to_owned()),
            Bound::AboveZero => return None,
            Bound::LeastBytes => (
                amount >= Amount::Whole(least.bytes.0.into()),
                format!("at least {} bytes, which a single request may move", least.bytes),
            ),
            Bound::LeastBusy => (
                amount >= Amount::Whole(least.busy.0.as_nanos()),
                format!("at least {}, a second more than --exchange-timeout", least.busy),
            ),
        };
        (!holds).then_some(expected)
    }
}
