use super::*;

#[test]
fn a_site_without_robots_is_walked_level_by_level_to_the_depth_set() {
    let web = Web::default()
        .page("http://a.ke/", &["/x", "/y"])
        .page("http://a.ke/x", &["/deep", "/y"])
        .page("http://a.ke/y", &["http://b.ke/"])
        .page("http://a.ke/deep", &["/deeper"]);
    let (tree, asked) = walk(&web, Settings { depth: Depth(2), ..Settings::default() });
    assert_eq!(asked[0].url.as_str(), "http://a.ke/robots.txt");
    assert_eq!(pages(&asked), [(0, "/"), (1, "/x"), (1, "/y"), (2, "/deep")]);
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
    let (tree, asked) = walk(&web, Settings::default());
    assert_eq!(pages(&asked), [(0, "/"), (1, "/x")]);
    assert_eq!(tree.levels[1].internal_urls(), 1);
}

#[test]
fn a_redirect_adds_no_depth_and_its_target_joins_the_end_of_the_level() {
    let web = Web::default()
        .page("http://a.ke/", &["/old", "/b"])
        .redirect("http://a.ke/old", "/new")
        .page("http://a.ke/b", &["/new", "/c"])
        .page("http://a.ke/new", &["/under-new"]);
    let (tree, asked) = walk(&web, Settings::default());
    assert_eq!(pages(&asked), [(0, "/"), (1, "/old"), (1, "/b"), (1, "/new"), (2, "/c"), (2, "/under-new")]);
    assert_eq!(tree.levels[1].internal_urls(), 3);
    assert_eq!(tree.outcome, Outcome::Complete);
}

#[test]
fn a_redirect_to_https_is_the_same_page_asked_again() {
    let web = Web::default().redirect("http://a.ke/", "https://a.ke/").page("https://a.ke/", &["/x"]);
    let (tree, asked) = walk(&web, Settings::default());
    assert_eq!(pages(&asked), [(0, "/"), (0, "/"), (1, "/x")]);
    assert_eq!((tree.levels[0].internal_urls(), tree.levels[0].requests, tree.levels[0].pages), (1, 2, 1));
}

#[test]
fn redirect_loops_and_long_chains_end() {
    let web =
        Web::default().redirect("http://a.ke/", "https://a.ke/").redirect("https://a.ke/", "http://a.ke/");
    let (tree, _) = walk(&web, Settings::default());
    // The other name is tried after that: it answers 404.
    assert_eq!((tree.levels[0].requests, tree.outcome), (3, Outcome::NoPage));

    let mut web = Web::default().page("http://a.ke/", &["/0"]);
    for hop in 0..20 {
        web = web.redirect(&format!("http://a.ke/{hop}"), &format!("/{}", hop + 1));
    }
    let (tree, _) = walk(&web, Settings::default());
    let level = &tree.levels[1];
    assert_eq!((level.class(Class::Fetched), level.class(Class::Redirects)), (11, 1));
}

#[test]
fn a_start_url_that_leads_to_another_site_has_moved() {
    let web = Web::default()
        .redirect("http://a.ke/", "http://www.a.ke/")
        .redirect("http://www.a.ke/", "http://b.ke/");
    let (tree, _) = walk(&web, Settings::default());
    assert_eq!(tree.outcome, Outcome::Moved);
    assert_eq!(tree.externals[0].url.as_str(), "http://b.ke/");
    assert_eq!(tree.externals[0].element, crate::page::Element::Redirect);
}

#[test]
fn one_query_url_is_fetched_of_each_script_and_then_not_the_bare_script_either() {
    let web = Web::default()
        .page("http://a.ke/", &["/s?id=1", "/s?id=2", "/s", "/t", "/t?id=1", "/t?id=2", "/u;v=1"]);
    let (tree, asked) = walk(&web, Settings::default());
    assert_eq!(pages(&asked)[1..], [(1, "/s?id=1"), (1, "/t"), (1, "/t?id=1"), (1, "/u;v=1")]);
    assert_eq!(tree.levels[1].class(Class::Script), 3);
    let (_, asked) = walk(&web, Settings { queries_per_script: 2, ..Settings::default() });
    assert!(pages(&asked).contains(&(1, "/s?id=2")) && !pages(&asked).contains(&(1, "/s")));
}

#[test]
fn endless_paths_are_not_followed_and_a_site_with_too_many_urls_is_a_trap() {
    let web = Web::default().page("http://a.ke/", &["/a/b/a/b/a/b/a/b/"]);
    let (tree, _) = walk(&web, Settings::default());
    assert_eq!(tree.levels[1].class(Class::Trap), 1);
    assert_eq!((tree.outcome, tree.trap_patterns), (Outcome::Trap, vec!["a.ke/(a/b)/**".to_owned()]));

    let links: Vec<String> = (0..100).map(|n| format!("/{n}")).collect();
    let web = Web::default().page("http://a.ke/", &links.iter().map(String::as_str).collect::<Vec<_>>());
    let (tree, _) = walk(&web, Settings { max_urls: 50, ..Settings::default() });
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
    let (tree, _) = walk(&web, Settings { stable_levels: Some(2), ..Settings::default() });
    assert_eq!((tree.outcome, tree.deepest()), (Outcome::Stable, Some(Depth(2))));
}

#[test]
fn a_later_tree_of_the_site_fetches_only_what_earlier_ones_have_not_reached() {
    let web = Web::default().page("http://a.ke/", &["/x"]).page("http://a.ke/island", &["/x", "/y"]);
    let mut first = start("http://a.ke/", Settings::default(), "");
    while let Step::Ask(ask, _) = first.poll(SystemTime::UNIX_EPOCH) {
        first.begin(&ask);
        let (answer, content) = web.answer(&ask);
        first.handle(ask.number, answer, content);
    }
    let (_, known) = first.conclude();
    let scope = Scope::of(&Host::parse("a.ke").unwrap(), ScopeRule::Site, suffixes());
    let settings = Arc::new(Settings::default());
    let second = Walk::new(settings, scope, Arc::default(), url("http://a.ke/island"), known);
    let (_, asked) = drive(second, &web, 1);
    assert_eq!(pages(&asked), [(0, "/island"), (1, "/y")]);
}
