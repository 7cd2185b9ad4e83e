use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{GeoDatabase, SurveyedWeb, Timestamp, Verdict, durable};
use crate::settings::Settings;

/// The layout of a survey's folder that this version writes; it reads this and older ones.
pub const FORMAT: u32 = 1;

/// `DIR/manifest.json`: which survey this is, how it ran and how it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Of the folder: [`FORMAT`] of the version that began it.
    pub format: u32,
    /// The version of ccsurvey that began the survey.
    pub tool_version: String,
    /// When the survey was begun.
    pub created: Timestamp,
    /// When this was written.
    pub updated: Timestamp,
    /// None while the survey can go on.
    #[serde(default)]
    pub finished: Option<Timestamp>,
    /// Whether the survey runs, rests or is finished.
    pub state: SurveyState,
    /// The effective settings, as the caller tells them.
    pub settings: serde_json::Value,
    /// What the Public Suffix List says of its own date.
    #[serde(default)]
    pub suffix_list_version: Option<String>,
    /// The databases of countries and networks.
    #[serde(default)]
    pub geo: Vec<GeoDatabase>,
    /// The virtual Web space that was walked in process, its time virtual; none for a survey over a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<serde_json::Value>,
    /// The rates that decide which pages are left out, with `--depth auto` or `--focus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<RatesUsed>,
    /// Rows and files of each table, as of `updated`.
    #[serde(default)]
    pub tables: BTreeMap<String, TableCount>,
    /// Requests that were sent, perhaps, and are not in the tables: a process was killed or stood still while they were
    /// under way, or an agent or its link failed and they were sent again.
    #[serde(default)]
    pub unrecorded_exchanges: u64,
    /// Load promises that were broken, one sentence each; empty in a good survey.
    #[serde(default)]
    pub broken_promises: Vec<String>,
    /// What the survey's own ledger says of each promise on load, as of `updated`.
    #[serde(default)]
    pub promises: Vec<Verdict>,
}

/// The rates by which a survey leaves pages out: `rates.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatesUsed {
    /// XXH3 of the file, 128 bits, hexadecimal.
    pub hash: String,
}

/// How a survey stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SurveyState {
    /// Being surveyed, or killed without a chance to say so.
    #[default]
    Running,
    /// Stopped in good order before its end; `resume` goes on.
    Interrupted,
    /// Stopped by an error of ours; `resume` goes on when it is mended.
    Failed,
    /// Every site tree is done.
    Finished,
}

impl fmt::Display for SurveyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Finished => "finished",
        })
    }
}

/// The size of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableCount {
    /// Of all its files.
    pub rows: u64,
    /// Of Parquet.
    pub files: u64,
}

/// Why a folder is not read as a survey.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// There is no survey.
    #[error("{} is not a survey: it has no manifest.json", .0.display())]
    Missing(PathBuf),
    /// It is no JSON, or of another form.
    #[error("{} is not readable: {source}", .path.display())]
    Unreadable {
        /// Of the manifest.
        path: PathBuf,
        /// Where, and what was expected.
        source: serde_json::Error,
    },
    /// A later version wrote it.
    #[error("{} was written by a newer ccsurvey (format {format}, this one reads up to {FORMAT})", .dir.display())]
    Newer {
        /// The folder of the survey.
        dir: PathBuf,
        /// Of the folder.
        format: u32,
    },
    /// The file cannot be read or written.
    #[error("cannot {operation} {}: {source}", .path.display())]
    File {
        /// What was tried, as a verb.
        operation: &'static str,
        /// Of the manifest.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The part of a manifest that every version understands.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

impl Manifest {
    /// The manifest of a survey that begins at `now`.
    #[must_use]
    pub fn new(settings: serde_json::Value, now: Timestamp) -> Self {
        Self {
            format: FORMAT,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            created: now,
            updated: now,
            finished: None,
            state: SurveyState::Running,
            settings,
            suffix_list_version: None,
            geo: Vec::new(),
            simulation: None,
            rates: None,
            tables: BTreeMap::new(),
            unrecorded_exchanges: 0,
            broken_promises: Vec::new(),
            promises: Vec::new(),
        }
    }

    /// Whether pages were left out of its levels that did not promise to be worth a request: `--depth auto`, `--focus`.
    #[must_use]
    pub fn leaves_pages_out(&self) -> bool {
        Settings::recorded(&self.settings).leaves_pages_out()
    }

    /// Which Web the survey is of.
    #[must_use]
    pub fn web(&self) -> SurveyedWeb {
        SurveyedWeb::named(&self.settings, self.simulation.as_ref())
    }

    /// Reads the manifest of a survey.
    ///
    /// # Errors
    /// There is none; it is not ours (the message names file, line and column); or it is newer
    /// than this program.
    pub fn load(dir: &Path) -> Result<Self, ManifestError> {
        let path = path(dir);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ManifestError::Missing(dir.to_owned()));
            }
            Err(source) => return Err(ManifestError::File { operation: "read", path, source }),
        };
        let unreadable = |source| ManifestError::Unreadable { path: path.clone(), source };
        let FormatOnly { format } = serde_json::from_slice(&text).map_err(unreadable)?;
        if format > FORMAT {
            return Err(ManifestError::Newer { dir: dir.to_owned(), format });
        }
        serde_json::from_slice(&text).map_err(unreadable)
    }

    /// Replaces the manifest of a survey; a crash leaves the old one or the new one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, dir: &Path) -> Result<(), ManifestError> {
        let path = path(dir);
        let write = || {
            let mut text = serde_json::to_vec_pretty(self)?;
            text.push(b'\n');
            durable::replace(&path, &text)
        };
        write().map_err(|source| ManifestError::File { operation: "write", path: path.clone(), source })
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("manifest.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_shown_by_the_word_of_the_file() {
        for state in
            [SurveyState::Running, SurveyState::Interrupted, SurveyState::Failed, SurveyState::Finished]
        {
            assert_eq!(serde_json::to_value(state).unwrap(), state.to_string());
        }
    }

    fn load(text: &str) -> Result<Manifest, String> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("manifest.json"), text).unwrap();
        let name = dir.path().display().to_string();
        Manifest::load(dir.path()).map_err(|error| error.to_string().replace(&name, "DIR"))
    }

    #[test]
    fn a_manifest_comes_back_as_it_was_saved() {
        let dir = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::new(serde_json::json!({"depth": 8}), Timestamp(1_000_000));
        manifest.state = SurveyState::Finished;
        manifest.finished = Some(Timestamp(2_500_000));
        manifest.tables.insert("sites".into(), TableCount { rows: 7, files: 2 });
        manifest.save(dir.path()).unwrap();
        manifest.save(dir.path()).unwrap();
        assert_eq!(Manifest::load(dir.path()).unwrap(), manifest);
        let text = fs::read_to_string(dir.path().join("manifest.json")).unwrap();
        assert!(text.contains("\"state\": \"finished\"") && text.contains("\"1970-01-01T00:00:02.500000Z\""));
    }

    #[test]
    fn a_folder_without_a_manifest_is_not_a_survey() {
        let error = Manifest::load(Path::new("/nowhere")).unwrap_err();
        assert_eq!(error.to_string(), "/nowhere is not a survey: it has no manifest.json");
    }

    #[test]
    fn broken_json_is_named_with_file_and_line() {
        let error = load("{\n  \"format\": 1,\n  oops\n}").unwrap_err();
        assert_eq!(error, "DIR/manifest.json is not readable: key must be a string at line 3 column 3");
    }

    #[test]
    fn a_newer_format_is_refused_whatever_else_it_holds() {
        let error = load(r#"{"format": 2, "state": "resting"}"#).unwrap_err();
        assert_eq!(error, "DIR was written by a newer ccsurvey (format 2, this one reads up to 1)");
    }

    #[test]
    fn json_that_is_no_manifest_is_refused() {
        assert!(load("[]").unwrap_err().starts_with("DIR/manifest.json is not readable"));
        assert!(load("").unwrap_err().starts_with("DIR/manifest.json is not readable"));
        assert!(load(r#"{"format": 1}"#).unwrap_err().contains("missing field `tool_version`"));
    }
}
