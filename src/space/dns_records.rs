use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::World;
use super::response::Records;
use super::server::Server;
use super::site::by_share;

/// Which kinds of address a host has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Families {
    V4,
    V6,
    Both,
}

/// What the name server has of a host that stands at `server`.
pub(super) fn records(world: &World, host: &str, server: &Server) -> Records {
    let (shares, key) = (&world.dns, world.key().part("host").part(host));
    let kinds = [(shares.v6_only_share, Families::V6), (shares.both_share, Families::Both)];
    let families = by_share(key.draw("address families"), &kinds).unwrap_or(Families::V4);
    let (v4, v6) = addresses(server);
    Records {
        alias: key.draw("alias of the hoster").happens(shares.alias_share).then(|| hoster_name(server)),
        v4: v4.filter(|_| families != Families::V6),
        v6: (families != Families::V4).then_some(v6),
        is_truncated: key.draw("truncated answer").happens(shares.truncated_share),
    }
}

/// The address under which the host is met.
pub(super) fn met_at(records: &Records, server: &Server) -> IpAddr {
    match (records.v4, records.v6) {
        (None, Some(v6)) => v6.into(),
        _ => server.address,
    }
}

/// A server whose holder has no IPv6 block in the list has one made of its IPv4 address, in a block that
/// `AFRINIC` holds for Africa.
fn addresses(server: &Server) -> (Option<Ipv4Addr>, Ipv6Addr) {
    match server.address {
        IpAddr::V6(v6) => (None, v6),
        IpAddr::V4(v4) => {
            let [a, b, c, d] = v4.octets();
            let low = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
            let made = Ipv6Addr::new(0x2c0f, 0xfe40, low[0], low[1], 0, 0, 0, 1);
            (Some(v4), server.v6.unwrap_or(made))
        }
    }
}

/// Below `.example`, which is nobody's (RFC 2606 §2); it is never asked for by itself, for the
/// addresses come with it.
fn hoster_name(server: &Server) -> String {
    let (_, v6) = addresses(server);
    let [_, _, high, low, ..] = v6.segments();
    format!("web-{high:x}-{low:x}.hoster.example")
}
