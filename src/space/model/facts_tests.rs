//! The facts of sites, compared with their keys and with the bytes that are served.

use std::collections::{BTreeMap, BTreeSet};

use super::content::{Content, Url};
use super::facts::cms::{Cms, CmsTrace};
use super::facts::kind::Kind;
use super::facts::language::Language;
use super::facts::prose::PageText;
use super::robots::Robots;
use super::site::{Class, Role, Site};
use super::url_location::UrlLocation;
use crate::sampling::{assert_share, assert_shares};
use crate::scan::scan;
use crate::{Reaction, Response, Web, World};

/// Many sites with all shares, without mirrors and faults.
const MANY_SITES: &str = "seed = 8
[sites]
count = 20000
cms_share = 0.58
brochure_share = 0.1
most_pages = 20
[copies]
mirror_share = 0.0
[https]
share = 0.5
hsts_share = 0.3
[facts]
parked_share = 0.1
placeholder_share = 0.05
error_share = 0.04
empty_share = 0.03
generator_share = 0.4
asset_paths_share = 0.2
cms_field_share = 0.1
wordpress_share = 0.5
joomla_share = 0.2
drupal_share = 0.1
[languages]
english_share = 0.2
french_share = 0.1
portuguese_share = 0.1
swahili_share = 0.1
arabic_share = 0.1
amharic_share = 0.1
somali_share = 0.1
wrong_declared_share = 0.2
undeclared_share = 0.3
[robots]
sitemap_share = 0.5
several_sitemaps_share = 0.3
";

fn sites(world: &World) -> Vec<Site> {
    (0..world.sites.count).map(|index| Site::new(world, index)).collect()
}

fn count(sites: &[Site], wanted: impl Fn(&Site) -> bool) -> u64 {
    sites.iter().filter(|site| wanted(site)).count() as u64
}

fn share_of(name: &str, sites: &[Site], share: f64, wanted: impl Fn(&Site) -> bool) {
    assert_share(name, count(sites, wanted), sites.len() as u64, share);
}

#[test]
fn kinds_languages_and_fields_have_their_shares() {
    let world = World::parse(MANY_SITES).unwrap();
    let sites = sites(&world);
    let kinds = [(Kind::Parked, 0.1), (Kind::Placeholder, 0.05), (Kind::Error, 0.04), (Kind::Empty, 0.03)];
    for (kind, share) in kinds {
        share_of(kind.column_value(), &sites, share, |site| site.facts.kind == Some(kind));
    }
    share_of("HSTS", &sites, 0.3, |site| site.facts.hsts.is_some());
    let (own, others): (Vec<Site>, Vec<Site>) = sites.into_iter().partition(|site| site.facts.kind.is_none());
    assert!(others.iter().all(|site| (site.class, site.pages, site.lists) == (Class::OnePage, 1, 0)));
    let found =
        Language::ALL.map(|language| count(&own, |site| site.facts.text == PageText::Prose(language)));
    let filled = count(&own, |site| site.facts.text == PageText::Filler);
    let shares = [&world.languages.shares()[..], &[0.2]].concat();
    assert_shares("languages", &[&found[..], &[filled]].concat(), &shares);
    let written: Vec<Site> = own.into_iter().filter(|site| site.facts.written.is_some()).collect();
    let declared = |site: &Site| site.facts.written.and_then(|written| written.declared);
    share_of("no language is declared", &written, 0.3, |site| declared(site).is_none());
    share_of("another language is declared", &written, 0.2, |site| {
        let code = site.facts.written.map_or("", |written| written.language.code());
        declared(site).is_some_and(|declared| !declared.starts_with(code))
    });
}

#[test]
fn what_shows_a_cms_and_which_one_have_their_shares() {
    let world = World::parse(MANY_SITES).unwrap();
    let cms: Vec<Site> = sites(&world).into_iter().filter(|site| site.class == Class::Cms).collect();
    for (by, share) in [(CmsTrace::Generator, 0.4), (CmsTrace::Paths, 0.2), (CmsTrace::Field, 0.1)] {
        share_of(by.column_value(), &cms, share, |site| site.facts.cms.is_some_and(|shown| shown.by == by));
    }
    let shown: Vec<Site> = cms.into_iter().filter(|site| site.facts.cms.is_some()).collect();
    let systems = [(Cms::WordPress, 0.5), (Cms::Joomla, 0.2), (Cms::Drupal, 0.1), (Cms::Wix, 0.2 / 3.0)];
    for (cms, share) in systems {
        share_of(cms.column_value(), &shown, share, |site| {
            site.facts.cms.is_some_and(|shown| shown.cms == cms)
        });
    }
}

#[test]
fn sitemaps_are_named_by_their_share_of_the_files_with_rules() {
    let world = World::parse(MANY_SITES).unwrap();
    let by_url: Vec<usize> = sites(&world)
        .into_iter()
        .filter(|site| matches!(site.main_robots, Robots::AllowsAll | Robots::DisallowsAll))
        .map(|site| {
            let url = Url::http(&site.main_host, "/robots.txt");
            let named = UrlLocation::find(&world, &url).unwrap().sitemaps(&world);
            assert!(named.iter().all(|sitemap| sitemap.contains(&format!("://{}/", site.main_host))));
            named.len()
        })
        .collect();
    let naming: Vec<usize> = by_url.iter().copied().filter(|count| *count > 0).collect();
    assert_share("files", naming.len() as u64, by_url.len() as u64, 0.5);
    let several = naming.iter().filter(|count| **count > 1).count();
    assert_share("several", several as u64, naming.len() as u64, 0.3);
}

#[test]
fn without_the_keys_nothing_is_drawn() {
    let world = World::parse("seed = 8\n[sites]\ncount = 500\n[https]\nshare = 1.0").unwrap();
    for site in sites(&world) {
        let facts = site.facts;
        assert_eq!((facts.kind, facts.cms, facts.hsts, facts.written), (None, None, None, None));
        assert_eq!(facts.text, PageText::Filler);
        for is_https in [false, true] {
            if let Reaction::Response(response) = world.respond(is_https, &site.main_host, "/") {
                assert!(response.more_fields.is_empty());
                assert!(!String::from_utf8_lossy(&response.body).contains("<html lang"));
            }
        }
    }
}

#[test]
fn a_share_of_facts_does_not_shift_other_draws() {
    let text = "seed = 8\n[sites]\ncount = 300\n";
    let plain = World::parse(text).unwrap();
    let parked = World::parse(&format!("{text}[facts]\nparked_share = 0.3\ngenerator_share = 1.0")).unwrap();
    for (plain, other) in sites(&plain).into_iter().zip(sites(&parked)) {
        assert_eq!((&plain.main_host, plain.fault, plain.tls), (&other.main_host, other.fault, other.tls));
        if other.facts.kind.is_none() {
            assert_eq!((plain.class, plain.pages, plain.traps), (other.class, other.pages, other.traps));
        }
    }
}

fn small_world() -> World {
    World::parse(include_str!("../../../tests/worlds/hosts_tell_what_runs_them.toml")).unwrap()
}

fn response(world: &World, host: &str) -> Option<Response> {
    match world.respond(false, host, "/") {
        Reaction::Response(response) => Some(response),
        _ => None,
    }
}

#[test]
fn pages_have_the_links_of_the_model_and_assets_are_none_of_them() {
    let world = small_world();
    let (mut seen, mut with_assets) = (0, 0);
    for site in sites(&world) {
        let url = Url::http(&site.main_host, "/");
        let Content::Page(page) = UrlLocation::find(&world, &url).unwrap().content(&world) else { continue };
        let Some(response) = response(&world, &site.main_host) else { continue };
        let body = response.identity_body();
        let scanned: BTreeSet<String> =
            scan(&url.to_string(), &body).into_iter().map(|link| link.url).collect();
        let meant: BTreeSet<String> = page.links.iter().map(|link| link.url.to_string()).collect();
        assert_eq!(scanned, meant, "{url}");
        let text = String::from_utf8_lossy(&body);
        with_assets += usize::from(text.contains("<script src=") && text.contains("<img src="));
        seen += 1;
    }
    assert!(seen > 15 && with_assets > 3, "{seen} {with_assets}");
}

#[test]
fn pages_of_a_language_differ_from_each_other() {
    let world = small_world();
    let mut bodies: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let own = sites(&world).into_iter().filter(|site| site.facts.kind.is_none());
    for response in own.filter_map(|site| response(&world, &site.main_host)).filter(|page| page.status == 200)
    {
        *bodies.entry(response.identity_body().into_owned()).or_default() += 1;
    }
    assert!(bodies.len() > 8 && bodies.values().all(|times| *times == 1));
}

#[test]
fn a_site_with_a_notice_has_one_page_and_no_other() {
    let world = small_world();
    let notices = sites(&world).into_iter().filter(|site| {
        site.facts.kind.is_some() && site.fault.is_none() && site.front.is_none() && site.sub_host.is_none()
    });
    let mut seen = 0;
    for site in notices {
        for target in ["/part-0.html", "/page-0.pdf", "/nowhere"] {
            let url = Url { is_https: true, ..Url::http(site.host(Role::Main), target) };
            let is_plain = site.tls.certificate().is_none();
            let url = Url { is_https: !is_plain, ..url };
            let content = UrlLocation::find(&world, &url).unwrap().content(&world);
            assert!(matches!(content, Content::Status(404)), "{url}: {content:?}");
        }
        seen += 1;
    }
    assert!(seen > 5);
}
