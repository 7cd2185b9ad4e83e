use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;

use super::error::SurveyError;
use super::exchange::{Exchanged, Wanted, exchange};
use super::journal::{Entry, Heard, Journal};
use super::own_link;
use super::parts::Parts;
use super::places::Spot;
use super::replay::Replay;
use crate::exchange::{Ask, Failure};
use crate::frontier::Lease;
use crate::load::{Grant, Limit, SiteBudget};
use crate::walk::{Known, Outcome, Step, Tree, Walk};

/// A server that wants to be left alone for longer than this ends its site where sites have no time budget.
const LONGEST_HOLD: Duration = Duration::from_secs(7 * 24 * 3600);

/// A visit that has ended.
pub(super) struct Ended {
    /// The tree that was visited.
    pub order: u64,
    /// The server that the visit had taken.
    pub server: Option<IpAddr>,
    pub visited: Visited,
}

/// What came of a visit.
pub(super) enum Visited {
    /// The site tree is finished; its journal holds its exchanges.
    Finished(Box<Concluded>),
    /// An earlier tree of the site has reached this start URL already: there is no tree.
    Reached(Lease),
    /// As many visits as may ask its server, or the neighbourhood of it, at once are there already.
    Parked(Lease, Spot),
    /// The server wants to be left alone until this time.
    PutOff(Lease, SystemTime),
    /// The survey is being stopped.
    Stopped,
}

pub(super) struct Concluded {
    pub lease: Lease,
    pub tree: Tree,
    pub known: Known,
    pub began: SystemTime,
    pub ended: SystemTime,
}

/// Walks one site tree, from where its journal ends.
///
/// The visit takes the server of the start URL first. Were sites on one server visited at once, all but one
/// would only wait for their turns there, and before long every place would be taken by one who waits.
pub(super) async fn visit(parts: Arc<Parts>, lease: Lease) -> Result<Ended, SurveyError> {
    let order = lease.order;
    let known = if lease.seed == 0 { Known::default() } else { known_before(&parts, &lease)? };
    if known.pages.contains(&lease.start.page_key()) {
        return Ok(Ended { order, server: None, visited: Visited::Reached(lease) });
    }
    let Some(located) = own_link::locate(&parts, lease.start.host()).await else {
        return Ok(Ended { order, server: None, visited: Visited::Stopped });
    };
    let server = located.address.ok();
    if let Some(address) = server
        && let Err(full) = parts.places().take(address)
    {
        return Ok(Ended { order, server: None, visited: Visited::Parked(lease, full) });
    }
    let visited = Visit::open(parts, lease, known)?.run().await?;
    Ok(Ended { order, server, visited })
}

/// What the earlier trees of the site know.
fn known_before(parts: &Parts, lease: &Lease) -> Result<Known, SurveyError> {
    let stored = parts.frontier().known(&lease.site)?;
    Ok(stored.and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default())
}

struct Visit {
    parts: Arc<Parts>,
    lease: Lease,
    walk: Walk,
    budget: SiteBudget,
    began: SystemTime,
    /// When its time began to count: later than the walk by the time between the runs of the survey.
    counts_from: SystemTime,
    replay: Replay,
    journal: Arc<Mutex<Journal>>,
    flying: FuturesUnordered<BoxFuture<'static, Result<Exchanged, SurveyError>>>,
    /// A question that could not be asked now, for the survey stops or the server wants a long pause.
    hindered: Option<Hindrance>,
}

enum Hindrance {
    Stop,
    PutOff(SystemTime),
}

impl Visit {
    fn open(parts: Arc<Parts>, lease: Lease, known: Known) -> Result<Self, SurveyError> {
        let path = parts.folder.journal(lease.order);
        let (mut journal, mut past) = Journal::open(&path)?;
        let opened = Entry::Opened { run: parts.opened, at: parts.now() };
        journal.write(&opened)?;
        past.note(&opened);
        let replay = Replay::open(&path)?;
        let began = past.began.unwrap_or_else(|| parts.now());
        let counts_from = began + past.between;
        let scope = parts.reach.scope_of(&lease.site);
        let walk = Walk::new(parts.walk.clone(), scope, parts.opt_out.clone(), lease.start.clone(), known);
        Ok(Self {
            budget: SiteBudget::new(parts.budget, counts_from, parts.fetcher.beyond_limit())
                .with_lost(past.unanswered.count(), parts.fetcher.most_bytes()),
            journal: Arc::new(Mutex::new(journal)),
            flying: FuturesUnordered::new(),
            hindered: None,
            parts,
            lease,
            walk,
            began,
            counts_from,
            replay,
        })
    }

    async fn run(mut self) -> Result<Visited, SurveyError> {
        loop {
            let is_done = self.ask_what_may_be_asked()?;
            match self.flying.next().await {
                Some(exchanged) => match exchanged? {
                    Exchanged::Heard(heard) => self.hear(*heard),
                    Exchanged::Stopped => self.hindered = Some(Hindrance::Stop),
                    Exchanged::PutOff(until) => self.hindered = Some(Hindrance::PutOff(until)),
                },
                None if is_done => return Ok(self.conclude()),
                None => match self.hindered {
                    Some(Hindrance::PutOff(until)) => return Ok(Visited::PutOff(self.lease, until)),
                    Some(Hindrance::Stop) => return Ok(Visited::Stopped),
                    None => {
                        let site = &self.lease.site;
                        return Err(SurveyError::Broken(format!("the walk of {site} waits for nothing")));
                    }
                },
            }
        }
    }

    /// Begins exchanges as far as walk, budget and settings allow; says whether the walk is done.
    fn ask_what_may_be_asked(&mut self) -> Result<bool, SurveyError> {
        while self.hindered.is_none() && self.flying.len() < self.parts.settings.per_site as usize {
            let next = self.replay.peek(self.walk.asked())?.map(|heard| heard.ask.url.clone());
            self.walk.expect_recorded(next);
            let (ask, crawl_delay) = match self.walk.poll() {
                Step::Ask(ask, crawl_delay) => (ask, crawl_delay),
                Step::Wait => return Ok(false),
                Step::Done => return Ok(true),
            };
            // What is recorded has been spent, whatever the budget says by now.
            if let Some(heard) = self.replay.take(ask.number)? {
                if heard.ask != ask {
                    self.break_off(&heard, &ask);
                    continue;
                }
                self.walk.begin(&ask);
                self.budget.recall();
                self.hear(heard);
                continue;
            }
            match self.budget.grant(self.parts.now(), self.parts.fetcher.most_bytes()) {
                Grant::Wait => return Ok(false),
                Grant::Spent(limit) => {
                    self.walk.end(outcome_of(limit));
                    continue;
                }
                Grant::Go { byte_limit } => {
                    self.walk.begin(&ask);
                    self.flying.push(self.exchange(ask, crawl_delay, byte_limit));
                }
            }
        }
        Ok(false)
    }

    fn exchange(
        &self,
        ask: Ask,
        crawl_delay: Option<Duration>,
        byte_limit: u64,
    ) -> BoxFuture<'static, Result<Exchanged, SurveyError>> {
        let (parts, journal, site) = (self.parts.clone(), self.journal.clone(), self.lease.site.clone());
        let wanted = Wanted { ask, crawl_delay, byte_limit, deadline: self.deadline() };
        Box::pin(async move { exchange(&parts, &journal, &site, wanted).await })
    }

    /// The settings have changed since these answers were recorded, and the walk would ask something else
    /// now: it ends with what it has, rather than ask again.
    fn break_off(&mut self, heard: &Heard, ask: &Ask) {
        tracing::warn!(
            site = self.lease.site.as_str(),
            recorded = heard.ask.url.as_str(),
            now = ask.url.as_str(),
            "settings have changed"
        );
        self.walk.end(Outcome::Interrupted);
    }

    /// When the time of the site is over at the latest.
    fn deadline(&self) -> SystemTime {
        match self.parts.budget.time {
            Some(time) => self.counts_from + time,
            None => self.parts.now() + LONGEST_HOLD,
        }
    }

    fn hear(&mut self, heard: Heard) {
        self.budget.book(heard.answer.wire);
        let failure = heard.answer.failure;
        self.walk.handle(heard.ask.number, heard.answer, heard.content);
        match failure {
            Some(Failure::HeldOff) => self.walk.end(Outcome::TimeBudget),
            Some(Failure::ServerBudget) => self.walk.end(Outcome::RequestBudget),
            _ => {}
        }
    }

    fn conclude(self) -> Visited {
        let ended = self.parts.now();
        let (tree, known) = self.walk.conclude();
        Visited::Finished(Box::new(Concluded { lease: self.lease, tree, known, began: self.began, ended }))
    }
}

fn outcome_of(limit: Limit) -> Outcome {
    match limit {
        Limit::Requests => Outcome::RequestBudget,
        Limit::Bytes => Outcome::ByteBudget,
        Limit::Time => Outcome::TimeBudget,
    }
}
