use std::path::Path;

use super::error::CliError;
use crate::settings::Settings;

/// Reads a configuration file: the keys are the names of the flags. Its relative paths are taken from
/// the folder it stands in.
///
/// # Errors
/// Names file, line and key: when the file is not TOML, a key unknown or a value not usable.
pub(super) fn read(file: &Path) -> Result<Settings, CliError> {
    let text = std::fs::read_to_string(file)
        .map_err(|wrong| CliError::Usage(format!("cannot read {}: {wrong}", file.display())))?;
    let mut settings =
        Settings::parse(&text).map_err(|wrong| CliError::Usage(format!("{}: {wrong}", file.display())))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    settings.move_paths(|path| folder.join(path));
    Ok(settings)
}
