use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::environment::{Environment, Plan};
use crate::analysis::{Kind, Reading};
use crate::settings::{Setting, Settings, SmallestBudgets};

/// An error in an environment file, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct EnvironmentError {
    /// The line number, from 1.
    pub line: usize,
    /// The key or line, and the value that was expected.
    pub message: String,
}

/// A key of an environment file.
struct Key {
    table: &'static str,
    name: &'static str,
    expected: &'static str,
    /// Stores a value; returns none if the value is invalid.
    apply: fn(&mut Environment, &DeValue<'_>) -> Option<()>,
}

const LINK: &str = "a link's capacity, for example \"512 kbit/s\" or \"4 Mbit/s\"";
const TIME: &str = "a duration, for example \"2s\", \"600ms\" or \"1m 30s\"";
const SHARE: &str = "a share above 0 and up to 1";

#[rustfmt::skip]
const KEYS: [Key; 13] = [
    Key { table: "servers", name: "link", expected: LINK,
        apply: |target, value| set(&mut target.servers.link, bits_per_second(value)) },
    Key { table: "servers", name: "rtt", expected: TIME,
        apply: |target, value| set(&mut target.servers.rtt, duration(value)) },
    Key { table: "servers", name: "others", expected: "a share from 0 to 0.99",
        apply: |target, value| set(&mut target.servers.others, number(value, |n| (0.0..=0.99).contains(&n))) },
    Key { table: "servers", name: "share", expected: SHARE,
        apply: |target, value| set(&mut target.servers.share, share(value)) },
    Key { table: "servers", name: "requests", expected: "a whole number of requests above 0",
        apply: |target, value| set(&mut target.servers.requests, whole_number(value)) },
    Key { table: "servers", name: "bytes", expected: "a number of bytes, for example \"50MB\"",
        apply: |target, value| set(&mut target.servers.bytes, bytes(value)) },
    Key { table: "surveyor", name: "link", expected: LINK,
        apply: |target, value| set(&mut target.surveyor.link, bits_per_second(value)) },
    Key { table: "surveyor", name: "share", expected: SHARE,
        apply: |target, value| set(&mut target.surveyor.share, share(value)) },
    Key { table: "survey", name: "days", expected: "a number of days above 0",
        apply: |target, value| set(&mut target.survey.days, number(value, |n| n > 0.0)) },
    Key { table: "survey", name: "coverage", expected: SHARE,
        apply: |target, value| set(&mut target.survey.coverage, share(value)) },
    Key { table: "survey", name: "of", expected: "\"urls\", \"hosts\", \"sites\" or \"addresses\"",
        apply: |target, value| set(&mut target.survey.of, value.as_str().and_then(Kind::named)) },
    Key { table: "survey", name: "reading", expected: "\"union\" or \"pair\"",
        apply: |target, value| set(&mut target.survey.reading, value.as_str().and_then(Reading::named)) },
    Key { table: "survey", name: "confidence", expected: "a share from 0.5 to 0.999",
        apply: |target, value| set(&mut target.survey.confidence, number(value, |n| (0.5..=0.999).contains(&n))) },
];

impl Environment {
    /// Parses an environment file. Every key is optional; unknown keys are errors.
    ///
    /// # Errors
    /// The text is not a valid environment. The error names the line, the key, its value and the expected
    /// value.
    pub fn parse(text: &str) -> Result<Self, EnvironmentError> {
        let error =
            |offset: usize, message: String| EnvironmentError { line: line_at(text, offset), message };
        let file = DeTable::parse(text).map_err(|cause| {
            error(cause.span().map_or(0, |span| span.start), format!("not TOML: {}", cause.message()))
        })?;
        let mut environment = Self::default();
        for (name, table) in file.get_ref() {
            let keys: Vec<&Key> = KEYS.iter().filter(|key| key.table == name.get_ref().as_ref()).collect();
            if keys.is_empty() {
                let message =
                    format!("unknown key '{}' (known here: servers, surveyor, survey)", name.get_ref());
                return Err(error(name.span().start, message));
            }
            let Some(entries) = table.get_ref().as_table() else {
                let message =
                    format!("'{}' is {}, expected a table", name.get_ref(), source_text(text, &table.span()));
                return Err(error(table.span().start, message));
            };
            for (key, value) in entries {
                let is_plan = name.get_ref() == "survey";
                if let Some(setting) = Plan::setting(key.get_ref()).filter(|_| is_plan) {
                    let word = flag_text(setting, text, value)
                        .map_err(|message| error(value.span().start, message))?;
                    environment.survey.given.push((setting.key, word));
                    continue;
                }
                let Some(known) = keys.iter().find(|known| known.name == key.get_ref()) else {
                    let settings = if is_plan { &Plan::SETTINGS[..] } else { &[] };
                    let names: Vec<&str> =
                        keys.iter().map(|key| key.name).chain(settings.iter().copied()).collect();
                    let message = format!(
                        "unknown key '{}.{}' (known here: {})",
                        name.get_ref(),
                        key.get_ref(),
                        names.join(", ")
                    );
                    return Err(error(key.span().start, message));
                };
                (known.apply)(&mut environment, value.get_ref()).ok_or_else(|| {
                    let (key_path, value_shown) =
                        (format!("{}.{}", known.table, known.name), source_text(text, &value.span()));
                    error(
                        value.span().start,
                        format!("'{key_path}' is {value_shown}, expected {}", known.expected),
                    )
                })?;
            }
        }
        environment.check_pairs(text)
    }

    /// Checks keys that are valid only in combination with others.
    fn check_pairs(self, text: &str) -> Result<Self, EnvironmentError> {
        let error = |key: &str, message: &str| {
            let offset = text.find(&format!("[{key}]")).unwrap_or(0);
            EnvironmentError { line: line_at(text, offset), message: message.to_owned() }
        };
        if self.servers.others.is_some() && self.servers.link.is_none() {
            return Err(error("servers", "'servers.others' is a share of 'servers.link', expected both"));
        }
        if self.surveyor.share.is_some() && self.surveyor.link.is_none() {
            return Err(error("surveyor", "'surveyor.share' is a share of 'surveyor.link', expected both"));
        }
        if self.survey.reading == Some(Reading::Pair) && self.survey.of == Some(Kind::Addresses) {
            let message = "'survey.of' is \"addresses\", which are counted in the reading \"union\" only";
            return Err(error("survey", message));
        }
        Ok(self)
    }
}

/// The value as written in the file: its first line, up to 80 characters.
fn source_text(text: &str, span: &std::ops::Range<usize>) -> String {
    let value = text.get(span.clone()).unwrap_or_default();
    value.lines().next().unwrap_or_default().trim().chars().take(80).collect()
}

fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

/// Stores the value if it could be parsed.
fn set<T>(slot: &mut Option<T>, value: Option<T>) -> Option<()> {
    *slot = Some(value?);
    Some(())
}

/// Parses a link rate. Units are decimal, as links are sold.
fn bits_per_second(value: &DeValue<'_>) -> Option<f64> {
    let text = value.as_str()?.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    let factor = match unit {
        "bit/s" => 1.0,
        "kbit/s" => 1e3,
        "Mbit/s" => 1e6,
        "Gbit/s" => 1e9,
        _ => return None,
    };
    let rate = number.trim().parse::<f64>().ok()? * factor;
    (rate.is_finite() && rate >= 1.0).then_some(rate)
}

/// The value of a setting as it would follow its flag, or the error message for an invalid value.
fn flag_text(setting: &Setting, text: &str, value: &Spanned<DeValue<'_>>) -> Result<String, String> {
    let shown = source_text(text, &value.span());
    let word = match value.get_ref() {
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
            .map_or_else(|_| shown.clone(), |number| number.to_string()),
        DeValue::Float(float) => float.as_str().to_owned(),
        DeValue::String(string) => string.to_string(),
        _ => shown.clone(),
    };
    let mut settings = Settings::default();
    let message = match setting.parse_flag(&mut settings, std::slice::from_ref(&word)) {
        Ok(()) => {
            setting.expected_instead(&settings, &SmallestBudgets::NONE).map(|it| format!(", expected {it}"))
        }
        Err(message) if setting.rules.value_name.ends_with("|none") && !message.contains("none") => {
            Some(format!(": {message}, or none"))
        }
        Err(message) => Some(format!(": {message}")),
    };
    message.map_or(Ok(word), |message| Err(format!("'survey.{}' is {shown}{message}", setting.key)))
}

/// A day: longer than any round-trip time.
const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);

/// Parses a duration. A bare number is in seconds.
fn duration(value: &DeValue<'_>) -> Option<Duration> {
    let time = match value.as_str() {
        Some(text) => humantime::parse_duration(text.trim()).ok()?,
        None => Duration::try_from_secs_f64(number(value, |n| n >= 0.0)?).ok()?,
    };
    (time <= MAX_DURATION).then_some(time)
}

fn number(value: &DeValue<'_>, allowed: impl Fn(f64) -> bool) -> Option<f64> {
    let number = match value {
        DeValue::Float(float) => float.as_str().parse().ok()?,
        value => integer(value)? as f64,
    };
    (f64::is_finite(number) && allowed(number)).then_some(number)
}

fn share(value: &DeValue<'_>) -> Option<f64> {
    number(value, |n| n > 0.0 && n <= 1.0)
}

fn integer(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn whole_number(value: &DeValue<'_>) -> Option<u64> {
    integer(value).filter(|number| *number > 0)
}

fn bytes(value: &DeValue<'_>) -> Option<u64> {
    let bytes = match value.as_str() {
        Some(text) => text.trim().parse::<bytesize::ByteSize>().ok()?.as_u64(),
        None => integer(value)?,
    };
    (bytes > 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Environment::parse(text).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn every_key_is_read_in_its_units() {
        let text = r#"
            [servers]
            link = "64 kbit/s"
            rtt = "600ms"
            others = 0.5
            share = 0.05
            requests = 2000
            bytes = "50MB"
            [surveyor]
            link = "1.5 Mbit/s"
            share = 0.25
            [survey]
            days = 14
            coverage = 0.95
            of = "hosts"
            reading = "pair"
            confidence = 0.9
            sites = 32
            min-delay = "15s"
            delay-factor = 10
            harm = "none"
            max-delay = 120
            rate = "none"
        "#;
        let read = Environment::parse(text).unwrap();
        assert_eq!((read.servers.link, read.surveyor.link), (Some(64e3), Some(1.5e6)));
        assert_eq!(read.servers.rtt, Some(Duration::from_millis(600)));
        assert_eq!((read.servers.requests, read.servers.bytes), (Some(2000), Some(50_000_000)));
        assert_eq!((read.survey.of, read.survey.reading), (Some(Kind::Hosts), Some(Reading::Pair)));
        let settings = read.survey.clone().apply_to(Settings::default()).unwrap();
        assert_eq!((settings.sites, settings.delay_factor), (32, 10.0));
        assert_eq!([settings.min_delay, settings.max_delay].map(|time| time.0.as_secs()), [15, 120]);
        assert_eq!((settings.rate, settings.harm), (None, None));
        assert_eq!(Environment::parse("").unwrap(), Environment::default());
    }

    #[test]
    fn numbers_are_read_as_toml_writes_them() {
        let text =
            "[survey]\nsites = 0x4_0\nmin-delay = 1_5\nmax-delay = 6_0.5\nrate = 1_048_576\nharm = 0.0_2\n";
        let settings = Environment::parse(text).unwrap().survey.apply_to(Settings::default()).unwrap();
        assert_eq!((settings.sites, settings.harm), (64, Some(0.02)));
        assert_eq!([settings.min_delay, settings.max_delay].map(|time| time.0.as_millis()), [15_000, 60_500]);
        assert_eq!(settings.rate.map(|rate| rate.0), Some(1 << 20));
    }

    #[test]
    fn what_cannot_be_is_named_with_line_key_value_and_what_is_expected() {
        for (text, error) in [
            (
                "[servers]\nlnk = 3",
                "line 2: unknown key 'servers.lnk' (known here: link, rtt, others, share, requests, bytes)",
            ),
            ("\n[server]\n", "line 2: unknown key 'server' (known here: servers, surveyor, survey)"),
            ("servers = 3", "line 1: 'servers' is 3, expected a table"),
            (
                "[servers]\nshare = 1.5",
                "line 2: 'servers.share' is 1.5, expected a share above 0 and up to 1",
            ),
            (
                "[servers]\nlink = 512",
                "line 2: 'servers.link' is 512, expected a link's capacity, for example \"512 kbit/s\" or \"4 Mbit/s\"",
            ),
            ("[survey]\n\nsites = 0", "line 3: 'survey.sites' is 0, expected more than 0"),
            (
                "[survey]\nlink-share = \"non\"",
                "line 2: 'survey.harm' is \"non\": expected a share above 0 and up to 1, such as 0.02, or none",
            ),
            ("[survey]\ndays = nan", "line 2: 'survey.days' is nan, expected a number of days above 0"),
            (
                "[survey]\nrate = \"fast\"",
                "line 2: 'survey.rate' is \"fast\": 'fast' is not a number of bytes (expected for example '500kB' or '1MiB'), or none",
            ),
            (
                "[survey]\nsites = [1]",
                "line 2: 'survey.sites' is [1]: expected a whole number from 0 to 18446744073709551615",
            ),
            (
                "[survey]\nof = \"pages\"",
                "line 2: 'survey.of' is \"pages\", expected \"urls\", \"hosts\", \"sites\" or \"addresses\"",
            ),
            (
                "[survey]\nmin-delay = \"-2s\"",
                "line 2: 'survey.min-delay' is \"-2s\": '-2s' is not a duration (expected for example '2s', '500ms' or '1h 30m')",
            ),
            (
                "\n[surveyor]\nshare = 0.5",
                "line 2: 'surveyor.share' is a share of 'surveyor.link', expected both",
            ),
        ] {
            assert_eq!(refusal(text), error, "{text}");
        }
        assert!(refusal("[survey]\ndays = \n").starts_with("line 2: not TOML: "));
    }
}
