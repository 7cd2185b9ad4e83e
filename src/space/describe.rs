use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::byte_settings::{Files, Pages, Servers, Time, Validators};
use super::keys::KeyDoc;
use super::server::Server;
use super::settings::{
    Copies, DnsShares, Externals, Extras, Faults, Https, Lists, Redirects, RobotsShares, Shape, Sites, Traps,
    Variant,
};
use super::site::{Class, Fault, Role, Site};
use super::tree::median_of_mean_one;
use super::{Network, SPECIFICATION, World};

/// A world in words and numbers: every key with value, unit, default, range and meaning; and what
/// its sites come out as.
#[must_use]
pub fn describe(world: &World) -> Value {
    json!({
        "specification": SPECIFICATION,
        "seed": world.seed,
        "country_domains": world.country_domains,
        "registry_suffixes": world.registry_suffixes,
        "outside_suffixes": world.outside_suffixes,
        "external_variant": Variant::ALL.iter().find(|(_, it)| *it == world.external_variant).map(|(word, _)| word),
        "keys": keys(world),
        "expected": expected(world),
        "drawn": drawn(world),
    })
}

fn keys(world: &World) -> Vec<Value> {
    [
        (Sites::KEYS, world.sites.values()),
        (Shape::KEYS, world.shape.values()),
        (Pages::KEYS, world.pages.values()),
        (Extras::KEYS, world.extras.values()),
        (Redirects::KEYS, world.redirects.values()),
        (Lists::KEYS, world.lists.values()),
        (Copies::KEYS, world.copies.values()),
        (Traps::KEYS, world.traps.values()),
        (Externals::KEYS, world.external.values()),
        (RobotsShares::KEYS, world.robots.values()),
        (Faults::KEYS, world.faults.values()),
        (Https::KEYS, world.https.values()),
        (DnsShares::KEYS, world.dns.values()),
        (Validators::KEYS, world.validators.values()),
        (Files::KEYS, world.files.values()),
        (Servers::KEYS, world.servers.values()),
        (Time::KEYS, world.time.values()),
    ]
    .into_iter()
    .flat_map(|(keys, values)| keys.iter().zip(values).map(|(key, value)| key_value(key, &value)))
    .collect()
}

fn key_value(key: &KeyDoc, value: &Value) -> Value {
    json!({
        "key": key.name,
        "value": value,
        "unit": key.unit,
        "default": key.default.replace('_', ""),
        "allowed": key.allowed.replace('_', ""),
        "meaning": key.meaning.trim(),
    })
}

/// Means that follow from the settings, before any draw and without the cap on pages.
fn expected(world: &World) -> Value {
    let sites = &world.sites;
    let mean = |median: f64, sigma: f64| median / median_of_mean_one(sigma);
    let large = (sites.large_alpha > 1.0)
        .then(|| sites.large_smallest * sites.large_alpha / (sites.large_alpha - 1.0));
    let external = &world.external;
    json!({
        "pages_of_a_brochure_site": mean(sites.brochure_median, sites.brochure_sigma),
        "pages_of_a_cms_site": mean(sites.cms_median, sites.cms_sigma),
        "pages_of_a_large_site": large,
        "fan_out": mean(world.shape.fan_out_median, world.shape.fan_out_site_sigma.hypot(world.shape.fan_out_sigma)),
        "content_links_of_a_front_page": external.content_mean * (1.0 - external.silent_share),
    })
}

/// What this seed makes of it, site by site; no page is drawn for it.
fn drawn(world: &World) -> Value {
    let sites: Vec<Site> = (0..world.sites.count).map(|index| Site::of(world, index)).collect();
    let count = |wanted: &dyn Fn(&Site) -> bool| sites.iter().filter(|site| wanted(site)).count();
    let class = |class| count(&move |site: &Site| site.class == class);
    let fault = |fault| count(&move |site: &Site| site.fault == Some(fault));
    json!({
        "in_start_list": count(&|site| site.is_in_start_list),
        "one_page": class(Class::OnePage),
        "brochure": class(Class::Brochure),
        "cms": class(Class::Cms),
        "large": class(Class::Large),
        "pages": sites.iter().map(|site| site.pages).sum::<u64>(),
        "mirrors": count(&|site| site.content_index != site.index),
        "with_lists": count(&|site| site.lists > 0),
        "with_tls": count(&|site| site.tls.certificate().is_some()),
        "with_calendar": count(&|site| site.traps.calendar),
        "with_relative_loop": count(&|site| site.traps.relative_loop),
        "with_sessions": count(&|site| site.traps.sessions),
        "with_facets": count(&|site| site.traps.facets),
        "with_soft_404": count(&|site| site.traps.soft_404),
        "script_only": count(&|site| site.is_script_only),
        "with_second_host": count(&|site| site.sub_host.is_some()),
        "no_dns": fault(Fault::NoDns),
        "servfail": fault(Fault::Servfail),
        "dns_silent": fault(Fault::DnsSilent),
        "reset": fault(Fault::Reset),
        "silent": fault(Fault::Silent),
        "forbidden": fault(Fault::Forbidden),
        "unavailable": fault(Fault::Unavailable),
        "moved": fault(Fault::Moved),
        "addresses": addresses(world, &sites),
    })
}

fn addresses(world: &World, sites: &[Site]) -> Value {
    let mut hosts: BTreeMap<_, u64> = BTreeMap::new();
    let mut software: BTreeMap<_, u64> = BTreeMap::new();
    let mut countries: BTreeMap<_, u64> = BTreeMap::new();
    for host in sites.iter().flat_map(hosts_of) {
        let server = Server::of_host(world, &host);
        if hosts.insert(server.address, hosts.get(&server.address).unwrap_or(&0) + 1).is_none() {
            *software.entry(server.software).or_default() += 1;
            let network = Network::holding(server.address);
            *countries.entry(network.map_or("", |network| network.country)).or_default() += 1;
        }
    }
    let mut crowded: Vec<_> = hosts.iter().map(|(address, hosts)| (*hosts, address.to_string())).collect();
    crowded.sort_by(|one, other| other.cmp(one));
    crowded.truncate(3);
    json!({
        "count": hosts.len(),
        "hosts": hosts.values().sum::<u64>(),
        "most_crowded": crowded,
        "by_country": countries,
        "by_software": software,
    })
}

fn hosts_of(site: &Site) -> BTreeSet<String> {
    [Role::Main, Role::Bare, Role::Sub].into_iter().map(|role| site.host(role).to_owned()).collect()
}
