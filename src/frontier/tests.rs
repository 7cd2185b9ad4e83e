use super::*;
use crate::address::{Host, Site, WebUrl};

fn start(url: &str) -> FeedBack {
    let url = WebUrl::parse(url).unwrap();
    FeedBack { homes: vec![Site::new(url.host().clone())], url, priority: 0 }
}

fn open(dir: &tempfile::TempDir, rules: Rules) -> Frontier {
    Frontier::open(&dir.path().join("state.redb"), rules).unwrap()
}

fn finished(lease: &Lease, found: &[&str]) -> Finished {
    Finished { lease: lease.clone(), found: found.iter().map(|url| start(url)).collect(), known: None }
}

fn finish(frontier: &mut Frontier, trees: &[Finished]) {
    frontier
        .finish(&Batch { finished: trees, segments: 1, servers: &[], hosts: &[], unrecorded: 0 })
        .unwrap();
}

fn lease(frontier: &mut Frontier) -> Lease {
    frontier.lease().unwrap().expect("a tree waits")
}

#[test]
fn trees_are_handed_out_in_the_order_offered_and_each_site_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Rules::default());
    let offers = frontier.offer(["http://a.ke/", "http://b.ke/", "http://a.ke/x"].map(start)).unwrap();
    assert_eq!(offers, [Offer::Site, Offer::Site, Offer::Known]);
    assert_eq!(lease(&mut frontier).site.as_str(), "a.ke");
    assert_eq!(lease(&mut frontier).site.as_str(), "b.ke");
    assert_eq!(frontier.lease().unwrap(), None);
}

#[test]
fn trees_of_greater_priority_are_handed_out_first_also_those_found_later() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Rules::default());
    let with = |url, priority| FeedBack { priority, ..start(url) };
    let starts = [with("http://last.ke/", -1), with("http://a.ke/", 0), with("http://b.ke/", 0)];
    frontier.offer([with("http://first.ke/", 5)].into_iter().chain(starts)).unwrap();
    let first = lease(&mut frontier);
    assert_eq!((first.site.as_str(), lease(&mut frontier).site.as_str()), ("first.ke", "a.ke"));
    let found = vec![with("http://sooner.ke/", 9), with("http://later.ke/", -2)];
    finish(&mut frontier, &[Finished { lease: first, found, known: None }]);
    assert!(frontier.is_open(4).unwrap() && !frontier.is_open(0).unwrap());
    let rest: Vec<_> =
        std::iter::from_fn(|| frontier.lease().unwrap()).map(|lease| lease.site.to_string()).collect();
    assert_eq!(rest, ["sooner.ke", "b.ke", "last.ke", "later.ke"]);
}

#[test]
fn findings_are_merged_in_the_order_of_the_trees_whichever_ends_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Rules::default());
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
    let mut frontier = open(&dir, Rules::default());
    frontier.offer(["http://a.ke/"].map(start)).unwrap();
    let a = lease(&mut frontier);
    finish(&mut frontier, &[finished(&a, &["http://b.ke/"])]);
    let list = || ["http://c.ke/", "http://a.ke/x"].map(start);
    assert_eq!(frontier.offer_once("list", 7, list()).unwrap(), (7, vec![Offer::Site, Offer::Known]));
    drop(frontier);
    let mut frontier = open(&dir, Rules::default());
    assert_eq!(frontier.offer_once("list", 9, list()).unwrap(), (7, Vec::new()));
    let (b, c) = (lease(&mut frontier), lease(&mut frontier));
    assert_eq!((b.site.as_str(), b.generation), ("b.ke", 1));
    assert_eq!((c.site.as_str(), c.generation, c.order), ("c.ke", 0, 2));
    assert_eq!(frontier.lease().unwrap(), None);
}

#[test]
fn generations_bound_how_far_a_survey_spreads() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Rules { generations: Some(1), ..Rules::default() });
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
    let mut frontier = open(&dir, Rules { seeds_per_site: 2, ..Rules::default() });
    let starts = ["http://a.ke/", "http://a.ke/x", "http://a.ke/x", "http://a.ke/y"].map(start);
    assert_eq!(frontier.offer(starts).unwrap(), [Offer::Site, Offer::Seed, Offer::Known, Offer::Known]);
    let first = lease(&mut frontier);
    assert_eq!(frontier.lease().unwrap(), None);
    finish(&mut frontier, &[finished(&first, &[])]);
    let second = lease(&mut frontier);
    assert_eq!((second.start.as_str(), second.seed), ("http://a.ke/x", 1));
}

#[test]
fn a_host_below_a_known_site_belongs_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Rules::default());
    let below = FeedBack {
        priority: 0,
        url: WebUrl::parse("http://m.a.ke/").unwrap(),
        homes: ["m.a.ke", "a.ke"].map(|name| Site::new(crate::address::Host::parse(name).unwrap())).to_vec(),
    };
    assert_eq!(frontier.offer([start("http://a.ke/"), below]).unwrap(), [Offer::Site, Offer::Known]);
}

#[test]
fn what_is_not_finished_is_handed_out_again_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let mut frontier = open(&dir, Rules::default());
    frontier.offer(["http://a.ke/", "http://b.ke/", "http://c.ke/"].map(start)).unwrap();
    let a = lease(&mut frontier);
    let b = lease(&mut frontier);
    frontier
        .finish(&Batch {
            finished: &[finished(&b, &["http://d.ke/"])],
            segments: 7,
            servers: &[("41.90.0.1".parse().unwrap(), vec![1, 2])],
            hosts: &["www.b.ke", "img.b.ke"]
                .map(|name| ("41.90.0.1".parse().unwrap(), Host::parse(name).unwrap(), b.site.clone())),
            unrecorded: 3,
        })
        .unwrap();
    drop(frontier);
    let mut frontier = open(&dir, Rules::default());
    assert_eq!((frontier.segments().unwrap(), frontier.unrecorded().unwrap()), (7, 3));
    assert_eq!(frontier.server("41.90.0.1".parse().unwrap()).unwrap(), Some(vec![1, 2]));
    assert_eq!(frontier.hosts_and_sites("41.90.0.1".parse().unwrap()).unwrap(), (2, 1));
    assert_eq!(frontier.hosts_and_sites("41.90.0.2".parse().unwrap()).unwrap(), (0, 0));
    assert_eq!(lease(&mut frontier), a);
    assert_eq!(lease(&mut frontier).site.as_str(), "c.ke");
    assert_eq!(frontier.lease().unwrap(), None);
    let counts = frontier.counts().unwrap();
    assert_eq!(counts, Counts { trees: 3, finished: 1, leased: 2, sites: 3 });
}

#[test]
fn a_second_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _first = open(&dir, Rules::default());
    let second = Frontier::open(&dir.path().join("state.redb"), Rules::default());
    assert!(matches!(second, Err(FrontierError::InUse { .. })));
}
