//! The limits of a walk: the URLs that a site may have, its failures, and the requests sent ahead of
//! responses.

use super::*;
use crate::page::MAX_LINKS;

fn linking(internal: usize, external: usize) -> Web {
    let internal = (0..internal).map(|n| format!("/{n}"));
    let links: Vec<String> = internal.chain((0..external).map(|n| format!("http://b{n}.ke/"))).collect();
    Web::default().page("http://a.ke/", &links.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The maximum number of requests that a walk has in flight if nothing else limits them.
fn most_in_flight(web: &Web, settings: WalkSettings) -> usize {
    let mut walk = start("http://a.ke/", settings, "");
    let (mut flying, mut most, mut requested) = (Vec::new(), 0, 0);
    loop {
        match walk.poll(SystemTime::UNIX_EPOCH) {
            Step::Request(request, _) => {
                assert_eq!(request.number, walk.request_count());
                assert!(request.depth.is_none_or(|depth| depth == walk.depth()));
                walk.begin(&request);
                requested += 1;
                assert_eq!(walk.request_count(), requested);
                flying.push(request);
            }
            Step::Wait => {
                let request = flying.remove(0);
                let (response, content) = web.response(&request);
                walk.handle(request.number, response, content);
            }
            Step::RoundOver => panic!("there are no rounds"),
            Step::Done => return most,
        }
        assert_eq!(walk.in_flight(), flying.len());
        most = most.max(flying.len());
    }
}

#[test]
fn so_much_is_asked_ahead_as_cannot_fill_the_site_or_end_the_walk() {
    let many = WalkSettings { max_failures: 30, ..WalkSettings::default() };
    for (internal, external, spare, most) in [
        // The front page and its links are known; each response may bring as many URLs as a page may have
        // links.
        (20, 0, 2 * MAX_LINKS, 2),
        (20, 0, 2 * MAX_LINKS + 1, 3),
        (20, 5, 2 * MAX_LINKS, 2),
        (20, 5, 2 * MAX_LINKS + 1, 3),
        (20, 0, 19 * MAX_LINKS, 19),
        (20, 0, 20 * MAX_LINKS, 20),
    ] {
        let settings = WalkSettings { max_urls: 1 + internal + external + spare, ..many.clone() };
        assert_eq!(most_in_flight(&linking(internal, external), settings), most, "{external} {spare}");
    }
    assert_eq!(
        most_in_flight(&linking(20, 0), WalkSettings::default()),
        5,
        "the fifth failure ends the walk"
    );
    assert_eq!(
        most_in_flight(&linking(20, 0), WalkSettings { max_urls: 22, ..many }),
        1,
        "one is always asked"
    );
}

#[test]
fn a_site_may_have_just_so_many_urls() {
    let walked = |max_urls, parallel| {
        let settings = WalkSettings { max_urls, ..WalkSettings::default() };
        let (tree, requested) = drive(start("http://a.ke/", settings, ""), &linking(3, 2), parallel);
        (tree.outcome, requested.len())
    };
    for parallel in [1, 4] {
        assert_eq!(walked(6, parallel), (Outcome::Complete, 5));
        assert_eq!(walked(5, parallel), (Outcome::Trap, 2));
    }
}

#[test]
fn a_site_may_have_just_so_many_bytes_of_urls() {
    let walked = |lengths: &[usize]| {
        // `http://a.ke/` and a digit are 13 bytes.
        let long = |(n, length): (usize, &usize)| format!("http://a.ke/{n}{}", "x".repeat(length - 13));
        let links: Vec<String> = lengths.iter().enumerate().map(long).collect();
        let web = Web::default().page("http://a.ke/", &links.iter().map(String::as_str).collect::<Vec<_>>());
        let (tree, _) = walk(&web, WalkSettings { max_urls: 10, ..WalkSettings::default() });
        (tree.outcome, tree.levels[1].class(Class::Fetched), tree.levels[1].class(Class::Limit))
    };
    assert_eq!(walked(&[1000, 999, 100]), (Outcome::Complete, 3, 0));
    assert_eq!(walked(&[1000, 1000]), (Outcome::Complete, 2, 0));
    assert_eq!(walked(&[1000, 1000, 20]), (Outcome::Trap, 0, 2));
    let external = format!("http://b.ke/{}", "x".repeat(1988));
    let web = Web::default().page("http://a.ke/", &[&external, "/x"]);
    assert_eq!(walk(&web, WalkSettings { max_urls: 10, ..WalkSettings::default() }).0.outcome, Outcome::Trap);
}

#[test]
fn a_site_that_is_full_is_named_by_what_most_of_its_urls_look_like() {
    let links = ["/a1", "/z1", "/z2", "/z3", "/b1", "/b2", "/too-many"];
    let (tree, requested) = walk(
        &Web::default().page("http://a.ke/", &links),
        WalkSettings { max_urls: 7, ..WalkSettings::default() },
    );
    assert_eq!((tree.outcome, requested.len()), (Outcome::Trap, 2));
    assert_eq!(tree.trap_patterns, ["a.ke/z#"]);
    let (tree, _) = walk(
        &Web::default().page("http://a.ke/", &["/z1", "/b1", "/x"]),
        WalkSettings { max_urls: 3, ..WalkSettings::default() },
    );
    assert_eq!(tree.trap_patterns, ["a.ke/b#"], "of equals the first by name");
}

#[test]
fn only_failures_in_a_row_and_at_the_server_end_a_walk() {
    let outcome = |failure: Failure, good: Option<usize>| {
        let web = (0..9).fold(linking(9, 0), |web, n| match good {
            Some(good) if n % good == 0 => web.serve(&format!("http://a.ke/{n}"), ServedPage::Status(500)),
            _ => web.serve(&format!("http://a.ke/{n}"), ServedPage::Fails(failure)),
        });
        let (tree, requested) = walk(&web, WalkSettings::default());
        (tree.outcome, requested.len() - 2)
    };
    assert_eq!(outcome(Failure::Reset, None), (Outcome::Refused, 5));
    assert_eq!(outcome(Failure::ConnectTimeout, None), (Outcome::Unreachable, 5));
    assert_eq!(outcome(Failure::Reset, Some(5)), (Outcome::Complete, 9), "any status is an answer");
    // A request that is not sent is no failure of the server, and fetches no page.
    for not_sent in [Failure::DnsTimeout, Failure::HeldOff, Failure::AddressRefused] {
        assert_eq!(outcome(not_sent, None), (Outcome::Complete, 9), "{not_sent}");
    }
    assert_eq!(outcome(Failure::GivenUp, None), (Outcome::Unreachable, 1));
}

#[test]
fn a_site_that_fails_before_its_first_page_gave_none_and_one_that_fails_after_it_is_unreachable() {
    let settings = WalkSettings { max_failures: 1, ..WalkSettings::default() };
    let (tree, requested) = walk(&Web::default().serve("http://a.ke/", ServedPage::Gone), settings.clone());
    assert_eq!((tree.outcome, requested.len()), (Outcome::NoPage, 2), "its robots.txt was answered");
    let fails = |failure| {
        let web =
            Web::default().page("http://a.ke/", &["/x"]).serve("http://a.ke/x", ServedPage::Fails(failure));
        walk(&web, settings.clone()).0.outcome
    };
    assert_eq!(fails(Failure::ConnectRefused), Outcome::Unreachable);
    assert_eq!(fails(Failure::Reset), Outcome::Refused, "the server is there, and closed the connection");
}

#[test]
fn what_was_tried_elsewhere_is_load_of_the_level_that_asked() {
    let web = linking(1, 0);
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    while let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) {
        walk.begin(&request);
        let (response, content) = web.response(&request);
        let mut tried = response.clone();
        (tried.status, tried.failure) = (None, Some(Failure::ConnectRefused));
        for number in [request.number, request.number + 1] {
            walk.tried(number, tried.clone());
        }
        if request.depth == Some(Depth(1)) {
            walk.tried(request.number, tried);
        }
        walk.handle(request.number, response, content);
    }
    let (tree, _) = walk.conclude();
    let load = |level: &LevelCount| (level.requests, level.sent_bytes);
    let loads = (load(&tree.robots), load(&tree.levels[0]), load(&tree.levels[1]));
    assert_eq!(loads, ((2, 200), (2, 200), (3, 300)));
    assert_eq!(tree.outcome, Outcome::Complete, "a try is no failure in a row");
}

#[test]
fn what_a_walk_had_no_turn_for_is_below_its_depth_or_beyond_its_limit() {
    let web = (0..3).fold(Web::default().page("http://a.ke/", &["/0", "/x"]), |web, n| {
        web.page(&format!("http://a.ke/{n}"), &[&format!("/{}", n + 1)])
    });
    let ended_at = |depth, target: &str| {
        let mut walk =
            start("http://a.ke/", WalkSettings { depth: Depth(depth), ..WalkSettings::default() }, "");
        while let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) {
            walk.begin(&request);
            let (response, content) = web.response(&request);
            walk.handle(request.number, response, content);
            if request.url.target() == target {
                walk.end(Outcome::RequestBudget);
            }
        }
        let tree = walk.conclude().0;
        let left = |class| tree.levels.iter().map(|level| level.class(class)).collect::<Vec<_>>();
        (left(Class::Limit), left(Class::Depth))
    };
    // `/x` is on the level that was walked, and `/1` on the level below.
    assert_eq!(ended_at(1, "/0"), (vec![0, 1, 0], vec![0, 0, 1]));
    assert_eq!(ended_at(2, "/0"), (vec![0, 1, 1], vec![0, 0, 0]));
    assert_eq!(ended_at(3, "/0"), (vec![0, 1, 1], vec![0, 0, 0]));
}
