use serde::Deserialize;
use serde_json::Value;

use super::settings::Settings;

/// A setting that cannot be changed before a survey goes on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub key: String,
    pub was: String,
    pub is: String,
    pub expected: &'static str,
}

/// Settings that neither tables nor promises depend on.
const FREE: &[&str] = &[
    "contact",
    "impolite",
    "sites",
    "dns",
    "gateway",
    "ca",
    "opt-out",
    "geo",
    "dns-timeout",
    "connect-timeout",
    "tls-timeout",
    "first-byte-timeout",
    "idle-timeout",
    "exchange-timeout",
];

/// The first setting that a survey cannot go on with, since it began with another.
///
/// A survey may be made gentler at any time, for instance after a complaint: its promises are judged by what it began
/// with. What decides over its tables stays as it was, or rows of one survey would be of two.
pub(super) fn first_wrong(began_with: &Settings, goes_on_with: &Settings) -> Option<Change> {
    let (was, is) = (keys_of(began_with), keys_of(goes_on_with));
    is.iter().find_map(|(key, is)| {
        let was = was.get(key).unwrap_or(&Value::Null);
        if was == is || FREE.contains(&key.as_str()) {
            return None;
        }
        let expected = match is_gentler(key, began_with, goes_on_with) {
            Some(true) => return None,
            Some(false) => "what it began with, or what is gentler to servers",
            None => "what it began with: tables depend on it",
        };
        Some(Change { key: key.clone(), was: written(was), is: written(is), expected })
    })
}

/// A value as a flag has it.
pub(super) fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// The settings a survey stands at, with those that are `wished` to be other than it began with.
pub(super) fn with_wishes(
    began_with: &Settings,
    stands_at: &Settings,
    wished: &Settings,
) -> Result<Settings, serde_json::Error> {
    let (was, mut keys) = (keys_of(began_with), keys_of(stands_at));
    keys.extend(keys_of(wished).into_iter().filter(|(key, value)| was.get(key) != Some(value)));
    Settings::deserialize(Value::Object(keys))
}

pub(super) fn keys_of(settings: &Settings) -> serde_json::Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(keys)) => keys,
        _ => serde_json::Map::new(),
    }
}

/// None for a setting that has nothing to do with load.
pub(super) fn is_gentler(key: &str, was: &Settings, is: &Settings) -> Option<bool> {
    macro_rules! at_most {
        ($($limit:ident)|+) => {
            match key.replace('-', "_").as_str() {
                $(stringify!($limit) => return Some(is_no_larger(is.$limit, was.$limit)),)+
                _ => {}
            }
        };
    }
    at_most!(
        max_requests
            | max_bytes
            | max_time
            | rate
            | link_share
            | per_neighbourhood
            | max_server_requests
            | max_server_bytes
            | max_server_busy
            | max_server_requests_per_day
            | max_server_bytes_per_day
            | max_server_busy_per_day
            | max_network_requests
            | max_network_bytes
            | max_network_busy
            | max_network_requests_per_day
            | max_network_bytes_per_day
            | max_network_busy_per_day
            | max_as_requests
            | max_as_bytes
            | max_as_busy
            | max_as_requests_per_day
            | max_as_bytes_per_day
            | max_as_busy_per_day
    );
    Some(match key {
        "min-delay" => is.min_delay >= was.min_delay,
        "delay-factor" => is.delay_factor >= was.delay_factor,
        "max-delay" => is.max_delay >= was.max_delay,
        "per-site" => is.per_site <= was.per_site,
        "per-address" => is.per_address <= was.per_address,
        "quiet-hours" => was.quiet_hours.is_none(),
        "permit-special-addresses" => was.permit_special_addresses,
        _ => return None,
    })
}

/// None is no limit.
fn is_no_larger<T: PartialOrd>(is: Option<T>, was: Option<T>) -> bool {
    match (is, was) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(is), Some(was)) => is <= was,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::survey::{Size, Span};

    fn wrong(change: impl FnOnce(&mut Settings)) -> Option<String> {
        let mut settings = Settings::default();
        change(&mut settings);
        first_wrong(&Settings::default(), &settings).map(|change| change.key)
    }

    #[test]
    fn a_survey_may_be_made_gentler_and_told_other_ways_to_servers() {
        assert_eq!(wrong(|_| {}), None);
        assert_eq!(wrong(|settings| settings.min_delay = Span(Duration::from_secs(10))), None);
        assert_eq!(wrong(|settings| settings.rate = Some(Size(1000))), None);
        assert_eq!(wrong(|settings| settings.max_server_requests = Some(5)), None);
        assert_eq!(wrong(|settings| settings.link_share = Some(0.001)), None);
        assert_eq!(wrong(|settings| settings.dns = Some("127.0.0.1:53".parse().unwrap())), None);
        assert_eq!(wrong(|settings| settings.opt_out = Some("list.txt".into())), None);
    }

    #[test]
    fn a_survey_may_not_be_made_harsher_nor_another_one() {
        assert_eq!(wrong(|settings| settings.min_delay = Span::default()).as_deref(), Some("min-delay"));
        assert_eq!(wrong(|settings| settings.max_requests = None).as_deref(), Some("max-requests"));
        assert_eq!(wrong(|settings| settings.link_share = None).as_deref(), Some("link-share"));
        assert_eq!(wrong(|settings| settings.per_address = 2).as_deref(), Some("per-address"));
        assert_eq!(wrong(|settings| settings.depth = 3).as_deref(), Some("depth"));
        assert_eq!(
            wrong(|settings| settings.exclude_text.push("for sale".into())).as_deref(),
            Some("exclude-text")
        );
    }

    #[test]
    fn what_is_wished_otherwise_than_it_began_counts_and_all_else_stands() {
        let seconds = |number| Span(Duration::from_secs(number));
        let began = Settings { min_delay: seconds(2), depth: 5, ..Settings::default() };
        let stands = Settings { min_delay: seconds(10), ..began.clone() };
        let wished = Settings { depth: 4, sites: 7, ..began.clone() };
        let all = with_wishes(&began, &stands, &wished).unwrap();
        assert_eq!((all.min_delay, all.depth, all.sites), (seconds(10), 4, 7));
        assert_eq!(with_wishes(&began, &stands, &began).unwrap(), stands);
    }

    #[test]
    fn every_limit_on_load_may_be_made_smaller() {
        let keys = keys_of(&Settings::default());
        let limits =
            keys.keys().filter(|key| key.starts_with("max-") && *key != "max-urls" && *key != "max-body");
        for key in limits {
            assert!(is_gentler(key, &Settings::default(), &Settings::default()).is_some(), "{key}");
        }
    }
}
