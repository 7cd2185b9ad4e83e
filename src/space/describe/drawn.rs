use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::World;
use crate::draw::real;
use crate::model::facts::kind::Kind;
use crate::model::https::{ClosedPort, Tls};
use crate::model::site::{Class, Fault, Front, Role, Site};
use crate::net::network::Network;
use crate::web::Server;

/// Counts what the seed makes of a world, site by site and server by server; no page is drawn.
pub(crate) fn drawn(world: &World) -> Value {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut addresses = Addresses::default();
    for index in 0..world.sites.count {
        let site = Site::new(world, index);
        for (name, count) in counts_of(&site) {
            *counts.entry(name).or_default() += count;
        }
        for host in hosts_of(&site) {
            addresses.note_host(world, &host);
        }
    }
    let mut drawn = json!(counts);
    drawn["addresses"] = addresses.describe();
    drawn
}

fn counts_of(site: &Site) -> impl Iterator<Item = (&'static str, u64)> {
    let is_shut = |shut| matches!(site.tls, Tls::Alone(_, how) if how == shut);
    let properties = [
        ("in_start_list", site.is_in_start_list),
        ("one_page", site.class == Class::OnePage),
        ("brochure", site.class == Class::Brochure),
        ("cms", site.class == Class::Cms),
        ("large", site.class == Class::Large),
        ("script_only", site.class == Class::Cms && site.is_script_only),
        ("with_second_host", site.sub_host.is_some()),
        ("mirrors", site.content_index != site.index),
        ("with_lists", matches!(site.class, Class::Cms | Class::Large) && site.lists > 0),
        ("with_tls", site.tls.certificate().is_some()),
        ("with_calendar", site.traps.calendar),
        ("with_relative_loop", site.traps.relative_loop),
        ("with_sessions", site.traps.sessions),
        ("with_facets", site.traps.facets),
        ("with_soft_404", site.traps.soft_404),
        ("no_dns", site.fault == Some(Fault::NoDns)),
        ("servfail", site.fault == Some(Fault::Servfail)),
        ("dns_silent", site.fault == Some(Fault::DnsSilent)),
        ("reset", site.fault == Some(Fault::Reset)),
        ("silent", site.fault == Some(Fault::Silent)),
        ("forbidden", site.fault == Some(Fault::Forbidden)),
        ("unavailable", site.fault == Some(Fault::Unavailable)),
        ("moved", site.fault == Some(Fault::Moved)),
        ("www_only", site.bare_host.is_some() && site.is_www_only),
        ("refused_80", is_shut(ClosedPort::Refused)),
        ("reset_80", is_shut(ClosedPort::Reset)),
        ("front_401", site.front == Some(Front::Status(401))),
        ("front_403", site.front == Some(Front::Status(403))),
        ("front_404", site.front == Some(Front::Status(404))),
        ("front_circle", site.front == Some(Front::Circle)),
        ("parked", site.facts.kind == Some(Kind::Parked)),
        ("placeholder", site.facts.kind == Some(Kind::Placeholder)),
        ("error_text", site.facts.kind == Some(Kind::Error)),
        ("empty_front", site.facts.kind == Some(Kind::Empty)),
        ("showing_cms", site.facts.cms.is_some()),
        ("in_a_language", site.facts.written.is_some()),
        ("with_hsts", site.tls.certificate().is_some() && site.facts.hsts.is_some()),
    ];
    properties
        .into_iter()
        .map(|(name, has_property)| (name, u64::from(has_property)))
        .chain([("pages", site.pages)])
}

fn hosts_of(site: &Site) -> BTreeSet<String> {
    let roles = [Role::Main, Role::Bare, Role::Sub].into_iter();
    roles
        .filter(|role| *role != Role::Bare || !site.is_www_only)
        .map(|role| site.host(role).to_owned())
        .collect()
}

/// Servers by number, with the number of hosts of each.
#[derive(Default)]
struct Addresses(BTreeMap<u64, (Server, u64)>);

impl Addresses {
    fn note_host(&mut self, world: &World, host: &str) {
        let number = Server::number_of_host(world, host);
        let (_, hosts) = self.0.entry(number).or_insert_with(|| (Server::from_number(world, number), 0));
        *hosts += 1;
    }

    fn describe(&self) -> Value {
        let count_by = |word: &dyn Fn(&Server) -> String| {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            self.0.values().for_each(|(server, _)| *counts.entry(word(server)).or_default() += 1);
            counts
        };
        let crowded = self.0.values().map(|(server, hosts)| (*hosts, server.address.to_string()));
        let mut crowded: Vec<(u64, String)> = crowded.collect();
        crowded.sort_by(|one, other| other.cmp(one));
        crowded.truncate(3);
        let count = real(self.0.len() as u64).max(1.0);
        json!({
            "count": self.0.len(),
            "hosts": self.0.values().map(|(_, hosts)| hosts).sum::<u64>(),
            "most_crowded": crowded,
            "by_country": count_by(&|server| {
                Network::containing(server.address).map_or("", |network| network.country).to_owned()
            }),
            "by_uplink": count_by(&|server| format!("{:?}", server.uplink).to_lowercase()),
            "by_software": count_by(&|server| server.software.to_owned()),
            "median_kbit_per_second": self.median_kbit_per_second(),
            "mean_background_use": self.0.values().map(|(server, _)| server.background).sum::<f64>() / count,
        })
    }

    /// None in worlds that take no time.
    fn median_kbit_per_second(&self) -> Option<f64> {
        let rates = self.0.values().map(|(server, _)| server.bits_per_second / 1000.0);
        let mut rates: Vec<f64> = rates.collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().filter(|rate| rate.is_finite())
    }
}
