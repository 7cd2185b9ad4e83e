use std::collections::HashMap;
use std::net::IpAddr;

use super::names::Names;
use super::schedule::Turn;
use crate::address::Neighbourhood;

/// Requests, bytes and microseconds of busy time.
type Amounts = [u64; 3];

/// What places bore: servers, or networks in which several stand.
#[derive(Default)]
pub(super) struct Places {
    in_all: HashMap<u32, Amounts>,
    /// On days of UTC, by their number since 1970.
    on_days: HashMap<(u32, i64), Amounts>,
}

const DAY: i64 = 86_400_000_000;

impl Places {
    /// `place` gives the number of the place where an address stands.
    pub(super) fn of(turns: &[Turn], place: impl Fn(u32) -> Option<u32>) -> Self {
        let mut places = Self::default();
        for turn in turns {
            let Some(place) = place(turn.address) else { continue };
            let cost = [1, turn.bytes(), u64::from(turn.took)];
            // An exchange counts for the day on which it began.
            let day = turn.started.div_euclid(DAY);
            add(places.in_all.entry(place).or_default(), cost);
            add(places.on_days.entry((place, day)).or_default(), cost);
        }
        places
    }

    /// The most that a place bore of something, and which place.
    pub(super) fn most(&self, unit: usize) -> Option<(u64, u32)> {
        most(self.in_all.iter().map(|(place, amounts)| (amounts[unit], *place)))
    }

    pub(super) fn most_on_a_day(&self, unit: usize) -> Option<(u64, u32)> {
        most(self.on_days.iter().map(|((place, _), amounts)| (amounts[unit], *place)))
    }
}

fn add(sum: &mut Amounts, cost: Amounts) {
    for (sum, cost) in sum.iter_mut().zip(cost) {
        *sum += cost;
    }
}

/// Of several with the most, the one that was met first.
fn most(amounts: impl Iterator<Item = (u64, u32)>) -> Option<(u64, u32)> {
    amounts.max_by_key(|(amount, place)| (*amount, std::cmp::Reverse(*place)))
}

/// The neighbourhoods of addresses, with numbers from 0.
pub(super) struct Neighbourhoods {
    of_addresses: Vec<u32>,
    pub names: Names,
}

impl Neighbourhoods {
    pub(super) fn of(addresses: &Names) -> Self {
        let mut names = Names::default();
        let of_each = |address: &str| {
            // What is no address stands alone.
            let text = address.parse::<IpAddr>().map(|address| Neighbourhood::of(address).to_string());
            names.number(text.as_deref().unwrap_or(address))
        };
        Self { of_addresses: addresses.iter().map(of_each).collect(), names }
    }

    pub(super) fn number(&self, address: u32) -> Option<u32> {
        self.of_addresses.get(address as usize).copied()
    }
}
