use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;

use super::error::SurveyError;
use super::exchange::{Exchanged, exchange};
use super::journal::{Heard, Journal, Replay};
use super::parts::Parts;
use crate::exchange::Ask;
use crate::frontier::Lease;
use crate::load::{Grant, Limit, SiteBudget};
use crate::walk::{Known, Outcome, Step, Tree, Walk};

/// A visit that has ended.
pub(super) struct Ended {
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
    /// As many visits as may ask its server at once are at that server already.
    Parked(Lease, IpAddr),
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
    let known = if lease.seed == 0 { Known::default() } else { known_before(&parts, &lease)? };
    if known.pages.contains(&lease.start.page_key()) {
        return Ok(Ended { server: None, visited: Visited::Reached(lease) });
    }
    let server = parts.fetcher.locate(lease.start.host()).await.address.ok();
    if let Some(address) = server
        && !parts.take_server(address)
    {
        return Ok(Ended { server: None, visited: Visited::Parked(lease, address) });
    }
    let visited = Visit::open(parts, lease, known)?.run().await?;
    Ok(Ended { server, visited })
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
        let journal = Journal::open(&path)?;
        let mut replay = Replay::open(&path)?;
        // Reads up to the first answer, and with it the time when the walk began.
        if let Some(first) = replay.take(0)? {
            replay.put_back(first);
        }
        let began = replay.began.unwrap_or_else(|| parts.now());
        let scope = parts.reach.scope_of(&lease.site);
        let walk = Walk::new(parts.walk.clone(), scope, parts.opt_out.clone(), lease.start.clone(), known);
        Ok(Self {
            budget: SiteBudget::new(parts.budget, began),
            journal: Arc::new(Mutex::new(journal)),
            flying: FuturesUnordered::new(),
            hindered: None,
            parts,
            lease,
            walk,
            began,
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
                    _ => return Ok(Visited::Stopped),
                },
            }
        }
    }

    /// Begins exchanges as far as walk, budget and settings allow; says whether the walk is done.
    fn ask_what_may_be_asked(&mut self) -> Result<bool, SurveyError> {
        while self.hindered.is_none() && self.flying.len() < self.parts.settings.per_site as usize {
            let (ask, crawl_delay) = match self.walk.poll() {
                Step::Ask(ask, crawl_delay) => (ask, crawl_delay),
                Step::Wait => return Ok(false),
                Step::Done => return Ok(true),
            };
            match self.budget.grant(self.parts.now(), self.parts.fetcher.most_bytes()) {
                Grant::Wait => return Ok(false),
                Grant::Spent(limit) => {
                    self.walk.end(outcome_of(limit));
                    continue;
                }
                Grant::Go { byte_limit } => {
                    self.walk.begin(&ask);
                    if let Some(heard) = self.recorded(&ask)? {
                        self.hear(heard);
                    } else {
                        self.flying.push(self.exchange(ask, crawl_delay, byte_limit));
                    }
                }
            }
        }
        Ok(false)
    }

    fn exchange(
        &self,
        ask: Ask,
        crawl_delay: Option<std::time::Duration>,
        byte_limit: u64,
    ) -> BoxFuture<'static, Result<Exchanged, SurveyError>> {
        let (parts, journal, site) = (self.parts.clone(), self.journal.clone(), self.lease.site.clone());
        Box::pin(async move { exchange(&parts, &journal, &site, ask, crawl_delay, byte_limit).await })
    }

    /// The answer that an earlier run recorded for this question.
    fn recorded(&mut self, ask: &Ask) -> Result<Option<Heard>, SurveyError> {
        let heard = self.replay.take(ask.number)?;
        match heard {
            Some(heard) if heard.ask != *ask => Err(SurveyError::Journal {
                path: self.parts.folder.journal(self.lease.order),
                what: format!("question {} was {} and is now {}", ask.number, heard.ask.url, ask.url),
            }),
            heard => Ok(heard),
        }
    }

    fn hear(&mut self, heard: Heard) {
        self.budget.book(heard.answer.wire);
        self.walk.handle(heard.ask.number, heard.answer, heard.content);
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
