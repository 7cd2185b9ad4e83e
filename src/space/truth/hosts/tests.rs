//! The truth of hosts, compared with the names, certificates and bytes that the world serves.

use std::collections::{BTreeMap, BTreeSet};

use super::HostTruth;
use crate::truth::tests::settings;
use crate::{Certificate, Handshake, Lookup, Reaction, Response, Truth, TruthTable, Web, World};

fn world() -> World {
    World::parse(include_str!("../../../../tests/worlds/hosts_tell_what_runs_them.toml")).unwrap()
}

fn truth(world: &World) -> Vec<HostTruth> {
    Truth::compute(world, &settings(world, 1)).hosts
}

fn response(world: &World, is_https: bool, host: &str, target: &str) -> Option<Response> {
    if is_https && world.handshake(host) == Handshake::Closed {
        return None;
    }
    match world.respond(is_https, host, target) {
        Reaction::Response(response) => Some(response),
        _ => None,
    }
}

fn text(response: &Response) -> String {
    String::from_utf8(response.identity_body().into_owned()).unwrap()
}

/// The text between two marks.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    text.split_once(open)?.1.split_once(close).map(|(inner, _)| inner)
}

/// The number of words in the body; a tag separates no words.
fn words(html: &str) -> u64 {
    let body = between(html, "<body>", "</body>").unwrap_or_default();
    let visible = body.split("<!--").map(|part| part.split_once("-->").map_or(part, |(_, after)| after));
    let visible: String = visible.collect();
    let visible = visible.split('<').map(|part| part.split_once('>').map_or(part, |(_, after)| after));
    visible.collect::<String>().split_whitespace().count() as u64
}

/// What a door does as the bytes tell it.
fn door(world: &World, is_https: bool, host: &str) -> &'static str {
    match world.lookup(host) {
        Lookup::NoSuchName => return "no_name",
        Lookup::ServerFailure => return "name_fails",
        Lookup::Found(records) if !records.has_address() => return "no_address",
        _ if is_https && world.handshake(host) == Handshake::Closed => return "no_tls",
        _ => {}
    }
    match world.respond(is_https, host, "/") {
        Reaction::Refused => "refused",
        Reaction::Reset => "reset",
        Reaction::Silence => "silent",
        Reaction::Response(response) => match (response.status, response.location.as_deref()) {
            (200, _) => "page",
            (301, Some(to)) if to == format!("https://{host}/") && !is_https => "redirect_https",
            (300..=399, _) => "redirect",
            (400..=499, _) => "client_error",
            _ => "server_error",
        },
        other => panic!("{host}: {other:?}"),
    }
}

#[test]
fn doors_names_and_certificates_are_those_that_are_served() {
    let world = world();
    for row in truth(&world) {
        let host = row.host.as_str();
        let doors = [door(&world, false, host), door(&world, true, host)];
        assert_eq!([row.http.as_str(), row.https.as_str()], doors, "{host}");
        let records = if let Lookup::Found(records) = world.lookup(host) { Some(records) } else { None };
        let aliases = records.as_ref().map(|records| records.aliases().collect::<Vec<_>>().join(" "));
        assert_eq!(row.aliases, aliases.filter(|aliases| !aliases.is_empty()), "{host}");
        assert_eq!(row.ipv4, records.as_ref().and_then(|records| records.v4).map(|v4| v4.to_string()));
        assert_eq!(row.ipv6, records.as_ref().and_then(|records| records.v6).map(|v6| v6.to_string()));
        let certificate = match row.certificate.as_deref() {
            Some("valid") => Handshake::Certificate(Certificate::Valid),
            Some("self_signed") => Handshake::Certificate(Certificate::SelfSigned),
            Some("expired") => Handshake::Certificate(Certificate::Expired),
            Some("wrong_name") => Handshake::Certificate(Certificate::WrongName),
            _ => Handshake::Closed,
        };
        assert!(certificate == world.handshake(host) || row.ipv4.is_none(), "{host}");
        assert_eq!(row.country.is_some(), row.ipv4.is_some(), "{host}");
    }
}

#[test]
fn fields_and_files_of_robots_are_those_that_are_served() {
    let world = world();
    for row in truth(&world) {
        let host = row.host.as_str();
        let front = |is_https| response(&world, is_https, host, "/");
        let fields = front(true).map(|response| response.more_fields).unwrap_or_default();
        let hsts = fields.into_iter().find(|(name, _)| *name == "Strict-Transport-Security");
        assert_eq!(row.hsts, hsts.map(|(_, value)| value), "{host}");
        let plain = front(false).map(|response| response.more_fields).unwrap_or_default();
        assert!(plain.iter().all(|(name, _)| *name != "Strict-Transport-Security"), "{host}");
        let server = front(false).or(front(true)).map(|response| response.server.to_owned());
        assert_eq!(row.server, server, "{host}");
        let file =
            [false, true].into_iter().filter_map(|is_https| response(&world, is_https, host, "/robots.txt"));
        let file =
            file.filter(|response| response.location.is_none()).map(|file| (file.status, text(&file))).next();
        let named =
            file.iter().flat_map(|(_, text)| text.lines()).filter_map(|line| line.strip_prefix("Sitemap: "));
        assert_eq!(row.sitemaps.unwrap_or_default(), named.collect::<Vec<_>>().join(" "), "{host}");
        let status = file.map(|(status, _)| status);
        let expected = match row.robots.as_deref() {
            None => None,
            Some("missing") => Some(404),
            Some("forbidden") => Some(403),
            Some("unavailable") => Some(503),
            Some(_) => Some(200),
        };
        assert_eq!(status, expected, "{host}");
    }
}

#[test]
fn front_pages_say_what_the_truth_says() {
    let world = world();
    let mut pages = 0;
    for row in truth(&world) {
        let page = match (row.http.as_str(), row.https.as_str()) {
            ("page", _) => response(&world, false, &row.host, "/").unwrap(),
            (_, "page") => response(&world, true, &row.host, "/").unwrap(),
            _ => {
                let facts = [&row.content, &row.generator, &row.cms, &row.cms_by, &row.language];
                assert!(facts.iter().all(|fact| fact.is_none()) && row.words.is_none(), "{}", row.host);
                continue;
            }
        };
        let html = text(&page);
        assert_eq!(row.generator.as_deref(), between(&html, "<meta name=\"generator\" content=\"", "\""));
        assert_eq!(row.declared_language.as_deref(), between(&html, "<html lang=\"", "\""));
        assert_eq!(row.words, Some(words(&html)), "{}: {html}", row.host);
        let has_paths = html.contains("<script src=\"");
        let has_field = page.more_fields.iter().any(|(name, _)| *name != "Strict-Transport-Security");
        let shows = (row.generator.is_some(), has_paths, has_field);
        assert_eq!(
            shows,
            match row.cms_by.as_deref() {
                None => (false, false, false),
                Some("generator") => (true, true, false),
                Some("paths") => (false, true, false),
                Some(_) => (false, false, true),
            }
        );
        pages += 1;
    }
    assert!(pages > 20, "{pages}");
}

#[test]
fn languages_are_those_of_the_script_and_the_words() {
    let world = world();
    let typical = BTreeMap::from([
        ("en", "the "),
        ("fr", "le "),
        ("pt", "o "),
        ("sw", "ya "),
        ("ar", "ا"),
        ("am", "በ"),
        ("so", "aa"),
    ]);
    let mut seen = BTreeSet::new();
    for row in truth(&world).into_iter().filter(|row| row.content.is_none()) {
        let Some(language) = row.language else { continue };
        let html = response(&world, false, &row.host, "/").filter(|page| page.status == 200);
        let html = text(&html.or_else(|| response(&world, true, &row.host, "/")).unwrap());
        assert!(html.contains(typical[language.as_str()]), "{language}: {html}");
        seen.insert(language);
    }
    assert!(seen.len() >= 6, "{seen:?}");
}

#[test]
fn the_world_has_every_fact_several_times() {
    let rows = truth(&world());
    let several = |name: &str, wanted: &dyn Fn(&HostTruth) -> bool| {
        let found = rows.iter().filter(|row| wanted(row)).count();
        assert!(found >= 2, "{name}: {found}");
    };
    for content in ["parked", "placeholder", "error", "empty"] {
        several(content, &|row| row.content.as_deref() == Some(content));
    }
    for by in ["generator", "paths", "field"] {
        several(by, &|row| row.cms_by.as_deref() == Some(by));
    }
    for certificate in ["valid", "self_signed", "expired", "wrong_name"] {
        several(certificate, &|row| row.certificate.as_deref() == Some(certificate));
    }
    for door in
        ["page", "redirect_https", "redirect", "client_error", "server_error", "no_name", "no_address"]
    {
        several(door, &|row| row.http == door);
    }
    several("no TLS", &|row| row.https == "no_tls");
    several("HSTS", &|row| row.hsts.is_some());
    several("one alias", &|row| row.aliases.as_ref().is_some_and(|aliases| !aliases.contains(' ')));
    several("a chain", &|row| row.aliases.as_ref().is_some_and(|aliases| aliases.contains(' ')));
    several("both families", &|row| row.ipv4.is_some() && row.ipv6.is_some());
    several("sitemaps", &|row| row.sitemaps.as_ref().is_some_and(|named| named.contains(' ')));
    several("no declared language", &|row| row.language.is_some() && row.declared_language.is_none());
    several("another declared language", &|row| {
        let declared = row.declared_language.as_deref();
        declared.is_some_and(|declared| !declared.starts_with(row.language.as_deref().unwrap_or_default()))
    });
}

#[test]
fn the_table_has_a_row_for_each_host_and_is_the_same_each_time() {
    let world = world();
    let rows = truth(&world);
    assert_eq!(rows, truth(&world));
    let hosts: BTreeSet<&str> = rows.iter().map(|row| row.host.as_str()).collect();
    assert_eq!(hosts.len(), rows.len());
    for url in world.start_urls() {
        assert!(hosts.contains(url.trim_start_matches("http://").trim_end_matches('/')), "{url}");
    }
    let csv = Truth::compute(&world, &settings(&world, 1)).to_csv(TruthTable::Hosts);
    assert!(csv.starts_with("host,site,http,https,aliases,ipv4,ipv6,country,asn,organization,server,hsts,"));
    assert_eq!(csv.lines().count(), rows.len() + 1);
}
