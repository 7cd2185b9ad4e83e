//! Sites without end, and sound ones that look a little like them.

use std::collections::HashSet;

use super::tests::{ServedPage, Web, drive, start, walk};
use super::*;
use crate::exchange::{Class, Outcome, Purpose};

/// Adds pages, at most `most`, beginning with `first`; `links` gives the text and the links of each page.
fn grown(mut web: Web, first: &[String], most: usize, links: impl Fn(&str) -> (String, Vec<String>)) -> Web {
    let mut list = first.to_vec();
    let mut known: HashSet<String> = first.iter().cloned().collect();
    let mut turn = 0;
    while turn < list.len() && turn < most {
        let (text, found) = links(&list[turn]);
        let anchors: String = found.iter().map(|to| format!("<a href='{to}'></a>")).collect();
        web = web.serve(&list[turn], ServedPage::Html(format!("{text} {anchors}")));
        let is_new =
            |to: &String| (to.contains("//a.ke/") || to.contains(".a.ke/")) && known.insert(to.clone());
        list.extend(found.into_iter().filter(is_new));
        turn += 1;
    }
    web
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn numbers(url: &str) -> Vec<usize> {
    url.split(|c| !is_digit(c)).filter_map(|part| part.parse().ok()).collect()
}

/// Sixteen hexadecimal digits that look random.
fn token(text: &str) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

/// Each month leads to the next one and to its days; the front page also leads to a sound branch.
fn calendar() -> Web {
    let web = Web::default()
        .page("http://a.ke/", &["/calendar/2001/1/", "/about"])
        .page("http://a.ke/about", &["/team"])
        .page("http://a.ke/team", &["/jobs"])
        .page("http://a.ke/jobs", &["/jobs/old"])
        .page("http://a.ke/jobs/old", &["/jobs/older"])
        .page("http://a.ke/jobs/older", &["/jobs/oldest"])
        .page("http://a.ke/jobs/oldest", &["http://b.ke/"]);
    grown(web, &["http://a.ke/calendar/2001/1/".to_owned()], 300, |url| {
        let found = match numbers(url)[..] {
            [year, month] => {
                let next = format!("http://a.ke/calendar/{}/{}/", year + month / 12, month % 12 + 1);
                let days = (1..=28).map(|day| format!("http://a.ke/calendar/{year}/{month}/{day}.html"));
                [next].into_iter().chain(days).collect()
            }
            _ => Vec::new(),
        };
        (format!("Nothing happens on {url}"), found)
    })
}

#[test]
fn a_calendar_ends_by_evidence_and_the_rest_of_the_site_goes_on() {
    let (tree, requested) = walk(&calendar(), WalkSettings::default());
    assert_eq!((tree.outcome, tree.trap_patterns.join(" ")), (Outcome::Trap, "a.ke/calendar/#/**".into()));
    assert_eq!(tree.externals.len(), 1, "found below the calendar's last level");
    assert_eq!(requested.len(), 1 + 1 + 6 + 1 + 3 * 29, "robots, front page, the branch, levels 1 to 4");
    assert_eq!(tree.levels[5].class(Class::Trap), 29);

    let (all, requested) = walk(&calendar(), WalkSettings { trap_levels: None, ..WalkSettings::default() });
    assert_eq!((all.outcome, all.trap_patterns.len()), (Outcome::Depth, 0));
    assert!(requested.len() > 200 && all.externals.len() == 1);
}

#[test]
fn what_is_a_trap_does_not_depend_on_parallelism_or_on_the_depth_below() {
    let one = walk(&calendar(), WalkSettings::default()).0;
    assert_eq!(one, drive(start("http://a.ke/", WalkSettings::default(), ""), &calendar(), 7).0);
    for depth in 0..8 {
        let cut = walk(
            &calendar(),
            WalkSettings { depth: crate::exchange::Depth(depth), ..WalkSettings::default() },
        )
        .0;
        let levels = usize::from(depth) + 1;
        assert_eq!(cut.levels[..levels.min(cut.levels.len())], one.levels[..levels.min(one.levels.len())]);
    }
}

/// Each list of ten items leads to the next list, and to nothing else.
#[test]
fn lists_of_items_are_walked_to_their_end() {
    let web = Web::default().page("http://a.ke/", &["/list/1"]);
    let web = grown(web, &["http://a.ke/list/1".to_owned()], 1000, |url| {
        let found = match numbers(url)[..] {
            [list] if list < 12 => {
                let items = (1..=10).map(|item| format!("http://a.ke/list/{list}/{item}.html"));
                [format!("http://a.ke/list/{}", list + 1)].into_iter().chain(items).collect()
            }
            _ => Vec::new(),
        };
        (format!("The page {url}"), found)
    });
    let (tree, _) = walk(&web, WalkSettings { depth: crate::exchange::Depth(30), ..WalkSettings::default() });
    assert_eq!((tree.outcome, tree.trap_patterns.len()), (Outcome::Complete, 0));
    assert_eq!(tree.sum(|level| level.pages), 1 + 12 + 110);
}

/// Articles below dates, each with a name of its own, that lead to older ones.
#[test]
fn an_archive_by_date_is_walked_to_its_end() {
    let web = Web::default().page("http://a.ke/", &["/2006/5/"]);
    let web = grown(web, &["http://a.ke/2006/5/".to_owned()], 1000, |url| {
        let found = match numbers(url)[..] {
            [year, month] if url.ends_with('/') && year > 2003 => {
                let (year, month) = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
                let name = |n: usize| token(&format!("{year} {month} {n}")).replace(is_digit, "o");
                let articles = (0..11).map(|n| format!("http://a.ke/{year}/{month}/{}", name(n)));
                [format!("http://a.ke/{year}/{month}/")].into_iter().chain(articles).collect()
            }
            _ => Vec::new(),
        };
        (format!("An article called {url}"), found)
    });
    let (tree, _) = walk(&web, WalkSettings { depth: crate::exchange::Depth(40), ..WalkSettings::default() });
    assert_eq!((tree.outcome, tree.trap_patterns.join(" ")), (Outcome::Complete, String::new()));
    assert!(tree.sum(|level| level.pages) > 200);
}

#[test]
fn near_duplicates_under_ever_new_names_end_by_evidence() {
    let names = |base: fn(&str) -> String| {
        let web = Web::default().page("http://a.ke/", &[&base(&token("0")), &base(&token("1"))]);
        let first = [base(&token("0")), base(&token("1"))];
        let web = grown(web, &first, 400, |url| {
            let found = (0..2).map(|n| base(&token(&format!("{url} {n}")))).collect();
            ("Welcome to our page of pages".to_owned(), found)
        });
        let (tree, requested) = walk(&web, WalkSettings::default());
        (tree.outcome, tree.trap_patterns.join(" "), requested.len())
    };
    let pages = names(|token| format!("http://a.ke/gone/{token}"));
    assert_eq!(pages, (Outcome::Trap, "a.ke/gone/*".into(), 1 + 1 + 30));
    let hosts = names(|token| format!("http://w{token}.a.ke/"));
    assert_eq!(hosts, (Outcome::Trap, "*.a.ke/".into(), 2 * (1 + 30)), "with a robots.txt each");
}

#[test]
fn pages_of_their_own_text_under_new_names_are_no_trap() {
    let first = [format!("http://a.ke/doc/{}", token("0"))];
    let web = grown(Web::default().page("http://a.ke/", &[&first[0]]), &first, 100, |url| {
        let found = (0..2).map(|n| format!("http://a.ke/doc/{}", token(&format!("{url} {n}")))).collect();
        let words: String = (0..40).map(|n| token(&format!("{url}{n}")) + " ").collect();
        (words, found)
    });
    let (tree, _) = walk(&web, WalkSettings::default());
    assert_eq!((tree.outcome, tree.trap_patterns.len()), (Outcome::Complete, 0));
}

#[test]
fn sessions_that_repeat_the_site_end_by_evidence() {
    let parts: Vec<String> = (1..=8).map(|part| format!("/part-{part}.html")).collect();
    let links: Vec<&str> = parts.iter().map(String::as_str).chain(["/sid-1/"]).collect();
    let web = Web::default().page("http://a.ke/", &links);
    let web = grown(web, &["http://a.ke/sid-1/".to_owned()], 300, |url| {
        let found = match numbers(url)[..] {
            [session] => {
                let pages = parts.iter().map(|part| format!("http://a.ke/sid-{session}{part}"));
                pages.chain([format!("http://a.ke/sid-{}/", session + 1)]).collect()
            }
            _ => Vec::new(),
        };
        (format!("What {url} says"), found)
    });
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!((tree.outcome, tree.trap_patterns.join(" ")), (Outcome::Trap, "a.ke/sid-#/**".into()));
    assert!(requested.len() < 60, "{}", requested.len());
}

/// The end of a page's text, and its further links.
type More = fn(&str) -> (String, Vec<String>);

/// The same nine pages below ever new names of the folder, with `links` links per page; each page has a link
/// that leaves the site.
fn renamed(folder: fn(&str) -> String, links: usize, more: More) -> Web {
    let subjects = ["goats", "sheep", "maize", "tea", "coffee", "hides", "sisal", "beans", "fish"];
    let page = |token: &str, n: usize| format!("http://{}/page{}.html", folder(token), n % subjects.len());
    let first: Vec<String> = (0..links).map(|n| page(&token(&n.to_string()), n)).collect();
    let front: Vec<&str> = first.iter().map(String::as_str).collect();
    grown(Web::default().page("http://a.ke/", &front), &first, 1300, |url| {
        let Some(own) = numbers(url).pop() else { return (new_words(url), Vec::new()) };
        let next = (1..=links).map(|more| page(&token(&format!("{url} {more}")), own * links + more));
        let subject = subjects[own];
        let said: String = (0..60).map(|n| format!("{subject} as of part n{n} ")).collect();
        let (end, others) = more(url);
        (said + &end, next.chain([format!("http://b{own}.ke/")]).chain(others).collect())
    })
}

/// A text that is unlike any other.
fn new_words(text: &str) -> String {
    (0..60).map(|n| token(&format!("{text} {n}")) + " ").collect()
}

fn in_letters(token: &str) -> String {
    token.replace(is_digit, "x")
}

#[test]
fn the_same_pages_under_ever_new_names_end_by_evidence() {
    type FolderPages = fn(&str) -> String;
    let folders: [(FolderPages, &str); 6] = [
        (|token| format!("a.ke/s/{token}"), "a.ke/s/**"),
        // Some have no letter in them.
        (|token| format!("a.ke/s/{}", &token[..8]), "a.ke/s/**"),
        (|token| format!("a.ke/s/{}", in_letters(token)), "a.ke/s/**"),
        (|token| format!("a.ke/{}/shop", &token[..8]), "a.ke/**"),
        (|token| format!("a.ke/s/{}/{}", &token[..4], &token[4..9]), "a.ke/s/**"),
        (|token| format!("{}.a.ke", in_letters(token)), "*.a.ke/**"),
    ];
    for (folder, trap) in folders {
        for (links, most) in [(3, 1100), (9, 820), (20, 421)] {
            let settings = || WalkSettings { depth: crate::exchange::Depth(60), ..WalkSettings::default() };
            let (tree, requested) =
                walk(&renamed(folder, links, |_| (String::new(), Vec::new())), settings());
            assert_eq!(
                (tree.outcome, tree.trap_patterns.join(" ").as_str()),
                (Outcome::Trap, trap),
                "{links}"
            );
            let pages = requested.iter().filter(|request| request.purpose != Purpose::Robots).count();
            assert!(pages <= most, "{trap}, {links} links: {pages} pages");
        }
    }
    let clock = |url: &str| (format!("at {}", numbers(&token(url)).iter().sum::<usize>() % 24), Vec::new());
    let (tree, _) =
        walk(&renamed(|token| format!("a.ke/s/{}", in_letters(token)), 3, clock), WalkSettings::default());
    assert_eq!(tree.outcome, Outcome::Trap, "texts that differ in the time of day");
}

#[test]
fn pages_that_say_something_new_or_lead_elsewhere_under_new_names_are_no_trap() {
    let folder = |token: &str| format!("a.ke/s/{}", in_letters(token));
    let settings = || WalkSettings { depth: crate::exchange::Depth(60), ..WalkSettings::default() };
    let cases: [(More, &str); 3] = [
        (|url| (new_words(url), Vec::new()), "new words"),
        (|url| (String::new(), vec![format!("http://b{}.ke/", token(url))]), "new hosts"),
        (|url| (String::new(), vec![format!("http://a.ke/{}.html", in_letters(&token(url)))]), "other pages"),
    ];
    for (more, case) in cases {
        let (tree, _) = walk(&renamed(folder, 3, more), settings());
        assert_eq!((tree.outcome, tree.trap_patterns.join(" ").as_str()), (Outcome::Complete, ""), "{case}");
    }
}

/// A copy of the site that nobody has translated repeats the text of the original, and ends.
#[test]
fn copies_that_end_are_walked_to_their_end() {
    let web = Web::default().page("http://a.ke/", &["/en/0/", "/fr/0/"]);
    let first = ["en", "fr"].map(|language| format!("http://a.ke/{language}/0/"));
    let web = grown(web, &first, 1000, |url| {
        let number = numbers(url)[0];
        let folder = url.rsplit_once(&format!("{number}/")).unwrap().0;
        let next = (1..=5).map(|more| 5 * number + more).filter(|next| *next < 250);
        (new_words(&number.to_string()), next.map(|next| format!("{folder}{next}/")).collect())
    });
    let (tree, _) = walk(&web, WalkSettings::default());
    assert_eq!((tree.outcome, tree.sum(|level| level.pages)), (Outcome::Complete, 1 + 2 * 250));
}

#[test]
fn a_shop_whose_filters_combine_in_every_order_ends_by_evidence() {
    let words = ["red", "blue", "large", "small", "new", "used", "cheap"];
    let web = grown(Web::default(), &["http://a.ke/".to_owned()], 2000, |url| {
        let more = words.into_iter().filter(|word| !url.contains(word));
        (format!("All of {url}"), more.map(|word| format!("{url}{word}/")).collect())
    });
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!((tree.outcome, tree.trap_patterns.join(" ")), (Outcome::Trap, "a.ke/**".into()));
    assert_eq!(requested.len(), 1 + 1 + 7 + 42);
    assert_eq!(tree.levels[3].class(Class::Trap), 210);
}

/// Two hosts with the same eight pages per level, whose links name no host.
fn two_hosts(other: impl Fn(&str) -> String) -> Web {
    let mut web = Web::default();
    for host in ["www.a.ke", "a.ke"] {
        let url = |path: &str| format!("http://{host}/{path}");
        let said = |text: &str| if host == "a.ke" { other(text) } else { text.to_owned() };
        let links: String = (0..8).map(|n| format!("<a href='/{n}'></a>")).collect();
        web = web
            .serve(&url(""), ServedPage::Html(said(&format!("Welcome {links} <a href=http://a.ke/></a>"))));
        for n in 0..8 {
            let below: String = (0..8).map(|m| format!("<a href='/{n}/{m}'></a>")).collect();
            web = web.serve(&url(&n.to_string()), ServedPage::Html(said(&format!("Part {n} {below}"))));
            for m in 0..8 {
                let to = format!("<a href='http://b{n}{m}.ke/'></a>");
                web = web
                    .serve(&url(&format!("{n}/{m}")), ServedPage::Html(said(&format!("Page {n} {m} {to}"))));
            }
        }
    }
    web
}

#[test]
fn pages_of_a_mirror_are_known_already() {
    let settings = || WalkSettings { trap_levels: None, ..WalkSettings::default() };
    let walked = |web: &Web, settings: WalkSettings| {
        let (tree, requested) = drive(start("http://www.a.ke/", settings, ""), web, 1);
        (tree.sum(|level| level.class(Class::Mirror)), tree.externals.len(), requested.len())
    };
    let mirror = two_hosts(str::to_owned);
    // Two robots.txt, the sound host, and of the mirror the front page and the level below it.
    assert_eq!(walked(&mirror, settings()), (64, 64, 2 + 73 + 9));
    assert_eq!(walked(&mirror, WalkSettings { fetch_mirrors: true, ..settings() }), (0, 64, 2 + 73 + 73));
    let another = two_hosts(|text| format!("{text} of another host"));
    assert_eq!(walked(&another, settings()), (0, 64, 2 + 73 + 73));
}

#[test]
fn pages_of_the_same_bytes_elsewhere_are_followed() {
    let stub = |web: Web, path: &str| web.serve(path, ServedPage::Html("<a href=main.html></a>".into()));
    let mut web = Web::default().page("http://a.ke/", &["/1/", "/2/", "/3/", "/4/", "/5/"]);
    for n in 1..=5 {
        web = stub(web, &format!("http://a.ke/{n}/"));
        web = web.page(&format!("http://a.ke/{n}/main.html"), &[&format!("http://b{n}.ke/")]);
    }
    assert_eq!(walk(&web, WalkSettings::default()).0.externals.len(), 5);
}

#[test]
fn eight_endless_paths_of_a_site_are_named_each_once() {
    let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let links: Vec<String> = ["x", "y"]
        .iter()
        .flat_map(|end| words.iter().map(move |word| format!("/{word}/{word}/{word}/{word}/{end}")))
        .collect();
    let web = Web::default().page("http://a.ke/", &links.iter().map(String::as_str).collect::<Vec<_>>());
    let (tree, _) = walk(&web, WalkSettings::default());
    assert_eq!(tree.levels[1].class(Class::Trap), 20);
    let named: Vec<String> = words[..8].iter().map(|word| format!("a.ke/({word})/**")).collect();
    assert_eq!(tree.trap_patterns, named);
}

/// Pages below a folder; each leads to the pages with one more of the words in their path. `more` gives the
/// other links.
fn shop(web: Web, folder: &str, words: &[&str], more: impl Fn(&str) -> Vec<String>) -> Web {
    grown(web, &[folder.to_owned()], 400, |url| {
        let choices = words.iter().filter(|word| !url.contains(*word)).map(|word| format!("{url}{word}/"));
        (format!("All of {url}"), choices.chain(more(url)).collect())
    })
}

const WORDS: [&str; 7] = ["red", "blue", "large", "small", "new", "used", "cheap"];

#[test]
fn a_shop_of_few_words_is_walked_to_its_end() {
    let walked = |words| {
        let (tree, requested) =
            walk(&shop(Web::default(), "http://a.ke/", words, |_| Vec::new()), WalkSettings::default());
        (tree.outcome, requested.len() - 1)
    };
    assert_eq!(walked(&WORDS[..4]), (Outcome::Complete, 1 + 4 + 12 + 24 + 24));
    assert_eq!(walked(&WORDS[..5]), (Outcome::Trap, 1 + 5 + 20));
}

#[test]
fn a_shop_whose_pages_lead_elsewhere_is_walked_to_its_end() {
    let all = 1 + 5 + 20 + 60 + 120 + 120;
    let abroad = |url: &str| vec![format!("http://b{}.ke/", token(url))];
    let (tree, requested) =
        walk(&shop(Web::default(), "http://a.ke/", &WORDS[..5], abroad), WalkSettings::default());
    assert_eq!((tree.outcome, requested.len() - 1, tree.externals.len()), (Outcome::Complete, all, all));
    // One page that leads to something else is enough.
    let beside = |url: &str| match url {
        "http://a.ke/red/new/" => vec!["http://a.ke/about".to_owned()],
        "http://a.ke/red/new/large/" => vec!["http://b.ke/".to_owned()],
        _ => Vec::new(),
    };
    let web = shop(Web::default(), "http://a.ke/", &WORDS[..5], beside).page("http://a.ke/about", &[]);
    let (tree, requested) = walk(&web, WalkSettings::default());
    assert_eq!(
        (tree.outcome, requested.len() - 1),
        (Outcome::Trap, 1 + 5 + 20 + 61 + 120),
        "two levels later"
    );
}

#[test]
fn beside_a_shop_without_end_the_rest_of_the_site_and_its_queries_go_on() {
    let links = ["/shop/", "/about"];
    let web = Web::default()
        .page("http://a.ke/", &links)
        .page("http://a.ke/about", &["/team"])
        .page("http://a.ke/team", &["/jobs"])
        .page("http://a.ke/jobs", &["/jobs/old"])
        .page("http://a.ke/jobs/old", &["/jobs/older", "/shop/red/blue/new/?page=2"])
        .page("http://a.ke/jobs/older", &["http://b.ke/"]);
    let (tree, requested) =
        walk(&shop(web, "http://a.ke/shop/", &WORDS, |_| Vec::new()), WalkSettings::default());
    assert_eq!((tree.outcome, tree.trap_patterns.join(" ")), (Outcome::Trap, "a.ke/shop/**".into()));
    assert_eq!(requested.len(), 1 + 1 + (1 + 7 + 42) + 5 + 1);
    assert_eq!((tree.externals.len(), tree.levels[4].class(Class::Trap)), (1, 210));
    assert!(requested.iter().any(|request| request.url.query().is_some()), "the rule on scripts bounds it");
}

/// The calendar again, with more links on its pages.
fn calendar_with(more: impl Fn(&str) -> Vec<String>) -> Web {
    let web = Web::default().page("http://a.ke/", &["/calendar/2001/1/", "http://c.ke/"]);
    grown(web, &["http://a.ke/calendar/2001/1/".to_owned()], 400, |url| {
        let found = match numbers(url)[..] {
            [year, month] if url.ends_with('/') => {
                let next = format!("http://a.ke/calendar/{}/{}/", year + month / 12, month % 12 + 1);
                let days = (1..=28).map(|day| format!("http://a.ke/calendar/{year}/{month}/{day}.html"));
                [next].into_iter().chain(days).chain(more(url)).collect()
            }
            _ => Vec::new(),
        };
        (format!("Nothing happens on {url}"), found)
    })
}

#[test]
fn neither_queries_nor_known_externals_make_a_calendar_sound() {
    let is_trap = |web: &Web| {
        let tree = walk(web, WalkSettings::default()).0;
        (tree.outcome == Outcome::Trap, tree.trap_patterns)
    };
    let trap = (true, vec!["a.ke/calendar/#/**".to_owned()]);
    assert_eq!(is_trap(&calendar_with(|_| Vec::new())), trap);
    assert_eq!(is_trap(&calendar_with(|_| vec!["http://c.ke/".to_owned()])), trap);
    assert_eq!(is_trap(&calendar_with(|url| vec![format!("{url}?print")])), trap);
    let events = calendar_with(|url| vec![format!("http://b{}.ke/", token(url))]);
    assert_eq!(is_trap(&events), (false, Vec::new()), "every month leads to somebody else");
    let words = calendar_with(|url| vec![format!("{url}meeting-of-{}", token(url).replace(is_digit, "o"))]);
    assert_eq!(is_trap(&words), (false, Vec::new()), "every month brings a new word");
}
