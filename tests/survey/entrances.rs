//! Sites that a dead link, a closed port or a name without an address would hide, over real DNS, HTTP and
//! TLS.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ccsurvey::address::WebUrl;
use ccsurvey::records::{ExchangeRow, SiteRow};
use ccsurvey::settings::Entrances;
use ccsurvey::settings::{Settings, Span};
use ccsurvey::space::{
    Certificate, Handshake, Lookup, Reaction, Records, Response, ServeSettings, Served, Server, Web, serve,
};
use ccsurvey::survey::Survey;
use tokio::runtime::Runtime;

use crate::common::{TimelessTables, assert_same_tables, timeless_tables};

/// The response of a URL.
enum Content {
    /// A page with these links, separated by spaces.
    Page(&'static str),
    Status(u16),
    Redirect(&'static str),
}

/// A Web that consists of this table. A host that is not in it has no address. If a host has no URL with a
/// scheme, it resets connections (http) or speaks no TLS (https).
struct SmallWeb(BTreeMap<&'static str, Content>);

const SELF_SIGNED: [&str; 2] = ["bad-certificate.ke", "into-bad-certificate.ke"];

fn web() -> SmallWeb {
    use Content::{Page, Redirect, Status};
    SmallWeb(BTreeMap::from([
        (
            "http://one.ke/",
            Page(
                "http://dead-first-link.ke/gone http://front-page.ke/gone http://only-www.ke/ http://only-https.ke/ \
                 http://only-https-at-www.ke/x http://says-401.ke/ http://says-403.ke/ http://says-404.ke/ \
                 http://circle.ke/ https://bad-certificate.ke/ http://into-bad-certificate.ke/ http://nowhere.ke/ \
                 http://moved.ke/ http://moved-deep.ke/old http://dead.ke/1",
            ),
        ),
        (
            "http://two.ke/",
            Page(
                "http://dead-first-link.ke/live http://front-page.ke/other http://dead.ke/2 http://dead.ke/1 \
                 http://dead.ke/3 http://dead.ke/4",
            ),
        ),
        ("http://dead-first-link.ke/live", Page("http://found-late.ke/")),
        ("http://found-late.ke/", Page("")),
        ("http://front-page.ke/", Page("/inside")),
        ("http://front-page.ke/inside", Page("")),
        ("http://www.only-www.ke/", Page("http://found-late.ke/")),
        ("https://only-https.ke/", Page("")),
        ("https://www.only-https-at-www.ke/", Page("")),
        ("http://says-401.ke/", Status(401)),
        ("http://says-403.ke/", Status(403)),
        ("http://says-404.ke/", Status(404)),
        ("http://circle.ke/", Redirect("https://circle.ke/")),
        ("https://circle.ke/", Redirect("http://circle.ke/")),
        ("https://bad-certificate.ke/", Page("")),
        ("http://into-bad-certificate.ke/", Redirect("https://into-bad-certificate.ke/")),
        ("https://into-bad-certificate.ke/", Page("")),
        ("http://moved.ke/", Redirect("http://one.ke/")),
        ("http://moved-deep.ke/old", Redirect("http://one.ke/")),
        ("http://moved-deep.ke/", Page("")),
        ("http://dead.ke/nothing", Page("")),
        ("http://query.ke/s?id=1", Page("")),
        ("http://query.ke/s", Page("")),
    ]))
}

impl SmallWeb {
    fn has_origin(&self, scheme: &str, host: &str) -> bool {
        self.0.keys().any(|url| url.starts_with(&format!("{scheme}://{host}/")))
    }
}

impl Web for SmallWeb {
    fn lookup(&self, host: &str) -> Lookup {
        match host {
            "ke" => Lookup::Found(Records::default()),
            _ if self.has_origin("http", host) || self.has_origin("https", host) => {
                Lookup::Found(Records { v4: Some([41, 90, 0, 1].into()), ..Records::default() })
            }
            // A bare name may have mail but no address.
            _ if host.starts_with("only-") => Lookup::Found(Records::default()),
            _ => Lookup::NoSuchName,
        }
    }

    fn handshake(&self, host: &str) -> Handshake {
        match host {
            _ if SELF_SIGNED.contains(&host) => Handshake::Certificate(Certificate::SelfSigned),
            _ if self.has_origin("https", host) => Handshake::Certificate(Certificate::Valid),
            _ => Handshake::Closed,
        }
    }

    fn server(&self, host: &str) -> Option<Server> {
        let is_there = self.has_origin("http", host) || self.has_origin("https", host);
        is_there.then(|| Server::alone_at([41, 90, 0, 1].into()))
    }

    fn respond(&self, is_https: bool, host: &str, target: &str) -> Reaction {
        let scheme = if is_https { "https" } else { "http" };
        if !self.has_origin(scheme, host) {
            return Reaction::Reset;
        }
        let (status, location, body) = match self.0.get(format!("{scheme}://{host}{target}").as_str()) {
            Some(Content::Page(links)) => {
                (200, None, links.split(' ').map(|to| format!("<a href='{to}'>x</a>")).collect::<String>())
            }
            Some(Content::Status(status)) => (*status, None, String::new()),
            Some(Content::Redirect(to)) => (301, Some((*to).to_owned()), String::new()),
            None => (404, None, String::new()),
        };
        Reaction::Response(Response {
            status,
            content_type: Some(Cow::Borrowed("text/html")),
            location,
            retry_after: None,
            server: "Apache",
            last_modified: None,
            etag: None,
            content_encoding: None,
            body: body.into_bytes(),
            identity: None,
            is_chunked: false,
            cut_after: None,
            service: Duration::ZERO,
            more_fields: Box::default(),
        })
    }
}

struct SmallSpace {
    served: Served,
    runtime: Runtime,
}

impl SmallSpace {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let served = runtime.block_on(serve(Arc::new(web()), ServeSettings::default())).unwrap();
        Self { served, runtime }
    }

    fn survey(&self, starts: &[&str], change: impl Fn(Settings) -> Settings) -> TimelessTables {
        let settings = change(Settings {
            cctld: vec!["ke".to_owned()],
            contact: Some("https://survey.example/contact".to_owned()),
            dns: Some(self.served.dns_addr),
            gateway: Some(self.served.gateway_addr),
            refuse_bad_certificates: true,
            min_delay: Span(Duration::ZERO),
            delay_factor: 0.0,
            harm: None,
            max_delay: Span(Duration::from_millis(1)),
            rate: None,
            ..Settings::default()
        });
        let folder = tempfile::tempdir().unwrap();
        let ca = folder.path().join("ca.pem");
        std::fs::write(&ca, ccsurvey::space::ca_certificate_pem()).unwrap();
        let dir = folder.path().join("survey");
        let starts: Vec<WebUrl> = starts.iter().map(|url| WebUrl::parse(url).unwrap()).collect();
        let (survey, _) = Survey::create(&dir, Settings { ca: vec![ca], ..settings }, &starts).unwrap();
        let (_keep, stop) = tokio::sync::watch::channel(false);
        self.runtime.block_on(survey.run(stop)).unwrap();
        timeless_tables(&dir)
    }
}

const STARTS: [&str; 2] = ["http://one.ke/", "http://two.ke/"];

/// Site, index of its tree, outcome, the entrance that delivered a page, number of entrances tried.
type Row<'a> = (&'a str, u16, &'a str, Option<&'a str>, Option<u16>);

fn summary_rows(tables: &TimelessTables) -> Vec<Row<'_>> {
    fn row(site: &SiteRow) -> Row<'_> {
        (&site.site, site.seed, &site.outcome, site.entrance.as_deref(), site.entrances)
    }
    tables.sites.iter().map(row).collect()
}

#[test]
fn every_site_that_a_door_or_a_link_can_open_is_found_however_many_are_walked_at_once() {
    let web = SmallSpace::new();
    let sequential = web.survey(&STARTS, |settings| Settings { sites: 1, ..settings }).without_wire_bytes();
    #[rustfmt::skip]
    let expected: [Row<'_>; 21] = [
        ("bad-certificate.ke", 0, "no_page", None, Some(3)),
        ("circle.ke", 0, "no_page", None, Some(2)),
        ("dead-first-link.ke", 0, "no_page", None, Some(3)),
        ("dead-first-link.ke", 1, "complete", Some("offered"), Some(1)),
        ("dead.ke", 0, "no_page", None, Some(3)),
        ("dead.ke", 1, "no_page", None, Some(1)),
        ("dead.ke", 2, "no_page", None, Some(1)),
        ("found-late.ke", 0, "complete", Some("offered"), Some(1)),
        ("front-page.ke", 0, "complete", Some("front_page"), Some(2)),
        ("into-bad-certificate.ke", 0, "no_page", None, Some(2)),
        ("moved-deep.ke", 0, "complete", Some("front_page"), Some(2)),
        ("moved.ke", 0, "moved", None, Some(1)),
        ("nowhere.ke", 0, "unreachable", None, Some(2)),
        ("one.ke", 0, "complete", Some("offered"), Some(1)),
        ("only-https-at-www.ke", 0, "complete", Some("other_name_other_scheme"), Some(3)),
        ("only-https.ke", 0, "complete", Some("other_scheme"), Some(2)),
        ("only-www.ke", 0, "complete", Some("other_name"), Some(2)),
        ("says-401.ke", 0, "no_page", None, Some(2)),
        ("says-403.ke", 0, "no_page", None, Some(2)),
        ("says-404.ke", 0, "no_page", None, Some(2)),
        ("two.ke", 0, "complete", Some("offered"), Some(1)),
    ];
    assert_eq!(summary_rows(&sequential), expected);
    let late = sequential
        .sites
        .iter()
        .find(|site| (site.site.as_str(), site.seed) == ("dead-first-link.ke", 1))
        .unwrap();
    assert_eq!((late.parent_site.as_deref(), late.generation), (Some("two.ke"), 1));
    for sites in [16, 256] {
        let many = web.survey(&STARTS, |settings| Settings { sites, ..settings });
        // A resumed TLS session moves fewer bytes.
        assert_same_tables(&many.without_wire_bytes(), &sequential);
    }
}

#[test]
fn with_one_entrance_only_what_was_offered_is_asked() {
    let web = SmallSpace::new();
    let single_entrance = |settings| Settings { entrances: Entrances::UpTo(1), ..settings };
    let tables = web.survey(&STARTS, single_entrance);
    assert!(tables.sites.iter().all(|site| site.seed == 0 && site.entrances == Some(1)));
    let found: Vec<&str> =
        tables.sites.iter().filter(|site| site.pages > 0).map(|site| site.site.as_str()).collect();
    assert_eq!(found, ["one.ke", "two.ke"]);
    assert!(tables.sites.iter().all(|site| site.pages > 0 || site.outcome != "complete"));
}

#[test]
fn further_start_urls_of_a_site_are_tried_in_their_order_where_the_first_is_dead() {
    let web = SmallSpace::new();
    let starts =
        ["http://dead-first-link.ke/a", "http://dead-first-link.ke/b", "http://dead-first-link.ke/live"];
    let tables = web.survey(&starts, |settings| settings);
    let tried: Vec<&str> = tables
        .sites
        .iter()
        .filter(|site| site.site == "dead-first-link.ke")
        .map(|site| site.start_url.as_str())
        .collect();
    assert_eq!(tried, starts);
    assert!(tables.sites.iter().any(|site| site.site == "found-late.ke" && site.pages == 1));
}

#[test]
fn a_start_url_that_the_script_rule_would_keep_back_is_a_tree_that_is_asked() {
    let web = SmallSpace::new();
    let starts = ["http://query.ke/s?id=1", "http://query.ke/s"];
    let tables = web.survey(&starts, |settings| Settings { seeds_per_site: 2, ..settings });
    let complete = |seed| ("query.ke", seed, "complete", Some("offered"), Some(1));
    assert_eq!(summary_rows(&tables), [complete(0), complete(1)]);
}

#[test]
fn all_four_doors_of_every_site_are_asked_where_that_is_wanted() {
    let web = SmallSpace::new();
    let tables =
        web.survey(&["http://only-https.ke/"], |settings| Settings { entrances: Entrances::All, ..settings });
    let requested: Vec<&str> = tables.exchanges.iter().map(|row: &ExchangeRow| row.url.as_str()).collect();
    for origin in [
        "http://only-https.ke",
        "https://only-https.ke",
        "http://www.only-https.ke",
        "https://www.only-https.ke",
    ] {
        let of_origin = |url: &&&str| url.strip_prefix(origin).is_some_and(|rest| rest.starts_with('/'));
        assert!((1..=2).contains(&requested.iter().filter(of_origin).count()), "{origin}: {requested:?}");
    }
    assert_eq!(tables.sites[0].entrances, Some(4));
}
