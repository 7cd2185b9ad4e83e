use serde::Serialize;
use serde_json::Value;

use super::ComparedSurvey;

/// A setting that differs between two surveys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unlike {
    /// The name of the setting.
    pub setting: String,
    /// Its value in the earlier survey.
    pub earlier: String,
    /// Its value in the later survey.
    pub later: String,
    /// What it makes incomparable; empty where it changes no result.
    pub affects: &'static str,
}

const FOUND: &str = "which hosts and sites were found, and pages of a site";
const WHAT_IS_KNOWN: &str = "which hosts were requested";

/// The settings that decide about results, and what they affect. Settings that are not listed change the load
/// on servers or the speed.
const DECISIVE: &[(&str, &str)] = &[
    ("cctld", WHAT_IS_KNOWN),
    ("suffixes", "what a site is"),
    ("scope", "what a site is"),
    ("sample", WHAT_IS_KNOWN),
    ("seed", WHAT_IS_KNOWN),
    ("feed-back", WHAT_IS_KNOWN),
    ("generations", WHAT_IS_KNOWN),
    ("seeds-per-site", FOUND),
    ("depth", FOUND),
    ("max-depth", FOUND),
    ("coverage", FOUND),
    ("budget", FOUND),
    ("focus", FOUND),
    ("entrances", "which sites respond, and the doors of hosts"),
    ("queries-per-script", FOUND),
    ("non-html", "the number of requests"),
    ("non-html-extensions", FOUND),
    ("include", FOUND),
    ("exclude", FOUND),
    ("exclude-text", FOUND),
    ("fetch-mirrors", FOUND),
    ("stable-levels", FOUND),
    ("trap-levels", FOUND),
    ("max-requests", FOUND),
    ("max-bytes", FOUND),
    ("max-time", FOUND),
    ("max-urls", FOUND),
    ("max-body", FOUND),
];

impl Unlike {
    /// The decisive settings that differ, in the order of the list.
    pub(super) fn between([earlier, later]: [&ComparedSurvey; 2]) -> Vec<Self> {
        let value = |side: &ComparedSurvey, setting: &str| {
            text(side.manifest.settings.get(setting).unwrap_or(&Value::Null))
        };
        let differing = DECISIVE.iter().map(|(setting, affects)| Self {
            setting: (*setting).to_owned(),
            earlier: value(earlier, setting),
            later: value(later, setting),
            affects,
        });
        differing.filter(|unlike| unlike.earlier != unlike.later).collect()
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "not set".to_owned(),
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn every_decisive_setting_is_one() {
        let settings = serde_json::to_value(Settings::default()).unwrap();
        for (setting, _) in DECISIVE {
            assert!(settings.get(setting).is_some(), "{setting}");
        }
    }

    #[test]
    fn values_are_told_in_words() {
        for (value, told) in [
            (Value::Null, "not set"),
            (serde_json::json!([]), "not set"),
            (serde_json::json!(["ke", "tz"]), "ke, tz"),
            (serde_json::json!(8), "8"),
        ] {
            assert_eq!(text(&value), told);
        }
    }
}
