use super::*;

fn withheld(probe: &Probe) -> u32 {
    match probe.skipped_by {
        SkippedBy::Script(urls) => urls,
        SkippedBy::Yield(_) => 0,
    }
}

#[test]
fn what_looks_like_no_html_is_not_asked_for_below_the_start_url() {
    let web = Web::default().page("http://a.ke/x.pdf", &["/y.jpg?size=1", "/z", "/y.jpg"]);
    let (tree, requested) = drive(start("http://a.ke/x.pdf", WalkSettings::default(), ""), &web, 1);
    assert_eq!(pages(&requested), [(0, "/x.pdf"), (1, "/z")]);
    assert_eq!((tree.levels[1].class(Class::Filtered), tree.levels[1].internal_urls()), (2, 3));
    let filter = Filter { non_html: NonHtml::Get, ..Filter::default() };
    let (_, requested) =
        drive(start("http://a.ke/x.pdf", WalkSettings { filter, ..WalkSettings::default() }, ""), &web, 1);
    assert_eq!(pages(&requested), [(0, "/x.pdf"), (1, "/y.jpg?size=1"), (1, "/z")]);
}

#[test]
fn head_asks_first_what_looks_like_no_html_and_get_follows_where_it_may_be() {
    let web = Web::default()
        .page("http://a.ke/", &["/page.pdf", "/gone.jpg", "/moved.zip", "/no-head.doc", "/plain"])
        .page("http://a.ke/page.pdf", &["/deep"])
        .serve("http://a.ke/gone.jpg", ServedPage::Status(404))
        .redirect("http://a.ke/moved.zip", "/new.zip")
        .serve("http://a.ke/new.zip", ServedPage::Status(404))
        .serve("http://a.ke/no-head.doc", ServedPage::Status(405));
    let filter = Filter { non_html: NonHtml::Head, ..Filter::default() };
    for parallel in [1, 4] {
        let settings = WalkSettings { filter: filter.clone(), ..WalkSettings::default() };
        let (tree, requested) = drive(start("http://a.ke/", settings, ""), &web, parallel);
        let targets = |purpose| {
            let requested = requested.iter().filter(move |request| request.purpose == purpose);
            requested.map(|request| request.url.target()).collect::<Vec<_>>()
        };
        assert_eq!(
            targets(Purpose::Head),
            ["/page.pdf", "/gone.jpg", "/moved.zip", "/no-head.doc", "/new.zip"]
        );
        assert_eq!(targets(Purpose::Page), ["/", "/plain", "/page.pdf", "/no-head.doc", "/deep"]);
        let level = &tree.levels[1];
        assert_eq!((level.class(Class::Fetched), level.internal_urls(), level.requests), (6, 6, 8));
        assert_eq!(level.pages, 1, "an answer to HEAD is no page");
    }
}

#[test]
fn the_links_of_an_excluded_page_are_passed_over() {
    let page = "<p>This domain is for sale</p><a href=/x>x</a><a href=http://b.ke/>b</a>";
    let web = Web::default().serve("http://a.ke/", ServedPage::Html(page.to_owned()));
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    while let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) {
        walk.begin(&request);
        let (response, mut content) = web.response(&request);
        if let Content::Page(read) = content {
            let source =
                Source { body: page.as_bytes(), url: &request.url, content_type: None, robots_tag: None };
            content = Content::Page(Box::new(read.exclude_if_contains(&["For sale".to_owned()], source)));
        }
        walk.handle(request.number, response, content);
    }
    let (tree, _) = walk.conclude();
    assert_eq!((tree.outcome, tree.externals.len(), tree.levels[0].pages), (Outcome::Complete, 0, 1));
}

#[test]
fn probes_come_after_the_tree_and_tell_what_it_misses() {
    let queries: Vec<String> = (0..9).map(|id| format!("/s?id={id}")).collect();
    let mut links: Vec<&str> = queries.iter().map(String::as_str).collect();
    links.extend(["/t?a=1", "/t?a=2", "http://b.ke/"]);
    let mut web = Web::default()
        .serve("http://a.ke/robots.txt", ServedPage::Robots("User-agent: *\nDisallow: /t?a=2\n".to_owned()))
        .page("http://a.ke/", &links);
    for query in &queries {
        let own = format!("http://only{}.ke/", query.replace("/s?id=", ""));
        web = web.page(
            &format!("http://a.ke{query}"),
            &["http://b.ke/", &own, "http://b.ke/2", "/s?id=0", "/new"],
        );
    }
    let without = walk(&web, WalkSettings::default());
    let probing = Probing { share: 1.0, ..Probing::default() };
    for parallel in [1, 4] {
        let settings = WalkSettings { probing, ..WalkSettings::default() };
        let (tree, requested) = drive(start("http://a.ke/", settings, ""), &web, parallel);
        let (tree_asked, probed) = requested.split_at(without.1.len());
        assert_eq!(tree_asked, without.1, "the tree is walked as ever");
        assert_eq!(Tree { probes: Vec::new(), probe_load: LevelCount::default(), ..tree.clone() }, without.0);
        assert_eq!(probed.len(), 3, "three of the eight that are kept back; /t?a=2 is for no robot");
        assert!(probed.iter().all(|request| request.purpose == Purpose::Probe && request.depth.is_none()));
        assert!(probed.iter().all(|request| request.url.path() == "/s" && request.url.target() != "/s?id=0"));
        assert_eq!(tree.probe_load.requests, 3);
        for probe in &tree.probes {
            // The tree knows b.ke, both of its URLs and /new from the query URL that it fetched.
            let found = (withheld(probe), probe.external_urls, probe.external_hosts, probe.internal_urls);
            assert_eq!(found, (8, 1, 1, 0));
        }
        assert_eq!(tree.probes.iter().map(|probe| probe.number).collect::<Vec<_>>(), [5, 6, 7]);
    }
}

#[test]
fn a_host_that_wants_longer_pauses_than_are_made_is_not_probed_either() {
    let robots = |text: &str| ServedPage::Robots(text.to_owned());
    let web = Web::default()
        .serve("https://a.ke/robots.txt", robots("User-agent: *\nCrawl-delay: 301\n"))
        .page("http://a.ke/", &["https://a.ke/slow", "/s?id=1", "https://a.ke/s?id=2", "/s?id=3"])
        .page("http://a.ke/s?id=1", &[]);
    let probing = Probing { share: 1.0, ..Probing::default() };
    let (tree, requested) = walk(&web, WalkSettings { probing, ..WalkSettings::default() });
    let probed: Vec<_> = requested.iter().filter(|request| request.purpose == Purpose::Probe).collect();
    assert_eq!(probed.iter().map(|request| request.url.as_str()).collect::<Vec<_>>(), ["http://a.ke/s?id=3"]);
    assert_eq!((tree.levels[1].class(Class::Robots), tree.levels[1].class(Class::Script)), (1, 2));
}

#[test]
fn a_budget_that_ends_while_probes_are_asked_leaves_the_tree_its_outcome() {
    let web = Web::default().page("http://a.ke/", &["/s?id=1", "/s?id=2", "/s?id=3"]);
    let probing = Probing { share: 1.0, ..Probing::default() };
    let mut was_ended = false;
    let mut walk = start("http://a.ke/", WalkSettings { probing, ..WalkSettings::default() }, "");
    while let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) {
        if request.purpose == Purpose::Probe {
            walk.end(Outcome::RequestBudget);
            was_ended = true;
            continue;
        }
        walk.begin(&request);
        let (response, content) = web.response(&request);
        walk.handle(request.number, response, content);
    }
    assert_eq!((walk.conclude().0.outcome, was_ended), (Outcome::Complete, true));
}

#[test]
fn head_asks_once_whatever_scheme_the_page_is_at_and_never_for_the_start_url() {
    let filter = Filter { non_html: NonHtml::Head, ..Filter::default() };
    let web = Web::default()
        .page("http://a.ke/start.pdf", &["/x.pdf"])
        .page("http://a.ke/x.pdf", &[])
        .page("https://a.ke/x.pdf", &[]);
    let walk = start("http://a.ke/start.pdf", WalkSettings { filter, ..WalkSettings::default() }, "");
    let (_, requested) = drive_by(walk, |request| {
        let (mut response, mut content) = web.response(request);
        // The page responds to HEAD at its URL, and redirects GET to its other scheme.
        if request.url.as_str() == "http://a.ke/x.pdf" && request.purpose == Purpose::Page {
            (response.status, content) = (Some(301), Content::Nothing);
            response.head.location = Some("https://a.ke/x.pdf".to_owned());
        }
        (response, if request.purpose == Purpose::Head { Content::Nothing } else { content })
    });
    let tree_asked = requested.iter().filter(|request| request.depth.is_some());
    assert_eq!(
        tree_asked.map(|request| (request.purpose, request.url.as_str())).collect::<Vec<_>>(),
        [
            (Purpose::Page, "http://a.ke/start.pdf"),
            (Purpose::Head, "http://a.ke/x.pdf"),
            (Purpose::Page, "http://a.ke/x.pdf"),
            (Purpose::Page, "https://a.ke/x.pdf"),
        ]
    );
}

#[test]
fn a_probe_counts_each_url_and_host_that_the_tree_does_not_have() {
    let web = Web::default()
        .page("http://a.ke/", &["/s?id=1", "/s?id=2", "/known", "http://b.ke/"])
        .page("http://a.ke/s?id=1", &[])
        .page(
            "http://a.ke/s?id=2",
            &[
                "/known",
                "/new",
                "/newer",
                "/s?id=1",
                "http://b.ke/",
                "http://b.ke/2",
                "http://c.ke/",
                "http://c.ke/2",
                "http://d.ke/",
            ],
        );
    let probing = Probing { share: 1.0, ..Probing::default() };
    let (tree, _) = walk(&web, WalkSettings { probing, ..WalkSettings::default() });
    let [probe] = &tree.probes[..] else { panic!("{:?}", tree.probes) };
    assert_eq!((probe.number, withheld(probe), probe.internal_urls), (4, 1, 2));
    assert_eq!((probe.external_urls, probe.external_hosts), (4, 2));
    // A probe without a response costs, and shows nothing.
    let (silent, _) = walk(
        &web.serve("http://a.ke/s?id=2", ServedPage::Gone),
        WalkSettings { probing, ..WalkSettings::default() },
    );
    assert_eq!((silent.probes.len(), silent.probe_load.requests), (0, 1));
}

#[test]
fn a_site_with_too_many_urls_is_not_probed() {
    let web = Web::default()
        .page("http://a.ke/", &["/s?id=1", "/s?id=2", "/x"])
        .page("http://a.ke/x", &["/1", "/2"]);
    let probing = Probing { share: 1.0, ..Probing::default() };
    let probed = |max_urls| {
        let (tree, _) = walk(&web, WalkSettings { probing, max_urls, ..WalkSettings::default() });
        (tree.outcome, tree.probe_load.requests)
    };
    assert_eq!(probed(6), (Outcome::Complete, 1));
    assert_eq!(probed(5), (Outcome::Trap, 0));
}

#[test]
fn a_tree_that_was_ended_is_not_probed() {
    let web =
        Web::default().page("http://a.ke/", &["/s?id=1", "/s?id=2", "/x"]).page("http://a.ke/x", &["/y"]);
    let probed = |why: Option<Outcome>| {
        let probing = Probing { share: 1.0, ..Probing::default() };
        let mut walk = start("http://a.ke/", WalkSettings { probing, ..WalkSettings::default() }, "");
        while let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) {
            walk.begin(&request);
            let (response, content) = web.response(&request);
            walk.handle(request.number, response, content);
            if let Some(why) = why.filter(|_| request.url.target() == "/x") {
                walk.end(why);
            }
        }
        walk.conclude().0.probe_load.requests
    };
    assert_eq!(probed(None), 1);
    for why in [
        Outcome::RequestBudget,
        Outcome::ByteBudget,
        Outcome::TimeBudget,
        Outcome::Robots,
        Outcome::Unreachable,
        Outcome::OptOut,
        Outcome::Interrupted,
    ] {
        assert_eq!(probed(Some(why)), 0, "{why}");
    }
}

#[test]
fn what_was_left_out_opted_out_or_never_had_its_rules_read_is_not_probed() {
    let probing = Probing { share: 1.0, ..Probing::default() };
    let links = ["/s?id=1", "/s?id=2", "/s?print=1", "http://no.a.ke/s?id=1", "http://no.a.ke/s?id=2"];
    let web = Web::default().page("http://a.ke/", &links);
    let probed = |exclude: &[&str], opt_out: &str| {
        let exclude = exclude.iter().map(|text| text.parse().unwrap()).collect();
        let filter = Filter { exclude, ..Filter::default() };
        let settings = WalkSettings { filter, probing, ..WalkSettings::default() };
        let (_, requested) = drive(start("http://a.ke/", settings, opt_out), &web, 1);
        let probes = requested.iter().filter(|request| request.purpose == Purpose::Probe);
        let mut urls: Vec<String> = probes.map(|request| request.url.to_string()).collect();
        urls.sort();
        urls
    };
    let (a, print, no) = ("http://a.ke/s?id=2", "http://a.ke/s?print=1", "http://no.a.ke/s?id=2");
    assert_eq!(probed(&[], ""), [a, print, no]);
    assert_eq!(probed(&["*print="], ""), [a, no]);
    assert_eq!(probed(&[], "no.a.ke"), [a, print]);
}

#[test]
fn who_opts_out_while_a_tree_is_walked_is_not_probed_at_its_end() {
    let web = Web::default()
        .page("http://a.ke/", &["http://b.a.ke/s?id=1", "http://b.a.ke/s?id=2", "/x"])
        .page("http://b.a.ke/s?id=1", &[]);
    let probed = |opts_out: &str| {
        let probing = Probing { share: 1.0, ..Probing::default() };
        let list = Arc::new(OptOuts::default());
        let settings = WalkSettings { probing, ..WalkSettings::default() };
        let walk = start_with_list("http://a.ke/", settings, list.clone());
        let (tree, _) = drive_by(walk, |request| {
            if request.url.target() == "/x" {
                list.replace(OptOut::parse(opts_out).unwrap(), || SystemTime::UNIX_EPOCH);
            }
            web.response(request)
        });
        (tree.outcome, tree.probe_load.requests)
    };
    assert_eq!(probed("other.a.ke"), (Outcome::Complete, 1));
    assert_eq!(probed("b.a.ke"), (Outcome::Complete, 0));
}
