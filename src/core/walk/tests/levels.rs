use super::*;

#[test]
fn a_site_without_robots_is_walked_level_by_level_to_the_depth_set() {
    let web = Web::default()
        .page("http://a.ke/", &["/x", "/y"])
        .page("http://a.ke/x", &["/deep", "/y"])
        .page("http://a.ke/y", &["http://b.ke/"])
        .page("http://a.ke/deep", &["/deeper"]);
    let (tree, requested) = walk(&web, WalkSettings { depth: Depth(2), ..WalkSettings::default() });
    assert_eq!(requested[0].url.as_str(), "http://a.ke/robots.txt");
    assert_eq!(pages(&requested), [(0, "/"), (1, "/x"), (1, "/y"), (2, "/deep")]);
    assert_eq!(tree.outcome, Outcome::Depth);
    assert_eq!(tree.levels[3].class(Class::Depth), 1);
    assert_eq!(tree.levels[1].external_urls, 1);
    assert_eq!(tree.externals[0].depth, Depth(1));
    assert_eq!(tree.externals[0].page.as_str(), "http://a.ke/y");
    assert_eq!(tree.deepest(), Some(Depth(2)));
}

#[test]
fn http_and_https_spellings_are_one_page() {
    let web =
        Web::default().page("http://a.ke/", &["https://a.ke/", "http://a.ke/x", "https://a.ke/x", "/%78"]);
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(pages(&requested), [(0, "/"), (1, "/x")]);
    assert_eq!(tree.levels[1].internal_urls(), 1);
}

#[test]
fn a_redirect_adds_no_depth_and_its_target_joins_the_end_of_the_level() {
    let web = Web::default()
        .page("http://a.ke/", &["/old", "/b"])
        .redirect("http://a.ke/old", "/new")
        .page("http://a.ke/b", &["/new", "/c"])
        .page("http://a.ke/new", &["/under-new"]);
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(
        pages(&requested),
        [(0, "/"), (1, "/old"), (1, "/b"), (1, "/new"), (2, "/c"), (2, "/under-new")]
    );
    assert_eq!(tree.levels[1].internal_urls(), 3);
    assert_eq!(tree.outcome, Outcome::Complete);
}

#[test]
fn a_redirect_to_https_is_the_same_page_asked_again() {
    let web = Web::default().redirect("http://a.ke/", "https://a.ke/").page("https://a.ke/", &["/x"]);
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(pages(&requested), [(0, "/"), (0, "/"), (1, "/x")]);
    assert_eq!((tree.levels[0].internal_urls(), tree.levels[0].requests, tree.levels[0].pages), (1, 2, 1));
}

#[test]
fn redirect_loops_and_long_chains_end() {
    let web =
        Web::default().redirect("http://a.ke/", "https://a.ke/").redirect("https://a.ke/", "http://a.ke/");
    let (tree, _) = walk(&web, WalkSettings::default());
    // The other name is tried after that: its response is 404.
    assert_eq!((tree.levels[0].requests, tree.outcome), (3, Outcome::NoPage));

    let mut web = Web::default().page("http://a.ke/", &["/0"]);
    for hop in 0..20 {
        web = web.redirect(&format!("http://a.ke/{hop}"), &format!("/{}", hop + 1));
    }
    let (tree, _) = walk(&web, WalkSettings::default());
    let level = &tree.levels[1];
    assert_eq!((level.class(Class::Fetched), level.class(Class::Redirects)), (11, 1));
}

#[test]
fn a_start_url_that_leads_to_another_site_has_moved() {
    let web = Web::default()
        .redirect("http://a.ke/", "http://www.a.ke/")
        .redirect("http://www.a.ke/", "http://b.ke/");
    let (tree, _) = walk(&web, WalkSettings::default());
    assert_eq!(tree.outcome, Outcome::Moved);
    assert_eq!(tree.externals[0].url.as_str(), "http://b.ke/");
    assert_eq!(tree.externals[0].element, crate::page::Element::Redirect);
}

#[test]
fn one_query_url_is_fetched_of_each_script_and_then_not_the_bare_script_either() {
    let web = Web::default()
        .page("http://a.ke/", &["/s?id=1", "/s?id=2", "/s", "/t", "/t?id=1", "/t?id=2", "/u;v=1"]);
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(pages(&requested)[1..], [(1, "/s?id=1"), (1, "/t"), (1, "/t?id=1"), (1, "/u;v=1")]);
    assert_eq!(tree.levels[1].class(Class::Script), 3);
    let (_, requested) = walk(&web, WalkSettings { queries_per_script: 2, ..WalkSettings::default() });
    assert!(pages(&requested).contains(&(1, "/s?id=2")) && !pages(&requested).contains(&(1, "/s")));
}

#[test]
fn endless_paths_are_not_followed_and_a_site_with_too_many_urls_is_a_trap() {
    let web = Web::default().page("http://a.ke/", &["/a/b/a/b/a/b/a/b/"]);
    let (tree, _) = walk(&web, WalkSettings::default());
    assert_eq!(tree.levels[1].class(Class::Trap), 1);
    assert_eq!((tree.outcome, tree.trap_patterns), (Outcome::Trap, vec!["a.ke/(a/b)/**".to_owned()]));

    let links: Vec<String> = (0..100).map(|n| format!("/{n}")).collect();
    let web = Web::default().page("http://a.ke/", &links.iter().map(String::as_str).collect::<Vec<_>>());
    let (tree, _) = walk(&web, WalkSettings { max_urls: 50, ..WalkSettings::default() });
    assert_eq!(tree.outcome, Outcome::Trap);
    assert_eq!(tree.levels[1].class(Class::Limit), 49);
    assert_eq!(tree.trap_patterns, ["a.ke/#"]);
}

#[test]
fn levels_without_new_external_links_end_a_walk_when_asked_for() {
    let mut web = Web::default().page("http://a.ke/", &["/0", "http://b.ke/"]);
    for level in 0..6 {
        web = web.page(&format!("http://a.ke/{level}"), &[&format!("/{}", level + 1), "http://b.ke/"]);
    }
    let (tree, _) = walk(&web, WalkSettings { stable_levels: Some(2), ..WalkSettings::default() });
    assert_eq!((tree.outcome, tree.deepest()), (Outcome::Stable, Some(Depth(2))));
}

#[test]
fn a_later_tree_of_the_site_fetches_only_what_earlier_ones_have_not_reached() {
    let web = Web::default().page("http://a.ke/", &["/x"]).page("http://a.ke/island", &["/x", "/y"]);
    let mut first = start("http://a.ke/", WalkSettings::default(), "");
    while let Step::Request(request, _) = first.poll(SystemTime::UNIX_EPOCH) {
        first.begin(&request);
        let (response, content) = web.response(&request);
        first.handle(request.number, response, content);
    }
    let (_, known) = first.conclude();
    let scope = Scope::new(&Host::parse("a.ke").unwrap(), ScopeRule::Site, suffixes());
    let settings = Arc::new(WalkSettings::default());
    let second = Walk::new(settings, scope, Arc::default(), url("http://a.ke/island"), known);
    let (_, requested) = drive(second, &web, 1);
    assert_eq!(pages(&requested), [(0, "/island"), (1, "/y")]);
}

#[test]
fn external_urls_hosts_and_sites_are_counted_where_they_are_met_first() {
    let links =
        ["http://b.ke/1", "http://b.ke/2", "http://www.b.ke/", "http://c.ke/", "https://b.ke/1", "/x"];
    let web = Web::default()
        .page("http://a.ke/", &links)
        .page("http://a.ke/x", &["http://b.ke/1", "http://shop.b.ke/", "http://d.ke/", "http://d.ke/2"]);
    let (tree, _) = walk(&web, WalkSettings::default());
    let counts = |level: &LevelCount| (level.external_urls, level.external_hosts, level.external_sites);
    assert_eq!(counts(&tree.levels[0]), (4, 3, 2));
    assert_eq!(counts(&tree.levels[1]), (3, 2, 1));
}

#[test]
fn the_load_of_a_level_is_the_sum_of_its_exchanges() {
    let web =
        Web::default().page("http://a.ke/", &["/x", "/y", "/z"]).serve("http://a.ke/y", ServedPage::Gone);
    let (tree, _) = drive_by(start("http://a.ke/", WalkSettings::default(), ""), |request| {
        let (mut response, content) = web.response(request);
        response.wire = Wire { sent: 3, received: 50, connections: 2 };
        response.timings.total = Duration::from_secs(7);
        if request.url.target() == "/z" {
            // Nothing was sent: the costs are counted, but it is no request.
            (response.status, response.failure) = (None, Some(Failure::HeldOff));
            response.wire = Wire { sent: 0, received: 0, connections: 1 };
        }
        (response, content)
    });
    let load = |level: &LevelCount| {
        (level.requests, level.sent_bytes, level.received_bytes, level.connections, level.busy.as_secs())
    };
    assert_eq!((load(&tree.robots), load(&tree.levels[0])), ((1, 3, 50, 2, 7), (1, 3, 50, 2, 7)));
    assert_eq!(load(&tree.levels[1]), (2, 6, 100, 5, 21));
}

#[test]
fn a_page_is_a_success_that_is_html_and_was_read_or_is_known_from_before() {
    let read = |status: u16, media_type: &str, failure: Option<Failure>, has_page: bool| {
        let web = Web::default().page("http://a.ke/", &["/x"]).page("http://a.ke/x", &[]);
        let (tree, _) = drive_by(start("http://a.ke/", WalkSettings::default(), ""), |request| {
            let (mut response, mut content) = web.response(request);
            if request.depth == Some(Depth(1)) {
                (response.status, response.failure) = (Some(status), failure);
                response.head.content_type = Some(media_type.to_owned());
                content = if has_page { content } else { Content::Nothing };
            }
            (response, content)
        });
        tree.levels[1].pages
    };
    assert_eq!(read(200, "text/html", None, true), 1);
    assert_eq!(read(200, "html", None, true), 1, "its body tells");
    assert_eq!(read(200, "text/html", Some(Failure::BodyTruncated), true), 1);
    for failure in [None, Some(Failure::BodyEncoding), Some(Failure::Unreadable)] {
        assert_eq!(read(200, "text/html", failure, false), 0, "nothing of it was read");
    }
    assert_eq!(read(304, "image/png", None, true), 1, "not changed since it was read");
    assert_eq!(read(304, "text/html", None, false), 0);
    assert_eq!(read(200, "image/png", None, false), 0);
    assert_eq!(read(404, "text/html", None, false), 0);
}

#[test]
fn the_server_that_delivered_the_first_page_is_named() {
    let web = Web::default().redirect("http://a.ke/", "/home").page("http://a.ke/home", &["/x"]);
    // Each request goes to another server; requests numbered below `from`, or `to` and higher, fail.
    let named = |web: &Web, from: u32, to: u32| {
        let settings = WalkSettings { entrances: Entrances::UpTo(1), ..WalkSettings::default() };
        let (tree, _) = drive_by(start("http://a.ke/", settings, ""), |request| {
            let (mut response, content) = web.response(request);
            response.address = Some([41, 90, 0, u8::try_from(request.number).unwrap()].into());
            response.head.server = Some(format!("server {}", request.number));
            if !(from..to).contains(&request.number) {
                (response.status, response.failure) = (None, Some(Failure::BadHttp));
                return (response, Content::Nothing);
            }
            (response, content)
        });
        (tree.address.map(|address| address.to_string()), tree.server)
    };
    let server = |n| (Some(format!("41.90.0.{n}")), Some(format!("server {n}")));
    assert_eq!(named(&web, 0, 9), server(2), "the page, not robots.txt nor the redirect");
    assert_eq!(named(&web, 0, 2), server(1), "what responded to a request for a page");
    assert_eq!(named(&web, 0, 1), server(0), "robots.txt, where nothing else came");
    assert_eq!(named(&web, 9, 9), (None, None));
    assert_eq!(
        walk(&Web::default(), WalkSettings::default()).0.server,
        None,
        "what is not said is not known"
    );
}

#[test]
fn chains_of_redirects_end_though_their_scheme_changes_at_every_hop() {
    let mut web = Web::default().page("http://a.ke/", &["/0"]);
    for hop in 0..20 {
        web = web
            .redirect(&format!("http://a.ke/{hop}"), &format!("https://a.ke/{hop}"))
            .redirect(&format!("https://a.ke/{hop}"), &format!("http://a.ke/{}", hop + 1));
    }
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(pages(&requested).len() - 1, 1 + usize::from(MAX_PAGE_REDIRECTS));
    assert_eq!((tree.levels[1].class(Class::Fetched), tree.levels[1].class(Class::Redirects)), (6, 0));
}

#[test]
fn a_page_that_redirects_from_scheme_to_scheme_is_asked_once_by_each() {
    let web = Web::default()
        .page("http://a.ke/", &["/x"])
        .redirect("http://a.ke/x", "https://a.ke/x")
        .redirect("https://a.ke/x", "http://a.ke/x");
    let (tree, requested) = walk(&web, WalkSettings::default());
    let urls: Vec<_> = requested
        .iter()
        .filter(|request| request.depth == Some(Depth(1)))
        .map(|request| request.url.as_str())
        .collect();
    assert_eq!(urls, ["http://a.ke/x", "https://a.ke/x"]);
    assert_eq!((tree.levels[1].internal_urls(), tree.outcome), (1, Outcome::Complete));
}
