use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use super::requester::{ExchangeOutcome, FailedTry, Requester, UnreadResponse, WantedExchange};
use crate::address::{OBEYED_WITHIN, WebUrl};
use crate::exchange::{Failure, Request, Response};
use crate::promises::{Fact, OwnerObjections, is_quiet};
use crate::survey::error::SurveyError;
use crate::survey::journal::Journal;
use crate::survey::journal::entry::{Entry, ExchangeRecord};
use crate::survey::parts::Parts;
use crate::survey::parts::shared_robots::RecordedRobots;
use crate::survey::visit::fallbacks::Fallbacks;

impl<'a> Requester<'a> {
    /// Records that nothing was sent.
    pub(super) fn never_sent(
        &self,
        wanted: &WantedExchange,
        address: Option<IpAddr>,
        failure: Failure,
        dns: Option<Duration>,
    ) -> Result<ExchangeOutcome, SurveyError> {
        let response = Response::not_sent(self.parts.access.now(), address, failure, dns);
        self.record(&wanted.fallbacks, ExchangeRecord::nothing(wanted.request.clone(), response))
    }

    pub(super) fn record(
        &self,
        fallbacks: &Fallbacks,
        record: ExchangeRecord,
    ) -> Result<ExchangeOutcome, SurveyError> {
        let progress = &self.parts.storage.progress;
        progress.exchange(record.request.purpose, &record.response, record.is_page());
        let record = Box::new(record);
        let entry = if fallbacks.needs_fallback(&record) {
            Entry::Attempted(record)
        } else {
            Entry::Received(record)
        };
        self.recorded_at.store(self.journal.append(&entry)?, Ordering::Relaxed);
        Ok(entry.into_record().map_or(ExchangeOutcome::Stopped, ExchangeOutcome::Received))
    }

    pub(super) async fn book(
        &self,
        wanted: &WantedExchange,
        unread: UnreadResponse<'a>,
    ) -> Result<ExchangeOutcome, SurveyError> {
        let Parts { access, storage, reader, .. } = self.parts;
        let UnreadResponse { address, permit, received } = unread;
        let Request { number, purpose, .. } = received.request;
        let journal = self.journal;
        let record = reader
            .read_response(received, async |mark| journal.write(&Entry::Reading(Box::new(mark))))
            .await?;
        let response = record.response.clone();
        let had_opted_out = self.had_opted_out(&wanted.request.url, address, response.started);
        let in_quiet_hours = self.is_quiet(response.started, address);
        let objections = OwnerObjections { had_opted_out, in_quiet_hours };
        if objections != OwnerObjections::default() {
            self.journal.write(&Entry::OwnerObjection { number, had_opted_out, in_quiet_hours })?;
        }
        let exchanged = self.record(&wanted.fallbacks, record)?;
        // Written after the journal entry, so that a stored server state never includes an exchange that the
        // journal lost.
        {
            // Under one lock, so that no later exchange is seen before this one.
            let mut load = access.load();
            storage.add_server(address, load.state_of(address));
            #[cfg(not(feature = "hazards"))]
            permit.settle(&mut load, purpose, &response);
            #[cfg(feature = "hazards")]
            permit.settle(&mut load, purpose, &crate::survey::reading::hazards::response_for_load(&response));
            let (site, crawl_delay) = (self.site, wanted.crawl_delay);
            let mut judge = storage.judge();
            let url = Some(&wanted.request.url);
            judge.note(&Fact { site, address, purpose, url, response: &response, crawl_delay, objections });
            // If the response were lost, its server would get a shorter pause.
            let usual = response.ended() + self.parts.settings.max_delay.0;
            if let Some(keeper) = &storage.keeper
                && load.free_at(address).is_some_and(|time| time > usual)
            {
                keeper.flush_soon();
            }
        }
        access.settled.notify_waiters();
        Ok(exchanged)
    }

    /// Whether the exchange violated an entry of the opt-out list when it began. Agents have some time to
    /// obey a new entry.
    fn had_opted_out(&self, url: &WebUrl, address: IpAddr, started: SystemTime) -> bool {
        let is_remote = self.assigned.is_some_and(|assigned| assigned.remote_worker().is_some());
        let enforced_at =
            if is_remote { started.checked_sub(OBEYED_WITHIN).unwrap_or(started) } else { started };
        self.parts.boundaries.opt_outs.covered_at(enforced_at, url.host(), address)
    }

    /// Whether this time was in the quiet hours of a server, as promised.
    fn is_quiet(&self, time: SystemTime, address: IpAddr) -> bool {
        let Parts { access, storage, .. } = self.parts;
        let quiet = storage.judge().limits().quiet_hours;
        let system_time = access.clock.system_time_at(time);
        quiet.is_some_and(|quiet| {
            is_quiet(&quiet, system_time, &access.hours.server_location(address, self.site))
        })
    }
}

/// Makes a failed attempt the final result of its request. A result for a robots.txt is also settled for the
/// trees that share it.
pub(in crate::survey) fn accept_failed_try(
    parts: &Parts,
    journal: &Journal,
    tree: u64,
    tried: &FailedTry,
) -> Result<(), SurveyError> {
    journal.write(&Entry::FinalAttempt { number: tried.record.request.number })?;
    let recorded = RecordedRobots::from_record(tree, tried.at, &tried.record);
    parts.shared_robots.restore(&parts.storage, recorded.into_iter().collect())
}
