use std::time::Duration;

use serde_json::Value;

/// What a survey was told, as far as promises can be judged by it. None where the manifest does not say it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub min_delay: Option<Duration>,
    pub delay_factor: Option<f64>,
    pub max_delay: Option<Duration>,
    pub per_address: Option<u64>,
    pub per_site: Option<u64>,
    pub max_requests: Limit<u64>,
    pub max_bytes: Limit<u64>,
    pub max_time: Limit<Duration>,
    /// Bytes per second.
    pub rate: Limit<u64>,
    pub max_body: Option<u64>,
    pub per_neighbourhood: Limit<u64>,
    pub link_share: Limit<f64>,
    /// What a server may bear, a network (/24, /48) and an autonomous system.
    pub server: Allowance,
    pub network: Allowance,
    pub system: Allowance,
    pub has_quiet_hours: bool,
    pub permits_special_addresses: bool,
    pub has_opt_out_list: bool,
    pub record_links: bool,
    pub asks_all_doors: bool,
}

/// A limit that may have been lifted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Limit<T> {
    #[default]
    Untold,
    None,
    Most(T),
}

/// What a place may bear for a survey: requests, bytes and microseconds of busy time; none: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Allowance {
    pub in_all: [Option<u64>; 3],
    pub per_day: [Option<u64>; 3],
}

impl Allowance {
    fn of(settings: &Value, place: &str) -> Self {
        let micros = |value: &Value| u64::try_from(span(value)?.as_micros()).ok();
        let most = |per: &str| {
            let setting = |unit: &str| &settings[format!("max-{place}-{unit}{per}")];
            [size(setting("requests")), size(setting("bytes")), micros(setting("busy"))]
        };
        Self { in_all: most(""), per_day: most("-per-day") }
    }

    pub(super) fn is_unbounded(&self) -> bool {
        *self == Self::default()
    }
}

impl Told {
    pub(super) fn of(settings: &Value) -> Self {
        Self {
            min_delay: span(&settings["min-delay"]),
            delay_factor: settings["delay-factor"].as_f64(),
            max_delay: span(&settings["max-delay"]),
            per_address: settings["per-address"].as_u64(),
            per_site: settings["per-site"].as_u64(),
            max_requests: limit(&settings["max-requests"], size),
            max_bytes: limit(&settings["max-bytes"], size),
            max_time: limit(&settings["max-time"], span),
            rate: limit(&settings["rate"], size),
            max_body: size(&settings["max-body"]),
            per_neighbourhood: limit(&settings["per-neighbourhood"], size),
            link_share: limit(&settings["link-share"], number),
            server: Allowance::of(settings, "server"),
            network: Allowance::of(settings, "network"),
            system: Allowance::of(settings, "as"),
            has_quiet_hours: settings["quiet-hours"].as_str().is_some_and(|hours| hours != "none"),
            permits_special_addresses: settings["permit-special-addresses"] == true,
            has_opt_out_list: settings["opt-out"].is_string(),
            record_links: settings["record-links"] == true,
            asks_all_doors: settings["entrances"] == "all",
        }
    }
}

fn limit<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Limit<T> {
    if value == "none" {
        return Limit::None;
    }
    read(value).map_or(Limit::Untold, Limit::Most)
}

/// Settings are written with units: `1m`, `2s 500ms`.
fn span(value: &Value) -> Option<Duration> {
    humantime::parse_duration(value.as_str()?).ok()
}

/// Sizes are written in bytes, as text.
fn size(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Limits are written as text, for the sake of the word `none`.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_read_as_the_manifest_writes_them() {
        let told = Told::of(&json!({
            "min-delay": "2s", "max-delay": "1m", "delay-factor": 5.0, "per-address": 1, "max-requests": 10_000,
            "max-bytes": "335544320", "max-time": "3days", "rate": "none", "opt-out": null,
            "link-share": "0.003", "per-neighbourhood": "none", "quiet-hours": "none", "max-as-bytes-per-day": "4096",
            "max-server-busy": "2m", "max-server-requests": "30", "max-network-bytes": "none",
        }));
        assert_eq!(
            (told.min_delay, told.max_delay),
            (Some(Duration::from_secs(2)), Some(Duration::from_secs(60)))
        );
        assert_eq!((told.max_requests, told.max_bytes), (Limit::Most(10_000), Limit::Most(335_544_320)));
        assert_eq!(told.max_time, Limit::Most(Duration::from_secs(3 * 86_400)));
        assert_eq!((told.rate, told.per_site, told.has_opt_out_list), (Limit::None, None, false));
        assert_eq!((told.link_share, told.per_neighbourhood), (Limit::Most(0.003), Limit::None));
        assert_eq!(told.server.in_all, [Some(30), None, Some(120_000_000)]);
        assert_eq!(told.system.per_day, [None, Some(4096), None]);
        assert!(told.network.is_unbounded() && !told.has_quiet_hours);
        assert_eq!(Told::of(&Value::Null), Told::default());
    }
}
