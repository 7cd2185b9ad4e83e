use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::record::accept_failed_try;
use super::requester::{Attempt, AttemptEnd, ExchangeOutcome, FailedTry, Requester, WantedExchange};
use crate::exchange::{Failure, Response};
use crate::survey::agents::AssignedAgent;
use crate::survey::error::SurveyError;
use crate::survey::journal::entry::{Entry, ExchangeRecord};
use crate::survey::parts::Parts;
use crate::survey::parts::shared_robots::ClaimOutcome;
use crate::survey::visit::fallbacks::Fallbacks;
use crate::survey::visit::own_link;

impl<'a> Requester<'a> {
    /// Runs one exchange, from the name to the journal: locates the server, waits for its turn, sends the
    /// request, records the result.
    ///
    /// If no connection could be made because our own link was broken, the request is sent a second time, and
    /// the journal records the first as never sent. The same happens if no connection could be made at an
    /// agent and there is another agent: the result of the second agent counts. If no connection could be
    /// made for another reason, this was a failed attempt.
    pub(in crate::survey) async fn exchange(
        &self,
        wanted: WantedExchange,
    ) -> Result<ExchangeOutcome, SurveyError> {
        let mut attempted = Box::pin(self.attempt(&wanted, Attempt::First)).await;
        if let Err(AttemptEnd::OwnLinkBroken) = attempted {
            attempted = Box::pin(self.attempt(&wanted, Attempt::Last)).await;
        }
        if let Err(AttemptEnd::Doubtful(doubt)) = attempted {
            attempted = Box::pin(self.attempt(&wanted, Attempt::Second(doubt))).await;
        }
        let exchanged = match attempted {
            Ok(exchanged) | Err(AttemptEnd::Exchanged(exchanged)) => exchanged,
            // Both agents may have lost their links: the tree continues from its journal.
            Err(AttemptEnd::OwnLinkBroken | AttemptEnd::Doubtful(_)) => ExchangeOutcome::AgentLeft,
            Err(AttemptEnd::Error(error)) => return Err(error),
        };
        match exchanged {
            ExchangeOutcome::Received(record) if wanted.fallbacks.needs_fallback(&record) => {
                let tried = FailedTry { record, at: self.recorded_at.load(Ordering::Relaxed) };
                self.try_fallback(wanted.fallbacks, tried).await
            }
            exchanged => Ok(exchanged),
        }
    }

    /// Like [`Self::exchange`], for a robots.txt, unless another tree fetched it less than a day ago. If
    /// another tree is fetching it now, waits for that exchange, up to the end of the site's time.
    pub(in crate::survey) async fn robots(
        &self,
        wanted: WantedExchange,
    ) -> Result<ExchangeOutcome, SurveyError> {
        #[cfg(feature = "hazards")]
        let wanted = WantedExchange {
            request: crate::survey::reading::hazards::before_robots(wanted.request),
            ..wanted
        };
        let Parts { access, storage, boundaries, shared_robots, .. } = self.parts;
        let claim = loop {
            // Listening begins before the check, so that no ending is missed in between.
            let mut freed = std::pin::pin!(shared_robots.freed.notified());
            freed.as_mut().enable();
            let robots_of_tree = (self.tree, &wanted.request.url);
            match shared_robots.claim(storage, &boundaries.opt_outs, robots_of_tree, access.now())? {
                ClaimOutcome::Own(claim) => break claim,
                ClaimOutcome::Shared(record) => {
                    let entry =
                        Entry::Shared(Box::new(ExchangeRecord { request: wanted.request, ..*record }));
                    self.journal.write(&entry)?;
                    let Entry::Shared(record) = entry else { return Ok(ExchangeOutcome::Stopped) };
                    return Ok(ExchangeOutcome::Shared(record));
                }
                ClaimOutcome::Pending => {}
            }
            let freed_in_time = async {
                tokio::select! {
                    biased;
                    () = freed => true,
                    () = wanted.until_it_ends(access) => false,
                }
            };
            match access.until_stopped(freed_in_time).await {
                None => return Ok(ExchangeOutcome::Stopped),
                Some(true) => {}
                Some(false) => {
                    let response = Response::not_sent(access.now(), None, Failure::HeldOff, None);
                    return self.record(&wanted.fallbacks, ExchangeRecord::nothing(wanted.request, response));
                }
            }
        };
        let exchanged = self.exchange(wanted).await?;
        // If a fallback follows, the claim is settled after it.
        if let ExchangeOutcome::Received(record) = &exchanged {
            claim.settle(self.tree, self.recorded_at.load(Ordering::Relaxed), record);
        }
        Ok(exchanged)
    }

    /// Decides what follows a failed attempt: a new attempt at an address of the host, possibly the same one,
    /// or the failure becomes the final result.
    pub(in crate::survey) async fn try_fallback(
        &self,
        mut fallbacks: Fallbacks,
        tried: FailedTry,
    ) -> Result<ExchangeOutcome, SurveyError> {
        fallbacks.note_failed_try(&tried.record);
        let url = &tried.record.request.url;
        let dead = fallbacks.dead_addresses(url);
        let Some(located) = own_link::locate(&self.parts.access, url.host(), &dead).await else {
            return Ok(ExchangeOutcome::Stopped);
        };
        match located.address {
            Ok(address) if !dead.contains(&address) => Ok(ExchangeOutcome::Attempted(tried, address)),
            _ => {
                accept_failed_try(self.parts, self.journal, self.tree, &tried)?;
                Ok(ExchangeOutcome::Received(tried.record))
            }
        }
    }

    async fn attempt(
        &self,
        wanted: &WantedExchange,
        attempt: Attempt<'a>,
    ) -> Result<ExchangeOutcome, AttemptEnd<'a>> {
        let ready = self.await_turn(wanted, &attempt).await?;
        let is_walking_agent =
            |sender: &Arc<AssignedAgent>| self.assigned.is_some_and(|assigned| assigned.name == sender.name);
        let other_sender = ready
            .sender
            .as_ref()
            .filter(|sender| !is_walking_agent(sender))
            .map(|sender| sender.name.clone());
        if let Some(agent) = other_sender.clone() {
            self.journal.write(&Entry::WalkedBy { agent })?;
        }
        let exchanged = match self.send_request(wanted, ready, attempt).await {
            Ok(unread) => Ok(self.book(wanted, unread).await?),
            Err(attempt_end) => Err(attempt_end),
        };
        if let (Some(_), Some(assigned)) = (other_sender, self.assigned) {
            self.journal.write(&Entry::WalkedBy { agent: assigned.name.clone() })?;
        }
        exchanged
    }
}
