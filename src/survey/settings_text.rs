use super::settings::Settings;
use super::whole;

/// Flags of `survey` that are about one run of it, and no keys of a file.
const FLAGS_ONLY: [&str; 5] = ["start", "skip-bad", "config", "json", "log-level"];

impl Settings {
    /// Reads settings in TOML, as `survey.toml` and configuration files have them.
    ///
    /// # Errors
    /// Names line and key, and what is expected: when the text is not TOML, a key unknown or a value not usable.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|wrong| refusal(text, &wrong))
    }
}

fn refusal(text: &str, wrong: &toml::de::Error) -> String {
    let at = wrong.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or(text);
    let number = before.matches('\n').count() + 1;
    let message = wrong.message().replace('\n', ", ");
    if let Some(key) = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next()) {
        return format!("line {number}: {}", unknown(key));
    }
    let line = text.lines().nth(number - 1).unwrap_or("").trim();
    let Some((key, value)) = line.split_once('=') else { return format!("line {number}: {message}") };
    match of_type(&message, value.trim()) {
        Some((found, expected)) => {
            format!("line {number}: key '{}' is {found}, expected {expected}", key.trim())
        }
        None => format!("line {number}: key '{}': {message}", key.trim()),
    }
}

fn unknown(key: &str) -> String {
    if FLAGS_ONLY.contains(&key) {
        return format!("'{key}' cannot stand in a file, only on the command line: --{key}");
    }
    format!("unknown key '{key}' (known keys are the flags of `ccsurvey survey --help`)")
}

/// What was found and what is expected, where `serde` tells it by the types of this program; `value` is what
/// stands in the line.
fn of_type(message: &str, value: &str) -> Option<(String, String)> {
    if message == "invalid socket address syntax" {
        return Some((value.to_owned(), ADDRESS.to_owned()));
    }
    if let Some(rest) = message.strip_prefix("unknown variant `") {
        let (found, expected) = rest.split_once("`, expected ")?;
        return Some((format!("\"{found}\""), expected.replace('`', "'")));
    }
    let told = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, expected) = told.rsplit_once(", expected ")?;
    // `string "deep"`, `integer `-1``, `sequence`.
    let found = found.find(['"', '`']).map_or(found, |at| found[at..].trim_matches('`'));
    let found = match found {
        "sequence" => "a list",
        "map" => "a table",
        found => found,
    };
    Some((found.to_owned(), whole::expected_of(expected).unwrap_or_else(|| in_words(expected).to_owned())))
}

const ADDRESS: &str = "an address and a port in quotes, for example \"127.0.0.1:53\"";

fn in_words(expected: &str) -> &str {
    match expected {
        "f64" => "a number such as 5 or 2.5",
        "a sequence" => "a list such as [\"a\", \"b\"]",
        "a boolean" => "true or false",
        "a string" | "path string" | "string or table" => "words in quotes",
        "socket address" => ADDRESS,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "line 1: 'start' cannot stand in a file, only on the command line: --start"
        );
    }

    #[test]
    fn a_bad_value_is_named_with_its_key_and_line_and_what_is_expected() {
        for (text, message) in [
            (
                "\ndepth = \"deep\"",
                "line 2: key 'depth' is \"deep\", expected a whole number from 0 to 65535",
            ),
            ("depth = 70000", "line 1: key 'depth' is 70000, expected a whole number from 0 to 65535"),
            ("per-site = -1", "line 1: key 'per-site' is -1, expected a whole number from 0 to 4294967295"),
            (
                "delay-factor = \"x\"",
                "line 1: key 'delay-factor' is \"x\", expected a number such as 5 or 2.5",
            ),
            ("cctld = \"ke\"", "line 1: key 'cctld' is \"ke\", expected a list such as [\"a\", \"b\"]"),
            ("record-links = 1", "line 1: key 'record-links' is 1, expected true or false"),
            ("contact = 7", "line 1: key 'contact' is 7, expected words in quotes"),
            ("opt-out = 7", "line 1: key 'opt-out' is 7, expected words in quotes"),
            (
                "feed-back = \"all\"",
                "line 1: key 'feed-back' is \"all\", expected one of 'link', 'door', 'off'",
            ),
            ("scope = \"all\"", "line 1: key 'scope' is \"all\", expected 'site' or 'host'"),
            (
                "trap-levels = \"many\"",
                "line 1: key 'trap-levels': 'many' is neither none nor a whole number from 0 to 65535",
            ),
            (
                "trap-levels = -1",
                "line 1: key 'trap-levels': '-1' is neither none nor a whole number from 0 to 65535",
            ),
            ("max-requests = true", "line 1: key 'max-requests': expected a number, or words in quotes"),
            (
                "link-share = \"x\"",
                "line 1: key 'link-share': 'x' is neither none nor a number such as 5 or 2.5",
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
    fn what_is_not_toml_is_refused_with_its_line() {
        assert!(refused("depth = 8\n<html>\n").starts_with("line 2: "));
    }
}
