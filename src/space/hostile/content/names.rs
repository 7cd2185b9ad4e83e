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
    Case::of_names("dns-private-and-public", "A private address beside a public one.", |standing| {
        Lookup::Found(Records { v4: Some(PRIVATE), further: vec![standing.address], ..Records::default() })
    }),
    Case::of_names("dns-rebinding", "A public address first, a private one from then on.", |standing| {
        Lookup::Turns(vec![records(standing.address), records(PRIVATE)])
    }),
    Case::of_names("dns-rebinding-back", "A private address first, a public one from then on.", |standing| {
        Lookup::Turns(vec![records(PRIVATE), records(standing.address)])
    }),
    Case::of_names("dns-opted-out-address", "An address to be put on the opt-out list.", |_| {
        Lookup::Found(records(OPTED_OUT))
    }),
    Case::of_names("cname-chain", "Five aliases one after another.", |standing| alias(standing, 5)),
    Case::of_names("cname-without-end", "Aliases one after another without end.", |standing| {
        alias(standing, u32::MAX)
    }),
    Case::of_names("cname-loop", "Two aliases that lead to each other.", |standing| {
        let is_main = standing.host == standing.main_host;
        let other =
            if is_main { format!("other.{}", standing.main_host) } else { standing.main_host.to_owned() };
        Lookup::Alias(other)
    }),
    Case::of_names("cname-to-itself", "An alias of itself.", |standing| {
        Lookup::Alias(standing.host.to_owned())
    }),
    Case::of_names("cname-to-private-address", "An alias of a name in a private network.", |standing| {
        if standing.host == standing.main_host {
            return Lookup::Alias(format!("intranet.{}", standing.main_host));
        }
        Lookup::Found(records(PRIVATE))
    }),
    Case::of_names("cname-to-opted-out", "An alias of a host that opted out.", |standing| {
        Lookup::Alias(neighbour(standing.main_host, "opted-out"))
    }),
    Case::of_names("dns-silence", "The name server never responds.", |_| Lookup::Silence),
    Case::of_names("dns-failure", "The name server fails.", |_| Lookup::ServerFailure),
    Case::of_names("dns-without-address", "The name exists but has no address.", |_| {
        Lookup::Found(Records::default())
    }),
    Case::of_names("dns-cut-within-record", "Truncated over UDP within a record.", |standing| {
        odd(standing, Oddity::CutWithinRecord)
    }),
    Case::of_names(
        "dns-cut-unsaid",
        "Truncated over UDP within a record, without the truncation flag.",
        |standing| odd(standing, Oddity::CutUnsaid),
    ),
    Case::of_names("dns-broken-additional", "A broken record after the answer.", |standing| {
        odd(standing, Oddity::BrokenAdditional)
    }),
    Case::of_names("dns-short-address", "An address of three bytes after a whole one.", |standing| {
        odd(standing, Oddity::ShortAddress)
    }),
    Case::of_names("dns-foreign-class", "An address of class CH after one of class IN.", |standing| {
        odd(standing, Oddity::ForeignClass)
    }),
    Case::of_names("dns-v4-fails", "The name server fails for A and has AAAA.", |standing| {
        odd(standing, Oddity::V4Fails)
    }),
    Case::of_names("dns-v6-fails", "The name server fails for AAAA and has A.", |standing| {
        odd(standing, Oddity::V6Fails)
    }),
    Case::of_names("dns-v6-denied", "The name does not exist for AAAA, and has A.", |standing| {
        odd(standing, Oddity::V6Denied)
    }),
    Case::of_names("dns-v6-silent", "The name server never responds for AAAA, and has A.", |standing| {
        odd(standing, Oddity::V6Silent)
    }),
    Case::of_names("dns-refused-tersely", "The name server refuses with only a header.", |standing| {
        odd(standing, Oddity::RefusedTersely)
    }),
    Case::of_names("dns-many-addresses", "A thousand addresses, too long for UDP.", |standing| {
        let first = u32::from(standing.address);
        let further = (1..1000).map(|n| Ipv4Addr::from(first + n * 256)).collect();
        let v4 = Some(standing.address);
        Lookup::Found(Records { v4, further, is_truncated: true, ..Records::default() })
    }),
    Case::of_pages("undecoded-name", "The site is at a name that does not decode.", |request| {
        if request.host == request.main_host {
            return redirect(&format!("http://XN--1UG.{}/", request.main_host));
        }
        beside(request, &["next", "/../1?x", "//xn--a.HOST/next", "http://xn--0.HOST:80/next"])
    }),
    Case::of_pages("undecoded-name-in-letters", "Non-ASCII names that IDNA forbids.", |request| {
        beside(
            request,
            &["http://xn--a.\u{65e5}.HOST/", "http://a\u{200d}b.HOST/", "http://\u{ff58}n--a.HOST/", "/next"],
        )
    }),
    Case::of_pages("undecoded-long-name", "Such names, longer than DNS allows.", |request| {
        let of = |bytes: usize| format!("http://xn--{}.HOST/next", "0".repeat(bytes - 4));
        beside(request, &[&of(63), &of(64)])
    }),
];

/// A front page with these links, where `HOST` stands for the host of the case.
fn beside(request: &CaseRequest<'_>, targets: &[&str]) -> Vec<Act> {
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
fn odd(standing: &CaseHost<'_>, oddity: Oddity) -> Lookup {
    let v6 = Ipv6Addr::from_bits(IN_KENYA | u128::from(u32::from(standing.address)));
    Lookup::Odd(Records { v4: Some(standing.address), v6: Some(v6), ..Records::default() }, oddity)
}

/// The next of `most` aliases `1.`, `2.` …; the last one has the address of the server.
fn alias(standing: &CaseHost<'_>, most: u32) -> Lookup {
    let number: u32 = standing.host.split('.').next().and_then(|label| label.parse().ok()).unwrap_or(0);
    if number >= most {
        return Lookup::Found(records(standing.address));
    }
    Lookup::Alias(format!("{}.{}", number + 1, standing.main_host))
}
