use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::server_at;

/// The addresses beside an address that often share its link or machine: its /24 in IPv4, its /48 in IPv6
/// (the smallest prefix that is routed, and the one that a customer usually gets: RFC 6177).
///
/// ```
/// use ccsurvey_address::Neighbourhood;
/// let of = |address: &str| Neighbourhood::from_address(address.parse().unwrap());
/// assert_eq!(of("41.90.7.1"), of("41.90.7.254"));
/// assert_ne!(of("41.90.7.1"), of("41.90.8.1"));
/// assert_eq!(of("2c0f:fe38:1::1").to_string(), "2c0f:fe38:1::/48");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Neighbourhood(IpAddr);

impl Neighbourhood {
    /// The /24 of an IPv4 address, the /48 of an IPv6 address.
    #[must_use]
    pub fn from_address(address: IpAddr) -> Self {
        Self(match server_at(address) {
            IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() & !0xff).into(),
            IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 80)).into(),
        })
    }
}

impl std::fmt::Display for Neighbourhood {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.0, if self.0.is_ipv4() { 24 } else { 48 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_24_or_a_48_and_servers_are_known_at_all_their_addresses() {
        for (address, expected) in [
            ("41.90.7.0", "41.90.7.0/24"),
            ("41.90.7.255", "41.90.7.0/24"),
            ("41.90.6.255", "41.90.6.0/24"),
            ("64:ff9b::41.90.7.9", "41.90.7.0/24"),
            ("2c0f:fe38:1::", "2c0f:fe38:1::/48"),
            ("2c0f:fe38:1:ffff:ffff:ffff:ffff:ffff", "2c0f:fe38:1::/48"),
            ("2c0f:fe38:2::1", "2c0f:fe38:2::/48"),
        ] {
            assert_eq!(
                Neighbourhood::from_address(address.parse().unwrap()).to_string(),
                expected,
                "{address}"
            );
        }
    }
}
