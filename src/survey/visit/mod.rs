//! A visit walks one site tree: it waits for the turn at each server, runs the exchanges, and tries fallbacks
//! for a host that fails.

pub(super) mod exchange;
pub(super) mod fallbacks;
pub(super) mod own_link;
pub(super) mod rounds;
pub(super) mod turn;

use std::any::Any;
use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};

use super::agents::{AssignedAgent, Assignment};
use super::error::SurveyError;
use super::journal::Journal;
use super::journal::entry::{Entry, ExchangeRecord};
use super::journal::replay::{RecordedResult, Replay};
use super::parts::Parts;
use super::storage::carry_over::CarryOver;
use crate::address::WebUrl;
use crate::exchange::{Failure, Outcome, Purpose, Request, Response};
use crate::frontier::{EndedPart, Lease};
use crate::load::{BudgetDecision, SiteBudget, Spent, SpentBudget};
use crate::roster::Requeue;
use crate::walk::{Content, OnRecord, Step, Tree, Waiting, Walk};
use exchange::{ExchangeOutcome, FailedTry, Requester, WantedExchange, accept_failed_try};
use fallbacks::Fallbacks;
use rounds::VisitRounds;

/// If a server demands a longer pause than this, its site ends. Applies where sites have no time budget.
const LONGEST_HOLD: Duration = Duration::from_secs(7 * 24 * 3600);

/// A visit that has ended.
pub(super) struct EndedVisit {
    pub order: u64,
    pub visited: VisitOutcome,
}

/// The result of a visit.
pub(super) enum VisitOutcome {
    Done(DoneTree),
    /// The tree has to be visited again.
    Requeue(Requeue<Lease>),
    /// The tree's part in the round has ended, and it waits for the next round.
    PartEnded(EndedPart),
    /// The survey is stopping.
    Stopped,
}

/// A finished tree, for the writer.
pub(super) enum DoneTree {
    /// The site tree is finished. Its journal holds its exchanges.
    Finished(Box<ConcludedTree>),
    /// An earlier tree of the site has already reached this start URL, so there is no tree.
    Reached(Lease),
    /// An internal error ended the walk. Carries the error message.
    Failed(Lease, String),
}

pub(super) struct ConcludedTree {
    pub lease: Lease,
    pub tree: Tree,
    /// Spent by earlier trees of the site from the same account.
    pub earlier: Spent,
    /// Passed on to the next tree of the site.
    pub carried_over: CarryOver,
    /// The end of its part in the round, if the survey has rounds.
    pub part: Option<EndedPart>,
    pub began: SystemTime,
    pub ended: SystemTime,
}

/// Walks one site tree, starting where its journal ends.
///
/// The visit first takes a slot at the server of the start URL. If several sites on one server were visited
/// at once, all but one would only wait for their turns there, and waiting visits would soon occupy every
/// slot.
///
/// # Errors
/// Errors that stop all work. An error of this walk alone, including a panic, becomes the result of the walk.
pub(super) async fn visit(parts: Arc<Parts>, lease: Lease) -> Result<EndedVisit, SurveyError> {
    let order = lease.order;
    let visited = AssertUnwindSafe(visit_server(parts, lease.clone())).catch_unwind().await;
    let visited = match visited {
        Ok(Ok(visited)) => visited,
        Ok(Err(error)) if error.is_of_one_site() => {
            VisitOutcome::Done(DoneTree::Failed(lease, error.to_string()))
        }
        Ok(Err(error)) => return Err(error),
        Err(panic) => VisitOutcome::Done(DoneTree::Failed(lease, panic_message(&*panic))),
    };
    Ok(EndedVisit { order, visited })
}

async fn visit_server(parts: Arc<Parts>, lease: Lease) -> Result<VisitOutcome, SurveyError> {
    let earlier = parts.storage.carry_over(&lease)?;
    if earlier.known.pages.contains(&lease.start.page_key()) {
        return Ok(VisitOutcome::Done(DoneTree::Reached(lease)));
    }
    let dead =
        Fallbacks::from_journal(&parts.storage.folder.journal(lease.order))?.dead_addresses(&lease.start);
    let Some(located) = own_link::locate(&parts.access, lease.start.host(), &dead).await else {
        return Ok(VisitOutcome::Stopped);
    };
    let server = located.address.ok();
    if let Some(address) = server
        && let Err(full) = parts.access.roster().enter(lease.order, address)
    {
        return Ok(VisitOutcome::Requeue(Requeue::Parked(lease, full)));
    }
    let Some(agents) = parts.agents.clone() else {
        return Visit::open(parts, lease, earlier, server, None)?.run().await;
    };
    let was_begun = parts.storage.folder.journal(lease.order).exists();
    let assigning = parts.access.until_stopped(agents.assign(&lease, server, was_begun)).await;
    let Some(assignment) = assigning else { return Ok(VisitOutcome::Stopped) };
    let Some(assigned) = assignment.as_ref().and_then(Assignment::agent).cloned() else {
        return Ok(VisitOutcome::Requeue(Requeue::Again(lease)));
    };
    let order = lease.order;
    let shared_parts = parts.clone();
    let visit = Visit::open(parts, lease.clone(), earlier, server, Some(assigned.clone()))?;
    tokio::select! {
        biased;
        // An unrecorded response is lost, and the server gets the same pause as after a crash.
        () = assigned.wait_until_gone() => Ok(VisitOutcome::Requeue(Requeue::Again(lease))),
        visited = visit.run() => {
            if let (Ok(VisitOutcome::Done(_)), Some(worker)) = (&visited, assigned.remote_worker()) {
                if let Some(agents) = &shared_parts.agents {
                    agents.doubts.forget(order);
                }
                shared_parts.suspects.forget(order);
                worker.forget(order);
            }
            visited
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    message
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
        .to_owned()
}

struct Visit {
    parts: Arc<Parts>,
    lease: Lease,
    /// The server at which the visit has taken a slot.
    server: Option<IpAddr>,
    walk: Walk,
    fallbacks: Fallbacks,
    /// Requests to send again with a fallback, before any other request.
    retries: VecDeque<Retry>,
    budget: SiteBudget,
    /// Spent by earlier trees of the site from the same account.
    earlier: Spent,
    began: SystemTime,
    replay: Replay,
    /// Why the walk ended in an earlier run. It stops there again, because the next tree of the site may have
    /// begun since.
    ended: Option<Outcome>,
    /// Requests whose responses were being read when a process died.
    suspects: HashSet<u32>,
    /// How often each request was sent without a response on record.
    times_lost: HashMap<u32, usize>,
    journal: Arc<Journal>,
    in_flight: FuturesUnordered<InFlight>,
    /// Until this time a server of the site may still be working on an aborted request. No other server of
    /// the site gets a request before then.
    paused_until: Option<SystemTime>,
    /// A redirect demanded a pause until this time (RFC 9110 §10.2.3). Its target may be on another server,
    /// whose pacing does not know of this pause.
    redirect_pause: Option<SystemTime>,
    /// Why no request can be sent now: the survey is stopping, the server demands a long pause, or the visit
    /// must continue at another server or with another agent.
    interruption: Option<Interruption>,
    /// The agent that walks the tree, if there are agents.
    assigned: Option<Arc<AssignedAgent>>,
    /// The rounds of the tree, if the survey has rounds.
    rounds: Option<VisitRounds>,
}

/// What a visit does next.
enum NextStep {
    /// It waits for a result, or is interrupted.
    Await,
    /// The walk is done.
    Conclude,
    /// The tree's part in the round is over.
    EndPart,
}

enum Interruption {
    /// The survey may send no further request.
    SurveySpent,
    Stop,
    PutOff(SystemTime),
    Move,
}

/// The result of the last attempt at a request that is to be sent once more.
struct Retry {
    tried: FailedTry,
    crawl_delay: Option<Duration>,
}

/// An exchange in flight, with the Crawl-delay of its host.
type InFlight = BoxFuture<'static, (Option<Duration>, Result<ExchangeOutcome, SurveyError>)>;

impl Visit {
    fn open(
        parts: Arc<Parts>,
        lease: Lease,
        earlier: CarryOver,
        server: Option<IpAddr>,
        assigned: Option<Arc<AssignedAgent>>,
    ) -> Result<Self, SurveyError> {
        let path = parts.storage.folder.journal(lease.order);
        parts.storage.check_not_replaced()?;
        let (journal, mut history) = Journal::open_with_keeper(&path, parts.storage.keeper.clone())?;
        let opened = Entry::Opened { run: parts.opened, at: parts.access.now() };
        journal.write(&opened)?;
        history.note(&opened);
        if let Some(assigned) = &assigned {
            journal.write(&Entry::WalkedBy { agent: assigned.name.clone() })?;
        }
        let rounds = VisitRounds::begin(&parts, lease.order, &journal, &mut history)?;
        let replay = Replay::open(&path)?;
        let now = parts.access.now();
        let began = history.began.unwrap_or(now);
        // The first request, moved forward by the time in which no request was due.
        let counts_from = history.began.map_or(now, |began| began + history.stopped_for);
        let spent = earlier.spent_of(parts.budget.account_of(lease.seed.into()));
        let scope = parts.boundaries.scope.tree_scope(&lease.site);
        let walk = Walk::new(
            parts.walk.clone(),
            scope,
            parts.boundaries.opt_outs.clone(),
            lease.start.clone(),
            earlier.known,
        );
        let walk = match parts.storage.memory(lease.site.as_str())? {
            Some(memory) => walk.with_memory(memory),
            None => walk,
        };
        Ok(Self {
            rounds,
            budget: SiteBudget::new(parts.budget, counts_from, parts.access.fetcher.max_bytes_over_limit())
                .after(spent)
                .with_lost(history.unanswered.count(), parts.access.fetcher.max_exchange_bytes()),
            earlier: spent,
            ended: history.outcome,
            suspects: history.unanswered.suspects().collect(),
            times_lost: history.unanswered.times(),
            journal: Arc::new(journal),
            in_flight: FuturesUnordered::new(),
            interruption: None,
            parts,
            lease,
            server,
            walk,
            fallbacks: Fallbacks::default(),
            retries: VecDeque::new(),
            began,
            replay,
            paused_until: None,
            redirect_pause: None,
            assigned,
        })
    }

    async fn run(mut self) -> Result<VisitOutcome, SurveyError> {
        loop {
            let next_step = self.send_requests()?;
            match self.in_flight.next().await {
                Some((crawl_delay, exchanged)) => match exchanged? {
                    ExchangeOutcome::Received(record) => self.take_response(*record),
                    ExchangeOutcome::Shared(record) => self.take_shared_response(*record),
                    ExchangeOutcome::Attempted(tried, next) => self.retry_at(next, tried, crawl_delay),
                    ExchangeOutcome::SurveySpent => self.interruption = Some(Interruption::SurveySpent),
                    ExchangeOutcome::Stopped => self.interruption = Some(Interruption::Stop),
                    ExchangeOutcome::Postponed(until) => {
                        self.interruption = Some(Interruption::PutOff(until));
                    }
                    ExchangeOutcome::AgentLeft => self.interruption = Some(Interruption::Move),
                },
                None if matches!(next_step, NextStep::Conclude) => return self.conclude(),
                None if matches!(next_step, NextStep::EndPart) => return self.end_part(),
                None => match self.interruption {
                    Some(Interruption::SurveySpent) => return self.end_part(),
                    Some(Interruption::PutOff(until)) => {
                        return Ok(VisitOutcome::Requeue(Requeue::PutOff(self.lease, until)));
                    }
                    Some(Interruption::Stop) => return Ok(VisitOutcome::Stopped),
                    Some(Interruption::Move) => return Ok(VisitOutcome::Requeue(Requeue::Again(self.lease))),
                    None => {
                        let site = &self.lease.site;
                        return Err(SurveyError::Broken(format!(
                            "the walk of {site} is stuck: it is not done, but no request is pending"
                        )));
                    }
                },
            }
        }
    }

    /// Begins as many exchanges as walk, budget and settings allow.
    fn send_requests(&mut self) -> Result<NextStep, SurveyError> {
        while self.interruption.is_none() && self.in_flight.len() < self.parts.settings.per_site as usize {
            if let Some(retry) = self.retries.pop_front() {
                if !self.part_allows() && !self.is_last_round() {
                    self.retries.push_front(retry);
                    return Ok(self.end_part_when_idle());
                }
                if self.is_last_round() {
                    self.accept(retry)?;
                    continue;
                }
                if !self.retry(retry)? {
                    return Ok(NextStep::Await);
                }
                continue;
            }
            if self.is_part_over() {
                if !self.in_flight.is_empty() {
                    return Ok(NextStep::Await);
                }
                self.walk.end_round();
            }
            let on_record = self.replay.on_record(self.walk.request_count())?;
            let is_new = on_record == OnRecord::Nothing;
            self.walk.expect_recorded(on_record);
            let (request, crawl_delay) = match self.walk.poll(self.parts.access.now()) {
                Step::Request(request, crawl_delay) => (request, crawl_delay),
                Step::Wait => return Ok(NextStep::Await),
                Step::RoundOver if self.go_on() => continue,
                Step::RoundOver => return Ok(NextStep::EndPart),
                Step::Done => return Ok(NextStep::Conclude),
            };
            if self.is_last_round() && self.replay.peek(request.number)?.is_none() {
                if !self.in_flight.is_empty() {
                    return Ok(NextStep::Await);
                }
                self.pass_over(&request, is_new);
                continue;
            }
            // A recorded exchange has already been spent, whatever the budget says now.
            if let Some(recorded) = self.replay.take(request.number)? {
                match recorded.request() {
                    Some(before) if *before != request => self.abandon_recorded(&before.url, &request),
                    _ => self.recall(&request, crawl_delay, recorded),
                }
                continue;
            }
            if let Some(outcome) = self.ended {
                self.walk.end(outcome);
                continue;
            }
            match self.budget.grant(self.parts.access.now(), self.parts.access.fetcher.max_exchange_bytes()) {
                BudgetDecision::Wait => return Ok(NextStep::Await),
                BudgetDecision::UsedUp(limit) => self.walk.end(outcome_of(limit)),
                BudgetDecision::Granted { byte_limit } => {
                    // A request between recorded responses is repeated unchanged: a different one would shift
                    // the requests after it.
                    let has_rules = is_new && request.purpose != Purpose::Robots;
                    let rules_until =
                        if has_rules { self.walk.rules_valid_until(&request.url) } else { None };
                    self.walk.begin(&request);
                    self.in_flight.push(self.exchange(request, crawl_delay, byte_limit, rules_until));
                }
            }
        }
        Ok(NextStep::Await)
    }

    /// Whether the walk must leave the part that it is in before it requests anything. In the last round it
    /// stays, so that what needs no request is decided.
    fn is_part_over(&mut self) -> bool {
        let may_go_on = self.part_allows() || self.is_last_round();
        !may_go_on || self.rounds.as_ref().is_some_and(VisitRounds::has_due)
    }

    /// Whether the tree may send one more request in its part of the round.
    fn part_allows(&mut self) -> bool {
        let counted = self.budget.counted();
        self.rounds.as_mut().is_none_or(|rounds| rounds.allows(counted))
    }

    /// Whether no further request is sent, because there is no further round.
    fn is_last_round(&self) -> bool {
        self.rounds.as_ref().is_some_and(VisitRounds::is_last)
    }

    /// In the last round: a request that is not on record is not sent. `is_new`: nothing later is on record.
    fn pass_over(&mut self, request: &Request, is_new: bool) {
        if is_new {
            return self.walk.end_round();
        }
        self.walk.begin(request);
        let response = Response::not_sent(self.parts.access.now(), None, Failure::HeldOff, None);
        self.walk.handle(request.number, response, Content::Nothing);
    }

    /// The result of a failed attempt becomes the result of its request: it is not sent again.
    fn accept(&mut self, retry: Retry) -> Result<(), SurveyError> {
        accept_failed_try(&self.parts, &self.journal, self.lease.order, &retry.tried)?;
        self.merge_into_walk(*retry.tried.record);
        Ok(())
    }

    /// Goes on with the next part in a round, or to the end. Returns false if there is neither yet.
    fn go_on(&mut self) -> bool {
        self.rounds.as_mut().is_some_and(|rounds| rounds.go_on(&mut self.walk))
    }

    /// The part ends once nothing is in flight.
    fn end_part_when_idle(&self) -> NextStep {
        if self.in_flight.is_empty() { NextStep::EndPart } else { NextStep::Await }
    }

    /// Sends a failed request again with a fallback if the budget allows it. Returns false if the budget
    /// cannot decide yet.
    fn retry(&mut self, retry: Retry) -> Result<bool, SurveyError> {
        let Retry { tried, crawl_delay } = retry;
        match self.budget.grant(self.parts.access.now(), self.parts.access.fetcher.max_exchange_bytes()) {
            BudgetDecision::Wait => {
                self.retries.push_front(Retry { tried, crawl_delay });
                return Ok(false);
            }
            BudgetDecision::UsedUp(limit) => {
                self.accept(Retry { tried, crawl_delay })?;
                self.walk.end(outcome_of(limit));
            }
            BudgetDecision::Granted { byte_limit } => {
                let ExchangeRecord { request, response, .. } = *tried.record;
                self.walk.tried(request.number, response);
                self.in_flight.push(self.exchange(request, crawl_delay, byte_limit, None));
            }
        }
        Ok(true)
    }

    /// Replays the record of a request. If the record ends with a failed attempt, the visit continues from
    /// there.
    fn recall(&mut self, request: &Request, crawl_delay: Option<Duration>, recorded: RecordedResult) {
        self.walk.begin(request);
        let RecordedResult { mut tries, last_try_at, response, is_shared } = recorded;
        let last = if response.is_none() { tries.pop() } else { None };
        for tried in tries {
            self.budget.recall();
            self.budget.book(tried.response.wire);
            self.fallbacks.note_failed_try(&tried);
            self.walk.tried(request.number, tried.response);
        }
        self.budget.recall();
        if let Some(record) = response {
            if is_shared { self.take_shared_response(record) } else { self.take_response(record) }
        } else if let Some(tried) = last {
            let (parts, journal, site) = (self.parts.clone(), self.journal.clone(), self.lease.site.clone());
            let (tree, fallbacks, recorded_at) =
                (self.lease.order, self.fallbacks.clone(), AtomicU64::default());
            let tried = FailedTry { record: Box::new(tried), at: last_try_at };
            self.in_flight.push(Box::pin(async move {
                let requester = Requester {
                    parts: &parts,
                    journal: &journal,
                    site: &site,
                    tree,
                    assigned: None,
                    recorded_at,
                };
                (crawl_delay, requester.try_fallback(fallbacks, tried).await)
            }));
        }
    }

    /// Sends the request again to this address, which may be the same one. If it is a different address of
    /// the start URL's host, the visit moves to that server first.
    fn retry_at(&mut self, address: IpAddr, tried: FailedTry, crawl_delay: Option<Duration>) {
        self.budget.book(tried.record.response.wire);
        self.fallbacks.note_failed_try(&tried.record);
        let (url, start) = (&tried.record.request.url, &self.lease.start);
        let is_start = url.host() == start.host() && url.port() == start.port();
        if is_start && self.server != Some(address) {
            self.interruption.get_or_insert(Interruption::Move);
        }
        self.retries.push_back(Retry { tried, crawl_delay });
    }

    fn exchange(
        &self,
        request: Request,
        crawl_delay: Option<Duration>,
        byte_limit: u64,
        rules_until: Option<SystemTime>,
    ) -> InFlight {
        let (parts, journal, site) = (self.parts.clone(), self.journal.clone(), self.lease.site.clone());
        let (tree, ends, fallbacks) = (self.lease.order, self.budget.deadline(), self.fallbacks.clone());
        let latest_turn = ends.unwrap_or_else(|| self.parts.access.now() + LONGEST_HOLD);
        let is_suspect = self.suspects.contains(&request.number);
        let times_lost = self.times_lost.get(&request.number).copied().unwrap_or_default();
        let (not_before, redirect_pause, assigned) =
            (self.paused_until, self.redirect_pause, self.assigned.clone());
        let wanted = WantedExchange {
            request,
            crawl_delay,
            byte_limit,
            not_before,
            redirect_pause,
            latest_turn,
            ends,
            fallbacks,
            rules_valid_until: rules_until,
            is_suspect,
            times_lost,
        };
        Box::pin(async move {
            let assigned = assigned.as_ref();
            let recorded_at = AtomicU64::default();
            let requester =
                Requester { parts: &parts, journal: &journal, site: &site, tree, assigned, recorded_at };
            let exchanged = match wanted.request.purpose {
                Purpose::Robots => Box::pin(requester.robots(wanted)).await,
                _ => requester.exchange(wanted).await,
            };
            if let (Some(assigned), Ok(ExchangeOutcome::Received(record))) = (assigned, &exchanged)
                && record.response.was_sent()
            {
                assigned.read().await;
            }
            (crawl_delay, exchanged)
        })
    }

    /// The settings have changed since these responses were recorded, so the walk would now send a different
    /// request. It ends with what it has, instead of fetching again.
    fn abandon_recorded(&mut self, recorded: &WebUrl, request: &Request) {
        tracing::warn!(
            site = self.lease.site.as_str(),
            recorded = recorded.as_str(),
            now = request.url.as_str(),
            "the settings have changed: the walk of this site ends"
        );
        self.walk.end(Outcome::Interrupted);
    }

    /// Makes the site wait as long as this server pauses, up to the maximum delay. Longer pauses, caused by
    /// other sites at the server or by its trouble, do not concern this site.
    fn pause_site_with(&mut self, address: IpAddr) {
        let longest = self.parts.access.now() + self.parts.settings.max_delay.0;
        let free_at = self.parts.access.load().free_at(address);
        self.paused_until = self.paused_until.max(free_at.map(|time| time.min(longest)));
    }

    fn take_response(&mut self, record: ExchangeRecord) {
        let is_at_work = record.response.failure.is_some_and(Failure::may_leave_server_busy);
        if let Some(address) = record.response.address.filter(|_| is_at_work) {
            self.pause_site_with(address);
        }
        self.redirect_pause = self.redirect_pause.max(pause_before_redirected_request(&record.response));
        self.budget.book(record.response.wire);
        self.fallbacks.note(&record);
        self.merge_into_walk(record);
    }

    /// The response counts toward the budget of this tree too, so that the cost of a tree does not depend on
    /// which tree sent the request.
    fn take_shared_response(&mut self, record: ExchangeRecord) {
        self.budget.book(record.response.wire);
        self.walk.handle_shared(record.request.number, record.response, record.content);
    }

    fn merge_into_walk(&mut self, record: ExchangeRecord) {
        let failure = record.response.failure;
        let (response, content) = (record.response, record.content);
        #[cfg(feature = "hazards")]
        let (response, content) =
            super::reading::hazards::response_for_walk(&record.request, response, content);
        self.walk.handle(record.request.number, response, content);
        match failure {
            Some(Failure::HeldOff) => self.walk.end(Outcome::TimeBudget),
            Some(Failure::ServerBudget) => self.walk.end(Outcome::RequestBudget),
            _ => {}
        }
    }

    /// The tree waits for the next round. What the walk knows is in the journal.
    fn end_part(mut self) -> Result<VisitOutcome, SurveyError> {
        // If a request is to be sent again, the walk is not between rounds. It is not used any more.
        self.walk.end_round();
        let mut waiting = self.walk.waiting();
        waiting.certain += u32::try_from(self.retries.len()).unwrap_or(u32::MAX);
        let part = self.ended_part(Some(&waiting))?;
        Ok(VisitOutcome::PartEnded(part.unwrap_or_default()))
    }

    fn ended_part(&self, waiting: Option<&Waiting>) -> Result<Option<EndedPart>, SurveyError> {
        let Some(rounds) = &self.rounds else { return Ok(None) };
        rounds::ended_part(&self.parts, rounds, &self.walk, self.budget.counted(), waiting).map(Some)
    }

    fn conclude(self) -> Result<VisitOutcome, SurveyError> {
        let ended = self.parts.access.now();
        let spent = self.budget.spent(self.parts.budget.account_of(self.lease.seed.into()), ended);
        let part = self.ended_part(None)?;
        let (tree, known) = self.walk.conclude();
        if self.parts.settings.seeds_per_site > 1 && self.ended.is_none() {
            self.journal.write(&Entry::Ended { outcome: tree.outcome })?;
        }
        let (earlier, carried_over) = (self.earlier, CarryOver { known, spent });
        let done =
            ConcludedTree { lease: self.lease, tree, earlier, carried_over, part, began: self.began, ended };
        Ok(VisitOutcome::Done(DoneTree::Finished(Box::new(done))))
    }
}

/// The time until which a redirect demands a pause before its target is requested.
fn pause_before_redirected_request(response: &Response) -> Option<SystemTime> {
    #[cfg(feature = "hazards")]
    let response = &super::reading::hazards::response_for_load(response);
    let pause = response.head.retry_after.filter(|_| response.is_redirect())?;
    response.ended().checked_add(pause)
}

fn outcome_of(limit: SpentBudget) -> Outcome {
    match limit {
        SpentBudget::Requests => Outcome::RequestBudget,
        SpentBudget::Bytes => Outcome::ByteBudget,
        SpentBudget::Time => Outcome::TimeBudget,
    }
}
