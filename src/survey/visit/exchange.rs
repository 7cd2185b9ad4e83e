use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::own_link::{self, Link, NoPass, Pass};
use super::turn::{HeldPermit, NoTurn, turn};
use super::ways::Ways;
use crate::address::{OBEYED_WITHIN, Site, WebUrl};
use crate::exchange::{Answer, Ask, Failure, Purpose};
use crate::fetch::Manner;
use crate::load::Blame;
use crate::promises::{Fact, Wishes, is_quiet};
use crate::settings::LONGEST_WAIT;
use crate::survey::agents::Desk;
use crate::survey::agents::hands::{FRESH, Order, Put};
use crate::survey::earlier::EarlierPage;
use crate::survey::error::SurveyError;
use crate::survey::journal::Journal;
use crate::survey::journal::entry::{Entry, Heard};
use crate::survey::parts::Parts;
use crate::survey::parts::access::{Access, asked_to_stop};
use crate::survey::parts::shared_robots::{Claimed, Recorded};
use crate::survey::reading::foresight::Awaited;
use crate::survey::reading::quarantine::{Body, Received};

/// An exchange that a walk wants.
pub(in crate::survey) struct Wanted {
    pub ask: Ask,
    pub crawl_delay: Option<Duration>,
    pub byte_limit: u64,
    /// Another server of the site may be at work until then.
    pub not_before: Option<SystemTime>,
    /// A redirect asked for a pause until then.
    pub redirect_pause: Option<SystemTime>,
    /// A server that cannot be asked before this time is not waited for.
    pub deadline: SystemTime,
    pub ways: Ways,
    /// From then on the walk would ask for robots.txt first.
    pub good_until: Option<SystemTime>,
    /// A process died when it read the answer.
    pub is_suspect: bool,
    /// How often it was sent without an answer on record.
    pub times_lost: usize,
}

/// What came of wanting an exchange.
pub(in crate::survey) enum Exchanged {
    /// It happened, and its answer is in the journal.
    Heard(Box<Heard>),
    /// Another tree got the response for this robots.txt, and it is in the journal: nothing was asked.
    Shared(Box<Heard>),
    /// It brought nothing, as the journal says; it can be put again at this address, another one or the same.
    Tried(Try, IpAddr),
    /// The server is not to be asked before this time, which is too far to wait for.
    PutOff(SystemTime),
    /// The survey is being stopped; nothing was asked.
    Stopped,
    /// The agent that was to ask is gone.
    Left,
}

/// What came of a request that can be sent in another way.
pub(in crate::survey) struct Try {
    pub heard: Box<Heard>,
    /// Where it begins in the journal.
    pub at: u64,
}

/// What an exchange in flight is given to end when the survey is being stopped.
const GRACE: Duration = Duration::from_secs(5);

/// A request that was lost so often is not given up once more because this process stood still.
const MOST_LOST: usize = 3;

/// Where there are several agents, a request that broke off or brought nothing is sent again so often because nobody knows whether
/// the link of its agent worked.
const MOST_DOUBTS: usize = 2;

/// What asks: a visit of this site, which writes this journal.
pub(in crate::survey) struct Asking<'a> {
    pub parts: &'a Parts,
    pub journal: &'a Journal,
    pub site: &'a Site,
    /// The number of the tree.
    pub tree: u64,
    /// The agent that walks the tree; none: this process does.
    pub desk: Option<&'a Arc<Desk>>,
    /// Where what came of the last question begins in the journal.
    pub recorded_at: AtomicU64,
}

/// A server whose turn has come.
struct Ready<'a> {
    address: IpAddr,
    /// What it took to look the name up.
    dns: Option<Duration>,
    /// The agent that sends the request; none: this process.
    sender: Option<Arc<Desk>>,
    pass: Pass<'a>,
    permit: HeldPermit<'a>,
    /// The answer, in a simulation.
    foreseen: Option<Awaited<'a>>,
}

/// A request that brought nothing.
struct Failed<'a> {
    sender: Option<&'a Arc<Desk>>,
    link: &'a Link<'a>,
    answer: &'a Answer,
    at: SystemTime,
    /// Nothing tells that its link worked while nothing came.
    was_dark: bool,
}

/// What was dispatched to an agent.
struct Dispatched {
    time: SystemTime,
    /// The version of the opt-out list by which it may be sent.
    opt_outs: u64,
    /// Quiet hours begin, or its robots.txt is a day old, before it would be too old.
    is_cut_short: bool,
}

/// What a server answered, before it is read.
struct Answered<'a> {
    address: IpAddr,
    permit: HeldPermit<'a>,
    received: Received,
}

/// Why an attempt ends before there is an answer to be booked.
enum Exit<'a> {
    /// This came of it.
    Exchanged(Exchanged),
    /// Our own link was broken: the question was never sent.
    OwnLinkBroken,
    /// No connection came about at this agent, and another one may see otherwise.
    Doubtful(Box<Doubt<'a>>),
    Wrong(SurveyError),
}

impl From<SurveyError> for Exit<'_> {
    fn from(wrong: SurveyError) -> Self {
        Self::Wrong(wrong)
    }
}

const STOPPED: Exit<'_> = Exit::Exchanged(Exchanged::Stopped);
const LEFT: Exit<'_> = Exit::Exchanged(Exchanged::Left);

/// Which of two times a question is put; the second is there in case our own link broke at the first, or that of the agent.
enum Attempt<'a> {
    First,
    Last,
    /// By another agent than the one at which no connection came about.
    Second(Box<Doubt<'a>>),
}

impl Attempt<'_> {
    /// Whether the link that a request was sent over may be why it brought nothing; `by_agent` says whose that is.
    fn may_be_link(&self, by_agent: bool, answer: &Answer) -> bool {
        answer.failure.is_some_and(|failure| match self {
            Self::First if !by_agent => may_be_our_link(failure),
            _ if !by_agent => false,
            _ => may_be_link_of_agent(failure),
        })
    }
}

/// No connection to a server came about at an agent. Nobody knows yet whether that was the server's fault.
struct Doubt<'a> {
    at: Arc<Desk>,
    /// Of its link, which may have been probed.
    _pass: Pass<'a>,
    answer: Answer,
    /// Who tries it next.
    other: Arc<Desk>,
}

impl<'a> Asking<'a> {
    /// One exchange, from the name to the journal: locate the server, wait for its turn, ask, record.
    ///
    /// When no connection came about because our own link was broken, the server is asked a second time; of the first
    /// the journal says that it was never sent. So it is where none came about at an agent and there is another agent: what
    /// that one sees counts. Where no connection came about for another reason, this was a try.
    pub(in crate::survey) async fn exchange(&self, wanted: Wanted) -> Result<Exchanged, SurveyError> {
        let attempted = match Box::pin(self.attempt(&wanted, Attempt::First)).await {
            Err(Exit::OwnLinkBroken) => Box::pin(self.attempt(&wanted, Attempt::Last)).await,
            Err(Exit::Doubtful(doubt)) => Box::pin(self.attempt(&wanted, Attempt::Second(doubt))).await,
            attempted => attempted,
        };
        let exchanged = match attempted {
            Ok(exchanged) | Err(Exit::Exchanged(exchanged)) => exchanged,
            // Both agents may have lost their links: the tree goes on from its journal.
            Err(Exit::OwnLinkBroken | Exit::Doubtful(_)) => Exchanged::Left,
            Err(Exit::Wrong(wrong)) => return Err(wrong),
        };
        match exchanged {
            Exchanged::Heard(heard) if wanted.ways.go_on_after(&heard) => {
                let tried = Try { heard, at: self.recorded_at.load(Ordering::Relaxed) };
                self.another_way(wanted.ways, tried).await
            }
            exchanged => Ok(exchanged),
        }
    }

    /// As [`Self::exchange`] for a robots.txt, unless another tree got it less than a day ago. Where another tree asks for
    /// it now, that exchange is waited for, as long as the server would be.
    pub(in crate::survey) async fn robots(&self, wanted: Wanted) -> Result<Exchanged, SurveyError> {
        #[cfg(feature = "hazards")]
        let wanted = Wanted { ask: crate::survey::reading::hazards::before_robots(wanted.ask), ..wanted };
        let Parts { access, storage, boundaries, shared_robots, .. } = self.parts;
        let claim = loop {
            // Listening begins before asking, so that no ending is missed in between.
            let mut freed = std::pin::pin!(shared_robots.freed.notified());
            freed.as_mut().enable();
            let needs = (self.tree, &wanted.ask.url);
            match shared_robots.claim(storage, &boundaries.opt_outs, needs, access.now())? {
                Claimed::Own(claim) => break claim,
                Claimed::Shared(heard) => {
                    let entry = Entry::Shared(Box::new(Heard { ask: wanted.ask, ..*heard }));
                    self.journal.write(&entry)?;
                    let Entry::Shared(heard) = entry else { return Ok(Exchanged::Stopped) };
                    return Ok(Exchanged::Shared(heard));
                }
                Claimed::Waits => {}
            }
            let in_time = async {
                tokio::select! {
                    biased;
                    () = freed => true,
                    () = access.clock.until(wanted.deadline) => false,
                }
            };
            match access.until_stopped(in_time).await {
                None => return Ok(Exchanged::Stopped),
                Some(true) => {}
                Some(false) => {
                    let answer = Answer::not_asked(access.now(), None, Failure::HeldOff, None);
                    return self.record(&wanted.ways, Heard::nothing(wanted.ask, answer));
                }
            }
        };
        let exchanged = self.exchange(wanted).await?;
        // Where it is to be sent in another way, that is settled then.
        if let Exchanged::Heard(heard) = &exchanged {
            claim.settle(self.tree, self.recorded_at.load(Ordering::Relaxed), heard);
        }
        Ok(exchanged)
    }

    /// What comes after a try: another address of the host or the same, or that it is the answer.
    pub(in crate::survey) async fn another_way(
        &self,
        mut ways: Ways,
        tried: Try,
    ) -> Result<Exchanged, SurveyError> {
        ways.note_try(&tried.heard);
        let url = &tried.heard.ask.url;
        let dead = ways.dead_for(url);
        let Some(located) = own_link::locate(&self.parts.access, url.host(), &dead).await else {
            return Ok(Exchanged::Stopped);
        };
        match located.address {
            Ok(address) if !dead.contains(&address) => Ok(Exchanged::Tried(tried, address)),
            _ => {
                let_stand(self.parts, self.journal, self.tree, &tried)?;
                Ok(Exchanged::Heard(tried.heard))
            }
        }
    }

    async fn attempt(&self, wanted: &Wanted, attempt: Attempt<'a>) -> Result<Exchanged, Exit<'a>> {
        let ready = self.await_turn(wanted, &attempt).await?;
        let walks = |sender: &Arc<Desk>| self.desk.is_some_and(|desk| desk.name == sender.name);
        let lent = ready.sender.as_ref().filter(|sender| !walks(sender)).map(|sender| sender.name.clone());
        if let Some(agent) = lent.clone() {
            self.journal.write(&Entry::WalkedBy { agent })?;
        }
        let exchanged = match self.ask(wanted, ready, attempt).await {
            Ok(answered) => Ok(self.book(wanted, answered).await?),
            Err(exit) => Err(exit),
        };
        if let (Some(_), Some(desk)) = (lent, self.desk) {
            self.journal.write(&Entry::WalkedBy { agent: desk.name.clone() })?;
        }
        exchanged
    }

    async fn await_turn(&self, wanted: &Wanted, attempt: &Attempt<'a>) -> Result<Ready<'a>, Exit<'a>> {
        let Parts { access, storage, .. } = self.parts;
        let Wanted { ask, ways, .. } = wanted;
        if let (Attempt::First, Some(desk), Some(agents)) = (attempt, self.desk, &self.parts.agents)
            && agents.is_to_move(desk, self.tree)
        {
            return Err(LEFT);
        }
        if let Some(time) = wanted.not_before {
            access.until_stopped(access.clock.until(time)).await.ok_or(STOPPED)?;
        }
        match wanted.redirect_pause {
            Some(time) if time <= access.now() + LONGEST_WAIT => {
                access.until_stopped(access.clock.until(time)).await.ok_or(STOPPED)?;
            }
            Some(time) if time <= wanted.deadline => return Err(put_off(time)),
            Some(_) => return Err(Exit::Exchanged(self.never_sent(wanted, None, Failure::HeldOff, None)?)),
            None => {}
        }
        let dead = ways.dead_for(&ask.url);
        let located = own_link::locate(access, ask.url.host(), &dead).await.ok_or(STOPPED)?;
        let dns = located.dns;
        let address = match located.address {
            Ok(address) => address,
            Err(failure) => {
                return Err(Exit::Exchanged(self.never_sent(wanted, located.refused, failure, dns)?));
            }
        };
        access.go_to(self.tree, address);
        let foreseen = self.parts.foresight.as_ref().and_then(|foresight| foresight.foresee(ask));
        let crawl_delay = wanted.crawl_delay;
        #[cfg(feature = "hazards")]
        let crawl_delay = crate::survey::reading::hazards::crawl_delay(crawl_delay);
        let permit = match turn(access, storage, address, self.site, crawl_delay).await? {
            Ok(permit) => permit,
            Err(NoTurn::Until(time)) if time <= wanted.deadline => return Err(put_off(time)),
            Err(NoTurn::Stopped) => return Err(STOPPED),
            Err(never) => {
                let failure = never.failure();
                return Err(Exit::Exchanged(self.never_sent(wanted, Some(address), failure, dns)?));
            }
        };
        // While the turn was waited for, our own link may have broken; and while that was, quiet hours may have begun, or
        // this process may have stood still.
        let (sender, pass) = self.sender(attempt).await?;
        self.may_ask(wanted, address).await?;
        Ok(Ready { address, dns, sender, pass, permit, foreseen })
    }

    /// Who sends the request, once its link may be used: the agent that walks the tree, if there is one, another one whose
    /// link is to be probed, or the one that tries what did not succeed elsewhere.
    async fn sender(&self, attempt: &Attempt<'a>) -> Result<(Option<Arc<Desk>>, Pass<'a>), Exit<'a>> {
        let access = &self.parts.access;
        let link_of = |desk: Option<&Arc<Desk>>| Link::of(access, self.parts.agents.as_ref(), desk);
        let own = self.desk.filter(|desk| desk.hand().is_some());
        let sender = match attempt {
            Attempt::Second(doubt) => Some(doubt.other.clone()),
            Attempt::First | Attempt::Last => own.cloned(),
        };
        if let (Attempt::First, Some(own), Some(agents)) = (attempt, own, &self.parts.agents)
            && let Some(probed) = agents.to_probe(own, access.now())
        {
            let pass = Pass::probe(link_of(Some(&probed)));
            return Ok((Some(probed), pass));
        }
        match own_link::passage(&link_of(sender.as_ref())).await {
            Ok(pass) => Ok((sender, pass)),
            Err(NoPass::Stopped) => Err(STOPPED),
            Err(NoPass::Elsewhere) => Err(LEFT),
        }
    }

    /// Whether nothing that depends on the time stands against a request now.
    async fn may_ask(&self, wanted: &Wanted, address: IpAddr) -> Result<(), Exit<'a>> {
        let Parts { access, .. } = self.parts;
        access.wishes().await.ok_or(STOPPED)?;
        if let Some(time) = access.waking(address, self.site) {
            return Err(put_off(time));
        }
        // The visit begins again from its journal, at once, and asks for robots.txt first.
        if wanted.good_until.is_some_and(|until| access.now() >= until) {
            return Err(put_off(access.now()));
        }
        Ok(())
    }

    /// Records that nothing was sent.
    fn never_sent(
        &self,
        wanted: &Wanted,
        address: Option<IpAddr>,
        failure: Failure,
        dns: Option<Duration>,
    ) -> Result<Exchanged, SurveyError> {
        let answer = Answer::not_asked(self.parts.access.now(), address, failure, dns);
        self.record(&wanted.ways, Heard::nothing(wanted.ask.clone(), answer))
    }

    async fn ask(
        &self,
        wanted: &Wanted,
        ready: Ready<'a>,
        attempt: Attempt<'a>,
    ) -> Result<Answered<'a>, Exit<'a>> {
        let Parts { boundaries, access, storage, .. } = self.parts;
        let Ready { address, dns, sender, mut permit, pass, foreseen } = ready;
        let ahead = foreseen.as_ref().and_then(Awaited::take);
        let ask = wanted.ask.clone();
        let earlier = self.earlier(&ask)?;
        let known = earlier.as_ref().map(|page| page.validators.clone()).unwrap_or_default();
        let asked = access.now();
        self.journal.write(&Entry::Asked { number: ask.number, address, at: asked })?;
        permit.note_asked(asked);
        if let Some(keeper) = &storage.keeper {
            keeper.keep((self.tree, ask.number), address, asked).await?;
            // Nobody knows how long the disk took for that.
            if let Err(exit) = self.may_ask(wanted, address).await {
                permit.leave_unsent(self.journal, ask.number)?;
                return Err(exit);
            }
        }
        // Before anything is decided by the list.
        let opt_outs = boundaries.opt_outs.version();
        let byte_limit = wanted.byte_limit.min(permit.byte_limit());
        let manner = wanted.ways.manner(&ask.url);
        let link = Link::of(access, self.parts.agents.as_ref(), sender.as_ref());
        let (mut answer, body) = if let Some(hand) = sender.as_deref().and_then(Desk::hand) {
            if let Err(failure) = access.fetcher.permits(&ask.url, address) {
                permit.leave_unsent(self.journal, ask.number)?;
                return Err(Exit::Exchanged(self.never_sent(wanted, Some(address), failure, dns)?));
            }
            permit.note_over(self.parts.over_at_the_latest(asked));
            let (tree, valid_until) = (self.tree, self.valid_until(wanted, address, asked));
            let is_suspect = wanted.is_suspect || self.parts.suspects.has(tree, wanted.ask.number);
            let (ask, reserved) = (ask.clone(), permit.reserved());
            #[rustfmt::skip]
            let order = Order {
                tree, ask, address, asked, known, byte_limit, reserved, manner, is_suspect, opt_outs, valid_until,
            };
            let dispatched =
                Dispatched { time: access.now(), opt_outs, is_cut_short: valid_until < asked + FRESH };
            let put = unless_stopped(access, hand.put(order, &permit)).await.ok_or(STOPPED)?;
            self.note_put(&link, sender.as_deref(), &dispatched, &put);
            match put {
                Put::Heard(reply) => {
                    let Heard { answer, content, .. } = reply.into_heard();
                    (answer, Body::Read(content))
                }
                Put::Unsent | Put::Undispatched => {
                    permit.leave_unsent(self.journal, wanted.ask.number)?;
                    return Err(LEFT);
                }
                Put::Lost => {
                    self.parts.suspects.add(self.tree, wanted.ask.number);
                    return Err(self.lost());
                }
            }
        } else {
            let fetching = access.fetcher.fetch_in(manner, &known, &ask, address, byte_limit, &permit);
            let fetching = Box::pin(fetching);
            let Some((answer, body)) =
                unless_stopped(access, self.awake(wanted, fetching)).await.ok_or(STOPPED)?
            else {
                tracing::warn!(
                    url = ask.url.as_str(),
                    "this process stood still: the request counts as lost"
                );
                return Err(self.lost());
            };
            (answer, Body::Unread(body))
        };
        answer.timings.dns = dns;
        if manner == Manner::OldTls {
            wanted.ways.settle(&ask.url, &mut answer);
        }
        match &attempt {
            Attempt::First if answer.failure.is_some_and(Failure::is_no_connection) => {
                if let Some((at, other)) = sender.clone().zip(self.another(sender.as_ref())) {
                    // What it tells of the agent's link shows when another one has tried.
                    permit.leave_unsent(self.journal, ask.number)?;
                    return Err(Exit::Doubtful(Box::new(Doubt { at, _pass: pass, answer, other })));
                }
            }
            Attempt::Second(doubt) => self.compare(doubt, address, &answer),
            _ => {}
        }
        let at = access.now();
        own_link::note(&link, address, &answer, asked);
        let was_dark = answer.failure.is_some_and(is_silence) && own_link::is_dark_since(&link, asked);
        drop(pass);
        if attempt.may_be_link(sender.is_some(), &answer) {
            let failed = Failed { sender: sender.as_ref(), link: &link, answer: &answer, at, was_dark };
            if let Err(exit) = self.stands(wanted, failed).await {
                if matches!(exit, Exit::OwnLinkBroken) {
                    permit.leave_unsent(self.journal, ask.number)?;
                }
                return Err(exit);
            }
        }
        // The owner opted out just now, or the name leads elsewhere than before.
        if answer.failure.is_some_and(|failure| !failure.reached_the_network()) {
            permit.leave_unsent(self.journal, ask.number)?;
            return Err(Exit::Exchanged(self.record(&wanted.ways, Heard::nothing(ask, answer))?));
        }
        let received = Received { ask, answer, body, earlier, is_suspect: wanted.is_suspect, ahead };
        Ok(Answered { address, permit, received })
    }

    /// Whether it is the outcome of a request that it brought nothing, once it shows whose fault that was: else it is sent again.
    async fn stands(&self, wanted: &Wanted, failed: Failed<'_>) -> Result<(), Exit<'a>> {
        // What was lost again and again is its server's fault.
        if wanted.times_lost >= MOST_LOST {
            return Ok(());
        }
        let Failed { sender, link, answer, at, was_dark } = failed;
        let blame = own_link::blame(link, at).await.ok_or(STOPPED)?;
        // A link that was cut for a moment is silent; what broke off alone more probably broke off at its server.
        let doubts = if blame == Blame::Open { MOST_DOUBTS } else { usize::from(was_dark) };
        if answer.failure.is_some_and(Failure::is_no_connection) {
            if blame == Blame::Ours {
                return Err(Exit::OwnLinkBroken);
            }
        } else if blame == Blame::Ours || wanted.times_lost < doubts && self.another(sender).is_some() {
            // It may have been sent, and counts as a request without an answer.
            return Err(self.lost());
        }
        Ok(())
    }

    /// Nobody knows what came of a request: the visit begins again from its journal.
    fn lost(&self) -> Exit<'a> {
        self.parts.access.progress.update(|now| now.unrecorded += 1);
        LEFT
    }

    /// Takes in what the result of a dispatch tells of the agent that sends.
    fn note_put(&self, link: &Link<'_>, sender: Option<&Desk>, dispatched: &Dispatched, put: &Put) {
        let Dispatched { time, opt_outs, is_cut_short } = *dispatched;
        let exchange = match put {
            Put::Undispatched => return,
            // The agent returned it for a reason of ours.
            Put::Unsent if is_cut_short || opt_outs != self.parts.boundaries.opt_outs.version() => return,
            Put::Unsent | Put::Lost => {
                own_link::note_in_vain(link, time);
                Duration::ZERO
            }
            Put::Heard(reply) => {
                own_link::note_done(link);
                reply.answer.timings.total
            }
        };
        if let (Some(desk), Some(agents)) = (sender, &self.parts.agents) {
            agents.note_lag(desk, time, exchange);
        }
    }

    /// Another agent than this one whose own link works: the one that walks the tree, if it can be.
    fn another(&self, than: Option<&Arc<Desk>>) -> Option<Arc<Desk>> {
        let (than, agents) = (than?, self.parts.agents.as_ref()?);
        let walks = self.desk.filter(|desk| desk.name != than.name);
        walks.cloned().or_else(|| agents.another(than))
    }

    /// What the answer that another agent got tells of the link of the one at which no connection came about.
    fn compare(&self, doubt: &Doubt<'_>, address: IpAddr, answer: &Answer) {
        let Parts { access, agents, .. } = self.parts;
        let link = Link::of(access, agents.as_ref(), Some(&doubt.at));
        if answer.failure.is_some_and(|failure| failure.is_no_connection() || !failure.reached_the_network())
        {
            own_link::note(&link, address, &doubt.answer, doubt.answer.started);
        } else {
            own_link::note_failed_only_here(&link, address);
        }
    }

    /// Until when a request that is dispatched at `asked` may be sent.
    fn valid_until(&self, wanted: &Wanted, address: IpAddr, asked: SystemTime) -> SystemTime {
        let latest = asked + FRESH;
        let latest = wanted.good_until.map_or(latest, |until| until.min(latest));
        self.parts.access.awake_until(asked, latest, address, self.site)
    }

    /// Whether the exchange was against an entry of the opt-out list when it began. Agents have some time to obey one.
    fn had_opted_out(&self, url: &WebUrl, address: IpAddr, started: SystemTime) -> bool {
        let is_remote = self.desk.is_some_and(|desk| desk.hand().is_some());
        let then = if is_remote { started.checked_sub(OBEYED_WITHIN).unwrap_or(started) } else { started };
        self.parts.boundaries.opt_outs.covered_at(then, url.host(), address)
    }

    async fn book(&self, wanted: &Wanted, answered: Answered<'a>) -> Result<Exchanged, SurveyError> {
        let Parts { access, storage, reader, .. } = self.parts;
        let Answered { address, permit, received } = answered;
        let Ask { number, purpose, .. } = received.ask;
        let journal = self.journal;
        let heard =
            reader.hear(received, async |mark| journal.write(&Entry::Reading(Box::new(mark)))).await?;
        let answer = heard.answer.clone();
        let had_opted_out = self.had_opted_out(&wanted.ask.url, address, answer.started);
        let in_quiet_hours = self.is_quiet(answer.started, address);
        let against = Wishes { had_opted_out, in_quiet_hours };
        if against != Wishes::default() {
            self.journal.write(&Entry::Against { number, had_opted_out, in_quiet_hours })?;
        }
        let exchanged = self.record(&wanted.ways, heard)?;
        // After the journal: a server's state that is stored never knows an exchange the journal lost.
        {
            // In one go: no exchange after this one is seen before it.
            let mut load = access.load();
            storage.meet(address, load.state_of(address));
            #[cfg(not(feature = "hazards"))]
            permit.settle(&mut load, purpose, &answer);
            #[cfg(feature = "hazards")]
            permit.settle(&mut load, purpose, &crate::survey::reading::hazards::heard(&answer));
            let (site, crawl_delay) = (self.site, wanted.crawl_delay);
            let mut judge = storage.judge();
            let url = Some(&wanted.ask.url);
            judge.note(&Fact { site, address, purpose, url, answer: &answer, crawl_delay, against });
            // Were the response lost, its server would get a shorter pause.
            let usual = answer.ended() + self.parts.settings.max_delay.0;
            if let Some(keeper) = &storage.keeper
                && load.free_at(address).is_some_and(|time| time > usual)
            {
                keeper.hurry();
            }
        }
        access.settled.notify_waiters();
        Ok(exchanged)
    }

    /// What came of a request; none where this process stood still meanwhile. One that was lost again and again is so slow,
    /// or the process stands still so often, that what came has to do.
    async fn awake<T>(&self, wanted: &Wanted, fetching: impl Future<Output = T>) -> Option<T> {
        if wanted.times_lost >= MOST_LOST {
            Some(fetching.await)
        } else {
            self.parts.access.awake(fetching).await
        }
    }

    /// What an earlier survey knows of what is asked for. robots.txt is always asked for whole: if a server wrongly
    /// said that it has not changed, its new rules would be broken.
    fn earlier(&self, ask: &Ask) -> Result<Option<EarlierPage>, SurveyError> {
        match &self.parts.storage.earlier_pages {
            // What a page said is not on record, so that words cannot be looked for in it.
            Some(pages) if ask.purpose == Purpose::Page && self.parts.settings.exclude_text.is_empty() => {
                pages.find(&ask.url)
            }
            _ => Ok(None),
        }
    }

    /// Whether it was in the quiet hours of a server then, as they were promised.
    fn is_quiet(&self, time: SystemTime, address: IpAddr) -> bool {
        let Parts { access, storage, .. } = self.parts;
        let quiet = storage.judge().limits().quiet_hours;
        let shown = access.clock.shown_at(time);
        quiet.is_some_and(|quiet| is_quiet(&quiet, shown, &access.hours.whereabouts(address, self.site)))
    }

    fn record(&self, ways: &Ways, heard: Heard) -> Result<Exchanged, SurveyError> {
        let progress = &self.parts.storage.progress;
        progress.exchange(heard.ask.purpose, &heard.answer, heard.is_page());
        let heard = Box::new(heard);
        let entry = if ways.go_on_after(&heard) { Entry::Tried(heard) } else { Entry::Heard(heard) };
        self.recorded_at.store(self.journal.append(&entry)?, Ordering::Relaxed);
        Ok(entry.into_heard().map_or(Exchanged::Stopped, Exchanged::Heard))
    }
}

/// A try is all that came of its request. What it was to bring is settled for the trees that share it.
pub(in crate::survey) fn let_stand(
    parts: &Parts,
    journal: &Journal,
    tree: u64,
    tried: &Try,
) -> Result<(), SurveyError> {
    journal.write(&Entry::Stands { number: tried.heard.ask.number })?;
    let recorded = Recorded::of(tree, tried.at, &tried.heard);
    parts.shared_robots.restore(&parts.storage, recorded.into_iter().collect())
}

fn put_off<'a>(until: SystemTime) -> Exit<'a> {
    Exit::Exchanged(Exchanged::PutOff(until))
}

/// Nothing was asked yet, as far as the server can know, and it may be our own link that is broken.
fn may_be_our_link(failure: Failure) -> bool {
    matches!(failure, Failure::ConnectTimeout | Failure::ConnectUnreachable)
}

/// The same at an agent. What it was at when its link broke ends without an answer, too, and another agent can do it.
fn may_be_link_of_agent(failure: Failure) -> bool {
    use Failure::{BodyTruncated, IdleClosed, Reset};
    let is_cut = matches!(failure, Reset | IdleClosed | BodyTruncated);
    failure.is_no_connection() || is_cut || is_silence(failure)
}

/// Nothing came for long.
fn is_silence(failure: Failure) -> bool {
    use Failure::{FirstByteTimeout, IdleTimeout, TlsTimeout, TooSlow};
    matches!(failure, TlsTimeout | FirstByteTimeout | IdleTimeout | TooSlow)
}

/// Runs to its end, or a little beyond the wish to stop.
async fn unless_stopped<T>(access: &Access, work: impl Future<Output = T>) -> Option<T> {
    let overdue = async {
        asked_to_stop(&mut access.stop.clone()).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        biased;
        done = work => Some(done),
        () = overdue => None,
    }
}
