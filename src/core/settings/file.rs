use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::values::written::Written;
use super::{Setting, Settings, Size};

/// Flags of `survey` that concern one run of it or its start list; they are not allowed as keys of a file.
#[rustfmt::skip]
pub const FLAGS_ONLY: [&str; 9] = [
    "start", "column", "outside-cctld", "start-anyway", "skip-bad", "or-resume", "config", "json", "log-level",
];

impl Settings {
    /// Reads settings in TOML, as `survey.toml` and configuration files have them.
    ///
    /// # Errors
    /// If the text is not TOML, a key is unknown or a value is not valid; the message names the line, the key
    /// and what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let toml = toml::Deserializer::parse(text).map_err(|error| toml_error(text, &error))?;
        Self::deserialize(toml)
            .map_err(|error| format!("line {}: {}", line_of(text, &error), error.message()))
    }

    /// The settings in the manifest of a survey, whichever version wrote it. A limit that is missing there
    /// did not exist, and keys that this version does not know are ignored.
    #[must_use]
    pub fn recorded(manifest: &serde_json::Value) -> Self {
        let limits = Self { max_requests: None, max_bytes: None, max_time: None, ..Self::default() };
        let mut settings = Self { rate: None, harm: None, max_body: Size(0), ..limits };
        for (key, value) in manifest.as_object().into_iter().flatten() {
            if let (Some(setting), Ok(written)) = (Setting::named(key), Written::deserialize(value)) {
                (setting.read)(&mut settings, &written).unwrap_or_default();
            }
        }
        settings
    }
}

fn toml_error(text: &str, error: &toml::de::Error) -> String {
    let number = line_of(text, error);
    let message = error.message().replace('\n', ", ");
    match text.lines().nth(number - 1).unwrap_or("").split_once('=') {
        Some((key, _)) => format!("line {number}: key '{}': {message}", key.trim()),
        None => format!("line {number}: {message}"),
    }
}

/// Line number, counted from 1.
fn line_of(text: &str, error: &toml::de::Error) -> usize {
    let at = error.span().map_or(0, |span| span.start);
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

/// A setting that another one takes the place of is not written.
impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unset = Self::default();
        let given = Self::TABLE.iter().filter(|setting| setting.differs(self, &unset));
        let excluded: Vec<_> = given.filter_map(|setting| setting.rules.excludes).collect();
        let mut keys = serializer.serialize_map(None)?;
        for setting in Self::TABLE.iter().filter(|setting| !excluded.contains(&setting.key)) {
            keys.serialize_entry(setting.key, &(setting.written)(self))?;
        }
        keys.end()
    }
}

/// A missing key has its default.
impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Settings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the settings of a survey")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut keys: A) -> Result<Settings, A::Error> {
        let mut settings = Settings::default();
        while let Some(KnownKey(setting)) = keys.next_key()? {
            keys.next_value_seed(ValueReader { setting, settings: &mut settings })?;
        }
        Ok(settings)
    }
}

/// Reads the value of a key, so that the error knows its line.
struct ValueReader<'a> {
    setting: &'static Setting,
    settings: &'a mut Settings,
}

impl<'de> DeserializeSeed<'de> for ValueReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let read = (self.setting.read)(self.settings, &Written::deserialize(deserializer)?);
        read.map_err(|refusal| D::Error::custom(refusal.for_key(self.setting.key)))
    }
}

/// A key that is a setting.
struct KnownKey(&'static Setting);

impl<'de> Deserialize<'de> for KnownKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        Setting::named(&key).map(Self).ok_or_else(|| D::Error::custom(unknown(&key)))
    }
}

fn unknown(key: &str) -> String {
    if FLAGS_ONLY.contains(&key) {
        return format!("'{key}' is not allowed in a file: give --{key} on the command line");
    }
    format!("unknown key '{key}' (known keys are the flags of `ccsurvey survey --help`)")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::Span;

    fn refused(text: &str) -> String {
        Settings::parse(text).unwrap_err()
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        assert_eq!(
            refused("depth = 8\ndepht = 9\n"),
            "line 2: unknown key 'depht' (known keys are the flags of `ccsurvey survey --help`)"
        );
        assert_eq!(
            refused("start = \"s.csv\"\n"),
            "line 1: 'start' is not allowed in a file: give --start on the command line"
        );
    }

    #[test]
    fn a_bad_value_is_named_with_its_key_and_line_and_what_is_expected() {
        for (text, message) in [
            (
                "\ndepth = \"deep\"",
                "line 2: key 'depth': 'deep' is not a depth (expected 0 to 1000 levels, or auto)",
            ),
            (
                "depth = 70000",
                "line 1: key 'depth': '70000' is not a depth (expected 0 to 1000 levels, or auto)",
            ),
            ("per-site = -1", "line 1: key 'per-site' is -1, expected a whole number from 0 to 4294967295"),
            (
                "delay-factor = \"x\"",
                "line 1: key 'delay-factor' is \"x\", expected a number such as 5 or 2.5",
            ),
            ("cctld = \"ke\"", "line 1: key 'cctld' is \"ke\", expected a list such as [\"a\", \"b\"]"),
            ("record-links = 1", "line 1: key 'record-links' is 1, expected true or false"),
            ("contact = 7", "line 1: key 'contact' is 7, expected text in quotes"),
            ("opt-out = 7", "line 1: key 'opt-out' is 7, expected text in quotes"),
            (
                "feed-back = \"all\"",
                "line 1: key 'feed-back' is \"all\", expected one of 'link', 'door', 'off'",
            ),
            ("scope = \"all\"", "line 1: key 'scope' is \"all\", expected 'site' or 'host'"),
            (
                "trap-levels = \"many\"",
                "line 1: key 'trap-levels': 'many' is not valid (expected none, or a whole number from 0 to 65535)",
            ),
            (
                "trap-levels = -1",
                "line 1: key 'trap-levels': '-1' is not valid (expected none, or a whole number from 0 to 65535)",
            ),
            ("max-requests = true", "line 1: key 'max-requests': expected a number, or text in quotes"),
            (
                "harm = \"x\"",
                "line 1: key 'harm': 'x' is not valid (expected none, or a number such as 5 or 2.5)",
            ),
            (
                "min-delay = \"soon\"",
                "line 1: key 'min-delay': 'soon' is not a duration (expected for example '2s', '500ms' or '1h 30m')",
            ),
            (
                "dns = \"there\"",
                "line 1: key 'dns' is \"there\", expected an address and a port in quotes, for example \
                 \"127.0.0.1:53\"",
            ),
        ] {
            assert_eq!(refused(text), message, "{text}");
        }
    }

    #[test]
    fn the_effective_settings_are_read_back_as_written() {
        let settings = Settings {
            cctld: vec!["ke".into()],
            min_delay: Span(Duration::from_millis(1500)),
            dns: Some("127.0.0.1:53".parse().unwrap()),
            rate: None,
            max_requests: Some(7),
            ..Settings::default()
        };
        let text = toml::to_string(&settings).unwrap();
        assert!(text.contains("min-delay = \"1s 500ms\""), "{text}");
        assert_eq!(Settings::parse(&text).unwrap(), settings);
        let table = toml::Table::try_from(&settings).unwrap();
        assert_eq!(Settings::deserialize(table).unwrap(), settings);
    }

    #[test]
    fn endings_and_patterns_are_written_in_files_as_they_are_typed() {
        let text = "non-html-extensions = [\".PDF\"]\nexclude = [\"Blog.a.ke/2009/\"]";
        let written = toml::to_string(&Settings::parse(text).unwrap()).unwrap();
        assert!(written.contains("non-html-extensions = [\"pdf\"]\n"), "{written}");
        assert!(written.contains("exclude = [\"Blog.a.ke/2009/\"]\n"), "{written}");
        assert!(refused("non-html-extensions = [\"\"]").contains("is not a file name extension"));
        assert!(refused("exclude = [\"list\"]").contains("is not a URL pattern"));
    }

    #[test]
    fn what_is_not_toml_is_refused_with_its_line() {
        assert!(refused("depth = 8\n<html>\n").starts_with("line 2: "));
    }
}
