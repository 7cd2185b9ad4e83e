use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::added;
use super::error::SurveyError;
use super::opt_outs::OptOutFile;
use super::parked::Parked;
use super::parts::Parts;
use super::places::Spot;
use super::rows::feed_back;
use super::visit::{Ended, Visited, visit};
use super::writer::Writer;
use crate::frontier::Lease;
use crate::promises::verdicts;

/// A simulated week has about a thousand of these.
const SIMULATED_STATUS: Duration = Duration::from_secs(600);
/// The state of a survey at work, as its status tells it.
const RUNNING: &str = "running";
/// Sites parked at busy servers or put off for each that may be visited; about 300 bytes of memory each.
pub const PARKED_PER_VISIT: usize = 64;

/// Those who work on a running survey.
pub(super) struct Crew {
    pub parts: Arc<Parts>,
    pub writer: Writer,
    pub visits: JoinSet<Result<Ended, SurveyError>>,
    parked: Parked,
    /// Sites whose server wants to be left alone until some time.
    put_off: BTreeMap<(SystemTime, u64), Lease>,
    /// Finished trees that are not written yet may bring new sites.
    has_news: bool,
    opt_outs: OptOutFile,
}

impl Crew {
    pub(super) fn new(parts: Arc<Parts>, writer: Writer) -> Self {
        Self {
            opt_outs: OptOutFile::of(&parts),
            parts,
            writer,
            visits: JoinSet::new(),
            put_off: BTreeMap::new(),
            parked: Parked::default(),
            has_news: false,
        }
    }

    /// Says whether the survey is complete.
    pub(super) async fn work(
        &mut self,
        stop: &mut watch::Receiver<bool>,
        tell_visits: &watch::Sender<bool>,
    ) -> Result<bool, SurveyError> {
        let clock = self.parts.clock;
        let mut every_second = tokio::time::interval(self.status_interval());
        let backlog = self.writer.backlog.clone();
        loop {
            // Before trees are looked for: what is written after that may bring new ones.
            let is_written = backlog.len() == 0;
            let is_idle = self.begin_visits()?;
            let nothing_left =
                is_idle && self.visits.is_empty() && self.put_off.is_empty() && self.parked.count == 0;
            if nothing_left && is_written {
                if self.take_in_added()? {
                    continue;
                }
                return Ok(true);
            }
            // In a simulation the clock stands still while there may be new sites to begin with now.
            let is_awaited = is_idle && (!self.parts.is_simulated || self.has_news || nothing_left);
            backlog.is_awaited.store(is_awaited, Ordering::SeqCst);
            if is_awaited && self.parts.is_simulated && backlog.catch_up() {
                self.has_news = self.parts.frontier().holds_back()?;
                continue;
            }
            // While no visit can begin, nobody waits for a site to be due: it may be due already.
            let has_room = self.visits.len() < self.parts.settings.sites;
            let next_put_off = self.put_off.keys().next().filter(|_| has_room).map(|(until, _)| *until);
            tokio::select! {
                biased;
                () = asked_to_stop(stop) => {
                    tracing::info!("stopping");
                    let _ = tell_visits.send(true);
                    return Ok(false);
                }
                // Before visits that end: a thousand may do so at once, and who opts out is not to wait for them.
                _ = every_second.tick() => {
                    // A simulation writes when it must, not when it could.
                    let unwritten = if self.parts.is_simulated { backlog.len() as u64 } else { 0 };
                    self.opt_outs.obey_changes(&self.parts)?;
                    self.take_in_added()?;
                    save_status(&self.parts, RUNNING, self.visits.len() as u64, unwritten)?;
                }
                Some(joined) = self.visits.join_next() => self.end_visit(joined)?,
                () = backlog.written.notified() => {}
                () = clock.until(next_put_off.unwrap_or_else(|| clock.now())), if next_put_off.is_some() => {}
            }
            if self.writer.has_failed() {
                return Ok(false);
            }
        }
    }

    /// Takes in start URLs that were added; says whether there were any. Nobody adds to a simulation.
    fn take_in_added(&self) -> Result<bool, SurveyError> {
        if self.parts.is_simulated {
            return Ok(false);
        }
        let parts = &self.parts;
        Ok(added::take_in_all(&parts.folder, &parts.reach, &mut parts.frontier())?.is_some())
    }

    /// How often the status is written. In a simulation a second of the clock is over in no time.
    fn status_interval(&self) -> Duration {
        if self.parts.is_simulated { SIMULATED_STATUS } else { Duration::from_secs(1) }
    }

    /// Begins visits while there are trees to walk; says whether there are none left for now.
    fn begin_visits(&mut self) -> Result<bool, SurveyError> {
        while self.visits.len() < self.parts.settings.sites {
            let Some(lease) = self.next_lease()? else { return Ok(true) };
            tracing::debug!(site = lease.site.as_str(), start = lease.start.as_str(), "visit");
            self.visits.spawn(visit(self.parts.clone(), lease));
        }
        Ok(false)
    }

    fn next_lease(&mut self) -> Result<Option<Lease>, SurveyError> {
        if let Some(entry) = self.put_off.first_entry()
            && entry.key().0 <= self.parts.now()
        {
            return Ok(Some(entry.remove()));
        }
        if let Some(lease) = self.parked.ready.pop_front() {
            return Ok(Some(lease));
        }
        // In quiet hours every site would be put off, one after the other.
        let waiting = self.parked.count + self.put_off.len();
        if waiting >= PARKED_PER_VISIT * self.parts.settings.sites {
            return Ok(None);
        }
        Ok(self.parts.frontier().lease()?)
    }

    fn end_visit(
        &mut self,
        joined: Result<Result<Ended, SurveyError>, tokio::task::JoinError>,
    ) -> Result<(), SurveyError> {
        let Ended { order, server, visited } =
            joined.map_err(|wrong| SurveyError::Broken(wrong.to_string()))??;
        if let Some(address) = server {
            self.parts.places().leave(address);
            Spot::around(address).into_iter().for_each(|spot| self.parked.wake(spot));
        }
        let mut been: Vec<Spot> = server.into_iter().flat_map(Spot::around).collect();
        been.extend(if let Visited::Parked(_, spot) = &visited { Some(*spot) } else { None });
        self.parked.pass_on(order, &been);
        match visited {
            // The visit that was in its way may have ended in the meantime, and then nobody would wake it.
            Visited::Parked(lease, spot) if self.parts.places().has(spot) => {
                self.parked.ready.push_back(lease)
            }
            Visited::Parked(lease, spot) => self.parked.park(lease, spot),
            Visited::PutOff(lease, until) => {
                tracing::info!(site = lease.site.as_str(), ?until, "put off");
                self.put_off.insert((until, lease.order), lease);
            }
            Visited::Moved(lease) => self.parked.ready.push_back(lease),
            Visited::Stopped => {}
            visited @ (Visited::Finished(_) | Visited::Reached(_) | Visited::Failed(..)) => {
                // What a walk found that failed shows when it is written.
                self.has_news |= matches!(visited, Visited::Failed(..));
                if let Visited::Finished(done) = &visited
                    && self.parts.is_simulated
                    && !self.has_news
                {
                    let found = feed_back(&self.parts, &done.tree);
                    self.has_news = self.parts.frontier().is_news(&found, done.tree.is_closed)?;
                }
                self.writer.take(visited);
            }
        }
        Ok(())
    }
}

/// Waits until the survey is to be stopped.
pub(super) async fn asked_to_stop(stop: &mut watch::Receiver<bool>) {
    // An error means that nobody is left who could stop us.
    if stop.wait_for(|stopping| *stopping).await.is_err() {
        std::future::pending::<()>().await;
    }
}
/// Rewrites the file that other processes look at.
///
/// `unwritten` are trees that are done all the same.
pub(super) fn save_status(
    parts: &Parts,
    state: &str,
    walking: u64,
    unwritten: u64,
) -> Result<(), SurveyError> {
    let counts = parts.frontier().counts()?;
    let (seen, promises) = {
        let judge = parts.judge();
        let seen = match state {
            RUNNING => judge.seen().clone(),
            _ => judge.seen_at_the_end(),
        };
        let promises = verdicts(&seen, judge.limits());
        (seen, promises)
    };
    parts.progress.update(|now| {
        now.promises = promises;
        now.seen = seen;
        state.clone_into(&mut now.state);
        now.sites_walking = walking;
        now.sites_done = counts.finished + unwritten;
        now.sites_waiting = counts.trees.saturating_sub(counts.finished + unwritten + walking);
    });
    let dir = &parts.folder.dir;
    parts.progress.snapshot(parts.now()).save(dir).map_err(SurveyError::file("write status in", dir))
}
