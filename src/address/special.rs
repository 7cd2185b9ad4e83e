use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The name of the special-purpose range an address lies in, if any: a survey of the public Web
/// has no business there, and a hostile name or redirect may try to lead it there.
///
/// The ranges are those of the IANA special-purpose registries (RFC 6890 and updates) that are
/// not globally reachable, with multicast and the IPv6 forms that embed an IPv4 address.
///
/// ```
/// use ccsurvey::address::special_range;
/// assert_eq!(special_range("127.0.0.1".parse().unwrap()), Some("loopback"));
/// assert_eq!(special_range("::ffff:10.0.0.1".parse().unwrap()), Some("private"));
/// assert_eq!(special_range("41.90.0.1".parse().unwrap()), None);
/// ```
#[must_use]
pub fn special_range(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) => special_v4(v4),
        IpAddr::V6(v6) => special_v6(v6),
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
    let embedded = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match s {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("loopback"),
        [0, 0, 0, 0, 0, 0xffff, high, low] => special_v4(embedded(high, low)), // mapped, RFC 4291 §2.5.5.2
        [0, 0, 0, 0, 0, 0, ..] => Some("IPv4-compatible"),                     // RFC 4291 §2.5.5.1
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => special_v4(embedded(high, low)), // NAT64, RFC 6052
        [0x64, 0xff9b, 1, ..] => Some("local NAT64"),                          // RFC 8215
        [0x100, 0, 0, 0, ..] => Some("discard"),                               // RFC 6666
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Some("documentation"), // RFC 3849, RFC 9637
        [0x2001, 0..=0x1ff, ..] => Some("IETF protocol"),                      // RFC 2928, Teredo included
        [0x2002, high, low, ..] => special_v4(embedded(high, low)).or(Some("6to4")), // RFC 3056
        [0x5f00, ..] => Some("segment routing"),                               // RFC 9602
        [0xfc00..=0xfdff, ..] => Some("unique local"),                         // RFC 4193
        [0xfe80..=0xfebf, ..] => Some("link-local"),                           // RFC 4291 §2.5.6
        [0xfec0..=0xfeff, ..] => Some("site-local"),                           // RFC 3879
        [0xff00..=0xffff, ..] => Some("multicast"),                            // RFC 4291 §2.7
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Option<&'static str> {
        special_range(text.parse().unwrap())
    }

    #[test]
    fn both_ends_of_a_range_are_in_it_and_their_neighbours_are_not() {
        for (inside, outside) in [
            (["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0"]),
            (["172.16.0.0", "172.31.255.255"], ["172.15.255.255", "172.32.0.0"]),
            (["100.64.0.0", "100.127.255.255"], ["100.63.255.255", "100.128.0.0"]),
            (["198.18.0.0", "198.19.255.255"], ["198.17.255.255", "198.20.0.0"]),
            (["fe80::", "febf:ffff::"], ["fe7f::", "2c0f::1"]),
        ] {
            assert!(inside.iter().all(|text| range(text).is_some()), "{inside:?}");
            assert!(outside.iter().all(|text| range(text).is_none()), "{outside:?}");
        }
        assert_eq!(range("255.255.255.255"), Some("reserved"));
    }

    #[test]
    fn an_ipv4_address_inside_an_ipv6_address_is_judged_as_itself() {
        assert_eq!(range("::ffff:127.0.0.1"), Some("loopback"));
        assert_eq!(range("64:ff9b::a00:1"), Some("private"));
        assert_eq!(range("2002:7f00:1::"), Some("loopback"));
        assert_eq!(range("::ffff:41.90.0.1"), None);
    }

    #[test]
    fn public_addresses_are_not_special() {
        for text in ["8.8.8.8", "41.206.32.1", "2001:4860:4860::8888", "2c0f:fe38::1"] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}
