use std::collections::BTreeMap;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;

use crate::analysis::overview::listed::SiteView;
use crate::analysis::overview::spread::{Spread, share};
use crate::analysis::tables::group;
pub use crate::analysis::tables::group::UNKNOWN;
use crate::analysis::tables::{columns, key};

/// The countries and networks of servers, and how many sites share a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Infrastructure {
    /// Addresses that responded.
    pub servers: u64,
    /// Servers whose country is known.
    pub located_servers: u64,
    /// Site trees whose start URL got a response from a server.
    pub hosted_trees: u64,
    /// Site trees whose server's country is known.
    pub located_trees: u64,
    /// Site trees under a country domain that belongs to a country, with a server in a known country.
    pub judged_trees: u64,
    /// Site trees among them whose server is in another country than that of their domain.
    pub offshore_trees: u64,
    /// Servers and site trees by the country of the server.
    pub countries: Vec<ServerGroup>,
    /// Servers and site trees by autonomous system.
    pub networks: Vec<ServerGroup>,
    /// By country domain, the number of trees with a server abroad.
    pub by_country_domain: Vec<Offshore>,
    /// Hosts per server address.
    pub hosts_per_address: Spread,
    /// Sites per server address.
    pub sites_per_address: Spread,
    /// Servers with a crowd of sites: each site shares the server with at least ten others.
    pub crowded_servers: u64,
    /// Site trees on such a server.
    pub crowded_trees: u64,
    /// The concentration of site trees in autonomous systems.
    pub network_concentration: Concentration,
    /// Why locations were not checked against connect times.
    pub location_doubt: String,
}

/// A country or a network with its servers and site trees; [`UNKNOWN`] collects the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerGroup {
    /// The country code, or the number and name of the autonomous system; [`UNKNOWN`] if no database knows
    /// it.
    pub name: String,
    /// Addresses that responded.
    pub servers: u64,
    /// Site trees whose start URL got a response from such a server.
    pub site_trees: u64,
}

/// The location of the sites of one country domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Offshore {
    /// The country domain, as in the settings of the survey.
    pub country_domain: String,
    /// Site trees whose server's country is known.
    pub judged: u64,
    /// Site trees among them with a server abroad.
    pub offshore: u64,
    /// The foreign country with the most of them.
    pub foremost: Option<String>,
}

/// How concentrated site trees are in a few networks, for trees whose network is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Concentration {
    /// Known autonomous systems with a site tree.
    pub networks: u64,
    /// Site trees in these networks.
    pub site_trees: u64,
    /// The share of site trees in the three largest networks, from 0 to 1.
    pub share_of_top_three: f64,
    /// Herfindahl–Hirschman index, from 0 to 1: the chance that two site trees are in the same network.
    pub hhi: f64,
}

/// The number of other sites from which on a site shares its server with a crowd (NEEDS.md: most sites of the
/// Web do).
const CROWD: u32 = 10;
const NOT_TESTED: &str = "not done, because the location of the surveyor's machine is not recorded. Without it, \
    no connect time can contradict a database";

#[derive(Default)]
pub(in crate::analysis::overview) struct InfrastructureMaker {
    found: Infrastructure,
    countries: ServerGroups,
    networks: ServerGroups,
    domains: BTreeMap<String, (Offshore, BTreeMap<String, u64>)>,
    hosts: Vec<f64>,
    sites: Vec<f64>,
    crowded: std::collections::HashSet<u64>,
}

type ServerGroups = BTreeMap<String, ServerGroup>;

columns! {
    PlaceColumns { address: str, hosts: u32, sites: u32, country: str, asn: u32, as_org: str }
}

impl InfrastructureMaker {
    /// Must be called before the sites are added.
    pub(in crate::analysis::overview) fn add_servers(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let columns = PlaceColumns::from_frame(frame)?;
        for row in 0..frame.height() {
            let country = columns.country.get(row);
            let network = columns.asn.get(row).map(|asn| group::network(asn, columns.as_org.get(row)));
            let (hosts, sites) =
                (columns.hosts.get(row).unwrap_or_default(), columns.sites.get(row).unwrap_or_default());
            self.found.servers += 1;
            self.found.located_servers += u64::from(country.is_some());
            group_of(&mut self.countries, country).servers += 1;
            group_of(&mut self.networks, network.as_deref()).servers += 1;
            self.hosts.push(f64::from(hosts));
            self.sites.push(f64::from(sites));
            if sites > CROWD {
                self.found.crowded_servers += 1;
                self.crowded.extend(columns.address.get(row).map(key));
            }
        }
        Ok(())
    }

    pub(in crate::analysis::overview) fn add_site(&mut self, site: &SiteView<'_>) {
        let Some(address) = site.address else { return };
        self.found.hosted_trees += 1;
        self.found.located_trees += u64::from(site.country.is_some());
        self.found.crowded_trees += u64::from(self.crowded.contains(&key(address)));
        group_of(&mut self.countries, site.country).site_trees += 1;
        group_of(&mut self.networks, site.network.as_deref()).site_trees += 1;
        if let (Some(domain), Some(country)) = (site.cctld, site.country)
            && let Some(home) = country_of(domain)
        {
            self.count_offshore(domain, &home, country);
        }
    }

    fn count_offshore(&mut self, domain: &str, home: &str, country: &str) {
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

    pub(in crate::analysis::overview) fn finish(self) -> Infrastructure {
        let domains = self.domains.into_iter().map(|(country_domain, (offshore, abroad))| {
            // Ties go to the first by name.
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
            hosts_per_address: Spread::from_values(self.hosts),
            sites_per_address: Spread::from_values(self.sites),
            location_doubt: NOT_TESTED.to_owned(),
            ..self.found
        }
    }
}

fn group_of<'a>(groups: &'a mut ServerGroups, name: Option<&str>) -> &'a mut ServerGroup {
    groups.entry(name.unwrap_or(UNKNOWN).to_owned()).or_default()
}

/// The groups with the most site trees first, the unknown last.
fn listed(groups: ServerGroups) -> Vec<ServerGroup> {
    let mut list: Vec<ServerGroup> =
        groups.into_iter().map(|(name, group)| ServerGroup { name, ..group }).collect();
    list.sort_by(|a, b| {
        let is_unknown = |group: &ServerGroup| group.name == UNKNOWN;
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
        // Not `sum()`, which gives -0.0 for an empty list.
        hhi: known().map(|network| share(network.site_trees, all).powi(2)).fold(0.0, |sum, part| sum + part),
    }
}

/// The country of a country domain, as an ISO 3166-1 code. One name differs from its code, and some domains
/// belong to no country.
fn country_of(domain: &str) -> Option<String> {
    let top = domain.rsplit('.').next().unwrap_or(domain);
    match top {
        "uk" => Some("GB".to_owned()),
        // The European Union, the former Soviet Union and Ascension Island have no code of their own in ISO
        // 3166-1.
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
        let country_code = |domain| country_of(domain);
        assert_eq!(
            [country_code("ke"), country_code("or.tz"), country_code("uk")].map(Option::unwrap),
            ["KE", "TZ", "GB"]
        );
        assert_eq!([country_code("eu"), country_code("xn--p1ai")], [None, None]);
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
