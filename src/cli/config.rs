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
    let mut settings =
        Settings::parse(&text).map_err(|wrong| CliError::Usage(format!("{}: {wrong}", file.display())))?;
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
