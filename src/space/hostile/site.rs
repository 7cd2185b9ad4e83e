use std::net::Ipv4Addr;

use super::case::{Case, CaseHost};
use super::pages::{self, CaseRequest};
use crate::web::Act;
use crate::{Handshake, Lookup, Server};

/// The hostile sites of a world, one for each of its cases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hostile {
    /// The country domain that they belong to.
    domain: String,
    cases: Vec<&'static Case>,
}

/// A host of a hostile site.
pub(crate) struct HostileSite<'a> {
    case: &'static Case,
    number: u16,
    host: &'a str,
    main_host: String,
}

/// The address of the first case; the others follow. It lies in a Kenyan block that no drawn site uses.
const FIRST: Ipv4Addr = Ipv4Addr::new(41, 139, 128, 1);

/// 5 Mbit/s, the thin link of a small hosting company: an endless response arrives no faster than on the
/// Internet.
const LINK: f64 = 5e6;

impl Hostile {
    pub(crate) fn new(domain: &str, cases: Vec<&'static Case>) -> Self {
        Self { domain: domain.to_owned(), cases }
    }

    pub(crate) fn cases(&self) -> &[&'static Case] {
        &self.cases
    }

    /// The front page of each case.
    pub(crate) fn start_urls(&self) -> impl Iterator<Item = String> {
        self.cases.iter().map(|case| {
            let scheme = if case.has_tls { "https" } else { "http" };
            format!("{scheme}://{}.{}/", case.name, self.domain)
        })
    }

    /// The site that a host belongs to; every name below that of a case belongs to the case.
    pub(crate) fn site<'a>(&self, host: &'a str) -> Option<HostileSite<'a>> {
        if self.cases.is_empty() {
            return None;
        }
        let label = host.strip_suffix(&self.domain)?.strip_suffix('.')?.rsplit('.').next()?;
        let (number, case) = (0..).zip(&self.cases).find(|(_, case)| case.name == label)?;
        Some(HostileSite { case, number, host, main_host: format!("{label}.{}", self.domain) })
    }
}

impl HostileSite<'_> {
    pub(crate) fn lookup(&self) -> Lookup {
        let address = self.address();
        (self.case.lookup)(&CaseHost { host: self.host, main_host: &self.main_host, address })
    }

    pub(crate) fn handshake(&self) -> Handshake {
        (self.case.handshake)()
    }

    /// A nearby server on a link of limited speed.
    pub(crate) fn server(&self) -> Server {
        Server { bits_per_second: LINK, ..Server::alone_at(self.address().into()) }
    }

    /// The response to a request.
    pub(crate) fn acts(&self, is_https: bool, target: &str) -> Vec<Act> {
        if target == "/robots.txt" && !self.case.serves_robots {
            return pages::missing();
        }
        (self.case.answer)(&CaseRequest { host: self.host, main_host: &self.main_host, is_https, target })
    }

    fn address(&self) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(FIRST) + u32::from(self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NETWORKS;
    use crate::address::special_range;

    fn hostile() -> Hostile {
        Hostile::new("ke", Case::all().collect())
    }

    #[test]
    fn names_below_that_of_a_case_are_the_case_and_no_others() {
        let hostile = hostile();
        for host in ["gzip-bomb.ke", "www.gzip-bomb.ke", "a.b.gzip-bomb.ke"] {
            assert_eq!(hostile.site(host).unwrap().case.name, "gzip-bomb");
        }
        for host in ["gzip-bomb.co.ke", "xgzip-bomb.ke", "ke", "gzip-bombke", ""] {
            assert!(hostile.site(host).is_none(), "{host}");
        }
        assert!(Hostile::default().site("gzip-bomb.ke").is_none());
    }

    #[test]
    fn every_case_has_an_address_where_no_other_site_stands() {
        let last = u32::try_from(Case::all().count()).unwrap();
        for number in 0..last {
            let address = Ipv4Addr::from(u32::from(FIRST) + number).into();
            assert_eq!(special_range(address), None);
            assert!(NETWORKS.iter().all(|network| !network.contains(address)), "{address}");
        }
    }
}
