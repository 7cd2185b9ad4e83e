use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::server_at;

/// The name of the special-purpose range that contains an address, if any. A survey of the public Web must
/// not go there, and a hostile name or redirect may try to lead it there.
///
/// The ranges are those of the IANA special-purpose registries (RFC 6890 and updates) that are not globally
/// reachable, and multicast. An IPv6 address that embeds an IPv4 one is judged by the latter ([`server_at`]).
///
/// ```
/// use ccsurvey_address::special_range;
/// assert_eq!(special_range("127.0.0.1".parse().unwrap()), Some("loopback"));
/// assert_eq!(special_range("::ffff:10.0.0.1".parse().unwrap()), Some("private"));
/// assert_eq!(special_range("41.90.0.1".parse().unwrap()), None);
/// ```
#[must_use]
pub fn special_range(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) => special_v4(v4),
        IpAddr::V6(v6) => match server_at(address) {
            IpAddr::V4(v4) => special_v4(v4).or_else(|| special_v6(v6)),
            IpAddr::V6(_) => special_v6(v6),
        },
    }
}

/// Network, prefix length, name; RFC beside each.
const V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "this network"),        // RFC 791 §3.2
    ([10, 0, 0, 0], 8, "private"),            // RFC 1918
    ([100, 64, 0, 0], 10, "shared"),          // RFC 6598, carrier-grade NAT
    ([127, 0, 0, 0], 8, "loopback"),          // RFC 1122 §3.2.1.3
    ([169, 254, 0, 0], 16, "link-local"),     // RFC 3927, cloud metadata services
    ([172, 16, 0, 0], 12, "private"),         // RFC 1918
    ([192, 0, 0, 0], 24, "IETF protocol"),    // RFC 6890 §2.1
    ([192, 0, 2, 0], 24, "documentation"),    // RFC 5737
    ([192, 31, 196, 0], 24, "AS112"),         // RFC 7535
    ([192, 52, 193, 0], 24, "AMT"),           // RFC 7450
    ([192, 88, 99, 0], 24, "6to4 relay"),     // RFC 7526
    ([192, 168, 0, 0], 16, "private"),        // RFC 1918
    ([192, 175, 48, 0], 24, "AS112"),         // RFC 7534
    ([198, 18, 0, 0], 15, "benchmarking"),    // RFC 2544
    ([198, 51, 100, 0], 24, "documentation"), // RFC 5737
    ([203, 0, 113, 0], 24, "documentation"),  // RFC 5737
    ([224, 0, 0, 0], 4, "multicast"),         // RFC 5771
    ([240, 0, 0, 0], 4, "reserved"),          // RFC 1112 §4, broadcast included
];

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = u32::from(address);
    V4.iter()
        .find(|(network, prefix, _)| (bits ^ u32::from_be_bytes(*network)) >> (32 - prefix) == 0)
        .map(|(_, _, name)| *name)
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let s = address.segments();
    match s {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("loopback"),
        [0, 0, 0, 0, 0, 0, ..] => Some("IPv4-compatible"), // RFC 4291 §2.5.5.1
        [0x64, 0xff9b, 1, ..] => Some("local NAT64"),      // RFC 8215
        [0x100, 0, 0, 0..=1, ..] => Some("discard"),       // RFC 6666, RFC 9780
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Some("documentation"), // RFC 3849, RFC 9637
        [0x2001, 0..=0x1ff, ..] => Some("IETF protocol"),  // RFC 2928, Teredo included
        [0x2002, ..] => Some("6to4"),                      // RFC 3056, RFC 7526
        [0x2620, 0x4f, 0x8000, ..] => Some("AS112"),       // RFC 7534
        [0x5f00, ..] => Some("segment routing"),           // RFC 9602
        [0xfc00..=0xfdff, ..] => Some("unique local"),     // RFC 4193
        [0xfe80..=0xfebf, ..] => Some("link-local"),       // RFC 4291 §2.5.6
        [0xfec0..=0xfeff, ..] => Some("site-local"),       // RFC 3879
        [0xff00..=0xffff, ..] => Some("multicast"),        // RFC 4291 §2.7
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Option<&'static str> {
        special_range(text.parse().unwrap())
    }

    /// The IANA registries, recorded independently of the tables above: first and last address of each range.
    const REGISTERED: &str = include_str!("../../tests/data/special_ranges.csv");

    /// Name, first address and last address of each range.
    fn registered() -> Vec<(&'static str, IpAddr, IpAddr)> {
        let rows = REGISTERED.lines().filter(|line| !line.starts_with('#')).skip(1);
        rows.map(|row| {
            let cells: Vec<&str> = row.split(',').collect();
            let [name, first, last, _] = cells[..] else { panic!("{row}") };
            (name, first.parse().unwrap(), last.parse().unwrap())
        })
        .collect()
    }

    fn beside(address: IpAddr, step: i128) -> Option<IpAddr> {
        match address {
            IpAddr::V4(v4) => {
                let next = u32::try_from(i128::from(v4.to_bits()) + step).ok()?;
                Some(Ipv4Addr::from_bits(next).into())
            }
            IpAddr::V6(v6) => {
                let bits = v6.to_bits();
                let next = if step < 0 { bits.checked_sub(1)? } else { bits.checked_add(1)? };
                Some(Ipv6Addr::from_bits(next).into())
            }
        }
    }

    #[test]
    fn every_registered_range_is_special_from_its_first_address_to_its_last() {
        for (name, first, last) in registered() {
            for address in [first, last] {
                // The ends of 6to4 embed addresses of other ranges, whose names are returned.
                let expected = if name == "6to4" { special_range(server_at(address)) } else { Some(name) };
                assert_eq!(special_range(address), expected, "{address}");
                assert!(special_range(address).is_some(), "{address}");
            }
        }
    }

    #[test]
    fn what_is_beside_a_registered_range_is_special_only_if_it_is_in_another() {
        let ranges = registered();
        let is_in_one =
            |address: IpAddr| ranges.iter().any(|(_, first, last)| (first..=last).contains(&&address));
        for (_, first, last) in &ranges {
            for address in [beside(*first, -1), beside(*last, 1)].into_iter().flatten() {
                assert_eq!(special_range(address).is_some(), is_in_one(address), "{address}");
            }
        }
    }

    #[test]
    fn every_row_of_the_tables_is_registered() {
        let names: Vec<&str> = registered().into_iter().map(|(name, ..)| name).collect();
        assert_eq!(V4.len(), registered().iter().filter(|(_, first, _)| first.is_ipv4()).count());
        for name in V4.iter().map(|(.., name)| name) {
            assert!(names.contains(name), "{name}");
        }
    }

    #[test]
    fn an_ipv4_address_inside_an_ipv6_address_is_judged_as_itself() {
        assert_eq!(range("::ffff:127.0.0.1"), Some("loopback"));
        assert_eq!(range("64:ff9b::a00:1"), Some("private"));
        assert_eq!(range("64:ff9b::a9fe:a9fe"), Some("link-local"));
        assert_eq!(range("2002:7f00:1::"), Some("loopback"));
        assert_eq!(range("2002:295a:1::"), Some("6to4"));
        assert_eq!(range("::ffff:41.90.0.1"), None);
        assert_eq!(range("64:ff9b::41.90.0.1"), None);
    }

    #[test]
    fn public_addresses_are_not_special() {
        for text in ["8.8.8.8", "41.206.32.1", "2001:4860:4860::8888", "2c0f:fe38::1"] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}
