use super::*;

/// The decision of one robots.txt, without the other doors of its site.
fn one_entrance() -> WalkSettings {
    WalkSettings { entrances: Entrances::UpTo(1), ..WalkSettings::default() }
}

#[test]
fn nofollow_links_are_not_followed_unless_another_link_leads_there() {
    let html = |text: &str| ServedPage::Html(text.to_owned());
    let web = Web::default()
        .serve(
            "http://a.ke/",
            html("<a rel=nofollow href=/x>x</a><a rel='ugc nofollow' href=/y>y</a><a href=/z>z</a>"),
        )
        .serve("http://a.ke/z", html("<a href=/y>y</a><a rel=nofollow href=http://b.ke/>b</a>"))
        .serve("http://a.ke/y", html("<meta name=robots content='noindex, nofollow'><a href=/w>w</a>"));
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(pages(&requested), [(0, "/"), (1, "/z"), (2, "/y")]);
    assert!(tree.externals[0].nofollow);
    // They have no depth, because no followed link leads there: they are counted below the last level.
    assert_eq!(tree.levels[3].class(Class::Nofollow), 2);
}

#[test]
fn robots_txt_is_asked_once_per_host_and_obeyed() {
    let robots = |text: &str| ServedPage::Robots(text.to_owned());
    let web = Web::default()
        .serve("http://a.ke/robots.txt", robots("User-agent: *\nDisallow: /no\n"))
        .serve("http://img.a.ke/robots.txt", ServedPage::Gone)
        .page("http://a.ke/", &["/no/1", "/yes", "http://img.a.ke/1", "http://img.a.ke/2"])
        .page("http://a.ke/yes", &[]);
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(requested.iter().filter(|request| request.purpose == Purpose::Robots).count(), 2);
    assert_eq!(pages(&requested), [(0, "/"), (1, "/yes")]);
    let level = &tree.levels[1];
    assert_eq!((level.class(Class::Robots), level.class(Class::RobotsUnreachable)), (1, 2));
    assert_eq!(tree.robots.requests, 2);
}

#[test]
fn no_link_nor_redirect_leads_to_a_port_that_browsers_refuse() {
    let web = Web::default()
        .redirect("http://a.ke/robots.txt", "http://a.ke:53/robots.txt")
        .page("http://a.ke/", &["http://a.ke:22/", "http://b.ke:25/", "/away", "/out"])
        .redirect("http://a.ke/away", "http://a.ke:6667/")
        .redirect("http://a.ke/out", "http://b.ke:6667/");
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(pages(&requested), [(0, "/"), (1, "/away"), (1, "/out")]);
    assert!(requested.iter().all(|request| request.url.port() == 80), "{requested:?}");
    assert!(tree.externals.is_empty());
    let web = Web::default().redirect("http://a.ke/", "http://a.ke:6000/");
    let (tree, requested) = walk(&web, one_entrance());
    assert_eq!(pages(&requested), [(0, "/")]);
    assert!(tree.externals.is_empty());
}

/// RFC 9309 knows rules, their absence, and rules that are unreachable: a challenge counts as unreachable.
#[test]
fn a_challenge_in_the_place_of_robots_txt_allows_nothing() {
    for (status, pages) in [(200, 0), (202, 0), (503, 0), (403, 1), (404, 1)] {
        let web = Web::default()
            .serve("http://a.ke/robots.txt", ServedPage::Challenge(status))
            .page("http://a.ke/", &[]);
        let (tree, _) = walk(&web, one_entrance());
        assert_eq!(tree.levels[0].pages, pages, "{status}");
        let is_closed = matches!(tree.outcome, Outcome::NoPage | Outcome::Unreachable);
        assert_eq!(is_closed, pages == 0, "{status} {}", tree.outcome);
    }
}

#[test]
fn what_robots_txt_answers_decides_over_the_site() {
    let outcome = |served: ServedPage| {
        let web = Web::default().serve("http://a.ke/robots.txt", served).page("http://a.ke/", &[]);
        let (tree, requested) = walk(&web, one_entrance());
        (tree.outcome, requested.len())
    };
    assert_eq!(outcome(ServedPage::Status(404)), (Outcome::Complete, 2));
    assert_eq!(outcome(ServedPage::Status(500)), (Outcome::NoPage, 1));
    assert_eq!(outcome(ServedPage::Gone), (Outcome::Unreachable, 1));
    assert_eq!(outcome(ServedPage::Robots("User-agent: ccsurvey\nDisallow: /".into())), (Outcome::Robots, 1));
    assert_eq!(outcome(ServedPage::Robots("User-agent: *\nCrawl-delay: 301".into())), (Outcome::Robots, 1));
    assert_eq!(outcome(ServedPage::Robots("User-agent: *\nCrawl-delay: 300".into())), (Outcome::Complete, 2));
}

#[test]
fn robots_txt_is_followed_through_redirects_and_serves_the_origin_it_ends_at() {
    let web = Web::default()
        .redirect("http://a.ke/robots.txt", "https://a.ke/robots.txt")
        .serve("https://a.ke/robots.txt", ServedPage::Robots("User-agent: *\nDisallow: /x".into()))
        .redirect("http://a.ke/", "https://a.ke/")
        .page("https://a.ke/", &["/x", "/y"]);
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(tree.robots.requests, 2, "not asked again for https");
    assert_eq!(pages(&requested), [(0, "/"), (0, "/"), (1, "/y")]);
}

#[test]
fn a_page_is_asked_for_again_only_when_its_server_says_when() {
    let web = Web::default()
        .page("http://a.ke/", &["/later", "/down"])
        .serve("http://a.ke/later", ServedPage::Later);
    let web = web.serve("http://a.ke/down", ServedPage::Status(503));
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(pages(&requested)[1..], [(1, "/later"), (1, "/down"), (1, "/later"), (1, "/later")]);
    assert_eq!(tree.levels[1].internal_urls(), 2);
}

#[test]
fn a_server_that_stops_answering_is_left_alone() {
    let links: Vec<String> = (0..50).map(|n| format!("/{n}")).collect();
    let mut web = Web::default().page("http://a.ke/", &links.iter().map(String::as_str).collect::<Vec<_>>());
    for link in &links {
        web = web.serve(&format!("http://a.ke{link}"), ServedPage::Fails(Failure::FirstByteTimeout));
    }
    for parallel in [1, 3, 8] {
        let (tree, _) = drive(start("http://a.ke/", WalkSettings::default(), ""), &web, parallel);
        assert_eq!(tree.outcome, Outcome::Unreachable);
        assert_eq!(tree.levels[1].class(Class::Fetched), 5, "with {parallel} in flight");
        assert_eq!(tree.levels[1].class(Class::Limit), 45);
    }
}

#[test]
fn opted_out_hosts_are_not_asked() {
    let web = Web::default().page("http://a.ke/", &["http://img.a.ke/", "/x"]);
    let (tree, requested) = drive(start("http://a.ke/", WalkSettings::default(), "img.a.ke"), &web, 1);
    assert_eq!(pages(&requested), [(0, "/"), (1, "/x")]);
    assert_eq!(tree.levels[1].class(Class::OptOut), 1);
    let (tree, requested) = drive(start("http://a.ke/", WalkSettings::default(), "a.ke"), &web, 1);
    assert_eq!((tree.outcome, requested.len()), (Outcome::OptOut, 0));
}

/// Ten pages per level; each page of level 1 links to one of level 2, to another site, and to the same page
/// of another host.
fn three_levels() -> Web {
    let front: Vec<String> = (0..10).map(|n| format!("/1/{n}")).collect();
    let mut web = Web::default().page("http://a.ke/", &front.iter().map(String::as_str).collect::<Vec<_>>());
    for n in 0..10 {
        let (deeper, out) = (format!("/2/{n}"), format!("http://out{n}.ke/"));
        web = web.page(&format!("http://a.ke/1/{n}"), &[&deeper, &out, "http://img.a.ke/x"]);
        web = web.page(&format!("http://a.ke/2/{n}"), &[&format!("http://out{n}.ug/")]);
    }
    web.page("http://img.a.ke/x", &[])
}

/// Walks that site, and adds an entry to the opt-out list before the response to the request for `at`
/// arrives. Returns the tree, and the requests after that.
fn walked_until_opt_out(settings: WalkSettings, entry: &str, at: &str) -> (Tree, Vec<String>) {
    let (web, list) = (three_levels(), Arc::new(OptOuts::default()));
    let (tree, requested) = drive_by(start_with_list("http://a.ke/", settings, list.clone()), |request| {
        if request.url.target() == at {
            list.replace(OptOut::parse(entry).unwrap(), || SystemTime::UNIX_EPOCH);
        }
        web.response(request)
    });
    let later = requested.iter().skip_while(|request| request.url.target() != at).skip(1);
    (tree, later.map(|request| request.url.to_string()).collect())
}

#[test]
fn a_site_that_opts_out_while_it_is_walked_ends_so_and_is_not_complete() {
    for (entry, at, outcome, left_out) in [
        ("a.ke", "/", Outcome::OptOut, 10),
        ("a.ke", "/1/3", Outcome::OptOut, 6 + 4 + 1),
        ("a.ke", "/1/9", Outcome::OptOut, 11),
        ("a.ke", "/2/8", Outcome::OptOut, 1),
        ("a.ke", "/2/9", Outcome::Complete, 0),
        ("img.a.ke", "/1/3", Outcome::OptOut, 1),
        ("other.ke", "/1/3", Outcome::Complete, 0),
    ] {
        let (tree, later) = walked_until_opt_out(WalkSettings::default(), entry, at);
        let counted: u64 = tree.levels.iter().map(|level| level.class(Class::OptOut)).sum();
        assert_eq!((tree.outcome, counted), (outcome, left_out), "{entry} at {at}");
        assert!(entry != "a.ke" || later.is_empty(), "{entry} at {at}: {later:?}");
    }
}

#[test]
fn an_opt_out_of_the_site_comes_before_what_else_ends_a_tree_and_that_of_another_host_after_it() {
    let outcome = |settings, entry: &str, at| walked_until_opt_out(settings, entry, at).0.outcome;
    let shallow = || WalkSettings { depth: Depth(1), ..WalkSettings::default() };
    assert_eq!(outcome(shallow(), "a.ke", "/1/3"), Outcome::OptOut);
    assert_eq!(outcome(shallow(), "a.ke", "/1/9"), Outcome::Depth, "nothing was left out for it");
    assert_eq!(outcome(shallow(), "img.a.ke", "/1/3"), Outcome::Depth);
}

#[test]
fn a_site_whose_address_opts_out_while_it_is_walked_ends_so() {
    let web = three_levels();
    for (host, outcome) in
        [("a.ke", Outcome::OptOut), ("img.a.ke", Outcome::OptOut), ("none", Outcome::Complete)]
    {
        let mut is_listed = false;
        let (tree, _) = drive_by(start("http://a.ke/", WalkSettings::default(), ""), |request| {
            is_listed |= request.url.target() == "/1/3";
            if is_listed && request.url.host().as_str() == host && request.url.target() != "/1/3" {
                return Web::default().serve(request.url.as_str(), ServedPage::OptedOut).response(request);
            }
            web.response(request)
        });
        assert_eq!(tree.outcome, outcome, "{host}");
    }
}

#[test]
fn a_walk_that_an_opt_out_ended_before_counts_what_is_left_so() {
    let web = three_levels();
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    while let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) {
        walk.begin(&request);
        let (response, content) = web.response(&request);
        walk.handle(request.number, response, content);
        if request.url.target() == "/1/3" {
            // As a resumed survey does with the outcome in its journal.
            walk.end(Outcome::OptOut);
        }
    }
    let tree = walk.conclude().0;
    assert_eq!((tree.outcome, tree.levels[1].class(Class::OptOut)), (Outcome::OptOut, 6));
    assert_eq!((tree.levels[2].class(Class::OptOut), tree.levels[2].class(Class::Limit)), (4 + 1, 0));
}

#[test]
fn rules_at_a_host_that_opted_out_keep_the_site_back_and_do_not_opt_it_out() {
    let web = Web::default()
        .redirect("http://a.ke/robots.txt", "http://left-alone.ke/robots.txt")
        .serve("http://left-alone.ke/robots.txt", ServedPage::OptedOut);
    let (tree, _) = walk(&web, one_entrance());
    assert_eq!(tree.outcome, Outcome::NoPage);
    let web = Web::default().serve("http://a.ke/robots.txt", ServedPage::OptedOut);
    assert_eq!(walk(&web, WalkSettings::default()).0.outcome, Outcome::OptOut);
}

#[test]
fn rules_that_broke_off_forbid_everything_and_rules_too_long_hold_as_far_as_read() {
    let (short, long) = ("User-agent: *\nDisallow: /x\n".to_owned(), "#\n".repeat(250 * 1024));
    for (failure, rules, outcome) in [
        (Failure::BodyTruncated, &short, Outcome::NoPage),
        (Failure::IdleTimeout, &short, Outcome::NoPage),
        (Failure::TooSlow, &short, Outcome::NoPage),
        (Failure::BodyEncoding, &short, Outcome::NoPage),
        // The rest of a budget may be less than a robots.txt.
        (Failure::BodyTooLarge, &short, Outcome::NoPage),
        (Failure::BodyTooLarge, &long, Outcome::Complete),
    ] {
        let web = Web::default()
            .page("http://a.ke/", &[])
            .serve("http://a.ke/robots.txt", ServedPage::Broken(failure, rules.clone()));
        assert_eq!(walk(&web, one_entrance()).0.outcome, outcome, "{failure}");
    }
}

#[test]
fn a_host_that_opted_out_since_is_let_through_for_what_is_on_record_and_no_further() {
    let requested = |at: &str, purpose| Request { number: 0, url: url(at), purpose, depth: None };
    let first = |recorded: OnRecord| {
        let mut walk = start("http://a.ke/", WalkSettings::default(), "a.ke");
        walk.expect_recorded(recorded);
        walk.poll(SystemTime::UNIX_EPOCH)
    };
    let robots = requested("http://a.ke/robots.txt", Purpose::Robots);
    assert_eq!(first(OnRecord::Requested(robots.clone())), Step::Request(robots.clone(), None));
    assert_eq!(
        first(OnRecord::Requested(requested("http://b.a.ke/robots.txt", Purpose::Robots))),
        Step::Done
    );
    assert_eq!(first(OnRecord::Nothing), Step::Done);
    assert_eq!(first(OnRecord::Lost), Step::Done);
    // The record ends after robots.txt: the front page is not requested.
    let mut walk = start("http://a.ke/", WalkSettings::default(), "a.ke");
    walk.expect_recorded(OnRecord::Requested(robots.clone()));
    walk.poll(SystemTime::UNIX_EPOCH);
    walk.begin(&robots);
    let (response, content) = Web::default().response(&robots);
    walk.handle(0, response, content);
    walk.expect_recorded(OnRecord::Nothing);
    assert_eq!(walk.poll(SystemTime::UNIX_EPOCH), Step::Done);
    assert_eq!(walk.conclude().0.outcome, Outcome::OptOut);
}
