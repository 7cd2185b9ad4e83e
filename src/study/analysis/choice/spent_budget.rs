use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::analysis::AnalysisError;
use crate::analysis::tables::{ByKey, columns, for_each_frame, key, tree_key};
use crate::records::{ExchangeRow, FURTHER_REQUESTS, LinkRow, Manifest, SurveyState};

/// What the last requests of a survey with a budget brought, and what further ones would bring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpentBudget {
    /// The value of `--budget`, in requests.
    pub budget: u64,
    /// The number of its last rounds that are counted: so many that they have at least as many requests as
    /// are asked about, or a tenth of the budget.
    pub rounds: u64,
    /// The requests of these rounds.
    pub last_requests: u64,
    /// The external hosts that these rounds found and none before them.
    pub last_hosts: u64,
    /// The price of the last host: requests of these rounds for each of their hosts; none if they found none.
    pub last_price: Option<f64>,
    /// The further requests that are asked about; none if it is not known what was left.
    pub next_requests: Option<u64>,
    /// For how many of these something waits; what they find may need more.
    pub next_useful: Option<u64>,
    /// The number of hosts that these would bring: as many for each as in the last rounds, by the ratio of
    /// what the URLs were expected to bring then and are expected to bring now. None if that is not known, as
    /// when the last rounds found nothing or only sites that were never opened wait.
    pub next_hosts: Option<f64>,
}

impl SpentBudget {
    /// Reads what the survey in `dir` found in its last rounds. None if it had no budget, or has not ended:
    /// until then the tables lack the trees that wait for a further round.
    ///
    /// # Errors
    /// The tables cannot be read.
    pub fn read(dir: &Path, manifest: &Manifest) -> Result<Option<Self>, AnalysisError> {
        let used = manifest.budget.as_deref().filter(|_| manifest.state == SurveyState::Finished);
        let Some(used) = used else { return Ok(None) };
        let sightings = Sightings::read(dir)?;
        let asked_about = used.left.map_or(FURTHER_REQUESTS, |left| left.requests).min(used.requests / 10);
        let mut last = None;
        for (rounds, first) in (1..).zip(used.rounds.iter().rev()) {
            let began = first.began.0;
            let requests = sightings.requests_from(began);
            last = Some((rounds, began, requests));
            if requests >= asked_about {
                break;
            }
        }
        let Some((rounds, began, last_requests)) = last else { return Ok(None) };
        let last_hosts = sightings.hosts_from(began);
        let counted = &used.rounds[used.rounds.len() - rounds..];
        let planned = counted.iter().filter_map(|round| Some((round.expected?, round.urls as f64)));
        let [sum, urls] =
            planned.fold([0.0, 0.0], |[sum, all], (mean, urls)| [sum + mean * urls, all + urls]);
        let expected_then = sum / urls;
        let next_hosts = used.left.filter(|_| last_requests > 0).and_then(|left| {
            let rate = last_hosts as f64 / last_requests as f64;
            let change = left.expected.filter(|_| last_hosts > 0).map(|now| now / expected_then);
            let hosts = change.map(|change| left.useful as f64 * rate * change);
            hosts.filter(|hosts| hosts.is_finite()).or((left.useful == 0).then_some(0.0))
        });
        Ok(Some(Self {
            budget: used.requests,
            rounds: rounds as u64,
            last_requests,
            last_hosts,
            last_price: (last_hosts > 0).then(|| last_requests as f64 / last_hosts as f64),
            next_requests: used.left.map(|left| left.requests),
            next_useful: used.left.map(|left| left.useful),
            next_hosts,
        }))
    }
}

columns! {
    SentColumns => Sent { site: str, seed: u32, url: str, started: time, total_ms: f64 }
}

columns! {
    FoundColumns => Found { site: str, seed: u32, page: str, host: str }
}

/// When requests were sent, and when each external host was first seen, in microseconds since 1970.
#[derive(Default)]
struct Sightings {
    requests: Vec<i64>,
    hosts: ByKey<i64>,
}

impl Sightings {
    fn read(dir: &Path) -> Result<Self, AnalysisError> {
        let mut sightings = Self::default();
        let mut pages: ByKey<i64> = ByKey::default();
        for_each_frame::<ExchangeRow>(dir, SentColumns::NAMES, |frame: &DataFrame| -> PolarsResult<()> {
            let columns = SentColumns::from_frame(frame)?;
            for row in 0..frame.height() {
                let Sent { site, seed, url, started, total_ms } = columns.fields(row);
                let (Some(started), Some(_)) = (started, total_ms) else { continue };
                sightings.requests.push(started);
                pages.entry(page_key(site, seed, url)).or_insert(started);
            }
            Ok(())
        })?;
        for_each_frame::<LinkRow>(dir, FoundColumns::NAMES, |frame: &DataFrame| -> PolarsResult<()> {
            let columns = FoundColumns::from_frame(frame)?;
            for row in 0..frame.height() {
                let Found { site, seed, page, host } = columns.fields(row);
                let (Some(seen), Some(host)) = (pages.get(&page_key(site, seed, page)), host) else {
                    continue;
                };
                let first = sightings.hosts.entry(key(host)).or_insert(*seen);
                *first = (*first).min(*seen);
            }
            Ok(())
        })?;
        Ok(sightings)
    }

    fn requests_from(&self, began: i64) -> u64 {
        self.requests.iter().filter(|started| **started >= began).count() as u64
    }

    fn hosts_from(&self, began: i64) -> u64 {
        self.hosts.values().filter(|seen| **seen >= began).count() as u64
    }
}

/// The key of a page of a site tree.
fn page_key(site: Option<&str>, seed: Option<u32>, url: Option<&str>) -> u64 {
    let tree = tree_key(site.unwrap_or_default(), seed.unwrap_or_default());
    xxh3_64_with_seed(url.unwrap_or_default().as_bytes(), tree)
}
