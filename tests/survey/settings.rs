//! The effect of the settings of a survey, seen in its tables and by its servers.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccsurvey::address::WebUrl;
use ccsurvey::analysis::{Censoring, Recorded, TreeEnd};
use ccsurvey::exchange::Class;
use ccsurvey::frontier::{Frontier, Spread};
use ccsurvey::records::{ExchangeRow, LevelRow, LinkRow, ServerRow, SiteRow, read_opt_outs};
use ccsurvey::settings::{DepthRule, FeedBackRule, Settings, Size, Span};
use ccsurvey::space::{Access, FeedBack, GEO_DATABASE};
use ccsurvey::survey::{Snapshot, Survey, smallest_budgets};

use crate::common::waiting::until;
use crate::common::{Space, Surveyed, pages_by_site};

fn count_outcome(sites: &[SiteRow], outcome: &str) -> usize {
    sites.iter().filter(|site| site.outcome == outcome).count()
}

#[test]
fn no_request_budget_is_exceeded_and_what_is_left_is_counted() {
    let space = Space::serve("a_small_country");
    for per_site in [1, 4] {
        let settings =
            Settings { max_requests: Some(7), per_site, per_address: per_site, ..space.settings() };
        let tables = space.survey(settings).tables();
        assert!(tables.sites.iter().all(|site| site.requests <= 7));
        assert!(count_outcome(&tables.sites, "request_budget") > 5);
        assert!(tables.levels.iter().map(|level| level.classes[Class::Limit]).sum::<u64>() > 50);
        assert!(tables.levels.iter().all(LevelRow::reconciles));
    }
}

#[test]
fn no_byte_budget_is_exceeded() {
    let world = include_str!("../worlds/a_small_country.toml");
    let space = Space::from_toml(&world.replace("bytes_median = 1000.0", "bytes_median = 40000.0"));
    let smallest_budgets = smallest_budgets(&space.settings()).bytes.0;
    let budget = smallest_budgets + 100_000;
    let tables = space.survey(Settings { max_bytes: Some(Size(budget)), ..space.settings() }).tables();
    assert!(count_outcome(&tables.sites, "byte_budget") > 3);
    for site in &tables.sites {
        assert!(site.sent_bytes + site.received_bytes <= budget, "{} {}", site.site, site.received_bytes);
    }
    // The amount that a single request may cost remains unspent.
    assert!(tables.sites.iter().any(|site| site.received_bytes > 100_000));
}

#[test]
fn a_time_budget_ends_a_site_that_is_asked_slowly() {
    let space = Space::serve("a_small_country");
    let settings = Settings {
        min_delay: Span(Duration::from_millis(40)),
        max_delay: Span(Duration::from_millis(40)),
        max_time: Some(Span(Duration::from_millis(200))),
        ..space.settings()
    };
    let tables = space.survey(settings).tables();
    assert!(count_outcome(&tables.sites, "time_budget") > 3);
}

#[test]
fn opted_out_names_and_networks_are_never_contacted() {
    let space = Space::serve("a_small_country");
    let truth = space.truth(8, FeedBack::Link);
    let usual = space.survey(space.settings());
    // Of a site at more addresses than one, what leads to the network may lie outside it.
    let exchanges = usual.rows::<ExchangeRow>();
    let has_one_address = |site: &SiteRow| {
        exchanges.iter().filter(|row| row.site == site.site).all(|row| row.address == site.address)
    };
    let sites = usual.rows::<SiteRow>().into_iter();
    let larger_sites: Vec<SiteRow> = sites.filter(|site| site.pages > 1 && has_one_address(site)).collect();
    let (by_name, by_network) =
        (&larger_sites[0], larger_sites.iter().find(|site| site.address != larger_sites[0].address).unwrap());
    let network = by_network.address.clone().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("opt-out.txt");
    std::fs::write(&list, format!("{}\n{network}/32\n", by_name.site)).unwrap();

    let before = space.accesses().len();
    let surveyed = space.survey(Settings { opt_out: Some(list), ..space.settings() });
    let log = space.accesses().split_off(before);
    assert!(log.len() > 100);
    for access in log {
        assert!(!access.host.ends_with(&by_name.site), "{}", access.host);
        assert_ne!(access.address.map(|address| address.to_string()), Some(network.clone()));
    }
    let sites = surveyed.rows::<SiteRow>();
    assert!(sites.len() <= truth.sites.len());
    for opted_out in [&by_name.site, &by_network.site] {
        let row = sites.iter().find(|site| site.site == *opted_out).unwrap();
        assert_eq!((row.outcome.as_str(), row.requests), ("opt_out", 0), "{opted_out}");
    }
}

#[test]
fn no_server_bears_more_requests_than_its_share() {
    let space = Space::serve("a_small_country");
    let mut settings = space.settings();
    settings.budgets.server.in_all.requests = Some(20);
    let tables = space.survey(settings).tables();
    let mut requests_by_server: HashMap<String, u32> = HashMap::new();
    for access in space.accesses() {
        *requests_by_server.entry(access.address.unwrap().to_string()).or_default() += 1;
    }
    assert!(requests_by_server.values().all(|requests| *requests <= 20), "{requests_by_server:?}");
    assert!(requests_by_server.values().filter(|requests| **requests == 20).count() > 3);
    let spent = |row: &&ExchangeRow| row.failure.as_deref() == Some("server_budget");
    assert!(tables.exchanges.iter().filter(spent).all(|row| row.sent_bytes == 0));
    assert!(count_outcome(&tables.sites, "request_budget") > 3);
    assert!(tables.levels.iter().all(LevelRow::reconciles));
}

/// A survey whose opt-out list is changed once the servers have seen enough.
fn survey_with_a_list_that_changes(
    space: &Space,
    list: &Path,
    has_seen: impl Fn() -> bool + Sync,
    change: impl Fn() + Sync,
) -> Surveyed {
    let min_delay = Span(Duration::from_millis(60));
    let settings = Settings { min_delay, opt_out: Some(list.to_owned()), ..space.settings() };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            until(&has_seen);
            change();
        });
        space.survey(settings)
    })
}

/// The site with the most requests in a survey, and a folder with a list, `opt-out.txt`, of that site.
fn opted_out(space: &Space) -> (String, tempfile::TempDir) {
    let sites = space.survey(space.settings()).rows::<SiteRow>();
    let largest = sites.iter().max_by_key(|site| site.requests).unwrap().site.clone();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("opt-out.txt"), format!("{largest}\n")).unwrap();
    (largest, folder)
}

/// A network file system or an editor leaves the list like this for a moment; here it stays so.
#[test]
fn a_list_that_cannot_be_read_any_more_stays_in_force_and_does_not_end_the_survey() {
    let space = Space::serve("a_small_country");
    let (largest, folder) = opted_out(&space);
    let list = folder.path().join("opt-out.txt");
    let before = space.accesses().len();
    let replace = || {
        std::fs::remove_file(&list).unwrap();
        std::fs::create_dir(&list).unwrap();
    };
    let surveyed =
        survey_with_a_list_that_changes(&space, &list, || space.accesses().len() > before + 5, replace);
    assert!(surveyed.ending.is_finished);
    let problem = Snapshot::load(&surveyed.dir()).unwrap().unwrap().opt_out_problem.unwrap();
    assert!(problem.contains("opt-out.txt: ") && problem.ends_with("its entries stay in force"), "{problem}");
    let later = space.accesses().split_off(before);
    assert!(later.iter().all(|access| !access.host.ends_with(largest.as_str())));
}

#[test]
fn who_opts_out_while_a_survey_runs_is_left_alone_from_then_on() {
    let space = Space::serve("a_small_country");
    let usual = space.survey(space.settings());
    let sites = usual.rows::<SiteRow>();
    let largest = sites.iter().max_by_key(|site| site.requests).unwrap().site.clone();
    let of_largest = |access: &Access| access.host.ends_with(largest.as_str());
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("opt-out.txt");
    std::fs::write(&list, "nobody.ke\n").unwrap();

    let before = space.accesses().len();
    let is_asked = || space.accesses().iter().skip(before).any(of_largest);
    // An invalid line does not weaken the other entries, and is reported.
    let text = format!("whoever it was\n{largest} 2026-11-21 # by mail\n");
    let surveyed =
        survey_with_a_list_that_changes(&space, &list, is_asked, || std::fs::write(&list, &text).unwrap());
    let problem = Snapshot::load(&surveyed.dir()).unwrap().unwrap().opt_out_problem.unwrap();
    assert!(problem.contains("line 1: 'it' is not a date"), "{problem}");
    let records = read_opt_outs(&surveyed.dir().join("opt-out.csv")).unwrap();
    let entries: Vec<_> =
        records.iter().map(|record| (record.entry.as_str(), record.until.is_some())).collect();
    // An entry that was removed from the list stays in force for another minute: the list could be half
    // written.
    assert_eq!(entries, [("nobody.ke", false), (largest.as_str(), false)]);
    assert_eq!(records[1].date.as_deref(), Some("2026-11-21"));
    let later = space.accesses().split_off(before);
    let since = u64::try_from(records[1].since.0).unwrap();
    let after = later.iter().filter(|access| of_largest(access) && access.arrival_us > since).count();
    assert!(after <= 1, "{after} requests arrived after {since}; one may have been on its way");
    let row = surveyed.rows::<SiteRow>().into_iter().find(|site| site.site == largest).unwrap();
    let usual_requests = sites.iter().find(|site| site.site == largest).unwrap().requests;
    assert!(row.requests > 0 && row.requests < usual_requests, "{} of {usual_requests}", row.requests);
    let levels = surveyed.rows::<LevelRow>();
    assert!(levels.iter().all(LevelRow::reconciles));
    let left_out = levels.iter().filter(|level| level.site == largest);
    let left_out: u64 = left_out.map(|level| level.classes[Class::OptOut]).sum();
    assert!(left_out > 0 && row.pages > 0, "{row:?}");
    // The site is not complete: the pages below are unknown, for every analysis of how deep sites are.
    assert_eq!(row.outcome, "opt_out");
    let recorded = Recorded::load(&surveyed.dir()).unwrap();
    let ended = |site: &str| recorded.trees.iter().find(|tree| &*tree.site == site).map(|tree| tree.ended);
    assert_eq!(ended(&largest), Some(TreeEnd::Cut));
    let censored = Censoring::measure(&recorded);
    assert!(censored.cut_trees > 0 && censored.unasked_urls >= left_out, "{left_out} of {censored:?}");
}

#[test]
#[allow(clippy::disallowed_methods)] // The test notes when it changes the list.
fn a_list_that_is_being_written_anew_lets_nobody_be_asked() {
    let space = Space::serve("a_small_country");
    let (largest, folder) = opted_out(&space);
    let list = folder.path().join("opt-out.txt");
    let before = space.accesses().len();
    let is_running = || space.accesses().len() > before;
    let changed = OnceLock::new();
    let surveyed = survey_with_a_list_that_changes(&space, &list, is_running, || {
        changed.get_or_init(SystemTime::now);
        std::fs::write(&list, "").unwrap();
    });
    assert!(surveyed.rows::<SiteRow>().iter().map(|site| site.requests).sum::<u64>() > 100);
    // On a busy machine the survey takes longer than a removed entry stays in force.
    let holds_until = *changed.get().unwrap() + Duration::from_mins(1);
    let later = space.accesses().split_off(before);
    let mut of_largest = later.iter().filter(|access| access.host.ends_with(largest.as_str()));
    assert!(of_largest.all(|access| UNIX_EPOCH + Duration::from_micros(access.arrival_us) >= holds_until));
    let records = read_opt_outs(&surveyed.dir().join("opt-out.csv")).unwrap();
    assert_eq!(records.len(), 1);
    assert!(records[0].until.is_none_or(|until| SystemTime::from(until) >= holds_until));
}

#[test]
fn a_network_opts_out_by_the_number_of_its_autonomous_system() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (list, geo) = (folder.path().join("opt-out.txt"), folder.path().join("geo.mmdb"));
    std::fs::write(&geo, GEO_DATABASE).unwrap();
    let settings = Settings { geo: vec![geo], ..space.settings() };
    let usual = space.survey(settings.clone());
    let system = usual.rows::<ServerRow>().iter().find_map(|server| server.asn).unwrap();
    let before = space.accesses().len();
    std::fs::write(&list, format!("AS{system}\n")).unwrap();
    let surveyed = space.survey(Settings { opt_out: Some(list), ..settings });
    let servers = surveyed.rows::<ServerRow>();
    assert!(!servers.is_empty() && servers.iter().all(|server| server.asn != Some(system)));
    let left_alone: Vec<String> = usual
        .rows::<ServerRow>()
        .into_iter()
        .filter(|server| server.asn == Some(system))
        .map(|server| server.address)
        .collect();
    let log = space.accesses().split_off(before);
    let contacted_address = |access: &Access| access.address.map(|address| address.to_string());
    assert!(
        log.iter()
            .all(|access| contacted_address(access).is_none_or(|address| !left_alone.contains(&address)))
    );
}

#[test]
fn special_addresses_are_refused_without_permission() {
    let space = Space::serve("a_small_country");
    let start: Vec<WebUrl> =
        ["http://127.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/", "http://10.0.0.1/"]
            .iter()
            .map(|url| WebUrl::parse(url).unwrap())
            .collect();
    let surveyed = space.survey_from(space.settings(), &start);
    let sites = surveyed.rows::<SiteRow>();
    assert_eq!(sites.len(), 4);
    assert!(sites.iter().all(|site| site.outcome == "unreachable" && site.requests == 0));
    assert!(surveyed.tables().exchanges.iter().all(|row| row.failure.as_deref() == Some("address_refused")));
    assert_eq!(space.accesses().len(), 0);
}

#[test]
fn generations_bound_how_far_a_survey_spreads() {
    let space = Space::serve("a_small_country");
    let generations = |max_generation| {
        let rows = space
            .survey(Settings { generations: Some(max_generation), ..space.settings() })
            .rows::<SiteRow>();
        rows.iter().map(|site| site.generation).max().unwrap()
    };
    assert_eq!((generations(0), generations(1)), (0, 1));
}

#[test]
fn further_seeds_of_a_site_fetch_only_what_was_not_reached_and_the_sums_reconcile() {
    let space = Space::serve("a_small_country");
    let start = space.starts();
    // Two further start URLs for each site: a tree of one page, and a URL that is reached anyway.
    let deep: Vec<WebUrl> = start
        .iter()
        .flat_map(|url| [url.clone(), url.join("/n/1.html").unwrap(), url.join("/nowhere").unwrap()])
        .collect();
    let settings = Settings {
        depth: DepthRule::Levels(1),
        seeds_per_site: 3,
        feed_back: FeedBackRule::Off,
        ..space.settings()
    };
    let tables = space.survey_from(settings, &deep).tables();
    assert!(tables.sites.iter().any(|site| site.seed > 0), "some seeds were not reached before");
    assert!(tables.levels.iter().all(LevelRow::reconciles));
    let mut fetched = HashSet::new();
    for row in tables.exchanges.iter().filter(|row| row.purpose == "page") {
        assert!(fetched.insert(&row.url), "{} was fetched twice", row.url);
    }
    for site in &tables.sites {
        let of_tree = |level: &&LevelRow| level.site == site.site && level.seed == site.seed;
        let requests: u64 = tables.levels.iter().filter(of_tree).map(|level| level.requests).sum();
        assert_eq!(site.requests, requests + site.robots_requests, "{} {}", site.site, site.seed);
    }
}

#[test]
fn trees_of_one_site_do_not_wait_for_the_tables_one_by_one() {
    let space = Space::serve("a_small_country");
    let pages = pages_by_site(&space.survey(space.settings()).dir());
    let start = pages.into_values().max_by_key(Vec::len).unwrap();
    let settings = Settings {
        depth: DepthRule::Levels(0),
        seeds_per_site: 1000,
        feed_back: FeedBackRule::Off,
        ..space.settings()
    };
    let surveyed = space.survey_from(settings, &start);
    let trees = surveyed.rows::<SiteRow>().len();
    let frontier = Frontier::open(&surveyed.dir().join("state.redb"), Spread::default()).unwrap();
    let segments = usize::try_from(frontier.segments().unwrap()).unwrap();
    // If each tree waited until the one before it was in the tables, each would have its own segment.
    assert!(trees >= 20 && segments < trees, "{segments} segments for {trees} trees");
}

#[test]
fn a_survey_of_the_exported_start_urls_starts_where_this_one_found_sites() {
    let space = Space::serve("a_small_country");
    let surveyed = space.survey(space.settings());
    let mut text = Vec::new();
    let count = ccsurvey::survey::export(&surveyed.dir(), &mut text).unwrap();
    let list = ccsurvey::starts::StartList::read(text.as_slice(), None).unwrap();
    assert_eq!((list.counts.urls, list.bad.len()), (count, 0));
    let exported: HashSet<_> = list.urls().map(|url| url.page_key()).collect();
    for site in surveyed.rows::<SiteRow>() {
        assert!(exported.contains(&WebUrl::parse(&site.start_url).unwrap().page_key()));
    }
    for link in surveyed.rows::<LinkRow>().iter().filter(|link| link.in_survey) {
        assert!(exported.contains(&WebUrl::parse(&link.url).unwrap().page_key()));
    }
}

#[test]
fn the_rate_of_the_whole_survey_is_a_ceiling() {
    let space = Space::serve("a_small_country");
    let rate = 300_000;
    let settings = Settings { rate: Some(Size(rate)), max_body: Size(100_000), ..space.settings() };
    let surveyed = space.survey(settings);
    let mut log = space.accesses();
    log.sort_by_key(|access| access.arrival_us);
    let bytes = |access: &ccsurvey::space::Access| access.sent_bytes + access.received_bytes;
    // A second of the rate may be saved up, or one largest exchange.
    let burst = rate.max(2_000_000);
    for first in 0..log.len() {
        let mut sum = 0;
        for access in &log[first..] {
            sum += bytes(access);
            let window = (access.arrival_us - log[first].arrival_us) as f64 / 1e6;
            assert!(sum as f64 <= burst as f64 + rate as f64 * window, "{sum} bytes in {window} s");
        }
    }
    assert!(surveyed.ending.is_finished);
}

#[test]
fn a_survey_without_a_start_site_is_finished_at_once() {
    let space = Space::serve("a_site_with_one_page");
    let folder = tempfile::tempdir().unwrap();
    let (survey, taken) = Survey::create(&folder.path().join("survey"), space.settings(), &[]).unwrap();
    assert_eq!(taken.sites, 0);
    let (_keep, stop) = tokio::sync::watch::channel(false);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    assert!(runtime.block_on(survey.run(stop)).unwrap().is_finished);
}
