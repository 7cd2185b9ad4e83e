use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

use super::requester::{Attempt, AttemptEnd, DoubtfulFailure, LEFT, Requester, STOPPED, WantedExchange};
use crate::exchange::{Failure, Response};
use crate::load::LossCause;
use crate::survey::agents::AssignedAgent;
use crate::survey::parts::Parts;
use crate::survey::visit::own_link::{self, Link, LinkPass};

/// A request that was lost so often is not given up once more because this process stood still.
pub(super) const MOST_LOST: usize = 3;

/// Where there are several agents, a request that broke off or brought nothing is sent again so often because nobody knows whether
/// the link of its agent worked.
const MOST_DOUBTS: usize = 2;

/// Where a request alone brought nothing, it is sent again only while so few of its tree were lost: a server that is silent for
/// everybody, or breaks off, is not to pay for it page by page.
const MOST_ALONE: u64 = 2;

/// What came of a request, and over which link.
#[derive(Clone, Copy)]
pub(super) struct LinkResult<'l> {
    /// The agent that sent it; none: this process.
    pub(super) sender: Option<&'l Arc<AssignedAgent>>,
    pub(super) link: &'l Link<'l>,
    pub(super) address: IpAddr,
    pub(super) asked: SystemTime,
    pub(super) response: &'l Response,
}

impl Attempt<'_> {
    /// Whether the link that a request was sent over may be why it brought nothing; `by_agent` says whose that is.
    fn may_be_link(&self, by_agent: bool, response: &Response) -> bool {
        response.failure.is_some_and(|failure| match self {
            Self::First if !by_agent => may_be_our_link(failure),
            _ if !by_agent => false,
            _ => may_be_link_of_agent(failure),
        })
    }
}

impl<'a> Requester<'a> {
    /// Takes in what the answer tells of the link. An error where that is why it brought nothing, or where nobody knows.
    pub(super) async fn weigh(
        &self,
        wanted: &WantedExchange,
        attempt: Attempt<'a>,
        over_link: LinkResult<'_>,
        pass: LinkPass<'a>,
    ) -> Result<(), AttemptEnd<'a>> {
        let LinkResult { sender, link, address, asked, response } = over_link;
        match &attempt {
            Attempt::First if response.failure.is_some_and(Failure::is_no_connection) => {
                if let Some((at, other)) = sender.cloned().zip(self.other_agent(sender)) {
                    // What it tells of the agent's link shows when another one has tried.
                    let response = response.clone();
                    return Err(AttemptEnd::Doubtful(Box::new(DoubtfulFailure {
                        at,
                        _pass: pass,
                        response,
                        other,
                    })));
                }
            }
            Attempt::Second(doubt) => self.compare(doubt, address, response),
            _ => {}
        }
        let at = self.parts.access.now();
        own_link::note(link, address, response, asked);
        // Nothing tells that its link worked while nothing came.
        let may_be_dark = |failure| is_silence(failure) || broke_off(failure);
        let was_dark = response.failure.is_some_and(may_be_dark) && own_link::is_dark_since(link, asked);
        drop(pass);
        if attempt.may_be_link(sender.is_some(), response) {
            self.confirm_failure(wanted, over_link, at, was_dark).await?;
        }
        Ok(())
    }

    /// Whether it is the outcome of a request that it brought nothing, once it shows whose fault that was: else it is sent again.
    async fn confirm_failure(
        &self,
        wanted: &WantedExchange,
        over_link: LinkResult<'_>,
        at: SystemTime,
        was_dark: bool,
    ) -> Result<(), AttemptEnd<'a>> {
        // What was lost again and again is its server's fault.
        if wanted.times_lost >= MOST_LOST {
            return Ok(());
        }
        let LinkResult { sender, link, response, .. } = over_link;
        let blame = own_link::loss_cause(link, at).await.ok_or(STOPPED)?;
        // A link that was cut for a moment is silent, and a network that forgot its connections resets them.
        let doubts = match blame {
            LossCause::Unknown => MOST_DOUBTS,
            _ => usize::from(was_dark && wanted.lost_in_tree < MOST_ALONE),
        };
        if response.failure.is_some_and(Failure::is_no_connection) {
            if blame == LossCause::OwnLink {
                return Err(AttemptEnd::OwnLinkBroken);
            }
        } else if blame == LossCause::OwnLink
            || wanted.times_lost < doubts && self.other_agent(sender).is_some()
        {
            // It may have been sent, and counts as a request without an answer.
            return Err(self.lost());
        }
        Ok(())
    }

    /// Nobody knows what came of a request: the visit begins again from its journal.
    pub(super) fn lost(&self) -> AttemptEnd<'a> {
        self.parts.access.progress.update(|now| now.unrecorded += 1);
        LEFT
    }

    /// Another agent than this one whose own link works: the one that walks the tree, if it can be.
    fn other_agent(&self, than: Option<&Arc<AssignedAgent>>) -> Option<Arc<AssignedAgent>> {
        let (than, agents) = (than?, self.parts.agents.as_ref()?);
        let walks = self.assigned.filter(|assigned| assigned.name != than.name);
        walks.cloned().or_else(|| agents.other_agent(than))
    }

    /// What the answer that another agent got tells of the link of the one at which no connection came about.
    fn compare(&self, doubt: &DoubtfulFailure<'_>, address: IpAddr, response: &Response) {
        let Parts { access, agents, .. } = self.parts;
        let link = Link::of_agent(access, agents.as_ref(), Some(&doubt.at));
        if response
            .failure
            .is_some_and(|failure| failure.is_no_connection() || !failure.reached_the_network())
        {
            own_link::note(&link, address, &doubt.response, doubt.response.started);
        } else {
            own_link::note_failed_only_here(&link, address);
        }
    }
}

/// Nothing was asked yet, as far as the server can know, and it may be our own link that is broken.
fn may_be_our_link(failure: Failure) -> bool {
    matches!(failure, Failure::ConnectTimeout | Failure::ConnectUnreachable)
}

/// The same at an agent. What it was at when its link broke ends without an answer, too, and another agent can do it.
fn may_be_link_of_agent(failure: Failure) -> bool {
    failure.is_no_connection() || broke_off(failure) || is_silence(failure) || failure == Failure::TooSlow
}

/// Its connection ended before it was over.
fn broke_off(failure: Failure) -> bool {
    use Failure::{BodyTruncated, IdleClosed, Reset};
    matches!(failure, Reset | IdleClosed | BodyTruncated)
}

/// Nothing came for long.
fn is_silence(failure: Failure) -> bool {
    use Failure::{FirstByteTimeout, IdleTimeout, TlsTimeout};
    matches!(failure, TlsTimeout | FirstByteTimeout | IdleTimeout)
}
