//! RFC 9309 §2.4: a robots.txt is valid for 24 hours; and the rules of §2.3.1 for one that is requested
//! again.

use super::*;
use crate::robots::MAX_AGE;

const ROBOTS: &str = "http://a.ke/robots.txt";
const HOUR: Duration = Duration::from_secs(3600);

/// A front page with two links; `robots` decides which of them are forbidden.
fn site(robots: ServedPage) -> Web {
    Web::default()
        .serve(ROBOTS, robots)
        .page("http://a.ke/", &["/x", "/y"])
        .page("http://a.ke/x", &[])
        .page("http://a.ke/y", &[])
}

fn rules(forbidden: &str) -> ServedPage {
    ServedPage::Robots(format!("User-agent: *\nDisallow: {forbidden}\n"))
}

/// Walks a site whose robots.txt changes after the front page, when the time `passed` has gone by.
fn walk_on(before: ServedPage, after: ServedPage, passed: Duration) -> (Tree, Vec<Request>) {
    let (before, after) = (site(before), site(after));
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    let (mut now, mut requested) = (SystemTime::UNIX_EPOCH, Vec::new());
    loop {
        let Step::Request(request, _) = walk.poll(now) else { return (walk.conclude().0, requested) };
        walk.begin(&request);
        let web = if requested.len() < 2 { &before } else { &after };
        let (mut response, content) = web.response(&request);
        response.started = now;
        walk.handle(request.number, response, content);
        requested.push(request);
        if requested.len() == 2 {
            now += passed;
        }
    }
}

fn targets(requested: &[Request]) -> Vec<&str> {
    requested.iter().map(|request| request.url.target()).collect()
}

// §2.4: SHOULD NOT use the cached version for more than 24 hours
#[test]
fn a_robots_txt_is_asked_for_again_after_24_hours_and_not_before() {
    let young = walk_on(rules("/z"), rules("/x"), MAX_AGE.checked_sub(Duration::from_nanos(1)).unwrap());
    assert_eq!(targets(&young.1), ["/robots.txt", "/", "/x", "/y"]);
    let old = walk_on(rules("/z"), rules("/z"), MAX_AGE);
    assert_eq!(targets(&old.1), ["/robots.txt", "/", "/robots.txt", "/x", "/y"]);
    assert_eq!((old.0.robots.requests, old.0.outcome), (2, Outcome::Complete));
    let very_old = walk_on(rules("/z"), rules("/z"), MAX_AGE * 30);
    assert_eq!(very_old.1, old.1);
}

#[test]
fn what_new_rules_forbid_is_forbidden_and_what_they_permit_permitted() {
    let (tree, requested) = walk_on(rules("/y"), rules("/x"), MAX_AGE);
    assert_eq!(targets(&requested), ["/robots.txt", "/", "/robots.txt", "/y"]);
    assert_eq!((tree.levels[1].class(Class::Robots), tree.levels[1].class(Class::Fetched)), (1, 1));
}

// §2.3.1.4: MUST assume complete disallow; the older copy, which §2.4 would permit, is not used
#[test]
fn new_rules_that_cannot_be_had_forbid_everything() {
    for failed in
        [ServedPage::Status(500), ServedPage::Status(503), ServedPage::Gone, ServedPage::Status(429)]
    {
        let (tree, requested) = walk_on(rules("/z"), failed, MAX_AGE);
        assert_eq!(targets(&requested), ["/robots.txt", "/", "/robots.txt"]);
        assert_eq!(tree.levels[1].class(Class::RobotsUnreachable), 2);
    }
}

// §2.3.1.4 and §2.4: a server that did not respond a day ago is requested again, too
#[test]
fn rules_that_could_not_be_had_are_asked_for_again_after_a_day() {
    let web = |robots| {
        site(rules("/z"))
            .page("http://a.ke/", &["http://b.a.ke/1", "/x", "http://b.a.ke/2"])
            .serve("http://b.a.ke/robots.txt", robots)
    };
    let (before, after) = (web(ServedPage::Gone), web(ServedPage::Status(404)));
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    let (mut now, mut requested) = (SystemTime::UNIX_EPOCH, Vec::new());
    while let Step::Request(request, _) = walk.poll(now) {
        walk.begin(&request);
        let (mut response, content) = if requested.len() < 4 { &before } else { &after }.response(&request);
        response.started = now;
        now += if requested.len() == 3 { MAX_AGE } else { HOUR };
        walk.handle(request.number, response, content);
        requested.push(request);
    }
    let urls: Vec<&str> = requested[2..].iter().map(|request| request.url.as_str()).collect();
    assert_eq!(
        urls,
        ["http://b.a.ke/robots.txt", "http://a.ke/x", "http://b.a.ke/robots.txt", "http://b.a.ke/2"]
    );
}

// §2.3.1.3: a file that is gone by now allows everything
#[test]
fn rules_that_are_gone_allow_everything() {
    let (_, requested) = walk_on(rules("/"), ServedPage::Status(404), MAX_AGE);
    assert_eq!(targets(&requested), ["/robots.txt"], "the front page is forbidden");
    let (_, requested) = walk_on(rules("/x"), ServedPage::Status(404), MAX_AGE);
    assert_eq!(targets(&requested), ["/robots.txt", "/", "/robots.txt", "/x", "/y"]);
}

// §2.3.1.2
#[test]
fn new_rules_are_found_through_redirects_too() {
    let moved = |robots| {
        site(ServedPage::To("http://b.a.ke/robots.txt".to_owned())).serve("http://b.a.ke/robots.txt", robots)
    };
    let (before, after) = (moved(rules("/z")), moved(rules("/x")));
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    let (mut now, mut requested) = (SystemTime::UNIX_EPOCH, Vec::new());
    while let Step::Request(request, _) = walk.poll(now) {
        walk.begin(&request);
        let (mut response, content) = if requested.len() < 3 { &before } else { &after }.response(&request);
        response.started = now;
        walk.handle(request.number, response, content);
        requested.push(request);
        now += if requested.len() == 3 { MAX_AGE } else { Duration::ZERO };
    }
    let urls: Vec<&str> = requested.iter().map(|request| request.url.as_str()).collect();
    let (hop, end) = (ROBOTS, "http://b.a.ke/robots.txt");
    assert_eq!(urls, [hop, end, "http://a.ke/", hop, end, "http://a.ke/y"]);
}

#[test]
fn where_pauses_are_longer_than_a_day_every_other_question_is_for_robots_txt() {
    let web = site(rules("/z"));
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    let (mut now, mut requested) = (SystemTime::UNIX_EPOCH, Vec::new());
    while let Step::Request(request, _) = walk.poll(now) {
        walk.begin(&request);
        let (mut response, content) = web.response(&request);
        response.started = now;
        walk.handle(request.number, response, content);
        requested.push(request);
        now += MAX_AGE * 2;
    }
    assert_eq!(targets(&requested), ["/robots.txt", "/", "/robots.txt", "/x", "/robots.txt", "/y"]);
}

#[test]
fn nothing_is_asked_of_a_host_while_its_new_rules_are_on_their_way() {
    let web = site(rules("/x"));
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    for _ in 0..2 {
        let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) else { panic!() };
        walk.begin(&request);
        let (response, content) = site(rules("/z")).response(&request);
        walk.handle(request.number, response, content);
    }
    let later = SystemTime::UNIX_EPOCH + MAX_AGE;
    let Step::Request(robots, _) = walk.poll(later) else { panic!() };
    assert_eq!(robots.url.as_str(), ROBOTS);
    walk.begin(&robots);
    assert_eq!(walk.poll(later), Step::Wait);
    let (mut response, content) = web.response(&robots);
    response.started = later;
    walk.handle(robots.number, response, content);
    assert!(matches!(walk.poll(later), Step::Request(request, _) if request.url.target() == "/y"));
}

#[test]
fn a_recorded_walk_is_walked_again_as_it_was_at_any_time() {
    for passed in [Duration::ZERO, MAX_AGE] {
        let (tree, requested) = walk_on(rules("/y"), rules("/x"), passed);
        let (before, after) = (site(rules("/y")), site(rules("/x")));
        let mut walk = start("http://a.ke/", WalkSettings::default(), "");
        for (place, recorded) in requested.iter().enumerate() {
            walk.expect_recorded(OnRecord::Requested(recorded.clone()));
            let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH + MAX_AGE * 100) else {
                panic!()
            };
            assert_eq!(&request, recorded);
            walk.begin(&request);
            let (mut response, content) = if place < 2 { &before } else { &after }.response(&request);
            response.started = SystemTime::UNIX_EPOCH + if place < 2 { Duration::ZERO } else { passed };
            walk.handle(request.number, response, content);
        }
        walk.expect_recorded(OnRecord::Nothing);
        assert_eq!(walk.poll(SystemTime::UNIX_EPOCH + passed), Step::Done);
        assert_eq!(walk.conclude().0, tree);
    }
}

#[test]
fn a_question_between_recorded_ones_is_put_as_it_was_first() {
    let web = site(rules("/z"));
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    for _ in 0..2 {
        let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) else { panic!() };
        walk.begin(&request);
        let (response, content) = web.response(&request);
        walk.handle(request.number, response, content);
    }
    walk.expect_recorded(OnRecord::Lost);
    let later = SystemTime::UNIX_EPOCH + MAX_AGE;
    assert!(matches!(walk.poll(later), Step::Request(request, _) if request.url.target() == "/x"));
}

#[test]
fn a_robots_txt_that_was_read_as_a_page_is_on_record_as_a_page() {
    let web = Web::default().page("http://a.ke/", &["/robots.txt", "/x"]);
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(targets(&requested), ["/robots.txt", "/", "/robots.txt", "/x"]);
    assert_eq!((tree.levels[1].class(Class::Fetched), tree.robots.requests), (2, 1));
    let mut again = start("http://a.ke/", WalkSettings::default(), "");
    for recorded in &requested {
        again.expect_recorded(OnRecord::Requested(recorded.clone()));
        assert_eq!(again.poll(SystemTime::UNIX_EPOCH), Step::Request(recorded.clone(), None));
        again.begin(recorded);
        let (response, content) = web.response(recorded);
        again.handle(recorded.number, response, content);
    }
    assert_eq!(again.poll(SystemTime::UNIX_EPOCH), Step::Done);
    assert_eq!(again.conclude().0, tree);
}
