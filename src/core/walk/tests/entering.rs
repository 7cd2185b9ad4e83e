use super::*;

/// Requests to these origins fail.
fn dead(web: Web, failure: Failure, origins: &[&str]) -> Web {
    origins
        .iter()
        .fold(web, |web, origin| web.serve(&format!("{origin}/robots.txt"), ServedPage::Fails(failure)))
}

/// A walk from a start URL; it is the same with one request in flight and with four.
fn entered_with(web: &Web, from: &str, settings: &WalkSettings) -> (Tree, Vec<String>) {
    let (tree, requested) = drive(start(from, settings.clone(), ""), web, 1);
    assert_eq!((&tree, &requested), (&drive(start(from, settings.clone(), ""), web, 4).0, &requested));
    let pages = requested.into_iter().filter(|request| request.purpose == Purpose::Page);
    (tree, pages.map(|request| request.url.to_string()).collect())
}

fn entered(web: &Web, from: &str) -> (Tree, Vec<String>) {
    entered_with(web, from, &WalkSettings::default())
}

fn by(tree: &Tree) -> (Outcome, Option<Entrance>, u16) {
    (tree.outcome, tree.entrance, tree.entrances)
}

#[test]
fn a_dead_link_into_a_site_leads_to_its_front_page() {
    let web = Web::default().page("http://a.ke/", &["/x"]).page("http://a.ke/x", &[]);
    let (tree, requested) = entered(&web, "http://a.ke/gone");
    assert_eq!(requested, ["http://a.ke/gone", "http://a.ke/", "http://a.ke/x"]);
    assert_eq!(by(&tree), (Outcome::Complete, Some(Entrance::FrontPage), 2));
    assert_eq!((tree.levels[0].internal_urls(), tree.levels[0].pages, tree.is_closed), (2, 1, false));
}

#[test]
fn what_is_no_page_is_no_entrance() {
    let web = Web::default().page("http://a.ke/", &[]).serve("http://a.ke/x.pdf", ServedPage::File);
    let (tree, _) = entered(&web, "http://a.ke/x.pdf");
    assert_eq!(by(&tree), (Outcome::Complete, Some(Entrance::FrontPage), 2));
}

#[test]
fn a_start_that_brings_a_page_is_the_only_entrance_asked() {
    let web = Web::default().redirect("http://a.ke/", "https://www.a.ke/").page("https://www.a.ke/", &[]);
    let (tree, requested) = entered(&web, "http://a.ke/");
    assert_eq!(requested, ["http://a.ke/", "https://www.a.ke/"]);
    assert_eq!(by(&tree), (Outcome::Complete, Some(Entrance::Offered), 1));
}

#[test]
fn a_site_that_answers_only_by_https_or_whose_port_80_resets_is_entered_by_https() {
    for failure in
        [Failure::ConnectRefused, Failure::ConnectTimeout, Failure::Reset, Failure::FirstByteTimeout]
    {
        let web = dead(Web::default().page("https://a.ke/", &["http://b.ke/"]), failure, &["http://a.ke"]);
        let (tree, requested) = entered(&web, "http://a.ke/");
        assert_eq!(requested, ["https://a.ke/"], "{failure}");
        assert_eq!(by(&tree), (Outcome::Complete, Some(Entrance::OtherScheme), 2));
        // One page, in one class.
        let level = &tree.levels[0];
        assert_eq!(
            (level.internal_urls(), level.class(Class::Fetched), tree.deepest()),
            (1, 1, Some(Depth(0)))
        );
    }
}

#[test]
fn the_front_page_is_passed_over_where_no_connection_came_about_and_not_after_a_reset() {
    let live = || Web::default().page("https://a.ke/", &[]);
    let web = dead(live(), Failure::ConnectRefused, &["http://a.ke"]);
    assert_eq!(by(&entered(&web, "http://a.ke/x").0), (Outcome::Complete, Some(Entrance::OtherScheme), 2));
    let web = live().serve("http://a.ke/x", ServedPage::Gone).serve("http://a.ke/", ServedPage::Gone);
    let (tree, requested) = entered(&web, "http://a.ke/x");
    assert_eq!(requested[..2], ["http://a.ke/x", "http://a.ke/"]);
    // Its robots.txt got a response: http was reached.
    assert_eq!(by(&tree), (Outcome::NoPage, None, 3));
}

#[test]
fn a_site_with_an_address_only_at_www_is_entered_there() {
    let web = Web::default().page("http://www.a.ke/", &["/x"]).page("http://www.a.ke/x", &[]);
    let web = dead(web, Failure::DnsNoAddress, &["http://a.ke"]);
    let (tree, requested) = entered(&web, "http://a.ke/");
    assert_eq!(requested, ["http://www.a.ke/", "http://www.a.ke/x"]);
    assert_eq!(by(&tree), (Outcome::Complete, Some(Entrance::OtherName), 2));
}

#[test]
fn a_site_that_answers_only_at_www_and_https_is_entered_there() {
    let web = Web::default().page("https://www.a.ke/", &[]);
    let web = dead(web, Failure::DnsNxdomain, &["http://a.ke"]);
    let web = dead(web, Failure::ConnectRefused, &["http://www.a.ke"]);
    let (tree, requested) = entered(&web, "http://a.ke/");
    assert_eq!(requested, ["https://www.a.ke/"]);
    assert_eq!(by(&tree), (Outcome::Complete, Some(Entrance::OtherNameOtherScheme), 3));
}

#[test]
fn from_www_the_bare_name_is_tried_and_from_another_host_both() {
    let web = Web::default().page("http://a.ke/", &[]);
    let (tree, requested) = entered(&web, "http://www.a.ke/");
    assert_eq!(requested, ["http://www.a.ke/", "http://a.ke/"]);
    assert_eq!(tree.entrance, Some(Entrance::OtherName));
    let web = Web::default().page("http://www.a.ke/", &[]);
    let (tree, requested) = entered(&web, "http://shop.a.ke/x");
    assert_eq!(requested, ["http://shop.a.ke/x", "http://shop.a.ke/", "http://a.ke/", "http://www.a.ke/"]);
    assert_eq!((tree.entrance, tree.entrances), (Some(Entrance::OtherName), 4));
}

#[test]
fn other_names_are_asked_by_the_scheme_offered_and_at_its_default_port() {
    let (_, requested) = entered(&Web::default(), "https://a.ke:8443/x");
    assert_eq!(requested, ["https://a.ke:8443/x", "https://a.ke:8443/", "https://www.a.ke/"]);
}

#[test]
fn no_more_entrances_are_tried_than_may_be() {
    for (most, requested) in [(1, 1), (2, 2), (3, 3), (4, 4)] {
        let settings = WalkSettings { entrances: Entrances::UpTo(most), ..WalkSettings::default() };
        let (tree, pages) = entered_with(&Web::default(), "http://shop.a.ke/x", &settings);
        assert_eq!(
            (pages.len(), tree.entrances, tree.outcome),
            (requested, u16::from(most), Outcome::NoPage)
        );
    }
}

#[test]
fn where_nothing_answers_the_site_is_unreachable_and_where_anything_does_it_gave_no_page() {
    let all = ["http://a.ke", "https://a.ke", "http://www.a.ke", "https://www.a.ke"];
    let (tree, requested) = entered(&dead(Web::default(), Failure::ConnectTimeout, &all), "http://a.ke/");
    assert_eq!((by(&tree), requested.len()), ((Outcome::Unreachable, None, 4), 0));
    assert!(tree.is_closed);
    let (tree, _) = entered(&dead(Web::default(), Failure::ConnectTimeout, &all[..3]), "http://a.ke/");
    assert_eq!(by(&tree), (Outcome::NoPage, None, 4));
    assert!(tree.is_closed);
    let old = dead(Web::default(), Failure::ConnectRefused, &["http://a.ke", "http://www.a.ke"]);
    let old = dead(old, Failure::TlsTooOld, &["https://a.ke", "https://www.a.ke"]);
    assert_eq!(by(&entered(&old, "http://a.ke/").0), (Outcome::NoPage, None, 4), "it speaks old TLS");
    for status in [401, 403, 404, 500] {
        let web = all
            .iter()
            .fold(Web::default(), |web, origin| web.serve(&format!("{origin}/"), ServedPage::Status(status)));
        assert_eq!(entered(&web, "http://a.ke/").0.outcome, Outcome::NoPage, "{status}");
    }
}

#[test]
fn circles_of_redirects_end_without_a_page() {
    let web = Web::default()
        .redirect("http://a.ke/", "https://www.a.ke/")
        .redirect("https://www.a.ke/", "http://www.a.ke/")
        .redirect("http://www.a.ke/", "https://a.ke/")
        .redirect("https://a.ke/", "http://a.ke/");
    let (tree, requested) = entered(&web, "http://a.ke/");
    assert_eq!(requested, ["http://a.ke/", "https://www.a.ke/", "http://www.a.ke/", "https://a.ke/"]);
    assert_eq!((by(&tree), tree.levels[0].internal_urls()), ((Outcome::NoPage, None, 1), 2));
}

#[test]
fn a_redirect_to_a_known_name_under_a_scheme_not_asked_yet_is_followed() {
    let web = Web::default()
        .redirect("http://a.ke/", "http://www.a.ke/")
        .redirect("http://www.a.ke/", "https://a.ke/")
        .page("https://a.ke/", &[]);
    assert_eq!(by(&entered(&web, "http://a.ke/").0), (Outcome::Complete, Some(Entrance::Offered), 1));
}

#[test]
fn a_certificate_that_is_refused_is_no_answer_and_the_other_scheme_is_tried() {
    let web = dead(Web::default().page("http://a.ke/", &[]), Failure::TlsCertificate, &["https://a.ke"]);
    let (tree, requested) = entered(&web, "https://a.ke/x");
    assert_eq!((requested, tree.entrance), (vec!["http://a.ke/".to_owned()], Some(Entrance::OtherScheme)));
    let web = web.redirect("http://a.ke/", "https://a.ke/");
    assert_eq!(entered(&web, "http://a.ke/").0.outcome, Outcome::NoPage);
}

#[test]
fn a_front_page_that_leads_to_another_site_has_moved_and_a_deep_url_has_not() {
    let web = Web::default().redirect("http://a.ke/old", "http://b.ke/");
    let (tree, requested) = entered(&web, "http://a.ke/old");
    assert_eq!(requested, ["http://a.ke/old", "http://a.ke/", "http://www.a.ke/"]);
    assert_eq!((by(&tree), tree.is_closed), ((Outcome::Moved, None, 3), true));
    assert_eq!(entered(&web.page("http://a.ke/", &[]), "http://a.ke/old").0.outcome, Outcome::Complete);
    let web = Web::default().redirect("http://a.ke/", "/home").redirect("http://a.ke/home", "http://b.ke/");
    let (tree, requested) = entered(&web, "http://a.ke/old");
    assert_eq!(requested, ["http://a.ke/old", "http://a.ke/", "http://a.ke/home"]);
    assert_eq!((by(&tree), tree.is_closed), ((Outcome::Moved, None, 2), false));
}

#[test]
fn rules_that_forbid_a_front_page_close_every_door_and_rules_about_a_deep_url_do_not() {
    let rules = |text: &str| ServedPage::Robots(format!("User-agent: *\nDisallow: {text}\n"));
    let web = Web::default().serve("http://a.ke/robots.txt", rules("/")).page("http://www.a.ke/", &[]);
    let (tree, requested) = entered(&web, "http://a.ke/x");
    assert_eq!((by(&tree), requested.len(), tree.is_closed), ((Outcome::Robots, None, 2), 0, false));
    let web = Web::default().serve("http://a.ke/robots.txt", rules("/x")).page("http://a.ke/", &[]);
    assert_eq!(by(&entered(&web, "http://a.ke/x").0), (Outcome::Complete, Some(Entrance::FrontPage), 2));
}

#[test]
fn a_robots_txt_that_fails_shuts_its_own_door_only() {
    let web = Web::default().serve("http://a.ke/robots.txt", ServedPage::Status(500));
    let live = web.page("http://www.a.ke/", &[]).page("https://a.ke/", &[]);
    let (tree, requested) = entered(&live, "http://a.ke/");
    assert_eq!(requested, ["http://www.a.ke/"], "http was reached, so https is not tried");
    assert_eq!(by(&tree), (Outcome::Complete, Some(Entrance::OtherName), 2));
    let web = live.serve("http://www.a.ke/robots.txt", ServedPage::Status(503));
    let (tree, _) = entered(&web, "http://a.ke/");
    assert_eq!((by(&tree), tree.is_closed), ((Outcome::NoPage, None, 2), true), "no rule forbids it");
}

#[test]
fn a_name_that_opted_out_ends_the_search() {
    let walk = start("http://shop.a.ke/", WalkSettings::default(), "www.a.ke");
    let (tree, requested) = drive(walk, &Web::default(), 1);
    assert_eq!((tree.outcome, tree.is_closed), (Outcome::OptOut, false));
    assert!(requested.iter().all(|request| request.url.host().as_str() != "www.a.ke"));
}

#[test]
fn front_pages_and_entrances_are_not_kept_back_by_the_rule_of_one_query_a_script() {
    let web = Web::default()
        .page("http://a.ke/?utm=1", &["/", "/s?id=1", "/s"])
        .page("http://a.ke/", &[])
        .page("http://a.ke/s?id=1", &[]);
    let (tree, requested) = entered(&web, "http://a.ke/?utm=1");
    assert_eq!(requested, ["http://a.ke/?utm=1", "http://a.ke/", "http://a.ke/s?id=1"]);
    assert_eq!(tree.levels[1].class(Class::Script), 1, "the bare script");
    let settings = WalkSettings { queries_per_script: 2, ..WalkSettings::default() };
    assert!(entered_with(&web, "http://a.ke/?utm=1", &settings).1.contains(&"http://a.ke/s".to_owned()));
}

/// The requests of a later tree of the site, after an earlier one.
fn later(web: &Web, first: &str, second: &str) -> (Tree, Vec<String>) {
    let scope = || Scope::new(&Host::parse("a.ke").unwrap(), ScopeRule::Site, suffixes());
    let mut walk = start(first, WalkSettings::default(), "");
    while let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) {
        walk.begin(&request);
        let (response, content) = web.response(&request);
        walk.handle(request.number, response, content);
    }
    let (_, known) = walk.conclude();
    let settings = Arc::new(WalkSettings::default());
    let (tree, requested) = drive(Walk::new(settings, scope(), Arc::default(), url(second), known), web, 1);
    let pages = requested.into_iter().filter(|request| request.purpose == Purpose::Page);
    (tree, pages.map(|request| request.url.to_string()).collect())
}

#[test]
fn a_later_tree_does_not_try_the_doors_of_an_earlier_one_again() {
    let web = Web::default().page("http://a.ke/live", &["/gone", "/new"]);
    let (tree, requested) = later(&web, "http://a.ke/gone", "http://a.ke/live");
    assert_eq!(requested, ["http://a.ke/live", "http://a.ke/new"]);
    assert_eq!(by(&tree), (Outcome::Complete, Some(Entrance::Offered), 1));
    let (tree, requested) = later(&web, "http://a.ke/gone", "http://a.ke/gone-too");
    assert_eq!((requested.len(), by(&tree)), (1, (Outcome::NoPage, None, 1)));
}

#[test]
fn a_later_tree_is_begun_although_its_script_is_used_up() {
    let web = Web::default().page("http://a.ke/?utm=1", &[]).page("http://a.ke/s", &[]);
    let web = web.page("http://a.ke/s?id=1", &[]);
    let (tree, requested) = later(&web, "http://a.ke/s?id=1", "http://a.ke/s");
    assert_eq!((requested, tree.outcome), (vec!["http://a.ke/s".to_owned()], Outcome::Complete));
}

#[test]
fn all_four_doors_are_asked_once_each_where_that_is_wanted() {
    let settings = WalkSettings { entrances: Entrances::All, ..WalkSettings::default() };
    let web = Web::default()
        .page("http://a.ke/x", &["http://www.a.ke/"])
        .page("http://a.ke/", &[])
        .redirect("https://a.ke/", "https://www.a.ke/")
        .redirect("http://www.a.ke/", "https://www.a.ke/");
    let (tree, requested) = entered_with(&web, "http://a.ke/x", &settings);
    let doors = ["http://a.ke/", "https://a.ke/", "https://www.a.ke/", "http://www.a.ke/"];
    assert_eq!(requested[0], "http://a.ke/x");
    assert_eq!(requested[1..], doors);
    assert_eq!((by(&tree), tree.levels.len()), ((Outcome::Complete, Some(Entrance::Offered), 4), 1));
    assert_eq!(tree.levels[0].internal_urls(), 3);
}

#[test]
fn sites_without_other_names_have_one_front_page() {
    for (root, offered) in [("192.0.2.1", "http://192.0.2.1/x"), ("co.ke", "http://co.ke/x")] {
        let scope = Scope::new(&Host::parse(root).unwrap(), ScopeRule::Site, suffixes());
        let walk = Walk::new(Arc::default(), scope, Arc::default(), url(offered), Known::default());
        let (tree, requested) = drive(walk, &Web::default(), 1);
        assert_eq!((tree.entrances, requested.len()), (2, 3), "{root}");
    }
    let scope = Scope::new(&Host::parse("www.a.ke").unwrap(), ScopeRule::Host, suffixes());
    let walk = Walk::new(Arc::default(), scope, Arc::default(), url("http://www.a.ke/"), Known::default());
    assert_eq!(drive(walk, &Web::default(), 1).0.entrances, 1);
}

#[test]
fn entrances_have_their_words_in_the_tables() {
    let words = [
        Entrance::Offered,
        Entrance::FrontPage,
        Entrance::OtherScheme,
        Entrance::OtherName,
        Entrance::OtherNameOtherScheme,
    ]
    .map(Entrance::as_str);
    assert_eq!(words, ["offered", "front_page", "other_scheme", "other_name", "other_name_other_scheme"]);
}

#[test]
fn how_far_a_failure_let_us_come_decides_which_door_is_next() {
    // The front page of the same origin, then the other scheme.
    let (neither, other, both) = ((false, false), (false, true), (true, true));
    for failure in Failure::ALL.iter().copied().filter(|failure| *failure != Failure::OptedOut) {
        let expected = match failure.as_str() {
            dns if dns.starts_with("dns_") => neither,
            "address_refused" | "no_route" | "tls_too_old" => other,
            no_connection if no_connection.starts_with("connect_") || no_connection.starts_with("tls_") => {
                other
            }
            // It was connected, or it was not tried.
            _ => both,
        };
        let web = dead(Web::default(), failure, &["https://a.ke"]);
        let (tree, requested) = entered(&web, "https://a.ke/x");
        // The start URL and `www.` are always tried; the front page gets no request, because its robots.txt
        // failed.
        let has_other = requested.iter().any(|url| url == "http://a.ke/");
        let has_front = tree.entrances == 3 + u16::from(has_other);
        assert_eq!((has_front, has_other), expected, "{failure}");
        assert_eq!(by(&tree).0, Outcome::NoPage);
    }
}

#[test]
fn a_question_that_was_not_put_does_not_tell_how_far_one_comes() {
    let site = |failure| {
        Web::default()
            .redirect("http://a.ke/robots.txt", "http://www.a.ke/rules.txt")
            .serve("http://www.a.ke/rules.txt", ServedPage::Fails(failure))
            .serve("http://www.a.ke/robots.txt", ServedPage::Fails(Failure::DnsNxdomain))
            .page("https://www.a.ke/", &[])
    };
    for not_put in [Failure::HeldOff, Failure::GivenUp, Failure::ServerBudget] {
        // As far as is known, the name has no address: its other scheme is no door.
        assert_eq!(by(&entered(&site(not_put), "http://a.ke/").0), (Outcome::NoPage, None, 2), "{not_put}");
    }
    let connected = by(&entered(&site(Failure::Reset), "http://a.ke/").0);
    assert_eq!(connected, (Outcome::Complete, Some(Entrance::OtherNameOtherScheme), 3));
}

#[test]
fn doors_are_named_by_what_they_share_with_the_url_that_was_offered() {
    let settings = WalkSettings { entrances: Entrances::All, ..WalkSettings::default() };
    let by_door = |door: &str, offered: &str| {
        let (tree, _) = entered_with(&Web::default().page(door, &[]), offered, &settings);
        tree.entrance
    };
    // Each front page gets a response, so the rule tries no other scheme: they are requested as doors.
    assert_eq!(by_door("http://a.ke/", "http://a.ke/x"), Some(Entrance::FrontPage));
    assert_eq!(by_door("https://a.ke/", "http://a.ke/x"), Some(Entrance::OtherScheme));
    assert_eq!(by_door("http://www.a.ke/", "http://a.ke/x"), Some(Entrance::OtherName));
    assert_eq!(by_door("https://www.a.ke/", "http://a.ke/x"), Some(Entrance::OtherNameOtherScheme));
    let moved = Web::default().redirect("http://www.a.ke/", "http://b.ke/").page("http://a.ke/", &[]);
    let (tree, _) = entered_with(&moved, "http://www.a.ke/", &settings);
    assert_eq!(by(&tree), (Outcome::Complete, Some(Entrance::OtherName), 4));
}

#[test]
fn a_robots_txt_that_fails_is_no_rule_that_forbids() {
    let web = Web::default().serve("http://www.a.ke/robots.txt", ServedPage::Status(500));
    let (tree, requested) = entered(&web, "http://a.ke/");
    assert_eq!((requested.len(), by(&tree)), (1, (Outcome::NoPage, None, 2)), "its front page said 404");
    let web = web.serve("http://a.ke/", ServedPage::Gone);
    assert_eq!(by(&entered(&web, "http://a.ke/").0), (Outcome::NoPage, None, 2));
}

/// Nine ways in which https after a redirect fails; the responses over http were no rule that forbids.
#[test]
fn https_that_fails_behind_a_redirect_is_no_rule_that_forbids_and_leaves_hope() {
    for failure in [
        Failure::TlsTimeout,
        Failure::TlsCertificate,
        Failure::TlsHandshake,
        Failure::TlsAlert,
        Failure::TlsTooOld,
        Failure::Reset,
        Failure::ConnectRefused,
        Failure::ConnectTimeout,
        Failure::FirstByteTimeout,
    ] {
        let web = ["a.ke", "www.a.ke"].iter().fold(Web::default(), |web, host| {
            web.redirect(&format!("http://{host}/robots.txt"), &format!("https://{host}/robots.txt"))
                .redirect(&format!("http://{host}/"), &format!("https://{host}/"))
                .serve(&format!("https://{host}/robots.txt"), ServedPage::Fails(failure))
        });
        for offered in ["http://a.ke/", "https://a.ke/"] {
            let (tree, requested) = entered(&web, offered);
            assert_eq!((tree.outcome, requested.len()), (Outcome::NoPage, 0), "{offered} {failure}");
            assert!(tree.is_closed, "another URL may open it: {offered} {failure}");
            let classes = tree.levels[0].class(Class::RobotsUnreachable);
            assert_eq!(classes, tree.levels[0].internal_urls(), "{offered} {failure}");
        }
    }
}

#[test]
fn a_robots_txt_that_redirects_for_ever_forbids_nothing() {
    let web = Web::default()
        .redirect("http://a.ke/robots.txt", "http://www.a.ke/robots.txt")
        .redirect("http://www.a.ke/robots.txt", "http://a.ke/robots.txt")
        .page("http://a.ke/", &[]);
    assert_eq!(entered(&web, "http://a.ke/").0.outcome, Outcome::Complete);
}
