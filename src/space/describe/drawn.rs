use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::World;
use crate::bytes::charset::{Charset, Writing};
use crate::draw::real;
use crate::model::https::{Shut, Tls};
use crate::model::robots::Robots;
use crate::model::site::{Class, Fault, Front, Role, Site};
use crate::net::network::{Network, Region};
use crate::net::software::family;
use crate::web::{Server, Uplink};

/// What a seed makes of a world, site by site and server by server; no page is drawn for it.
#[derive(Default)]
pub(crate) struct Drawn {
    shares: BTreeMap<&'static str, Frequency>,
    pages: u64,
    with_second_host: u64,
    /// Hosts at each address, by the server's number.
    hosts: BTreeMap<u64, u64>,
    servers: BTreeMap<u64, Server>,
}

/// How often something came out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frequency {
    pub yes: u64,
    pub all: u64,
}

impl Frequency {
    pub(crate) fn share(self) -> f64 {
        real(self.yes) / real(self.all.max(1))
    }
}

impl Drawn {
    pub(crate) fn of(world: &World) -> Self {
        let mut drawn = Self::default();
        for index in 0..world.sites.count {
            let site = Site::of(world, index);
            drawn.note_site(&site);
            drawn.note_writing(&Writing::of(world, site.content));
            drawn.note_robots(site.robots(Role::Main));
            if site.sub_host.is_some() {
                drawn.note_robots(site.robots(Role::Sub));
            }
            for host in hosts_of(&site) {
                drawn.note_host(world, &host);
            }
        }
        for (number, server) in std::mem::take(&mut drawn.servers) {
            drawn.note_server(&server);
            drawn.servers.insert(number, server);
        }
        drawn
    }

    /// What came out of the share that is a key; none where that hangs on pages.
    pub(crate) fn share(&self, key: &str) -> Option<Frequency> {
        self.shares.get(key).copied()
    }

    fn note(&mut self, key: &'static str, happened: bool) {
        let tally = self.shares.entry(key).or_default();
        tally.all += 1;
        tally.yes += u64::from(happened);
    }

    fn note_site(&mut self, site: &Site) {
        self.pages += site.pages;
        self.with_second_host += u64::from(site.sub_host.is_some());
        self.note("sites.start_share", site.is_in_start_list);
        for (key, class) in [
            ("sites.one_page_share", Class::OnePage),
            ("sites.brochure_share", Class::Brochure),
            ("sites.cms_share", Class::Cms),
            ("sites.large_share", Class::Large),
        ] {
            self.note(key, site.class == class);
        }
        for (key, fault) in FAULTS {
            self.note(key, site.fault == Some(fault));
        }
        self.note("sites.www_share", site.bare_host.is_some());
        if site.bare_host.is_some() {
            self.note("sites.bare_start_share", Some(&site.start_host) == site.bare_host.as_ref());
        }
        if site.pages >= 4 {
            self.note("sites.subdomain_share", site.sub_host.is_some());
        }
        if site.class == Class::Cms {
            self.note("sites.script_only_share", site.is_script_only);
        }
        self.note("pages.base_share", site.has_base);
        self.note("copies.mirror_share", site.content_index != site.index);
        self.note("https.share", site.tls.certificate().is_some());
        self.note_doors(site);
        if matches!(site.class, Class::Cms | Class::Large) {
            self.note("lists.share", site.lists > 0);
        }
        self.note_traps(site);
    }

    fn note_doors(&mut self, site: &Site) {
        if site.bare_host.is_some() {
            self.note("doors.www_only_share", site.is_www_only);
        }
        if site.tls.certificate().is_some() {
            for (key, shut) in PORT_80 {
                self.note(key, matches!(site.tls, Tls::Alone(_, how) if how == shut));
            }
        }
        for (key, front) in FRONT_PAGES {
            self.note(key, site.front == Some(front));
        }
    }

    fn note_traps(&mut self, site: &Site) {
        for (key, has_it) in [
            ("traps.calendar_share", site.traps.calendar),
            ("traps.loop_share", site.traps.relative_loop),
            ("traps.session_share", site.traps.sessions),
            ("traps.facet_share", site.traps.facets),
            ("traps.soft_404_share", site.traps.soft_404),
        ] {
            self.note(key, has_it);
        }
    }

    fn note_writing(&mut self, writing: &Writing) {
        let is_mixed = writing.title != writing.text;
        self.note("pages.mixed_share", is_mixed);
        self.note("pages.undeclared_share", writing.place.is_none());
        for (key, charset) in [
            ("pages.utf8_share", Charset::Utf8),
            ("pages.windows_1252_share", Charset::Windows1252),
            ("pages.windows_1256_share", Charset::Windows1256),
            ("pages.shift_jis_share", Charset::ShiftJis),
            ("pages.euc_jp_share", Charset::EucJp),
            ("pages.iso_2022_jp_share", Charset::Iso2022Jp),
        ] {
            self.note(key, !is_mixed && writing.place.is_some() && writing.text == charset);
        }
    }

    fn note_robots(&mut self, robots: Robots) {
        self.note("robots.missing_share", robots == Robots::Missing);
        self.note("robots.junk_share", robots == Robots::Junk);
        self.note("robots.some_share", matches!(robots, Robots::KeepsSome(_)));
        self.note("robots.all_share", robots == Robots::KeepsAll);
        self.note("robots.crawl_delay_share", matches!(robots, Robots::CrawlDelay(_)));
        self.note("robots.unavailable_share", robots == Robots::Unavailable);
    }

    fn note_host(&mut self, world: &World, host: &str) {
        let number = Server::number_of_host(world, host);
        self.note("servers.giants_share", number < world.servers.giants);
        *self.hosts.entry(number).or_default() += 1;
        self.servers.entry(number).or_insert_with(|| Server::numbered(world, number));
    }

    fn note_server(&mut self, server: &Server) {
        let is_offshore = server.uplink == Uplink::Offshore;
        self.note("servers.offshore_share", is_offshore);
        if is_offshore {
            let region = Network::holding(server.address).map(|network| network.region);
            self.note("servers.neighbour_share", region == Some(Region::Africa));
            if region != Some(Region::Africa) {
                self.note("servers.europe_share", region == Some(Region::Europe));
            }
        } else {
            self.note("servers.satellite_share", server.uplink == Uplink::Satellite);
        }
        let family = family(server.software);
        self.note("servers.apache_share", family == "Apache");
        self.note("servers.iis_share", family == "Microsoft-IIS");
        self.note("servers.nginx_share", family == "nginx");
        self.note("servers.gzip_share", server.gzips);
    }

    /// The same as counts, in one object.
    pub(crate) fn counts(&self) -> Value {
        let count = |key| self.share(key).unwrap_or_default().yes;
        let mut counts = json!({
            "in_start_list": count("sites.start_share"),
            "one_page": count("sites.one_page_share"),
            "brochure": count("sites.brochure_share"),
            "cms": count("sites.cms_share"),
            "large": count("sites.large_share"),
            "pages": self.pages,
            "script_only": count("sites.script_only_share"),
            "with_second_host": self.with_second_host,
            "mirrors": count("copies.mirror_share"),
            "with_lists": count("lists.share"),
            "with_tls": count("https.share"),
            "with_calendar": count("traps.calendar_share"),
            "with_relative_loop": count("traps.loop_share"),
            "with_sessions": count("traps.session_share"),
            "with_facets": count("traps.facet_share"),
            "with_soft_404": count("traps.soft_404_share"),
            "addresses": self.addresses(),
        });
        let doors = PORT_80.map(|(key, _)| key).into_iter().chain(FRONT_PAGES.map(|(key, _)| key));
        for key in FAULTS.map(|(key, _)| key).into_iter().chain(["doors.www_only_share"]).chain(doors) {
            let name = key.rsplit('.').next().unwrap_or(key).trim_end_matches("_share");
            counts[name] = json!(count(key));
        }
        counts
    }

    fn addresses(&self) -> Value {
        let by = |word: &dyn Fn(&Server) -> String| {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            self.servers.values().for_each(|server| *counts.entry(word(server)).or_default() += 1);
            counts
        };
        let mut crowded: Vec<(u64, String)> = self
            .hosts
            .iter()
            .map(|(number, hosts)| (*hosts, self.servers[number].address.to_string()))
            .collect();
        crowded.sort_by(|one, other| other.cmp(one));
        crowded.truncate(3);
        let count = real(self.servers.len() as u64).max(1.0);
        json!({
            "count": self.servers.len(),
            "hosts": self.hosts.values().sum::<u64>(),
            "most_crowded": crowded,
            "by_country": by(&|server| {
                Network::holding(server.address).map_or("", |network| network.country).to_owned()
            }),
            "by_uplink": by(&|server| format!("{:?}", server.uplink).to_lowercase()),
            "by_software": by(&|server| server.software.to_owned()),
            "median_kbit_per_second": self.median_kbit_per_second(),
            "mean_background_use": self.servers.values().map(|server| server.background).sum::<f64>() / count,
        })
    }

    /// None in worlds that take no time.
    fn median_kbit_per_second(&self) -> Option<f64> {
        let mut rates: Vec<f64> =
            self.servers.values().map(|server| server.bits_per_second / 1000.0).collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().filter(|rate| rate.is_finite())
    }
}

const FAULTS: [(&str, Fault); 8] = [
    ("faults.no_dns_share", Fault::NoDns),
    ("faults.servfail_share", Fault::Servfail),
    ("faults.reset_share", Fault::Reset),
    ("faults.unavailable_share", Fault::Unavailable),
    ("faults.moved_share", Fault::Moved),
    ("faults.dns_silent_share", Fault::DnsSilent),
    ("faults.silent_share", Fault::Silent),
    ("faults.forbidden_share", Fault::Forbidden),
];

const PORT_80: [(&str, Shut); 2] =
    [("doors.refused_80_share", Shut::Refused), ("doors.reset_80_share", Shut::Reset)];

const FRONT_PAGES: [(&str, Front); 4] = [
    ("doors.front_401_share", Front::Status(401)),
    ("doors.front_403_share", Front::Status(403)),
    ("doors.front_404_share", Front::Status(404)),
    ("doors.front_circle_share", Front::Circle),
];

fn hosts_of(site: &Site) -> BTreeSet<String> {
    let roles = [Role::Main, Role::Bare, Role::Sub].into_iter();
    roles
        .filter(|role| *role != Role::Bare || !site.is_www_only)
        .map(|role| site.host(role).to_owned())
        .collect()
}
