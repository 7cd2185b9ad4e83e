use super::*;

#[test]
fn what_looks_like_no_html_is_not_asked_for_below_the_start_url() {
    let web = Web::default().page("http://a.ke/x.pdf", &["/y.jpg?size=1", "/z", "/y.jpg"]);
    let (tree, asked) = drive(start("http://a.ke/x.pdf", Settings::default(), ""), &web, 1);
    assert_eq!(pages(&asked), [(0, "/x.pdf"), (1, "/z")]);
    assert_eq!((tree.levels[1].class(Class::Filtered), tree.levels[1].internal_urls()), (2, 3));
    let filter = Filter { non_html: NonHtml::Get, ..Filter::default() };
    let (_, asked) =
        drive(start("http://a.ke/x.pdf", Settings { filter, ..Settings::default() }, ""), &web, 1);
    assert_eq!(pages(&asked), [(0, "/x.pdf"), (1, "/y.jpg?size=1"), (1, "/z")]);
}

#[test]
fn head_asks_first_what_looks_like_no_html_and_get_follows_where_it_may_be() {
    let web = Web::default()
        .page("http://a.ke/", &["/page.pdf", "/gone.jpg", "/moved.zip", "/no-head.doc", "/plain"])
        .page("http://a.ke/page.pdf", &["/deep"])
        .serve("http://a.ke/gone.jpg", Served::Status(404))
        .redirect("http://a.ke/moved.zip", "/new.zip")
        .serve("http://a.ke/new.zip", Served::Status(404))
        .serve("http://a.ke/no-head.doc", Served::Status(405));
    let filter = Filter { non_html: NonHtml::Head, ..Filter::default() };
    for parallel in [1, 4] {
        let settings = Settings { filter: filter.clone(), ..Settings::default() };
        let (tree, asked) = drive(start("http://a.ke/", settings, ""), &web, parallel);
        let of = |purpose| {
            let asked = asked.iter().filter(move |ask| ask.purpose == purpose);
            asked.map(|ask| ask.url.target()).collect::<Vec<_>>()
        };
        assert_eq!(of(Purpose::Head), ["/page.pdf", "/gone.jpg", "/moved.zip", "/no-head.doc", "/new.zip"]);
        assert_eq!(of(Purpose::Page), ["/", "/plain", "/page.pdf", "/no-head.doc", "/deep"]);
        let level = &tree.levels[1];
        assert_eq!((level.class(Class::Fetched), level.internal_urls(), level.requests), (6, 6, 8));
        assert_eq!(level.pages, 1, "an answer to HEAD is no page");
    }
}

#[test]
fn the_links_of_an_excluded_page_are_passed_over() {
    let page = "<p>This domain is for sale</p><a href=/x>x</a><a href=http://b.ke/>b</a>";
    let web = Web::default().serve("http://a.ke/", Served::Html(page.to_owned()));
    let mut walk = start("http://a.ke/", Settings::default(), "");
    while let Step::Ask(ask, _) = walk.poll(SystemTime::UNIX_EPOCH) {
        walk.begin(&ask);
        let (answer, mut content) = web.answer(&ask);
        if let Content::Page(read) = content {
            let source =
                Source { body: page.as_bytes(), url: &ask.url, content_type: None, robots_tag: None };
            content = Content::Page(Box::new(read.unless_it_says(&["For sale".to_owned()], source)));
        }
        walk.handle(ask.number, answer, content);
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
        .serve("http://a.ke/robots.txt", Served::Robots("User-agent: *\nDisallow: /t?a=2\n".to_owned()))
        .page("http://a.ke/", &links);
    for query in &queries {
        let own = format!("http://only{}.ke/", query.replace("/s?id=", ""));
        web = web.page(
            &format!("http://a.ke{query}"),
            &["http://b.ke/", &own, "http://b.ke/2", "/s?id=0", "/new"],
        );
    }
    let without = walk(&web, Settings::default());
    let probing = Probing { share: 1.0, ..Probing::default() };
    for parallel in [1, 4] {
        let settings = Settings { probing, ..Settings::default() };
        let (tree, asked) = drive(start("http://a.ke/", settings, ""), &web, parallel);
        let (tree_asked, probed) = asked.split_at(without.1.len());
        assert_eq!(tree_asked, without.1, "the tree is walked as ever");
        assert_eq!(Tree { probes: Vec::new(), probe_load: LevelCount::default(), ..tree.clone() }, without.0);
        assert_eq!(probed.len(), 3, "three of the eight that are kept back; /t?a=2 is for no robot");
        assert!(probed.iter().all(|ask| ask.purpose == Purpose::Probe && ask.depth.is_none()));
        assert!(probed.iter().all(|ask| ask.url.path() == "/s" && ask.url.target() != "/s?id=0"));
        assert_eq!(tree.probe_load.requests, 3);
        for probe in &tree.probes {
            // The tree knows b.ke, both of its URLs and /new from the query URL that it fetched.
            let found = (probe.withheld, probe.external_urls, probe.external_hosts, probe.internal_urls);
            assert_eq!(found, (8, 1, 1, 0));
        }
        assert_eq!(tree.probes.iter().map(|probe| probe.number).collect::<Vec<_>>(), [5, 6, 7]);
    }
}

#[test]
fn a_host_that_wants_longer_pauses_than_are_made_is_not_probed_either() {
    let robots = |text: &str| Served::Robots(text.to_owned());
    let web = Web::default()
        .serve("https://a.ke/robots.txt", robots("User-agent: *\nCrawl-delay: 301\n"))
        .page("http://a.ke/", &["https://a.ke/slow", "/s?id=1", "https://a.ke/s?id=2", "/s?id=3"])
        .page("http://a.ke/s?id=1", &[]);
    let probing = Probing { share: 1.0, ..Probing::default() };
    let (tree, asked) = walk(&web, Settings { probing, ..Settings::default() });
    let probed: Vec<_> = asked.iter().filter(|ask| ask.purpose == Purpose::Probe).collect();
    assert_eq!(probed.iter().map(|ask| ask.url.as_str()).collect::<Vec<_>>(), ["http://a.ke/s?id=3"]);
    assert_eq!((tree.levels[1].class(Class::Robots), tree.levels[1].class(Class::Script)), (1, 2));
}

#[test]
fn a_tree_that_did_not_come_to_its_end_is_not_probed() {
    let web = Web::default().page("http://a.ke/", &["/s?id=1", "/s?id=2", "/s?id=3"]);
    let probing = Probing { share: 1.0, ..Probing::default() };
    let mut walk = start("http://a.ke/", Settings { probing, ..Settings::default() }, "");
    while let Step::Ask(ask, _) = walk.poll(SystemTime::UNIX_EPOCH) {
        walk.begin(&ask);
        let (answer, content) = web.answer(&ask);
        walk.handle(ask.number, answer, content);
        if ask.url.path() == "/s" {
            walk.end(Outcome::RequestBudget);
        }
    }
    assert_eq!(walk.poll(SystemTime::UNIX_EPOCH), Step::Done);
    assert!(walk.conclude().0.probes.is_empty());
    // A budget that ends while probes are asked leaves the tree its outcome.
    let mut walk = start("http://a.ke/", Settings { probing, ..Settings::default() }, "");
    while let Step::Ask(ask, _) = walk.poll(SystemTime::UNIX_EPOCH) {
        if ask.purpose == Purpose::Probe {
            walk.end(Outcome::RequestBudget);
            continue;
        }
        walk.begin(&ask);
        let (answer, content) = web.answer(&ask);
        walk.handle(ask.number, answer, content);
    }
    assert_eq!(walk.conclude().0.outcome, Outcome::Complete);
}
