use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};

use super::{Host, OptOut};

/// Tells the autonomous system of an address, where anybody knows it.
pub type SystemOf = Box<dyn Fn(IpAddr) -> Option<u32> + Send + Sync>;

/// The opt-out list that is in force, which may be replaced while a survey runs; every room that asks or
/// decides holds the same one.
pub struct OptOuts {
    list: RwLock<Arc<OptOut>>,
    system_of: SystemOf,
}

impl OptOuts {
    /// A list in force; `system_of` tells whose network an address is in.
    #[must_use]
    pub fn new(list: OptOut, system_of: SystemOf) -> Self {
        Self { list: RwLock::new(Arc::new(list)), system_of }
    }

    /// The list as it is now.
    #[must_use]
    pub fn list(&self) -> Arc<OptOut> {
        self.list.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on this list is in force.
    pub fn replace(&self, list: OptOut) {
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(list);
    }

    /// Whether the host opted out, by name or as an address.
    #[must_use]
    pub fn has_host(&self, host: &Host) -> bool {
        self.list().has_host(host) || host.ip().is_some_and(|address| self.has_address(address))
    }

    /// Whether the address opted out, by itself, its network or its autonomous system.
    #[must_use]
    pub fn has_address(&self, address: IpAddr) -> bool {
        let list = self.list();
        list.has_address(address)
            || list.names_systems() && (self.system_of)(address).is_some_and(|system| list.has_system(system))
    }
}

impl Default for OptOuts {
    fn default() -> Self {
        OptOut::default().into()
    }
}

/// A list where nobody knows autonomous systems.
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
        opt_outs.replace(OptOut::parse("a.ke").unwrap());
        assert!(other.has_host(&host));
        assert!(format!("{other:?}").contains("a.ke"));
    }
}
