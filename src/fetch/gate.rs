use std::net::IpAddr;
use std::sync::Arc;

use hickory_proto::rr::{RData, Record};

use super::route::has_route;
use crate::address::{Host, OptOuts, WebUrl, is_refused_port, special_range};
use crate::exchange::Failure;

/// Decides whether a host and an address may be contacted: the only place where a contact is refused.
#[derive(Clone)]
pub(super) struct Gate {
    opt_out: Arc<OptOuts>,
    permit_special: bool,
    /// Every connection goes to the gateway, so no other route is needed.
    has_gateway: bool,
}

/// The number of a host's addresses that are tried before it counts as dead. One more costs another time-out,
/// and another server a connection; a host with more than three addresses is seldom dead at three.
pub(super) const MOST_ADDRESSES: usize = 3;

/// The address chosen for a host, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChosenAddress {
    pub address: Result<IpAddr, Failure>,
    /// The smallest address that was refused, when none was left.
    pub refused: Option<IpAddr>,
}

/// Ranges that are refused even when special addresses are permitted: no Web server has such an address, and
/// link-local addresses are where clouds serve the secrets of their machines.
const NEVER: [&str; 4] = ["link-local", "multicast", "reserved", "this network"];

impl Gate {
    pub(super) fn new(opt_out: Arc<OptOuts>, permit_special: bool, has_gateway: bool) -> Self {
        Self { opt_out, permit_special, has_gateway }
    }

    /// An opted-out host is not even looked up.
    pub(super) fn check_host(&self, host: &Host) -> Result<(), Failure> {
        if self.opt_out.has_host(host) { Err(Failure::OptedOut) } else { Ok(()) }
    }

    fn check_route(&self, address: IpAddr) -> Result<(), Failure> {
        self.check_address(address)?;
        if self.has_gateway || has_route(address) { Ok(()) } else { Err(Failure::NoRoute) }
    }

    pub(super) fn check_address(&self, address: IpAddr) -> Result<(), Failure> {
        if self.opt_out.has_address(address) {
            Err(Failure::OptedOut)
        } else if special_range(address).is_some_and(|range| !self.permit_special || NEVER.contains(&range)) {
            Err(Failure::AddressRefused)
        } else {
            Ok(())
        }
    }

    /// The last check before a connection. It also requires that a host which is an address is contacted at
    /// that address, and that browsers allow the port, for URLs that a survey stored before it refused such
    /// ports.
    pub(super) fn check_exchange(&self, url: &WebUrl, address: IpAddr) -> Result<(), Failure> {
        self.check_host(url.host())?;
        self.check_address(address)?;
        match url.host().ip() {
            _ if is_refused_port(url.port()) => Err(Failure::AddressRefused),
            Some(ip) if ip.to_canonical() != address.to_canonical() => Err(Failure::AddressRefused),
            _ => Ok(()),
        }
    }

    /// The smallest address that may be contacted and has a route, so that every run makes the same choice.
    /// Addresses in `dead` are passed over, unless the [`MOST_ADDRESSES`] smallest all are dead.
    pub(super) fn choose(&self, addresses: &[IpAddr], dead: &[IpAddr]) -> ChosenAddress {
        let mut sorted: Vec<IpAddr> = addresses.iter().map(IpAddr::to_canonical).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut refusal: Option<(Failure, IpAddr)> = None;
        let mut allowed = sorted.into_iter().filter(|address| match self.check_route(*address) {
            Ok(()) => true,
            Err(failure) => {
                refusal = refusal.or(Some((failure, *address)));
                false
            }
        });
        if let Some(first) = allowed.next() {
            let mut candidates = std::iter::once(first).chain(allowed.take(MOST_ADDRESSES - 1));
            let alive = candidates.find(|address| !dead.contains(address));
            return ChosenAddress { address: Ok(alive.unwrap_or(first)), refused: None };
        }
        match refusal {
            Some((failure, address)) => ChosenAddress { address: Err(failure), refused: Some(address) },
            None => ChosenAddress { address: Err(Failure::DnsNoAddress), refused: None },
        }
    }
}

/// The addresses in the answer records of a name server, in their order.
pub(super) fn addresses_in(answers: &[Record]) -> Vec<IpAddr> {
    let address = |record: &Record| match &record.data {
        RData::A(a) => Some(IpAddr::V4(a.0)),
        RData::AAAA(aaaa) => Some(IpAddr::V6(aaaa.0)),
        _ => None,
    };
    answers.iter().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::OptOut;

    fn gate(opt_out: &str, permit_special: bool) -> Gate {
        Gate::new(Arc::new(OptOut::parse(opt_out).unwrap().into()), permit_special, false)
    }

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn the_smallest_allowed_address_is_chosen_whatever_the_order() {
        let gate = gate("41.0.0.0/8", false);
        for order in [
            ["102.0.0.9", "10.0.0.1", "41.1.1.1", "102.0.0.10"],
            ["102.0.0.10", "41.1.1.1", "10.0.0.1", "102.0.0.9"],
        ] {
            assert_eq!(gate.choose(&ips(&order), &[]).address, Ok("102.0.0.9".parse().unwrap()));
        }
    }

    #[test]
    fn when_none_is_allowed_the_smallest_refused_one_is_named() {
        let choice = gate("41.0.0.0/8", false).choose(&ips(&["41.1.1.1", "10.0.0.1"]), &[]);
        assert_eq!(choice.address, Err(Failure::AddressRefused));
        assert_eq!(choice.refused, Some("10.0.0.1".parse().unwrap()));
        let choice = gate("41.0.0.0/8", true).choose(&ips(&["41.1.1.1"]), &[]);
        assert_eq!(choice.address, Err(Failure::OptedOut));
    }

    #[test]
    fn the_next_address_is_chosen_where_the_first_is_dead_and_the_fourth_never() {
        let gate = gate("102.0.0.2", false);
        let host = ips(&["102.0.0.5", "102.0.0.4", "102.0.0.3", "102.0.0.2", "102.0.0.1", "10.0.0.1"]);
        for (dead, chosen) in [
            (&[][..], "102.0.0.1"),
            (&["102.0.0.1"], "102.0.0.3"),
            (&["102.0.0.3"], "102.0.0.1"),
            (&["102.0.0.3", "102.0.0.1"], "102.0.0.4"),
            (&["102.0.0.3", "102.0.0.1", "102.0.0.4"], "102.0.0.1"),
        ] {
            assert_eq!(gate.choose(&host, &ips(dead)).address, Ok(chosen.parse().unwrap()), "{dead:?}");
        }
    }

    #[test]
    fn an_opt_out_holds_although_special_addresses_are_permitted() {
        let gate = gate("127.0.0.2", true);
        assert_eq!(gate.check_address("127.0.0.1".parse().unwrap()), Ok(()));
        assert_eq!(gate.check_address("::ffff:127.0.0.2".parse().unwrap()), Err(Failure::OptedOut));
    }

    #[test]
    fn a_host_that_is_an_address_is_reached_at_no_other() {
        let url = WebUrl::parse("http://102.0.0.1/").unwrap();
        let gate = gate("", false);
        assert_eq!(gate.check_exchange(&url, "102.0.0.1".parse().unwrap()), Ok(()));
        assert_eq!(gate.check_exchange(&url, "102.0.0.2".parse().unwrap()), Err(Failure::AddressRefused));
    }

    #[test]
    fn a_stored_url_with_a_port_that_browsers_refuse_is_not_asked() {
        let stored = serde_json::json!({"url": "http://a.ke:25/", "host": "a.ke"});
        let url: WebUrl = serde_json::from_value(stored).unwrap();
        let refused = gate("", true).check_exchange(&url, "102.0.0.1".parse().unwrap());
        assert_eq!(refused, Err(Failure::AddressRefused));
    }

    #[test]
    fn an_ipv4_server_behind_nat64_is_refused_as_it_would_be_without() {
        let gate = gate("41.90.7.0/24", false);
        let refused = |address: &str| gate.check_address(address.parse().unwrap()).err();
        assert_eq!(refused("64:ff9b::41.90.7.9"), Some(Failure::OptedOut));
        assert_eq!(refused("2002:295a:709::1"), Some(Failure::OptedOut));
        assert_eq!(refused("64:ff9b::169.254.169.254"), Some(Failure::AddressRefused));
        assert_eq!(refused("64:ff9b:1::41.90.8.9"), Some(Failure::AddressRefused));
        assert_eq!(refused("2002:295a:809::1"), Some(Failure::AddressRefused));
        assert_eq!(refused("64:ff9b::41.90.8.9"), None);
    }
}
