use std::io;
use std::path::{Path, PathBuf};

use crate::settings::Settings;
use crate::survey::error::{READ, SurveyError};

/// Why there are no settings to be had from a file.
#[allow(missing_docs, reason = "each message says what is wrong, and the fields are what it names")]
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    #[error("cannot read {}: {source}", file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("{}: {message}", file.display())]
    Invalid { file: PathBuf, message: String },
}

/// Reads a configuration file: the keys are the names of the flags. Its relative paths are taken from
/// the folder it stands in.
///
/// # Errors
/// Names file, line and key: when the file is not TOML, a key unknown or a value not usable.
pub fn read_settings(file: &Path) -> Result<Settings, SettingsFileError> {
    let file_name = || file.to_owned();
    let text = std::fs::read_to_string(file)
        .map_err(|source| SettingsFileError::Unreadable { file: file_name(), source })?;
    parse(&text, file).map_err(|message| SettingsFileError::Invalid { file: file_name(), message })
}

/// The settings in the text of a file, whose paths count from its folder: whoever writes one by hand means it from there.
pub(in crate::survey) fn parse(text: &str, file: &Path) -> Result<Settings, String> {
    let mut settings = Settings::parse(text)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    settings.move_paths(|path| folder.join(path));
    Ok(settings)
}

/// Reads a text file that the settings name.
pub(in crate::survey) fn read_text(path: &Path) -> Result<String, SurveyError> {
    let bytes = std::fs::read(path).map_err(SurveyError::file(READ, path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
