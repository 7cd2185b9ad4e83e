use std::cell::Cell;

use proptest::prelude::*;

use super::*;

/// A front page that links to `/1`, `/2` …
fn site_of(pages: usize) -> Web {
    let links: Vec<String> = (1..=pages).map(|n| format!("/{n}")).collect();
    let web = Web::default().page("http://a.ke/", &links.iter().map(String::as_str).collect::<Vec<_>>());
    links.iter().fold(web, |web, link| web.page(&format!("http://a.ke{link}"), &[]))
}

/// Walks a site whose server refuses all requests for pages after the first `delivered` ones.
fn banned_after(delivered: usize, refusal: &ServedPage, web: &Web) -> (Tree, Vec<Request>) {
    let requests = Cell::new(0);
    drive_by(start("http://a.ke/", WalkSettings::default(), ""), |request| {
        if request.purpose != Purpose::Robots {
            requests.set(requests.get() + 1);
            if requests.get() > delivered {
                return Web::default().serve(request.url.as_str(), refusal.clone()).response(request);
            }
        }
        web.response(request)
    })
}

/// The result of a walk during which one host refuses everything after `delivered` requests for pages.
fn host_bans_after(delivered: usize, host: &str, settings: WalkSettings, web: &Web) -> (Tree, Vec<Request>) {
    let requests = Cell::new(0);
    drive_by(start("http://a.ke/", settings, ""), |request| {
        if request.purpose != Purpose::Robots && request.url.host().as_str() == host {
            requests.set(requests.get() + 1);
            if requests.get() > delivered {
                return Web::default().serve(request.url.as_str(), ServedPage::Status(403)).response(request);
            }
        }
        web.response(request)
    })
}

fn of_purpose(sent: &[Request], purpose: Purpose) -> Vec<&str> {
    sent.iter().filter(|request| request.purpose == purpose).map(|request| request.url.target()).collect()
}

#[test]
fn a_server_that_refuses_everything_after_some_pages_gets_no_further_request() {
    for refusal in [
        ServedPage::Status(403),
        ServedPage::Status(406),
        ServedPage::Status(401),
        ServedPage::Challenge(403),
        ServedPage::Challenge(200),
    ] {
        let (tree, sent) = banned_after(11, &refusal, &site_of(100));
        assert_eq!(tree.outcome, Outcome::Refused, "{refusal:?}");
        assert_eq!(of_purpose(&sent, Purpose::Page).len(), 31, "twenty were refused");
        assert_eq!(of_purpose(&sent, Purpose::Check), ["/10"], "the page that came last");
        let level = &tree.levels[1];
        assert_eq!((level.class(Class::Fetched), level.class(Class::Refused)), (30, 70));
        assert_eq!((level.requests, level.pages), (31, 10), "the check is a request");
        assert_eq!(sent.last().unwrap().depth, Some(Depth(1)));
    }
}

#[test]
fn what_lies_below_a_level_that_was_refused_is_refused_too() {
    let web = site_of(100).page("http://a.ke/1", &["/below", "/below/2"]);
    let (tree, _) = banned_after(11, &ServedPage::Status(403), &web);
    assert_eq!(tree.levels[2].class(Class::Refused), 2);
    let settings = WalkSettings { depth: Depth(1), ..WalkSettings::default() };
    let refused =
        (11..=100).fold(web, |web, n| web.serve(&format!("http://a.ke/{n}"), ServedPage::Status(403)));
    let (tree, _) = walk(&refused, settings);
    assert_eq!(tree.levels[2].class(Class::Depth), 2, "the page still came: no ban");
    assert_eq!(tree.outcome, Outcome::Depth);
}

#[test]
fn a_part_of_a_site_that_everybody_is_refused_costs_a_few_checks_and_no_page() {
    for (from, checks) in [(82, 0), (81, 1), (62, 1), (61, 2), (22, 2), (21, 3), (2, 3)] {
        let web = (from..=100)
            .fold(site_of(101), |web, n| web.serve(&format!("http://a.ke/{n}"), ServedPage::Status(403)));
        let (tree, sent) = walk(&web, WalkSettings::default());
        assert_eq!((tree.outcome, tree.levels[1].class(Class::Fetched)), (Outcome::Complete, 101), "{from}");
        assert_eq!(of_purpose(&sent, Purpose::Check).len(), checks, "{from}");
    }
}

#[test]
fn pages_between_the_refused_ones_show_that_there_is_no_ban() {
    let web = (1..=100)
        .filter(|n| n % 20 != 0)
        .fold(site_of(100), |web, n| web.serve(&format!("http://a.ke/{n}"), ServedPage::Status(403)));
    let (tree, sent) = walk(&web, WalkSettings::default());
    assert_eq!((tree.outcome, of_purpose(&sent, Purpose::Check).len()), (Outcome::Complete, 0));
    // A missing page is a response, too; an error or a redirect proves nothing.
    let moved = ServedPage::To("/31".to_owned());
    for (between, checks) in
        [(ServedPage::Status(404), 0), (ServedPage::Status(500), 1), (ServedPage::Status(503), 1), (moved, 1)]
    {
        let refusing = (1..=30)
            .fold(site_of(31), |web, n| web.serve(&format!("http://a.ke/{n}"), ServedPage::Status(403)));
        let (_, sent) = walk(&refusing.serve("http://a.ke/15", between.clone()), WalkSettings::default());
        assert_eq!(of_purpose(&sent, Purpose::Check).len(), checks, "{between:?}");
    }
}

#[test]
fn a_site_that_never_delivered_a_page_is_not_checked() {
    let (tree, sent) =
        walk(&Web::default().serve("http://a.ke/", ServedPage::Challenge(200)), WalkSettings::default());
    assert_eq!((tree.outcome, tree.levels[0].pages), (Outcome::NoPage, 0), "an interstitial is no page");
    assert_eq!(of_purpose(&sent, Purpose::Check).len(), 0);
    assert!(tree.is_closed);
}

#[test]
fn a_check_that_fails_for_another_reason_is_no_proof() {
    for other in
        [ServedPage::Status(500), ServedPage::Status(503), ServedPage::Fails(Failure::ConnectTimeout)]
    {
        let web = (2..=50)
            .fold(site_of(60), |web, n| web.serve(&format!("http://a.ke/{n}"), ServedPage::Status(403)));
        let (tree, sent) = drive_by(start("http://a.ke/", WalkSettings::default(), ""), |request| {
            let other = Web::default().serve(request.url.as_str(), other.clone());
            if request.purpose == Purpose::Check { other.response(request) } else { web.response(request) }
        });
        assert_eq!(
            (tree.outcome, tree.levels[1].class(Class::Fetched)),
            (Outcome::Complete, 60),
            "{other:?}"
        );
        assert_eq!(of_purpose(&sent, Purpose::Check).len(), 2, "at twenty and at forty");
    }
}

#[test]
fn the_host_that_bans_is_left_alone_and_the_others_are_not() {
    let links: Vec<String> = (1..=60).flat_map(|n| [format!("http://b.a.ke/{n}"), format!("/{n}")]).collect();
    let page = links.iter().map(String::as_str).collect::<Vec<_>>();
    let web = links.iter().fold(Web::default().page("http://a.ke/", &page), |web, link| {
        let url = if link.starts_with('/') { format!("http://a.ke{link}") } else { link.clone() };
        web.page(&url, &[])
    });
    let (tree, sent) = host_bans_after(10, "b.a.ke", WalkSettings::default(), &web);
    assert_eq!((tree.outcome, tree.sum(|level| level.pages)), (Outcome::Refused, 1 + 60 + 10));
    assert_eq!(tree.levels[1].class(Class::Refused), 30);
    assert_eq!(of_purpose(&sent, Purpose::Check), ["/10"]);
}

#[test]
fn hosts_of_a_server_that_bans_are_checked_together_and_then_soon() {
    let links: Vec<String> = (0..400).map(|n| format!("http://h{}.a.ke/{n}", n / 4)).collect();
    let page = links.iter().map(String::as_str).collect::<Vec<_>>();
    let web = links.iter().fold(Web::default().page("http://a.ke/", &page), |web, link| web.page(link, &[]));
    let (tree, sent) = banned_after(41, &ServedPage::Status(403), &web);
    assert_eq!(tree.outcome, Outcome::Refused);
    let (pages, checks) = (of_purpose(&sent, Purpose::Page).len(), of_purpose(&sent, Purpose::Check).len());
    assert_eq!((pages, checks), (41 + 20, 1), "no host that delivered pages is left");
    assert_eq!(tree.levels[1].internal_urls(), 400);
}

#[test]
fn a_host_that_is_given_up_is_refused_after_its_responses_and_unreachable_after_failures() {
    let outcome = |trouble: ServedPage| {
        let web = (3..=4).fold(site_of(50), |web, n| web.serve(&format!("http://a.ke/{n}"), trouble.clone()));
        let web = (5..=50)
            .fold(web, |web, n| web.serve(&format!("http://a.ke/{n}"), ServedPage::Fails(Failure::GivenUp)));
        let (tree, sent) = walk(&web, WalkSettings::default());
        let classes = [Class::Fetched, Class::Refused, Class::Limit].map(|class| tree.levels[1].class(class));
        assert_eq!(
            of_purpose(&sent, Purpose::Page).len(),
            6,
            "{trouble:?}: one was not sent, the others not tried"
        );
        assert_eq!(tree.levels[1].requests, 4);
        (tree.outcome, classes)
    };
    for status in [429, 502, 503] {
        assert_eq!(outcome(ServedPage::Status(status)), (Outcome::Refused, [4, 46, 0]), "{status}");
    }
    assert_eq!(outcome(ServedPage::Gone), (Outcome::Refused, [4, 46, 0]));
    for failure in [Failure::ConnectRefused, Failure::ConnectTimeout, Failure::FirstByteTimeout] {
        assert_eq!(outcome(ServedPage::Fails(failure)), (Outcome::Unreachable, [4, 0, 46]), "{failure}");
    }
    assert_eq!(
        outcome(ServedPage::Status(200)),
        (Outcome::Unreachable, [4, 0, 46]),
        "others had the trouble"
    );
}

#[test]
fn a_host_that_is_given_up_beside_others_leaves_them() {
    let web = Web::default()
        .page("http://a.ke/", &["http://b.a.ke/1", "http://b.a.ke/2", "http://b.a.ke/3", "/x"])
        .page("http://a.ke/x", &["/y"])
        .page("http://a.ke/y", &[])
        .serve("http://b.a.ke/1", ServedPage::Status(503))
        .serve("http://b.a.ke/2", ServedPage::Fails(Failure::GivenUp));
    let (tree, sent) = walk(&web, WalkSettings::default());
    assert_eq!(of_purpose(&sent, Purpose::Page), ["/", "/1", "/2", "/x", "/y"]);
    assert_eq!((tree.levels[1].class(Class::Fetched), tree.levels[1].class(Class::Refused)), (2, 2));
    assert_eq!((tree.levels[2].class(Class::Fetched), tree.outcome), (1, Outcome::Refused));
}

#[test]
fn what_was_never_sent_is_not_fetched_for_every_reason_that_there_is() {
    for failure in Failure::ALL {
        let web = Web::default().page("http://a.ke/", &["/x", "/y"]).page("http://a.ke/y", &[]);
        let (tree, _) =
            walk(&web.serve("http://a.ke/x", ServedPage::Fails(*failure)), WalkSettings::default());
        let level = &tree.levels[1];
        assert_eq!(
            level.class(Class::Fetched) + level.class(Class::Limit) + level.class(Class::OptOut),
            2,
            "{failure}"
        );
        let was_sent = failure.reached_the_network();
        let fetched = match failure {
            Failure::GivenUp => 0,
            _ => 1 + u64::from(was_sent),
        };
        assert_eq!((level.class(Class::Fetched), level.requests), (fetched, fetched), "{failure}");
        assert_eq!(level.class(Class::OptOut), u64::from(*failure == Failure::OptedOut), "{failure}");
        assert_eq!(level.internal_urls(), 2, "{failure}");
        let outcome = match failure {
            Failure::GivenUp => Outcome::Unreachable,
            Failure::OptedOut => Outcome::OptOut,
            _ => Outcome::Complete,
        };
        assert_eq!(tree.outcome, outcome, "{failure}");
    }
}

#[test]
fn what_was_sent_once_is_fetched_though_it_is_not_sent_again() {
    // By HEAD and then not by GET; by http and then not by https; and after a 503 with a time.
    let web = Web::default()
        .page("http://a.ke/", &["/x", "/moved", "/y"])
        .redirect("http://a.ke/moved", "https://a.ke/moved")
        .serve("https://a.ke/moved", ServedPage::Fails(Failure::HeldOff));
    let (tree, _) = walk(&web, WalkSettings::default());
    assert_eq!((tree.levels[1].class(Class::Fetched), tree.levels[1].class(Class::Limit)), (3, 0));
    let again = Cell::new(0);
    let (tree, _) = drive_by(start("http://a.ke/", WalkSettings::default(), ""), |request| {
        let served = if request.url.target() == "/x" {
            again.set(again.get() + 1);
            ServedPage::Later
        } else {
            ServedPage::Status(404)
        };
        let served = if again.get() > 1 { ServedPage::Fails(Failure::ServerBudget) } else { served };
        if request.url.target() == "/x" {
            Web::default().serve(request.url.as_str(), served).response(request)
        } else {
            web.response(request)
        }
    });
    assert_eq!((tree.levels[1].class(Class::Fetched), tree.levels[1].class(Class::Limit)), (3, 0));
}

#[test]
fn an_entrance_that_was_never_sent_is_fetched_when_it_is_sent_by_its_other_scheme() {
    let web = Web::default().page("http://www.a.ke/", &[]);
    let not_sent = ServedPage::Fails(Failure::NoRoute);
    let web = web.serve("https://a.ke/", not_sent).page("http://a.ke/", &["/x"]);
    let settings = WalkSettings { entrances: Entrances::All, ..WalkSettings::default() };
    let (tree, _) = drive(start("https://a.ke/", settings, ""), &web, 1);
    assert_eq!(tree.levels[0].class(Class::Limit), 0);
    assert_eq!(tree.levels[0].internal_urls(), tree.levels[0].class(Class::Fetched));
}

#[derive(Clone, Debug)]
enum RefusalKind {
    Page,
    Forbidden,
    Challenged,
    Missing,
    Error,
    Closed,
    Lost,
    NotSent,
}

proptest! {
    /// Whatever servers respond, every URL is in one class, fetched URLs were requested, requests are
    /// exchanges, and the tree does not depend on how many requests are in flight.
    #[test]
    fn levels_add_up_whatever_servers_answer(
        kinds in prop::collection::vec(
            prop_oneof![
                3 => Just(RefusalKind::Page),
                12 => Just(RefusalKind::Forbidden),
                2 => Just(RefusalKind::Challenged),
                1 => Just(RefusalKind::Missing),
                1 => Just(RefusalKind::Error),
                1 => Just(RefusalKind::Closed),
                1 => Just(RefusalKind::Lost),
                1 => Just(RefusalKind::NotSent),
            ],
            0..120,
        ),
        banned in prop::option::of(0_usize..120),
        parallel in 2_usize..6,
    ) {
        let web = (1..).zip(&kinds).fold(site_of(kinds.len()), |web, (n, kind)| {
            let served = match kind {
                RefusalKind::Page => return web,
                RefusalKind::Forbidden => ServedPage::Status(403),
                RefusalKind::Challenged => ServedPage::Challenge(200),
                RefusalKind::Missing => ServedPage::Status(404),
                RefusalKind::Error => ServedPage::Status(500),
                RefusalKind::Closed => ServedPage::Gone,
                RefusalKind::Lost => ServedPage::Fails(Failure::ConnectTimeout),
                RefusalKind::NotSent => ServedPage::Fails(Failure::AddressRefused),
            };
            web.serve(&format!("http://a.ke/{n}"), served)
        });
        let (tree, sent) = match banned {
            Some(delivered) => banned_after(delivered + 1, &ServedPage::Status(403), &web),
            None => walk(&web, WalkSettings::default()),
        };
        let requested = sent.iter().filter(|request| request.purpose == Purpose::Page && request.depth == Some(Depth(1)));
        let level = tree.levels.get(1).cloned().unwrap_or_default();
        prop_assert_eq!(level.internal_urls(), kinds.len() as u64);
        prop_assert!(level.class(Class::Fetched) <= requested.count() as u64);
        prop_assert!(level.class(Class::Fetched) <= level.requests);
        let checks = of_purpose(&sent, Purpose::Check).len();
        prop_assert!(checks <= 1 + kinds.len() / 20, "{} checks", checks);
        if banned.is_none() {
            prop_assert_eq!(&tree, &drive(start("http://a.ke/", WalkSettings::default(), ""), &web, parallel).0);
        }
    }
}

/// A site whose host b has pages besides those of host a, all on one server.
fn two_hosts(pages_of_b: &[&str], pages_of_a: usize) -> Web {
    let of_a = (1..=pages_of_a).map(|n| format!("/{n}"));
    let of_b = pages_of_b.iter().map(|page| format!("http://b.a.ke/{page}"));
    let links: Vec<String> = of_a.chain(of_b).collect();
    let page = links.iter().map(String::as_str).collect::<Vec<_>>();
    links.iter().fold(Web::default().page("http://a.ke/", &page), |web, link| {
        let url = if link.starts_with('/') { format!("http://a.ke{link}") } else { link.clone() };
        web.page(&url, &[])
    })
}

#[test]
fn a_host_with_one_refusal_is_not_closed_with_another_host_of_its_server() {
    // Host b refuses a page of its own between those that host a refuses, and goes on to deliver.
    let links: Vec<String> = (1..=20)
        .map(|n| format!("/{n}"))
        .chain(["http://b.a.ke/forbidden".to_owned()])
        .chain((21..=60).map(|n| format!("/{n}")))
        .chain((1..=3).map(|n| format!("http://b.a.ke/{n}")))
        .collect();
    let web = two_hosts(&["1", "2", "3"], 60)
        .page("http://a.ke/", &links.iter().map(String::as_str).collect::<Vec<_>>())
        .serve("http://b.a.ke/forbidden", ServedPage::Status(403));
    let (tree, sent) = host_bans_after(11, "a.ke", WalkSettings::default(), &web);
    assert_eq!(of_purpose(&sent, Purpose::Check), ["/10"]);
    let of_b = sent
        .iter()
        .filter(|request| request.purpose == Purpose::Page && request.url.host().as_str() == "b.a.ke");
    assert_eq!(
        of_b.map(|request| request.url.target()).collect::<Vec<_>>(),
        ["/forbidden", "/1", "/2", "/3"]
    );
    assert_eq!((tree.outcome, tree.sum(|level| level.pages)), (Outcome::Refused, 1 + 10 + 3));
}

#[test]
fn a_host_that_is_closed_gets_no_request_of_any_purpose() {
    // Host b bans after ten pages. All that is left of it are queries to probe, and the rules of another
    // host.
    let of_b: Vec<String> =
        ["q?1", "q?2", "q?3"].map(str::to_owned).into_iter().chain((1..=29).map(|n| n.to_string())).collect();
    let of_b: Vec<&str> = of_b.iter().map(String::as_str).collect();
    let web = two_hosts(&of_b, 3).page("http://a.ke/3", &["http://c.a.ke/"]).page("http://c.a.ke/", &[]);
    let web = web.redirect("http://c.a.ke/robots.txt", "http://b.a.ke/rules.txt");
    let probing = Probing { share: 1.0, ..Probing::default() };
    let settings = WalkSettings { probing, ..WalkSettings::default() };
    let (tree, sent) = host_bans_after(10, "b.a.ke", settings, &web);
    let check =
        sent.iter().position(|request| request.purpose == Purpose::Check).expect("a ban was suspected");
    assert_eq!(sent[check].url.host().as_str(), "b.a.ke");
    let later: Vec<&str> = sent[check + 1..]
        .iter()
        .map(|request| request.url.as_str())
        .filter(|url| url.contains("b.a.ke"))
        .collect();
    assert_eq!(later, Vec::<&str>::new());
    assert_eq!((tree.outcome, tree.levels[1].class(Class::Script)), (Outcome::Complete, 2));
    assert_eq!(tree.levels[2].class(Class::RobotsUnreachable), 1);
}

/// An earlier version knew no bans and went on; its requests stand, and the requests after them are refused.
#[test]
fn what_an_earlier_version_requested_of_a_server_that_refuses_is_walked_as_it_is_on_record() {
    let web =
        (11..=60).fold(site_of(80), |web, n| web.serve(&format!("http://a.ke/{n}"), ServedPage::Status(403)));
    let recorded = on_record((1..=60).map(|n| format!("/{n}")));
    let (tree, sent) = walk_on_record(&web, &recorded);
    assert_eq!(sent[..recorded.len()], recorded);
    assert_eq!((tree.outcome, tree.levels[1].class(Class::Fetched)), (Outcome::Complete, 80));
    assert_eq!(of_purpose(&sent, Purpose::Check).len(), 0, "the next page came");
}
