use std::time::Duration;

use serde_json::Value;

use crate::promises::PromisedLimits;
use crate::settings::{Pace, Settings};

/// The limits of a survey from its manifest, as far as promises are judged by them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::analysis::overview) struct RecordedLimits {
    pub limits: PromisedLimits,
    /// Whether the manifest records the settings for pauses and slots.
    pub has_pace: bool,
    /// The promised limit on the share of a server's link; none if the tables are not judged by it.
    pub harm: Option<f64>,
}

/// Tables record times to the microsecond. Start times come from the wall clock, durations from a monotonic
/// clock.
const ROUNDING: Duration = Duration::from_millis(1);
/// The bytes that one exchange may move besides a body: heads, handshake and what the kernel has read ahead.
const BESIDES_BODY: u64 = 1_048_576;
const PACE: [&str; 4] = ["min-delay", "delay-factor", "max-delay", "per-address"];

impl RecordedLimits {
    /// The limits in the settings that a manifest records; `budget` is the most requests of the survey.
    pub(in crate::analysis::overview) fn new(manifest: &Value, budget: Option<u64>) -> Self {
        let settings = Settings::recorded(manifest);
        let limits =
            PromisedLimits::new(&settings, settings.max_body.0 + BESIDES_BODY).with_survey_budget(budget);
        // The tables do not record how fast a body arrived, so links are judged separately.
        let pace = Pace { harm: None, ..limits.pace };
        Self {
            limits: PromisedLimits { pace, rounding: ROUNDING, ..limits },
            has_pace: PACE.iter().all(|key| manifest.get(key).is_some()),
            harm: settings.harm,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::LoadLimits;

    #[test]
    fn settings_are_read_as_the_manifest_writes_them() {
        let manifest = json!({
            "min-delay": "2s", "max-delay": "1m", "delay-factor": 5.0, "per-address": 1, "max-requests": 10_000,
            "max-bytes": "335544320", "max-time": "3days", "rate": "none", "opt-out": null,
            "harm": "0.003", "per-neighbourhood": "none", "quiet-hours": "none", "max-as-bytes-per-day": "4096",
            "max-server-busy": "2m", "max-server-requests": "30", "max-network-bytes": "none",
        });
        let recorded = RecordedLimits::new(&manifest, Some(600));
        assert_eq!(recorded.limits.survey, Some(600));
        let PromisedLimits { pace, tree, rate, server, network, system, quiet_hours, .. } = &recorded.limits;
        assert_eq!((pace.min_delay, pace.max_delay), (Duration::from_secs(2), Duration::from_secs(60)));
        assert_eq!((tree.requests, tree.bytes), (Some(10_000), Some(335_544_320)));
        assert_eq!((tree.time, *rate), (Some(Duration::from_secs(3 * 86_400)), None));
        assert_eq!((recorded.harm, pace.per_neighbourhood, pace.per_site), (Some(0.003), None, 1));
        let of = |requests, bytes, busy: Option<u64>| LoadLimits {
            requests,
            bytes,
            busy: busy.map(Duration::from_secs),
        };
        assert_eq!(server.in_all, of(Some(30), None, Some(120)));
        assert_eq!(system.per_day, of(None, Some(4096), None));
        assert!(network.is_unbounded() && quiet_hours.is_none() && recorded.has_pace);
        assert!(!RecordedLimits::new(&Value::Null, None).has_pace);
    }
}
