use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{GeoDatabase, SurveyedWeb, Timestamp, Verdict, durable};
use crate::settings::{RequestBudget, Settings};

/// The layout of a survey folder that this version writes. It reads this layout and older ones.
pub const FORMAT: u32 = 1;

/// `DIR/manifest.json`: the identity of the survey, its settings and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The [`FORMAT`] of the version that started the survey.
    pub format: u32,
    /// The version of ccsurvey that started the survey.
    pub tool_version: String,
    /// When the survey was started.
    pub created: Timestamp,
    /// When this file was written.
    pub updated: Timestamp,
    /// None while the survey can continue.
    #[serde(default)]
    pub finished: Option<Timestamp>,
    /// Whether the survey is running, interrupted, failed or finished.
    pub state: SurveyState,
    /// The effective settings, in the form that the caller passes.
    pub settings: serde_json::Value,
    /// The date that the Public Suffix List states for itself.
    #[serde(default)]
    pub suffix_list_version: Option<String>,
    /// The databases of countries and networks that were used.
    #[serde(default)]
    pub geo: Vec<GeoDatabase>,
    /// The virtual Web that was crawled in process, on virtual time. None for a survey over a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<serde_json::Value>,
    /// With `--depth auto`, `--budget` or `--focus`: the rates that decide which pages are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<RatesUsed>,
    /// With `--budget`: the most requests of the survey, and its rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Box<BudgetUsed>>,
    /// Rows and files of each table, as of `updated`.
    #[serde(default)]
    pub tables: BTreeMap<String, TableCount>,
    /// Requests that may have been sent but are not in the tables. Either a process was killed or suspended
    /// while they were in flight, or an agent or its link failed and they were sent again.
    #[serde(default)]
    pub unrecorded_exchanges: u64,
    /// Load promises that were broken, one sentence each. Empty in a good survey.
    #[serde(default)]
    pub broken_promises: Vec<String>,
    /// The verdict of the survey's own ledger on each load promise, as of `updated`.
    #[serde(default)]
    pub promises: Vec<Verdict>,
}

/// The rates by which a survey leaves out pages: `rates.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatesUsed {
    /// The 128-bit XXH3 hash of the file, in hexadecimal.
    pub hash: String,
}

/// The budget of a survey: `budget.json` in its folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BudgetUsed {
    /// The most requests of the whole survey.
    pub requests: u64,
    /// The requests of the earlier survey, if the budget is a share of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_requests: Option<u64>,
    /// The rounds in which requests were sent, in order.
    #[serde(default)]
    pub rounds: Vec<RoundRecord>,
    /// What waited when the last round was over; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftRecord>,
}

impl BudgetUsed {
    /// The number of requests of this budget, after the same earlier survey.
    #[must_use]
    pub fn requests_of(&self, budget: RequestBudget) -> u64 {
        budget.requests(self.earlier_requests.unwrap_or_default())
    }
}

/// What more would bring, after a budget, is told for this number of requests.
pub const FURTHER_REQUESTS: u64 = 1000;

/// The best of what was left when a survey had spent its budget: what it would have requested next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftRecord {
    /// The number of further requests that it was asked for.
    pub requests: u64,
    /// How many of these have a use: URLs that wait, and what sites take that were never opened.
    pub useful: u64,
    /// The mean number of new external hosts that these URLs are expected to bring.
    pub expected: Option<f64>,
}

/// A round of a survey with a budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// Rounds are numbered from 1.
    pub number: u32,
    /// The number of new external hosts that a request had to be expected to bring.
    pub price: f64,
    /// The mean number of new external hosts that the URLs it was planned for were expected to bring; none if
    /// there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// The number of these URLs.
    #[serde(default)]
    pub urls: u64,
    /// The number of site trees that had a part in it.
    pub trees: u64,
    /// When it began.
    pub began: Timestamp,
    /// When the last of these trees had ended its part; when it began if it has not ended.
    pub ended: Timestamp,
    /// The time in which no further tree waited to begin its part, so that places of sites stood empty until
    /// the last one had ended.
    pub waited_seconds: f64,
}

/// The state of a survey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SurveyState {
    /// In progress, or killed before it could update its state.
    #[default]
    Running,
    /// Stopped in an orderly way before its end; `resume` continues it.
    Interrupted,
    /// Stopped by an error on our side; `resume` continues it when the cause is fixed.
    Failed,
    /// Every site tree has ended.
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
    /// In all files of the table.
    pub rows: u64,
    /// Parquet files.
    pub files: u64,
}

/// Why a folder cannot be read as a survey.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The folder has no manifest.
    #[error("{} is not a survey: it has no manifest.json", .0.display())]
    Missing(PathBuf),
    /// The manifest is not JSON, or not in the expected form.
    #[error("{} is not readable: {source}", .path.display())]
    Unreadable {
        /// The manifest.
        path: PathBuf,
        /// The position of the error, and what was expected there.
        source: serde_json::Error,
    },
    /// A later version wrote it.
    #[error("{} was written by a newer ccsurvey (format {format}, this one reads up to {FORMAT})", .dir.display())]
    Newer {
        /// The folder of the survey.
        dir: PathBuf,
        /// The format of the folder.
        format: u32,
    },
    /// The manifest cannot be read or written.
    #[error("cannot {operation} {}: {source}", .path.display())]
    File {
        /// A verb.
        operation: &'static str,
        /// The manifest.
        path: PathBuf,
        /// The error of the system.
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
            budget: None,
            tables: BTreeMap::new(),
            unrecorded_exchanges: 0,
            broken_promises: Vec::new(),
            promises: Vec::new(),
        }
    }

    /// Whether the survey skips pages that do not promise to be worth a request: `--depth auto`, `--budget`,
    /// `--focus`.
    #[must_use]
    pub fn skips_pages(&self) -> bool {
        Settings::recorded(&self.settings).skips_pages()
    }

    /// The Web that was surveyed.
    #[must_use]
    pub fn web(&self) -> SurveyedWeb {
        SurveyedWeb::named(&self.settings, self.simulation.as_ref())
    }

    /// Reads the manifest of a survey.
    ///
    /// # Errors
    /// If there is no manifest; if it is not one of ours (the message names file, line and column); or if it
    /// is newer than this program.
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

    /// Replaces the manifest of a survey. A crash leaves either the old one or the new one.
    ///
    /// # Errors
    /// If the file cannot be written.
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
