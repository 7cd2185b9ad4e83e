//! The distributions of server properties, compared with their keys.

use super::network::{Network, Region};
use crate::model::site::Site;
use crate::sampling::{
    MANY, assert_distribution, assert_share, assert_shares, assert_within, log_normal, normal,
};
use crate::web::{Server, Uplink};
use crate::{Reaction, Web, World};

fn servers(text: &str) -> Vec<Server> {
    let world = World::parse(&format!("seed = 31\n[time]\nscale = 1.0\n{text}")).unwrap();
    (0..MANY).map(|number| Server::from_number(&world, number)).collect()
}

fn count(servers: &[Server], wanted: impl Fn(&Server) -> bool) -> u64 {
    servers.iter().filter(|server| wanted(server)).count() as u64
}

#[test]
fn giants_hold_their_share_of_the_hosts_evenly() {
    let world = World::parse("seed = 32\n[servers]\ngiants = 3\ngiants_share = 0.45").unwrap();
    let mut giants = [0; 3];
    for number in 0..MANY {
        let number = Server::number_of_host(&world, &format!("host{number}.ke"));
        if let Some(hosts) = giants.get_mut(usize::try_from(number).unwrap()) {
            *hosts += 1;
        }
    }
    assert_share("giants", giants.iter().sum(), MANY, 0.45);
    assert_shares("each giant", &giants, &[1.0 / 3.0; 3]);
}

#[test]
fn the_other_hosts_stand_by_the_law_of_zipf() {
    let world = World::parse("seed = 33\n[servers]\ngiants = 0\nothers = 40").unwrap();
    let mut hosts = [0; 40];
    for number in 0..MANY {
        hosts[usize::try_from(Server::number_of_host(&world, &format!("host{number}.ke"))).unwrap()] += 1;
    }
    // Log-uniform ranks: the k-th gets ln((k + 1) / k), nearly 1 / k.
    let shares: Vec<f64> = (1..=40).map(|k| (f64::from(k + 1) / f64::from(k)).ln() / 41_f64.ln()).collect();
    assert_shares("ranks", &hosts, &shares);
}

#[test]
fn uplinks_have_their_shares_and_round_trips() {
    let servers = servers("");
    let of = |uplink| count(&servers, |server| server.uplink == uplink);
    let counts = [Uplink::Offshore, Uplink::Onshore, Uplink::Satellite].map(of);
    assert_shares("uplinks", &counts, &[0.8, 0.2 * 0.8, 0.2 * 0.2]);
    for (uplink, mean, deviation) in
        [(Uplink::Offshore, 180.0, 40.0), (Uplink::Onshore, 320.0, 80.0), (Uplink::Satellite, 650.0, 60.0)]
    {
        let of_uplink = servers.iter().filter(|server| server.uplink == uplink);
        let sample: Vec<f64> = of_uplink.map(|server| server.round_trip.as_secs_f64() * 1000.0).collect();
        assert_distribution("round trips", &sample, |x| normal((x - mean) / deviation));
    }
}

#[test]
fn no_round_trip_is_below_a_millisecond() {
    let servers =
        servers("[servers]\noffshore_share = 1.0\noffshore_round_trip = 1.0\noffshore_deviation = 5.0");
    assert!(servers.iter().all(|server| server.round_trip.as_secs_f64() >= 0.001));
}

#[test]
fn bandwidth_is_log_normal_between_its_bounds() {
    for (text, median, sigma, least, most) in [
        ("", 512.0, 1.2, 28.8, 100_000.0),
        (
            "[servers]\nbandwidth_median = 20000.0\nbandwidth_sigma = 1.5\nbandwidth_most = 1e6\n",
            20_000.0,
            1.5,
            28.8,
            1e6,
        ),
    ] {
        let servers = servers(text);
        let sample: Vec<f64> = servers.iter().map(|server| server.bits_per_second / 1000.0).collect();
        assert!(sample.iter().all(|rate| (least..=most).contains(rate)));
        assert_within("bandwidth", &sample, (least, most), |x| log_normal(x, median, sigma));
    }
}

#[test]
fn background_use_is_beta_two_three() {
    let sample: Vec<f64> = servers("").iter().map(|server| server.background).collect();
    assert_distribution("background use", &sample, |x| x * x * (6.0 - 8.0 * x + 3.0 * x * x));
}

#[test]
fn software_and_gzip_have_their_shares() {
    let text = "[servers]\napache_share = 0.6\niis_share = 0.2\nnginx_share = 0.05\ngzip_share = 0.3\n";
    for date in ["2006-06-01", "2026-06-01"] {
        let world = World::parse(&format!("seed = 34\ndate = \"{date}\"\n{text}")).unwrap();
        let servers: Vec<Server> = (0..MANY).map(|number| Server::from_number(&world, number)).collect();
        // A product is a name, then a version or a comment (RFC 9110 §10.1.5).
        let product = |software: &'static str| software.split(['/', ' ']).next();
        let of = |name: &str| count(&servers, |server| product(server.software) == Some(name));
        let known = [of("Apache"), of("Microsoft-IIS"), of("nginx")];
        let others = MANY - known.iter().sum::<u64>();
        assert_shares(date, &[known[0], known[1], known[2], others], &[0.6, 0.2, 0.05, 0.15]);
        assert_share("gzip", count(&servers, |server| server.gzips), MANY, 0.3);
        assert_eq!(of("cloudflare") > 0, date == "2026-06-01");
    }
}

#[test]
fn addresses_lie_where_the_uplink_says() {
    let world = World::parse("profile = \"africa-2006\"\nseed = 35").unwrap();
    let servers: Vec<Server> = (0..MANY).map(|number| Server::from_number(&world, number)).collect();
    let (mut in_europe, mut offshore) = (0, 0);
    for server in &servers {
        let network = Network::containing(server.address).unwrap();
        assert_eq!(network.is_home(&world), server.uplink != Uplink::Offshore, "{server:?}");
        if server.uplink == Uplink::Offshore && network.region != Region::Africa {
            offshore += 1;
            in_europe += u64::from(network.region == Region::Europe);
        }
        let block = Network::containing(server.v6.unwrap().into()).unwrap();
        assert_eq!((block.asn, block.country), (network.asn, network.country));
    }
    assert_share("Europe", in_europe, offshore, 0.65);
}

#[test]
fn service_times_are_log_normal_and_hang_on_the_url() {
    let text = "seed = 36\n[sites]\ncount = 4000\n[time]\nscale = 2.0\n";
    let world = World::parse(text).unwrap();
    let service = |host: &str, target: &str| match world.respond(false, host, target) {
        Reaction::Response(response) => Some(response.service.as_secs_f64()),
        _ => None,
    };
    let hosts: Vec<String> = (0..4000).map(|index| Site::new(&world, index).main_host).collect();
    let sample: Vec<f64> = hosts.iter().filter_map(|host| service(host, "/robots.txt")).collect();
    assert_distribution("service", &sample, |x| log_normal(x, 0.6, 0.8));
    let host = hosts.iter().find(|host| service(host, "/").is_some()).unwrap();
    assert_eq!(service(host, "/"), service(host, "/"));
    assert_ne!(service(host, "/"), service(host, "/robots.txt"));
}

#[test]
fn offshore_addresses_lie_in_neighbouring_countries_europe_and_elsewhere_by_their_shares() {
    let offshore = servers("[servers]\noffshore_share = 1.0");
    let of = |wanted: fn(Region) -> bool| {
        count(&offshore, |server| wanted(Network::containing(server.address).unwrap().region))
    };
    let counts = [of(|region| region == Region::Africa), of(|region| region == Region::Europe)];
    let elsewhere = MANY - counts[0] - counts[1];
    assert_shares("regions", &[counts[0], counts[1], elsewhere], &[0.1, 0.9 * 0.65, 0.9 * 0.35]);
}
