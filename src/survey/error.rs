use std::io;
use std::path::{Path, PathBuf};

use crate::address::{CountryError, OptOutError, PriorityError, SuffixError};
use crate::fetch::FetchError;
use crate::frontier::FrontierError;
use crate::records::units::count;
use crate::records::{GeoError, Manifest, ManifestError, TablesError};
use crate::walk::yields::RatesError;

/// Why a survey cannot be created or resumed, or cannot continue.
#[allow(missing_docs, reason = "each message says what is wrong, and the fields are what it names")]
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    #[error("{} exists: choose another folder, or continue with `ccsurvey resume {}`", .0.display(), .0.display())]
    Exists(PathBuf),
    #[error("{} exists and is not an empty folder: choose another one", .0.display())]
    Taken(PathBuf),
    #[error("{}: another process is working on this survey", .0.display())]
    InUse(PathBuf),
    #[error("{} holds a survey whose creation was interrupted: remove the folder and start again", .0.display())]
    Unfinished(PathBuf),
    #[error("{} is missing: the survey cannot continue without it; its tables were not changed", .0.display())]
    StateMissing(PathBuf),
    #[error(
        "{} does not belong to the tables beside it: it records {} in the table {table}, whose files have {} (later files: \
         {newer}). Restore files that belong together; nothing was changed",
        path.display(), count(*known, "row"), count(*rows, "row")
    )]
    StateApart { path: PathBuf, table: &'static str, known: u64, rows: u64, newer: usize },
    #[error(
        "{}: the survey's folder was removed or replaced while the survey ran: it stops, and does not change what is there now",
        .0.display()
    )]
    Replaced(PathBuf),
    #[error("{} is a simulation and cannot be resumed: run `ccsurvey simulate` again", .0.display())]
    Simulated(PathBuf),
    #[error("{}: {source}", path.display())]
    SuffixList { path: PathBuf, source: SuffixError },
    #[error("{}: {source}", path.display())]
    Rates { path: PathBuf, source: RatesError },
    #[error("{}: {source}", path.display())]
    Priority { path: PathBuf, source: PriorityError },
    #[error("{}: {source}", path.display())]
    OptOut { path: PathBuf, source: OptOutError },
    #[error(
        "{}: line {line}: cannot apply '{who}': no database has the autonomous systems of IPv4 addresses (name one with --geo)",
        path.display()
    )]
    NoSystems { path: PathBuf, line: usize, who: String },
    #[error(
        "--{flag} cannot be applied: no database has the autonomous systems of IPv4 addresses (name one with --geo)"
    )]
    SystemsUnknown { flag: &'static str },
    #[error(transparent)]
    Country(#[from] CountryError),
    #[error(transparent)]
    Geo(#[from] GeoError),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error("{}: {message}", path.display())]
    Settings { path: PathBuf, message: String },
    #[error("{}: {key} is {is}, but the survey began with {was}: expected {expected}", path.display())]
    Changed { path: PathBuf, key: &'static str, was: String, is: String, expected: &'static str },
    #[error(
        "{0} does not respond (queried for {1}): name another with --dns, or in survey.toml if the survey has begun"
    )]
    NameServer(String, String),
    #[error(
        "{}: the disk is full; the survey has stopped and its state is kept: free some space and continue with \
         `ccsurvey resume {}`", .0.display(), .0.display()
    )]
    DiskFull(PathBuf),
    #[error("cannot {operation} {}: {source}", path.display())]
    File { operation: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Tables(#[from] TablesError),
    #[error(transparent)]
    Frontier(FrontierError),
    #[error("{}: {what}", path.display())]
    Journal { path: PathBuf, what: &'static str },
    #[error("{}: another version of ccsurvey wrote this journal: continue with that version", .0.display())]
    JournalVersion(PathBuf),
    /// The earlier survey cannot be used: which file or folder, and why.
    #[error("--since: {0}")]
    Since(String),
    #[error("a part of the survey has stopped working: {0}")]
    Broken(String),
}

impl SurveyError {
    /// Whether the user asked for something impossible: exit code 2, and nothing was begun.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Exists(_)
            | Self::Taken(_)
            | Self::Unfinished(_)
            | Self::Simulated(_)
            | Self::SuffixList { .. }
            | Self::NoSystems { .. }
            | Self::SystemsUnknown { .. }
            | Self::OptOut { .. }
            | Self::Priority { .. }
            | Self::Rates { .. }
            | Self::Country(_)
            | Self::Geo(_)
            | Self::Since(_)
            | Self::Settings { .. }
            | Self::Changed { .. } => true,
            Self::Fetch(error) => {
                matches!(
                    error,
                    FetchError::RootsUnreadable { .. }
                        | FetchError::NoRoots { .. }
                        | FetchError::UserAgent(_)
                )
            }
            Self::Manifest(error) => matches!(error, ManifestError::Missing(_) | ManifestError::Newer { .. }),
            Self::File { operation, .. } => *operation == READ,
            _ => false,
        }
    }

    /// Whether the error concerns only the site tree in whose visit it occurred, and ends only that tree.
    /// Errors that other visits would meet too stop all work: the disk, the store, the name server.
    pub(super) fn is_of_one_site(&self) -> bool {
        match self {
            Self::Journal { .. } | Self::Broken(_) => true,
            // The disk, and the data on it.
            Self::DiskFull(_)
            | Self::File { .. }
            | Self::Tables(_)
            | Self::Frontier(_)
            | Self::Manifest(_)
            | Self::JournalVersion(_)
            | Self::StateMissing(_)
            | Self::StateApart { .. }
            | Self::Replaced(_)
            // The network.
            | Self::NameServer(..)
            | Self::Fetch(_)
            // Requests and settings that concern the survey as a whole.
            | Self::Exists(_)
            | Self::Taken(_)
            | Self::InUse(_)
            | Self::Unfinished(_)
            | Self::Simulated(_)
            | Self::SuffixList { .. }
            | Self::Priority { .. }
            | Self::Rates { .. }
            | Self::OptOut { .. }
            | Self::NoSystems { .. }
            | Self::SystemsUnknown { .. }
            | Self::Country(_)
            | Self::Geo(_)
            | Self::Settings { .. }
            | Self::Changed { .. }
            | Self::Since(_) => false,
        }
    }

    /// The error for creating a survey in a folder that is in use. It says what is in the folder, as far as
    /// that helps.
    #[must_use]
    pub fn folder_in_use(dir: &Path) -> Self {
        let can_go_on = Manifest::load(dir).is_ok_and(|manifest| manifest.simulation.is_none());
        if can_go_on { Self::Exists(dir.to_owned()) } else { Self::Taken(dir.to_owned()) }
    }

    pub(super) fn file(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { operation, path: path.to_owned(), source }
    }

    /// Turns any error that means a full disk into one that says what to do about it.
    pub(super) fn in_survey(self, dir: &Path) -> Self {
        let is_full = match &self {
            Self::File { source, .. } => is_full(source),
            Self::Tables(error) => error.is_storage_full(),
            Self::Frontier(error) => error.is_storage_full(),
            Self::Manifest(ManifestError::File { source, .. }) => is_full(source),
            _ => false,
        };
        if is_full { Self::DiskFull(dir.to_owned()) } else { self }
    }
}

impl From<FrontierError> for SurveyError {
    fn from(error: FrontierError) -> Self {
        match error {
            FrontierError::InUse { path } => Self::InUse(path.parent().unwrap_or(&path).to_owned()),
            other => Self::Frontier(other),
        }
    }
}

/// The operation of reading a file that the user named.
pub(super) const READ: &str = "read";

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
