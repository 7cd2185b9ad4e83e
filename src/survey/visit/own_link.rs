use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

use crate::address::Host;
use crate::exchange::{Failure, Response};
use crate::fetch::Located;
use crate::load::{Fault, LinkDecision, LinkSignal, LossCause, OwnLink};
use crate::survey::agents::{Agents, AssignedAgent};
use crate::survey::parts::access::Access;

/// The link that a request is sent over: that of this process, or that of an agent.
#[derive(Clone)]
pub(in crate::survey) struct Link<'a> {
    access: &'a Access,
    /// The agent with the pool of all agents, if the agent is a process of its own.
    agent: Option<(Arc<AssignedAgent>, Arc<Agents>)>,
}

impl<'a> Link<'a> {
    /// The link of this process. Names are looked up over it, and all requests are sent over it if there are
    /// no agents.
    pub(in crate::survey) fn own(access: &'a Access) -> Self {
        Self { access, agent: None }
    }

    /// The link of an agent, if the agent is a process of its own; otherwise the link of this process.
    pub(in crate::survey) fn of_agent(
        access: &'a Access,
        agents: Option<&Arc<Agents>>,
        assigned: Option<&Arc<AssignedAgent>>,
    ) -> Self {
        let assigned = assigned.filter(|assigned| assigned.remote_worker().is_some());
        Self { access, agent: assigned.cloned().zip(agents.cloned()) }
    }

    fn with<T>(&self, work: impl FnOnce(&mut OwnLink) -> T) -> T {
        match self.agent.as_ref().and_then(|(assigned, _)| assigned.link()) {
            Some(mut link) => work(&mut link.state),
            None => work(&mut self.access.own_link()),
        }
    }

    /// Whether this link is broken while another agent has a working one.
    fn is_better_elsewhere(&self) -> bool {
        self.agent
            .as_ref()
            .is_some_and(|(assigned, agents)| is_broken(self) && agents.other_agent(assigned).is_some())
    }

    /// What a response reveals about the link. `is_known` says that the server had responded before.
    fn signal(&self, response: &Response, is_known: bool) -> LinkSignal {
        if self.agent.is_some() {
            LinkSignal::from_agent_response(response, is_known)
        } else {
            LinkSignal::from_response(response, is_known)
        }
    }
}

/// Permission to send a request, as far as the link is concerned. If it is a probe and is dropped before its
/// outcome is noted, the next request probes the link.
pub(in crate::survey) struct LinkPass<'a> {
    link: Link<'a>,
    is_probe: bool,
}

impl<'a> LinkPass<'a> {
    /// The pass of a probe that has begun.
    pub(in crate::survey) fn probe(link: Link<'a>) -> Self {
        Self { link, is_probe: true }
    }

    pub(in crate::survey) fn is_probe(&self) -> bool {
        self.is_probe
    }
}

impl Drop for LinkPass<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            let access = self.link.access;
            self.link.with(|link| link.release_probe(access.now()));
            access.settled.notify_waiters();
        }
    }
}

/// Why a link cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::survey) enum LinkRefusal {
    /// The survey is stopping.
    Stopped,
    /// The link of this agent is broken, and another agent has a working one.
    Elsewhere,
}

/// Waits until the link allows a request.
pub(in crate::survey) async fn acquire<'a>(link: &Link<'a>) -> Result<LinkPass<'a>, LinkRefusal> {
    let access = link.access;
    loop {
        // Listening begins before the check, so that no notification is missed in between.
        let mut settled = std::pin::pin!(access.settled.notified());
        settled.as_mut().enable();
        if link.is_better_elsewhere() {
            return Err(LinkRefusal::Elsewhere);
        }
        let decision = link.with(|link| link.decide(access.now()));
        let time = match decision {
            LinkDecision::Open => return Ok(LinkPass { link: link.clone(), is_probe: false }),
            LinkDecision::Probe => {
                let pass = LinkPass::probe(link.clone());
                // The name server reveals nothing about the link of an agent.
                if link.agent.is_some() || has_names(access).await.ok_or(LinkRefusal::Stopped)? {
                    return Ok(pass);
                }
                continue;
            }
            LinkDecision::Until(time) => time,
        };
        access.until_stopped(wait_for_change(link, settled, time)).await.ok_or(LinkRefusal::Stopped)?;
    }
}

/// Whether the name server responds for the country domains. Checked before a site is spent on a probe.
async fn has_names(access: &Access) -> Option<bool> {
    for domain in &access.country_domains {
        access.fetcher.forget(domain);
        let located = access.until_stopped(access.locate(domain, &[])).await?;
        if !matches!(located.address, Err(Failure::DnsTimeout | Failure::DnsServfail)) {
            return Some(true);
        }
    }
    note_signal(&Link::own(access), &"country domains", LinkSignal::LostUnknown);
    Some(false)
}

/// Looks up a host once our own link works, as far as is known. Returns none when the survey is stopping.
///
/// A lookup that was lost is repeated if it turns out meanwhile that our own link was broken. Addresses in
/// `dead` are passed over, and the next one is used.
pub(in crate::survey) async fn locate(access: &Access, host: &Host, dead: &[IpAddr]) -> Option<Located> {
    let (located, lost_at) = look_up(access, host, dead).await?;
    match lost_at {
        Some(time) if loss_cause(&Link::own(access), time).await? == LossCause::OwnLink => {
            access.fetcher.forget(host);
            look_up(access, host, dead).await.map(|(located, _)| located)
        }
        _ => Some(located),
    }
}

/// The location of a host, with the time of the loss if the lookup brought nothing back from the network.
async fn look_up(access: &Access, host: &Host, dead: &[IpAddr]) -> Option<(Located, Option<SystemTime>)> {
    let link = Link::own(access);
    let _pass = acquire(&link).await.ok()?;
    let located = access.until_stopped(access.locate(host, dead)).await?;
    // A cached result reveals nothing about the network.
    if located.dns.is_none() {
        return Some((located, None));
    }
    let signal = match located.address {
        Ok(_) => LinkSignal::Reached,
        Err(failure) => {
            LinkSignal::from_response(&Response::not_sent(access.now(), None, failure, None), false)
        }
    };
    note_signal(&link, &host, signal);
    Some((located, (signal == LinkSignal::LostUnknown).then(|| access.now())))
}

/// Whether the link caused a loss. Waits until that is known, or until the waiting time is over. Returns none
/// when the survey is stopping.
pub(in crate::survey) async fn loss_cause(link: &Link<'_>, lost_at: SystemTime) -> Option<LossCause> {
    let access = link.access;
    loop {
        let mut settled = std::pin::pin!(access.settled.notified());
        settled.as_mut().enable();
        let cause = link.with(|link| link.loss_cause(lost_at, access.now()));
        let LossCause::UnknownUntil(time) = cause else { return Some(cause) };
        access.until_stopped(wait_for_change(link, settled, time)).await?;
    }
}

/// Whether requests over the link are put off because it brings nothing.
pub(in crate::survey) fn is_broken(link: &Link<'_>) -> bool {
    link.with(|link| link.outage().is_some())
}

/// Whether the link has brought nothing for any request sent at this time or later.
pub(in crate::survey) fn is_silent_since(link: &Link<'_>, time: SystemTime) -> bool {
    link.with(|link| link.is_silent_since(time))
}

async fn wait_for_change(link: &Link<'_>, settled: impl Future<Output = ()>, time: SystemTime) {
    let agents_changed = async {
        match &link.agent {
            Some((_, agents)) => agents.changed.notified().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = settled => {}
        () = agents_changed => {}
        () = link.access.clock.until(time) => {}
    }
}

/// Notes what a response reveals about the link that it came over. Must be called before the server's state
/// is updated.
///
/// A response received by an agent becomes known here some time later. So it clears the link only of losses
/// before `requested_at`, the time at which its request was sent.
pub(in crate::survey) fn note(
    link: &Link<'_>,
    address: IpAddr,
    response: &Response,
    requested_at: SystemTime,
) {
    let is_known = link.access.load().state_of(address).is_some_and(|state| state.ledger.answers > 0);
    let signal = link.signal(response, is_known);
    let is_later = link.agent.is_some() && signal == LinkSignal::Reached;
    note_signal_at(link, &address, signal, if is_later { requested_at } else { link.access.now() });
}

/// Notes that a connection failed over this link but succeeded over another one.
pub(in crate::survey) fn note_failed_only_here(link: &Link<'_>, address: IpAddr) {
    let Some((assigned, _)) = &link.agent else { return };
    if let Some(mut link) = assigned.link() {
        link.failed_only_here += 1;
        if link.failed_only_here == 1 {
            tracing::warn!(agent = assigned.name, %address, "a connection failed at one agent and succeeded at another");
        }
    }
    // Another agent reached the server, so the server counts as one that has responded before.
    note_signal(link, &address, LinkSignal::LostKnown);
}

/// Notes that an agent executed a dispatch.
pub(in crate::survey) fn note_completed_dispatch(link: &Link<'_>) {
    change(link, OwnLink::note_completed_dispatch);
}

/// Notes that a dispatch to an agent at this time brought no result.
pub(in crate::survey) fn note_failed_dispatch(link: &Link<'_>, dispatched: SystemTime) {
    change(link, |state| state.note_failed_dispatch(dispatched, link.access.now()));
}

fn note_signal(link: &Link<'_>, subject: &impl Hash, signal: LinkSignal) {
    note_signal_at(link, subject, signal, link.access.now());
}

fn note_signal_at(link: &Link<'_>, subject: &impl Hash, signal: LinkSignal, time: SystemTime) {
    let mut hasher = DefaultHasher::new();
    subject.hash(&mut hasher);
    change(link, |state| state.note(time, hasher.finish(), signal));
}

fn change(link: &Link<'_>, apply: impl FnOnce(&mut OwnLink)) {
    let [before, after] = link.with(|state| {
        let before = state.outage();
        apply(state);
        [before, state.outage()]
    });
    if before != after {
        log_change(link, before, after);
        link.access.settled.notify_waiters();
    }
}

/// What is broken, and since when.
type LinkFault = Option<(Fault, SystemTime)>;

fn log_change(link: &Link<'_>, before: LinkFault, after: LinkFault) {
    let Some((assigned, agents)) = &link.agent else {
        match (before, after) {
            (None, Some(_)) => {
                tracing::warn!("no responses from anywhere: the survey pauses and probes our own link");
            }
            (Some(_), None) => tracing::info!("our own link works again"),
            _ => {}
        }
        let since = after.map(|(_, time)| link.access.clock.system_time_at(time));
        link.access.progress.update(|now| now.own_link_broken_since = since);
        return;
    };
    let agent = &assigned.name;
    match (before, after) {
        (_, Some((Fault::Internet, _))) => {
            tracing::warn!(
                agent,
                "an agent gets no responses: its sites continue elsewhere, and its own link is probed"
            );
        }
        (_, Some((Fault::Dispatches, _))) => {
            tracing::warn!(
                agent,
                "dispatches to an agent bring no results: its sites continue elsewhere, and it is tried again from time to time"
            );
        }
        (Some((Fault::Internet, _)), None) => tracing::info!(agent, "the agent's own link works again"),
        (Some((Fault::Dispatches, _)), None) => {
            tracing::info!(agent, "an agent executes dispatches again");
        }
        (None, None) => {}
    }
    agents.note_link(assigned);
}
