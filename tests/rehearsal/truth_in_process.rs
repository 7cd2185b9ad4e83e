//! What a walk finds in a virtual Web space equals the ground truth of the space, without a network between
//! them: so many seeds, deep levels, TLS and servers that never respond cost no time.

use std::sync::Arc;
use std::time::SystemTime;

use ccsurvey::address::{OptOuts, Scope, ScopeRule, SuffixSection, Suffixes, WebUrl};
use ccsurvey::exchange::{Class, Depth, Document, Failure, Purpose, Request, Response};
use ccsurvey::page::{Page, Source};
use ccsurvey::settings::NON_HTML_EXTENSIONS;
use ccsurvey::space::{
    Entrances, FeedBack, Handshake, LevelTruth, Lookup, Reaction, Truth, TruthSettings, Web, World,
};
use ccsurvey::walk::{Content, LevelCount, Step, Tree, Walk, WalkSettings};

const WORLDS: [&str; 18] = [
    include_str!("../../data/demo.toml"),
    include_str!("../worlds/a_site_with_one_page.toml"),
    include_str!("../worlds/a_small_country.toml"),
    include_str!("../worlds/calendars_never_end.toml"),
    include_str!("../worlds/hosts_fail_in_every_way.toml"),
    include_str!("../worlds/lists_go_on_for_pages.toml"),
    include_str!("../worlds/redirects_add_no_depth.toml"),
    include_str!("../worlds/relative_links_loop.toml"),
    include_str!("../worlds/robots_keep_some_pages_back.toml"),
    include_str!("../worlds/scripts_answer_one_query_each.toml"),
    include_str!("../worlds/sessions_and_facets_multiply.toml"),
    include_str!("../worlds/shared_hosting.toml"),
    include_str!("../worlds/sites_speak_tls.toml"),
    include_str!("../worlds/soft_404_hosts_answer_everything.toml"),
    include_str!("../worlds/the_same_page_has_many_names.toml"),
    include_str!("../worlds/traps_end_by_evidence.toml"),
    include_str!("../worlds/links_between_sites_die_and_doors_are_shut.toml"),
    include_str!("../worlds/hosts_tell_what_runs_them.toml"),
];

/// The world of a file with another seed.
fn seeded(text: &str, seed: u64) -> World {
    let (before, rest) = text.split_once("\nseed = ").unwrap();
    let after = rest.split_once('\n').unwrap().1;
    World::parse(&format!("{before}\nseed = {seed}\n{after}")).unwrap()
}

fn walk_response(world: &World, request: &Request) -> (Response, Content) {
    let (url, host) = (&request.url, request.url.host().as_str());
    let failed_with = |address, failure| {
        (Response::not_sent(SystemTime::UNIX_EPOCH, address, failure, None), Content::Nothing)
    };
    match world.lookup(host) {
        Lookup::NoSuchName => return failed_with(None, Failure::DnsNxdomain),
        Lookup::ServerFailure => return failed_with(None, Failure::DnsServfail),
        Lookup::Silence => return failed_with(None, Failure::DnsTimeout),
        Lookup::Found(records) if records.has_address() => {}
        Lookup::Found(_) => return failed_with(None, Failure::DnsNoAddress),
        Lookup::Alias(_) | Lookup::Turns(_) | Lookup::Odd(..) => panic!("{host} is hostile"),
    }
    let address = world.server(host).map(|server| server.address);
    if url.is_https() && world.handshake(host) == Handshake::Closed {
        return failed_with(address, Failure::TlsHandshake);
    }
    let response = match world.respond(url.is_https(), host, url.target()) {
        Reaction::Acts(_) => panic!("{url} is hostile"),
        Reaction::NoSuchHost => panic!("{url} has an address and is no host"),
        Reaction::Refused | Reaction::Reset => return failed_with(address, Failure::Reset),
        Reaction::Silence => return failed_with(address, Failure::FirstByteTimeout),
        Reaction::Response(response) => response,
    };
    let (mut walk_response, _) = failed_with(address, Failure::Reset);
    let body = response.identity_body().into_owned();
    let body = &body[..response.cut_after.unwrap_or(body.len())];
    walk_response.failure = response.cut_after.map(|_| Failure::BodyTruncated);
    walk_response.status = Some(response.status);
    walk_response.head.location = response.location;
    walk_response.head.content_type = response.content_type.map(Into::into);
    let content_type = walk_response.head.content_type.as_deref();
    let content = match request.purpose {
        Purpose::Robots => Content::Robots(body.to_vec()),
        _ if walk_response.is_success() && Document::detect(content_type, body).is_some() => {
            Content::Page(Box::new(Page::read(Source { body, url, content_type, robots_tag: None })))
        }
        _ => Content::Nothing,
    };
    (walk_response, content)
}

fn walk_site(world: &World, start: &str, depth: u16, suffixes: &Arc<Suffixes>) -> Tree {
    let start = WebUrl::parse(start).unwrap();
    let scope = Scope::new(start.host(), ScopeRule::Site, Arc::clone(suffixes));
    let settings = Arc::new(WalkSettings { depth: Depth(depth), ..WalkSettings::default() });
    let mut walk = Walk::new(settings, scope, Arc::new(OptOuts::default()), start, Default::default());
    loop {
        match walk.poll(SystemTime::UNIX_EPOCH) {
            Step::Request(request, _) => {
                walk.begin(&request);
                let (walk_response, content) = walk_response(world, &request);
                walk.handle(request.number, walk_response, content);
            }
            Step::Wait => panic!("nothing is in flight"),
            Step::RoundOver => panic!("there are no rounds"),
            Step::Done => return walk.conclude().0,
        }
    }
}

fn level_truth(site: &str, depth: usize, level: &LevelCount) -> LevelTruth {
    LevelTruth {
        site: site.to_owned(),
        seed: 0,
        depth: u16::try_from(depth).unwrap(),
        requests: level.requests,
        pages: level.pages,
        internal_urls: level.internal_urls(),
        external_urls: level.external_urls,
        external_hosts: level.external_hosts,
        external_sites: level.external_sites,
        fetched: level.class(Class::Fetched),
        not_fetched_robots: level.class(Class::Robots),
        not_fetched_robots_unreachable: level.class(Class::RobotsUnreachable),
        not_fetched_nofollow: level.class(Class::Nofollow),
        not_fetched_filtered: level.class(Class::Filtered),
        not_fetched_script: level.class(Class::Script),
        not_fetched_depth: level.class(Class::Depth),
        not_fetched_limit: level.class(Class::Limit),
        not_fetched_trap: level.class(Class::Trap),
        not_fetched_mirror: level.class(Class::Mirror),
        not_fetched_opt_out: level.class(Class::OptOut),
        not_fetched_redirects: level.class(Class::Redirects),
        not_fetched_refused: level.class(Class::Refused),
        shared_robots: level.shared_robots,
    }
}

fn suffixes() -> Arc<Suffixes> {
    let list = include_str!("../../data/public_suffix_list.dat");
    Arc::new(Suffixes::parse(list, SuffixSection::Icann).unwrap())
}

fn check(world: &World, depth: u16, what: &str) {
    let suffixes = suffixes();
    let settings = TruthSettings {
        depth,
        feed_back: FeedBack::Off,
        entrances: Entrances::default(),
        start: world.start_urls(),
        queries_per_script: 1,
        non_html_extensions: NON_HTML_EXTENSIONS.map(str::to_owned).to_vec(),
        trap_levels: WalkSettings::default().trap_levels,
        suffixes: Arc::clone(&suffixes),
    };
    let truth = Truth::compute(world, &settings);
    for site in &truth.sites {
        let tree = walk_site(world, &site.start_url, depth, &suffixes);
        let expected: Vec<&LevelTruth> =
            truth.levels.iter().filter(|level| level.site == site.site).collect();
        let levels =
            tree.levels.iter().enumerate().map(|(depth, level)| level_truth(&site.site, depth, level));
        let levels: Vec<LevelTruth> = levels.filter(|level| level.internal_urls > 0).collect();
        assert_eq!(levels.iter().collect::<Vec<_>>(), expected, "{what}: {}", site.start_url);
        let requests = tree.robots.requests + tree.sum(|level| level.requests);
        assert_eq!(
            (
                tree.outcome.as_str(),
                tree.trap_patterns.join(" "),
                requests,
                tree.deepest().map(|depth| depth.0),
                tree.entrance.map(|entrance| entrance.as_str()),
                tree.entrances
            ),
            (
                site.outcome.as_str(),
                site.trap_pattern.clone().unwrap_or_default(),
                site.requests,
                site.deepest,
                site.entrance.as_deref(),
                site.entrances
            ),
            "{what}: {}",
            site.start_url
        );
        let links: Vec<String> = tree.externals.iter().map(|link| link.url.canonical()).collect();
        let expected = truth.links.iter().filter(|link| link.site == site.site);
        let mut expected: Vec<String> = expected.map(|link| link.url.clone()).collect();
        let mut links = links;
        links.sort();
        expected.sort();
        assert_eq!(links, expected, "{what}: {}", site.start_url);
    }
}

#[test]
fn every_world_is_told_by_its_truth_under_several_seeds() {
    for (number, text) in WORLDS.iter().enumerate() {
        for seed in 1..=5 {
            check(&seeded(text, seed), 8, &format!("world {number}, seed {seed}"));
        }
    }
}

#[test]
fn deep_surveys_are_told_too() {
    for (number, text) in WORLDS.iter().enumerate() {
        check(&seeded(text, 6), 20, &format!("world {number}, depth 20"));
    }
}

#[test]
fn many_pages_in_a_row_that_never_come_end_the_walk() {
    let text = include_str!("../worlds/a_small_country.toml");
    assert!(text.contains("[extras]\n"));
    let text = text.replacen("silent_share = 0.0", "silent_share = 0.9", 1);
    for seed in 1..=10 {
        check(&seeded(&text, seed), 8, &format!("silent, seed {seed}"));
    }
}

fn truth(world: &World, trap_levels: Option<u16>) -> Truth {
    let settings = TruthSettings {
        non_html_extensions: NON_HTML_EXTENSIONS.map(str::to_owned).to_vec(),
        depth: 8,
        feed_back: FeedBack::Off,
        entrances: Entrances::default(),
        start: world.start_urls(),
        queries_per_script: 1,
        trap_levels,
        suffixes: suffixes(),
    };
    Truth::compute(world, &settings)
}

/// A profile with this number of sites, with or without traps.
fn profile(name: &str, sites: u64, traps: &str) -> World {
    World::parse(&format!("profile = '{name}'\nseed = 3\n[sites]\ncount = {sites}\n{traps}")).unwrap()
}

const NO_TRAPS: &str = "[traps]\ncalendar_share = 0.0\nloop_share = 0.0\nsession_share = 0.0\n\
                        facet_share = 0.0\nsoft_404_share = 0.0\n";

/// Pages of the profiles are read as servers send them on some sites, because near duplicates show only in
/// their text; the model supplies the rest.
#[test]
fn no_site_is_taken_for_a_trap_where_there_is_none() {
    for name in ["africa-2006", "cctld-2026"] {
        check(&profile(name, 25, NO_TRAPS), 8, name);
        let world = profile(name, 400, NO_TRAPS);
        let (with_trap_rule, without_trap_rule) = (truth(&world, Some(3)), truth(&world, None));
        assert!(
            with_trap_rule.sites.iter().all(|site| site.outcome != "trap" && site.trap_pattern.is_none())
        );
        assert!(with_trap_rule == without_trap_rule, "{name}");
    }
}

#[test]
fn traps_end_by_evidence_with_their_patterns_named_and_without_losing_an_external_url() {
    let world = World::parse(WORLDS[15]).unwrap();
    let (with_trap_rule, without_trap_rule) = (truth(&world, Some(3)), truth(&world, None));
    let patterns: Vec<&str> = with_trap_rule
        .sites
        .iter()
        .filter_map(|site| site.trap_pattern.as_deref())
        .flat_map(|all| all.split(' '))
        .collect();
    for trap in ["/calendar/#/**", "/sid-#/**", "/shop/**", "/(news/items)/**"] {
        assert!(patterns.iter().any(|pattern| pattern.ends_with(trap)), "{trap} {patterns:?}");
    }
    assert_eq!(with_trap_rule.links, without_trap_rule.links);
    let requests = |truth: &Truth| truth.sites.iter().map(|site| site.requests).sum::<u64>();
    assert!(
        requests(&with_trap_rule) * 2 < requests(&without_trap_rule),
        "{} {}",
        requests(&with_trap_rule),
        requests(&without_trap_rule)
    );
    assert!(with_trap_rule.sites.iter().all(|site| site.requests < 800), "a shop alone has a thousand");
}

#[test]
fn pages_with_cut_excerpts_are_read_in_the_charset_that_they_are_in() {
    let world = r"
        [pages]
        utf8_share = 1.0
        windows_1252_share = 0.0
        windows_1256_share = 0.0
        undeclared_share = 0.0
        wrong_charset_share = 0.0
        missing_charset_share = 1.0
        cut_excerpt_share = 1.0
    ";
    let world = World::parse(world).unwrap();
    let mut pages = 0;
    for start in world.start_urls() {
        let url = WebUrl::parse(&start).unwrap();
        let request = Request { number: 0, url, purpose: Purpose::Page, depth: Some(Depth(0)) };
        if let (_, Content::Page(page)) = walk_response(&world, &request) {
            assert_eq!(page.charset, "UTF-8", "{start}");
            pages += 1;
        }
    }
    assert!(pages >= 50, "{pages}");
}
