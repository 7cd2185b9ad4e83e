use std::net::IpAddr;
use std::sync::Arc;

use super::requester::{
    AGENT_LEFT, Attempt, AttemptEnd, ExchangeOutcome, ReadyServer, Requester, STOPPED, WantedExchange,
    put_off,
};
use crate::exchange::Failure;
use crate::settings::LONGEST_WAIT;
use crate::survey::agents::AssignedAgent;
use crate::survey::parts::Parts;
use crate::survey::visit::own_link::{self, Link, LinkPass, LinkRefusal};
use crate::survey::visit::turn::{TurnRefusal, turn};

impl<'a> Requester<'a> {
    pub(super) async fn await_turn(
        &self,
        wanted: &WantedExchange,
        attempt: &Attempt<'a>,
    ) -> Result<ReadyServer<'a>, AttemptEnd<'a>> {
        let Parts { access, storage, .. } = self.parts;
        let WantedExchange { request, fallbacks, .. } = wanted;
        if let (Attempt::First, Some(assigned), Some(agents)) = (attempt, self.assigned, &self.parts.agents)
            && agents.should_move(assigned, self.tree)
        {
            return Err(AGENT_LEFT);
        }
        if let Some(time) = wanted.not_before {
            access.until_stopped(access.clock.until(time)).await.ok_or(STOPPED)?;
        }
        match wanted.redirect_pause {
            Some(time) if time <= access.now() + LONGEST_WAIT => {
                access.until_stopped(access.clock.until(time)).await.ok_or(STOPPED)?;
            }
            Some(time) if time <= wanted.latest_turn => return Err(put_off(time)),
            Some(_) => {
                return Err(AttemptEnd::Exchanged(self.never_sent(wanted, None, Failure::HeldOff, None)?));
            }
            None => {}
        }
        let dead = fallbacks.dead_addresses(&request.url);
        let located = own_link::locate(access, request.url.host(), &dead).await.ok_or(STOPPED)?;
        let dns = located.dns;
        let address = match located.address {
            Ok(address) => address,
            Err(failure) => {
                return Err(AttemptEnd::Exchanged(self.never_sent(wanted, located.refused, failure, dns)?));
            }
        };
        access.move_to(self.tree, address);
        let pending_prefetch =
            self.parts.prefetcher.as_ref().and_then(|prefetcher| prefetcher.prefetch(request));
        let crawl_delay = wanted.crawl_delay;
        #[cfg(feature = "hazards")]
        let crawl_delay = crate::survey::reading::hazards::crawl_delay(crawl_delay);
        let turn = tokio::select! {
            biased;
            turn = turn(access, storage, address, self.site, crawl_delay) => turn?,
            () = wanted.until_it_ends(access) => Err(TurnRefusal::TooLate),
        };
        let permit = match turn {
            Ok(permit) => permit,
            Err(TurnRefusal::Until(time)) if time <= wanted.latest_turn => return Err(put_off(time)),
            Err(TurnRefusal::Stopped) => return Err(STOPPED),
            Err(TurnRefusal::SurveySpent) => return Err(AttemptEnd::Exchanged(ExchangeOutcome::SurveySpent)),
            Err(refusal) => {
                let failure = refusal.failure();
                return Err(AttemptEnd::Exchanged(self.never_sent(wanted, Some(address), failure, dns)?));
            }
        };
        // While the turn was awaited, our own link may have broken. During that outage, quiet hours may have
        // begun, or this process may have stood still.
        let (sender, pass) = self.sender(attempt).await?;
        self.may_send(wanted, address).await?;
        if wanted.ends.is_some_and(|ends| access.now() >= ends) {
            let held_off = self.never_sent(wanted, Some(address), Failure::HeldOff, dns)?;
            return Err(AttemptEnd::Exchanged(held_off));
        }
        Ok(ReadyServer { address, dns, sender, pass, permit, pending_prefetch })
    }

    /// Chooses the sender of the request, once its link may be used. It is the agent that walks the tree, if
    /// any, another agent whose link is to be probed, or the agent that repeats an attempt that failed at the
    /// first one.
    async fn sender(
        &self,
        attempt: &Attempt<'a>,
    ) -> Result<(Option<Arc<AssignedAgent>>, LinkPass<'a>), AttemptEnd<'a>> {
        let access = &self.parts.access;
        let link_of = |assigned: Option<&Arc<AssignedAgent>>| {
            Link::of_agent(access, self.parts.agents.as_ref(), assigned)
        };
        let own = self.assigned.filter(|assigned| assigned.remote_worker().is_some());
        let sender = match attempt {
            Attempt::Second(doubt) => Some(doubt.second_agent.clone()),
            Attempt::First | Attempt::Last => own.cloned(),
        };
        if let (Attempt::First, Some(own), Some(agents)) = (attempt, own, &self.parts.agents)
            && let Some(probed) = agents.agent_to_probe(own, access.now())
        {
            let pass = LinkPass::probe(link_of(Some(&probed)));
            return Ok((Some(probed), pass));
        }
        match own_link::acquire(&link_of(sender.as_ref())).await {
            Ok(pass) => Ok((sender, pass)),
            Err(LinkRefusal::Stopped) => Err(STOPPED),
            Err(LinkRefusal::Elsewhere) => Err(AGENT_LEFT),
        }
    }

    /// Checks that no time-dependent rule forbids a request now.
    pub(super) async fn may_send(
        &self,
        wanted: &WantedExchange,
        address: IpAddr,
    ) -> Result<(), AttemptEnd<'a>> {
        let Parts { access, .. } = self.parts;
        access.wait_for_opt_outs().await.ok_or(STOPPED)?;
        if let Some(time) = access.wake_time(address, self.site) {
            return Err(put_off(time));
        }
        // The visit starts again from its journal at once, and fetches robots.txt first.
        if wanted.rules_valid_until.is_some_and(|until| access.now() >= until) {
            return Err(put_off(access.now()));
        }
        Ok(())
    }
}
