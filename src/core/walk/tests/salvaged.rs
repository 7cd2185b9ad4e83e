//! The responses of a walk that failed, counted.

use super::*;
use crate::page::Element;

fn scope() -> Scope {
    Scope::new(&Host::parse("a.ke").unwrap(), ScopeRule::Site, suffixes())
}

/// Walks a site and returns its tree and the tree salvaged from its responses.
fn both(web: &Web, settings: WalkSettings) -> (Tree, Tree, Known) {
    let mut salvage = FailedWalk::new(scope(), settings.max_urls);
    let (tree, _) = drive_by(start("http://a.ke/", settings, ""), |request| {
        let (mut response, content) = web.response(request);
        response.timings.total = Duration::from_secs(2);
        salvage.take(request, &response, &content);
        (response, content)
    });
    let (salvaged, known) = salvage.conclude();
    (tree, salvaged, known)
}

fn site() -> Web {
    Web::default()
        .page(
            "http://a.ke/",
            &["/x", "/old", "/away", "/gone", "http://b.ke/1", "http://www.b.ke/", "http://c.ke/"],
        )
        .page("http://a.ke/x", &["/deep", "http://b.ke/1", "http://b.ke/2"])
        .redirect("http://a.ke/old", "/new")
        .page("http://a.ke/new", &["/deep", "http://d.ke/"])
        .redirect("http://a.ke/away", "http://e.ke/")
        .serve("http://a.ke/gone", ServedPage::Gone)
        .page("http://a.ke/deep", &["http://img.a.ke/"])
        .page("http://img.a.ke/", &[])
}

#[test]
fn what_is_salvaged_of_a_whole_walk_is_its_tree() {
    let probing = Probing { share: 1.0, ..Probing::default() };
    let web = site().page("http://a.ke/deep", &["http://img.a.ke/", "/s?id=1"]);
    let (tree, salvaged, known) = both(&web, WalkSettings { probing, ..WalkSettings::default() });
    assert_eq!((tree.outcome, salvaged.outcome), (Outcome::Complete, Outcome::Failed));
    assert_eq!((&salvaged.levels, &salvaged.robots), (&tree.levels, &tree.robots));
    assert_eq!(salvaged.externals, tree.externals);
    let redirect =
        salvaged.externals.iter().find(|external| external.url.as_str() == "http://e.ke/").unwrap();
    assert_eq!(
        (redirect.element, redirect.depth, redirect.page.path()),
        (Element::Redirect, Depth(1), "/away")
    );
    assert_eq!((salvaged.address, &salvaged.server), (tree.address, &tree.server));
    assert!(salvaged.address.is_some());
    assert_eq!((salvaged.entrances, salvaged.entrance, salvaged.is_closed), (1, None, false));
    let requested = ["/", "/x", "/old", "/new", "/away", "/gone", "/deep", "/s?id=1"];
    let requested: Vec<String> = requested.iter().map(|path| format!("http://a.ke{path}")).collect();
    let keys = requested.iter().map(|text| url(text).page_key()).chain([url("http://img.a.ke/").page_key()]);
    assert_eq!(known.pages, keys.collect());
}

#[test]
fn what_was_found_and_not_asked_for_is_kept_back_by_a_limit_at_its_depth() {
    let (tree, salvaged, _) = both(&site(), WalkSettings { depth: Depth(0), ..WalkSettings::default() });
    assert_eq!(tree.levels[1].class(Class::Depth), 4);
    assert_eq!((salvaged.levels.len(), salvaged.levels[1].class(Class::Limit)), (2, 4));
    assert_eq!(salvaged.levels[1].internal_urls(), 4);
    // The target of a redirect would have been on the same level.
    let mut salvage = FailedWalk::new(scope(), 100);
    for (number, (path, depth)) in [("http://a.ke/old", 0), ("http://a.ke/x", 1)].into_iter().enumerate() {
        let number = u32::try_from(number).unwrap();
        let request = Request { number, url: url(path), purpose: Purpose::Page, depth: Some(Depth(depth)) };
        let (response, content) = site().response(&request);
        salvage.take(&request, &response, &content);
    }
    let levels = salvage.conclude().0.levels;
    assert_eq!(levels.iter().map(|level| level.class(Class::Limit)).collect::<Vec<_>>(), [1, 0, 1]);
}

#[test]
fn nofollow_links_are_not_salvaged_but_what_they_say_of_others_is() {
    let html =
        "<a rel=nofollow href=/x>x</a><a rel=nofollow href=http://b.ke/>b</a><a href=http://c.ke/>c</a>";
    let whole =
        "<meta name=robots content=nofollow><a href=/y>y</a><a href=http://d.ke/>d</a><a href=/>f</a>";
    let web = Web::default()
        .serve("http://a.ke/", ServedPage::Html(format!("{html}<a href=/whole>w</a>")))
        .serve("http://a.ke/whole", ServedPage::Html(whole.to_owned()));
    let (tree, salvaged, _) = both(&web, WalkSettings::default());
    assert_eq!(salvaged.externals, tree.externals);
    assert_eq!(
        salvaged.externals.iter().map(|external| external.nofollow).collect::<Vec<_>>(),
        [true, false, true]
    );
    assert_eq!(salvaged.levels[..], tree.levels[..2]);
}

#[test]
fn only_a_redirect_leads_to_its_location() {
    let salvaged = |status| {
        let mut salvage = FailedWalk::new(scope(), 100);
        let request =
            Request { number: 0, url: url("http://a.ke/"), purpose: Purpose::Page, depth: Some(Depth(0)) };
        let (mut response, _) = Web::default().redirect("http://a.ke/", "/x").response(&request);
        response.status = Some(status);
        salvage.take(&request, &response, &Content::Nothing);
        salvage.conclude().0.levels[0].class(Class::Limit)
    };
    assert_eq!((salvaged(302), salvaged(201), salvaged(503)), (1, 0, 0));
}

#[test]
fn a_page_that_was_asked_for_twice_is_one_page_and_two_requests() {
    let web = Web::default().page("http://a.ke/", &["/later"]).serve("http://a.ke/later", ServedPage::Later);
    let (tree, salvaged, _) = both(&web, WalkSettings::default());
    assert_eq!(salvaged.levels, tree.levels);
    assert_eq!((salvaged.levels[1].class(Class::Fetched), salvaged.levels[1].requests), (1, 3));
}

#[test]
fn probes_and_rules_stand_outside_the_tree() {
    let web = Web::default().page("http://a.ke/", &["/s?id=1", "/s?id=2"]).page("http://a.ke/s?id=1", &[]);
    let web = web.page("http://a.ke/s?id=2", &["http://b.ke/", "/x"]);
    let probing = Probing { share: 1.0, ..Probing::default() };
    let (tree, salvaged, _) = both(&web, WalkSettings { probing, ..WalkSettings::default() });
    assert_eq!((&salvaged.robots, &salvaged.probe_load), (&tree.robots, &tree.probe_load));
    assert_eq!((salvaged.probe_load.requests, salvaged.externals.len()), (1, 0));
    assert_eq!(salvaged.levels[1].class(Class::Limit), 1, "the other query URL was found");
    // A walk that failed at its robots.txt tried no entrance.
    let mut salvage = FailedWalk::new(scope(), 100);
    let robots =
        Request { number: 0, url: url("http://a.ke/robots.txt"), purpose: Purpose::Robots, depth: None };
    let (response, content) = web.serve(robots.url.as_str(), ServedPage::Gone).response(&robots);
    salvage.take(&robots, &response, &content);
    let (tree, known) = salvage.conclude();
    assert_eq!((tree.entrances, tree.robots.requests, tree.address), (0, 1, None), "nobody answered");
    assert!(known.pages.is_empty());
}

#[test]
fn no_more_urls_are_salvaged_than_the_walk_would_have_kept() {
    let salvaged = |max_urls: usize, links: &[&str]| {
        let mut salvage = FailedWalk::new(scope(), max_urls);
        let request =
            Request { number: 0, url: url("http://a.ke/"), purpose: Purpose::Page, depth: Some(Depth(0)) };
        let (response, content) = Web::default().page("http://a.ke/", links).response(&request);
        salvage.take(&request, &response, &content);
        let tree = salvage.conclude().0;
        (tree.sum(|level| level.class(Class::Limit)), tree.externals.len())
    };
    let links = ["/1", "http://b1.ke/", "/2", "http://b2.ke/", "/3", "http://b3.ke/"];
    let kept = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (3, 3)];
    for (max_urls, kept) in kept.into_iter().enumerate() {
        assert_eq!(salvaged(max_urls, &links), kept, "{max_urls}");
    }
    // External URLs of two times 200 bytes, and the first URL that begins below that.
    let long = |host: &str, length: usize| format!("http://{host}.ke/{}", "x".repeat(length - 12));
    let (first, short, exact) = (long("b", 400), long("b", 399), long("c", 100));
    assert_eq!(salvaged(2, &[&first, &exact]), (0, 1));
    assert_eq!(salvaged(2, &[&short, &exact]), (0, 2));
}
