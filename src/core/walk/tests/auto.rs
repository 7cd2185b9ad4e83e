use std::collections::BTreeMap;

use super::yields::{Memory, Rates, Scale, SeenUrl};
use super::*;

/// Pages of any level bring one host, pages with the word `links` ten times as many.
pub(super) fn rates() -> Arc<Rates> {
    let scale = Scale { by_depth: vec![1.0], by_word: [("links".to_owned(), 10.0)].into() };
    Arc::new(Rates::new(Vec::new(), scale.clone(), scale))
}

fn auto(price: f64) -> WalkSettings {
    WalkSettings::default().with_rates(rates(), price)
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("/{prefix}{n}")).collect()
}

fn page(web: Web, path: &str, links: &[String]) -> Web {
    web.page(&format!("http://a.ke{path}"), &links.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A front page that leads to the given pages, none of which leads on.
fn flat(pages: &[String]) -> Web {
    pages.iter().fold(page(Web::default(), "/", pages), |web, path| page(web, path, &[]))
}

#[test]
fn a_silent_site_gets_a_dozen_requests_and_the_rest_is_left_out_with_what_it_was_expected_to_bring() {
    let (tree, requested) = walk(&flat(&names("p", 100)), auto(0.5));
    // An eighth of the waiting URLs is chosen at a time, while no evidence speaks against them.
    assert_eq!(tree.sum(|level| level.class(Class::Fetched)), 1 + 12);
    assert_eq!(pages(&requested).len(), 13);
    assert_eq!(tree.levels[1].class(Class::Yield), 88);
    assert_eq!(tree.levels[1].internal_urls(), 100);
    assert_eq!(tree.outcome, Outcome::Yield);
    // Twelve pages of one folder, each expected to bring a host, brought none. For the site that leaves 2 /
    // 14 of what pages bring, for the folder 1 / (1 + 24 / 14) of that; about its own branch each page knows
    // nothing.
    let each = 2.0 / 14.0 * (1.0 / (1.0 + 24.0 / 14.0));
    assert!((tree.levels[1].expected_hosts - 88.0 * each).abs() < 1e-9, "{:?}", tree.levels[1]);
}

#[test]
fn a_generous_site_is_walked_to_its_end() {
    let links = names("p", 100);
    let web = links.iter().fold(page(Web::default(), "/", &links), |web, path| {
        page(web, path, &[format!("http://{}.tz/", &path[1..])])
    });
    let (tree, _) = walk(&web, auto(0.5));
    assert_eq!((tree.levels[1].class(Class::Fetched), tree.outcome), (100, Outcome::Complete));
    assert_eq!(tree.levels[1].expected_hosts, 0.0);
}

#[test]
fn what_promises_most_is_asked_for_first() {
    let mut paths = names("p", 30);
    paths.push("/our-links".to_owned());
    let (_, requested) = walk(&flat(&paths), auto(0.5));
    let order: Vec<&str> = requested
        .iter()
        .filter(|request| request.depth == Some(Depth(1)))
        .map(|request| request.url.path())
        .collect();
    assert_eq!(order[..4], ["/our-links", "/p0", "/p1", "/p2"], "of equal ones that which was found first");
}

/// Rates of one host a page, and these weights of its features in the worth of a request.
fn weighted(worth: &[(&str, f64)], price: f64) -> WalkSettings {
    let mut rates = Rates::clone(&rates());
    let own = [("rate", 1.0), ("factor", 1.0)];
    let text = serde_json::json!({
        "own": own.into_iter().collect::<BTreeMap<_, _>>(),
        "worth": worth.iter().copied().collect::<BTreeMap<_, _>>(),
    });
    rates.weights = serde_json::from_value(text).unwrap();
    WalkSettings::default().with_rates(Arc::new(rates), price)
}

#[test]
fn pages_named_as_those_that_brought_something_elsewhere_come_first() {
    // Five translations of forty pages; of each only the page with the links brings anything.
    let languages = ["de", "en", "fr", "pt", "sw"];
    let names: Vec<String> =
        (0..40).map(|n| format!("a{n}.html")).chain(["zlinks.html".to_owned()]).collect();
    let front: Vec<String> = languages.iter().map(|language| format!("/{language}/")).collect();
    let mut web = page(Web::default(), "/", &front);
    for language in languages {
        let below: Vec<String> = names.iter().map(|name| format!("/{language}/{name}")).collect();
        web = page(web, &format!("/{language}/"), &below);
        for path in &below {
            let links =
                (0..9).map(|n| format!("http://{language}{n}.tz/")).filter(|_| path.contains("zlinks"));
            web = page(web, path, &links.collect::<Vec<_>>());
        }
    }
    let requests_for_hosts = |settings: WalkSettings| {
        let (tree, requested) = walk(&web, settings);
        assert_eq!(tree.externals.len(), 45);
        let last = requested.iter().rposition(|request| request.url.path().ends_with("zlinks.html"));
        last.unwrap()
    };
    let product = requests_for_hosts(weighted(&[("rate_below", 1.0), ("factor", 1.0), ("doubt", 1.0)], 0.0));
    let by_name = requests_for_hosts(weighted(&[("name_hits", 1.0)], 0.0));
    assert!(by_name * 2 < product, "{by_name} requests by name, {product} without");
}

#[test]
fn what_is_remembered_is_asked_for_by_what_it_brought_and_what_is_new_by_what_it_promises() {
    let mut paths = names("p", 30);
    let seen = |(at, path): (u32, &String)| SeenUrl {
        url: url(&format!("http://a.ke{path}")),
        depth: Depth(u16::from(at > 0)),
        finder: (at > 0).then_some(0),
        requests: 1,
        hosts: if path == "/p7" { 5 } else { 0 },
    };
    let last_time: Vec<SeenUrl> =
        (0..).zip([&["/".to_owned()][..], &paths].concat().iter()).map(seen).collect();
    let memory = Memory::from_seen(&last_time, &rates());
    paths.push("/our-links".to_owned());
    let walk = start("http://a.ke/", auto(0.5), "").with_memory(memory);
    let (tree, requested) = drive(walk, &flat(&paths), 1);
    let order: Vec<&str> = pages(&requested).into_iter().map(|(_, path)| path).collect();
    assert_eq!(order, ["/", "/p7", "/our-links"]);
    assert_eq!((tree.levels[1].class(Class::Yield), tree.outcome), (29, Outcome::Yield));
    assert_eq!(tree.levels[1].expected_hosts, 0.0, "they brought nothing last time");
}

#[test]
fn a_branch_that_brings_something_is_followed_while_another_is_left() {
    let mut web = page(Web::default(), "/", &["/good".to_owned(), "/dull".to_owned()]);
    web = page(web, "/good", &names("good/a", 20));
    web = page(web, "/dull", &names("dull/a", 20));
    for n in 0..20 {
        web = page(web, &format!("/good/a{n}"), &[format!("http://g{n}.tz/"), format!("/good/b/{n}")]);
        web = page(web, &format!("/dull/a{n}"), &[format!("/dull/b/{n}")]);
        web = page(web, &format!("/good/b/{n}"), &[format!("http://h{n}.tz/")]);
        web = page(web, &format!("/dull/b/{n}"), &[]);
    }
    let (tree, requested) = walk(&web, auto(0.5));
    let count_below =
        |branch: &str| requested.iter().filter(|request| request.url.path().starts_with(branch)).count();
    assert_eq!(count_below("/good"), 41);
    assert!((2..20).contains(&count_below("/dull")), "{}", count_below("/dull"));
    assert_eq!(tree.outcome, Outcome::Yield);
    assert_eq!(tree.externals.len(), 40);
}

#[test]
fn what_a_page_redirects_to_is_asked_for_and_never_left_out() {
    let paths = names("p", 12);
    let mut web = page(Web::default(), "/", &paths);
    for path in &paths {
        web = web.redirect(&format!("http://a.ke{path}"), &format!("{path}/target"));
        web = page(web, &format!("{path}/target"), &[]);
    }
    let (tree, _) = walk(&web, auto(5.0));
    let level = &tree.levels[1];
    assert_eq!(level.class(Class::Fetched) % 2, 0, "{level:?}");
    assert_eq!(level.class(Class::Fetched) / 2 + level.class(Class::Yield), 12, "{level:?}");
}

#[test]
fn entrances_are_asked_for_whatever_a_request_must_promise() {
    let (tree, requested) = walk(&flat(&[]), auto(1e9));
    assert_eq!((pages(&requested), tree.outcome), (vec![(0, "/")], Outcome::Complete));
}

#[test]
fn a_page_that_moved_to_https_brings_what_it_brings_there() {
    let paths: Vec<String> = (0..60).map(|n| format!("http://a.ke/p{n}")).collect();
    let mut web = page(Web::default(), "/", &paths);
    for (n, path) in paths.iter().enumerate() {
        let there = path.replace("http:", "https:");
        web = web.redirect(path, &there).page(&there, &[&format!("http://h{n}.tz/")]);
    }
    let (tree, _) = walk(&web, auto(0.5));
    assert_eq!((tree.levels[1].class(Class::Fetched), tree.outcome), (60, Outcome::Complete));
    assert_eq!(tree.externals.len(), 60);
}

#[test]
fn what_another_rule_keeps_back_is_not_left_out_for_its_yield() {
    let mut paths = names("p", 40);
    paths.extend(names("file", 30).iter().map(|path| format!("{path}.pdf")));
    paths.extend((0..30).map(|n| format!("/s?q={n}")));
    paths.extend((0..30).map(|n| format!("/x/x/x/x/x/{n}")));
    let (tree, requested) = walk(&flat(&paths), auto(0.9));
    let level = &tree.levels[1];
    let scripts = requested.iter().filter(|request| request.url.path() == "/s").count() as u64;
    assert_eq!(level.class(Class::Filtered), 30, "{level:?}");
    assert_eq!(level.class(Class::Trap), 30, "{level:?}");
    // One URL of the script would have been requested: it was, or it was left out.
    assert_eq!(level.class(Class::Script), 29, "{level:?}");
    let fetched = level.class(Class::Fetched);
    assert_eq!(level.class(Class::Yield) + fetched, 40 + 1, "{level:?}, {scripts}");
}

#[test]
fn front_pages_of_other_hosts_are_asked_for_whatever_they_promise() {
    let mut paths = names("p", 60);
    paths.push("http://shop.a.ke/".to_owned());
    let (_, requested) = walk(&flat(&paths), auto(5.0));
    let of_shop: Vec<&str> = requested
        .iter()
        .filter(|request| request.url.host().as_str() == "shop.a.ke")
        .map(|request| request.url.path())
        .collect();
    assert_eq!(of_shop, ["/robots.txt", "/"]);
}

#[test]
fn a_later_tree_may_ask_for_what_was_left_out() {
    let web = flat(&names("p", 100));
    let mut left = start("http://a.ke/", auto(0.5), "");
    while let Step::Request(request, _) = left.poll(SystemTime::UNIX_EPOCH) {
        left.begin(&request);
        let (response, content) = web.response(&request);
        left.handle(request.number, response, content);
    }
    let (tree, known) = left.conclude();
    assert_eq!(known.pages.len() as u64, tree.sum(|level| level.class(Class::Fetched)));
    assert!(known.pages.contains(&url("http://a.ke/p0").page_key()));
    assert!(!known.pages.contains(&url("http://a.ke/p99").page_key()));
}
