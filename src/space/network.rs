use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::World;
use super::draw::{Draw, Key};
use super::site::by_share;

/// A block of addresses, of the size and in the hands in which such blocks are. Nothing is ever
/// sent there: every connection to a virtual Web space goes to its gateway. The blocks make a
/// location database yield a believable picture; who held which when is from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    pub first: Ipv4Addr,
    pub prefix: u8,
    /// ISO 3166-1 alpha-2.
    pub country: &'static str,
    pub asn: u32,
    pub organization: &'static str,
    is_african: bool,
}

const fn african(first: [u8; 4], prefix: u8, country: &'static str, asn: u32, name: &'static str) -> Network {
    network(first, prefix, country, asn, name, true)
}

const fn distant(first: [u8; 4], prefix: u8, country: &'static str, asn: u32, name: &'static str) -> Network {
    network(first, prefix, country, asn, name, false)
}

const fn network(
    [a, b, c, d]: [u8; 4],
    prefix: u8,
    country: &'static str,
    asn: u32,
    organization: &'static str,
    is_african: bool,
) -> Network {
    Network { first: Ipv4Addr::new(a, b, c, d), prefix, country, asn, organization, is_african }
}

/// The blocks that worlds draw their addresses from.
pub const NETWORKS: &[Network] = &[
    african([41, 90, 0, 0], 16, "KE", 33771, "Safaricom"),
    african([41, 204, 160, 0], 19, "KE", 36914, "KENET"),
    african([41, 206, 32, 0], 19, "KE", 15808, "AccessKenya"),
    african([197, 136, 0, 0], 16, "KE", 36914, "KENET"),
    african([41, 59, 0, 0], 16, "TZ", 33765, "TTCL"),
    african([41, 221, 32, 0], 19, "TZ", 36965, "Habari Node"),
    african([41, 202, 224, 0], 19, "UG", 20294, "MTN Uganda"),
    african([197, 221, 0, 0], 18, "ZA", 37153, "xneelo"),
    african([41, 185, 0, 0], 16, "ZA", 36943, "Gridhost"),
    african([41, 75, 80, 0], 20, "NG", 37282, "MainOne"),
    african([41, 204, 32, 0], 19, "GH", 30986, "Scancom"),
    african([41, 32, 0, 0], 13, "EG", 8452, "TE Data"),
    african([41, 248, 0, 0], 14, "MA", 36903, "Maroc Telecom"),
    distant([88, 198, 0, 0], 16, "DE", 24940, "Hetzner Online"),
    distant([212, 227, 0, 0], 16, "DE", 8560, "IONOS"),
    distant([37, 187, 0, 0], 16, "FR", 16276, "OVH"),
    distant([77, 68, 0, 0], 17, "GB", 8560, "Fasthosts"),
    distant([85, 17, 0, 0], 16, "NL", 60781, "LeaseWeb"),
    distant([162, 144, 0, 0], 16, "US", 46606, "Unified Layer"),
    distant([54, 144, 0, 0], 14, "US", 14618, "Amazon"),
    distant([104, 16, 0, 0], 13, "US", 13335, "Cloudflare"),
    distant([66, 96, 128, 0], 18, "US", 29873, "Newfold Digital"),
];

impl Network {
    #[must_use]
    pub fn contains(&self, address: Ipv4Addr) -> bool {
        (u32::from(address) ^ u32::from(self.first)) >> (32 - self.prefix) == 0
    }

    fn draw_address(&self, draw: Draw) -> Ipv4Addr {
        // The first and last address of a block are never a server's.
        let hosts = (1_u64 << (32 - self.prefix)) - 2;
        Ipv4Addr::from(u32::from(self.first) + 1 + u32::try_from(draw.below(hosts)).unwrap_or(0))
    }
}

/// A server of a virtual Web space: what is the same for all the hosts at one address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Server {
    pub address: IpAddr,
    pub software: &'static str,
    /// From the surveyor to the server and back.
    pub round_trip: Duration,
    /// Of the server's link.
    pub bits_per_second: f64,
    /// Share of the link that other users take on average.
    pub background: f64,
}

/// No server is farther away than this, whatever is drawn.
const MOST_ROUND_TRIP_MS: f64 = 60_000.0;

impl Server {
    /// The server a host stands at: a giant's, or one of the others by its rank.
    pub(super) fn of_host(world: &World, host: &str) -> Self {
        let (servers, key) = (&world.servers, world.key().part("host").part(host));
        let at_giant = servers.giants > 0 && key.draw("at a giant").happens(servers.giants_share);
        let rank = key.draw("server rank");
        let number =
            if at_giant { rank.below(servers.giants) } else { servers.giants + rank.rank(servers.others) };
        Self::numbered(world, world.key().part("server").child(number))
    }

    fn numbered(world: &World, key: Key) -> Self {
        let servers = &world.servers;
        let is_distant = |network: &Network| !is_home(world, network);
        let networks = if !key.draw("offshore").happens(servers.offshore_share) {
            networks(|network| is_home(world, network))
        } else if key.draw("neighbour").happens(servers.neighbour_share) {
            networks(|network| is_distant(network) && network.is_african)
        } else {
            networks(|network| is_distant(network) && !network.is_african)
        };
        let software =
            [(servers.apache_share, "Apache/2.2.3 (CentOS)"), (servers.iis_share, "Microsoft-IIS/6.0")];
        Self {
            address: key.draw("network").pick(&networks).draw_address(key.draw("address")).into(),
            software: by_share(key.draw("software"), &software).unwrap_or("nginx/1.14.2"),
            round_trip: Duration::from_secs_f64(
                key.draw("latency")
                    .log_normal(servers.latency_median, servers.latency_sigma)
                    .min(MOST_ROUND_TRIP_MS)
                    / 1000.0,
            ),
            bits_per_second: 1e9,
            background: 0.0,
        }
    }
}

/// The blocks wanted; all of them where none is.
fn networks(wanted: impl Fn(&Network) -> bool) -> Vec<Network> {
    let found: Vec<Network> = NETWORKS.iter().filter(|network| wanted(network)).copied().collect();
    if found.is_empty() { NETWORKS.to_vec() } else { found }
}

/// Blocks of the surveyed countries; of all Africa where the list has none of theirs.
fn is_home(world: &World, network: &Network) -> bool {
    let is_surveyed = |network: &Network| {
        world.country_domains.iter().any(|domain| {
            domain
                .as_str()
                .rsplit('.')
                .next()
                .is_some_and(|label| label.eq_ignore_ascii_case(network.country))
        })
    };
    if NETWORKS.iter().any(is_surveyed) { is_surveyed(network) } else { network.is_african }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::address::special_range;

    #[test]
    fn no_block_lies_in_a_special_range_or_in_another() {
        for network in NETWORKS {
            let last = Ipv4Addr::from(u32::from(network.first) | (u32::MAX >> network.prefix));
            assert!(network.contains(last) && network.contains(network.first));
            assert_eq!(special_range(network.first.into()), None);
            assert_eq!(special_range(last.into()), None);
            let holders =
                NETWORKS.iter().filter(|other| other.contains(network.first) || other.contains(last));
            assert_eq!(holders.count(), 1, "{network:?}");
        }
    }

    #[test]
    fn two_giants_hold_everything_when_they_hold_all_shares() {
        let world = World::parse("[servers]\ngiants = 2\ngiants_share = 1").unwrap();
        let addresses: HashSet<IpAddr> =
            (0..100).map(|n| Server::of_host(&world, &format!("host{n}.ke")).address).collect();
        assert_eq!(addresses.len(), 2);
    }
}
