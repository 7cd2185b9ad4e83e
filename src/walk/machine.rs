use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::decide::Decision;
use super::entrance::{Entering, Entrance};
use super::evidence::Evidence;
use super::merge::Waiting;
use super::mirrors::Mirrors;
use super::origins::Origins;
use super::probe::Probes;
use super::tree::External;
use super::{Class, LevelCount, Outcome, Settings};
use crate::address::{Host, OptOuts, PageKey, Scope, ScriptKey, Site, WebUrl};
use crate::exchange::{Answer, Ask, Depth, Purpose};
use crate::page::{MAX_LINKS, Page};

/// The walk of one site, from its start URL to its [`Tree`].
///
/// The driver's loop: `poll`; on [`Step::Ask`] either `begin` and put the question, or `end` the
/// walk; hand every answer to `handle`; on [`Step::Done`], `conclude`.
pub struct Walk {
    pub(super) settings: Arc<Settings>,
    pub(super) scope: Scope,
    pub(super) opt_out: Arc<OptOuts>,
    pub(super) origins: Origins,
    pub(super) entering: Entering,
    /// What is known of every internal URL found.
    pub(super) known: HashMap<PageKey, Place>,
    pub(super) scripts: HashMap<ScriptKey, u32>,
    pub(super) depth: Depth,
    /// The level that is being walked, in the order its URLs were found.
    pub(super) list: Vec<Entry>,
    pub(super) turn: usize,
    /// What the level's pages link to, in the order found: the next level.
    pub(super) found: Vec<WebUrl>,
    /// Asked and not merged yet, in the order asked.
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) asked: u32,
    pub(super) ending: Option<Outcome>,
    pub(super) failures: u32,
    pub(super) quiet_levels: u16,
    pub(super) page_answered: bool,
    pub(super) opted_out: bool,
    pub(super) recorded: OnRecord,
    /// The time of the last poll.
    pub(super) now: SystemTime,
    /// Bytes of the URLs found.
    pub(super) url_bytes: usize,
    pub(super) moved: bool,
    pub(super) is_full: bool,
    pub(super) levels: Vec<LevelCount>,
    pub(super) robots: LevelCount,
    pub(super) seen_external: Seen,
    pub(super) externals: Vec<External>,
    pub(super) first_answer: Option<(std::net::IpAddr, Option<String>)>,
    pub(super) evidence: Evidence,
    pub(super) mirrors: Mirrors,
    pub(super) probes: Probes,
}

/// What is on record of the next question.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OnRecord {
    /// It is asked for the first time, or its answer was lost and nothing later is on record.
    #[default]
    Nothing,
    /// An earlier run put it and heard what came of it.
    Asked(Ask),
    /// Its answer was lost, and that to a later question is on record.
    Lost,
}

impl OnRecord {
    pub(super) fn asked(&self) -> Option<&Ask> {
        if let Self::Asked(ask) = self { Some(ask) } else { None }
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Put this question, with at least so long a pause between requests if the host asks for one.
    /// Polling again gives the same question until [`Walk::begin`], or a robots.txt that has grown old meanwhile.
    Ask(Ask, Option<Duration>),
    /// An answer in flight decides what is next.
    Wait,
    /// The tree is finished.
    Done,
}

/// What an answer carried for the walk, beside its head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Content {
    #[default]
    Nothing,
    Page(Box<Page>),
    Robots(Vec<u8>),
}

/// What earlier trees of the same site know: such pages are not fetched again, such scripts are
/// used up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    pub pages: HashSet<PageKey>,
    pub scripts: HashMap<ScriptKey, u32>,
}

/// Where an internal URL stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// Only `nofollow` links lead to it so far.
    Shunned,
    /// It stands in the list of the next level.
    Found,
    /// It stands in the list of this level or an earlier one.
    Listed,
    /// An earlier tree of the site had it.
    Earlier,
}

impl Place {
    /// Whether its turn has come, or will without anything else happening.
    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::Listed | Self::Earlier)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub url: WebUrl,
    /// Redirects that led here.
    pub redirects: u8,
    /// How often it was asked for already because the server said when to come back.
    pub retries: u8,
    /// The same page under another spelling or another time: its URL has its class already.
    pub again: bool,
    /// HEAD was asked already: the answer says HTML, or could not say.
    pub probed: bool,
    /// At level 0, the entrance that it is or that redirects led from.
    pub entrance: Option<Entrance>,
    /// What was read so far says that it is not worth asking for.
    pub kept: Option<Class>,
    /// Schemes under which the page was asked for in this chain of redirects.
    pub schemes: Schemes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Schemes {
    pub http: bool,
    pub https: bool,
}

/// External URLs, hosts and sites already met in this tree.
#[derive(Default)]
pub(super) struct Seen {
    pub urls: HashSet<PageKey>,
    pub hosts: HashSet<Host>,
    pub sites: HashSet<Site>,
}

impl Entry {
    pub(super) fn new(url: WebUrl) -> Self {
        Self {
            url,
            redirects: 0,
            retries: 0,
            again: false,
            probed: false,
            entrance: None,
            kept: None,
            schemes: Schemes::default(),
        }
    }

    /// Whether it is an entrance itself and not what one redirects to.
    pub(super) fn is_entrance(&self) -> bool {
        self.entrance.is_some() && self.redirects == 0
    }
}

impl Walk {
    /// A walk from `start`; `known` is what earlier trees of the site have reached.
    #[must_use]
    pub fn new(
        settings: Arc<Settings>,
        scope: Scope,
        opt_out: Arc<OptOuts>,
        start: WebUrl,
        known: Known,
    ) -> Self {
        let mut places: HashMap<_, _> = known.pages.into_iter().map(|key| (key, Place::Earlier)).collect();
        places.insert(start.page_key(), Place::Listed);
        Self {
            entering: Entering::new(settings.entrances, &scope, &start),
            settings,
            scope,
            opt_out,
            origins: Origins::default(),
            known: places,
            scripts: known.scripts,
            depth: Depth(0),
            list: vec![Entry { entrance: Some(Entrance::Offered), ..Entry::new(start) }],
            turn: 0,
            found: Vec::new(),
            waiting: VecDeque::new(),
            asked: 0,
            ending: None,
            failures: 0,
            quiet_levels: 0,
            page_answered: false,
            opted_out: false,
            recorded: OnRecord::Nothing,
            now: SystemTime::UNIX_EPOCH,
            url_bytes: 0,
            moved: false,
            is_full: false,
            levels: vec![LevelCount::default()],
            robots: LevelCount::default(),
            seen_external: Seen::default(),
            externals: Vec::new(),
            first_answer: None,
            evidence: Evidence::default(),
            mirrors: Mirrors::default(),
            probes: Probes::default(),
        }
    }

    /// The level that is being walked.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Questions asked and not merged yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.waiting.len()
    }

    /// How many questions were asked: the number of the next.
    #[must_use]
    pub fn asked(&self) -> u32 {
        self.asked
    }

    /// Says what is on record of the next question. A host that was asked then and has opted out since is let
    /// through for it, for its answer is on record and nothing will be sent.
    pub fn expect_recorded(&mut self, next: OnRecord) {
        self.recorded = next;
    }

    /// Until when the robots.txt for a URL may be gone by: the question that is put next is not to be put later.
    #[must_use]
    pub fn rules_good_until(&self, url: &WebUrl) -> Option<SystemTime> {
        self.origins.good_until(url, self.asked)
    }

    /// What is to be done next. The time decides over one thing only: whether a robots.txt is so old that it is to
    /// be asked for again before its host is asked for anything else.
    pub fn poll(&mut self, now: SystemTime) -> Step {
        self.now = now;
        loop {
            if self.ending.is_some() {
                return self.probe();
            }
            if self.turn < self.list.len() {
                if self.an_answer_in_flight_may_end_the_walk() {
                    return Step::Wait;
                }
                match self.decide() {
                    Decision::Ask(ask, delay) => return Step::Ask(ask, delay),
                    Decision::Wait => return Step::Wait,
                    Decision::Not(class) => self.pass(class),
                }
            } else if self.waiting.is_empty() {
                self.finish_level();
            } else {
                return Step::Wait;
            }
        }
    }

    /// The question that `poll` gave is being put.
    pub fn begin(&mut self, ask: &Ask) {
        debug_assert_eq!(ask.number, self.asked);
        self.asked += 1;
        if ask.purpose == Purpose::Robots {
            self.origins.begin();
            self.waiting.push_back(Waiting::outside_the_tree(ask));
            return;
        }
        if ask.purpose == Purpose::Probe {
            self.begin_probe();
            self.waiting.push_back(Waiting::outside_the_tree(ask));
            return;
        }
        let entry = &mut self.list[self.turn];
        if ask.url.is_https() {
            entry.schemes.https = true;
        } else {
            entry.schemes.http = true;
        }
        let entry = entry.clone();
        if let Some(script) = ask.url.script()
            && !entry.again
        {
            *self.scripts.entry(script).or_default() += 1;
        }
        if entry.again
            && let Some(class) = self.entering.take_kept(&entry.url)
        {
            self.level().recount(class, Class::Fetched);
        }
        self.waiting.push_back(Waiting::page(ask, entry));
        self.pass(Class::Fetched);
    }

    /// What came of a try at a question that is being put in another way: load of its level, and nothing else.
    pub fn tried(&mut self, number: u32, answer: Answer) {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.number == number) {
            waiting.tries.push(answer);
        }
    }

    /// What came of a question. Answers may come in any order; they are merged in the order asked.
    pub fn handle(&mut self, number: u32, answer: Answer, content: Content) {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.number == number) {
            waiting.answer = Some((answer, content));
        }
        while self.waiting.front().is_some_and(|waiting| waiting.answer.is_some()) {
            if let Some(waiting) = self.waiting.pop_front() {
                self.merge(waiting);
            }
        }
        if self.failures >= self.settings.max_failures {
            // A page is asked for only where robots.txt was answered.
            let has_entered = self.levels[0].pages > 0;
            self.end(if has_entered { Outcome::Unreachable } else { Outcome::NoPage });
        }
        if self.is_full {
            self.end(Outcome::Trap);
        }
    }

    /// Ends the walk: nothing more is asked, answers in flight are still merged.
    pub fn end(&mut self, why: Outcome) {
        match self.ending {
            Some(_) => self.end_probes(),
            None => self.ending = Some(why),
        }
    }

    pub(super) fn level(&mut self) -> &mut LevelCount {
        let at = usize::from(self.depth.0);
        &mut self.levels[at]
    }

    /// The URL whose turn it is has its class; the next one's turn comes.
    fn pass(&mut self, class: Class) {
        let Entry { url, again, .. } = &self.list[self.turn];
        if self.depth == Depth(0) && class != Class::Fetched {
            self.entering.note_kept(url, *again, class);
        }
        if !again {
            self.level().count(class);
        }
        self.turn += 1;
    }

    /// A question is asked ahead of earlier answers only where none of them could have ended the
    /// walk, so that the questions asked do not depend on how many may be in flight.
    fn an_answer_in_flight_may_end_the_walk(&self) -> bool {
        let ahead = self.waiting.len();
        let urls = self.known.len() + self.seen_external.urls.len();
        ahead > 0
            && (self.failures as usize + ahead >= self.settings.max_failures as usize
                || urls + ahead * MAX_LINKS >= self.settings.max_urls)
    }
}
