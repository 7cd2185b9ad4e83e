use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::added;
use crate::frontier::{EndedPart, FrontierError, Lease};
use crate::records::{SurveyState, Timestamp};
use crate::roster::{Requeue, VisitStep};
use crate::survey::agents::Agents;
use crate::survey::boundaries::budget::keep_budget;
use crate::survey::error::SurveyError;
use crate::survey::journal::JournalReader;
use crate::survey::parts::Parts;
use crate::survey::parts::access::stop_requested;
use crate::survey::parts::opt_outs::OptOutFile;
use crate::survey::storage::{SurveyStatus, encode};
use crate::survey::visit::{DoneTree, EndedVisit, VisitOutcome, visit};
use crate::survey::writer::{Writer, already_reached};

/// A simulated week has about a thousand of these.
const SIMULATED_STATUS: Duration = Duration::from_secs(600);

/// The visits and the writer of a running survey.
pub(in crate::survey) struct Crew {
    pub parts: Arc<Parts>,
    pub writer: Writer,
    pub visits: JoinSet<Result<EndedVisit, SurveyError>>,
    /// A tree that is not written yet may bring new trees when it is.
    has_news: bool,
    /// Trees that have ended, whether they are written or not.
    ended: u64,
    opt_outs: OptOutFile,
}

impl Crew {
    pub(in crate::survey) fn new(parts: Arc<Parts>, writer: Writer) -> Self {
        let opt_outs = OptOutFile::new(parts.settings.opt_out.clone());
        Self { opt_outs, parts, writer, visits: JoinSet::new(), has_news: false, ended: 0 }
    }

    /// Runs visits until none is left or the survey is stopped. Returns whether the survey is complete.
    pub(in crate::survey) async fn work(
        &mut self,
        stop: &mut watch::Receiver<bool>,
        visit_stop: &watch::Sender<bool>,
    ) -> Result<bool, SurveyError> {
        let clock = self.parts.access.clock;
        let mut every_second = tokio::time::interval(self.status_interval());
        every_second.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let _at_work = self.parts.agents.as_ref().map(Agents::run_agents);
        let backlog = self.writer.backlog.clone();
        self.ended = self.parts.storage.frontier().counts()?.finished;
        loop {
            // Read before looking for trees: what is written afterwards may bring new ones.
            let is_written = backlog.len() == 0;
            self.has_news &= !is_written;
            let BegunVisits { is_idle, next_due } = self.begin_visits()?;
            let nothing_left = is_idle && self.parts.access.roster().is_empty();
            if nothing_left && is_written {
                if self.add_waiting_lists()? || self.begin_round()? {
                    continue;
                }
                return Ok(true);
            }
            let is_awaited = is_idle && (self.has_news || nothing_left);
            self.writer.set_awaited(is_awaited, self.visits.is_empty());
            // The clock of a simulation stands still while the writer may bring new sites that could begin
            // now.
            if is_awaited && self.parts.is_simulated && backlog.catch_up() {
                continue;
            }
            tokio::select! {
                biased;
                () = stop_requested(stop) => {
                    tracing::info!("stopping");
                    let _ = visit_stop.send(true);
                    return Ok(false);
                }
                // Checked before ended visits: a thousand visits may end at once, and an opt-out should not
                // wait for them.
                _ = every_second.tick() => {
                    self.poll_changes()?;
                }
                Some(joined) = self.visits.join_next() => self.end_visit(joined)?,
                () = backlog.written.notified() => {}
                () = self.parts.access.moved.notified() => {}
                () = clock.until(next_due.unwrap_or_else(|| clock.now())), if next_due.is_some() => {}
            }
            if self.writer.has_failed() {
                return Ok(false);
            }
        }
    }

    /// Obeys changes of the opt-out list, merges added start URLs, and saves the status.
    fn poll_changes(&mut self) -> Result<(), SurveyError> {
        let Parts { boundaries, access, storage, .. } = &*self.parts;
        access.clock.slept();
        storage.check_not_replaced()?;
        if let Some(rounds) = &self.parts.rounds {
            storage.progress.update(|now| now.round = rounds.status());
        }
        access.note_opt_out_check(self.opt_outs.apply_changes(boundaries, storage, access.clock)?);
        self.add_waiting_lists()?;
        let status = SurveyStatus {
            state: SurveyState::Running,
            walking: self.visits.len() as u64,
            // A simulation writes only when it must, so unwritten trees count as done.
            ended: self.parts.is_simulated.then_some(self.ended),
        };
        storage.save_status(status, access.clock.system_time())
    }

    /// Merges added start URLs; returns whether there were any. A simulation has none.
    fn add_waiting_lists(&self) -> Result<bool, SurveyError> {
        if self.parts.is_simulated {
            return Ok(false);
        }
        let Parts { boundaries, storage, .. } = &*self.parts;
        Ok(added::add_lists_to_frontier(&storage.folder, &boundaries.scope, &mut storage.frontier())?
            .is_some())
    }

    /// The interval at which the status is written. In a simulation, a second of the clock passes in no time.
    fn status_interval(&self) -> Duration {
        if self.parts.is_simulated { SIMULATED_STATUS } else { Duration::from_secs(1) }
    }

    /// Begins visits while there are trees to walk.
    fn begin_visits(&mut self) -> Result<BegunVisits, SurveyError> {
        loop {
            let access = &self.parts.access;
            let step = access.roster().poll(access.now());
            let lease = match step {
                VisitStep::Begin(lease) => lease,
                VisitStep::Take => {
                    let Some(lease) = self.next_tree()? else {
                        return Ok(BegunVisits { is_idle: true, next_due: access.roster().next_due() });
                    };
                    access.roster().begin(lease.order);
                    lease
                }
                VisitStep::Wait(next_due) => {
                    let is_idle = self.visits.len() < self.parts.settings.sites;
                    return Ok(BegunVisits { is_idle, next_due });
                }
            };
            tracing::debug!(site = lease.site.as_str(), start = lease.start.as_str(), "visit");
            self.visits.spawn(visit(self.parts.clone(), lease));
        }
    }

    fn end_visit(
        &mut self,
        joined: Result<Result<EndedVisit, SurveyError>, tokio::task::JoinError>,
    ) -> Result<(), SurveyError> {
        let EndedVisit { order, visited } =
            joined.map_err(|error| SurveyError::Broken(error.to_string()))??;
        let (requeue, done) = match visited {
            VisitOutcome::Requeue(requeue) => (Some(requeue), None),
            VisitOutcome::PartEnded(part) => {
                self.record_part(order, part)?;
                (None, None)
            }
            VisitOutcome::Done(done) => (None, Some(done)),
            VisitOutcome::Stopped => (None, None),
        };
        if let Some(Requeue::PutOff(lease, until)) = &requeue {
            let until = Timestamp::from(*until);
            tracing::info!(site = lease.site.as_str(), %until, "put off");
        }
        self.parts.access.roster().leave(order, requeue);
        if let Some(done) = done {
            if self.parts.rounds.is_some() {
                let part = self.part_of(&done)?;
                self.record_part(order, part)?;
            }
            self.pass_to_writer(done)?;
        }
        Ok(())
    }

    /// The next tree to visit: of the round, if the survey has rounds.
    fn next_tree(&self) -> Result<Option<Lease>, SurveyError> {
        let Parts { storage, rounds, .. } = &*self.parts;
        let Some(rounds) = rounds else { return Ok(storage.frontier().lease()?) };
        while let Some(order) = rounds.take_next(self.parts.access.now()) {
            if let Some(lease) = storage.frontier().lease_member(order)? {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    /// Begins the next round of a survey with a budget, or goes on with the one that an earlier run left.
    /// Returns whether there is one.
    fn begin_round(&self) -> Result<bool, SurveyError> {
        let Parts { access, storage, rounds, .. } = &*self.parts;
        let Some(rounds) = rounds else { return Ok(false) };
        rounds.end(access.now(), |time| access.clock.system_time_at(time));
        keep_budget(&storage.folder, &rounds.used())?;
        let mut frontier = storage.frontier();
        let interrupted = if rounds.standing().is_none() { frontier.round()? } else { None };
        let interrupted = interrupted.map(|round| Ok::<_, FrontierError>((round, frontier.members(round)?)));
        let (round, members) = match interrupted.transpose()?.filter(|(_, members)| !members.is_empty()) {
            Some(interrupted) => interrupted,
            None => {
                let sent = access.ceiling.sent();
                let next = frontier.next_round(|number, trees| rounds.plan(number, sent, &trees))?;
                let Some(round) = next else {
                    rounds.note_left(None);
                    keep_budget(&storage.folder, &rounds.used())?;
                    storage.progress.update(|now| now.round = None);
                    return Ok(false);
                };
                (round, frontier.members(round)?)
            }
        };
        tracing::info!(round = round.number, price = round.price, trees = members.len(), "round");
        rounds.begin(round, members, access.clock.system_time_at(access.now()));
        keep_budget(&storage.folder, &rounds.used())?;
        Ok(true)
    }

    /// Records the end of a tree's part in the round.
    fn record_part(&self, order: u64, part: EndedPart) -> Result<(), SurveyError> {
        let Parts { storage, rounds, .. } = &*self.parts;
        let round = rounds.as_ref().and_then(|rounds| rounds.standing()).map_or(0, |(round, _)| round.number);
        Ok(storage.frontier().end_part(order, round, part)?)
    }

    /// The last part of a tree that has ended.
    fn part_of(&self, done: &DoneTree) -> Result<EndedPart, SurveyError> {
        match done {
            DoneTree::Finished(done) => Ok(done.part.clone().unwrap_or_default()),
            DoneTree::Reached(_) => Ok(EndedPart::default()),
            DoneTree::Failed(lease, _) => {
                let sent = JournalReader::open(&self.parts.storage.folder.journal(lease.order))?.sent()?;
                Ok(EndedPart { counted: sent, ..EndedPart::default() })
            }
        }
    }

    /// Gives a finished tree to the writer.
    fn pass_to_writer(&mut self, done: DoneTree) -> Result<(), SurveyError> {
        self.has_news |= self.brings_news(&done);
        if self.parts.is_simulated {
            self.merge_finished(&done)?;
        } else {
            self.free_next(&done)?;
        }
        self.ended += 1;
        self.writer.take(done);
        Ok(())
    }

    /// Whether writing this tree may bring more trees to visit than are known when it is handed over: its
    /// external URLs are fed back, and if it is closed, another tree may replace it.
    fn brings_news(&self, done: &DoneTree) -> bool {
        match done {
            // Its external URLs and its carry-over are known only when it is written.
            DoneTree::Failed(..) => true,
            // The results of all other trees are stored when they are handed over.
            _ if self.parts.is_simulated => false,
            DoneTree::Finished(done) => {
                done.tree.is_closed || self.parts.boundaries.may_have_candidates(&done.tree)
            }
            DoneTree::Reached(_) => true,
        }
    }

    /// Frees the next tree of a site before the finished one is written. After a crash both are unfinished
    /// again, and are walked again from their journals.
    fn free_next(&self, done: &DoneTree) -> Result<(), SurveyError> {
        let (lease, carried_over) = match done {
            DoneTree::Finished(done) => (&done.lease, Some(&done.carried_over)),
            DoneTree::Reached(lease) => (lease, None),
            // Its carry-over is known when it is written.
            DoneTree::Failed(..) => return Ok(()),
        };
        self.parts.storage.frontier().free_next(lease, || carried_over.map(encode).transpose())
    }

    /// Enters a tree of a simulation into the frontier, where nothing need survive a crash. So the clock does
    /// not stand still until the rows are written. The results of a failed walk are known when its rows are.
    fn merge_finished(&mut self, done: &DoneTree) -> Result<(), SurveyError> {
        let finished = match done {
            DoneTree::Finished(done) => done.finished(&self.parts)?,
            DoneTree::Reached(lease) => already_reached(lease.clone()),
            DoneTree::Failed(..) => return Ok(()),
        };
        self.parts.storage.frontier().merge_finished(&finished)?;
        Ok(())
    }
}

/// The result of beginning visits.
struct BegunVisits {
    /// Fewer visits are running than allowed, and there is no other tree to visit.
    is_idle: bool,
    /// When a tree that was put off may be visited again.
    next_due: Option<SystemTime>,
}
