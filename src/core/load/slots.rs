use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// Slots for parallel exchanges, each with the pause after the last exchange in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Slots {
    resting: Vec<CoolingSlot>,
    /// Not stored: after a crash no exchange is in flight.
    #[serde(skip)]
    in_flight: u32,
}

/// A slot in which no exchange runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct CoolingSlot {
    ended: SystemTime,
    free: SystemTime,
}

impl Slots {
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    fn is_full(&self, slot_count: u32) -> bool {
        self.resting.len() as u32 + self.in_flight >= slot_count
    }

    /// When the next exchange may begin if there are `slot_count` slots; none while an exchange runs in each.
    pub(super) fn earliest(&self, slot_count: u32, crawl_delay: Option<Duration>) -> Option<SystemTime> {
        if self.in_flight >= slot_count {
            return None;
        }
        let slot = if self.is_full(slot_count) { self.earliest_slot(crawl_delay) } else { None };
        Some(slot.map_or(SystemTime::UNIX_EPOCH, |(_, at)| at))
    }

    /// An exchange begins: it takes the slot that is free first.
    pub(super) fn begin(&mut self, slot_count: u32, crawl_delay: Option<Duration>) {
        self.take_slot(slot_count, crawl_delay);
        self.in_flight += 1;
    }

    /// An exchange has ended, and its slot pauses for `pause`.
    pub(super) fn end(&mut self, ended: SystemTime, pause: Duration) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.resting.push(CoolingSlot { ended, free: ended + pause });
    }

    /// An exchange whose start was not observed has ended by now. The slot that is free first pauses for
    /// `pause` from now on, or until the end of its own pause if that is later.
    pub(super) fn pause(&mut self, slot_count: u32, now: SystemTime, pause: Duration) {
        let slot = CoolingSlot { ended: now, free: now + pause };
        let slot = self.take_slot(slot_count, None).map_or(slot, |resting| CoolingSlot {
            ended: slot.ended.max(resting.ended),
            free: slot.free.max(resting.free),
        });
        self.resting.push(slot);
    }

    /// Adds the pausing slots of `other`. If there are too many, those with the longest pauses stay.
    pub(super) fn join(&mut self, other: &Self, slot_count: u32) {
        self.resting.extend(&other.resting);
        self.trim(slot_count);
    }

    /// If there are more slots than `slot_count`, those with the longest pauses stay.
    pub(super) fn trim(&mut self, slot_count: u32) {
        let free_slots = slot_count.saturating_sub(self.in_flight) as usize;
        let last = self.resting.iter().map(|slot| slot.ended).max();
        self.resting.sort_by_key(|slot| std::cmp::Reverse(slot.free));
        if self.resting.len() > free_slots {
            self.resting.truncate(free_slots);
            // A Crawl-delay counts from the last exchange.
            let slots = self.resting.iter_mut().zip(last);
            slots.for_each(|(slot, last)| slot.ended = last);
        }
    }

    pub(super) fn is_idle(&self, now: SystemTime) -> bool {
        self.in_flight == 0 && self.resting.iter().all(|slot| slot.free <= now)
    }

    /// If all slots are taken, takes out the one that is free first and returns it.
    fn take_slot(&mut self, slot_count: u32, crawl_delay: Option<Duration>) -> Option<CoolingSlot> {
        let (at, _) = self.earliest_slot(crawl_delay).filter(|_| self.is_full(slot_count))?;
        Some(self.resting.remove(at))
    }

    fn earliest_slot(&self, crawl_delay: Option<Duration>) -> Option<(usize, SystemTime)> {
        let delay = crawl_delay.unwrap_or_default();
        let times = self.resting.iter().map(|slot| slot.free.max(slot.ended + delay));
        times.enumerate().min_by_key(|(_, at)| *at)
    }
}
