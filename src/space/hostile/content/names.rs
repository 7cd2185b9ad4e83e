//! Names that resolve to forbidden addresses, in circles, or to nothing.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::hostile::case::{Case, CaseHost, neighbour};
use crate::hostile::pages::{CaseRequest, links, on_front, redirect};
use crate::web::Act;
use crate::{Lookup, Oddity, Records};

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_names("dns-private-address", "The name leads into a private network.", |_| v4([10, 0, 0, 1])),
    Case::of_names(
        "dns-link-local",
        "The name leads to the link-local address where clouds keep secrets.",
        |_| v4([169, 254, 169, 254]),
    ),
    Case::of_names("dns-loopback", "The name leads back to the surveyor.", |_| v4([127, 0, 0, 1])),
    Case::of_names("dns-this-network", "The name leads to 0.0.0.0.", |_| v4([0, 0, 0, 0])),
    Case::of_names("dns-broadcast", "The name leads to the broadcast address.", |_| v4([255, 255, 255, 255])),
    Case::of_names("dns-mapped-address", "An IPv6 address that maps a private IPv4 address.", |_| {
        v6(Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped())
    }),
    Case::of_names("dns-six-loopback", "The name leads to ::1.", |_| v6(Ipv6Addr::LOCALHOST)),
    Case::of_names("dns-private-and-public", "A private address beside a public one.", |case_host| {
        Lookup::Found(Records { v4: Some(PRIVATE), more_v4: vec![case_host.address], ..Records::default() })
    }),
    Case::of_names("dns-rebinding", "A public address first, a private one from then on.", |case_host| {
        Lookup::Turns(vec![records(case_host.address), records(PRIVATE)])
    }),
    Case::of_names(
        "dns-rebinding-back",
        "A private address first, a public one from then on.",
        |case_host| Lookup::Turns(vec![records(PRIVATE), records(case_host.address)]),
    ),
    Case::of_names("dns-opted-out-address", "An address to be put on the opt-out list.", |_| {
        Lookup::Found(records(OPTED_OUT))
    }),
    Case::of_names("cname-chain", "Five aliases one after another.", |case_host| alias(case_host, 5)),
    Case::of_names("cname-without-end", "Aliases one after another without end.", |case_host| {
        alias(case_host, u32::MAX)
    }),
    Case::of_names("cname-loop", "Two aliases that lead to each other.", |case_host| {
        let is_main = case_host.host == case_host.main_host;
        let other =
            if is_main { format!("other.{}", case_host.main_host) } else { case_host.main_host.to_owned() };
        Lookup::Alias(other)
    }),
    Case::of_names("cname-to-itself", "An alias of itself.", |case_host| {
        Lookup::Alias(case_host.host.to_owned())
    }),
    Case::of_names("cname-to-private-address", "An alias of a name in a private network.", |case_host| {
        if case_host.host == case_host.main_host {
            return Lookup::Alias(format!("intranet.{}", case_host.main_host));
        }
        Lookup::Found(records(PRIVATE))
    }),
    Case::of_names("cname-to-opted-out", "An alias of a host that opted out.", |case_host| {
        Lookup::Alias(neighbour(case_host.main_host, "opted-out"))
    }),
    Case::of_names("dns-silence", "The name server never responds.", |_| Lookup::Silence),
    Case::of_names("dns-failure", "The name server fails.", |_| Lookup::ServerFailure),
    Case::of_names("dns-without-address", "The name exists but has no address.", |_| {
        Lookup::Found(Records::default())
    }),
    Case::of_names("dns-cut-within-record", "Truncated over UDP within a record.", |case_host| {
        odd_records(case_host, Oddity::CutWithinRecord)
    }),
    Case::of_names(
        "dns-cut-unsaid",
        "Truncated over UDP within a record, without the truncation flag.",
        |case_host| odd_records(case_host, Oddity::CutUnsaid),
    ),
    Case::of_names("dns-broken-additional", "A broken record after the answer.", |case_host| {
        odd_records(case_host, Oddity::BrokenAdditional)
    }),
    Case::of_names("dns-short-address", "An address of three bytes after a whole one.", |case_host| {
        odd_records(case_host, Oddity::ShortAddress)
    }),
    Case::of_names("dns-foreign-class", "An address of class CH after one of class IN.", |case_host| {
        odd_records(case_host, Oddity::ForeignClass)
    }),
    Case::of_names("dns-v4-fails", "The name server fails for A and has AAAA.", |case_host| {
        odd_records(case_host, Oddity::V4Fails)
    }),
    Case::of_names("dns-v6-fails", "The name server fails for AAAA and has A.", |case_host| {
        odd_records(case_host, Oddity::V6Fails)
    }),
    Case::of_names("dns-v6-denied", "The name does not exist for AAAA, and has A.", |case_host| {
        odd_records(case_host, Oddity::V6Denied)
    }),
    Case::of_names("dns-v6-silent", "The name server never responds for AAAA, and has A.", |case_host| {
        odd_records(case_host, Oddity::V6Silent)
    }),
    Case::of_names("dns-refused-tersely", "The name server refuses with only a header.", |case_host| {
        odd_records(case_host, Oddity::RefusedTersely)
    }),
    Case::of_names("dns-many-addresses", "A thousand addresses, too long for UDP.", |case_host| {
        let first = u32::from(case_host.address);
        let more_v4 = (1..1000).map(|n| Ipv4Addr::from(first + n * 256)).collect();
        let v4 = Some(case_host.address);
        Lookup::Found(Records { v4, more_v4, is_truncated: true, ..Records::default() })
    }),
    Case::of_pages("undecoded-name", "The site is at a name that does not decode.", |request| {
        if request.host == request.main_host {
            return redirect(&format!("http://XN--1UG.{}/", request.main_host));
        }
        front_with_links(request, &["next", "/../1?x", "//xn--a.HOST/next", "http://xn--0.HOST:80/next"])
    }),
    Case::of_pages("undecoded-name-in-letters", "Non-ASCII names that IDNA forbids.", |request| {
        front_with_links(
            request,
            &["http://xn--a.\u{65e5}.HOST/", "http://a\u{200d}b.HOST/", "http://\u{ff58}n--a.HOST/", "/next"],
        )
    }),
    Case::of_pages("undecoded-long-name", "Such names, longer than DNS allows.", |request| {
        let of = |bytes: usize| format!("http://xn--{}.HOST/next", "0".repeat(bytes - 4));
        front_with_links(request, &[&of(63), &of(64)])
    }),
];

/// A front page with these links, where `HOST` stands for the host of the case.
fn front_with_links(request: &CaseRequest<'_>, targets: &[&str]) -> Vec<Act> {
    on_front(request, || links(targets.iter().map(|target| target.replace("HOST", request.main_host))))
}

const PRIVATE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// In the address block of the cases, after the last of them.
const OPTED_OUT: Ipv4Addr = Ipv4Addr::new(41, 139, 255, 1);

/// An IPv6 block of Kenya.
const IN_KENYA: u128 = 0x2c0f_fe38 << 96;

fn records(v4: Ipv4Addr) -> Records {
    Records { v4: Some(v4), ..Records::default() }
}

fn v4(octets: [u8; 4]) -> Lookup {
    Lookup::Found(records(octets.into()))
}

fn v6(address: Ipv6Addr) -> Lookup {
    Lookup::Found(Records { v6: Some(address), ..Records::default() })
}

/// The server of the case at one address per family, in an odd DNS response.
fn odd_records(case_host: &CaseHost<'_>, oddity: Oddity) -> Lookup {
    let v6 = Ipv6Addr::from_bits(IN_KENYA | u128::from(u32::from(case_host.address)));
    Lookup::Odd(Records { v4: Some(case_host.address), v6: Some(v6), ..Records::default() }, oddity)
}

/// The next of `alias_count` aliases `1.`, `2.` …; the last one has the address of the server.
fn alias(case_host: &CaseHost<'_>, alias_count: u32) -> Lookup {
    let number: u32 = case_host.host.split('.').next().and_then(|label| label.parse().ok()).unwrap_or(0);
    if number >= alias_count {
        return Lookup::Found(records(case_host.address));
    }
    Lookup::Alias(format!("{}.{}", number + 1, case_host.main_host))
}
