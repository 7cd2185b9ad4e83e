use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The server behind an address: the IPv4 server if the address is an IPv6 address that embeds an IPv4 one
/// (mapped, NAT64, 6to4), else the address itself.
///
/// All state and rules per server (pauses, budgets, opt-outs, special ranges, countries and networks) use
/// this address. Otherwise a server with two addresses would get twice as many requests. Connections go to
/// the original address, and tables record that one.
///
/// ```
/// use ccsurvey_address::server_at;
/// let server = |address: &str| server_at(address.parse().unwrap()).to_string();
/// assert_eq!(server("64:ff9b::41.90.0.1"), "41.90.0.1");
/// assert_eq!(server("2002:295a:1::7"), "41.90.0.1");
/// assert_eq!(server("2c0f:fe38::1"), "2c0f:fe38::1");
/// ```
#[must_use]
pub fn server_at(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => embedded_v4(v6).map_or(address, IpAddr::V4),
    }
}

/// The same for an address as tables write it; text that is not an address is returned unchanged.
#[must_use]
pub fn server_named(address: &str) -> Cow<'_, str> {
    match address.parse::<IpAddr>().map(|parsed| (parsed, server_at(parsed))) {
        Ok((parsed, server)) if parsed != server => Cow::Owned(server.to_string()),
        _ => Cow::Borrowed(address),
    }
}

fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => v4(high, low), // mapped, RFC 4291 §2.5.5.2
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low), // NAT64, RFC 6052 §2.1
        [0x2002, high, low, ..] => v4(high, low),            // 6to4, RFC 3056 §2
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(address: &str) -> String {
        server_at(address.parse().unwrap()).to_string()
    }

    #[test]
    fn an_ipv4_address_inside_an_ipv6_one_is_the_ipv4_server() {
        for address in
            ["41.90.7.9", "::ffff:41.90.7.9", "64:ff9b::41.90.7.9", "2002:295a:709::1", "2002:295a:709:1::"]
        {
            assert_eq!(server(address), "41.90.7.9", "{address}");
            assert_eq!(server_named(address), "41.90.7.9", "{address}");
        }
    }

    #[test]
    fn an_address_beside_those_prefixes_is_itself() {
        for address in [
            "64:ff9b::1:0:0",
            "64:ff9a::1",
            "64:ff9b:1::2959:7",
            "2001:ffff::1",
            "2003::1",
            "::fffe:41.90.7.9",
        ] {
            assert_eq!(server(address), address.parse::<IpAddr>().unwrap().to_string(), "{address}");
            assert!(matches!(server_named(address), Cow::Borrowed(name) if name == address), "{address}");
        }
    }
}
