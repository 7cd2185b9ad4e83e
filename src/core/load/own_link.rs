use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use crate::exchange::{Failure, Response};

/// Whether our own link works, judged from the results of all exchanges.
///
/// When everything fails at once, the servers are not the ones in trouble. If the survey went on, it would
/// take every site for unreachable. So it pauses, and from time to time a single request probes whether any
/// response arrives. Names and servers that fail count until one is reached. Servers that had responded
/// before count more, because start lists are full of hosts that are gone.
///
/// A dispatch to an agent takes one more link, from the survey to the agent. When several dispatches in a row
/// fail, that link is broken.
#[derive(Debug)]
pub struct OwnLink {
    /// The longest pause at a server. The pauses of the survey are 0.5 to 10 times as long.
    longest_pause: Duration,
    /// How long to wait for evidence that shows the cause of a loss.
    doubt: Duration,
    /// Hashes of the names and servers that were lost since one was last reached.
    lost: HashSet<u64>,
    weight: u32,
    /// Since when no request is sent, and the time of the next probe.
    outage: Option<LinkOutage>,
    reached_at: Option<SystemTime>,
    /// Number of failed dispatches in a row, and the time of the last failure.
    failed_dispatches: (u32, Option<SystemTime>),
}

#[derive(Clone, Copy, Debug)]
struct LinkOutage {
    fault: Fault,
    since: SystemTime,
    probe_at: SystemTime,
    pause: Duration,
    is_probing: bool,
}

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The link to the Internet: no response arrives from anywhere.
    Internet,
    /// The link to the agent: dispatches to it fail.
    Dispatches,
}

/// Whether our own link allows a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkDecision {
    /// It does: the link works as far as is known.
    Open,
    /// This request probes the link: no other request is sent until its result is noted.
    Probe,
    /// Ask again at this time, or when an exchange has ended.
    Until(SystemTime),
}

/// Why no response arrived from a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// Our own link is broken.
    OwnLink,
    /// Other servers have been reached since; or this server was the only one lost, which says nothing of our
    /// link.
    Server,
    /// No server has been reached since, and others were lost too, but too few to tell.
    Unknown,
    /// Undecided until this time at the latest.
    UnknownUntil(SystemTime),
}

/// What a response, or the result of a name lookup, says about our own link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkSignal {
    /// Some answer arrived from the network, even if it was a refusal.
    Reached,
    /// No response arrived from a server that had responded before.
    LostKnown,
    /// No response arrived from a server that has never responded.
    LostUnknown,
    /// It says nothing about our link.
    Nothing,
}

/// If six of ten start URLs are dead, chance alone brings a run of 12 dead ones once in 500 runs. A false
/// alarm costs half a minute.
const OUTAGE_WEIGHT: u32 = 12;
const WEIGHT_OF_KNOWN: u32 = 3;
/// The least number of different names and servers: one dead host, requested many times, says nothing about
/// our link.
const MIN_LOST_SERVERS: usize = 4;
/// A probe whose result was not noted, because its visit was stopped, is given up after this time.
const PROBE_TIMEOUT: Duration = Duration::from_secs(120);
/// An agent that was stopped or cut off for a moment loses the dispatches of that moment, once.
const MAX_FAILED_DISPATCHES: u32 = 3;
/// A failed dispatch delays a site for some seconds: a tenth of the time at first, then less.
const FIRST_DISPATCH_PAUSE: Duration = Duration::from_mins(1);
/// An agent that walks a single site sends its next request after some seconds.
const AGENT_DOUBT: Duration = Duration::from_secs(2);

impl OwnLink {
    /// With the default longest pause of 60 s the survey pauses for 30 s at first and for 10 min at most.
    #[must_use]
    pub fn new(longest_pause: Duration) -> Self {
        let (doubt, lost) = (longest_pause / 2, HashSet::new());
        Self {
            longest_pause,
            doubt,
            lost,
            weight: 0,
            outage: None,
            reached_at: None,
            failed_dispatches: (0, None),
        }
    }

    /// The link of an agent, which may have few servers to judge by.
    #[must_use]
    pub fn for_agent(longest_pause: Duration) -> Self {
        let link = Self::new(longest_pause);
        Self { doubt: link.doubt.max(AGENT_DOUBT), ..link }
    }

    /// Whether a request may be sent now.
    pub fn decide(&mut self, now: SystemTime) -> LinkDecision {
        let Some(outage) = &mut self.outage else { return LinkDecision::Open };
        if now < outage.probe_at {
            return LinkDecision::Until(outage.probe_at);
        }
        outage.is_probing = true;
        outage.probe_at = now + PROBE_TIMEOUT;
        LinkDecision::Probe
    }

    /// Notes what a result says about the link; `server` identifies the host or address.
    pub fn note(&mut self, now: SystemTime, server: u64, signal: LinkSignal) {
        match signal {
            LinkSignal::Nothing => {}
            LinkSignal::Reached => {
                let (reached_at, doubt) = (self.reached_at.max(Some(now)), self.doubt);
                *self = Self { reached_at, doubt, ..Self::new(self.longest_pause) };
            }
            LinkSignal::LostKnown => self.note_loss(now, server, WEIGHT_OF_KNOWN),
            LinkSignal::LostUnknown => self.note_loss(now, server, 1),
        }
    }

    /// An agent completed a dispatch.
    pub fn note_completed_dispatch(&mut self) {
        self.failed_dispatches = (0, None);
        self.outage.take_if(|outage| outage.fault == Fault::Dispatches);
    }

    /// Notes that a dispatch to an agent failed; it was sent at `dispatched`.
    pub fn note_failed_dispatch(&mut self, dispatched: SystemTime, now: SystemTime) {
        if let Some(outage) = &mut self.outage {
            return outage.fail(now, self.longest_pause);
        }
        let (count, last) = self.failed_dispatches;
        // Of several dispatches in flight at once, only one counts.
        if last.is_none_or(|last| dispatched >= last) {
            self.failed_dispatches = (count + 1, Some(now));
        }
        if self.failed_dispatches.0 >= MAX_FAILED_DISPATCHES {
            self.outage = Some(LinkOutage::begin(Fault::Dispatches, now, self.longest_pause));
        }
    }

    /// A probe turned out to need no network, or its result was not noted: the next request probes.
    pub fn release_probe(&mut self, now: SystemTime) {
        if let Some(outage) = self.outage.as_mut().filter(|outage| outage.is_probing) {
            outage.is_probing = false;
            outage.probe_at = outage.probe_at.min(now);
        }
    }

    /// The cause of a loss at that time. It stays undecided for no longer than the shortest pause of the
    /// survey, or some seconds.
    #[must_use]
    pub fn loss_cause(&self, lost_at: SystemTime, now: SystemTime) -> LossCause {
        let decided_at = lost_at + self.doubt;
        match self.reached_at {
            _ if self.outage.is_some() => LossCause::OwnLink,
            Some(reached) if reached >= lost_at => LossCause::Server,
            // A single loss says nothing about our link.
            _ if now >= decided_at && self.lost.len() > 1 => LossCause::Unknown,
            _ if now >= decided_at => LossCause::Server,
            _ => LossCause::UnknownUntil(decided_at),
        }
    }

    /// Whether no server was reached by a request sent at that time or later.
    #[must_use]
    pub fn is_silent_since(&self, time: SystemTime) -> bool {
        self.reached_at.is_none_or(|reached| reached < time)
    }

    /// What is broken, and since when. While it is broken no request is sent.
    #[must_use]
    pub fn outage(&self) -> Option<(Fault, SystemTime)> {
        self.outage.map(|outage| (outage.fault, outage.since))
    }

    fn note_loss(&mut self, now: SystemTime, server: u64, weight: u32) {
        if let Some(outage) = &mut self.outage {
            return outage.fail(now, self.longest_pause);
        }
        if self.lost.insert(server) {
            self.weight += weight;
        }
        if self.weight >= OUTAGE_WEIGHT && self.lost.len() >= MIN_LOST_SERVERS {
            self.outage = Some(LinkOutage::begin(Fault::Internet, now, self.longest_pause));
        }
    }
}

impl LinkOutage {
    fn begin(fault: Fault, now: SystemTime, longest_pause: Duration) -> Self {
        let (pause, _) = fault.pauses(longest_pause);
        Self { fault, since: now, probe_at: now + pause, pause, is_probing: false }
    }

    /// If this was a probe, the next one comes later.
    fn fail(&mut self, now: SystemTime, longest_pause: Duration) {
        if std::mem::take(&mut self.is_probing) {
            let (_, longest) = self.fault.pauses(longest_pause);
            self.pause = (self.pause * 2).min(longest);
            self.probe_at = now + self.pause;
        }
    }
}

impl Fault {
    /// The pause before the first probe, and the longest pause.
    fn pauses(self, longest_pause: Duration) -> (Duration, Duration) {
        match self {
            Self::Internet => (longest_pause / 2, longest_pause * 10),
            Self::Dispatches => (FIRST_DISPATCH_PAUSE, FIRST_DISPATCH_PAUSE * 10),
        }
    }
}

impl LinkSignal {
    /// As [`Self::from_response`], for a response that an agent reports. A machine whose network refuses or
    /// resets connections reaches no server, so a refusal or reset counts as lost until a server is reached.
    /// Where the response broke off, its earlier part says nothing about the link now.
    #[must_use]
    pub fn from_agent_response(response: &Response, is_known: bool) -> Self {
        use Failure::{BodyTruncated, ConnectRefused, FirstByteTimeout, IdleClosed, IdleTimeout, Reset};
        use Failure::{TlsTimeout, TooSlow};
        let signal = Self::from_response(response, is_known);
        match response.failure {
            Some(ConnectRefused) => Self::lost(is_known),
            Some(Reset) if response.status.is_none() => Self::lost(is_known),
            Some(Reset | BodyTruncated | IdleClosed) => Self::Nothing,
            Some(TlsTimeout | FirstByteTimeout | IdleTimeout | TooSlow) if signal == Self::Reached => {
                Self::Nothing
            }
            _ => signal,
        }
    }

    fn lost(is_known: bool) -> Self {
        if is_known { Self::LostKnown } else { Self::LostUnknown }
    }

    /// What a response says about the link; `is_known` if its server had responded before.
    #[must_use]
    pub fn from_response(response: &Response, is_known: bool) -> Self {
        let lost = Self::lost(is_known);
        match response.failure {
            _ if response.status.is_some() => Self::Reached,
            Some(Failure::ConnectTimeout | Failure::ConnectUnreachable) => lost,
            // An opened connection shows that the network works; a connection kept alive may be dead.
            Some(Failure::FirstByteTimeout) if response.wire.connections == 0 => lost,
            Some(Failure::DnsTimeout | Failure::DnsServfail) => Self::LostUnknown,
            Some(failure) if failure.reached_the_network() => Self::Reached,
            // That a name does not exist may come from the name server's cache.
            _ => Self::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn outage() -> OwnLink {
        let mut link = OwnLink::new(Duration::from_secs(60));
        for server in 0..4 {
            assert_eq!(link.decide(at(0)), LinkDecision::Open);
            link.note(at(0), server, LinkSignal::LostKnown);
        }
        link
    }

    #[test]
    fn when_servers_that_answered_before_are_lost_together_the_survey_pauses() {
        let mut link = outage();
        assert_eq!(link.decide(at(1)), LinkDecision::Until(at(30)));
        assert_eq!(link.outage(), Some((Fault::Internet, at(0))));
    }

    #[test]
    fn an_agent_to_which_dispatches_in_a_row_come_to_nothing_gets_a_probe_now_and_then() {
        let mut link = OwnLink::new(Duration::from_secs(2));
        for round in 0..3 {
            assert_eq!(link.decide(at(round * 6)), LinkDecision::Open);
            // Other dispatches of the same moment count once.
            (0..64).for_each(|_| link.note_failed_dispatch(at(round * 6), at(round * 6 + 6)));
        }
        assert_eq!(link.outage(), Some((Fault::Dispatches, at(18))));
        assert_eq!(link.decide(at(19)), LinkDecision::Until(at(78)));
        assert_eq!(link.decide(at(78)), LinkDecision::Probe);
        link.note_failed_dispatch(at(78), at(84));
        assert_eq!(link.decide(at(85)), LinkDecision::Until(at(204)), "twice as long");
        assert_eq!(link.decide(at(204)), LinkDecision::Probe);
        link.note_completed_dispatch();
        assert_eq!(link.decide(at(205)), LinkDecision::Open);
    }

    #[test]
    fn dispatches_in_vain_that_others_follow_are_none_in_a_row() {
        let mut link = OwnLink::new(Duration::from_secs(60));
        for round in 0..100 {
            link.note_failed_dispatch(at(round * 6), at(round * 6 + 6));
            if round % 3 == 1 {
                link.note_completed_dispatch();
            }
        }
        assert_eq!(link.outage(), None);
        // A completed dispatch repairs no other link.
        let mut link = outage();
        link.note_completed_dispatch();
        assert_eq!(link.outage(), Some((Fault::Internet, at(0))));
    }

    #[test]
    fn hosts_that_were_never_heard_of_count_less() {
        let mut link = OwnLink::new(Duration::from_secs(60));
        for server in 0..11 {
            link.note(at(0), server, LinkSignal::LostUnknown);
        }
        assert_eq!(link.decide(at(1)), LinkDecision::Open);
        link.note(at(1), 11, LinkSignal::LostUnknown);
        assert_eq!(link.decide(at(1)), LinkDecision::Until(at(31)));
    }

    #[test]
    fn one_dead_server_or_one_that_answers_in_between_pauses_nothing() {
        let mut link = OwnLink::new(Duration::from_secs(60));
        for round in 0..1000 {
            link.note(at(round), 7, LinkSignal::LostKnown);
        }
        assert_eq!(link.decide(at(1000)), LinkDecision::Open);
        for server in 0..1000 {
            link.note(
                at(server),
                server,
                if server % 4 == 3 { LinkSignal::Reached } else { LinkSignal::LostKnown },
            );
        }
        assert_eq!(link.decide(at(1000)), LinkDecision::Open);
    }

    #[test]
    fn one_question_at_a_time_probes_at_growing_intervals_until_something_is_reached() {
        let mut link = outage();
        let mut probes = Vec::new();
        let mut now = at(0);
        while probes.len() < 7 {
            match link.decide(now) {
                LinkDecision::Until(time) => now = time,
                LinkDecision::Probe => {
                    assert!(matches!(link.decide(now), LinkDecision::Until(_)), "one at a time");
                    probes.push(now.duration_since(UNIX_EPOCH).unwrap().as_secs());
                    link.note(now, 1, LinkSignal::LostKnown);
                }
                LinkDecision::Open => panic!("it is broken"),
            }
        }
        let between: Vec<u64> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(between, [60, 120, 240, 480, 600, 600]);
        link.note(now, 1, LinkSignal::Reached);
        assert_eq!(link.decide(now), LinkDecision::Open);
    }

    #[test]
    fn a_probe_that_nobody_tells_of_is_followed_by_another() {
        let mut link = outage();
        assert_eq!(link.decide(at(30)), LinkDecision::Probe);
        assert_eq!(link.decide(at(149)), LinkDecision::Until(at(150)));
        assert_eq!(link.decide(at(150)), LinkDecision::Probe);
    }

    #[test]
    fn a_probe_that_needed_no_network_is_passed_on() {
        let mut link = outage();
        assert_eq!(link.decide(at(30)), LinkDecision::Probe);
        link.release_probe(at(31));
        assert_eq!(link.decide(at(31)), LinkDecision::Probe);
    }

    #[test]
    fn whether_a_loss_is_ours_shows_when_something_is_reached_or_more_is_lost() {
        let mut link = OwnLink::new(Duration::from_secs(60));
        link.note(at(1), 1, LinkSignal::Reached);
        link.note(at(2), 2, LinkSignal::LostKnown);
        assert!(link.is_silent_since(at(2)) && !link.is_silent_since(at(1)));
        assert_eq!(link.loss_cause(at(2), at(3)), LossCause::UnknownUntil(at(32)));
        assert_eq!(link.loss_cause(at(2), at(32)), LossCause::Server, "nobody waits for ever");
        link.note(at(2), 3, LinkSignal::LostKnown);
        assert_eq!(link.loss_cause(at(2), at(31)), LossCause::UnknownUntil(at(32)));
        assert_eq!(link.loss_cause(at(2), at(32)), LossCause::Unknown, "another one was lost, too");
        assert!(link.is_silent_since(at(2)) && !link.is_silent_since(at(1)));
        link.note(at(4), 3, LinkSignal::Reached);
        assert_eq!(link.loss_cause(at(2), at(5)), LossCause::Server);
        assert_eq!(outage().loss_cause(at(0), at(0)), LossCause::OwnLink);
    }

    #[test]
    fn a_refusal_is_an_answer_of_the_network_and_a_missing_name_is_none() {
        let signal =
            |failure| LinkSignal::from_response(&Response::not_sent(at(0), None, failure, None), true);
        assert_eq!(signal(Failure::ConnectRefused), LinkSignal::Reached);
        assert_eq!(signal(Failure::Reset), LinkSignal::Reached);
        assert_eq!(signal(Failure::ConnectTimeout), LinkSignal::LostKnown);
        assert_eq!(signal(Failure::DnsTimeout), LinkSignal::LostUnknown);
        assert_eq!(signal(Failure::DnsNxdomain), LinkSignal::Nothing);
        assert_eq!(signal(Failure::OptedOut), LinkSignal::Nothing);
    }

    #[test]
    fn a_refusal_or_reset_that_an_agent_sees_may_be_that_of_its_own_network() {
        let response = |failure| Response::not_sent(at(0), None, failure, None);
        let signal = |failure| LinkSignal::from_agent_response(&response(failure), true);
        assert_eq!(signal(Failure::ConnectRefused), LinkSignal::LostKnown);
        assert_eq!(signal(Failure::Reset), LinkSignal::LostKnown);
        assert_eq!(signal(Failure::TlsAlert), LinkSignal::Reached);
        let after_head = [Failure::IdleTimeout, Failure::IdleClosed, Failure::BodyTruncated];
        assert!(after_head.into_iter().all(|failure| signal(failure) == LinkSignal::Nothing));
        let cut = Response { status: Some(200), ..response(Failure::Reset) };
        assert_eq!(LinkSignal::from_agent_response(&cut, true), LinkSignal::Nothing);
    }

    #[test]
    fn what_was_asked_before_a_loss_does_not_tell_whose_fault_that_was() {
        let mut link = OwnLink::new(Duration::from_secs(60));
        link.note(at(9), 1, LinkSignal::Reached);
        link.note(at(10), 2, LinkSignal::LostKnown);
        link.note(at(8), 3, LinkSignal::Reached);
        assert_eq!(link.loss_cause(at(10), at(11)), LossCause::UnknownUntil(at(40)));
        assert_eq!(link.loss_cause(at(9), at(11)), LossCause::Server);
    }

    #[test]
    fn a_status_and_a_connection_that_was_opened_are_answers_of_the_network() {
        let silent = |connections| {
            let mut response = Response::not_sent(at(0), None, Failure::FirstByteTimeout, None);
            response.wire.connections = connections;
            response
        };
        assert_eq!(
            LinkSignal::from_response(&silent(0), true),
            LinkSignal::LostKnown,
            "a connection kept alive may be dead"
        );
        assert_eq!(LinkSignal::from_response(&silent(0), false), LinkSignal::LostUnknown);
        assert_eq!(LinkSignal::from_response(&silent(1), true), LinkSignal::Reached);
        let page = Response { status: Some(200), failure: None, ..silent(0) };
        assert_eq!(LinkSignal::from_response(&page, true), LinkSignal::Reached);
    }
}
