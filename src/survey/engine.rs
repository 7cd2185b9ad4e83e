use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use tokio::sync::watch;

use super::crew::{Crew, save_status};
use super::earlier::{self, EarlierPages, Reading};
use super::error::SurveyError;
use super::folder::Folder;
use super::making::Making;
use super::parts::{Parts, Reach};
use super::progress::{Progress, Snapshot};
use super::recovery::{Recalled, Totals, unrecorded};
use super::simulation::Simulation;
use super::start_urls::{drawn, offered};
use super::stored::each_server;
use super::tally::Tally;
use super::visit::{Ended, Visited};
use super::writer::Writer;
use crate::address::WebUrl;
use crate::exchange::Failure;
use crate::frontier::Offer;
use crate::promises::{self, Judge, Seen};
use crate::records::{Manifest, ManifestError, SurveyState, Tables, row_counts};
use crate::settings::{self, Change, ENTRANCES, Settings, impolite};
use crate::starts::StartList;

/// A survey that is ready to run.
pub struct Survey {
    parts: Arc<Parts>,
    manifest: Manifest,
    /// Of the trees that were finished before this run.
    tally: Tally,
    stop: watch::Sender<bool>,
}

/// What became of the start URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// New sites.
    pub sites: usize,
    /// Further start URLs of these sites.
    pub seeds: usize,
    /// Left out: their site has as many start URLs as it may have.
    pub repeated: usize,
    /// Pages and files of an earlier survey that are asked for only if they have changed.
    pub known: Option<u64>,
}

impl Taken {
    pub(super) fn of(offers: &[Offer]) -> Self {
        let count = |kind| offers.iter().filter(|offer| **offer == kind).count();
        let (sites, seeds, repeated) = (count(Offer::Site), count(Offer::Seed), count(Offer::Known));
        Self { sites, seeds, repeated, known: None }
    }

    pub(super) fn and(self, more: Self) -> Self {
        Self {
            sites: self.sites + more.sites,
            seeds: self.seeds + more.seeds,
            repeated: self.repeated + more.repeated,
            known: self.known,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Whether the survey is complete; otherwise it was stopped and can be resumed.
    pub is_finished: bool,
    /// Load promises that the ledger shows broken, a sentence each.
    pub broken_promises: Vec<String>,
}

/// Segments of a finished survey are joined to files of so many rows: a usual row group of Parquet readers, and
/// about 130 MB of memory while it is written.
const FILE_ROWS: usize = 150_000;

impl Survey {
    /// Begins a survey in a new folder.
    ///
    /// # Errors
    /// When the folder exists, a setting cannot be obeyed, or the folder cannot be written; then nothing
    /// was asked of any server.
    pub fn create(dir: &Path, settings: Settings, start: &[WebUrl]) -> Result<(Self, Taken), SurveyError> {
        let start = StartList::of(start).map_err(|wrong| SurveyError::Broken(wrong.to_string()))?;
        Self::begin(dir, settings, &start, None, false, &mut |_| {})
    }

    /// The same; `tell` hears how far an earlier survey is read, which may take minutes. What a process left that
    /// died at this point is in the way, or removed to begin `anew`.
    ///
    /// # Errors
    /// As [`Survey::create`].
    pub fn create_telling(
        dir: &Path,
        settings: Settings,
        start: &StartList,
        anew: bool,
        tell: &mut dyn FnMut(Reading),
    ) -> Result<(Self, Taken), SurveyError> {
        Self::begin(dir, settings, start, None, anew, tell)
    }

    /// Begins a survey of a Web in this process, on the runtime with virtual time that it will run on; `tell` as of
    /// [`Survey::create_telling`].
    ///
    /// # Errors
    /// As [`Survey::create`].
    pub fn simulate(
        dir: &Path,
        settings: Settings,
        start: &StartList,
        simulation: Simulation,
        tell: &mut dyn FnMut(Reading),
    ) -> Result<(Self, Taken), SurveyError> {
        Self::begin(dir, settings, start, Some(simulation), false, tell)
    }

    fn begin(
        dir: &Path,
        settings: Settings,
        start: &StartList,
        mut simulation: Option<Simulation>,
        anew: bool,
        tell: &mut dyn FnMut(Reading),
    ) -> Result<(Self, Taken), SurveyError> {
        // All that can be wrong with the settings shows before the folder is made.
        Reach::of(&settings)?;
        if let Some(old) = &settings.since {
            check_since(old, dir)?;
        }
        let settings = settings.in_full();
        let making = Making::begin(dir, anew).map_err(|wrong| wrong.in_survey(dir))?;
        let folder = making.folder();
        let mut begin = || {
            let since = settings.since.as_deref();
            let known = since.map(|old| EarlierPages::build(&folder.since(), old, tell)).transpose()?;
            let survey = Self::open_parts(folder.clone(), settings.clone(), None, simulation.take())?;
            folder.write_settings(&settings)?;
            let reach = &survey.parts.reach;
            folder.write_start_list(drawn(start, reach))?;
            let offers = survey.parts.frontier().offer(offered(start, reach))?;
            survey.manifest.save(dir)?;
            Ok::<_, SurveyError>((survey, Taken { known, ..Taken::of(&offers) }))
        };
        match begin() {
            Ok(begun) => {
                making.done();
                Ok(begun)
            }
            Err(wrong) => {
                making.undo();
                Err(wrong.in_survey(dir))
            }
        }
    }

    /// Whether a survey stands in the folder, however it does.
    #[must_use]
    pub fn is_begun(dir: &Path) -> bool {
        !matches!(Manifest::load(dir), Err(ManifestError::Missing(_)))
    }

    /// Whether the survey may go on with these settings where they are other than it began with.
    ///
    /// # Errors
    /// As [`Survey::open`], and when one of them may not be changed.
    pub fn check_wishes(dir: &Path, wished: &Settings) -> Result<(), SurveyError> {
        let (folder, manifest) = (Folder::open(dir), Manifest::load(dir)?);
        with_wishes(&folder, &manifest, &folder.read_settings()?, wished).map(|_| ())
    }

    /// Opens a survey that was stopped or has crashed.
    ///
    /// # Errors
    /// When there is no survey, another process is at work on it, or its state cannot be read.
    pub fn open(dir: &Path) -> Result<Self, SurveyError> {
        Self::open_with(dir, None)
    }

    /// The same with settings that are `wished`: where they are other than the survey began with, they are as if they
    /// had been written into `survey.toml`, and now are.
    ///
    /// # Errors
    /// As [`Survey::open`], and when one of them may not be changed.
    pub fn open_wishing(dir: &Path, wished: &Settings) -> Result<Self, SurveyError> {
        Self::reopen(dir, Some(wished), None)
    }

    pub(super) fn open_with(dir: &Path, simulation: Option<Simulation>) -> Result<Self, SurveyError> {
        Self::reopen(dir, None, simulation)
    }

    fn reopen(
        dir: &Path,
        wished: Option<&Settings>,
        simulation: Option<Simulation>,
    ) -> Result<Self, SurveyError> {
        let open = || {
            let manifest = Manifest::load(dir)?;
            if manifest.simulation.is_some() && simulation.is_none() {
                return Err(SurveyError::Simulated(dir.to_owned()));
            }
            let folder = Folder::open(dir);
            if !folder.state().is_file() {
                return Err(SurveyError::StateMissing(folder.state()));
            }
            let stands_at = folder.read_settings()?;
            let settings = match wished {
                None => stands_at.clone(),
                Some(wished) => with_wishes(&folder, &manifest, &stands_at, wished)?,
            };
            let is_over = manifest.state == SurveyState::Finished;
            if settings.since.is_some() && !is_over && !folder.since().is_file() {
                return Err(SurveyError::StateMissing(folder.since()));
            }
            let changed = (settings != stands_at).then(|| settings.clone());
            let mut survey = Self::open_parts(folder.clone(), settings, Some(manifest), simulation)?;
            if let Some(settings) = changed {
                folder.write_settings(&settings)?;
            }
            survey.recover()?;
            Ok(survey)
        };
        open().map_err(|wrong: SurveyError| wrong.in_survey(dir))
    }

    fn open_parts(
        folder: Folder,
        settings: Settings,
        manifest: Option<Manifest>,
        simulation: Option<Simulation>,
    ) -> Result<Self, SurveyError> {
        let earlier = match &manifest {
            Some(_) => Snapshot::load(&folder.dir).map_err(SurveyError::file("read", &folder.dir))?,
            None => None,
        };
        let (stop, stopping) = watch::channel(false);
        let told = simulation.as_ref().map(|simulation| simulation.told.clone());
        let promised = match &manifest {
            Some(manifest) => began_with(&folder, manifest, &settings)?,
            None => settings.clone(),
        };
        #[cfg(feature = "hazards")]
        let settings = super::hazards::acting(&settings);
        let mut parts = Parts::open(folder, settings, stopping, earlier, simulation)?;
        let largest = parts.judge().limits().largest;
        parts.judge = Mutex::new(Judge::new(promises::Limits::new(&promised, largest), Seen::default()));
        let manifest = manifest.unwrap_or_else(|| {
            let settings = serde_json::to_value(&promised).unwrap_or_default();
            let mut manifest = Manifest::new(settings, parts.now().into());
            manifest.suffix_list_version = parts.reach.suffixes.version().map(ToOwned::to_owned);
            manifest.simulation = told;
            manifest.geo = parts.geo.describe().cloned().collect();
            manifest
        });
        Ok(Self { parts: Arc::new(parts), manifest, tally: Tally::default(), stop })
    }

    /// Sets right what a crash left, and brings back what was recorded and not yet stored: counters, what promises
    /// are judged by, the servers' ledgers and their pauses.
    fn recover(&mut self) -> Result<(), SurveyError> {
        let parts = &self.parts;
        let segments = parts.frontier().segments()?;
        let tables = Tables::open(&parts.folder.dir)?;
        tables.discard_after(segments.checked_sub(1))?;
        let mut totals = Totals::of_tables(&parts.folder.dir)?;
        let mut unrecorded = parts.frontier().unrecorded()?;
        self.tally = match Tally::stored(parts)? {
            Some(tally) => tally,
            None => Tally::of_tables(&parts.folder.dir, told(&parts.folder)?)?,
        };
        let mut recalled = Recalled::beside(&self.tally);
        for order in parts.folder.journaled()? {
            let lease = parts.frontier().open_tree(order)?;
            if let Some(lease) = lease {
                unrecorded += recalled.read(parts, &lease, &mut totals)?;
            } else {
                let path = parts.folder.journal(order);
                std::fs::remove_file(&path).map_err(SurveyError::file("remove", &path))?;
            }
        }
        let mut all = self.tally.clone();
        all.add(&recalled.tally);
        parts.judge().restore(all.seen);
        each_server(parts, |address, state| {
            let (mut load, mut judge) = (parts.load(), parts.judge());
            load.recall_neighbour(address, &state);
            judge.note_server(address, &state);
            judge.note_networks(address, load.networks());
            parts.progress.note_servers([(address, &state.ledger)].into_iter());
            Ok(())
        })?;
        recalled.book(parts)?;
        let counts = parts.frontier().counts()?;
        parts.progress.update(|now| {
            totals.put_into(now);
            now.errors = all.errors;
            now.sites_done = counts.finished;
            now.impolite = harsher_in_words(parts);
            now.unrecorded = unrecorded;
        });
        Ok(())
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    /// Gives the program that reads, when it is called with [`READ_ANSWER`](super::READ_ANSWER), an answer at which
    /// a process died: this one, as a rule.
    pub fn read_suspects_with(&self, program: PathBuf) {
        // Whoever is first is right.
        let _ = self.parts.reader.set(program);
    }

    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        self.parts.progress.clone()
    }

    /// Works until no site is left or `stop` becomes true.
    ///
    /// # Errors
    /// When something of ours stops working, such as the disk; what was recorded is kept.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Result<Ending, SurveyError> {
        let dir = self.parts.folder.dir.clone();
        let result = self.work(&mut stop).await.map_err(|wrong| wrong.in_survey(&dir));
        let state = match &result {
            Ok(true) => SurveyState::Finished,
            Ok(false) => SurveyState::Interrupted,
            Err(_) => SurveyState::Failed,
        };
        let closed = self.close(state).map_err(|wrong| wrong.in_survey(&dir));
        let is_finished = result?;
        Ok(Ending { is_finished, broken_promises: closed? })
    }

    async fn work(&mut self, stop: &mut watch::Receiver<bool>) -> Result<bool, SurveyError> {
        let parts = self.parts.clone();
        let tables = Tables::open(&parts.folder.dir)?;
        let segments = parts.frontier().segments()?;
        tables.discard_after(segments.checked_sub(1))?;
        if parts.settings.record_links {
            tables.keep_pages()?;
        }
        self.manifest.state = SurveyState::Running;
        self.manifest.save(&parts.folder.dir)?;
        check_name_server(&parts).await?;
        let mut crew = Crew::new(parts.clone(), Writer::start(parts, tables, segments, self.tally.clone())?);
        let done = crew.work(stop, &self.stop).await;
        // Whatever went wrong, visits end and what they recorded is written.
        let _ = self.stop.send(true);
        while let Some(joined) = crew.visits.join_next().await {
            if let Ok(Ok(Ended { visited: Visited::Done(done), .. })) = joined {
                crew.writer.take(done);
            }
        }
        let written = crew.writer.finish();
        let is_finished = done?;
        written?;
        Ok(is_finished)
    }

    /// Says in manifest and status how the run ended; gives the promises that were broken.
    fn close(&mut self, state: SurveyState) -> Result<Vec<String>, SurveyError> {
        let parts = &self.parts;
        let now = parts.now();
        let promises = parts.judge().verdicts_at_the_end();
        let mut broken = broken_promises(parts)?;
        broken.extend(promises::broken(&promises));
        if state == SurveyState::Finished {
            Tables::open(&parts.folder.dir)?.compact(FILE_ROWS)?;
            // Nothing will be asked for any more. Who is not rid of it has a larger folder, and that is all.
            let _ = std::fs::remove_file(parts.folder.since());
        }
        self.manifest.state = state;
        self.manifest.updated = now.into();
        self.manifest.finished = (state == SurveyState::Finished).then(|| now.into());
        self.manifest.unrecorded_exchanges = unrecorded(parts)?;
        self.manifest.tables = row_counts(&parts.folder.dir)?;
        self.manifest.broken_promises.clone_from(&broken);
        self.manifest.promises = promises;
        self.manifest.save(&parts.folder.dir)?;
        save_status(parts, &format!("{state:?}").to_lowercase(), 0, 0)?;
        Ok(broken)
    }
}

/// What the last status said that promises are judged by.
fn told(folder: &Folder) -> Result<Option<Seen>, SurveyError> {
    let status = Snapshot::load(&folder.dir).map_err(SurveyError::file("read", &folder.dir))?;
    Ok(status.map(|status| status.seen))
}

/// The settings that a survey began with, if it can go on with these.
fn began_with(folder: &Folder, manifest: &Manifest, settings: &Settings) -> Result<Settings, SurveyError> {
    let began_with = as_begun(manifest)?;
    check_change(&began_with, settings, &folder.settings())?;
    Ok(began_with)
}

/// The settings in the manifest; one that is older than entrances tells of none.
fn as_begun(manifest: &Manifest) -> Result<Settings, SurveyError> {
    let told = Settings::deserialize(&manifest.settings).map_err(unreadable)?;
    Ok(if is_before_entrances(manifest) { told.of_before_entrances() } else { told })
}

fn is_before_entrances(manifest: &Manifest) -> bool {
    manifest.settings.get(ENTRANCES).is_none()
}

/// The settings that a survey goes on with if these are `wished`.
fn with_wishes(
    folder: &Folder,
    manifest: &Manifest,
    stands_at: &Settings,
    wished: &Settings,
) -> Result<Settings, SurveyError> {
    let began_with = as_begun(manifest)?;
    let wished = wished.clone().in_full();
    let wished = if is_before_entrances(manifest) { wished.of_before_entrances() } else { wished };
    check_change(&began_with, &wished, &folder.dir)?;
    settings::with_wishes(&began_with, stands_at, &wished).map_err(unreadable)
}

fn check_change(began_with: &Settings, settings: &Settings, told_in: &Path) -> Result<(), SurveyError> {
    match settings::first_wrong(began_with, settings) {
        None => Ok(()),
        Some(Change { key, was, is, expected }) => {
            Err(SurveyError::Changed { path: told_in.to_owned(), key, was, is, expected })
        }
    }
}

fn unreadable(wrong: impl fmt::Display) -> SurveyError {
    SurveyError::Broken(format!("settings in manifest.json: {wrong}"))
}

/// Whether `old` can be the earlier survey of the one to be made in `new`.
fn check_since(old: &Path, new: &Path) -> Result<(), SurveyError> {
    let is_same = match (old.canonicalize(), new.canonicalize()) {
        (Ok(old), Ok(new)) => old == new,
        _ => false,
    };
    if is_same {
        return Err(SurveyError::Since(format!("{} is the folder of the new survey itself", old.display())));
    }
    earlier::check(old).map(|_rows| ())
}

/// Asks the name server for the country domains themselves, which it must have something to say about.
async fn check_name_server(parts: &Parts) -> Result<(), SurveyError> {
    let mut silent = Vec::new();
    for domain in parts.reach.countries.iter() {
        if parts.fetcher.locate(domain).await.address != Err(Failure::DnsTimeout) {
            return Ok(());
        }
        silent.push(domain.to_string());
    }
    let server =
        parts.settings.dns.map_or("the system's name server".to_owned(), |dns| format!("name server {dns}"));
    Err(SurveyError::NameServer(server, silent.join(", ")))
}

/// The promises that the ledgers of servers show broken, server by server.
fn broken_promises(parts: &Parts) -> Result<Vec<String>, SurveyError> {
    let limits = parts.judge().limits().clone();
    let mut broken = Vec::new();
    each_server(parts, |address, state| {
        broken.extend(promises::breaches_at(address, &state.ledger, &limits));
        Ok(())
    })?;
    Ok(broken)
}

/// What of the settings is harsher than the polite defaults to the servers of others.
fn harsher_in_words(parts: &Parts) -> Vec<String> {
    let harsher = if parts.is_simulated { Vec::new() } else { impolite(&parts.settings) };
    harsher.iter().map(ToString::to_string).collect()
}
