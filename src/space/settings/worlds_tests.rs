use std::collections::BTreeSet;

use crate::address::{Host, WebUrl};
use crate::model::site::Site;
use crate::truth::tests::{SUFFIXES, settings};
use crate::web::Server;
use crate::{
    Entrances, FeedBack, Handshake, LevelTruth, Reaction, Truth, TruthSettings, Web, World, describe,
};

const WORLDS: [(&str, &str); 17] = [
    ("demo", include_str!("../../../data/demo.toml")),
    ("one page", include_str!("../../../tests/worlds/a_site_with_one_page.toml")),
    ("scripts", include_str!("../../../tests/worlds/scripts_answer_one_query_each.toml")),
    ("robots", include_str!("../../../tests/worlds/robots_keep_some_pages_back.toml")),
    ("redirects", include_str!("../../../tests/worlds/redirects_add_no_depth.toml")),
    ("small country", include_str!("../../../tests/worlds/a_small_country.toml")),
    ("shared hosting", include_str!("../../../tests/worlds/shared_hosting.toml")),
    ("calendars", include_str!("../../../tests/worlds/calendars_never_end.toml")),
    ("loops", include_str!("../../../tests/worlds/relative_links_loop.toml")),
    ("sessions and facets", include_str!("../../../tests/worlds/sessions_and_facets_multiply.toml")),
    ("lists", include_str!("../../../tests/worlds/lists_go_on_for_pages.toml")),
    ("soft 404", include_str!("../../../tests/worlds/soft_404_hosts_answer_everything.toml")),
    ("many names", include_str!("../../../tests/worlds/the_same_page_has_many_names.toml")),
    ("failing", include_str!("../../../tests/worlds/hosts_fail_in_every_way.toml")),
    ("tls", include_str!("../../../tests/worlds/sites_speak_tls.toml")),
    ("facts", include_str!("../../../tests/worlds/hosts_tell_what_runs_them.toml")),
    ("doors", include_str!("../../../tests/worlds/links_between_sites_die_and_doors_are_shut.toml")),
];

fn world(name: &str) -> World {
    let text = WORLDS.iter().find(|(known, _)| *known == name).unwrap().1;
    World::parse(text).unwrap()
}

fn truth(world: &World, depth: u16) -> Truth {
    Truth::compute(world, &settings(world, depth))
}

fn requests(truth: &Truth) -> u64 {
    truth.sites.iter().map(|site| site.requests).sum()
}

fn left(truth: &Truth, of: fn(&LevelTruth) -> u64) -> u64 {
    truth.levels.iter().map(of).sum()
}

#[test]
fn every_world_registers_its_sites_below_public_suffixes() {
    for (name, text) in WORLDS {
        let world = World::parse(text).unwrap();
        assert!(world.registry_suffixes.iter().all(|suffix| SUFFIXES.is_icann_suffix(suffix)), "{name}");
        for site in (0..world.sites.count).map(|index| Site::new(&world, index)) {
            let domain = Host::parse(site.bare_host.as_deref().unwrap_or(&site.main_host)).unwrap();
            assert_eq!(SUFFIXES.registrable(&domain), Some(domain), "{name}");
        }
    }
}

#[test]
fn a_site_with_one_page_costs_two_requests() {
    let truth = truth(&world("one page"), 8);
    assert_eq!((truth.sites.len(), requests(&truth), truth.sites[0].pages), (1, 2, 1));
    assert!(truth.sites[0].external_urls > 0);
}

#[test]
fn scripts_answer_one_query_each() {
    let truth = truth(&world("scripts"), 8);
    assert!(left(&truth, |level| level.not_fetched_script) > left(&truth, |level| level.fetched));
}

#[test]
fn robots_keep_some_pages_back() {
    let truth = truth(&world("robots"), 8);
    assert!(left(&truth, |level| level.not_fetched_robots) > 20);
    assert!(left(&truth, |level| level.not_fetched_robots_unreachable) > 1);
    assert!(truth.sites.iter().any(|site| site.outcome == "robots"));
    assert!(truth.levels.iter().any(|level| level.depth == 1 && level.not_fetched_robots_unreachable > 0));
}

#[test]
fn redirects_add_no_depth() {
    let truth = truth(&world("redirects"), 8);
    assert!(left(&truth, |level| level.not_fetched_redirects) > 3);
    assert!(truth.links.iter().any(|link| link.element == "redirect"));
}

#[test]
fn a_small_country_is_about_six_hundred_requests() {
    let truth = truth(&world("small country"), 8);
    assert!((30..=45).contains(&truth.sites.len()), "{}", truth.sites.len());
    assert!((450..=750).contains(&requests(&truth)), "{}", requests(&truth));
    assert!(truth.sites.iter().any(|site| site.generation > 0));
}

#[test]
fn shared_hosting_has_two_addresses() {
    let world = world("shared hosting");
    let hosts = (0..20).map(|index| Site::new(&world, index).main_host);
    let addresses: BTreeSet<_> = hosts.map(|host| Server::for_host(&world, &host).address).collect();
    assert_eq!(addresses.len(), 2);
}

#[test]
fn calendars_end_with_the_depth_of_the_survey() {
    for depth in [4, 12] {
        let truth = truth(&world("calendars"), depth);
        assert!(truth.sites.iter().all(|site| site.outcome == "depth" && site.deepest == Some(depth)));
        let last = truth.levels.iter().filter(|level| level.depth == depth && depth == 12);
        last.for_each(|level| assert_eq!((level.fetched, level.pages), (4, 4), "{level:?}"));
    }
}

#[test]
fn relative_links_are_a_trap_at_the_fourth_round() {
    let truth = truth(&world("loops"), 20);
    let traps = |depth| {
        truth.levels.iter().filter(move |level| level.depth == depth).map(|level| level.not_fetched_trap)
    };
    assert_eq!(traps(8).sum::<u64>(), truth.sites.len() as u64);
    assert_eq!(left(&truth, |level| level.not_fetched_trap), truth.sites.len() as u64);
    assert!(truth.sites.iter().all(|site| site.outcome == "trap" && site.deepest >= Some(7)));
}

#[test]
fn sessions_grow_by_as_many_pages_a_level_and_facets_end() {
    let [short, long] = [20, 40].map(|depth| truth(&world("sessions and facets"), depth));
    let at = |truth: &Truth, from: u16| -> u64 {
        let levels = truth.levels.iter().filter(|level| (from..from + 10).contains(&level.depth));
        levels.map(|level| level.fetched).sum()
    };
    assert!(at(&long, 11) > 0);
    assert_eq!(at(&long, 11), at(&long, 31));
    assert_eq!(at(&short, 11), at(&long, 11));
    let world = world("sessions and facets");
    let shop = (0..world.sites.count)
        .map(|index| Site::new(&world, index))
        .find(|site| site.traps.facets && !site.traps.sessions)
        .unwrap();
    let shop = short.sites.iter().find(|site| site.start_url.ends_with(&format!("//{}/", shop.start_host)));
    assert_eq!(shop.map(|site| (site.outcome.as_str(), site.pages >= 27)), Some(("complete", true)));
}

#[test]
fn lists_are_deeper_than_trees() {
    let truth = truth(&world("lists"), 30);
    assert!(truth.sites.iter().any(|site| site.deepest > Some(8)));
    assert!(left(&truth, |level| level.not_fetched_script) > 0);
}

#[test]
fn soft_404_hosts_have_a_page_at_every_broken_link() {
    let [soft, hard] = ["soft_404_share = 1.0", "soft_404_share = 0.0"].map(|share| {
        let text = WORLDS.iter().find(|(known, _)| *known == "soft 404").unwrap().1;
        truth(&World::parse(&text.replace("soft_404_share = 1.0", share)).unwrap(), 8)
    });
    let pages = |truth: &Truth| truth.sites.iter().map(|site| site.pages).sum::<u64>();
    assert_eq!(requests(&soft), requests(&hard));
    assert!(pages(&soft) > pages(&hard) + 10, "{} {}", pages(&soft), pages(&hard));
}

#[test]
fn the_same_page_has_many_names() {
    let world = world("many names");
    let truth = truth(&world, 8);
    let drawn: u64 = (0..world.sites.count).map(|index| Site::new(&world, index).pages).sum();
    let pages: u64 = truth.sites.iter().map(|site| site.pages).sum();
    assert!(pages > drawn * 5 / 4, "{pages} {drawn}");
    assert!((0..world.sites.count).any(|index| Site::new(&world, index).content_index != index));
}

#[test]
fn hosts_fail_in_every_way() {
    let world = world("failing");
    let drawn = &describe(&world)["drawn"];
    for fault in ["no_dns", "servfail", "dns_silent", "reset", "silent", "forbidden", "unavailable", "moved"]
    {
        assert!(drawn[fault].as_u64() > Some(0), "{fault}");
    }
    let truth = truth(&world, 8);
    for outcome in ["complete", "moved", "no_page", "unreachable"] {
        assert!(truth.sites.iter().any(|site| site.outcome == outcome), "{outcome}");
    }
    assert!(truth.sites.iter().all(|site| site.outcome != "complete" || site.pages > 0));
}

#[test]
fn a_site_with_https_only_costs_a_redirect_for_robots_txt_and_one_for_its_start_url() {
    let (world, plain) = (world("tls"), WORLDS.iter().find(|(known, _)| *known == "tls").unwrap().1);
    let plain = World::parse(&plain.replace("share = 0.7", "share = 0.0")).unwrap();
    let off = |world: &World| {
        let settings = TruthSettings { feed_back: FeedBack::Off, ..settings(world, 8) };
        Truth::compute(world, &settings)
    };
    let (with, without) = (off(&world), off(&plain));
    let only = (0..world.sites.count).map(|index| Site::new(&world, index)).find(|site| {
        let is_simple = site.bare_host.is_none() && site.sub_host.is_none();
        site.is_in_start_list && is_simple && site.tls.links_itself_with_https()
    });
    let start = only.map(|site| format!("http://{}/", site.start_host)).unwrap();
    let requests = |truth: &Truth| {
        let site = truth.sites.iter().find(|site| site.start_url == start);
        site.map(|site| (site.requests, site.pages)).unwrap()
    };
    let ((with, pages), (without, same_pages)) = (requests(&with), requests(&without));
    assert_eq!(pages, same_pages);
    assert!(with >= without + 2, "{with} {without}");
}

/// Whether a URL leads to a page, from the view of a person with a browser.
fn opens(world: &World, url: &str) -> bool {
    let mut url = WebUrl::parse(url).unwrap();
    for _ in 0..10 {
        let host = url.host().as_str();
        if world.server(host).is_none() || (url.is_https() && world.handshake(host) == Handshake::Closed) {
            return false;
        }
        let Reaction::Response(answer) = world.respond(url.is_https(), host, url.target()) else {
            return false;
        };
        match answer.location {
            Some(location) => url = url.join(&location).unwrap(),
            None => return answer.status == 200,
        }
    }
    false
}

#[test]
fn links_between_sites_die_and_doors_are_shut() {
    let world = world("doors");
    let sites: Vec<Site> = (0..world.sites.count).map(|index| Site::new(&world, index)).collect();
    let open_doors = |site: &Site| {
        let bare = site.bare_host.as_deref().unwrap_or(&site.main_host);
        let names = [bare.to_owned(), format!("www.{bare}")].into_iter();
        let doors = names.flat_map(|name| ["http", "https"].map(|scheme| format!("{scheme}://{name}/")));
        doors.filter(|door| opens(&world, door)).count()
    };
    let with_one = sites.iter().filter(|site| open_doors(site) == 1).count();
    assert!((25..=35).contains(&with_one), "{with_one} of {}", sites.len());
    assert!(world.start_urls().iter().any(|url| !opens(&world, url)));
    let is_shut = |site: &Site| site.fault.is_none() && open_doors(site) == 0;
    let is_open_below = |site: &&Site| {
        ["http", "https"]
            .iter()
            .any(|scheme| opens(&world, &format!("{scheme}://{}/part-0.html", site.main_host)))
    };
    let below = sites.iter().filter(|site| is_shut(site)).filter(is_open_below).count();
    assert!((8..=25).contains(&below), "{below} of {}", sites.len());
    let described = describe(&world);
    let drawn = &described["drawn"];
    for kind in ["www_only", "refused_80", "reset_80", "front_401", "front_403", "front_404", "front_circle"]
    {
        assert!(drawn[kind].as_u64() > Some(0), "{kind}");
    }
    let truth = truth(&world, 8);
    let inside: Vec<&str> =
        truth.links.iter().filter(|link| link.in_survey).map(|link| link.url.as_str()).collect();
    let is_dead = |url: &&&str| {
        let url = WebUrl::parse(url).unwrap();
        let former = ["old.", "home.", "members.", "archive."];
        let is_former = former.iter().any(|label| url.host().as_str().starts_with(label));
        is_former || url.path().starts_with("/dead/") || url.path().starts_with("/gone/")
    };
    let dead = inside.iter().filter(is_dead).count();
    assert!((inside.len() / 14..inside.len() / 7).contains(&dead), "{dead} of {}", inside.len());
}

#[test]
fn a_site_that_does_not_open_at_once_is_entered_by_its_doors_or_by_a_later_link() {
    let world = world("doors");
    let first_url = TruthSettings { entrances: Entrances::UpTo(1), ..settings(&world, 8) };
    let (told, before) = (truth(&world, 8), Truth::compute(&world, &first_url));
    let entrances = ["offered", "front_page", "other_scheme", "other_name", "other_name_other_scheme"];
    for entrance in entrances {
        let rows = told.sites.iter().filter(|row| row.entrance.as_deref() == Some(entrance));
        assert!(rows.count() > 0, "{entrance}");
    }
    assert!(told.sites.iter().any(|row| row.seed > 0 && row.pages > 0), "a later link opens a site");
    assert!(told.sites.iter().all(|row| row.seed < 3 && (1..=4).contains(&row.entrances)));
    let found = |truth: &Truth| -> BTreeSet<String> {
        truth.sites.iter().filter(|row| row.entrance.is_some()).map(|row| row.site.clone()).collect()
    };
    let reachable: BTreeSet<String> =
        told.sites.iter().filter(|row| row.reachable).map(|row| row.site.clone()).collect();
    assert_eq!(found(&told), reachable);
    assert!(
        found(&before).len() * 5 < reachable.len() * 4,
        "{} of {}",
        found(&before).len(),
        reachable.len()
    );
    assert!(before.sites.iter().all(|row| (row.seed, row.entrances) == (0, 1)));
    assert!(before.sites.iter().any(|row| row.reachable && row.entrance.is_none()));
}

#[test]
fn all_four_doors_of_every_site_are_asked_where_that_is_wanted() {
    let world = world("doors");
    let all = TruthSettings { entrances: Entrances::All, ..settings(&world, 8) };
    let (told, usual) = (Truth::compute(&world, &all), truth(&world, 8));
    let opened = |truth: &Truth| -> Vec<(String, Option<String>)> {
        let rows = truth.sites.iter().filter(|row| row.entrance.is_some());
        rows.map(|row| (row.site.clone(), row.entrance.clone())).collect()
    };
    assert_eq!(opened(&told), opened(&usual));
    assert!(requests(&told) > requests(&usual));
    let most = told.sites.iter().map(|row| row.entrances).max();
    assert!(most > Some(4) && most <= Some(8), "{most:?}");
}

#[test]
fn the_demo_has_everything_that_a_survey_meets() {
    let world = world("demo");
    let truth = truth(&world, 8);
    assert!((6_000..9_000).contains(&requests(&truth)), "{}", requests(&truth));
    assert!((150..=200).contains(&truth.sites.len()), "{}", truth.sites.len());
    for outcome in ["complete", "depth", "robots", "moved", "no_page", "unreachable"] {
        assert!(truth.sites.iter().any(|site| site.outcome == outcome), "{outcome}");
    }
    for entrance in ["offered", "front_page", "other_name"] {
        assert!(truth.sites.iter().any(|site| site.entrance.as_deref() == Some(entrance)), "{entrance}");
    }
    assert!(truth.sites.iter().any(|site| site.generation >= 2), "generations");
    assert!(left(&truth, |level| level.not_fetched_nofollow) > 0);
    assert!(left(&truth, |level| level.not_fetched_script) > 0);
    let drawn = &describe(&world)["drawn"];
    for kind in [
        "no_dns",
        "servfail",
        "reset",
        "forbidden",
        "unavailable",
        "moved",
        "www_only",
        "front_401",
        "front_403",
        "front_404",
        "front_circle",
        "with_second_host",
        "script_only",
        "with_lists",
        "mirrors",
        "with_calendar",
        "with_relative_loop",
        "with_sessions",
        "with_facets",
        "with_soft_404",
    ] {
        assert!(drawn[kind].as_u64() > Some(0), "{kind}");
    }
    assert!(left(&truth, |level| level.not_fetched_trap) > 0);
}

#[test]
fn a_description_names_every_key_with_unit_and_meaning() {
    let described = describe(&world("demo"));
    let keys = described["keys"].as_array().unwrap();
    assert!(keys.len() > 80, "{}", keys.len());
    let count = keys.iter().find(|key| key["key"] == "sites.count").unwrap();
    assert_eq!((count["unit"].as_str(), count["default"].as_str()), (Some("sites"), Some("100")));
    assert_eq!(count["allowed"], "1..=1000000");
    assert!(keys.iter().all(|key| key["meaning"].as_str().is_some_and(|text| text.ends_with('.'))));
}
