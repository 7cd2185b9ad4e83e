//! A description of a world: its settings, what its seed made of them, and what to expect from it.
//!
//! [`describe`] lists every key with its value, unit, range and meaning. `drawn` draws every site and server
//! once, but no page, and counts the results. This room reads the other parts of the package, and none of
//! them reads it.

mod drawn;

use serde_json::{Value, json};

use crate::bytes::charset::Charset;
use crate::model::tree::median_of_mean_one;
use crate::settings::byte_sections::{Files, Pages, Servers, Time, Validators};
use crate::settings::fact_sections::{FactShares, Languages};
use crate::settings::keys::KeyDoc;
use crate::settings::sections::{
    Change, Copies, DnsShares, Doors, Externals, Extras, Faults, Https, Lists, Redirects, RobotsShares,
    Shape, Sites, Structure, Traps, Variant,
};
use crate::{SPECIFICATION, World};
use drawn::drawn;

/// The description of a world: every key with value, unit, default, range, meaning and source, and counts of
/// the drawn sites. It takes some microseconds per site.
#[must_use]
pub fn describe(world: &World) -> Value {
    json!({
        "specification": SPECIFICATION,
        "profile": world.profile.map(|profile| profile.name),
        "seed": world.seed,
        "date": world.date.to_string(),
        "country_domains": world.country_domains,
        "registry_suffixes": world.registry_suffixes,
        "outside_suffixes": world.outside_suffixes,
        "external_variant": Variant::ALL.iter().find(|(_, it)| *it == world.external_variant).map(|(word, _)| word),
        "keys": keys(world).iter().map(|(key, value)| key_value(key, value)).collect::<Vec<_>>(),
        "expected": expected(world),
        "drawn": drawn(world),
        "hostile": hostile(world),
    })
}

/// The meaning of each hostile case by its name; null if there are none.
fn hostile(world: &World) -> Option<Value> {
    let cases = world.hostile_cases();
    (!cases.is_empty())
        .then(|| cases.iter().map(|case| (case.name.to_owned(), json!(case.meaning))).collect())
}

fn keys(world: &World) -> Vec<(&'static KeyDoc, Value)> {
    [
        (Sites::KEYS, world.sites.values()),
        (Shape::KEYS, world.shape.values()),
        (Extras::KEYS, world.extras.values()),
        (Redirects::KEYS, world.redirects.values()),
        (Lists::KEYS, world.lists.values()),
        (Structure::KEYS, world.structure.values()),
        (Copies::KEYS, world.copies.values()),
        (Traps::KEYS, world.traps.values()),
        (Externals::KEYS, world.external.values()),
        (RobotsShares::KEYS, world.robots.values()),
        (Faults::KEYS, world.faults.values()),
        (Https::KEYS, world.https.values()),
        (Doors::KEYS, world.doors.values()),
        (DnsShares::KEYS, world.dns.values()),
        (FactShares::KEYS, world.facts.values()),
        (Languages::KEYS, world.languages.values()),
        (Pages::KEYS, world.pages.values()),
        (Validators::KEYS, world.validators.values()),
        (Change::KEYS, world.change.values()),
        (Files::KEYS, world.files.values()),
        (Servers::KEYS, world.servers.values()),
        (Time::KEYS, world.time.values()),
    ]
    .into_iter()
    .flat_map(|(keys, values)| keys.iter().zip(values))
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
        "source": source(key.meaning),
    })
}

/// The word for the source mark at the end of a key's meaning.
fn source(meaning: &str) -> Option<&'static str> {
    let marks = [("[V]", "published"), ("[D]", "derived"), ("[A]", "assumed"), ("[M]", "recalled")];
    let found = marks.into_iter().filter_map(|(mark, word)| Some((meaning.rfind(mark)?, word)));
    found.max().map(|(_, word)| word)
}

/// Means that follow from the settings before any draw and without the caps, and what the shares leave over.
fn expected(world: &World) -> Value {
    let (sites, pages, servers) = (&world.sites, &world.pages, &world.servers);
    let mean = |median: f64, sigma: f64| median / median_of_mean_one(sigma);
    let large = (sites.large_alpha > 1.0)
        .then(|| sites.large_smallest * sites.large_alpha / (sites.large_alpha - 1.0));
    let external = &world.external;
    let charsets: f64 = Charset::shares(pages).iter().map(|(share, _)| share).sum();
    json!({
        "pages_of_a_brochure_site": mean(sites.brochure_median, sites.brochure_sigma),
        "pages_of_a_cms_site": mean(sites.cms_median, sites.cms_sigma),
        "pages_of_a_large_site": large,
        "fan_out": mean(world.shape.fan_out_median, world.shape.fan_out_site_sigma.hypot(world.shape.fan_out_sigma)),
        "content_links_of_a_front_page": external.content_mean * (1.0 - external.silent_share),
        "bytes_of_a_page": mean(pages.bytes_median, pages.bytes_sigma),
        "share_of_sites_with_an_address_only_at_the_bare_name": 1.0 - sites.www_share,
        "share_of_sites_in_iso_8859_1": 1.0 - charsets - pages.mixed_share - pages.undeclared_share,
        "share_of_addresses_with_other_software":
            1.0 - servers.apache_share - servers.iis_share - servers.nginx_share,
        "kbit_per_second": mean(servers.bandwidth_median, servers.bandwidth_sigma),
        "service_seconds": mean(world.time.service_median, world.time.service_sigma) * world.time.scale,
        // The mean of Beta(2, 3).
        "background_use": 0.4,
    })
}
