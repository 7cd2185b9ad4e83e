//! Which pause each server is owed, by what its exchanges were like.

pub(super) mod link;
pub(super) mod troubles;

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use foldhash::HashMap;

use super::{Count, Fact, PromisedLimits, ServerRecord, ShortPauses};
use crate::address::{Neighbourhood, Site, WebUrl, server_at};
use crate::settings::{LONGEST_WAIT, Pace};
use link::LinkUse;
use troubles::{DueSiteCoolDown, Troubles, doubled};

/// What each server was owed after the exchanges that were seen last, by the answers alone: whoever gave permits may
/// have heard otherwise.
#[derive(Debug, Default)]
pub(super) struct DuePauses {
    servers: HashMap<IpAddr, ServerHistory>,
    /// Of sites whose servers redirected and asked for a pause before: the targets, on whatever server they are.
    redirects: HashMap<Site, Vec<PausedRedirect>>,
    /// Only where neighbourhoods have places.
    neighbourhoods: HashMap<Neighbourhood, Vec<DuePause>>,
}

/// How a server has fared, and what it is owed by what was promised.
#[derive(Debug, Default)]
struct ServerHistory {
    troubles: Troubles,
    link: LinkUse,
    /// Of the exchanges that ran last, one for each place at the server.
    pauses: Vec<DuePause>,
    last_end: Option<SystemTime>,
    /// It asked to be left alone until then …
    asked: Option<CoolDown>,
    /// … or was in trouble again and again.
    put_off: Option<CoolDown>,
    /// When it was seen that it is not to be asked any more.
    given_up: Option<SystemTime>,
}

/// When a place may be taken again after an exchange, for each of these reasons.
#[derive(Clone, Copy, Debug)]
struct DuePause {
    ended: SystemTime,
    least: SystemTime,
    slow: SystemTime,
    link: SystemTime,
    trouble: SystemTime,
}

/// A server is left alone until a time, which was known from another on.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoolDown {
    pub known: SystemTime,
    pub until: SystemTime,
}

/// A redirect that asked for a pause before the redirected request (RFC 9110 §10.2.3).
#[derive(Debug)]
struct PausedRedirect {
    target: WebUrl,
    cool_down: CoolDown,
}

impl DuePauses {
    /// A server that is not known here has such a past.
    pub(super) fn add_server(&mut self, server: IpAddr, past: &ServerRecord) {
        if past.last_end.is_none() {
            return;
        }
        self.servers.entry(server).or_insert_with(|| ServerHistory {
            troubles: Troubles::of_old(),
            link: LinkUse::with_rate(past.best_rate),
            last_end: past.last_end,
            given_up: past.last_end.filter(|_| past.is_given_up),
            ..ServerHistory::default()
        });
    }

    /// Whether a server is remembered.
    pub(super) fn contains(&self, server: IpAddr) -> bool {
        self.servers.contains_key(&server)
    }

    /// From the end of the exchange with a server that was seen before to the start of one; zero where they overlap.
    pub(super) fn gap_before(&self, server: IpAddr, started: SystemTime) -> Option<Duration> {
        let last_end = self.servers.get(&server)?.last_end?;
        Some(started.duration_since(last_end).unwrap_or_default())
    }

    /// An exchange was seen to begin.
    pub(super) fn check(&self, fact: &Fact<'_>, limits: &PromisedLimits, short: &mut ShortPauses) {
        let (address, pace) = (server_at(fact.address), &limits.pace);
        let told = fact.response.started;
        let started = ExchangeStart { address, told, latest: told + limits.rounding };
        let counted = short.retry_after.times;
        if let Some(server) = self.servers.get(&address) {
            server.compare(started, fact, pace, short);
        }
        if short.retry_after.times == counted {
            let who = |early: EarlyStart| format!("{address} {early}, redirected");
            short.retry_after.note(self.early_redirected_request(fact, started), who);
        }
        let neighbourhood = Neighbourhood::from_address(address);
        if let (Some(places), Some(pauses)) =
            (pace.per_neighbourhood, self.neighbourhoods.get(&neighbourhood))
        {
            let who = |early: EarlyStart| format!("{neighbourhood} {early}");
            short.neighbourhood.note(early(pauses, started, places, DuePause::latest), who);
        }
    }

    /// It ended.
    pub(super) fn add_due_pauses(&mut self, fact: &Fact<'_>, limits: &PromisedLimits) {
        let (address, pace) = (server_at(fact.address), &limits.pace);
        if let Some(redirect) = PausedRedirect::from_fact(fact) {
            self.redirects.entry(fact.site.clone()).or_default().push(redirect);
        }
        let server = self.servers.entry(address).or_default();
        let pause = server.settle(fact, pace);
        let begun = fact.response.started + limits.rounding;
        keep(&mut server.pauses, pause, begun, pace.per_address);
        if let Some(places) = pace.per_neighbourhood {
            keep(
                self.neighbourhoods.entry(Neighbourhood::from_address(address)).or_default(),
                pause,
                begun,
                places,
            );
        }
    }

    /// Whether the target of a redirect is requested before the time that the redirect named.
    fn early_redirected_request(&self, fact: &Fact<'_>, started: ExchangeStart) -> Option<EarlyStart> {
        let url = fact.url?;
        let is_early = |redirect: &&PausedRedirect| {
            let CoolDown { known, until } = redirect.cool_down;
            redirect.target == *url && known <= started.latest && started.latest < until
        };
        let CoolDown { known, until } = self.redirects.get(fact.site)?.iter().find(is_early)?.cool_down;
        EarlyStart::new(started, known, until)
    }

    /// Forgets the servers that were owed nothing any more at this time.
    pub(super) fn forget_before(&mut self, time: SystemTime) {
        self.redirects.retain(|_, redirects| {
            redirects.retain(|redirect| redirect.cool_down.until > time);
            !redirects.is_empty()
        });
        self.servers.retain(|_, server| server.is_owed_something_at(time));
        self.neighbourhoods.retain(|_, pauses| pauses.iter().any(|pause| pause.latest() > time));
    }

    pub(super) fn len(&self) -> usize {
        self.servers.len()
    }
}

impl ServerHistory {
    /// An exchange was seen to begin.
    fn compare(&self, started: ExchangeStart, fact: &Fact<'_>, pace: &Pace, short: &mut ShortPauses) {
        let places = pace.per_address;
        let who = |early: EarlyStart| format!("{} {early}", started.address);
        let until = |count: &mut Count, until: fn(&DuePause) -> SystemTime| {
            count.note(early(&self.pauses, started, places, until), who);
        };
        // With one place, the least pause is told by the shortest that was seen.
        if places > 1 {
            until(&mut short.least, |pause| pause.least);
        }
        until(&mut short.slow, |pause| pause.slow);
        until(&mut short.link, |pause| pause.link);
        let trouble = early(&self.pauses, started, places, |pause| pause.trouble);
        short.trouble.note(trouble, who);
        if let Some(delay) = fact.crawl_delay {
            let until = |pause: &DuePause| pause.ended.checked_add(delay).unwrap_or(pause.ended);
            short.crawl_delay.note(early(&self.pauses, started, places, until), who);
        }
        let early_for = |cool_down: Option<CoolDown>| {
            let ended = self.last_end.filter(|ended| *ended <= started.latest)?;
            let cool_down = cool_down
                .filter(|cool_down| cool_down.known <= started.latest && started.latest < cool_down.until)?;
            EarlyStart::new(started, ended, cool_down.until)
        };
        short.retry_after.note(early_for(self.asked), who);
        let put_off = early_for(self.put_off);
        short.put_off.note(put_off, who);
        if self.given_up.is_some_and(|known| known <= started.told) {
            short.put_off.add(|| format!("{} after it was given up", started.address));
        } else if let (None, None, Some(cool_down)) =
            (trouble, put_off, self.troubles.cool_down_of(fact.site))
        {
            // A site that has a server for itself waits for both, which is told once.
            compare_with_cool_down(cool_down, started, fact.site, pace, short);
        }
    }

    /// Takes in how an exchange went, and says what is owed for it.
    fn settle(&mut self, fact: &Fact<'_>, pace: &Pace) -> DuePause {
        let response = fact.response;
        let ended = response.ended();
        let owed = self.troubles.take(pace, fact.site, response);
        let slow = pause_for_time(pace, response.timings.response_time());
        let share = link::pause_for(self.link.take(response), pace.harm, pace.longest_pause());
        let usual = pace.min_delay.max(slow).max(share);
        let trouble = Some(doubled(pace, usual, owed.doublings)).filter(|pause| *pause > usual);
        let cool_down = |time| Some(CoolDown { known: ended, until: ended.checked_add(time)? });
        self.asked = longer(self.asked, response.head.retry_after.and_then(cool_down));
        self.put_off = longer(self.put_off, owed.put_off.and_then(cool_down));
        if owed.is_given_up {
            self.given_up = self.given_up.or(Some(ended));
        }
        self.last_end = self.last_end.max(Some(ended));
        DuePause {
            ended,
            least: ended + pace.min_delay,
            slow: ended + slow,
            link: ended + share,
            trouble: ended + trouble.unwrap_or_default(),
        }
    }

    fn is_owed_something_at(&self, time: SystemTime) -> bool {
        let cool_downs = [self.asked, self.put_off].into_iter().flatten().map(|cool_down| cool_down.until);
        // No Crawl-delay that is obeyed is longer.
        let pauses = self.pauses.iter().map(|pause| pause.latest().max(pause.ended + LONGEST_WAIT));
        cool_downs.chain(pauses).any(|until| until > time) || self.troubles.has_site_cool_down_at(time)
    }
}

/// The pause that grows with the time of an answer.
fn pause_for_time(pace: &Pace, took: Duration) -> Duration {
    let seconds = (took.as_secs_f64() * pace.factor).min(pace.max_delay.as_secs_f64());
    link::whole_microseconds(seconds)
}

impl PausedRedirect {
    fn from_fact(fact: &Fact<'_>) -> Option<Self> {
        let response = fact.response;
        let (pause, known) =
            (response.head.retry_after.filter(|_| response.is_redirect())?, response.ended());
        let target = fact.url?.join(response.head.location.as_deref()?).ok()?;
        Some(Self { target, cool_down: CoolDown { known, until: known.checked_add(pause)? } })
    }
}

impl DuePause {
    fn latest(&self) -> SystemTime {
        self.least.max(self.slow).max(self.link).max(self.trouble)
    }
}

/// A site began at a server although, for its own troubles, it was to be left alone there.
fn compare_with_cool_down(
    cool_down: DueSiteCoolDown,
    started: ExchangeStart,
    site: &Site,
    pace: &Pace,
    short: &mut ShortPauses,
) {
    let who = || format!("{site} at {}", started.address);
    match cool_down.until {
        None if cool_down.known <= started.told => {
            short.put_off.add(|| format!("{} after it was given up", who()));
        }
        Some(until) if cool_down.known <= started.latest && started.latest < until => {
            let is_pause = until <= cool_down.known + pace.max_delay.max(pace.min_delay);
            let count = if is_pause { &mut short.trouble } else { &mut short.put_off };
            count
                .note(EarlyStart::new(started, cool_down.known, until), |early| format!("{} {early}", who()));
        }
        _ => {}
    }
}

fn longer(one: Option<CoolDown>, other: Option<CoolDown>) -> Option<CoolDown> {
    [one, other].into_iter().flatten().max_by_key(|cool_down| cool_down.until)
}

/// As many rests as there are places. An exchange took a place that nobody had, or one whose rest was over when it began, nobody knows
/// which: that whose exchange ended last leaves the most room for what is to come. Where none was free, it took the one whose rest was
/// over first.
fn keep(pauses: &mut Vec<DuePause>, pause: DuePause, begun: SystemTime, places: u32) {
    let each = || pauses.iter().enumerate();
    let is_over = |pause: &DuePause| pause.ended.max(pause.latest()) <= begun;
    let mut taken = each().filter(|(_, pause)| is_over(pause)).max_by_key(|(_, pause)| pause.ended);
    if taken.is_none() && pauses.len() >= places.max(1) as usize {
        taken = each().min_by_key(|(_, pause)| pause.latest());
    }
    if let Some((taken, _)) = taken {
        pauses.swap_remove(taken);
    }
    pauses.push(pause);
}

/// Where an exchange began, and when: as it is told, and at the latest if that is rounded.
#[derive(Clone, Copy)]
struct ExchangeStart {
    address: IpAddr,
    told: SystemTime,
    latest: SystemTime,
}

/// How soon an exchange came after another, and how long it should have waited.
#[derive(Clone, Copy)]
struct EarlyStart {
    after: Duration,
    wanted: Duration,
}

/// An exchange takes a place, and keeps it while it runs and rests: this one began when no place was free, although one
/// had nothing to do but rest.
fn early(
    pauses: &[DuePause],
    started: ExchangeStart,
    places: u32,
    until: impl Fn(&DuePause) -> SystemTime,
) -> Option<EarlyStart> {
    let latest = started.latest;
    let taken = pauses.iter().filter(|pause| pause.ended > latest || until(pause) > latest).count();
    if taken < places as usize {
        return None;
    }
    // Too many at once are judged as such: then none of them rests.
    let resting = pauses.iter().filter(|pause| pause.ended <= latest && until(pause) > latest);
    let last = resting.max_by_key(|pause| until(pause))?;
    EarlyStart::new(started, last.ended, until(last))
}

impl EarlyStart {
    fn new(started: ExchangeStart, ended: SystemTime, until: SystemTime) -> Option<Self> {
        let after = started.told.duration_since(ended).unwrap_or_default();
        Some(Self { after, wanted: until.duration_since(ended).ok()? })
    }
}

impl std::fmt::Display for EarlyStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "after {:.3?} instead of {:.3?}", self.after, self.wanted)
    }
}

impl Count {
    fn note(&mut self, early: Option<EarlyStart>, who: impl Fn(EarlyStart) -> String) {
        if let Some(early) = early {
            self.add(|| who(early));
        }
    }
}
