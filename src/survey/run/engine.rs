use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;

use super::crew::Crew;
use super::recovery::rows_of_own_tables;
use crate::exchange::Failure;
use crate::fetch::Clock;
use crate::promises;
use crate::records::{Manifest, SurveyState, Tables, row_counts};
use crate::settings::Settings;
use crate::survey::agents::AgentPool;
use crate::survey::error::SurveyError;
use crate::survey::parts::Parts;
use crate::survey::parts::access::Access;
use crate::survey::parts::opt_outs::OptOutCheck;
use crate::survey::parts::rounds::Rounds;
use crate::survey::storage::progress::Progress;
use crate::survey::storage::tally::Tally;
use crate::survey::storage::{Storage, SurveyStatus};
use crate::survey::visit::{EndedVisit, VisitOutcome};
use crate::survey::writer::Writer;

/// A survey that is ready to run.
pub struct Survey {
    pub(in crate::survey) parts: Arc<Parts>,
    pub(in crate::survey) manifest: Manifest,
    /// The tally of the trees that were finished before this run.
    pub(in crate::survey) tally: Tally,
    /// The tables as recovery left them; none if the survey is new.
    pub(in crate::survey) tables: Option<Tables>,
    /// Tells the visits to stop.
    pub(in crate::survey) stop: watch::Sender<bool>,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Whether the survey is complete; otherwise it was stopped and can be resumed.
    pub is_finished: bool,
    /// Load promises that were broken according to the ledger, one sentence each.
    pub broken_promises: Vec<String>,
}

/// Segments of a finished survey are joined to files with this number of rows, so that a large survey has
/// some hundreds of files and not thousands. They are written a row group at a time: memory does not depend
/// on this number.
const FILE_ROWS: usize = 150_000;

impl Survey {
    /// The settings of the survey.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    /// Sets the program that reads a response at which a process died, when called with
    /// [`READ_ANSWER`](crate::survey::READ_ANSWER). It is usually this program itself.
    pub fn read_suspects_with(&self, program: PathBuf) {
        self.parts.reader.read_suspects_with(program);
    }

    /// The live counters of the survey.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        self.parts.storage.progress.clone()
    }

    /// The agents that walk the site trees, if that is not this process.
    #[must_use]
    pub fn agent_pool(&self) -> Option<AgentPool> {
        self.parts.agents.clone().map(AgentPool::new)
    }

    /// The result of the last check of the opt-out list.
    #[must_use]
    pub fn opt_out_checks(&self) -> watch::Receiver<Option<OptOutCheck>> {
        self.parts.access.opt_out_checks()
    }

    /// The clock of the survey.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.parts.access.clock
    }

    /// Runs until no site is left or `stop` becomes true.
    ///
    /// # Errors
    /// When something on our side stops working, such as the disk. What was recorded is kept.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Result<Ending, SurveyError> {
        let dir = self.parts.storage.folder.dir.clone();
        let result = self.work(&mut stop).await.map_err(|error| error.in_survey(&dir));
        let state = match &result {
            Ok(true) => SurveyState::Finished,
            Ok(false) => SurveyState::Interrupted,
            Err(_) => SurveyState::Failed,
        };
        // If the folder was replaced, that is why the run failed, and its result must not be written there.
        self.parts.storage.check_not_replaced()?;
        let closed = self.close(state).map_err(|error| error.in_survey(&dir));
        let is_finished = result?;
        Ok(Ending { is_finished, broken_promises: closed? })
    }

    async fn work(&mut self, stop: &mut watch::Receiver<bool>) -> Result<bool, SurveyError> {
        let parts = self.parts.clone();
        if let Some(change) = &parts.clock_was_set {
            tracing::warn!("{change}");
        }
        let storage = &parts.storage;
        let tables = self.tables.take().map_or_else(|| Tables::open(storage.dir()), Ok)?;
        let segments = storage.frontier().segments()?;
        tables.discard_computed()?;
        if parts.settings.record_links {
            tables.keep_pages()?;
        }
        self.manifest.state = SurveyState::Running;
        self.manifest.save(storage.dir())?;
        check_name_server(&parts.access, &parts.settings).await?;
        let keeper = storage.keeper.clone();
        let (sent, lost) = storage.progress.sent_and_lost();
        parts.access.ceiling.add_sent(sent + lost);
        let writer = Writer::start(parts.clone(), tables, segments, self.tally.clone())?;
        let mut crew = Crew::new(parts, writer);
        let done = crew.work(stop, &self.stop).await;
        // Even after an error, visits end, and what they recorded is written.
        let _ = self.stop.send(true);
        while let Some(joined) = crew.visits.join_next().await {
            if let Ok(Ok(EndedVisit { visited: VisitOutcome::Done(done), .. })) = joined {
                crew.writer.take(done);
            }
        }
        let written = crew.writer.finish();
        let kept = keeper.map_or(Ok(()), |keeper| keeper.end());
        let is_finished = done?;
        written?;
        kept?;
        Ok(is_finished)
    }

    /// Writes the result of the run to manifest and status; returns the broken promises.
    fn close(&mut self, state: SurveyState) -> Result<Vec<String>, SurveyError> {
        let Parts { access, storage, .. } = &*self.parts;
        let now = access.clock.system_time();
        let promises = storage.judge().final_verdicts();
        let mut broken = broken_promises(storage)?;
        broken.extend(promises::broken(&promises));
        if state == SurveyState::Finished
            && let Err(error) = join_tables(storage)
        {
            self.close(SurveyState::Failed)?;
            return Err(error);
        }
        self.manifest.state = state;
        self.manifest.updated = now.into();
        self.manifest.finished = (state == SurveyState::Finished).then(|| now.into());
        self.manifest.budget = self.parts.rounds.as_ref().map(Rounds::used).map(Box::new);
        self.manifest.unrecorded_exchanges = storage.unrecorded()?;
        self.manifest.tables = row_counts(storage.dir())?;
        self.manifest.broken_promises.clone_from(&broken);
        if let (Some(agents), Some(description)) = (&self.parts.agents, &mut self.manifest.simulation) {
            description["agents"]["servers_handed_over"] = agents.handed_over().into();
        }
        self.manifest.promises = promises;
        storage.save_status(SurveyStatus { state, walking: 0, ended: None }, now)?;
        storage.sync_status()?;
        self.manifest.save(storage.dir())?;
        if self.manifest.state == SurveyState::Finished {
            // No more pages will be requested. If the file cannot be removed, the folder is larger, and that
            // is all.
            let _ = std::fs::remove_file(storage.folder.since());
        }
        Ok(broken)
    }
}

/// Joins the files of tables. First checks that no rows were lost while the survey ran.
fn join_tables(storage: &Storage) -> Result<(), SurveyError> {
    let tables = Tables::open(storage.dir())?;
    rows_of_own_tables(storage, &tables, storage.tally()?.as_ref(), 0)?;
    Ok(tables.compact(FILE_ROWS)?)
}

/// Queries the name server for the country domains themselves, for which it must have a response.
async fn check_name_server(access: &Access, settings: &Settings) -> Result<(), SurveyError> {
    let mut silent = Vec::new();
    for domain in &access.country_domains {
        if access.locate(domain, &[]).await.address != Err(Failure::DnsTimeout) {
            return Ok(());
        }
        silent.push(domain.to_string());
    }
    let server =
        settings.dns.map_or("the system's name server".to_owned(), |dns| format!("name server {dns}"));
    Err(SurveyError::NameServer(server, silent.join(", ")))
}

/// The promises that were broken according to the ledgers of servers, server by server.
fn broken_promises(storage: &Storage) -> Result<Vec<String>, SurveyError> {
    let limits = storage.judge().limits().clone();
    let mut broken = Vec::new();
    storage.each_page_of_servers(|page| {
        broken.extend(page.iter().flat_map(|(address, state)| {
            let ledger = &state.ledger;
            promises::breaches_at(*address, ledger.most_parallel, ledger.smallest_gap, &limits)
        }));
        Ok(())
    })?;
    Ok(broken)
}
