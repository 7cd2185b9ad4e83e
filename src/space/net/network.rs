use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::World;
use crate::draw::Draw;

/// A block of addresses, with the size and the holder that such a block has in reality. Nothing is ever sent
/// there: every connection to a virtual Web goes to its gateway. The blocks let a location database yield a
/// plausible picture; their holders are from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The lowest address.
    pub first: IpAddr,
    /// The length of the prefix in bits.
    pub prefix: u8,
    /// ISO 3166-1 alpha-2.
    pub country: &'static str,
    /// The number of the autonomous system.
    pub asn: u32,
    /// The holder.
    pub organization: &'static str,
    pub(crate) region: Region,
}

/// The region where a block is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    Africa,
    America,
    Asia,
    Europe,
}

const fn v4(
    [a, b, c, d]: [u8; 4],
    prefix: u8,
    country: &'static str,
    asn: u32,
    organization: &'static str,
) -> Network {
    let first = IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    Network { first, prefix, country, asn, organization, region: region(country) }
}

/// An IPv6 block, given by its first 32 bits; the rest is zero.
const fn v6(high: u32, country: &'static str, asn: u32, organization: &'static str) -> Network {
    let first = IpAddr::V6(Ipv6Addr::from_bits((high as u128) << 96));
    Network { first, prefix: 32, country, asn, organization, region: region(country) }
}

const fn region(country: &str) -> Region {
    match country.as_bytes() {
        b"DE" | b"FR" | b"GB" | b"NL" => Region::Europe,
        b"US" => Region::America,
        b"JP" => Region::Asia,
        _ => Region::Africa,
    }
}

/// The blocks from which worlds draw their addresses. Each holder has IPv4 blocks and one IPv6 block in the
/// same country.
pub const NETWORKS: &[Network] = &[
    v4([41, 90, 0, 0], 16, "KE", 33771, "Safaricom"),
    v4([41, 204, 160, 0], 19, "KE", 36914, "KENET"),
    v4([41, 206, 32, 0], 19, "KE", 15808, "AccessKenya"),
    v4([197, 136, 0, 0], 16, "KE", 36914, "KENET"),
    v4([41, 59, 0, 0], 16, "TZ", 33765, "TTCL"),
    v4([41, 221, 32, 0], 19, "TZ", 36965, "Habari Node"),
    v4([41, 202, 224, 0], 19, "UG", 20294, "MTN Uganda"),
    v4([197, 221, 0, 0], 18, "ZA", 37153, "xneelo"),
    v4([41, 185, 0, 0], 16, "ZA", 36943, "Gridhost"),
    v4([41, 75, 80, 0], 20, "NG", 37282, "MainOne"),
    v4([41, 204, 32, 0], 19, "GH", 30986, "Scancom"),
    v4([41, 82, 0, 0], 15, "SN", 8346, "Sonatel"),
    v4([41, 32, 0, 0], 13, "EG", 8452, "TE Data"),
    v4([41, 248, 0, 0], 14, "MA", 36903, "Maroc Telecom"),
    v4([88, 198, 0, 0], 16, "DE", 24940, "Hetzner Online"),
    v4([212, 227, 0, 0], 16, "DE", 8560, "IONOS"),
    v4([37, 187, 0, 0], 16, "FR", 16276, "OVH"),
    v4([77, 68, 0, 0], 17, "GB", 15418, "Fasthosts"),
    v4([85, 17, 0, 0], 16, "NL", 60781, "LeaseWeb"),
    v4([37, 97, 128, 0], 17, "NL", 20857, "TransIP"),
    v4([62, 129, 128, 0], 19, "NL", 21155, "ProServe"),
    v4([59, 106, 0, 0], 16, "JP", 9370, "SAKURA Internet"),
    v4([202, 232, 0, 0], 16, "JP", 2497, "IIJ"),
    v4([60, 32, 0, 0], 12, "JP", 4713, "NTT OCN"),
    v4([162, 144, 0, 0], 16, "US", 46606, "Unified Layer"),
    v4([54, 144, 0, 0], 14, "US", 14618, "Amazon"),
    v4([104, 16, 0, 0], 13, "US", 13335, "Cloudflare"),
    v4([66, 96, 128, 0], 18, "US", 29873, "Newfold Digital"),
    v6(0x2c0f_fe38, "KE", 33771, "Safaricom"),
    v6(0x2c0f_fe10, "KE", 36914, "KENET"),
    v6(0x2c0f_f3d8, "KE", 15808, "AccessKenya"),
    v6(0x2c0f_f5c0, "TZ", 33765, "TTCL"),
    v6(0x2c0f_f128, "TZ", 36965, "Habari Node"),
    v6(0x2c0f_f6d0, "UG", 20294, "MTN Uganda"),
    v6(0x2c0f_fc00, "ZA", 37153, "xneelo"),
    v6(0x2c0f_fb50, "ZA", 36943, "Gridhost"),
    v6(0x2c0f_f2a8, "NG", 37282, "MainOne"),
    v6(0x2c0f_2a80, "GH", 30986, "Scancom"),
    v6(0x2c0f_0430, "SN", 8346, "Sonatel"),
    v6(0x2c0f_fc88, "EG", 8452, "TE Data"),
    v6(0x2c0f_f018, "MA", 36903, "Maroc Telecom"),
    v6(0x2a01_04f8, "DE", 24940, "Hetzner Online"),
    v6(0x2001_08d8, "DE", 8560, "IONOS"),
    v6(0x2001_41d0, "FR", 16276, "OVH"),
    v6(0x2a00_da00, "GB", 15418, "Fasthosts"),
    v6(0x2a00_1c98, "NL", 60781, "LeaseWeb"),
    v6(0x2a01_07c8, "NL", 20857, "TransIP"),
    v6(0x2a00_0d00, "NL", 21155, "ProServe"),
    v6(0x2403_3a00, "JP", 9370, "SAKURA Internet"),
    v6(0x2001_0240, "JP", 2497, "IIJ"),
    v6(0x2400_4000, "JP", 4713, "NTT OCN"),
    v6(0x2605_a140, "US", 46606, "Unified Layer"),
    v6(0x2600_1f18, "US", 14618, "Amazon"),
    v6(0x2606_4700, "US", 13335, "Cloudflare"),
    v6(0x2607_f408, "US", 29873, "Newfold Digital"),
];

impl Network {
    #[must_use]
    /// Whether the address lies in the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                (u32::from(address) ^ u32::from(first)) >> (32 - self.prefix) == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                (u128::from(address) ^ u128::from(first)) >> (128 - self.prefix) == 0
            }
            _ => false,
        }
    }

    /// The block that contains an address.
    #[must_use]
    pub fn containing(address: IpAddr) -> Option<&'static Self> {
        NETWORKS.iter().find(|network| network.contains(address))
    }

    /// An address in the block. The first and last of an IPv4 block are never drawn. In IPv6 a server has a
    /// subnet, and a low number in it.
    pub(crate) fn draw_address(&self, draw: Draw) -> IpAddr {
        match self.first {
            IpAddr::V4(first) => {
                let hosts = (1_u64 << (32 - self.prefix)) - 2;
                let number = 1 + u32::try_from(draw.below(hosts)).unwrap_or(0);
                Ipv4Addr::from(u32::from(first) + number).into()
            }
            IpAddr::V6(first) => {
                let subnet = u128::from(draw.below(1 << 32)) << 64;
                let number = u128::from(1 + draw.nth(1).below(0xff));
                Ipv6Addr::from(u128::from(first) | subnet | number).into()
            }
        }
    }

    /// The IPv6 block of the same holder.
    pub(crate) fn v6_block(&self) -> Option<&'static Self> {
        let is_same = |other: &Self| (other.asn, other.country) == (self.asn, self.country);
        NETWORKS.iter().find(|other| other.first.is_ipv6() && is_same(other))
    }

    /// One of the wanted IPv4 blocks, if there are any.
    pub(crate) fn draw(draw: Draw, wanted: impl Fn(&Self) -> bool) -> Option<&'static Self> {
        let wanted = || NETWORKS.iter().filter(|network| network.first.is_ipv4() && wanted(network));
        wanted().nth(usize::try_from(draw.below(wanted().count() as u64)).unwrap_or(0))
    }

    /// Whether the block is in a surveyed country, or in Africa if the list has no block of those countries.
    pub(crate) fn is_home(&self, world: &World) -> bool {
        let is_surveyed = |network: &Self| {
            let last_labels = world.country_domains.iter().map(|domain| domain.as_str().rsplit('.').next());
            last_labels.flatten().any(|label| label.eq_ignore_ascii_case(network.country))
        };
        is_surveyed(self) || (self.region == Region::Africa && !NETWORKS.iter().any(is_surveyed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::special_range;

    fn last(network: &Network) -> IpAddr {
        match network.first {
            IpAddr::V4(first) => Ipv4Addr::from(u32::from(first) | (u32::MAX >> network.prefix)).into(),
            IpAddr::V6(first) => Ipv6Addr::from(u128::from(first) | (u128::MAX >> network.prefix)).into(),
        }
    }

    #[test]
    fn no_block_lies_in_a_special_range_or_in_another() {
        for network in NETWORKS {
            let last = last(network);
            assert!(network.contains(last) && network.contains(network.first));
            assert_eq!(special_range(network.first), None, "{network:?}");
            assert_eq!(special_range(last), None, "{network:?}");
            let holders =
                NETWORKS.iter().filter(|other| other.contains(network.first) || other.contains(last));
            assert_eq!(holders.count(), 1, "{network:?}");
        }
    }

    #[test]
    fn every_holder_has_an_ipv6_block_in_the_same_country() {
        for network in NETWORKS {
            let block = network.v6_block().unwrap();
            assert_eq!(block.organization, network.organization);
            assert_eq!(block.region, network.region, "{network:?}");
        }
    }
}
