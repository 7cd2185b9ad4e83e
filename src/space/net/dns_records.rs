use std::net::IpAddr;

use crate::World;
use crate::draw::by_share;
use crate::web::{Records, Server};

/// The address families of a host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Families {
    V4,
    V6,
    Both,
}

/// The DNS records of a host on `server`.
pub(crate) fn records(world: &World, host: &str, server: &Server) -> Records {
    let (shares, key) = (&world.dns, world.key().part("host").part(host));
    let kinds = [(shares.v6_only_share, Families::V6), (shares.both_share, Families::Both)];
    let families = by_share(key.draw("address families"), &kinds).unwrap_or(Families::V4);
    let v4 = if let IpAddr::V4(v4) = server.address { Some(v4) } else { None };
    let is_alias = key.draw("alias of the hoster").happens(shares.alias_share);
    let has_more = is_alias && key.draw("chain of aliases").happens(shares.chain_share);
    let target = is_alias.then(|| hoster_name(server, families));
    let (alias, more_aliases) = match target {
        Some(target) if has_more => (Some(format!("{host}.cdn.hoster.example")), vec![target]),
        target => (target, Vec::new()),
    };
    Records {
        alias,
        more_aliases,
        v4: v4.filter(|_| families != Families::V6),
        v6: server.v6.filter(|_| families != Families::V4),
        more_v4: Vec::new(),
        is_truncated: key.draw("truncated answer").happens(shares.truncated_share),
    }
}

/// The address that clients of the host connect to.
pub(crate) fn contacted_address(records: &Records, server: &Server) -> IpAddr {
    match (records.v4, records.v6) {
        (None, Some(v6)) => v6.into(),
        _ => server.address,
    }
}

/// A name below `.example`, which belongs to no one (RFC 2606 §2). Hosts of a server with other families have
/// another name of it: a resolver that misses a family asks for it under this name.
fn hoster_name(server: &Server, families: Families) -> String {
    let kind = match families {
        Families::V4 => "web",
        Families::V6 => "web6",
        Families::Both => "dual",
    };
    let IpAddr::V4(v4) = server.address else { return format!("{kind}.hoster.example") };
    let [a, b, c, d] = v4.octets();
    format!("{kind}-{:x}-{:x}.hoster.example", u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
}
