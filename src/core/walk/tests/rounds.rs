use std::collections::HashSet;

use proptest::prelude::*;

use super::laws::any_web;
use super::*;

/// The price of a round, and the number of requests of the walk at which it ends.
type Round = (f64, u32);

fn in_rounds() -> WalkSettings {
    WalkSettings::default().in_rounds(auto::rates())
}

/// Walks in these rounds; returns the tree, the requests, and what waited after each round.
fn drive_in_rounds(
    web: &Web,
    settings: WalkSettings,
    rounds: &[Round],
    parallel: usize,
) -> (Tree, Vec<Request>, Vec<Waiting>) {
    let mut walk = start("http://a.ke/", settings, "");
    let (mut requested, mut flying, mut waiting) = (Vec::new(), Vec::<Request>::new(), Vec::new());
    let mut rounds = rounds.iter().copied();
    let mut until = 0;
    loop {
        let is_over = walk.request_count() >= until;
        if is_over && flying.is_empty() {
            walk.end_round();
        }
        let may_go_on = flying.is_empty() || (!is_over && flying.len() < parallel);
        let step = if may_go_on { walk.poll(SystemTime::UNIX_EPOCH) } else { Step::Wait };
        match step {
            Step::Request(request, _) => {
                walk.begin(&request);
                requested.push(request.clone());
                flying.push(request);
            }
            Step::Wait => {
                let request = flying.pop().expect("something is in flight");
                let (response, content) = web.response(&request);
                walk.handle(request.number, response, content);
            }
            Step::RoundOver => {
                assert!(flying.is_empty());
                waiting.push(walk.waiting());
                match rounds.next() {
                    Some((price, end)) => {
                        until = end;
                        walk.next_round(price);
                    }
                    None => walk.end_rounds(),
                }
            }
            Step::Done => return (walk.conclude().0, requested, waiting),
        }
    }
}

/// The URLs that a response names: links, or the target of a redirect.
fn named_by(web: &Web, url: &WebUrl) -> Vec<String> {
    match web.0.get(url.as_str()) {
        Some(ServedPage::Html(html)) => html
            .split("href=\"")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
            .collect(),
        Some(ServedPage::To(target)) => vec![target.clone()],
        _ => Vec::new(),
    }
}

fn any_rounds() -> impl Strategy<Value = Vec<Round>> {
    prop::collection::vec((0.01f64..4.0, 0u32..9), 0..9).prop_map(|rounds| {
        let mut until = 0;
        rounds
            .into_iter()
            .map(|(price, more)| {
                until += more;
                (price, until)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn a_walk_in_rounds_asks_nothing_twice_keeps_to_its_requests_and_counts_all(
        web in any_web(),
        rounds in any_rounds(),
    ) {
        let (tree, requested, waiting) = drive_in_rounds(&web, in_rounds(), &rounds, 1);
        prop_assert!(requested.len() <= rounds.last().map_or(0, |round| round.1 as usize));
        let requests: u64 = tree.sum(|level| level.requests) + tree.robots.requests;
        prop_assert_eq!(requests, requested.len() as u64);
        let mut seen = HashMap::new();
        requested.iter().for_each(|request| *seen.entry(request.url.as_str()).or_insert(0) += 1);
        for (url, times) in seen {
            prop_assert!(times == 1 || (matches!(web.0.get(url), Some(ServedPage::Later)) && times <= 3));
        }
        // What waited in the end is left out, with what it was expected to bring.
        if let (Outcome::Yield, Some(last)) = (tree.outcome, waiting.last()) {
            let left_out = tree.sum(|level| level.class(Class::Yield));
            let repeated = last.certain as usize;
            prop_assert!((last.scores.len()..=last.scores.len() + repeated).contains(&(left_out as usize)));
            prop_assert!(tree.levels.iter().map(|level| level.expected_hosts).sum::<f64>() > 0.0);
        }
        let all: u64 = tree.sum(LevelCount::internal_urls);
        // Each URL of the site that a response names is counted once. (A deep walk may find fewer: which
        // query of a script it requests, and whether a host is given up, depends on the order.)
        let named = requested.iter().flat_map(|request| named_by(&web, &request.url));
        let internal = named.filter(|url| !url.starts_with("http://b")).chain(["http://a.ke/".to_owned()]);
        let internal: HashSet<String> = internal.collect();
        prop_assert!(all <= internal.len() as u64, "{:?} of {:?}", tree.levels, internal);
    }

    #[test]
    fn a_walk_in_rounds_does_not_depend_on_how_many_requests_are_in_flight(
        web in any_web(),
        rounds in any_rounds(),
        parallel in 2usize..9,
    ) {
        let one = drive_in_rounds(&web, in_rounds(), &rounds, 1);
        prop_assert_eq!(one, drive_in_rounds(&web, in_rounds(), &rounds, parallel));
    }

    #[test]
    fn one_round_without_a_price_equals_a_walk_without_one(web in any_web()) {
        let (tree, requested) = walk(&web, WalkSettings::default().with_rates(auto::rates(), 0.0));
        let (in_one, requested_in_one, _) = drive_in_rounds(&web, in_rounds(), &[(0.0, u32::MAX)], 1);
        prop_assert_eq!((tree, requested), (in_one, requested_in_one));
    }

    #[test]
    fn rounds_at_one_price_equal_one_round_at_it(web in any_web(), price in 0.05f64..4.0, times in 1usize..5) {
        let once = drive_in_rounds(&web, in_rounds(), &[(price, u32::MAX)], 1);
        let again = drive_in_rounds(&web, in_rounds(), &vec![(price, u32::MAX); times], 1);
        prop_assert_eq!((once.0, once.1), (again.0, again.1));
    }
}

/// A front page that leads to twenty dull pages and to a generous one, which leads to twenty more of its
/// kind.
fn dull_and_generous() -> Web {
    let page = |web: Web, from: &str, to: &[String]| {
        web.page(from, &to.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let hosts = |of: &str, count| (0..count).map(|n| format!("http://{of}-{n}.ke/")).collect::<Vec<_>>();
    let dull: Vec<String> = (0..20).map(|n| format!("http://a.ke/dull/{n}")).collect();
    let generous: Vec<String> = (0..20).map(|n| format!("http://a.ke/links/{n}")).collect();
    let web = page(Web::default(), "http://a.ke/", &[&dull[..], &["http://a.ke/links/".to_owned()]].concat());
    let web = page(web, "http://a.ke/links/", &[&hosts("first", 10)[..], &generous].concat());
    let web = dull.iter().fold(web, |web, url| page(web, url, &[]));
    (0..).zip(&generous).fold(web, |web, (n, url)| page(web, url, &hosts(&format!("h{n}"), 10)))
}

#[test]
fn what_is_worth_most_is_requested_first_at_whatever_level_it_is() {
    // robots.txt, front page, the page of links, and twelve more.
    let (tree, requested, waiting) = drive_in_rounds(&dull_and_generous(), in_rounds(), &[(3.0, 15)], 1);
    let paths: Vec<&str> = requested.iter().map(|request| request.url.path()).collect();
    assert_eq!(paths[..3], ["/robots.txt", "/", "/links/"]);
    assert!(paths[3..].iter().all(|path| path.starts_with("/links/")), "{paths:?}");
    assert_eq!((paths.len(), tree.outcome), (15, Outcome::Yield));
    assert_eq!(waiting.iter().map(|it| it.scores.len()).collect::<Vec<_>>(), [0, 20 + 8]);
    assert!(waiting[1].scores.is_sorted_by(|one, other| one >= other));
    assert_eq!((tree.levels[1].class(Class::Yield), tree.levels[2].class(Class::Yield)), (20, 8));
}

#[test]
fn a_site_that_no_round_has_opened_ends_by_the_budget() {
    let web = dull_and_generous();
    let (tree, requested, waiting) = drive_in_rounds(&web, in_rounds(), &[(1.0, 1)], 1);
    assert_eq!((tree.outcome, requested.len()), (Outcome::RequestBudget, 1));
    assert!(waiting.iter().all(|it| it.is_entering && it.scores.is_empty()));
    let (tree, requested, _) = drive_in_rounds(&web, in_rounds(), &[], 1);
    assert_eq!((tree.outcome, requested.len()), (Outcome::RequestBudget, 0));
}

#[test]
fn what_lies_too_deep_is_counted_and_not_requested() {
    let settings = WalkSettings { depth: Depth(1), ..in_rounds() };
    let (tree, requested, _) = drive_in_rounds(&dull_and_generous(), settings, &[(0.0, 5), (0.0, 99)], 1);
    assert_eq!((requested.len(), tree.outcome), (2 + 21, Outcome::Depth));
    assert_eq!(tree.levels[2].class(Class::Depth), 20);
}
