use redb::ReadableTable as _;

use super::*;
use crate::address::{Host, Site, WebUrl};

fn start(url: &str) -> StartCandidate {
    let url = WebUrl::parse(url).unwrap();
    StartCandidate { homes: vec![Site::new(url.host().clone())], url, priority: 0 }
}

fn open(dir: &tempfile::TempDir, spread: Spread) -> Frontier {
    Frontier::open(&dir.path().join("state.redb"), spread).unwrap()
}

fn finished(lease: &Lease, found: &[&str]) -> Finished {
    Finished {
        lease: lease.clone(),
        found: found.iter().map(|url| start(url)).collect(),
        known: None,
        closed: None,
    }
}

fn finish(frontier: &mut Frontier, trees: &[Finished]) {
    frontier
        .finish(&Batch {
            finished: trees,
            segments: 1,
            servers: &[],
            hosts: &[],
            unrecorded: 0,
            tally: &[],
            robots: &[],
            robots_since: 0,
        })
        .unwrap();
}

fn lease(frontier: &mut Frontier) -> Lease {
    frontier.lease().unwrap().expect("a tree waits")
}

#[test]
fn trees_are_handed_out_in_the_order_offered_and_each_site_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    let offers = frontier.offer(["http://a.ke/", "http://b.ke/", "http://a.ke/x"].map(start)).unwrap();
    assert_eq!(offers, [Offer::Site, Offer::Site, Offer::Known]);
    assert_eq!(lease(&mut frontier).site.as_str(), "a.ke");
    assert_eq!(lease(&mut frontier).site.as_str(), "b.ke");
    assert_eq!(frontier.lease().unwrap(), None);
}

#[test]
fn trees_of_greater_priority_are_handed_out_first_also_those_found_later() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    let with = |url, priority| StartCandidate { priority, ..start(url) };
    let starts = [with("http://last.ke/", -1), with("http://a.ke/", 0), with("http://b.ke/", 0)];
    frontier.offer([with("http://first.ke/", 5)].into_iter().chain(starts)).unwrap();
    let first = lease(&mut frontier);
    assert_eq!((first.site.as_str(), lease(&mut frontier).site.as_str()), ("first.ke", "a.ke"));
    let found = vec![with("http://sooner.ke/", 9), with("http://later.ke/", -2)];
    finish(&mut frontier, &[Finished { lease: first, found, known: None, closed: None }]);
    assert!(frontier.open_tree(4).unwrap().is_some() && frontier.open_tree(0).unwrap().is_none());
    let rest: Vec<_> =
        std::iter::from_fn(|| frontier.lease().unwrap()).map(|lease| lease.site.to_string()).collect();
    assert_eq!(rest, ["sooner.ke", "b.ke", "last.ke", "later.ke"]);
}

#[test]
fn findings_are_merged_in_the_order_of_the_trees_whichever_ends_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/", "http://b.ke/"].map(start)).unwrap();
    let (a, b) = (lease(&mut frontier), lease(&mut frontier));
    finish(&mut frontier, &[finished(&b, &["http://c.ke/from-b"])]);
    assert_eq!(frontier.lease().unwrap(), None, "what b found waits for a");
    finish(&mut frontier, &[finished(&a, &["http://d.ke/", "http://c.ke/from-a"])]);
    let (d, c) = (lease(&mut frontier), lease(&mut frontier));
    assert_eq!((d.start.as_str(), d.generation), ("http://d.ke/", 1));
    assert_eq!(c.start.as_str(), "http://c.ke/from-a");
    assert_eq!(c.parent.unwrap().as_str(), "a.ke");
}

#[test]
fn a_list_that_is_added_is_offered_once_behind_all_that_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/"].map(start)).unwrap();
    let a = lease(&mut frontier);
    finish(&mut frontier, &[finished(&a, &["http://b.ke/"])]);
    let list = || ["http://c.ke/", "http://a.ke/x"].map(start);
    assert_eq!(frontier.offer_once("list", 7, list()).unwrap(), (7, vec![Offer::Site, Offer::Known]));
    drop(frontier);
    let mut frontier = open(&dir, Spread::default());
    assert_eq!(frontier.offer_once("list", 9, list()).unwrap(), (7, Vec::new()));
    let (b, c) = (lease(&mut frontier), lease(&mut frontier));
    assert_eq!((b.site.as_str(), b.generation), ("b.ke", 1));
    assert_eq!((c.site.as_str(), c.generation, c.order), ("c.ke", 0, 2));
    assert_eq!(frontier.lease().unwrap(), None);
}

#[test]
fn generations_bound_how_far_a_survey_spreads() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread { generations: Some(1), ..Spread::default() });
    frontier.offer(["http://a.ke/"].map(start)).unwrap();
    let a = lease(&mut frontier);
    finish(&mut frontier, &[finished(&a, &["http://b.ke/"])]);
    let b = lease(&mut frontier);
    finish(&mut frontier, &[finished(&b, &["http://c.ke/"])]);
    assert_eq!(frontier.lease().unwrap(), None);
}

#[test]
fn a_further_seed_of_a_site_waits_until_the_tree_before_it_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread { seeds_per_site: 2, ..Spread::default() });
    let starts = ["http://a.ke/", "http://a.ke/x", "http://a.ke/x", "http://a.ke/y"].map(start);
    assert_eq!(frontier.offer(starts).unwrap(), [Offer::Site, Offer::Seed, Offer::Known, Offer::Known]);
    let first = lease(&mut frontier);
    assert_eq!(frontier.lease().unwrap(), None);
    finish(&mut frontier, &[finished(&first, &[])]);
    let second = lease(&mut frontier);
    assert_eq!((second.start.as_str(), second.seed), ("http://a.ke/x", 1));
}

#[test]
fn a_further_seed_may_be_walked_as_soon_as_the_tree_before_it_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let spread = Spread { seeds_per_site: 4, ..Spread::default() };
    let mut frontier = open(&dir, spread);
    let starts = ["http://a.ke/0", "http://a.ke/1", "http://a.ke/2", "http://b.ke/"].map(start);
    frontier.offer(starts).unwrap();
    let end_tree = |frontier: &mut Frontier, tree: &Lease, known: u8| {
        frontier.free_next(tree, || Ok::<_, FrontierError>(Some(vec![known]))).unwrap();
    };
    let (a, b) = (lease(&mut frontier), lease(&mut frontier));
    assert_eq!((b.site.as_str(), frontier.lease().unwrap()), ("b.ke", None));
    end_tree(&mut frontier, &b, 9);
    assert_eq!(frontier.lease().unwrap(), None, "no other tree of b.ke waits");
    end_tree(&mut frontier, &a, 0);
    let second = lease(&mut frontier);
    assert_eq!((second.start.as_str(), second.seed), ("http://a.ke/1", 1));
    assert_eq!(frontier.carry_over(&a.site).unwrap(), Some(vec![0]));
    frontier.free_next(&second, || Ok::<_, FrontierError>(None)).unwrap();
    let third = lease(&mut frontier);
    assert_eq!((third.seed, frontier.carry_over(&a.site).unwrap()), (2, Some(vec![0])));
    assert_eq!(frontier.lease().unwrap(), None);

    // In the store they still wait, and each is found by its number.
    drop(frontier);
    let mut frontier = open(&dir, spread);
    assert_eq!(frontier.open_tree(second.order).unwrap(), Some(second.clone()));
    assert_eq!((lease(&mut frontier), lease(&mut frontier), frontier.lease().unwrap()), (a.clone(), b, None));
    end_tree(&mut frontier, &a, 0);
    assert_eq!(lease(&mut frontier), second);
    end_tree(&mut frontier, &second, 1);
    finish(&mut frontier, &[Finished { known: Some(vec![0]), ..finished(&a, &["http://a.ke/3"]) }]);
    assert_eq!(frontier.open_tree(a.order).unwrap(), None);
    assert_eq!((lease(&mut frontier), frontier.lease().unwrap()), (third.clone(), None));
    assert_eq!(frontier.carry_over(&a.site).unwrap(), Some(vec![1]));
    let second = Finished { known: Some(vec![1]), ..finished(&second, &[]) };
    finish(&mut frontier, &[second, finished(&third, &[])]);
    assert_eq!(frontier.carry_over(&a.site).unwrap(), Some(vec![1]));
    let fourth = lease(&mut frontier);
    assert_eq!((fourth.start.as_str(), fourth.seed), ("http://a.ke/3", 3));
    assert_eq!(frontier.lease().unwrap(), None);
}

#[test]
fn a_host_below_a_known_site_belongs_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    let subdomain = StartCandidate {
        priority: 0,
        url: WebUrl::parse("http://m.a.ke/").unwrap(),
        homes: ["m.a.ke", "a.ke"].map(|name| Site::new(crate::address::Host::parse(name).unwrap())).to_vec(),
    };
    assert_eq!(frontier.offer([start("http://a.ke/"), subdomain]).unwrap(), [Offer::Site, Offer::Known]);
}

#[test]
fn what_is_not_finished_is_handed_out_again_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/", "http://b.ke/", "http://c.ke/"].map(start)).unwrap();
    let a = lease(&mut frontier);
    let b = lease(&mut frontier);
    assert_eq!((frontier.tally().unwrap(), frontier.carry_over(&b.site).unwrap()), (None, None));
    frontier
        .finish(&Batch {
            finished: &[Finished { known: Some(vec![3, 4]), ..finished(&b, &["http://d.ke/"]) }],
            segments: 7,
            servers: &[("41.90.0.1".parse().unwrap(), vec![1, 2])],
            hosts: &["www.b.ke", "img.b.ke"]
                .map(|name| ("41.90.0.1".parse().unwrap(), Host::parse(name).unwrap(), b.site.clone())),
            unrecorded: 3,
            tally: b"tally",
            robots: &[],
            robots_since: 0,
        })
        .unwrap();
    drop(frontier);
    let mut frontier = open(&dir, Spread::default());
    assert_eq!((frontier.segments().unwrap(), frontier.unrecorded().unwrap()), (7, 3));
    assert_eq!(frontier.tally().unwrap().as_deref(), Some(&b"tally"[..]));
    assert_eq!(
        (frontier.carry_over(&b.site).unwrap(), frontier.carry_over(&a.site).unwrap()),
        (Some(vec![3, 4]), None)
    );
    assert_eq!(frontier.server("41.90.0.1".parse().unwrap()).unwrap(), Some(vec![1, 2]));
    let servers = |addresses: &[&str]| -> Vec<_> {
        let addresses: Vec<_> = addresses.iter().map(|it| it.parse().unwrap()).collect();
        frontier.hosts_and_sites(&addresses).unwrap()
    };
    assert_eq!(servers(&["41.90.0.1"]), [(2, 1)]);
    assert_eq!(
        servers(&["41.90.0.0", "41.90.0.1", "41.90.0.2", "2c0f::1"]),
        [(0, 0), (2, 1), (0, 0), (0, 0)]
    );
    assert_eq!((servers(&["41.90.0.2"]), servers(&[])), (vec![(0, 0)], vec![]));
    assert_eq!(lease(&mut frontier), a);
    assert_eq!(lease(&mut frontier).site.as_str(), "c.ke");
    assert_eq!(frontier.lease().unwrap(), None);
    let counts = frontier.counts().unwrap();
    assert_eq!(counts, Counts { trees: 3, finished: 1, leased: 2, sites: 3 });
}

#[test]
fn a_second_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _first = open(&dir, Spread::default());
    let second = Frontier::open(&dir.path().join("state.redb"), Spread::default());
    assert!(matches!(second, Err(FrontierError::InUse { .. })));
}

/// A tree that brought no page after it had requested these URLs.
fn closed(lease: &Lease, found: &[&str], requested_urls: &[&str]) -> Finished {
    let requested_urls = requested_urls.iter().map(|url| WebUrl::parse(url).unwrap().page_key().0);
    let requested_urls = requested_urls.chain([lease.start.page_key().0]).collect();
    Finished { closed: Some(requested_urls), ..finished(lease, found) }
}

#[test]
fn a_site_that_did_not_open_is_given_the_next_url_that_leads_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/", "http://b.ke/dead", "http://c.ke/"].map(start)).unwrap();
    let (a, b, c) = (lease(&mut frontier), lease(&mut frontier), lease(&mut frontier));
    finish(&mut frontier, &[finished(&a, &[]), closed(&b, &[], &["http://b.ke/"])]);
    assert_eq!(frontier.lease().unwrap(), None);
    finish(&mut frontier, &[finished(&c, &["http://b.ke/", "http://b.ke/dead", "http://b.ke/live"])]);
    let later = lease(&mut frontier);
    assert_eq!(
        (later.start.as_str(), later.seed),
        ("http://b.ke/live", 1),
        "what was asked is not asked again"
    );
    assert_eq!((later.generation, later.parent.as_ref().map(Site::as_str)), (1, Some("c.ke")));
    finish(&mut frontier, &[finished(&later, &["http://b.ke/3"])]);
    assert_eq!(frontier.lease().unwrap(), None, "it is open");
}

#[test]
fn urls_that_come_before_a_sites_fate_is_known_wait_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    let starts = ["http://a.ke/1", "http://a.ke/2", "http://a.ke/2", "http://a.ke/3", "http://a.ke/4"];
    assert_eq!(frontier.offer(starts.map(start)).unwrap()[1..], [Offer::Known; 4]);
    let mut walked = Vec::new();
    while let Some(next) = frontier.lease().unwrap() {
        walked.push((next.start.path().to_owned(), next.seed));
        finish(&mut frontier, &[closed(&next, &["http://a.ke/5"], &[])]);
    }
    assert_eq!(walked, [("/1".into(), 0), ("/2".into(), 1), ("/3".into(), 2)], "three trees, no more");
}

#[test]
fn no_more_urls_are_kept_for_a_site_than_it_may_have_trees() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/1", "http://a.ke/2", "http://a.ke/3", "http://a.ke/4"].map(start)).unwrap();
    let first = lease(&mut frontier);
    finish(&mut frontier, &[closed(&first, &[], &["http://a.ke/2", "http://a.ke/3"])]);
    assert_eq!(
        frontier.lease().unwrap(),
        None,
        "two were kept and have been asked for; the third was not kept"
    );
}

#[test]
fn what_a_tree_found_that_is_taken_in_is_walked_before_its_rows_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/", "http://b.ke/"].map(start)).unwrap();
    let (a, b) = (lease(&mut frontier), lease(&mut frontier));
    frontier.merge_finished(&finished(&b, &["http://c.ke/"])).unwrap();
    assert_eq!(frontier.lease().unwrap(), None, "what b found waits for a");
    frontier.merge_finished(&closed(&a, &["http://d.ke/"], &[])).unwrap();
    let found = [lease(&mut frontier), lease(&mut frontier)];
    assert_eq!(found.clone().map(|tree| tree.site.to_string()), ["d.ke", "c.ke"]);
    assert_eq!(frontier.counts().unwrap().finished, 0);
    // Written in any order, with their leases only.
    finish(&mut frontier, &[finished(&a, &[]), finished(&b, &[]), finished(&found[1], &["http://e.ke/"])]);
    assert_eq!(frontier.lease().unwrap(), None, "what c found waits for d");
    assert_eq!((frontier.counts().unwrap().finished, frontier.counts().unwrap().sites), (3, 4));
    frontier.merge_finished(&finished(&found[0], &[])).unwrap();
    assert_eq!(lease(&mut frontier).site.as_str(), "e.ke");
}

#[test]
fn a_site_that_opened_needs_no_spares_and_without_later_trees_there_are_none() {
    for (later_trees, is_closed) in [(true, false), (false, true)] {
        let dir = tempfile::tempdir().unwrap();
        let mut frontier = open(&dir, Spread { later_trees, ..Spread::default() });
        frontier.offer(["http://a.ke/1", "http://a.ke/2"].map(start)).unwrap();
        let first = lease(&mut frontier);
        let tree = if is_closed { closed(&first, &[], &[]) } else { finished(&first, &[]) };
        finish(&mut frontier, &[tree]);
        assert_eq!(frontier.lease().unwrap(), None);
    }
}

#[test]
fn start_urls_that_a_site_may_have_count_as_trees_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread { seeds_per_site: 2, ..Spread::default() });
    frontier.offer(["http://a.ke/1", "http://a.ke/2", "http://a.ke/3", "http://a.ke/4"].map(start)).unwrap();
    let mut seeds = 0;
    while let Some(next) = frontier.lease().unwrap() {
        seeds += 1;
        finish(&mut frontier, &[closed(&next, &[], &[])]);
    }
    assert_eq!(seeds, MAX_TREES);
}

mod any_order {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const SITES: usize = 6;

    /// What each URL of a small country leads to: links, or none if there is no page.
    type Country = HashMap<(usize, usize), Option<Vec<(usize, usize)>>>;

    fn any_country() -> impl Strategy<Value = Country> {
        let links = prop::collection::vec((0..SITES, 0usize..4), 0..6);
        prop::collection::vec(prop::option::of(links), SITES * 4).prop_map(|all| {
            let urls = (0..SITES).flat_map(|site| (0..4).map(move |page| (site, page)));
            urls.zip(all).collect()
        })
    }

    fn url((site, page): (usize, usize)) -> String {
        format!("http://s{site}.ke/{page}")
    }

    /// The survey with this number of trees at once, which end in some order and are finished in batches: all
    /// trees by their order in the queue.
    fn surveyed(
        country: &Country,
        spread: Spread,
        (at_once, at_a_time): (usize, usize),
        picks: &[usize],
    ) -> Vec<Lease> {
        let dir = tempfile::tempdir().unwrap();
        let mut frontier = open(&dir, spread);
        frontier.offer([(0, 0), (1, 0), (1, 1), (2, 0)].map(|at| start(&url(at)))).unwrap();
        let (mut walked, mut open_trees, mut turn) = (Vec::new(), Vec::new(), 0);
        let mut unwritten = Vec::new();
        loop {
            while open_trees.len() < at_once
                && let Some(next) = frontier.lease().unwrap()
            {
                open_trees.push(next);
            }
            if open_trees.is_empty() && !unwritten.is_empty() {
                finish(&mut frontier, &std::mem::take(&mut unwritten));
                continue;
            }
            if open_trees.is_empty() {
                walked.sort_by_key(|lease: &Lease| lease.order);
                return walked;
            }
            turn += 1;
            let next = open_trees.remove(picks[turn % picks.len()] % open_trees.len());
            let number = |text: &str| text.parse::<usize>().unwrap();
            let site = number(&next.site.as_str()[1..2]);
            let links = &country[&(site, number(&next.start.path()[1..]))];
            let found: Vec<String> = links.iter().flatten().map(|at| url(*at)).collect();
            let found: Vec<&str> = found.iter().map(String::as_str).collect();
            // Some trees without a page have links all the same: a deep URL that moved.
            let tree = match links {
                Some(_) => finished(&next, &found),
                None => closed(&next, &["http://s3.ke/3"], &[]),
            };
            frontier.free_next(&next, || Ok::<_, FrontierError>(None)).unwrap();
            unwritten.push(tree);
            if unwritten.len() >= at_a_time {
                finish(&mut frontier, &std::mem::take(&mut unwritten));
            }
            walked.push(next);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn the_trees_of_a_survey_are_the_same_whichever_end_first(
            country in any_country(),
            seeds_per_site in 1u32..4,
            at_once in 2usize..9,
            at_a_time in 1usize..9,
            picks in prop::collection::vec(any::<usize>(), 16),
        ) {
            let spread = Spread { seeds_per_site, ..Spread::default() };
            let in_order = surveyed(&country, spread, (1, 1), &[0]);
            prop_assert_eq!(&in_order, &surveyed(&country, spread, (at_once, at_a_time), &picks));
            let mut trees: HashMap<String, usize> = HashMap::new();
            for lease in &in_order {
                *trees.entry(lease.site.to_string()).or_default() += 1;
            }
            prop_assert!(trees.values().all(|trees| *trees <= MAX_TREES as usize));
        }
    }
}
#[test]
fn servers_are_read_page_by_page_in_the_order_of_addresses() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    let addresses = ["41.90.0.1", "41.90.0.2", "197.0.0.9", "2c0f:fe40::1", "2c0f:fe40::2"];
    let servers: Vec<_> = addresses.iter().map(|it| (it.parse().unwrap(), it.as_bytes().to_vec())).collect();
    let batch = Batch {
        finished: &[],
        segments: 0,
        servers: &servers,
        hosts: &[],
        unrecorded: 0,
        tally: &[],
        robots: &[],
        robots_since: 0,
    };
    frontier.finish(&batch).unwrap();
    for page_size in 1..7 {
        let mut read: Vec<(std::net::IpAddr, Vec<u8>)> = Vec::new();
        loop {
            let last = read.last().map(|(address, _)| *address);
            let page = frontier.servers_after(last, page_size).unwrap();
            assert!(page.len() <= page_size);
            if page.is_empty() {
                break;
            }
            read.extend(page);
        }
        assert_eq!(read, servers, "{page_size} at a time");
    }
}

#[test]
fn what_cannot_be_read_is_damage_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.redb");
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/"].map(start)).unwrap();
    let change = |table: &str, key: &str, cut: usize| {
        let store = redb::Database::open(&path).unwrap();
        let txn = store.begin_write().unwrap();
        {
            let name: redb::TableDefinition<'_, &str, &[u8]> = redb::TableDefinition::new(table);
            let mut table = txn.open_table(name).unwrap();
            let bytes = table.get(key).unwrap().unwrap().value().to_vec();
            table.insert(key, &bytes[..bytes.len() - cut]).unwrap();
        }
        txn.commit().unwrap();
    };
    drop(frontier);
    change("sites", "a.ke", 1);
    let message = open(&dir, Spread::default()).offer(["http://a.ke/b"].map(start)).unwrap_err().to_string();
    assert!(
        message.ends_with("state.redb: the survey's state is damaged: the entry of site a.ke cannot be read"),
        "{message}"
    );
}

#[test]
fn a_state_that_a_newer_program_wrote_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.redb");
    drop(open(&dir, Spread::default()));
    let store = redb::Database::open(&path).unwrap();
    let txn = store.begin_write().unwrap();
    let meta: redb::TableDefinition<'_, &str, u64> = redb::TableDefinition::new("meta");
    txn.open_table(meta).unwrap().insert("format", 99).unwrap();
    txn.commit().unwrap();
    drop(store);
    let message = Frontier::open(&path, Spread::default()).err().unwrap().to_string();
    let expected = "the survey's state was written by a newer ccsurvey (format 99, this one reads up to 1): \
                    use the newer version";
    assert!(message.ends_with(expected), "{message}");
}

#[test]
fn of_two_responses_for_a_robots_txt_the_later_is_kept_until_it_is_too_old() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    let response = |key, requested_at| KeptRobots {
        key,
        requested_at,
        response: format!("{key} at {requested_at}").into_bytes(),
    };
    let mut finish = |robots: &[KeptRobots], robots_since| {
        let nothing = Batch {
            finished: &[],
            segments: 0,
            servers: &[],
            hosts: &[],
            unrecorded: 0,
            tally: &[],
            robots,
            robots_since,
        };
        frontier.finish(&nothing).unwrap();
        [1, 2, 3].map(|key| frontier.robots(key).unwrap().map(|it| String::from_utf8(it).unwrap()))
    };
    let kept = |texts: [Option<&str>; 3]| texts.map(|it| it.map(str::to_owned));
    assert_eq!(
        finish(&[response(1, 10), response(2, 20)], 0),
        kept([Some("1 at 10"), Some("2 at 20"), None])
    );
    let later = [response(1, 30), response(2, 15), response(3, 40)];
    assert_eq!(finish(&later, 10), kept([Some("1 at 30"), Some("2 at 20"), Some("3 at 40")]));
    assert_eq!(finish(&[], 30), kept([Some("1 at 30"), None, Some("3 at 40")]));
    assert_eq!(finish(&[response(2, 31)], 31), kept([None, Some("2 at 31"), Some("3 at 40")]));
    drop(frontier);
    assert_eq!(open(&dir, Spread::default()).robots(3).unwrap().as_deref(), Some(&b"3 at 40"[..]));
}

/// Gives each of these trees this many requests.
fn begin_round(frontier: &mut Frontier, price: f64, requests: &[(u64, u32)]) -> Option<Round> {
    let planned = (!requests.is_empty()).then(|| Allowances { price, requests: requests.to_vec() });
    frontier.next_round(|_, _| Ok(planned)).unwrap()
}

fn members(frontier: &Frontier, round: Round) -> Vec<(u64, u64)> {
    frontier.members(round).unwrap().into_iter().map(|member| (member.order, member.until)).collect()
}

fn end_part(frontier: &mut Frontier, order: u64, requests: u64, found: &[&str]) {
    let round = frontier.round().unwrap().unwrap().number;
    let found = found.iter().map(|url| start(url)).collect();
    let waiting = Some(vec![u8::try_from(requests).unwrap()]);
    frontier.end_part(order, round, EndedPart { counted: requests, waiting, found }).unwrap();
}

#[test]
fn a_round_goes_on_after_a_crash_with_the_trees_whose_part_has_not_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/", "http://b.ke/", "http://c.ke/"].map(start)).unwrap();
    assert_eq!(frontier.round().unwrap(), None);
    let first = begin_round(&mut frontier, 1.0, &[(0, 2), (2, 4)]).unwrap();
    assert_eq!(
        (first, members(&frontier, first)),
        (Round { number: 1, price: Some(1.0) }, vec![(0, 2), (2, 4)])
    );
    assert_eq!(frontier.lease_member(0).unwrap().unwrap().site.as_str(), "a.ke");
    end_part(&mut frontier, 0, 2, &[]);
    // What ended a part is durable with the next durable change.
    frontier.add_unrecorded(1).unwrap();
    drop(frontier);
    let mut frontier = open(&dir, Spread::default());
    assert_eq!((frontier.round().unwrap(), members(&frontier, first)), (Some(first), vec![(2, 4)]));
    end_part(&mut frontier, 2, 3, &[]);
    let mut seen = Vec::new();
    let second = frontier
        .next_round(|number, trees| {
            seen = trees.read()?.collect::<Result<Vec<UnfinishedTree>, _>>()?;
            assert_eq!(number, 2);
            Ok(Some(Allowances { price: 0.5, requests: vec![(2, 1), (1, 2)] }))
        })
        .unwrap()
        .unwrap();
    assert_eq!(seen, [(0, Some(vec![2])), (1, None), (2, Some(vec![3]))]);
    assert_eq!(members(&frontier, second), [(1, 2), (2, 4)], "counted from what a tree has counted");
}

#[test]
fn sites_that_trees_found_join_at_the_next_round_in_the_order_of_the_trees() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/", "http://b.ke/"].map(start)).unwrap();
    begin_round(&mut frontier, 1.0, &[(0, 2), (1, 2)]);
    end_part(&mut frontier, 1, 2, &["http://new.ke/from-b", "http://b2.ke/"]);
    end_part(&mut frontier, 0, 2, &["http://new.ke/from-a"]);
    assert_eq!(frontier.counts().unwrap().trees, 2);
    let second = begin_round(&mut frontier, 0.5, &[(2, 1), (3, 1)]).unwrap();
    let sites: Vec<String> = members(&frontier, second)
        .into_iter()
        .map(|(order, _)| frontier.lease_member(order).unwrap().unwrap().start.as_str().to_owned())
        .collect();
    assert_eq!(sites, ["http://new.ke/from-a", "http://b2.ke/"]);
}

#[test]
fn a_site_that_a_round_left_closed_gets_another_start_url_in_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    let offers = frontier.offer(["http://a.ke/", "http://b.ke/", "http://b.ke/x"].map(start)).unwrap();
    assert_eq!(offers[2], Offer::Known);
    let first = begin_round(&mut frontier, 1.0, &[(0, 2), (1, 2)]).unwrap();
    // The tree before it goes on for many rounds.
    end_part(&mut frontier, 0, 2, &[]);
    let lease = frontier.lease_member(1).unwrap().unwrap();
    frontier.end_part(1, first.number, EndedPart::default()).unwrap();
    finish(&mut frontier, &[closed(&lease, &[], &["http://b.ke/"])]);
    let second = begin_round(&mut frontier, 0.5, &[(2, 2)]).unwrap();
    assert_eq!(members(&frontier, second), [(2, 2)]);
    assert_eq!(frontier.lease_member(2).unwrap().unwrap().start.as_str(), "http://b.ke/x");
}

#[test]
fn the_last_round_has_every_tree_and_no_round_follows_when_none_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    frontier.offer(["http://a.ke/", "http://b.ke/"].map(start)).unwrap();
    begin_round(&mut frontier, 1.0, &[(0, 2)]);
    end_part(&mut frontier, 0, 2, &[]);
    let last = begin_round(&mut frontier, 0.0, &[]).unwrap();
    assert_eq!((last.price, members(&frontier, last)), (None, vec![(0, 2), (1, 0)]));
    for (order, _) in members(&frontier, last) {
        let lease = frontier.lease_member(order).unwrap().unwrap();
        frontier.end_part(order, last.number, EndedPart { counted: 2, ..EndedPart::default() }).unwrap();
        finish(&mut frontier, &[finished(&lease, &[])]);
    }
    assert_eq!(begin_round(&mut frontier, 0.0, &[]), None);
}

#[test]
fn a_round_in_which_nothing_moved_is_followed_by_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Spread::default());
    // The second site has no part in any round but the fourth.
    frontier.offer(["http://a.ke/", "http://b.ke/"].map(start)).unwrap();
    for (round, requests, found) in [(1, 2, None), (2, 2, Some("http://new.ke/")), (3, 3, None)] {
        assert_eq!(begin_round(&mut frontier, 1.0, &[(0, 2)]).unwrap().number, round);
        end_part(&mut frontier, 0, requests, found.as_slice());
    }
    // It ends there, so that others may have its requests.
    let fourth = begin_round(&mut frontier, 1.0, &[(1, 2)]).unwrap();
    let lease = frontier.lease_member(1).unwrap().unwrap();
    frontier.end_part(1, fourth.number, EndedPart::default()).unwrap();
    finish(&mut frontier, &[finished(&lease, &[])]);
    assert_eq!(begin_round(&mut frontier, 1.0, &[(0, 2)]).unwrap().number, 5);
    end_part(&mut frontier, 0, 3, &[]);
    let last = begin_round(&mut frontier, 1.0, &[(0, 2)]).unwrap();
    assert_eq!((last.number, last.price), (6, None), "new.ke had no part, and was no news any more");
}
