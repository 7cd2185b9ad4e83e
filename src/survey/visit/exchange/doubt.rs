use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

use super::requester::{
    AGENT_LEFT, Attempt, AttemptEnd, DoubtfulFailure, Requester, STOPPED, WantedExchange,
};
use crate::exchange::{Failure, Response};
use crate::load::LossCause;
use crate::survey::agents::AssignedAgent;
use crate::survey::agents::doubts::Doubt;
use crate::survey::parts::Parts;
use crate::survey::visit::own_link::{self, Link, LinkPass};

/// A request that was lost this often is not given up again because this process stood still.
pub(super) const MAX_TIMES_LOST: usize = 3;

/// The result of a request, and the link that it was sent over.
#[derive(Clone, Copy)]
pub(super) struct LinkResult<'l> {
    /// The agent that sent it; none for this process.
    pub(super) sender: Option<&'l Arc<AssignedAgent>>,
    pub(super) link: &'l Link<'l>,
    pub(super) address: IpAddr,
    pub(super) requested_at: SystemTime,
    pub(super) response: &'l Response,
}

impl Attempt<'_> {
    /// Whether the link may be why the request brought nothing. `by_agent` says whether it was an agent's
    /// link.
    fn may_be_link(&self, by_agent: bool, response: &Response) -> bool {
        response.failure.is_some_and(|failure| match self {
            Self::First if !by_agent => may_be_our_link(failure),
            _ if !by_agent => false,
            _ => may_be_link_of_agent(failure),
        })
    }
}

impl<'a> Requester<'a> {
    /// Notes what the response reveals about the link. Returns an error if the link is why the request
    /// brought nothing, or if that is unknown.
    pub(super) async fn judge_link(
        &self,
        wanted: &WantedExchange,
        attempt: Attempt<'a>,
        link_result: LinkResult<'_>,
        pass: LinkPass<'a>,
    ) -> Result<(), AttemptEnd<'a>> {
        let LinkResult { sender, link, address, requested_at, response } = link_result;
        let mut noted_at = None;
        match &attempt {
            Attempt::First | Attempt::Last if response.failure.is_some_and(Failure::is_connect_failure) => {
                let second_agent;
                (second_agent, noted_at) = self.await_other_agent(link_result, &pass).await?;
                if let Some((first_agent, second_agent)) = sender.cloned().zip(second_agent) {
                    // What this reveals about the agent's link is known once another agent has tried.
                    let response = response.clone();
                    return Err(AttemptEnd::Doubtful(Box::new(DoubtfulFailure {
                        first_agent,
                        _pass: pass,
                        response,
                        is_noted: noted_at.is_some(),
                        second_agent,
                    })));
                }
            }
            Attempt::Second(doubt) => self.compare(doubt, address, response),
            _ => {}
        }
        let at = noted_at.unwrap_or_else(|| {
            own_link::note(link, address, response, requested_at);
            self.parts.access.now()
        });
        if let (None, Some(agents)) = (response.failure, &self.parts.agents) {
            agents.doubts.resolve(self.tree, wanted.request.number);
        }
        // A network that forgets its connections works before and after. For connections that could not be
        // made there is another agent; while nothing came, there is no evidence that the link worked.
        let is_doubtful = response.failure.is_some_and(|failure| match failure {
            Failure::ConnectTimeout => own_link::is_silent_since(link, requested_at),
            _ => !failure.is_connect_failure(),
        });
        drop(pass);
        if attempt.may_be_link(sender.is_some(), response) {
            self.confirm_failure(wanted, link_result, at, is_doubtful).await?;
        }
        Ok(())
    }

    /// Confirms a failure as the outcome of a request once its cause is known; otherwise the request is sent
    /// again.
    async fn confirm_failure(
        &self,
        wanted: &WantedExchange,
        link_result: LinkResult<'_>,
        at: SystemTime,
        is_doubtful: bool,
    ) -> Result<(), AttemptEnd<'a>> {
        // If a request is lost again and again, the server is the cause.
        if wanted.times_lost >= MAX_TIMES_LOST {
            return Ok(());
        }
        let LinkResult { sender, link, response, .. } = link_result;
        let cause = own_link::loss_cause(link, at).await.ok_or(STOPPED)?;
        let doubt = match cause {
            LossCause::Unknown => Some(Doubt::OthersLost),
            _ => is_doubtful.then_some(Doubt::OnlyLoss),
        };
        let is_ours = cause == LossCause::OwnLink
            || doubt.is_some_and(|doubt| self.may_repeat(wanted.request.number, doubt, sender));
        if !is_ours {
            return Ok(());
        }
        if response.failure.is_some_and(Failure::is_connect_failure) {
            return Err(AttemptEnd::OwnLinkBroken);
        }
        // It may have been sent, so it counts as a request without a response.
        Err(self.note_lost())
    }

    /// Whether a request whose loss leaves a doubt may be sent again. Its agent must have a link of its own,
    /// and another agent must be there or be expected.
    fn may_repeat(&self, request: u32, doubt: Doubt, sender: Option<&Arc<AssignedAgent>>) -> bool {
        let remote = sender.filter(|sender| sender.remote_worker().is_some());
        self.parts.agents.as_ref().zip(remote).is_some_and(|(agents, remote)| {
            let now = self.parts.access.now();
            let is_expected = agents.others_expected_until().is_some_and(|until| now < until);
            let has_other = is_expected || self.other_agent(sender).is_some();
            has_other && agents.doubts.try_repeat(self.tree, request, doubt, remote.number)
        })
    }

    /// The result of the request is unknown: the visit starts again from its journal.
    pub(super) fn note_lost(&self) -> AttemptEnd<'a> {
        self.parts.access.progress.update(|now| now.unrecorded += 1);
        AGENT_LEFT
    }

    /// Another agent, which tries to make a connection that this one could not make. If another one was there
    /// a moment ago, waits for it or for its replacement, unless it turns out that this agent's link is
    /// broken. Also returns when the failure was noted, if it was: those that waited end together, and noted
    /// only then they would look like a link that has just broken.
    async fn await_other_agent(
        &self,
        failed: LinkResult<'_>,
        pass: &LinkPass<'a>,
    ) -> Result<(Option<Arc<AssignedAgent>>, Option<SystemTime>), AttemptEnd<'a>> {
        let LinkResult { sender, link, address, requested_at, response } = failed;
        let Parts { access, agents: Some(agents), .. } = self.parts else { return Ok((None, None)) };
        let is_remote = sender.is_some_and(|sender| sender.remote_worker().is_some());
        let mut noted_at = None;
        loop {
            // Listening begins before the check, so that no notification is missed in between.
            let mut changed = std::pin::pin!(agents.changed.notified());
            changed.as_mut().enable();
            let other = self.other_agent(sender);
            let until = agents.others_expected_until().filter(|until| access.now() < *until);
            let Some(until) = until.filter(|_| other.is_none() && is_remote && !pass.is_probe()) else {
                return Ok((other, noted_at));
            };
            // Together with the failures of others it shows whether the link is broken.
            if noted_at.is_none() {
                noted_at = Some(access.now());
                own_link::note(link, address, response, requested_at);
            }
            if own_link::is_broken(link) {
                return Ok((None, noted_at));
            }
            let until_changed = async {
                tokio::select! {
                    () = changed => {}
                    () = access.clock.until(until) => {}
                }
            };
            access.until_stopped(until_changed).await.ok_or(STOPPED)?;
        }
    }

    /// Another agent whose own link works, preferably the agent that walks the tree.
    fn other_agent(&self, excluded: Option<&Arc<AssignedAgent>>) -> Option<Arc<AssignedAgent>> {
        let (excluded, agents) = (excluded?, self.parts.agents.as_ref()?);
        let walking_agent = self.assigned.filter(|assigned| assigned.name != excluded.name);
        walking_agent.cloned().or_else(|| agents.other_agent(excluded))
    }

    /// Notes what the response that another agent received reveals about the link of the agent that could not
    /// connect.
    fn compare(&self, doubt: &DoubtfulFailure<'_>, address: IpAddr, response: &Response) {
        let Parts { access, agents, .. } = self.parts;
        let link = Link::of_agent(access, agents.as_ref(), Some(&doubt.first_agent));
        if response
            .failure
            .is_some_and(|failure| failure.is_connect_failure() || !failure.reached_the_network())
        {
            if !doubt.is_noted {
                own_link::note(&link, address, &doubt.response, doubt.response.started);
            }
        } else {
            own_link::note_failed_only_here(&link, address);
        }
    }
}

/// As far as the server can know, no request was sent yet; our own link may be broken.
fn may_be_our_link(failure: Failure) -> bool {
    matches!(failure, Failure::ConnectTimeout | Failure::ConnectUnreachable)
}

/// The same for an agent. An exchange that was running when the agent's link broke ends without a response,
/// too, and another agent can repeat it.
fn may_be_link_of_agent(failure: Failure) -> bool {
    failure.is_connect_failure() || broke_off(failure) || is_silence(failure) || failure == Failure::TooSlow
}

/// The connection ended before the exchange was complete.
pub(super) fn broke_off(failure: Failure) -> bool {
    use Failure::{BodyTruncated, IdleClosed, Reset};
    matches!(failure, Reset | IdleClosed | BodyTruncated)
}

/// The server sent nothing for a long time.
fn is_silence(failure: Failure) -> bool {
    use Failure::{FirstByteTimeout, IdleTimeout, TlsTimeout};
    matches!(failure, TlsTimeout | FirstByteTimeout | IdleTimeout)
}
