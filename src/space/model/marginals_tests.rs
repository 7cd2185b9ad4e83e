use std::collections::BTreeSet;

use super::content::{Content, Element, Page, Url};
use super::copies;
use super::extras::{Kind, file_kind, has};
use super::https::{ClosedPort, Tls};
use super::paths::{Extra, Resource};
use super::robots::Robots;
use super::site::{Class, Fault, Front, Role, Site};
use super::tree::{Node, Tree};
use super::url_location::UrlLocation;
use crate::draw::real;
use crate::{Certificate, Lookup, Records, Web, World};

/// A deviation of this many standard deviations has p = 1e-4 (two-sided).
const DEVIATIONS: f64 = 3.89;

const COUNT: u64 = 20_000;

fn world(text: &str) -> World {
    let sites = format!("[sites]\ncount = {COUNT}\nmost_pages = 400\n");
    World::parse(&format!("seed = 77\n{}", text.replace("[sites]\n", &sites))).unwrap()
}

fn defaults() -> World {
    world("[sites]\n")
}

fn sites(world: &World) -> Vec<Site> {
    (0..world.sites.count).map(|index| Site::new(world, index)).collect()
}

/// Checks that a count is within what chance allows around a share.
#[track_caller]
fn assert_share(what: &str, hits: usize, of: usize, share: f64) {
    let (hits, of) = (real(hits as u64), real(of as u64));
    let sigma = (of * share * (1.0 - share)).sqrt();
    assert!((hits - of * share).abs() <= DEVIATIONS * sigma + 1e-9, "{what}: {hits} of {of}, share {share}");
}

/// Pearson's chi-squared test of counts against shares; its bound at p = 1e-4 by Wilson and Hilferty's cube
/// root.
#[track_caller]
fn assert_shares(what: &str, counts: &[usize], shares: &[f64]) {
    let total = real(counts.iter().sum::<usize>() as u64);
    let chi_square: f64 = counts
        .iter()
        .zip(shares)
        .filter(|(_, share)| **share > 0.0)
        .map(|(count, share)| (real(*count as u64) - total * share).powi(2) / (total * share))
        .sum();
    let freedom = real(shares.iter().filter(|share| **share > 0.0).count() as u64) - 1.0;
    let spread = 2.0 / (9.0 * freedom);
    let bound = freedom * (1.0 - spread + 3.719 * spread.sqrt()).powi(3);
    assert!(chi_square <= bound, "{what}: {chi_square} > {bound}, {counts:?} for {shares:?}");
}

fn count<T: PartialEq>(things: &[T], wanted: &[T]) -> Vec<usize> {
    let mut counts: Vec<usize> =
        wanted.iter().map(|kind| things.iter().filter(|thing| *thing == kind).count()).collect();
    counts.push(things.len() - counts.iter().sum::<usize>());
    counts
}

fn with_rest(shares: &[f64]) -> Vec<f64> {
    let sum: f64 = shares.iter().sum();
    shares.iter().copied().chain([1.0 - sum]).collect()
}

#[test]
fn classes_and_faults_of_sites_have_their_shares() {
    let world = defaults();
    let sites = sites(&world);
    let (shares, faults) = (&world.sites, &world.faults);
    let classes: Vec<Class> = sites.iter().map(|site| site.class).collect();
    assert_shares(
        "classes",
        &count(&classes, &[Class::OnePage, Class::Brochure, Class::Cms]),
        &with_rest(&[shares.one_page_share, shares.brochure_share, shares.cms_share]),
    );
    let found: Vec<Option<Fault>> = sites.iter().map(|site| site.fault).collect();
    let kinds = [
        (Fault::NoDns, faults.no_dns_share),
        (Fault::Servfail, faults.servfail_share),
        (Fault::DnsSilent, faults.dns_silent_share),
        (Fault::Reset, faults.reset_share),
        (Fault::Silent, faults.silent_share),
        (Fault::Forbidden, faults.forbidden_share),
        (Fault::Unavailable, faults.unavailable_share),
        (Fault::Moved, faults.moved_share),
    ];
    assert_shares(
        "faults",
        &count(&found, &kinds.map(|(fault, _)| Some(fault))),
        &with_rest(&kinds.map(|(_, share)| share)),
    );
}

#[test]
fn what_sites_have_or_have_not_has_its_share() {
    let world = defaults();
    let (sites, traps) = (sites(&world), &world.traps);
    let share_of = |what: &str, share: f64, has: &dyn Fn(&Site) -> bool| {
        assert_share(what, sites.iter().filter(|site| has(site)).count(), sites.len(), share);
    };
    share_of("start list", world.sites.start_share, &|site| site.is_in_start_list);
    share_of("www", world.sites.www_share, &|site| site.bare_host.is_some());
    share_of("mirrors", world.copies.mirror_share, &|site| site.content_index != site.index);
    share_of("calendars", traps.calendar_share, &|site| site.traps.calendar);
    share_of("loops", traps.loop_share, &|site| site.traps.relative_loop);
    share_of("sessions", traps.session_share, &|site| site.traps.sessions);
    share_of("facets", traps.facet_share, &|site| site.traps.facets);
    share_of("soft 404", traps.soft_404_share, &|site| site.traps.soft_404);
    assert!(
        sites.iter().all(|site| Site::new(&world, site.content_index).content_index == site.content_index)
    );
    let shares = &world.sites;
    let cms: Vec<&Site> = sites.iter().filter(|site| site.class == Class::Cms).collect();
    let script_only = cms.iter().filter(|site| site.is_script_only).count();
    assert_share("script only", script_only, cms.len(), shares.script_only_share);
    let with_room: Vec<&Site> = sites.iter().filter(|site| site.pages >= 4).collect();
    let second = with_room.iter().filter(|site| site.sub_host.is_some()).count();
    assert_share("second host", second, with_room.len(), shares.subdomain_share);
    share_of("base", world.pages.base_share, &|site| site.has_base);
    let with_www: Vec<&Site> = sites.iter().filter(|site| site.bare_host.is_some()).collect();
    let bare = with_www.iter().filter(|site| site.bare_host.as_ref() == Some(&site.start_host)).count();
    assert_share("bare start", bare, with_www.len(), shares.bare_start_share);
}

#[test]
fn lists_take_their_share_of_pages_and_never_more_than_half() {
    let world = world("[sites]\n[copies]\nmirror_share = 0.0\n");
    let sites = sites(&world);
    let of_size = |site: &&Site| matches!(site.class, Class::Cms | Class::Large) && site.pages >= 18;
    let may: Vec<&Site> =
        sites.iter().filter(of_size).filter(|site| site.fault != Some(Fault::Moved)).collect();
    let with: Vec<&&Site> = may.iter().filter(|site| site.lists > 0).collect();
    assert_share("lists", with.len(), may.len(), world.lists.share);
    for site in &sites {
        let listed = site.lists * (1 + world.lists.items);
        let trees = site.main.root().budget + site.sub.as_ref().map_or(0, |tree| tree.root().budget);
        assert!(2 * listed <= site.pages, "{}", site.main_host);
        assert_eq!(listed + trees, site.pages, "{}", site.main_host);
    }
    // On sites of 400 pages the lower half of the distribution is not truncated.
    let large: Vec<&&&Site> = with.iter().filter(|site| site.pages == 400).collect();
    let short = large.iter().filter(|site| site.lists <= 7).count();
    // P(LN(8, 1) < 7.5), rounded lengths.
    assert_share("short lists", short, large.len(), 0.4743);
}

#[test]
fn sizes_of_sites_have_the_median_and_tail_of_their_distribution() {
    let sites = sites(&world("[sites]\n[copies]\nmirror_share = 0.0\n[faults]\nmoved_share = 0.0\n"));
    let class = |class| -> Vec<u64> {
        sites.iter().filter(|site| site.class == class).map(|site| site.pages).collect()
    };
    let below = |pages: &[u64], bound: u64| pages.iter().filter(|pages| **pages <= bound).count();
    let (brochure, cms, large) = (class(Class::Brochure), class(Class::Cms), class(Class::Large));
    // P(LN(12, 0.9) < 12.5) and P(LN(12, 0.9) < 30.5); P(LN(120, 1.3) < 120.5); Pareto(300, 1.1) < 350.5.
    assert_share("brochure median", below(&brochure, 12), brochure.len(), 0.5181);
    assert_share("brochure tail", below(&brochure, 30), brochure.len(), 0.8501);
    assert_share("CMS median", below(&cms, 120), cms.len(), 0.5013);
    assert_share("large", below(&large, 350), large.len(), 0.1574);
    assert!(class(Class::OnePage).iter().all(|pages| *pages == 1));
}

#[test]
fn robots_txt_has_its_kinds() {
    let world = defaults();
    let (sites, shares) = (sites(&world), &world.robots);
    let kind = |robots: Robots| match robots {
        Robots::Missing => 0,
        Robots::Junk => 1,
        Robots::DisallowsSome(_) => 2,
        Robots::DisallowsAll => 3,
        Robots::CrawlDelay(_) => 4,
        Robots::Unavailable => 5,
        Robots::Silent => 6,
        Robots::AllowsAll => 7,
    };
    let expected = with_rest(&[
        shares.missing_share,
        shares.junk_share,
        shares.some_share,
        shares.all_share,
        shares.crawl_delay_share,
        shares.unavailable_share,
        shares.silent_share,
    ]);
    for role in [Role::Main, Role::Sub] {
        let kinds: Vec<i32> = sites.iter().map(|site| kind(site.robots(role))).collect();
        assert_shares("robots.txt", &count(&kinds, &[0, 1, 2, 3, 4, 5, 6]), &expected);
    }
    // 2006: a real file on 40 % of hosts, of which 4 % disallow everything and 80 % a part.
    assert!(
        (1.0 - shares.missing_share
            - shares.junk_share
            - shares.unavailable_share
            - shares.silent_share
            - 0.4)
            .abs()
            < 1e-9
    );
}

#[test]
fn tls_and_its_certificates_have_their_shares() {
    let world = world("[sites]\n[https]\nshare = 0.6\nonly_share = 0.7\n");
    let sites = sites(&world);
    let tls: Vec<Tls> = sites.iter().map(|site| site.tls).filter(|tls| *tls != Tls::None).collect();
    assert_share("TLS", tls.len(), sites.len(), 0.6);
    assert_share(
        "https only",
        tls.iter().filter(|tls| tls.links_itself_with_https()).count(),
        tls.len(),
        0.7,
    );
    let certificates: Vec<Certificate> = tls.iter().filter_map(|tls| tls.certificate()).collect();
    assert_shares(
        "certificates",
        &count(&certificates, &[Certificate::SelfSigned, Certificate::Expired, Certificate::WrongName]),
        &with_rest(&[world.https.self_signed_share, world.https.expired_share, world.https.wrong_name_share]),
    );
}

#[test]
fn doors_are_shut_in_their_shares() {
    let shares = "www_only_share = 0.1\nrefused_80_share = 0.2\nreset_80_share = 0.1\nfront_401_share = 0.02\n\
                  front_403_share = 0.03\nfront_404_share = 0.04\nfront_circle_share = 0.05\n";
    let world = world(&format!("[sites]\n[https]\nshare = 0.6\n[doors]\n{shares}"));
    let sites = sites(&world);
    let with_www: Vec<&Site> = sites.iter().filter(|site| site.bare_host.is_some()).collect();
    let www_only = with_www.iter().filter(|site| site.is_www_only).count();
    assert_share("www only", www_only, with_www.len(), 0.1);
    assert!(sites.iter().all(|site| site.bare_host.is_some() || !site.is_www_only));
    let port_80: Vec<Option<ClosedPort>> = sites
        .iter()
        .filter(|site| site.tls != Tls::None)
        .map(|site| if let Tls::Alone(_, shut) = site.tls { Some(shut) } else { None })
        .collect();
    let kinds = [Some(ClosedPort::Refused), Some(ClosedPort::Reset)];
    assert_shares("port 80", &count(&port_80, &kinds), &with_rest(&[0.2, 0.1]));
    let fronts: Vec<Option<Front>> = sites.iter().map(|site| site.front).collect();
    let kinds = [Front::Status(401), Front::Status(403), Front::Status(404), Front::Circle].map(Some);
    assert_shares("front pages", &count(&fronts, &kinds), &with_rest(&[0.02, 0.03, 0.04, 0.05]));
}

#[test]
fn links_between_sites_die_in_their_shares() {
    let world = plain_world(
        "boilerplate_mean = 50.0\nlinks_page_share = 0.0\ncontent_mean = 0.0\ninside_share = 1.0\n\
         dead_share = 0.2\ndead_name_share = 0.4\ngone_share = 0.3\n",
    );
    let mut urls = Vec::new();
    for index in 0..200 {
        let site = Site::new(&world, index);
        urls.extend(external(&world, &site, &page(&world, &site, &site.main.root())));
    }
    let (dead, gone) = (
        urls.iter().filter(|url| url.target.starts_with("/dead/")).count(),
        urls.iter().filter(|url| url.target.starts_with("/gone/")).count(),
    );
    let nameless = urls.iter().filter(|url| Site::with_host(&world, &url.host).is_none()).count();
    assert_share("dead links", dead + gone + nameless, urls.len(), 0.2);
    assert_share("dead names", nameless, dead + gone + nameless, 0.4);
    assert_share("gone for good", gone, dead + gone, 0.3);
}

#[test]
fn hosts_have_their_kinds_of_dns_records() {
    let world = world("[sites]\n[dns]\nv6_only_share = 0.05\n");
    let records: Vec<Records> = (0..COUNT)
        .filter_map(|index| match world.lookup(&Site::new(&world, index).main_host) {
            Lookup::Found(records) => Some(records),
            _ => None,
        })
        .collect();
    let share_of = |what: &str, share: f64, has: &dyn Fn(&Records) -> bool| {
        assert_share(what, records.iter().filter(|records| has(records)).count(), records.len(), share);
    };
    share_of("aliases", world.dns.alias_share, &|records| records.alias.is_some());
    share_of("IPv6 only", 0.05, &|records| records.v4.is_none());
    share_of("both", world.dns.both_share, &|records| records.v4.is_some() && records.v6.is_some());
    share_of("truncated", world.dns.truncated_share, &|records| records.is_truncated);
    assert!(records.iter().all(|records| records.v4.is_some() || records.v6.is_some()));
}

/// The pages of many trees, with the tree each belongs to.
fn nodes(world: &World, sites: u64) -> Vec<(u64, Tree, Node)> {
    fn below(index: u64, tree: &Tree, node: &Node, found: &mut Vec<(u64, Tree, Node)>) {
        found.push((index, tree.clone(), node.clone()));
        for child in (0..tree.child_count(node)).filter_map(|number| tree.child(node, number)) {
            below(index, tree, &child, found);
        }
    }
    let mut found = Vec::new();
    for index in 0..sites {
        let site = Site::new(world, index);
        below(index, &site.main, &site.main.root(), &mut found);
    }
    found
}

#[test]
fn what_hangs_at_pages_has_its_share_of_pages() {
    let world = world("[sites]\n[copies]\nmirror_share = 0.0\n");
    let nodes = nodes(&world, 400);
    assert!(nodes.len() > 10_000, "{}", nodes.len());
    let (extras, redirects) = (&world.extras, &world.redirects);
    for (kind, share) in [
        (Kind::Script, extras.script_share),
        (Kind::Lost, extras.broken_share),
        (Kind::File, extras.file_share),
        (Kind::Hidden, extras.hidden_share),
        (Kind::Refresh, extras.refresh_share),
        (Kind::Forbidden, extras.forbidden_share),
        (Kind::Error, extras.error_share),
        (Kind::Busy, extras.busy_share),
        (Kind::Cut, extras.cut_share),
        (Kind::Silent, extras.silent_share),
        (Kind::Linked, redirects.linked_share),
        (Kind::Landing, redirects.landing_share),
        (Kind::Away, redirects.external_share),
        (Kind::Loop, redirects.loop_share),
        (Kind::Chain, redirects.chain_share),
    ] {
        let hits = nodes.iter().filter(|(.., node)| has(&world, node, kind)).count();
        assert_share(&format!("{kind:?}"), hits, nodes.len(), share);
    }
    let files: Vec<Extra> = nodes.iter().map(|(.., node)| file_kind(node)).collect();
    let kinds = [Extra::Pdf, Extra::Jpeg, Extra::Png, Extra::Word];
    assert_shares("files", &count(&files, &kinds), &[0.4, 0.3, 0.1, 0.1, 0.1]);
}

#[test]
fn second_names_and_duplicates_have_their_share_of_pages() {
    let world = world("[sites]\n[copies]\nmirror_share = 0.0\n");
    let nodes = nodes(&world, 1500);
    let aliased = nodes
        .iter()
        .filter(|(.., node)| copies::second_name(&world, &node.path, node.key, false).is_some())
        .count();
    assert_share("second names", aliased, nodes.len(), world.copies.alias_share);
    let may: Vec<&Node> = nodes
        .iter()
        .map(|(.., node)| node)
        .filter(|node| node.is_leaf() && node.first_leaf_sibling().is_some())
        .collect();
    let repeats = may.iter().filter(|node| copies::original(&world, node).is_some()).count();
    assert_share("duplicates", repeats, may.len(), world.copies.duplicate_share);
    let of_all = real(repeats as u64) / real(nodes.len() as u64);
    assert!((0.07..0.09).contains(&of_all), "{of_all} of all pages");
}

fn page(world: &World, site: &Site, node: &Node) -> Page {
    let url = site.url(Role::Main, &Resource::Node(node.path.clone()));
    match UrlLocation::find(world, &url).unwrap().content(world) {
        Content::Page(page) => page,
        other => panic!("{url}: {other:?}"),
    }
}

fn external(world: &World, site: &Site, page: &Page) -> Vec<Url> {
    let own =
        |url: &Url| Site::with_host(world, &url.host).is_some_and(|(other, _)| other.index == site.index);
    page.links.iter().map(|link| link.url.clone()).filter(|url| !own(url)).collect()
}

/// Working sites whose front pages have no external links except boilerplate and content links.
fn plain_world(more: &str) -> World {
    world(&format!(
        "[sites]\n[copies]\nmirror_share = 0.0\nduplicate_share = 0.0\n[faults]\nno_dns_share = 0.0\nservfail_share = 0.0\ndns_silent_share = 0.0\nreset_share = 0.0\nsilent_share = 0.0\nforbidden_share = 0.0\nunavailable_share = 0.0\nmoved_share = 0.0\n[external]\n{more}"
    ))
}

#[test]
fn a_sites_own_set_and_its_content_have_their_mean_number_of_links() {
    let world = plain_world(
        "links_page_share = 0.0\nvariant = \"homogeneous\"\ncontent_mean = 0.7\nsilent_share = 0.0\n",
    );
    let sites: Vec<Site> = (0..4000).map(|index| Site::new(&world, index)).collect();
    let links: Vec<usize> = sites
        .iter()
        .map(|site| external(&world, site, &page(&world, site, &site.main.root())).len())
        .collect();
    // The sum of two Poisson variables is a Poisson variable.
    let (mean, of) = (world.external.boilerplate_mean + 0.7, real(sites.len() as u64));
    let sum = real(links.iter().sum::<usize>() as u64);
    assert!((sum - mean * of).abs() < DEVIATIONS * (mean * of).sqrt(), "{sum} for {}", mean * of);
    let none = links.iter().filter(|links| **links == 0).count();
    assert_share("no link", none, links.len(), (-mean).exp());
}

#[test]
fn links_outside_go_where_they_should() {
    let world = plain_world("boilerplate_mean = 50.0\nlinks_page_share = 0.0\ncontent_mean = 0.0\n");
    let mut urls = Vec::new();
    for index in 0..200 {
        let site = Site::new(&world, index);
        urls.extend(external(&world, &site, &page(&world, &site, &site.main.root())));
    }
    let inside: Vec<&Url> = urls.iter().filter(|url| Site::with_host(&world, &url.host).is_some()).collect();
    assert_share("inside", inside.len(), urls.len(), world.external.inside_share);
    let hosts: BTreeSet<&str> = urls.iter().map(|url| url.host.as_str()).collect();
    assert!(hosts.len() > urls.len() / 2, "{} of {}", hosts.len(), urls.len());
}

#[test]
fn a_third_of_the_sites_with_two_pages_has_a_page_of_links() {
    let world = plain_world("content_mean = 0.0\nboilerplate_mean = 0.0\n");
    let with_two = |site: &Site| site.main.root().budget >= 2;
    let sites: Vec<Site> =
        (0..5000).map(|index| Site::new(&world, index)).filter(|site| with_two(site)).collect();
    let with: Vec<&Site> = sites.iter().filter(|site| site.links_page(&world).is_some()).collect();
    assert_share("links pages", with.len(), sites.len(), world.external.links_page_share);
    let long = with.iter().filter(|site| {
        let node = site.main.find(site.links_page(&world).unwrap()).unwrap();
        external(&world, site, &page(&world, site, &node)).len() > 20
    });
    // P(LN(20, 1) > 20.5)
    assert_share("links of links pages", long.count(), with.len(), 0.4902);
}

#[test]
fn links_to_children_are_of_their_elements() {
    let world = plain_world("boilerplate_mean = 0.0\nlinks_page_share = 0.0\ncontent_mean = 0.0\n");
    let links: Vec<Element> = (0..2000)
        .map(|index| Site::new(&world, index))
        .flat_map(|site| page(&world, &site, &site.main.root()).links.into_iter())
        .map(|link| link.element)
        .collect();
    assert!(links.contains(&Element::Area) && links.contains(&Element::Iframe));
}
