//! The table of hosts: what the other tables say of each host in the country domains.
//!
//! Hosts are divided into parts by a hash of their names, and the tables are read once for each part, so that
//! memory is bounded by a part. A survey of a small country has one part.
//!
//! Site trees are in the tables in the order in which they ended. No fact depends on it: of several
//! responses, the one counts that comes first by [`Precedence`].

mod door;
mod exchange;
mod gathered;

use std::collections::HashSet;
use std::path::Path;

use polars::prelude::PolarsResult;

use super::AnalysisError;
use super::tables::group::country_domain;
use super::tables::{ByKey, columns, for_each_frame, key, with_retries};
use crate::records::{ExchangeRow, HostRow, LinkRow, Manifest, ServerRow, SiteRow};
use crate::settings::Settings;
use gathered::{Gathered, Place};

/// Hosts in a part: about 200 MB.
const HOSTS_PER_PART: usize = 200_000;

/// Rows that are passed on at once: a row group.
const ROWS_AT_ONCE: usize = 1 << 13;

/// Computes the rows of the table of hosts and passes them to `take`, some at a time: sorted by site and
/// host within a part.
///
/// # Errors
/// If the tables cannot be read, or `take` fails.
pub fn for_each_host(
    dir: &Path,
    mut take: impl FnMut(Vec<HostRow>) -> Result<(), AnalysisError>,
) -> Result<(), AnalysisError> {
    let settings = Settings::recorded(&Manifest::load(dir)?.settings);
    let domains = settings.cctld;
    let parts = with_retries(|| count_hosts(dir, &domains))?.div_ceil(HOSTS_PER_PART).max(1) as u64;
    let places = places(dir)?;
    for part in 0..parts {
        let wanted = |host: &str| key(host) % parts == part;
        let mut rows: Vec<HostRow> = with_retries(|| gather(dir, &domains, wanted))?
            .into_values()
            .map(|gathered| gathered.finish(|address| places.get(&key(address))))
            .collect();
        rows.sort_unstable_by(|a, b| (&a.site, &a.host).cmp(&(&b.site, &b.host)));
        while !rows.is_empty() {
            let rest = rows.split_off(rows.len().min(ROWS_AT_ONCE));
            take(std::mem::replace(&mut rows, rest))?;
        }
    }
    Ok(())
}

columns! { ExchangeHosts { host: str } }
columns! { LinkHosts { host: str, in_survey: bool } }
columns! { StartUrls { site: str, start_url: str } }
columns! {
    LinkColumns => LinkFields { site: str = "", host: str = "", target_site: str = "", in_survey: bool = false }
}
columns! {
    PlaceColumns => PlaceFields { address: str = "", country: str, asn: u32, as_org: str }
}

/// The number of distinct hosts.
fn count_hosts(dir: &Path, domains: &[String]) -> Result<usize, AnalysisError> {
    let mut hosts: HashSet<u64> = HashSet::new();
    for_each_frame::<ExchangeRow>(dir, ExchangeHosts::NAMES, |frame| {
        let columns = ExchangeHosts::from_frame(frame)?;
        hosts.extend(
            columns.host.iter().flatten().filter(|host| country_domain(host, domains).is_some()).map(key),
        );
        Ok(())
    })?;
    for_each_frame::<LinkRow>(dir, LinkHosts::NAMES, |frame| {
        let columns = LinkHosts::from_frame(frame)?;
        let found = columns.host.iter().zip(columns.in_survey.iter());
        hosts.extend(
            found.filter(|(_, in_survey)| *in_survey == Some(true)).filter_map(|(host, _)| host).map(key),
        );
        Ok(())
    })?;
    for_each_frame::<SiteRow>(dir, StartUrls::NAMES, |frame| {
        let urls = StartUrls::from_frame(frame)?.start_url.iter().flatten();
        hosts
            .extend(urls.filter_map(host_of).filter(|host| country_domain(host, domains).is_some()).map(key));
        Ok(())
    })?;
    Ok(hosts.len())
}

/// Where the servers are, by address.
fn places(dir: &Path) -> Result<ByKey<Place>, AnalysisError> {
    let mut places = ByKey::default();
    for_each_frame::<ServerRow>(dir, PlaceColumns::NAMES, |frame| {
        let columns = PlaceColumns::from_frame(frame)?;
        for row in 0..frame.height() {
            let PlaceFields { address, country, asn, as_org } = columns.fields(row);
            let place = Place { country: country.map(str::to_owned), asn, as_org: as_org.map(str::to_owned) };
            places.insert(key(address), place);
        }
        Ok(())
    })?;
    Ok(places)
}

/// All that the tables say of the wanted hosts.
fn gather(
    dir: &Path,
    domains: &[String],
    wanted: impl Fn(&str) -> bool + Sync + Copy,
) -> Result<ByKey<Gathered>, AnalysisError> {
    let mut hosts = ByKey::<Gathered>::default();
    for_each_frame::<SiteRow>(dir, StartUrls::NAMES, |frame| {
        let columns = StartUrls::from_frame(frame)?;
        for (site, url) in columns.site.iter().zip(columns.start_url.iter()) {
            let Some((site, host)) = site.zip(url.and_then(host_of)) else { continue };
            if let Some(cctld) = country_domain(host, domains).filter(|_| wanted(host)) {
                hosts.entry(key(host)).or_insert_with(|| Gathered::new(host, cctld)).offer_site(site);
            }
        }
        Ok(())
    })?;
    let columns = [&["site", "seed"], exchange::ExchangeColumns::NAMES].concat();
    for_each_frame::<ExchangeRow>(dir, &columns, |frame| {
        exchange::each_exchange(frame, |site, exchange| {
            let host = exchange.host;
            if let Some(cctld) = country_domain(host, domains).filter(|_| wanted(host)) {
                let gathered = hosts.entry(key(host)).or_insert_with(|| Gathered::new(host, cctld));
                gathered.offer_site(site);
                gathered.add(exchange);
            }
        })
    })?;
    for_each_frame::<LinkRow>(dir, LinkColumns::NAMES, |frame| {
        let columns = LinkColumns::from_frame(frame)?;
        for row in 0..frame.height() {
            let LinkFields { site, host, target_site, in_survey } = columns.fields(row);
            if !in_survey || !wanted(host) {
                continue;
            }
            let Some(cctld) = country_domain(host, domains) else { continue };
            let gathered = hosts.entry(key(host)).or_insert_with(|| Gathered::new(host, cctld));
            gathered.offer_site(target_site);
            gathered.add_link(site);
        }
        PolarsResult::Ok(())
    })?;
    Ok(hosts)
}

/// The host of a URL in the form in which tables hold URLs.
fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(host),
        _ => Some(authority),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_url_has_no_port_and_no_path() {
        for (url, host) in [
            ("http://a.ke/", "a.ke"),
            ("https://www.a.ke:8443/x:9", "www.a.ke"),
            ("http://[2001:db8::1]/", "[2001:db8::1]"),
            ("http://a.ke?x", "a.ke"),
        ] {
            assert_eq!(host_of(url), Some(host));
        }
        assert_eq!(host_of("a.ke"), None);
    }
}
