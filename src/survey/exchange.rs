use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use super::crew::asked_to_stop;
use super::earlier::EarlierPage;
use super::error::SurveyError;
use super::journal::{Entry, Heard, Journal};
use super::local_hours;
use super::own_link;
use super::parts::Parts;
use super::quarantine;
use super::ways::Ways;
use crate::address::Site;
use crate::exchange::{Answer, Ask, Failure, Purpose};
use crate::load::{LONGEST_WAIT, Load, Permit, Turn};
use crate::promises::{Fact, Wishes};

/// An exchange that a walk wants.
#[derive(Clone)]
pub(super) struct Wanted {
    pub ask: Ask,
    pub crawl_delay: Option<Duration>,
    pub byte_limit: u64,
    /// Another server of the site may be at work until then.
    pub not_before: Option<SystemTime>,
    /// A server that cannot be asked before this time is not waited for.
    pub deadline: SystemTime,
    pub ways: Ways,
    /// From then on the walk would ask for robots.txt first.
    pub good_until: Option<SystemTime>,
    /// A process died when it read the answer.
    pub is_suspect: bool,
}

/// What came of wanting an exchange.
pub(super) enum Exchanged {
    /// It happened, and its answer is in the journal.
    Heard(Box<Heard>),
    /// It brought nothing, as the journal says; it can be put again at this address, another one or by older TLS.
    Tried(Box<Heard>, IpAddr),
    /// The server is not to be asked before this time, which is too far to wait for.
    PutOff(SystemTime),
    /// The survey is being stopped; nothing was asked.
    Stopped,
}

/// What an exchange in flight is given to end when the survey is being stopped.
const GRACE: Duration = Duration::from_secs(5);

/// One exchange, from the name to the journal: locate the server, wait for its turn, ask, record.
///
/// When no connection came about because our own link was broken, the server is asked a second time; of the first
/// the journal says that it was never sent. Where no connection came about for another reason, this was a try.
pub(super) async fn exchange(
    parts: &Parts,
    journal: &Mutex<Journal>,
    site: &Site,
    wanted: Wanted,
) -> Result<Exchanged, SurveyError> {
    let ways = wanted.ways.clone();
    let exchanged = match attempt(parts, journal, site, wanted.clone(), true).await? {
        Some(exchanged) => exchanged,
        None => attempt(parts, journal, site, wanted, false).await?.unwrap_or(Exchanged::Stopped),
    };
    match exchanged {
        Exchanged::Heard(heard) if ways.go_on_after(&heard) => another_way(parts, journal, ways, heard).await,
        exchanged => Ok(exchanged),
    }
}

/// What comes after a try: the next address of the host, or that it is the answer.
pub(super) async fn another_way(
    parts: &Parts,
    journal: &Mutex<Journal>,
    mut ways: Ways,
    tried: Box<Heard>,
) -> Result<Exchanged, SurveyError> {
    ways.note(&tried);
    let dead = ways.dead_for(&tried.ask.url);
    let Some(located) = own_link::locate(parts, tried.ask.url.host(), &dead).await else {
        return Ok(Exchanged::Stopped);
    };
    match located.address {
        // Another address, or the same with older TLS.
        Ok(address) if !dead.contains(&address) => Ok(Exchanged::Tried(tried, address)),
        _ => {
            let_stand(journal, tried.ask.number)?;
            Ok(Exchanged::Heard(tried))
        }
    }
}

/// The last try at a question is its answer.
pub(super) fn let_stand(journal: &Mutex<Journal>, number: u32) -> Result<(), SurveyError> {
    write(journal, &Entry::Stands { number })
}

/// None when our own link was broken and the question `may_repeat`.
async fn attempt(
    parts: &Parts,
    journal: &Mutex<Journal>,
    site: &Site,
    wanted: Wanted,
    may_repeat: bool,
) -> Result<Option<Exchanged>, SurveyError> {
    let Wanted { ask, crawl_delay, byte_limit, not_before, deadline, ways, good_until, is_suspect } = wanted;
    if let Some(time) = not_before
        && parts.until_stopped(parts.clock.until(time)).await.is_none()
    {
        return Ok(Some(Exchanged::Stopped));
    }
    let dead = ways.dead_for(&ask.url);
    let Some(located) = own_link::locate(parts, ask.url.host(), &dead).await else {
        return Ok(Some(Exchanged::Stopped));
    };
    let address = match located.address {
        Ok(address) => address,
        Err(failure) => {
            let answer = Answer::not_asked(parts.now(), located.refused, failure, located.dns);
            return record(parts, journal, &ways, Heard::nothing(ask, answer)).map(Some);
        }
    };
    let delay = crawl_delay;
    #[cfg(feature = "hazards")]
    let delay = super::hazards::crawl_delay(delay);
    let mut held = match turn(parts, address, site, delay).await? {
        Ok(permit) => Held { parts, permit: Some(permit), asked: None },
        Err(NoTurn::Until(time)) if time <= deadline => return Ok(Some(Exchanged::PutOff(time))),
        Err(NoTurn::Stopped) => return Ok(Some(Exchanged::Stopped)),
        Err(never) => {
            let answer = Answer::not_asked(parts.now(), Some(address), never.failure(), located.dns);
            return record(parts, journal, &ways, Heard::nothing(ask, answer)).map(Some);
        }
    };
    // While the turn was waited for, our own link may have broken; and while that was, quiet hours may have begun.
    let Some(pass) = own_link::passage(parts).await else {
        return Ok(Some(Exchanged::Stopped));
    };
    if let Some(time) = local_hours::waking(parts, address, site) {
        return Ok(Some(Exchanged::PutOff(time)));
    }
    // The visit begins again from its journal, at once, and asks for robots.txt first.
    if good_until.is_some_and(|until| parts.now() >= until) {
        return Ok(Some(Exchanged::PutOff(parts.now())));
    }
    let earlier = earlier(parts, &ask)?;
    let known = earlier.as_ref().map(|page| page.validators.clone()).unwrap_or_default();
    let asked = parts.now();
    write(journal, &Entry::Asked { number: ask.number, address, at: asked })?;
    held.asked = Some(asked);
    let had_opted_out = parts.opt_out.has_host(ask.url.host()) || parts.opt_out.has_address(address);
    let byte_limit = byte_limit.min(held.byte_limit());
    let fetching = async {
        if ways.has_old_tls(&ask.url) {
            return parts.fetcher.fetch_by_old_tls(&known, &ask, address, byte_limit).await;
        }
        parts.fetcher.fetch_other_than(&known, &ask, address, byte_limit).await
    };
    let Some((mut answer, body)) = unless_stopped(parts, fetching).await else {
        return Ok(Some(Exchanged::Stopped));
    };
    answer.timings.dns = located.dns;
    own_link::note(parts, address, &answer);
    drop(pass);
    if may_repeat && answer.failure.is_some_and(may_be_our_link) {
        match own_link::is_ours(parts, answer.ended()).await {
            Some(false) => {}
            Some(true) => {
                held.leave_unsent(journal, ask.number)?;
                return Ok(None);
            }
            None => return Ok(Some(Exchanged::Stopped)),
        }
    }
    // Somebody opted out just now, or the name leads elsewhere than it did.
    if answer.failure.is_some_and(|failure| !failure.reached_the_network()) {
        held.leave_unsent(journal, ask.number)?;
        return record(parts, journal, &ways, Heard::nothing(ask, answer)).map(Some);
    }
    let purpose = ask.purpose;
    let heard = quarantine::hear(parts, journal, ask, answer, body, (earlier, is_suspect)).await?;
    let answer = heard.answer.clone();
    let in_quiet_hours = local_hours::are_quiet(parts, answer.started, address, site);
    let against = Wishes { had_opted_out, in_quiet_hours };
    if against != Wishes::default() {
        write(journal, &Entry::Against { number: heard.ask.number, had_opted_out, in_quiet_hours })?;
    }
    let heard = record(parts, journal, &ways, heard)?;
    // After the journal: a server's state that is stored never knows an exchange the journal lost.
    {
        // In one go: no exchange after this one is seen before it.
        let mut load = parts.load();
        parts.judge().meet(address, load.state_of(address));
        #[cfg(not(feature = "hazards"))]
        held.settle(&mut load, purpose, &answer);
        #[cfg(feature = "hazards")]
        held.settle(&mut load, purpose, &super::hazards::heard(&answer));
        let mut judge = parts.judge();
        judge.note(&Fact { site, address, purpose, answer: &answer, crawl_delay, against });
        judge.note_burden(address, &load);
    }
    parts.settled.notify_waiters();
    Ok(Some(heard))
}

/// A permit that is given back whatever becomes of the exchange. Dropped, it says that the exchange was not begun,
/// or that its answer is lost.
struct Held<'a> {
    parts: &'a Parts,
    permit: Option<Permit>,
    /// When the question was put.
    asked: Option<SystemTime>,
}

impl Held<'_> {
    fn byte_limit(&self) -> u64 {
        self.permit.as_ref().map_or(0, Permit::byte_limit)
    }

    fn settle(mut self, load: &mut Load, purpose: Purpose, answer: &Answer) {
        if let Some(permit) = self.permit.take() {
            load.settle(permit, purpose, answer);
        }
    }

    /// The question that the journal says was being put was not.
    fn leave_unsent(mut self, journal: &Mutex<Journal>, number: u32) -> Result<(), SurveyError> {
        write(journal, &Entry::Unsent { number })?;
        self.asked = None;
        Ok(())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else { return };
        match self.asked {
            Some(asked) => self.parts.load().lose(permit, asked, self.parts.now()),
            None => self.parts.load().abandon(permit, self.parts.now()),
        }
        self.parts.settled.notify_waiters();
    }
}

/// Nothing was asked yet, as far as the server can know, and it may be our own link that is broken.
fn may_be_our_link(failure: Failure) -> bool {
    matches!(failure, Failure::ConnectTimeout | Failure::ConnectUnreachable)
}

/// Why a turn did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoTurn {
    /// It would come at this time, which is too far to wait for.
    Until(SystemTime),
    GivenUp,
    Spent,
    Stopped,
}

impl NoTurn {
    /// What a question comes to whose turn never comes.
    fn failure(self) -> Failure {
        match self {
            Self::GivenUp => Failure::GivenUp,
            Self::Spent => Failure::ServerBudget,
            Self::Until(_) | Self::Stopped => Failure::HeldOff,
        }
    }
}

/// Waits for the server's turn. Dropping the wait costs nothing.
async fn turn(
    parts: &Parts,
    address: IpAddr,
    site: &Site,
    crawl_delay: Option<Duration>,
) -> Result<Result<Permit, NoTurn>, SurveyError> {
    let mut stop = parts.stop.clone();
    loop {
        parts.remember(address)?;
        // Listening begins before asking, so that no ending is missed in between.
        let mut settled = std::pin::pin!(parts.settled.notified());
        settled.as_mut().enable();
        if *stop.borrow() {
            return Ok(Err(NoTurn::Stopped));
        }
        let now = parts.now();
        let turn = match local_hours::waking(parts, address, site) {
            Some(time) => Turn::At(time),
            None => {
                let mut load = parts.load();
                if !load.knows(address) {
                    continue;
                }
                load.permit(now, address, site, crawl_delay)
            }
        };
        match turn {
            Turn::Go(permit) => return Ok(Ok(permit)),
            Turn::At(time) if time > now + LONGEST_WAIT => return Ok(Err(NoTurn::Until(time))),
            Turn::GivenUp => return Ok(Err(NoTurn::GivenUp)),
            Turn::Spent => return Ok(Err(NoTurn::Spent)),
            // Nothing that others do makes this come sooner: most sites wait here, and none is woken in vain.
            Turn::At(time) => tokio::select! {
                biased;
                _ = stop.changed() => {}
                () = parts.clock.until(time) => {}
            },
            Turn::Full(time) => tokio::select! {
                biased;
                _ = stop.changed() => {}
                () = settled => {}
                () = parts.clock.until(time) => {}
            },
            Turn::Busy => tokio::select! {
                biased;
                _ = stop.changed() => {}
                () = settled => {}
            },
        }
    }
}

/// Runs to its end, or a little beyond the wish to stop.
async fn unless_stopped<T>(parts: &Parts, work: impl Future<Output = T>) -> Option<T> {
    let overdue = async {
        asked_to_stop(&mut parts.stop.clone()).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        biased;
        done = work => Some(done),
        () = overdue => None,
    }
}

/// What an earlier survey knows of what is asked for. robots.txt is always asked for whole: if a server wrongly
/// said that it has not changed, its new rules would be broken.
fn earlier(parts: &Parts, ask: &Ask) -> Result<Option<EarlierPage>, SurveyError> {
    match &parts.earlier_pages {
        // What a page said is not on record, so that words cannot be looked for in it.
        Some(pages) if ask.purpose == Purpose::Page && parts.settings.exclude_text.is_empty() => {
            pages.find(&ask.url)
        }
        _ => Ok(None),
    }
}

fn record(
    parts: &Parts,
    journal: &Mutex<Journal>,
    ways: &Ways,
    heard: Heard,
) -> Result<Exchanged, SurveyError> {
    let is_page = heard.is_page();
    parts.progress.exchange(heard.ask.purpose, &heard.answer, is_page);
    let heard = Box::new(heard);
    let entry = if ways.go_on_after(&heard) { Entry::Tried(heard) } else { Entry::Heard(heard) };
    write(journal, &entry)?;
    match entry {
        Entry::Heard(heard) | Entry::Tried(heard) => Ok(Exchanged::Heard(heard)),
        _ => Ok(Exchanged::Stopped),
    }
}

pub(super) fn write(journal: &Mutex<Journal>, entry: &Entry) -> Result<(), SurveyError> {
    journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner).write(entry)
}
