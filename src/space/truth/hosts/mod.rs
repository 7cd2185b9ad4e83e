//! The hosts of a world and what they show: the table `hosts`.
//!
//! Each host of each site has a row ([`HostTruth`]), whether or not a survey meets it. Its [`door`]s are its
//! front pages under both schemes. Everything follows from the model; hostile sites are left out.

mod door;
mod row;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::door::Door;
use super::country::Country;
use super::rules::url_of;
use crate::model::content::{Content, Element, Page, Url};
use crate::model::facts::prose::{PageText, Prose};
use crate::model::site::{Role, Site};
use crate::model::url_location::UrlLocation;
use crate::web::{Handshake, Lookup, Records, Web, issuer, names};
use crate::{Network, World};

pub use row::HostTruth;

/// The rows of all hosts, sorted by host.
pub(super) fn hosts(country: &Country<'_>) -> Vec<HostTruth> {
    let sites = (0..country.world.sites.count).map(|index| Arc::new(Site::new(country.world, index)));
    let mut rows: Vec<HostTruth> = sites.flat_map(|site| rows_of(country, &site)).collect();
    rows.sort_by(|left, right| left.host.cmp(&right.host));
    rows
}

fn rows_of(country: &Country<'_>, site: &Arc<Site>) -> Vec<HostTruth> {
    let roles =
        [(Role::Main, true), (Role::Bare, site.bare_host.is_some()), (Role::Sub, site.sub_host.is_some())];
    let roles = roles.into_iter().filter(|(_, is_there)| *is_there);
    roles.map(|(role, _)| Host { world: country.world, site, role }.row(country)).collect()
}

/// A host whose row is made.
struct Host<'a> {
    world: &'a World,
    site: &'a Arc<Site>,
    role: Role,
}

impl Host<'_> {
    fn name(&self) -> &str {
        self.site.host(self.role)
    }

    fn row(&self, country: &Country<'_>) -> HostTruth {
        let [http, https] = [false, true].map(|is_https| self.door(is_https));
        let named = HostTruth {
            host: self.name().to_owned(),
            site: country.site_of(self.name()).to_string(),
            http: http.column_value().to_owned(),
            https: https.column_value().to_owned(),
            ..HostTruth::default()
        };
        let Lookup::Found(records) = self.world.lookup(self.name()) else { return named };
        let mut row = self.with_address(named, &records);
        let responding = [http, https].iter().any(|door| door.responds());
        row.server = self.software().filter(|_| responding);
        row.hsts = self.site.facts.hsts.filter(|_| https.responds()).map(str::to_owned);
        let page_doors = [(http, false), (https, true)].into_iter().filter(|(door, _)| *door == Door::Page);
        match page_doors.map(|(_, is_https)| self.front(is_https)).next() {
            Some(Content::Page(page)) => self.with_robots(self.with_page(row, &page)),
            _ => self.with_robots(row),
        }
    }

    fn door(&self, is_https: bool) -> Door {
        let closed = Door::from_lookup(&self.world.lookup(self.name()));
        let is_plain = is_https && self.world.handshake(self.name()) == Handshake::Closed;
        closed.or_else(|| is_plain.then_some(Door::NoTls)).unwrap_or_else(|| {
            let url = self.url(is_https, "/");
            Door::from_content(&url, &self.content(&url))
        })
    }

    fn url(&self, is_https: bool, target: &str) -> Url {
        url_of(is_https, self.name(), target)
    }

    fn located(&self, url: &Url) -> UrlLocation {
        UrlLocation::on(Arc::clone(self.site), self.role, url)
    }

    fn content(&self, url: &Url) -> Content {
        self.located(url).content(self.world)
    }

    fn front(&self, is_https: bool) -> Content {
        self.content(&self.url(is_https, "/"))
    }

    fn software(&self) -> Option<String> {
        let server = self.world.server(self.name())?;
        (!server.software.is_empty()).then(|| server.software.to_owned())
    }

    /// Names, addresses and the certificate.
    fn with_address(&self, row: HostTruth, records: &Records) -> HostTruth {
        let aliases: Vec<&str> = records.aliases().collect();
        let address = self.world.server(self.name()).map(|server| server.address);
        let network = address.and_then(Network::containing);
        let certificate = match self.world.handshake(self.name()) {
            Handshake::Certificate(kind) if records.has_address() => Some(kind),
            _ => None,
        };
        HostTruth {
            aliases: (!aliases.is_empty()).then(|| aliases.join(" ")),
            ipv4: records.v4.map(|v4| v4.to_string()),
            ipv6: records.v6.map(|v6| v6.to_string()),
            country: network.map(|network| network.country.to_owned()),
            asn: network.map(|network| network.asn),
            organization: network.map(|network| network.organization.to_owned()),
            certificate: certificate.map(|kind| door::certificate_word(kind).to_owned()),
            issuer: certificate.map(|kind| issuer(kind).to_owned()),
            names: certificate.map(|kind| names(self.name(), kind).to_owned()),
            ..row
        }
    }

    /// What the front page shows.
    fn with_page(&self, row: HostTruth, page: &Page) -> HostTruth {
        let facts = &self.site.facts;
        let written = facts.written.filter(|_| page.text.language().is_some());
        HostTruth {
            generator: facts.cms.and_then(|shown| shown.generator()).map(str::to_owned),
            cms: facts.cms.map(|shown| shown.cms.column_value().to_owned()),
            cms_by: facts.cms.map(|shown| shown.by.column_value().to_owned()),
            content: facts.kind.map(|kind| kind.column_value().to_owned()),
            words: self.words(page),
            language: written.map(|written| written.language.code().to_owned()),
            declared_language: written.and_then(|written| written.declared).map(str::to_owned),
            ..row
        }
    }

    fn words(&self, page: &Page) -> Option<u64> {
        let words = match page.text {
            PageText::Filler => return None,
            PageText::Empty(_) => 0,
            PageText::Notice(notice) => notice.words(),
            PageText::Prose(language) => {
                let links = page.links.iter().filter(|link| link.element == Element::A).count();
                Prose::draw(self.world, language, page.key).words(links)
            }
        };
        u64::try_from(words).ok()
    }

    /// The robots.txt under http, or under https where http redirects there or is closed.
    fn with_robots(&self, row: HostTruth) -> HostTruth {
        let content = |is_https| self.content(&self.url(is_https, "/robots.txt"));
        let has_tls = row.certificate.is_some();
        if row.ipv4.is_none() && row.ipv6.is_none() {
            return row;
        }
        let content = match content(false) {
            Content::Redirect(..) | Content::Refused | Content::Reset if has_tls => content(true),
            http => http,
        };
        let (word, sitemaps) = match content {
            Content::RobotsTxt(robots) => {
                let by_url = self.located(&self.url(false, "/robots.txt")).sitemaps(self.world);
                (robots.column_value(), robots.sitemaps(by_url))
            }
            Content::Status(403) => ("forbidden", Vec::new()),
            Content::Status(_) => ("unavailable", Vec::new()),
            Content::Silence => ("silent", Vec::new()),
            _ => return row,
        };
        let sitemaps = (!sitemaps.is_empty()).then(|| sitemaps.join(" "));
        HostTruth { robots: Some(word.to_owned()), sitemaps, ..row }
    }
}
