use std::time::Duration;

use serde_json::Value;

use crate::load::{Budget, Burden, Pace, SharedBudget};
use crate::promises::Limits;

/// What a survey was told, as far as promises can be judged by it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub limits: Limits,
    /// Whether the manifest says with which pauses and places servers were asked.
    pub has_pace: bool,
    /// The share of a link that servers were promised; none where the tables are not to be judged by it.
    pub link_share: Option<f64>,
    pub asks_all_doors: bool,
}

/// Tables tell times to the microsecond; starts are told by the clock of the day, durations by a steady one.
const ROUNDING: Duration = Duration::from_millis(1);
/// What one exchange may move besides a body: heads, handshake and what the kernel has read ahead.
const BESIDES_BODY: u64 = 1_048_576;

impl Told {
    pub(super) fn of(settings: &Value) -> Self {
        let pace = pace(settings);
        let limits = Limits {
            pace: pace.clone().unwrap_or_default(),
            tree: Budget {
                requests: size(&settings["max-requests"]),
                bytes: size(&settings["max-bytes"]),
                time: span(&settings["max-time"]),
            },
            rate: size(&settings["rate"]),
            largest: size(&settings["max-body"]).unwrap_or_default() + BESIDES_BODY,
            server: shared_budget(settings, "server"),
            network: shared_budget(settings, "network"),
            system: shared_budget(settings, "as"),
            quiet_hours: settings["quiet-hours"].as_str().and_then(|hours| hours.parse().ok()),
            permits_special_addresses: settings["permit-special-addresses"] == true,
            rounding: ROUNDING,
        };
        Self {
            limits,
            has_pace: pace.is_some(),
            link_share: number(&settings["link-share"]),
            asks_all_doors: settings["entrances"] == "all",
        }
    }
}

fn pace(settings: &Value) -> Option<Pace> {
    let places = |key: &str| settings[key].as_u64().and_then(|places| u32::try_from(places).ok());
    Some(Pace {
        min_delay: span(&settings["min-delay"])?,
        factor: settings["delay-factor"].as_f64()?,
        max_delay: span(&settings["max-delay"])?,
        // The tables do not tell how fast a body came: links are judged in another way.
        link_share: None,
        per_address: places("per-address")?,
        per_neighbourhood: size(&settings["per-neighbourhood"]).and_then(|places| places.try_into().ok()),
        per_site: places("per-site").unwrap_or(1),
    })
}

fn shared_budget(settings: &Value, place: &str) -> SharedBudget {
    let burden = |per: &str| {
        let setting = |unit: &str| &settings[format!("max-{place}-{unit}{per}")];
        Burden {
            requests: size(setting("requests")),
            bytes: size(setting("bytes")),
            busy: span(setting("busy")),
        }
    };
    SharedBudget { per_day: burden("-per-day"), in_all: burden("") }
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
        let Limits { pace, tree, rate, server, network, system, quiet_hours, .. } = &told.limits;
        assert_eq!((pace.min_delay, pace.max_delay), (Duration::from_secs(2), Duration::from_secs(60)));
        assert_eq!((tree.requests, tree.bytes), (Some(10_000), Some(335_544_320)));
        assert_eq!((tree.time, *rate), (Some(Duration::from_secs(3 * 86_400)), None));
        assert_eq!((told.link_share, pace.per_neighbourhood, pace.per_site), (Some(0.003), None, 1));
        let of = |requests, bytes, busy: Option<u64>| Burden {
            requests,
            bytes,
            busy: busy.map(Duration::from_secs),
        };
        assert_eq!(server.in_all, of(Some(30), None, Some(120)));
        assert_eq!(system.per_day, of(None, Some(4096), None));
        assert!(network.is_unbounded() && quiet_hours.is_none() && told.has_pace);
        assert!(!Told::of(&Value::Null).has_pace);
    }
}
