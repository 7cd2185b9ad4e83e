use std::net::IpAddr;
use std::pin::pin;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use crate::address::Site;
use crate::exchange::{Failure, Purpose, Response};
use crate::fetch::Meter;
use crate::load::{Load, Permit, PermitDecision};
use crate::settings::LONGEST_WAIT;
use crate::survey::error::SurveyError;
use crate::survey::journal::Journal;
use crate::survey::journal::entry::Entry;
use crate::survey::parts::access::Access;
use crate::survey::storage::Storage;

/// A permit that is returned whatever the outcome of the exchange. If it is dropped, the exchange was not
/// begun or its response is lost.
pub(in crate::survey) struct HeldPermit<'a> {
    access: &'a Access,
    permit: Mutex<Option<Permit>>,
    /// When the request was sent.
    requested_at: Option<SystemTime>,
    /// The sender may be working on the request until then, even if it reports nothing.
    latest_end: Option<SystemTime>,
}

impl HeldPermit<'_> {
    /// The most bytes that the exchange may move.
    pub(in crate::survey) fn byte_limit(&self) -> u64 {
        self.permit.lock().as_ref().map_or(0, Permit::byte_limit)
    }

    /// The part of the survey's rate that the permit reserves.
    pub(in crate::survey) fn reserved(&self) -> Option<u64> {
        self.permit.lock().as_ref().and_then(Permit::reserved)
    }

    /// Notes that the request is being sent.
    pub(in crate::survey) fn note_sent(&mut self, requested_at: SystemTime) {
        self.requested_at = Some(requested_at);
    }

    /// Notes that a remote worker sends the request and may be working on it until then.
    pub(in crate::survey) fn note_latest_end(&mut self, latest_end: SystemTime) {
        self.latest_end = Some(latest_end);
    }

    /// Records that the request was not sent, although the journal says that it was being sent.
    pub(in crate::survey) fn record_unsent(
        mut self,
        journal: &Journal,
        number: u32,
    ) -> Result<(), SurveyError> {
        journal.write(&Entry::Unsent { number })?;
        self.requested_at = None;
        Ok(())
    }

    /// Returns the permit together with the response.
    pub(in crate::survey) fn settle(mut self, load: &mut Load, purpose: Purpose, response: &Response) {
        if let Some(permit) = self.take() {
            load.settle(permit, purpose, response);
        }
    }
}

impl HeldPermit<'_> {
    fn take(&mut self) -> Option<Permit> {
        self.permit.get_mut().take()
    }

    /// Allows the exchange to have moved this many bytes in total, or returns the time at which it may.
    fn try_to_read_on(&self, bytes: u64) -> Result<(), SystemTime> {
        let mut permit = self.permit.lock();
        match &mut *permit {
            Some(permit) => self.access.load().reserve_up_to(self.access.now(), permit, bytes),
            None => Ok(()),
        }
    }
}

impl Meter for HeldPermit<'_> {
    /// Readers wait in order of arrival, and go before any request that is to be sent.
    fn read_on(&self, bytes: u64) -> BoxFuture<'_, ()> {
        async move {
            let _read_queue_guard = self.access.read_queue.lock().await;
            let _first_reader = FirstReader(self.access);
            loop {
                // Listening begins before the check, so that no ending is missed in between.
                let mut settled = pin!(self.access.settled.notified());
                settled.as_mut().enable();
                let Err(time) = self.try_to_read_on(bytes) else { return };
                tokio::select! {
                    biased;
                    () = settled => {}
                    () = self.access.clock.until(time) => {}
                }
            }
        }
        .boxed()
    }
}

/// The reader whose turn is next. Once it is dropped, others may go first.
struct FirstReader<'a>(&'a Access);

impl Drop for FirstReader<'_> {
    fn drop(&mut self) {
        self.0.load().cancel_wait();
    }
}

impl Drop for HeldPermit<'_> {
    fn drop(&mut self) {
        let Some(permit) = self.take() else { return };
        let now = self.access.now();
        match self.requested_at {
            Some(requested_at) => {
                self.access.load().settle_lost(permit, requested_at, self.latest_end.unwrap_or(now), now);
            }
            None => {
                self.access.load().abandon(permit, now);
                self.access.ceiling.give_back();
            }
        }
        self.access.settled.notify_waiters();
    }
}

/// Why a turn was not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::survey) enum TurnRefusal {
    /// The turn would come at this time, which is too far away to wait for.
    Until(SystemTime),
    /// The time of the site ends before its turn comes.
    TooLate,
    GivenUp,
    Spent,
    /// The survey may send no further request.
    SurveySpent,
    Stopped,
}

impl TurnRefusal {
    /// The failure of a request whose turn never comes.
    pub(in crate::survey) fn failure(self) -> Failure {
        match self {
            Self::GivenUp => Failure::GivenUp,
            Self::Spent => Failure::ServerBudget,
            Self::Until(_) | Self::TooLate | Self::SurveySpent | Self::Stopped => Failure::HeldOff,
        }
    }
}

/// Waits until a site may send a request to a server whose host demands `crawl_delay`. Dropping the wait
/// costs nothing.
pub(in crate::survey) async fn turn<'a>(
    access: &'a Access,
    storage: &Storage,
    address: IpAddr,
    site: &Site,
    crawl_delay: Option<Duration>,
) -> Result<Result<HeldPermit<'a>, TurnRefusal>, SurveyError> {
    let mut stop = access.stop.clone();
    let mut rate_queue_guard = None;
    loop {
        access.recall(storage, address)?;
        // Listening begins before the check, so that no ending is missed in between.
        let mut settled = std::pin::pin!(access.settled.notified());
        settled.as_mut().enable();
        if *stop.borrow() {
            return Ok(Err(TurnRefusal::Stopped));
        }
        let now = access.now();
        let turn = match access.wake_time(address, site) {
            Some(time) => PermitDecision::CoolDownUntil(time),
            None => {
                let mut load = access.load();
                if !load.knows(address) {
                    continue;
                }
                load.permit(now, address, site, crawl_delay)
            }
        };
        match turn {
            PermitDecision::Granted(permit) if !access.ceiling.try_take() => {
                access.load().abandon(permit, now);
                access.settled.notify_waiters();
                return Ok(Err(TurnRefusal::SurveySpent));
            }
            PermitDecision::Granted(permit) => {
                return Ok(Ok(HeldPermit {
                    access,
                    permit: Mutex::new(Some(permit)),
                    requested_at: None,
                    latest_end: None,
                }));
            }
            PermitDecision::CoolDownUntil(time) if time > now + LONGEST_WAIT => {
                return Ok(Err(TurnRefusal::Until(time)));
            }
            PermitDecision::GivenUp => return Ok(Err(TurnRefusal::GivenUp)),
            PermitDecision::BudgetUsedUp => return Ok(Err(TurnRefusal::Spent)),
            // Of all that wait for the rate, only the first checks again whenever an exchange has ended.
            PermitDecision::RateUsedUpUntil(_) if rate_queue_guard.is_none() => tokio::select! {
                biased;
                _ = stop.changed() => {}
                first = access.rate_queue.lock() => rate_queue_guard = Some(first),
            },
            PermitDecision::RateUsedUpUntil(time) => tokio::select! {
                biased;
                _ = stop.changed() => {}
                () = settled => {}
                () = access.clock.until(time) => {}
            },
            // Other exchanges cannot make this come sooner. Most sites wait here, and none is woken in vain.
            PermitDecision::PauseUntil(time) | PermitDecision::CoolDownUntil(time) => {
                rate_queue_guard = None;
                tokio::select! {
                    biased;
                    _ = stop.changed() => {}
                    () = access.clock.until(time) => {}
                }
            }
            PermitDecision::Busy => {
                rate_queue_guard = None;
                tokio::select! {
                    biased;
                    _ = stop.changed() => {}
                    () = settled => {}
                }
            }
        }
    }
}
