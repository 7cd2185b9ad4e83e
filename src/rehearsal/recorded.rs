use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::exchange::Purpose;
use crate::records::units::count;
use crate::records::{
    ExchangeRow, Manifest, ManifestError, PageLinkRow, RobotsRow, Row, SurveyState, TablesError, Timestamp,
    read_table, row_count,
};
use crate::settings::Settings;
use crate::space::{RecordedExchange, RecordedLink, Replay};
use crate::survey::{SettingsFileError, read_settings};

/// A recorded survey as a world.
#[derive(Debug)]
pub struct RecordedWorld {
    /// The folder of the survey.
    pub dir: PathBuf,
    /// Whether the survey was finished.
    pub state: SurveyState,
    /// When it last updated its manifest: none of its pages was changed after that.
    pub last_updated: Timestamp,
    /// The settings of the survey; a deeper survey of the replay finds nothing more.
    pub settings: Settings,
    /// The recorded responses of its servers.
    pub replay: Arc<Replay>,
}

/// Why the survey in a folder cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum RecordedWorldError {
    /// There is no survey, or its manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Its settings cannot be read.
    #[error(transparent)]
    Settings(#[from] SettingsFileError),
    /// Its page links were not recorded.
    #[error("{} has no recorded page links and cannot be replayed: survey with --record-links", .0.display())]
    NoPageLinks(PathBuf),
    /// Its tables cannot be read.
    #[error(transparent)]
    Tables(#[from] TablesError),
}

impl RecordedWorld {
    /// Reads the tables of a survey, segment by segment; the replay itself is held in memory.
    ///
    /// # Errors
    /// When the folder holds no survey, the survey did not record its page links, or a table cannot be read.
    pub fn read(dir: &Path) -> Result<Self, RecordedWorldError> {
        let manifest = Manifest::load(dir)?;
        let settings = read_settings(&dir.join("survey.toml"))?;
        let is_missing = |table: &&str| {
            let count = row_count(dir, table);
            count.is_err_and(|error| error.source.kind() == std::io::ErrorKind::NotFound)
        };
        if [PageLinkRow::TABLE, RobotsRow::TABLE].iter().any(is_missing) {
            return Err(RecordedWorldError::NoPageLinks(dir.to_owned()));
        }
        let replay = replay(dir)?;
        Ok(Self {
            dir: dir.to_owned(),
            state: manifest.state,
            last_updated: manifest.updated,
            settings,
            replay: Arc::new(replay),
        })
    }

    /// The file of its start URLs.
    #[must_use]
    pub fn start_list(&self) -> PathBuf {
        self.dir.join("start.csv")
    }

    /// The parts of the survey that are missing from the replay, a sentence each.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        let contents = self.replay.contents();
        let too_deep = format!(
            "found and not fetched: a survey deeper than {} levels, or with wider limits, cannot be replayed",
            self.settings.deepest()
        );
        let counted = [
            (contents.unfetched_urls, "URL", too_deep.as_str()),
            (
                contents.approximated.values().sum(),
                "failure",
                "replayed as the closest failure that a gateway can produce",
            ),
            (
                contents.pages_without_links,
                "page",
                "whose number of recorded links differs from the counted number",
            ),
            (contents.not_asked, "exchange", "not sent by the survey itself"),
            (contents.repeated, "exchange", "for a URL that was requested before: the last response counts"),
            (contents.at_other_ports, "exchange", "at other ports, which the replay does not distinguish"),
            (contents.unreadable, "exchange", "that cannot be read"),
        ];
        let is_unfinished = self.state != SurveyState::Finished;
        let unfinished = "the survey is not finished: sites that are not done yet are missing";
        let descriptions = counted.into_iter().filter(|(number, ..)| *number > 0);
        let descriptions = descriptions.map(|(number, what, why)| format!("{} {why}", count(number, what)));
        is_unfinished.then(|| unfinished.to_owned()).into_iter().chain(descriptions).collect()
    }
}

fn replay(dir: &Path) -> Result<Replay, TablesError> {
    let mut builder = Replay::builder();
    for_each_row::<ExchangeRow>(dir, |row| {
        // A page that was requested a second time is known from the first request.
        if row.method == "GET" && row.purpose != Purpose::Check.as_str() {
            builder.exchange(&exchange(row));
        }
    })?;
    for_each_row::<RobotsRow>(dir, |row| builder.robots_txt(&row.url, &row.body))?;
    for_each_row::<PageLinkRow>(dir, |row| builder.page_link(&link(row)))?;
    Ok(builder.build())
}

fn for_each_row<R: Row>(dir: &Path, mut visit: impl FnMut(&R)) -> Result<(), TablesError> {
    for segment in read_table::<R>(dir)? {
        segment?.iter().for_each(&mut visit);
    }
    Ok(())
}

fn exchange(row: &ExchangeRow) -> RecordedExchange<'_> {
    let links = row.internal_links.zip(row.external_links).map(|(internal, external)| internal + external);
    RecordedExchange {
        url: &row.url,
        is_robots: row.purpose == Purpose::Robots.as_str(),
        address: row.address.as_deref().and_then(|address| address.parse::<IpAddr>().ok()),
        // A page that had not changed since an earlier survey exists, and a client without a known version
        // gets it.
        status: if row.unchanged_bytes.is_some() { Some(200) } else { row.status },
        failure: row.failure.as_deref(),
        content_type: row.content_type.as_deref(),
        charset: row.charset.as_deref(),
        language: row.language.as_deref(),
        title: row.title.as_deref(),
        location: row.location.as_deref(),
        server: row.server.as_deref(),
        last_modified: row.last_modified.as_deref(),
        etag: row.etag.as_deref(),
        is_encrypted: row.tls_version.is_some(),
        tls_error: row.tls_error.as_deref(),
        links,
        body_bytes: row.body_bytes,
        received_bytes: row.received_bytes,
        connect: duration_from_ms(row.connect_ms),
        tls: duration_from_ms(row.tls_ms),
        first_byte: duration_from_ms(row.first_byte_ms),
        total: duration_from_ms(row.total_ms),
    }
}

/// The value of a column `*_ms`; none where it is not a valid duration.
fn duration_from_ms(milliseconds: Option<f64>) -> Option<Duration> {
    Duration::try_from_secs_f64(milliseconds? / 1000.0).ok()
}

fn link(row: &PageLinkRow) -> RecordedLink<'_> {
    RecordedLink {
        page: &row.page,
        position: row.position,
        url: &row.url,
        element: &row.element,
        nofollow: row.nofollow,
        is_internal: row.is_internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Failure;

    #[test]
    fn every_failure_of_the_tables_is_known_to_a_replay() {
        let mut builder = Replay::builder();
        for failure in Failure::ALL {
            let url = format!("http://a.ke/{failure}");
            let failure = Some(failure.as_str().to_owned());
            builder.exchange(&exchange(&ExchangeRow { url, failure, ..ExchangeRow::default() }));
        }
        assert_eq!(builder.build().contents().unreadable, 0);
    }
}
