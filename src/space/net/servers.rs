use std::net::IpAddr;
use std::time::Duration;

use super::network::{NETWORKS, Network, Region};
use super::software::software;
use crate::World;
use crate::draw::{Draw, Key};
use crate::settings::byte_sections::Servers;
use crate::web::{Server, Uplink};

/// The shortest round trip, in milliseconds.
const LEAST_ROUND_TRIP: f64 = 1.0;

/// Bits per kbit, as link speeds are sold.
const KILOBIT: f64 = 1000.0;
const HOUR_SECONDS: f64 = 3600.0;
/// Standard deviation of the peak hour between servers: their users live in several time zones, and are at
/// home or at work [A].
const PEAK_DEVIATION: f64 = 2.0;

impl Server {
    /// The server of a host: a giant, or one of the others by its rank.
    pub(crate) fn for_host(world: &World, host: &str) -> Self {
        Self::from_number(world, Self::number_of_host(world, host))
    }

    /// The number of a host's server; the giants come first.
    pub(crate) fn number_of_host(world: &World, host: &str) -> u64 {
        let (servers, key) = (&world.servers, world.key().part("host").part(host));
        let at_giant = servers.giants > 0 && key.draw("at a giant").happens(servers.giants_share);
        let rank = key.draw("server rank");
        if at_giant { rank.below(servers.giants) } else { servers.giants + rank.rank(servers.others) }
    }

    pub(crate) fn from_number(world: &World, number: u64) -> Self {
        let (servers, key) = (&world.servers, world.key().part("server").child(number));
        let uplink = draw_uplink(servers, key);
        let network = draw_network(world, key, uplink);
        let v6 = network.v6_block().map(|block| block.draw_address(key.draw("v6 address")));
        let page_square = world.pages.bytes_sigma * world.pages.bytes_sigma;
        let page_bytes = world.pages.bytes_median * (page_square / 2.0).exp();
        Self {
            address: network.draw_address(key.draw("address")),
            v6: v6.and_then(|address| if let IpAddr::V6(v6) = address { Some(v6) } else { None }),
            software: software(world, key),
            uplink,
            round_trip: draw_round_trip(world, key, uplink),
            bits_per_second: draw_bandwidth(servers, key) * KILOBIT / world.time.scale,
            background: draw_background(key.draw("background use")),
            day_swing: servers.day_swing,
            peak_second: (servers.peak_hour + PEAK_DEVIATION * key.draw("peak hour").normal()) * HOUR_SECONDS,
            others_service: Duration::from_secs_f64(mean_service(world)),
            others_bytes: page_bytes,
            others_bytes_squared: page_bytes * page_bytes * page_square.exp(),
            gzips: key.draw("gzip").happens(servers.gzip_share),
        }
    }
}

fn draw_uplink(servers: &Servers, key: Key) -> Uplink {
    if key.draw("offshore").happens(servers.offshore_share) {
        Uplink::Offshore
    } else if key.draw("satellite").happens(servers.satellite_share) {
        Uplink::Satellite
    } else {
        Uplink::Onshore
    }
}

/// A block inside the surveyed countries or outside; outside, in the drawn region if it has one.
fn draw_network(world: &World, key: Key, uplink: Uplink) -> &'static Network {
    let draw = key.draw("network");
    if uplink != Uplink::Offshore {
        return Network::draw(draw, |network| network.is_home(world)).unwrap_or(&NETWORKS[0]);
    }
    let is_neighbour = key.draw("neighbour").happens(world.servers.neighbour_share);
    let is_in_europe = key.draw("Europe").happens(world.servers.europe_share);
    let is_hoster = |network: &Network| matches!(network.region, Region::Europe | Region::America);
    let is_distant = |network: &Network| is_hoster(network) && !network.is_home(world);
    let in_region = Network::draw(draw, |network| match network.region {
        Region::Africa => is_neighbour && !network.is_home(world),
        Region::Europe => !is_neighbour && is_in_europe && is_distant(network),
        Region::America => !is_neighbour && !is_in_europe && is_distant(network),
        Region::Asia => false,
    });
    in_region.or_else(|| Network::draw(draw, is_distant)).unwrap_or(&NETWORKS[0])
}

fn draw_round_trip(world: &World, key: Key, uplink: Uplink) -> Duration {
    let servers = &world.servers;
    let (mean, deviation) = match uplink {
        Uplink::Offshore => (servers.offshore_round_trip, servers.offshore_deviation),
        Uplink::Onshore => (servers.onshore_round_trip, servers.onshore_deviation),
        Uplink::Satellite => (servers.satellite_round_trip, servers.satellite_deviation),
    };
    let milliseconds = (mean + deviation * key.draw("round trip").normal()).max(LEAST_ROUND_TRIP);
    Duration::from_secs_f64(milliseconds * world.time.scale / 1000.0)
}

/// In seconds. The mean of a log-normal distribution, because `service_most` hardly affects it.
fn mean_service(world: &World) -> f64 {
    let time = &world.time;
    time.scale * time.service_median * (time.service_sigma * time.service_sigma / 2.0).exp()
}

/// In kbit/s.
fn draw_bandwidth(servers: &Servers, key: Key) -> f64 {
    let bandwidth = key.draw("bandwidth").log_normal(servers.bandwidth_median, servers.bandwidth_sigma);
    bandwidth.min(servers.bandwidth_most).max(servers.bandwidth_least)
}

/// Exactly Beta(2, 3): the second smallest of four uniform draws.
fn draw_background(draw: Draw) -> f64 {
    let mut uniform = [1, 2, 3, 4].map(|n| draw.nth(n).unit());
    uniform.sort_by(f64::total_cmp);
    uniform[1]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn two_giants_hold_everything_when_they_hold_all_shares() {
        let world = World::parse("[servers]\ngiants = 2\ngiants_share = 1").unwrap();
        let addresses: HashSet<IpAddr> =
            (0..100).map(|n| Server::for_host(&world, &format!("host{n}.ke")).address).collect();
        assert_eq!(addresses.len(), 2);
    }

    #[test]
    fn a_world_takes_no_time_unless_it_says_so() {
        let timeless = Server::for_host(&World::parse("").unwrap(), "host.ke");
        assert_eq!(
            (timeless.round_trip, timeless.transfer_time(1_000_000)),
            (Duration::ZERO, Duration::ZERO)
        );
        let timed = |scale: u64| {
            let world = World::parse(&format!("[time]\nscale = {scale}")).unwrap();
            Server::for_host(&world, "host.ke")
        };
        let (one, two) = (timed(1), timed(2));
        assert!(one.round_trip >= Duration::from_millis(1) && one.transfer_time(1000) > Duration::ZERO);
        for (one, two) in
            [(one.round_trip, two.round_trip), (one.transfer_time(100_000), two.transfer_time(100_000))]
        {
            let ratio = two.div_duration_f64(one);
            assert!((ratio - 2.0).abs() < 1e-6, "{ratio}");
        }
        assert_eq!((one.address, one.v6, one.background), (two.address, two.v6, two.background));
    }
}
