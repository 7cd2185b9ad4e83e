use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;
use crate::address::{Host, OptOut, Scope, ScopeRule, SuffixSection, Suffixes, WebUrl};
use crate::exchange::{Answer, Ask, Depth, Failure, Purpose, Wire};
use crate::page::{Page, Source};

/// A Web that fits on a page: what each URL answers.
#[derive(Debug, Default)]
pub(super) struct Web(HashMap<String, Served>);

#[derive(Clone, Debug)]
pub(super) enum Served {
    Html(String),
    Status(u16),
    To(String),
    Robots(String),
    Gone,
    OptedOut,
    /// A robots.txt that came with a failure.
    Broken(Failure, String),
    Later,
}

impl Web {
    pub(super) fn page(mut self, url: &str, links: &[&str]) -> Self {
        let html = links.iter().map(|link| format!("<a href=\"{link}\">x</a>")).collect::<String>();
        self.0.insert(url.to_owned(), Served::Html(html));
        self
    }

    pub(super) fn serve(mut self, url: &str, served: Served) -> Self {
        self.0.insert(url.to_owned(), served);
        self
    }

    fn redirect(self, from: &str, to: &str) -> Self {
        self.serve(from, Served::To(to.to_owned()))
    }

    fn answer(&self, ask: &Ask) -> (Answer, Content) {
        let mut answer =
            Answer::not_asked(SystemTime::UNIX_EPOCH, Some([41, 90, 0, 1].into()), Failure::Reset, None);
        answer.wire = Wire { sent: 100, received: 1000, connections: 0 };
        let served = self.0.get(ask.url.as_str()).cloned().unwrap_or(Served::Status(404));
        if let Served::Gone = served {
            return (answer, Content::Nothing);
        }
        if let Served::OptedOut = served {
            answer.failure = Some(Failure::OptedOut);
            return (answer, Content::Nothing);
        }
        answer.failure = None;
        answer.status = Some(200);
        answer.head.content_type = Some("text/html; charset=utf-8".to_owned());
        let content = match served {
            Served::Html(html) => {
                let source = Source {
                    body: html.as_bytes(),
                    url: &ask.url,
                    content_type: answer.head.content_type.as_deref(),
                    robots_tag: None,
                };
                Content::Page(Box::new(Page::read(source)))
            }
            Served::Robots(text) => Content::Robots(text.into_bytes()),
            Served::Broken(failure, text) => {
                answer.failure = Some(failure);
                Content::Robots(text.into_bytes())
            }
            Served::Status(status) => {
                answer.status = Some(status);
                Content::Nothing
            }
            Served::Later => {
                answer.status = Some(503);
                answer.head.retry_after = Some(Duration::from_secs(5));
                Content::Nothing
            }
            Served::To(to) => {
                answer.status = Some(301);
                answer.head.location = Some(to);
                Content::Nothing
            }
            Served::Gone | Served::OptedOut => Content::Nothing,
        };
        (answer, content)
    }
}

fn url(text: &str) -> WebUrl {
    WebUrl::parse(text).unwrap()
}

fn suffixes() -> Arc<Suffixes> {
    static LIST: std::sync::OnceLock<Arc<Suffixes>> = std::sync::OnceLock::new();
    let parse = || {
        Arc::new(
            Suffixes::parse(include_str!("../../data/public_suffix_list.dat"), SuffixSection::Icann).unwrap(),
        )
    };
    LIST.get_or_init(parse).clone()
}

pub(super) fn start(start: &str, settings: Settings, opt_out: &str) -> Walk {
    let scope = Scope::of(&Host::parse("a.ke").unwrap(), ScopeRule::Site, suffixes());
    let opt_out = Arc::new(OptOut::parse(opt_out).unwrap().into());
    Walk::new(Arc::new(settings), scope, opt_out, url(start), Known::default())
}

/// Walks with up to `parallel` questions in flight; answers come back last asked first.
pub(super) fn drive(walk: Walk, web: &Web, parallel: usize) -> (Tree, Vec<Ask>) {
    drive_in_order(walk, web, parallel, |flying| flying.len() - 1)
}

fn drive_in_order(
    mut walk: Walk,
    web: &Web,
    parallel: usize,
    mut pick: impl FnMut(&[Ask]) -> usize,
) -> (Tree, Vec<Ask>) {
    let (mut asked, mut flying) = (Vec::new(), Vec::new());
    loop {
        let step = if flying.len() < parallel { walk.poll() } else { Step::Wait };
        match step {
            Step::Ask(ask, _) => {
                walk.begin(&ask);
                asked.push(ask.clone());
                flying.push(ask);
            }
            Step::Wait => {
                let ask: Ask = flying.remove(pick(&flying));
                let (answer, content) = web.answer(&ask);
                walk.handle(ask.number, answer, content);
            }
            Step::Done => return (walk.conclude().0, asked),
        }
    }
}

pub(super) fn walk(web: &Web, settings: Settings) -> (Tree, Vec<Ask>) {
    drive(start("http://a.ke/", settings, ""), web, 1)
}

fn pages(asked: &[Ask]) -> Vec<(u16, &str)> {
    let pages = asked.iter().filter(|ask| ask.purpose == Purpose::Page);
    pages.map(|ask| (ask.depth.unwrap().0, ask.url.target())).collect()
}

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
    assert_eq!((tree.levels[0].requests, tree.outcome), (2, Outcome::Complete));

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
    while let Step::Ask(ask, _) = walk.poll() {
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
    while let Step::Ask(ask, _) = walk.poll() {
        walk.begin(&ask);
        let (answer, content) = web.answer(&ask);
        walk.handle(ask.number, answer, content);
        if ask.url.path() == "/s" {
            walk.end(Outcome::RequestBudget);
        }
    }
    assert_eq!(walk.poll(), Step::Done);
    assert!(walk.conclude().0.probes.is_empty());
    // A budget that ends while probes are asked leaves the tree its outcome.
    let mut walk = start("http://a.ke/", Settings { probing, ..Settings::default() }, "");
    while let Step::Ask(ask, _) = walk.poll() {
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

#[test]
fn nofollow_links_are_not_followed_unless_another_link_leads_there() {
    let html = |text: &str| Served::Html(text.to_owned());
    let web = Web::default()
        .serve(
            "http://a.ke/",
            html("<a rel=nofollow href=/x>x</a><a rel='ugc nofollow' href=/y>y</a><a href=/z>z</a>"),
        )
        .serve("http://a.ke/z", html("<a href=/y>y</a><a rel=nofollow href=http://b.ke/>b</a>"))
        .serve("http://a.ke/y", html("<meta name=robots content='noindex, nofollow'><a href=/w>w</a>"));
    let (tree, asked) = walk(&web, Settings::default());
    assert_eq!(pages(&asked), [(0, "/"), (1, "/z"), (2, "/y")]);
    assert!(tree.externals[0].nofollow);
    // They have no depth, for no followed link leads there: counted below the last level.
    assert_eq!(tree.levels[3].class(Class::Nofollow), 2);
}

#[test]
fn robots_txt_is_asked_once_per_host_and_obeyed() {
    let robots = |text: &str| Served::Robots(text.to_owned());
    let web = Web::default()
        .serve("http://a.ke/robots.txt", robots("User-agent: *\nDisallow: /no\n"))
        .serve("http://img.a.ke/robots.txt", Served::Gone)
        .page("http://a.ke/", &["/no/1", "/yes", "http://img.a.ke/1", "http://img.a.ke/2"])
        .page("http://a.ke/yes", &[]);
    let (tree, asked) = walk(&web, Settings::default());
    assert_eq!(asked.iter().filter(|ask| ask.purpose == Purpose::Robots).count(), 2);
    assert_eq!(pages(&asked), [(0, "/"), (1, "/yes")]);
    let level = &tree.levels[1];
    assert_eq!((level.class(Class::Robots), level.class(Class::RobotsUnreachable)), (1, 2));
    assert_eq!(tree.robots.requests, 2);
}

#[test]
fn what_robots_txt_answers_decides_over_the_site() {
    let outcome = |served: Served| {
        let web = Web::default().serve("http://a.ke/robots.txt", served).page("http://a.ke/", &[]);
        let (tree, asked) = walk(&web, Settings::default());
        (tree.outcome, asked.len())
    };
    assert_eq!(outcome(Served::Status(404)), (Outcome::Complete, 2));
    assert_eq!(outcome(Served::Status(500)), (Outcome::Robots, 1));
    assert_eq!(outcome(Served::Gone), (Outcome::Unreachable, 1));
    assert_eq!(outcome(Served::Robots("User-agent: ccsurvey\nDisallow: /".into())), (Outcome::Robots, 1));
    assert_eq!(outcome(Served::Robots("User-agent: *\nCrawl-delay: 301".into())), (Outcome::Robots, 1));
    assert_eq!(outcome(Served::Robots("User-agent: *\nCrawl-delay: 300".into())), (Outcome::Complete, 2));
}

#[test]
fn robots_txt_is_followed_through_redirects_and_serves_the_origin_it_ends_at() {
    let web = Web::default()
        .redirect("http://a.ke/robots.txt", "https://a.ke/robots.txt")
        .serve("https://a.ke/robots.txt", Served::Robots("User-agent: *\nDisallow: /x".into()))
        .redirect("http://a.ke/", "https://a.ke/")
        .page("https://a.ke/", &["/x", "/y"]);
    let (tree, asked) = walk(&web, Settings::default());
    assert_eq!(tree.robots.requests, 2, "not asked again for https");
    assert_eq!(pages(&asked), [(0, "/"), (0, "/"), (1, "/y")]);
}

#[test]
fn a_page_is_asked_for_again_only_when_its_server_says_when() {
    let web =
        Web::default().page("http://a.ke/", &["/later", "/down"]).serve("http://a.ke/later", Served::Later);
    let web = web.serve("http://a.ke/down", Served::Status(503));
    let (tree, asked) = walk(&web, Settings::default());
    assert_eq!(pages(&asked)[1..], [(1, "/later"), (1, "/down"), (1, "/later"), (1, "/later")]);
    assert_eq!(tree.levels[1].internal_urls(), 2);
}

#[test]
fn a_server_that_stops_answering_is_left_alone() {
    let links: Vec<String> = (0..50).map(|n| format!("/{n}")).collect();
    let mut web = Web::default().page("http://a.ke/", &links.iter().map(String::as_str).collect::<Vec<_>>());
    for link in &links {
        web = web.serve(&format!("http://a.ke{link}"), Served::Gone);
    }
    for parallel in [1, 3, 8] {
        let (tree, _) = drive(start("http://a.ke/", Settings::default(), ""), &web, parallel);
        assert_eq!(tree.outcome, Outcome::Unreachable);
        assert_eq!(tree.levels[1].class(Class::Fetched), 5, "with {parallel} in flight");
        assert_eq!(tree.levels[1].class(Class::Limit), 45);
    }
}

#[test]
fn opted_out_hosts_are_not_asked() {
    let web = Web::default().page("http://a.ke/", &["http://img.a.ke/", "/x"]);
    let (tree, asked) = drive(start("http://a.ke/", Settings::default(), "img.a.ke"), &web, 1);
    assert_eq!(pages(&asked), [(0, "/"), (1, "/x")]);
    assert_eq!(tree.levels[1].class(Class::OptOut), 1);
    let (tree, asked) = drive(start("http://a.ke/", Settings::default(), "a.ke"), &web, 1);
    assert_eq!((tree.outcome, asked.len()), (Outcome::OptOut, 0));
}

#[test]
fn rules_at_a_host_that_opted_out_keep_the_site_back_and_do_not_opt_it_out() {
    let web = Web::default()
        .redirect("http://a.ke/robots.txt", "http://left-alone.ke/robots.txt")
        .serve("http://left-alone.ke/robots.txt", Served::OptedOut);
    let (tree, _) = walk(&web, Settings::default());
    assert_eq!(tree.outcome, Outcome::Robots);
    let web = Web::default().serve("http://a.ke/robots.txt", Served::OptedOut);
    assert_eq!(walk(&web, Settings::default()).0.outcome, Outcome::OptOut);
}

#[test]
fn rules_that_broke_off_forbid_everything_and_rules_too_long_hold_as_far_as_read() {
    for (failure, outcome) in [
        (Failure::BodyTruncated, Outcome::Robots),
        (Failure::IdleTimeout, Outcome::Robots),
        (Failure::TooSlow, Outcome::Robots),
        (Failure::BodyEncoding, Outcome::Robots),
        (Failure::BodyTooLarge, Outcome::Complete),
    ] {
        let rules = "User-agent: *\nDisallow: /x\n".to_owned();
        let web = Web::default()
            .page("http://a.ke/", &[])
            .serve("http://a.ke/robots.txt", Served::Broken(failure, rules));
        assert_eq!(walk(&web, Settings::default()).0.outcome, outcome, "{failure}");
    }
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
    while let Step::Ask(ask, _) = first.poll() {
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

/// A random site of up to 40 URLs on two hosts, some of them scripts, redirects, or gone.
fn any_web() -> impl Strategy<Value = Web> {
    let name = |n: usize| match n % 8 {
        5 => format!("http://a.ke/s{}?q={n}", n % 3),
        6 => format!("http://img.a.ke/{n}"),
        7 => format!("http://b{n}.ke/"),
        _ => format!("http://a.ke/{n}"),
    };
    let served = (0u8..12, prop::collection::vec(0usize..40, 0..8));
    prop::collection::vec(served, 40).prop_map(move |all| {
        let mut web = Web::default();
        for (n, (kind, links)) in all.into_iter().enumerate() {
            let links: Vec<String> = links.into_iter().map(name).collect();
            let from = if n == 0 { "http://a.ke/".to_owned() } else { name(n) };
            web = match (kind, links.first()) {
                (0, Some(to)) if n > 0 => web.redirect(&from, to),
                (1, _) if n > 0 => web.serve(&from, Served::Status(404)),
                (2, _) if n > 0 => web.serve(&from, Served::Later),
                (3, _) if n > 0 => web.serve(&from, Served::Gone),
                _ => web.page(&from, &links.iter().map(String::as_str).collect::<Vec<_>>()),
            };
        }
        web
    })
}

proptest! {
    #[test]
    fn a_walk_asks_nothing_twice_stays_in_scope_and_counts_every_url_once(web in any_web(), depth in 0u16..6) {
        let (tree, asked) = walk(&web, Settings { depth: Depth(depth), ..Settings::default() });
        let mut seen = HashMap::new();
        for ask in &asked {
            prop_assert!(ask.url.host().is_at_or_below(&Host::parse("a.ke").unwrap()));
            prop_assert!(ask.depth.is_none_or(|at| at.0 <= depth));
            *seen.entry(ask.url.as_str().to_owned()).or_insert(0) += 1;
        }
        for (url, times) in seen {
            let may_retry = matches!(web.0.get(&url), Some(Served::Later));
            prop_assert!(times == 1 || (may_retry && times <= 3), "{url} {times}");
        }
        let requests: u64 = tree.sum(|level| level.requests) + tree.robots.requests;
        prop_assert_eq!(requests, asked.len() as u64);
        prop_assert_eq!(tree.sum(|level| level.external_urls), tree.externals.len() as u64);
    }

    #[test]
    fn a_tree_does_not_depend_on_how_many_questions_are_in_flight_or_which_answer_comes_first(
        web in any_web(),
        parallel in 2usize..9,
        order in prop::collection::vec(any::<u8>(), 64),
    ) {
        let one = walk(&web, Settings::default());
        let mut turn = 0;
        let many = drive_in_order(start("http://a.ke/", Settings::default(), ""), &web, parallel, |flying| {
            turn += 1;
            usize::from(order[turn % order.len()]) % flying.len()
        });
        prop_assert_eq!(one, many);
    }

    #[test]
    fn a_tree_cut_at_a_depth_equals_a_walk_to_that_depth(web in any_web(), depth in 0u16..5) {
        let (deep, _) = walk(&web, Settings { depth: Depth(8), ..Settings::default() });
        let (cut, _) = walk(&web, Settings { depth: Depth(depth), ..Settings::default() });
        let levels = usize::from(depth) + 1;
        let shared = levels.min(cut.levels.len());
        prop_assert_eq!(&deep.levels[..shared], &cut.levels[..shared]);
        let within = |tree: &Tree| tree.externals.iter().filter(|e| e.depth.0 <= depth).cloned().collect::<Vec<_>>();
        prop_assert_eq!(within(&deep), within(&cut));
    }
}
