//! The pauses that are due at each server because of its exchanges.

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

/// The pauses due after the last exchanges seen, derived from the responses alone: the code that grants
/// permits may have seen other responses.
#[derive(Debug, Default)]
pub(super) struct DuePauses {
    servers: HashMap<IpAddr, ServerHistory>,
    /// For sites whose servers redirected with Retry-After: the targets, on any server.
    redirects: HashMap<Site, Vec<PausedRedirect>>,
    /// Only if the number of slots per neighbourhood is limited.
    neighbourhoods: HashMap<Neighbourhood, Vec<DuePause>>,
}

/// The observed history of a server, and the pauses that are due by the promises.
#[derive(Debug, Default)]
struct ServerHistory {
    troubles: Troubles,
    link: LinkUse,
    /// The pauses after the last exchanges, one for each slot at the server.
    pauses: Vec<DuePause>,
    last_end: Option<SystemTime>,
    /// The cool-down that the server requested …
    requested: Option<CoolDown>,
    /// … and the one because it was in trouble again and again.
    put_off: Option<CoolDown>,
    /// When it became known that the server gets no more requests.
    given_up: Option<SystemTime>,
}

/// The end of the pause of a slot, for each of these reasons.
#[derive(Clone, Copy, Debug)]
struct DuePause {
    ended: SystemTime,
    least: SystemTime,
    slow: SystemTime,
    link: SystemTime,
    trouble: SystemTime,
}

/// A server gets no requests until a time; `known` is when that became known.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoolDown {
    pub known: SystemTime,
    pub until: SystemTime,
}

/// A redirect that requested a pause before the redirected request (RFC 9110 §10.2.3).
#[derive(Debug)]
struct PausedRedirect {
    target: WebUrl,
    cool_down: CoolDown,
}

impl DuePauses {
    /// Adds the record of a server that is not known here.
    pub(super) fn add_server(&mut self, server: IpAddr, record: &ServerRecord) {
        if record.last_end.is_none() {
            return;
        }
        self.servers.entry(server).or_insert_with(|| ServerHistory {
            troubles: Troubles::for_recorded_server(),
            link: LinkUse::with_rate(record.best_rate),
            last_end: record.last_end,
            given_up: record.last_end.filter(|_| record.is_given_up),
            ..ServerHistory::default()
        });
    }

    /// Whether a server is remembered.
    pub(super) fn contains(&self, server: IpAddr) -> bool {
        self.servers.contains_key(&server)
    }

    /// The time from the end of the last exchange seen at a server to this start; zero if they overlap.
    pub(super) fn gap_before(&self, server: IpAddr, started: SystemTime) -> Option<Duration> {
        let last_end = self.servers.get(&server)?.last_end?;
        Some(started.duration_since(last_end).unwrap_or_default())
    }

    /// Checks the start of an exchange against the pauses that are due.
    pub(super) fn check(&self, fact: &Fact<'_>, limits: &PromisedLimits, short: &mut ShortPauses) {
        let (address, pace) = (server_at(fact.address), &limits.pace);
        let reported = fact.response.started;
        let started = ExchangeStart { address, reported, latest: reported + limits.rounding };
        let counted = short.retry_after.times;
        if let Some(server) = self.servers.get(&address) {
            server.compare(started, fact, pace, short);
        }
        if short.retry_after.times == counted {
            let describe = |early_start: EarlyStart| format!("{address} {early_start}, after a redirect");
            short.retry_after.note(self.early_redirected_request(fact, started), describe);
        }
        let neighbourhood = Neighbourhood::from_address(address);
        if let (Some(slots), Some(pauses)) = (pace.per_neighbourhood, self.neighbourhoods.get(&neighbourhood))
        {
            let describe = |early_start: EarlyStart| format!("{neighbourhood} {early_start}");
            short.neighbourhood.note(early_start(pauses, started, slots, DuePause::latest), describe);
        }
    }

    /// Adds the pauses that are due after an exchange.
    pub(super) fn add_due_pauses(&mut self, fact: &Fact<'_>, limits: &PromisedLimits) {
        let (address, pace) = (server_at(fact.address), &limits.pace);
        if let Some(redirect) = PausedRedirect::from_fact(fact) {
            self.redirects.entry(fact.site.clone()).or_default().push(redirect);
        }
        let server = self.servers.entry(address).or_default();
        let pause = server.settle(fact, pace);
        let begun = fact.response.started + limits.rounding;
        add_pause(&mut server.pauses, pause, begun, pace.per_address);
        if let Some(slots) = pace.per_neighbourhood {
            add_pause(
                self.neighbourhoods.entry(Neighbourhood::from_address(address)).or_default(),
                pause,
                begun,
                slots,
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

    /// Forgets the servers at which no pause is due any more at this time.
    pub(super) fn forget_before(&mut self, time: SystemTime) {
        self.redirects.retain(|_, redirects| {
            redirects.retain(|redirect| redirect.cool_down.until > time);
            !redirects.is_empty()
        });
        self.servers.retain(|_, server| server.has_pause_at(time));
        self.neighbourhoods.retain(|_, pauses| pauses.iter().any(|pause| pause.latest() > time));
    }

    pub(super) fn len(&self) -> usize {
        self.servers.len()
    }
}

impl ServerHistory {
    /// Checks the start of an exchange at this server.
    fn compare(&self, started: ExchangeStart, fact: &Fact<'_>, pace: &Pace, short: &mut ShortPauses) {
        let slots = pace.per_address;
        let describe = |early_start: EarlyStart| format!("{} {early_start}", started.address);
        let until = |count: &mut Count, until: fn(&DuePause) -> SystemTime| {
            count.note(early_start(&self.pauses, started, slots, until), describe);
        };
        // With one slot, the shortest gap seen shows breaches of the least pause.
        if slots > 1 {
            until(&mut short.least, |pause| pause.least);
        }
        until(&mut short.slow, |pause| pause.slow);
        until(&mut short.link, |pause| pause.link);
        let trouble = early_start(&self.pauses, started, slots, |pause| pause.trouble);
        short.trouble.note(trouble, describe);
        if let Some(delay) = fact.crawl_delay {
            let until = |pause: &DuePause| pause.ended.checked_add(delay).unwrap_or(pause.ended);
            short.crawl_delay.note(early_start(&self.pauses, started, slots, until), describe);
        }
        let early_in = |cool_down: Option<CoolDown>| {
            let ended = self.last_end.filter(|ended| *ended <= started.latest)?;
            let cool_down = cool_down
                .filter(|cool_down| cool_down.known <= started.latest && started.latest < cool_down.until)?;
            EarlyStart::new(started, ended, cool_down.until)
        };
        short.retry_after.note(early_in(self.requested), describe);
        let put_off = early_in(self.put_off);
        short.put_off.note(put_off, describe);
        if self.given_up.is_some_and(|known| known <= started.reported) {
            short.put_off.add(|| format!("{} after it was given up", started.address));
        } else if let (None, None, Some(cool_down)) =
            (trouble, put_off, self.troubles.cool_down_of(fact.site))
        {
            // A site alone on its server waits for both cool-downs; count the breach once.
            compare_with_cool_down(cool_down, started, fact.site, pace, short);
        }
    }

    /// Takes in the result of an exchange and returns the pause that is due after it.
    fn settle(&mut self, fact: &Fact<'_>, pace: &Pace) -> DuePause {
        let response = fact.response;
        let ended = response.ended();
        let backoff = self.troubles.take(pace, fact.site, response);
        let slow = pause_for_time(pace, response.timings.response_time());
        let share = link::link_pause(self.link.take(response), pace.harm, pace.longest_pause());
        let usual = pace.min_delay.max(slow).max(share);
        let trouble = Some(doubled(pace, usual, backoff.doublings)).filter(|pause| *pause > usual);
        let cool_down = |time| Some(CoolDown { known: ended, until: ended.checked_add(time)? });
        self.requested = longer(self.requested, response.head.retry_after.and_then(cool_down));
        self.put_off = longer(self.put_off, backoff.put_off.and_then(cool_down));
        if backoff.is_given_up {
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

    fn has_pause_at(&self, time: SystemTime) -> bool {
        let cool_downs =
            [self.requested, self.put_off].into_iter().flatten().map(|cool_down| cool_down.until);
        // No Crawl-delay that is obeyed is longer than `LONGEST_WAIT`.
        let pauses = self.pauses.iter().map(|pause| pause.latest().max(pause.ended + LONGEST_WAIT));
        cool_downs.chain(pauses).any(|until| until > time) || self.troubles.has_site_cool_down_at(time)
    }
}

/// The pause that grows with the response time.
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

/// Checks a site that began an exchange at a server although it was to cool down there because of its own
/// troubles.
fn compare_with_cool_down(
    cool_down: DueSiteCoolDown,
    started: ExchangeStart,
    site: &Site,
    pace: &Pace,
    short: &mut ShortPauses,
) {
    let describe = || format!("{site} at {}", started.address);
    match cool_down.until {
        None if cool_down.known <= started.reported => {
            short.put_off.add(|| format!("{} after it was given up", describe()));
        }
        Some(until) if cool_down.known <= started.latest && started.latest < until => {
            let is_pause = until <= cool_down.known + pace.max_delay.max(pace.min_delay);
            let count = if is_pause { &mut short.trouble } else { &mut short.put_off };
            count.note(EarlyStart::new(started, cool_down.known, until), |early_start| {
                format!("{} {early_start}", describe())
            });
        }
        _ => {}
    }
}

fn longer(one: Option<CoolDown>, other: Option<CoolDown>) -> Option<CoolDown> {
    [one, other].into_iter().flatten().max_by_key(|cool_down| cool_down.until)
}

/// Keeps at most one pause per slot. The exchange took a free slot, or one whose pause was over when it
/// began; which one is unknown. The slot whose exchange ended last leaves the most room for later exchanges.
/// If no slot was free, the exchange took the one whose pause ended first.
fn add_pause(pauses: &mut Vec<DuePause>, pause: DuePause, begun: SystemTime, slots: u32) {
    let each = || pauses.iter().enumerate();
    let is_over = |pause: &DuePause| pause.ended.max(pause.latest()) <= begun;
    let mut taken = each().filter(|(_, pause)| is_over(pause)).max_by_key(|(_, pause)| pause.ended);
    if taken.is_none() && pauses.len() >= slots.max(1) as usize {
        taken = each().min_by_key(|(_, pause)| pause.latest());
    }
    if let Some((taken, _)) = taken {
        pauses.swap_remove(taken);
    }
    pauses.push(pause);
}

/// Where and when an exchange began: `reported` is the recorded time, `latest` the latest possible one if the
/// record is rounded.
#[derive(Clone, Copy)]
struct ExchangeStart {
    address: IpAddr,
    reported: SystemTime,
    latest: SystemTime,
}

/// How soon an exchange came after another, and the pause that was due.
#[derive(Clone, Copy)]
struct EarlyStart {
    after: Duration,
    required: Duration,
}

/// Whether an exchange began too early. An exchange takes a slot while it runs and during the pause that
/// follows. This one began when no slot was free, although at least one slot was only pausing.
fn early_start(
    pauses: &[DuePause],
    started: ExchangeStart,
    slots: u32,
    until: impl Fn(&DuePause) -> SystemTime,
) -> Option<EarlyStart> {
    let latest = started.latest;
    let taken = pauses.iter().filter(|pause| pause.ended > latest || until(pause) > latest).count();
    if taken < slots as usize {
        return None;
    }
    // Too many exchanges at once are judged separately: then no slot is pausing.
    let cooling = pauses.iter().filter(|pause| pause.ended <= latest && until(pause) > latest);
    let last = cooling.max_by_key(|pause| until(pause))?;
    EarlyStart::new(started, last.ended, until(last))
}

impl EarlyStart {
    fn new(started: ExchangeStart, ended: SystemTime, until: SystemTime) -> Option<Self> {
        let after = started.reported.duration_since(ended).unwrap_or_default();
        Some(Self { after, required: until.duration_since(ended).ok()? })
    }
}

impl std::fmt::Display for EarlyStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "after {:.3?} instead of {:.3?}", self.after, self.required)
    }
}

impl Count {
    fn note(&mut self, early_start: Option<EarlyStart>, describe: impl Fn(EarlyStart) -> String) {
        if let Some(early_start) = early_start {
            self.add(|| describe(early_start));
        }
    }
}
