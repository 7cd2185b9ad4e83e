use std::io;
use std::path::{Path, PathBuf};

use crate::settings::Settings;
use crate::survey::error::{READ, SurveyError};

/// Why settings cannot be read from a file.
#[allow(missing_docs, reason = "each message says what is wrong, and the fields are what it names")]
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    #[error("cannot read {}: {source}", file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("{}: {message}", file.display())]
    Invalid { file: PathBuf, message: String },
}

/// Reads a configuration file: the keys are the names of the flags. Relative paths are resolved from the
/// folder of the file.
///
/// # Errors
/// When the file cannot be read, is not TOML, or has an unknown key or an unusable value. The error names
/// file, line and key.
pub fn read_settings(file: &Path) -> Result<Settings, SettingsFileError> {
    let file_name = || file.to_owned();
    let text = std::fs::read_to_string(file)
        .map_err(|source| SettingsFileError::Unreadable { file: file_name(), source })?;
    parse(&text, file).map_err(|message| SettingsFileError::Invalid { file: file_name(), message })
}

/// Parses the settings in the text of a file. Relative paths are resolved from the file's folder, as a person
/// who writes the file expects.
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
