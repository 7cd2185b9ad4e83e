use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, SystemTime};

use super::{Host, OptOut};

/// Finds the autonomous system of an address, if it is known.
pub type SystemOf = Box<dyn Fn(IpAddr) -> Option<u32> + Send + Sync>;

/// With agents, no request begins later than this after an entry of the opt-out list came into force.
pub const OBEYED_WITHIN: Duration = Duration::from_secs(2);

/// The opt-out list that is in force. It may be replaced while a survey runs; all rooms that send requests or
/// decide on them share one instance.
pub struct OptOuts {
    state: RwLock<State>,
    system_of: SystemOf,
}

struct State {
    list: Arc<OptOut>,
    /// Incremented with each list that replaces another.
    version: u64,
    /// Earlier lists, the oldest first, each with the time at which it was replaced.
    earlier: VecDeque<(SystemTime, Arc<OptOut>)>,
    /// The lists that were in force until this time, before the first of `earlier`, have been forgotten.
    forgotten: Option<SystemTime>,
}

/// Number of earlier lists that are kept: enough for a minute in which every look finds a changed list.
const EARLIER: usize = 64;
/// Longer than any exchange takes.
const KEPT_FOR: Duration = Duration::from_hours(1);

impl OptOuts {
    /// Puts a list in force; `system_of` finds the autonomous system of an address.
    #[must_use]
    pub fn new(list: OptOut, system_of: SystemOf) -> Self {
        let state = State { list: Arc::new(list), version: 1, earlier: VecDeque::new(), forgotten: None };
        Self { state: RwLock::new(state), system_of }
    }

    /// The list in force now.
    #[must_use]
    pub fn list(&self) -> Arc<OptOut> {
        self.read().list.clone()
    }

    /// Distinguishes the list from earlier ones: a later list has a greater version.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.read().version
    }

    /// Puts this list in force from now on. `now` is called once no decision can use the previous list any
    /// more: a request that began before anything read this list began before that time.
    pub fn replace(&self, list: OptOut, now: impl FnOnce() -> SystemTime) {
        let mut state = self.write();
        let now = now();
        let previous = std::mem::replace(&mut state.list, Arc::new(list));
        state.version += 1;
        state.earlier.push_back((now, previous));
        while let Some((until, _)) = state.earlier.front().cloned()
            && (state.earlier.len() > EARLIER || until + KEPT_FOR < now)
        {
            state.earlier.pop_front();
            state.forgotten = Some(until);
        }
    }

    /// Whether the host opted out, by name or as an address.
    #[must_use]
    pub fn has_host(&self, host: &Host) -> bool {
        self.is_host_in(&self.list(), host)
    }

    /// Whether the address opted out, by itself, its network or its autonomous system.
    #[must_use]
    pub fn has_address(&self, address: IpAddr) -> bool {
        self.is_address_in(&self.list(), address)
    }

    /// Whether an exchange with this host at this address that began at `time` violated the list that was in
    /// force then, as far as that list is still known.
    #[must_use]
    pub fn covered_at(&self, time: SystemTime, host: &Host, address: IpAddr) -> bool {
        let list = {
            let state = self.read();
            if state.forgotten.is_some_and(|until| time <= until) {
                return false;
            }
            let list_at_that_time = state.earlier.iter().find(|(until, _)| time <= *until);
            list_at_that_time.map_or(&state.list, |(_, list)| list).clone()
        };
        self.is_host_in(&list, host) || self.is_address_in(&list, address)
    }

    fn is_host_in(&self, list: &OptOut, host: &Host) -> bool {
        list.has_host(host) || host.ip().is_some_and(|address| self.is_address_in(list, address))
    }

    fn is_address_in(&self, list: &OptOut, address: IpAddr) -> bool {
        list.has_address(address)
            || list.names_systems() && (self.system_of)(address).is_some_and(|system| list.has_system(system))
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for OptOuts {
    fn default() -> Self {
        OptOut::default().into()
    }
}

/// A list without knowledge of autonomous systems.
impl From<OptOut> for OptOuts {
    fn from(list: OptOut) -> Self {
        Self::new(list, Box::new(|_| None))
    }
}

impl fmt::Debug for OptOuts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OptOuts").field(&self.list()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn an_autonomous_system_covers_the_addresses_that_are_known_to_be_in_it() {
        let list = OptOut::parse("AS64500").unwrap();
        let opt_outs = OptOuts::new(
            list,
            Box::new(|address| (address == IpAddr::from([41, 90, 0, 1])).then_some(64500)),
        );
        assert!(opt_outs.has_address([41, 90, 0, 1].into()));
        assert!(opt_outs.has_host(&Host::parse("41.90.0.1").unwrap()));
        assert!(!opt_outs.has_address([41, 90, 0, 2].into()));
    }

    #[test]
    fn no_system_is_looked_up_where_no_line_names_one() {
        let list = OptOut::parse("a.ke\n41.90.0.0/16").unwrap();
        let opt_outs = OptOuts::new(list, Box::new(|address| panic!("{address} was looked up")));
        assert!(opt_outs.has_address([41, 90, 0, 1].into()));
        assert!(!opt_outs.has_address([41, 91, 0, 1].into()));
        assert!(!opt_outs.has_host(&Host::parse("41.91.0.1").unwrap()));
    }

    #[test]
    fn a_list_that_is_replaced_is_in_force_for_all_who_hold_it() {
        let opt_outs = Arc::new(OptOuts::default());
        let other = opt_outs.clone();
        let host = Host::parse("a.ke").unwrap();
        assert!(!other.has_host(&host));
        opt_outs.replace(OptOut::parse("a.ke").unwrap(), || UNIX_EPOCH);
        assert!(other.has_host(&host));
        assert!(format!("{other:?}").contains("a.ke"));
    }

    #[test]
    fn an_exchange_is_judged_by_the_list_that_was_in_force_when_it_began() {
        let at = |second| UNIX_EPOCH + Duration::from_secs(second);
        let (opt_outs, host, address) =
            (OptOuts::default(), Host::parse("a.ke").unwrap(), IpAddr::from([41, 90, 0, 1]));
        for (second, text) in [(10, "a.ke"), (20, ""), (30, "41.90.0.0/16")] {
            let version = opt_outs.version();
            opt_outs.replace(OptOut::parse(text).unwrap(), || at(second));
            assert!(opt_outs.version() > version);
        }
        let covered =
            [10, 11, 20, 21, 30, 31, 99].map(|second| opt_outs.covered_at(at(second), &host, address));
        assert_eq!(covered, [false, true, true, false, false, true, true]);
    }

    #[test]
    fn nothing_is_judged_by_another_list_than_its_own_though_many_are_forgotten() {
        let at = |second| UNIX_EPOCH + Duration::from_secs(second);
        let (opt_outs, host, address) =
            (OptOuts::default(), Host::parse("a.ke").unwrap(), IpAddr::from([41, 90, 0, 1]));
        let listed = |second: u64| second % 3 == 1;
        for second in 0..200 {
            let list = if listed(second) { "a.ke" } else { "" };
            opt_outs.replace(OptOut::parse(list).unwrap(), || at(second));
        }
        for second in 0..200 {
            let covered = opt_outs.covered_at(at(second) + Duration::from_millis(500), &host, address);
            let is_known = second >= 199 - EARLIER as u64;
            assert_eq!(covered, listed(second) && is_known, "{second}");
        }
        opt_outs.replace(OptOut::default(), || at(200) + KEPT_FOR * 2);
        assert_eq!(opt_outs.read().earlier.len(), 1);
    }
}
