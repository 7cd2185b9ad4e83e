use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use polars::prelude::BooleanChunked;

use super::super::tables::{for_each_frame, key};
use super::super::{AnalysisError, Completeness, Curves, Recorded, Sampling};
use super::facts::presence;
use crate::records::{HostRow, Manifest, Presence, Row, row_count};
use crate::settings::Settings;

/// What a comparison needs of a survey besides its hosts.
#[derive(Clone, Debug)]
pub struct ComparedSurvey {
    pub(super) dir: PathBuf,
    /// The name of its folder.
    pub name: String,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its settings.
    pub settings: Settings,
    /// Whether its tables hold all that it was to survey.
    pub completeness: Completeness,
    /// Load and coverage by depth.
    pub curves: Curves,
    /// Rows of its table of hosts.
    pub hosts: u64,
}

impl ComparedSurvey {
    /// Reads the survey in `dir`, which has a table of hosts.
    ///
    /// # Errors
    /// There is no survey, no site tree yet, or a table cannot be read.
    pub fn read(dir: &Path) -> Result<Self, AnalysisError> {
        let recorded = Recorded::load(dir)?;
        let curves = Curves::measure(&recorded, &Sampling::default());
        let completeness = recorded.completeness();
        let name =
            dir.canonicalize().ok().and_then(|dir| Some(dir.file_name()?.to_string_lossy().into_owned()));
        let name = name.unwrap_or_else(|| dir.display().to_string());
        let settings = Settings::recorded(&recorded.manifest.settings);
        let hosts = row_count(dir, HostRow::TABLE)?.rows;
        let dir = dir.to_owned();
        Ok(Self { dir, name, manifest: recorded.manifest, settings, completeness, curves, hosts })
    }

    /// Whether it left out pages, sites or hosts on purpose, or has not ended: what it does not show may exist
    /// all the same.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.completeness.is_partial() || self.manifest.skips_pages() || self.is_sample()
    }

    /// Whether it surveyed a sample of its start list.
    #[must_use]
    pub fn is_sample(&self) -> bool {
        self.settings.sample < 1.0
    }
}

/// The hosts of a part of the sites.
pub(super) struct HostsOfPart {
    /// By site, sorted by name.
    pub sites: BTreeMap<String, Vec<HostRow>>,
}

impl HostsOfPart {
    pub(super) fn read(dir: &Path, part: u64, parts: u64) -> Result<Self, AnalysisError> {
        let columns: Vec<&str> = HostRow::COLUMNS.iter().map(|column| column.name).collect();
        let mut sites: BTreeMap<String, Vec<HostRow>> = BTreeMap::new();
        for_each_frame::<HostRow>(dir, &columns, |frame| {
            let is_in = |site: Option<&str>| site.is_some_and(|site| key(site) % parts == part);
            let wanted: BooleanChunked = frame.column("site")?.str()?.iter().map(is_in).collect();
            for host in HostRow::rows(&frame.filter(&wanted)?)? {
                sites.entry(host.site.clone()).or_default().push(host);
            }
            Ok(())
        })?;
        for hosts in sites.values_mut() {
            hosts.sort_unstable_by(|a, b| a.host.cmp(&b.host));
            hosts.dedup_by(|a, b| a.host == b.host);
        }
        Ok(Self { sites })
    }
}

/// The host that stands for a site: of those that respond the one with the most pages, then the shortest
/// name. None if none responds.
pub(super) fn main_host(hosts: &[HostRow]) -> Option<&HostRow> {
    let responding = hosts.iter().filter(|host| presence(Some(host)) == Presence::Responds);
    responding.min_by_key(|host| (std::cmp::Reverse(host.pages), host.host.len(), &host.host))
}
