use std::path::{Path, PathBuf};

use super::error::CliError;
use crate::survey::Settings;

/// Reads a configuration file: the keys are the names of the flags. Its relative paths are taken from
/// the folder it stands in.
///
/// # Errors
/// Names file, line and key: when the file is not TOML, a key unknown or a value not usable.
pub(super) fn read(file: &Path) -> Result<Settings, CliError> {
    let text = std::fs::read_to_string(file)
        .map_err(|wrong| CliError::Usage(format!("cannot read {}: {wrong}", file.display())))?;
    let mut settings: Settings =
        toml::from_str(&text).map_err(|wrong| CliError::Usage(refusal(file, &text, &wrong)))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    rebase(&mut settings, |path| folder.join(path));
    Ok(settings)
}

/// Moves every path of the settings.
pub(super) fn rebase(settings: &mut Settings, to: impl Fn(&Path) -> PathBuf) {
    let optional =
        [&mut settings.suffix_list, &mut settings.opt_out, &mut settings.priority, &mut settings.since];
    let paths = optional.into_iter().flatten().chain(&mut settings.ca).chain(&mut settings.geo);
    for path in paths {
        *path = to(path);
    }
}

fn refusal(file: &Path, text: &str, wrong: &toml::de::Error) -> String {
    let at = wrong.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or(text);
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or("").trim();
    let place = format!("{}: line {number}", file.display());
    if let Some(key) = wrong.message().strip_prefix("unknown field `").and_then(|rest| rest.split('`').next())
    {
        return format!(
            "{place}: unknown key '{key}' (known keys are the flags of `ccsurvey survey --help`)"
        );
    }
    let key = line.split_once('=').map(|(key, _)| format!(": key '{}'", key.trim())).unwrap_or_default();
    format!("{place}{key}: {}", super::error::one_line(wrong.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("run.toml");
        std::fs::write(&file, text).unwrap();
        let message = read(&file).unwrap_err().to_string();
        message.strip_prefix(&format!("{}/", dir.path().display())).unwrap().to_owned()
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        assert_eq!(
            refused("depth = 8\ndepht = 9\n"),
            "run.toml: line 2: unknown key 'depht' (known keys are the flags of `ccsurvey survey --help`)"
        );
    }

    #[test]
    fn a_bad_value_is_named_with_its_key_and_line() {
        assert_eq!(
            refused("\ndepth = \"deep\"\n"),
            "run.toml: line 2: key 'depth': invalid type: string \"deep\", expected u16"
        );
        assert_eq!(
            refused("min-delay = \"soon\""),
            "run.toml: line 1: key 'min-delay': 'soon' is not a duration (expected for example '2s', '500ms' or '1h 30m')"
        );
    }

    #[test]
    fn what_is_not_toml_is_refused_with_its_line() {
        assert!(refused("depth = 8\n<html>\n").starts_with("run.toml: line 2: "));
    }
}
