use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};

use super::bus::{Bus, ping_subject};
use super::message::{Dispatch, PingReply, decode, encode};
use crate::address::OBEYED_WITHIN;
use crate::fetch::Clock;

/// Three pings in a row may be lost.
const BETWEEN_PINGS: Duration = Duration::from_millis(500);

/// What an agent may send, and until when: it pings the coordinator, and each reply permits requests for a
/// while.
///
/// The owner of a server opts out where the coordinator is. So a request is sent only if the coordinator has
/// looked at the list at most [`OBEYED_WITHIN`] ago. The agent measures this by its monotonic clock, from the
/// moment when the ping was *sent*, and adds the age of the look as the coordinator states it. The permission
/// ends in time however long the bus, the coordinator or this process stood still.
///
/// A reply also states the coordinator's time. That time is now later by at most the age of the ping. So the
/// agent knows the latest time that the coordinator's clock may show. It checks quiet hours, the age of a
/// robots.txt and the age of the dispatch itself against that time.
pub(super) struct Permission {
    latest: watch::Sender<Option<Permit>>,
}

/// A reply to a ping, and when the ping was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Permit {
    sent: Instant,
    /// How long the machine had slept by then: a monotonic clock does not count that.
    slept: Duration,
    reply: PingReply,
}

/// What a permit decides about a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// The request may be sent now.
    Send,
    /// Not before a later reply.
    Wait,
    /// The request must not be sent any more: its time is over, or an owner may have opted out since it was
    /// decided.
    Return,
}

impl Permission {
    pub(super) fn new() -> Self {
        Self { latest: watch::Sender::new(None) }
    }

    /// Pings the coordinator for as long as the future is polled.
    pub(super) async fn keep_fresh(&self, bus: &Bus, survey: &str) {
        let mut tick = tokio::time::interval(BETWEEN_PINGS);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // While the bus stands still, several pings wait there. The last one gets its reply as soon as the
        // bus goes on.
        let mut pings = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                Some(permit) = pings.next() => self.note(permit),
                _ = tick.tick() => pings.push(ping(bus, survey)),
            }
        }
    }

    /// Whether the coordinator was there just now.
    pub(super) fn is_fresh(&self) -> bool {
        self.age().is_some_and(|age| age <= OBEYED_WITHIN)
    }

    /// Time since the ping was sent that got the latest reply.
    pub(super) fn age(&self) -> Option<Duration> {
        self.latest.borrow().map(|permit| permit.age())
    }

    fn note(&self, permit: Option<Permit>) {
        let Some(permit) = permit else { return };
        self.latest.send_if_modified(|latest| {
            let is_later = latest.is_none_or(|latest| latest.sent < permit.sent);
            if is_later {
                *latest = Some(permit);
            }
            is_later
        });
    }

    /// Waits for the permit to send the request of a dispatch, until `deadline`; returns `None` if the
    /// dispatch must be returned.
    ///
    /// The caller sends the request before it waits for anything else.
    pub(super) async fn obtain(&self, dispatch: &Dispatch, deadline: Instant) -> Option<Permit> {
        let mut latest = self.latest.subscribe();
        loop {
            let permit = *latest.borrow_and_update();
            match permit.map_or(Decision::Wait, |permit| permit.decide(dispatch, permit.age())) {
                Decision::Send => return permit,
                Decision::Return => return None,
                Decision::Wait => tokio::time::timeout_at(deadline, latest.changed()).await.ok()?.ok()?,
            }
        }
    }
}

/// Sends a ping; returns what its reply permits, if one comes while it can still permit anything.
async fn ping(bus: &Bus, survey: &str) -> Option<Permit> {
    let (sent, slept) = (Instant::now(), Clock::system().slept());
    let request = bus.client.request(ping_subject(survey), encode(&()).ok()?.into());
    let response = tokio::time::timeout(OBEYED_WITHIN, request).await.ok()?.ok()?;
    Some(Permit { sent, slept, reply: decode(&response.payload).ok()? })
}

impl Permit {
    /// Time since its ping was sent, including the time that the machine has slept meanwhile.
    fn age(&self) -> Duration {
        self.sent.elapsed() + Clock::system().slept().saturating_sub(self.slept)
    }

    fn decide(&self, dispatch: &Dispatch, age: Duration) -> Decision {
        let Self { reply, .. } = self;
        if reply.opt_outs > dispatch.remote_request.opt_outs
            || reply.now + age >= dispatch.remote_request.valid_until
        {
            Decision::Return
        } else if age + reply.list_age <= OBEYED_WITHIN {
            // If the dispatch was decided by a later list than this reply's, that list came into force after
            // the look that the reply reports.
            Decision::Send
        } else {
            Decision::Wait
        }
    }

    /// When an exchange of this agent began, by the coordinator's clock: at that time or later, by at most
    /// the time that the ping took to get there. Never earlier, because the pause at its server counts from
    /// it.
    pub(super) fn coordinator_time(&self, started: SystemTime, clock: Clock) -> SystemTime {
        let since = started.duration_since(clock.at(self.sent)).unwrap_or_default();
        self.reply.now + since
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use proptest::prelude::*;

    use super::*;
    use crate::cluster::bus_worker::tests::remote_request;
    use crate::survey::RemoteRequest;

    fn milliseconds(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    fn dispatch(opt_outs: u64, valid_until: u64) -> Dispatch {
        let valid_until = UNIX_EPOCH + milliseconds(valid_until);
        Dispatch { after: 1, remote_request: RemoteRequest { opt_outs, valid_until, ..remote_request() } }
    }

    proptest! {
        /// A coordinator, a bus and an agent with any delays: the coordinator looks at the list, an owner
        /// opts out, the coordinator replies to a ping.
        #[test]
        fn no_request_is_sent_later_than_promised_after_an_entry_or_after_its_time(
            looked in 0_u64..20_000,
            opted_out_after in 0_u64..5_000,
            answered_after in 0_u64..5_000,
            asked_before in 0_u64..5_000,
            decided_after in 0_u64..10_000,
            valid_for in 0_u64..8_000,
            dispatched_before in 0_u64..9_000,
        ) {
            let replied_at = looked + answered_after;
            // The ping was sent before it got its reply, and the agent decides some time after that.
            let pinged = replied_at.saturating_sub(asked_before);
            let decided = replied_at + decided_after;
            let opted_out = looked + 1 + opted_out_after;
            let reply = PingReply {
                now: UNIX_EPOCH + milliseconds(replied_at),
                list_age: milliseconds(replied_at - looked),
                opt_outs: 7,
            };
            let permit = Permit { sent: Instant::now(), slept: Duration::ZERO, reply };
            let age = milliseconds(decided - pinged);
            let valid_until = decided.saturating_sub(dispatched_before) + valid_for;
            for version in [6, 7, 8] {
                if permit.decide(&dispatch(version, valid_until), age) == Decision::Send {
                    prop_assert!(version >= 7);
                    prop_assert!(decided < valid_until, "{decided} {valid_until}");
                    prop_assert!(decided <= opted_out + OBEYED_WITHIN.as_millis() as u64);
                    prop_assert!(decided <= pinged + OBEYED_WITHIN.as_millis() as u64);
                }
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_dispatch_waits_for_a_reply_and_is_returned_once_its_list_is_an_older_one() {
        let permission = Permission::new();
        let deadline = Instant::now() + Duration::from_secs(6);
        assert_eq!(permission.obtain(&dispatch(1, 99_000), deadline).await, None);
        assert_eq!(Instant::now(), deadline, "nobody has replied");
        let permit = |opt_outs| Permit {
            sent: Instant::now(),
            slept: Clock::system().slept(),
            reply: PingReply { now: UNIX_EPOCH, list_age: Duration::ZERO, opt_outs },
        };
        let deadline = Instant::now() + Duration::from_secs(6);
        permission.note(Some(permit(1)));
        assert_eq!(permission.obtain(&dispatch(1, 99_000), deadline).await, Some(permit(1)));
        tokio::time::advance(OBEYED_WITHIN + milliseconds(1)).await;
        let waits = dispatch(1, 99_000);
        let mut waits = std::pin::pin!(permission.obtain(&waits, deadline));
        assert!(futures_util::poll!(&mut waits).is_pending(), "the reply is too old");
        let (later, earlier) = (permit(2), Permit { sent: Instant::now() - milliseconds(9), ..permit(1) });
        permission.note(Some(later));
        permission.note(Some(earlier));
        assert_eq!(waits.await, None, "somebody may have opted out since it was dispatched");
    }
}
