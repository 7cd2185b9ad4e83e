use super::Settings;
use super::table::BreakCondition;
use super::values::value::Amount;

/// A setting that is less polite to servers than promised to their owners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessPolite {
    /// Key of the setting.
    pub key: &'static str,
    /// Its value.
    pub is: String,
    /// The default.
    pub polite: String,
    /// The promise that it breaks.
    pub breaks: &'static str,
}

/// The settings of a survey that break a promise to server owners; none for a survey that stays on this
/// machine.
///
/// Settings that concern all servers come first, then the limits of a site tree. `max-time` and the budgets
/// of servers and networks are not among them: the budgets have no limit by default, and all of them limit
/// only what the pauses limit already. `permit-special-addresses` is not among them because it is a
/// permission of its own.
#[must_use]
pub fn impolite(settings: &Settings) -> Vec<LessPolite> {
    if settings.is_loopback_only() {
        return Vec::new();
    }
    let polite = Settings::default();
    let less_polite = Settings::TABLE.iter().filter(|setting| setting.is_less_polite(&polite, settings));
    let mut broken: Vec<(bool, LessPolite)> = less_polite
        .filter_map(|setting| {
            let (when, breaks) = setting.rules.breaks?;
            let is_broken =
                when == BreakCondition::LessPolite || (setting.amount)(settings) == Amount::NoLimit;
            let [is, polite] = [settings, &polite].map(|settings| (setting.written)(settings).in_message());
            let is_per_site = setting.group == HOW_FAR;
            is_broken.then_some((is_per_site, LessPolite { key: setting.key, is, polite, breaks }))
        })
        .collect();
    broken.sort_by_key(|(is_per_site, _)| *is_per_site);
    broken.into_iter().map(|(_, less_polite)| less_polite).collect()
}

/// The group of the settings that limit a site tree.
const HOW_FAR: &str = "How far";

impl std::fmt::Display for LessPolite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { key, is, polite, breaks } = self;
        write!(f, "--{key} {is} breaks the promise of {breaks} (polite: {polite})")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::table::OnResume;
    use crate::settings::{Size, Span};

    fn keys(change: impl FnOnce(&mut Settings)) -> Vec<&'static str> {
        let mut settings = Settings::default();
        change(&mut settings);
        impolite(&settings).into_iter().map(|less_polite| less_polite.key).collect()
    }

    #[test]
    fn the_defaults_and_all_that_is_gentler_are_polite() {
        assert!(keys(|_| {}).is_empty());
        let more_polite = |settings: &mut Settings| {
            settings.min_delay = Span(Duration::from_secs(10));
            settings.delay_factor = 9.0;
            settings.rate = Some(Size(1000));
            settings.harm = Some(0.001);
        };
        assert!(keys(more_polite).is_empty());
    }

    #[test]
    fn a_ceiling_may_be_raised_but_not_lifted() {
        assert!(keys(|settings| settings.rate = Some(Size(20_000_000))).is_empty());
        assert_eq!(keys(|settings| settings.harm = Some(0.05)), ["harm"]);
        assert!(keys(|settings| settings.max_requests = Some(50_000)).is_empty());
        assert!(keys(|settings| settings.max_time = None).is_empty());
        let lifted = |settings: &mut Settings| {
            (settings.rate, settings.harm) = (None, None);
            (settings.max_requests, settings.max_bytes) = (None, None);
        };
        assert_eq!(keys(lifted), ["harm", "rate", "max-requests", "max-bytes"]);
    }

    #[test]
    fn shorter_pauses_and_more_places_are_told_with_what_they_break() {
        let mut settings = Settings {
            min_delay: Span::default(),
            delay_factor: 1.0,
            max_delay: Span(Duration::from_secs(30)),
            per_site: 2,
            per_address: 50,
            ..Settings::default()
        };
        let messages: Vec<String> = impolite(&settings).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "--per-site 2 breaks the promise of one request at a time per site (polite: 1)",
                "--per-address 50 breaks the promise of one request at a time per server (polite: 1)",
                "--min-delay 0s breaks the promise of the minimum pause at each server (polite: 2s)",
                "--delay-factor 1.0 breaks the promise of longer pauses for slow servers (polite: 5.0)",
                "--max-delay 30s breaks the promise of long pauses for servers in trouble (polite: 1m)",
            ]
        );
        let loopback = Some("127.0.0.1:9".parse().unwrap());
        (settings.dns, settings.gateway) = (loopback, loopback);
        assert!(impolite(&settings).is_empty(), "nobody else's servers are asked");
    }

    #[test]
    fn every_promise_is_a_setting_that_can_be_made_gentler() {
        for setting in Settings::TABLE.iter().filter(|setting| setting.rules.breaks.is_some()) {
            assert!([OnResume::Less, OnResume::More].contains(&setting.rules.on_resume), "{}", setting.key);
        }
    }
}
