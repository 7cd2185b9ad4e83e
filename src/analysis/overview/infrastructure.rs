use std::collections::BTreeMap;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;

use super::super::group;
use super::listed::SiteView;
use super::spread::{Spread, share};

/// Where servers stand, whose networks they are in, and how many share one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Infrastructure {
    pub servers: u64,
    /// Servers whose country is known.
    pub located_servers: u64,
    /// Site trees whose start URL a server answered, and those of them whose server's country is known.
    pub hosted_trees: u64,
    pub located_trees: u64,
    /// Site trees of a country domain that is a country's, with a server in a known country; and those of them
    /// whose server stands in another.
    pub judged_trees: u64,
    pub offshore_trees: u64,
    pub countries: Vec<ServerGroup>,
    pub networks: Vec<ServerGroup>,
    pub by_country_domain: Vec<Offshore>,
    pub hosts_per_address: Spread,
    pub sites_per_address: Spread,
    /// Servers with ten sites or more besides one's own, and the site trees on them.
    pub crowded_servers: u64,
    pub crowded_trees: u64,
    pub network_concentration: Concentration,
    pub location_doubt: String,
}

/// A country or a network with its servers and site trees; [`UNKNOWN`] gathers the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerGroup {
    pub name: String,
    pub servers: u64,
    pub site_trees: u64,
}

/// Where the sites of one country domain stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Offshore {
    pub country_domain: String,
    pub judged: u64,
    pub offshore: u64,
    /// The country with most of them abroad.
    pub foremost: Option<String>,
}

/// How much few networks have, of site trees whose network is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Concentration {
    pub networks: u64,
    pub site_trees: u64,
    pub share_of_top_three: f64,
    /// Herfindahl–Hirschman index, from 0 to 1: the chance that two site trees are in the same network.
    pub hhi: f64,
}

pub const UNKNOWN: &str = "unknown";
/// Beside so many other sites a site shares its server with a crowd (NEEDS.md: most sites of the Web do).
const CROWD: u32 = 10;
const NOT_TESTED: &str = "not tested: where the surveyor's machine stands is not recorded, and without it no \
    connect time contradicts a database";

#[derive(Default)]
pub(super) struct InfrastructureMaker {
    found: Infrastructure,
    countries: Places,
    networks: Places,
    domains: BTreeMap<String, (Offshore, BTreeMap<String, u64>)>,
    hosts: Vec<f64>,
    sites: Vec<f64>,
    crowded: std::collections::HashSet<u64>,
}

type Places = BTreeMap<String, ServerGroup>;

pub(super) const SERVERS: &[&str] = &["address", "hosts", "sites", "country", "asn", "as_org"];

impl InfrastructureMaker {
    /// The servers come before the sites.
    pub(super) fn add_servers(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let (hosts, sites) = (frame.column("hosts")?.u32()?, frame.column("sites")?.u32()?);
        let (addresses, countries) = (frame.column("address")?.str()?, frame.column("country")?.str()?);
        let (systems, organisations) = (frame.column("asn")?.u32()?, frame.column("as_org")?.str()?);
        for row in 0..frame.height() {
            let country = countries.get(row);
            let network = systems.get(row).map(|asn| group::network(asn, organisations.get(row)));
            let (hosts, sites) = (hosts.get(row).unwrap_or_default(), sites.get(row).unwrap_or_default());
            self.found.servers += 1;
            self.found.located_servers += u64::from(country.is_some());
            place(&mut self.countries, country).servers += 1;
            place(&mut self.networks, network.as_deref()).servers += 1;
            self.hosts.push(f64::from(hosts));
            self.sites.push(f64::from(sites));
            if sites > CROWD {
                self.found.crowded_servers += 1;
                self.crowded.extend(addresses.get(row).map(super::super::recorded::key));
            }
        }
        Ok(())
    }

    pub(super) fn add_site(&mut self, site: &SiteView<'_>) {
        let Some(address) = site.address else { return };
        self.found.hosted_trees += 1;
        self.found.located_trees += u64::from(site.country.is_some());
        self.found.crowded_trees += u64::from(self.crowded.contains(&super::super::recorded::key(address)));
        place(&mut self.countries, site.country).site_trees += 1;
        place(&mut self.networks, site.network.as_deref()).site_trees += 1;
        if let (Some(domain), Some(country)) = (site.cctld, site.country)
            && let Some(home) = country_of(domain)
        {
            self.judge(domain, &home, country);
        }
    }

    fn judge(&mut self, domain: &str, home: &str, country: &str) {
        let is_abroad = !country.eq_ignore_ascii_case(home);
        self.found.judged_trees += 1;
        self.found.offshore_trees += u64::from(is_abroad);
        let (offshore, abroad) = self.domains.entry(domain.to_owned()).or_default();
        offshore.judged += 1;
        offshore.offshore += u64::from(is_abroad);
        if is_abroad {
            *abroad.entry(country.to_owned()).or_default() += 1;
        }
    }

    pub(super) fn finish(self) -> Infrastructure {
        let domains = self.domains.into_iter().map(|(country_domain, (offshore, abroad))| {
            // Of equal ones the first by name.
            let foremost = abroad.into_iter().rev().max_by_key(|(_, trees)| *trees).map(|(name, _)| name);
            Offshore { country_domain, foremost, ..offshore }
        });
        let mut by_country_domain: Vec<Offshore> = domains.collect();
        by_country_domain
            .sort_by(|a, b| b.judged.cmp(&a.judged).then_with(|| a.country_domain.cmp(&b.country_domain)));
        let networks = listed(self.networks);
        Infrastructure {
            network_concentration: concentration(&networks),
            countries: listed(self.countries),
            networks,
            by_country_domain,
            hosts_per_address: Spread::of(self.hosts),
            sites_per_address: Spread::of(self.sites),
            location_doubt: NOT_TESTED.to_owned(),
            ..self.found
        }
    }
}

fn place<'a>(places: &'a mut Places, name: Option<&str>) -> &'a mut ServerGroup {
    places.entry(name.unwrap_or(UNKNOWN).to_owned()).or_default()
}

/// Those with most site trees first, the unknown last.
fn listed(places: Places) -> Vec<ServerGroup> {
    let mut list: Vec<ServerGroup> =
        places.into_iter().map(|(name, place)| ServerGroup { name, ..place }).collect();
    list.sort_by(|a, b| {
        let is_unknown = |place: &ServerGroup| place.name == UNKNOWN;
        (is_unknown(a).cmp(&is_unknown(b)))
            .then(b.site_trees.cmp(&a.site_trees))
            .then(b.servers.cmp(&a.servers))
            .then_with(|| a.name.cmp(&b.name))
    });
    list
}

fn concentration(networks: &[ServerGroup]) -> Concentration {
    let known = || networks.iter().filter(|network| network.name != UNKNOWN && network.site_trees > 0);
    let all: u64 = known().map(|network| network.site_trees).sum();
    Concentration {
        networks: known().count() as u64,
        site_trees: all,
        share_of_top_three: share(known().take(3).map(|network| network.site_trees).sum(), all),
        // Not sum(), whose zero of nothing has a sign.
        hhi: known().map(|network| share(network.site_trees, all).powi(2)).fold(0.0, |sum, part| sum + part),
    }
}

/// The country that a country domain is of, ISO 3166-1; the names differ in one, and some are of none.
fn country_of(domain: &str) -> Option<String> {
    let top = domain.rsplit('.').next().unwrap_or(domain);
    match top {
        "uk" => Some("GB".to_owned()),
        // The European Union, the former Soviet Union and Ascension Island have no code of their own there.
        "eu" | "su" | "ac" => None,
        _ if top.len() == 2 => Some(top.to_ascii_uppercase()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_country_domain_is_of_a_country_or_of_none() {
        let of = |domain| country_of(domain);
        assert_eq!([of("ke"), of("or.tz"), of("uk")].map(Option::unwrap), ["KE", "TZ", "GB"]);
        assert_eq!([of("eu"), of("xn--p1ai")], [None, None]);
    }

    #[test]
    fn concentration_leaves_the_unknown_out() {
        let network = |name: &str, site_trees| ServerGroup { name: name.into(), servers: 1, site_trees };
        let found = concentration(&[
            network("a", 6),
            network("b", 2),
            network("c", 1),
            network("d", 1),
            network(UNKNOWN, 90),
        ]);
        assert_eq!((found.networks, found.site_trees), (4, 10));
        assert!((found.share_of_top_three - 0.9).abs() < 1e-9 && (found.hhi - 0.42).abs() < 1e-9);
    }
}
