//! Servers that respond to every path, and sound ones whose pages are alike.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// The HTML that a site serves for a path; none if there is no page.
type Site<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Pages to which every page leads, each with an external link.
const SOUND: usize = 12;

/// Walks with up to `parallel` requests in flight, whose responses arrive in random order.
fn walked(site: Site<'_>, settings: WalkSettings, parallel: usize) -> (Tree, Vec<Request>) {
    let mut chance = 7_usize;
    let mut pick = move |from: usize| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) % from
    };
    let (mut walk, mut requested, mut flying) = (start("http://a.ke/", settings, ""), Vec::new(), Vec::new());
    loop {
        let step = if flying.len() < parallel { walk.poll(SystemTime::UNIX_EPOCH) } else { Step::Wait };
        match step {
            Step::Request(request, _) => {
                walk.begin(&request);
                requested.push(request.clone());
                flying.push(request);
            }
            Step::Wait => {
                let request: Request = flying.remove(pick(flying.len()));
                let (response, content) = answered(site, &request);
                walk.handle(request.number, response, content);
            }
            Step::RoundOver => panic!("there are no rounds"),
            Step::Done => return (walk.conclude().0, requested),
        }
    }
}

fn answered(site: Site<'_>, request: &Request) -> (Response, Content) {
    let served = site(request.url.target()).map_or(ServedPage::Status(404), ServedPage::Html);
    Web::default().serve(request.url.as_str(), served).response(request)
}

fn anchors<T: AsRef<str>>(targets: impl IntoIterator<Item = T>) -> String {
    targets.into_iter().map(|to| format!("<a href='{0}'>{0}</a> ", to.as_ref())).collect()
}

/// A page of a maze, unless it is one of the sound pages or a robots.txt.
fn maze(path: &str, text: &str, relative: &[&str]) -> Option<String> {
    match path.strip_prefix("/sound-").and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => Some(format!("Sound page {number} <a href='http://h{number}.ke/'>x</a>")),
        None if path == "/robots.txt" => None,
        None => {
            let sound = anchors((1..=SOUND).map(|number| format!("/sound-{number}")));
            Some(format!("<p>{text}</p> {} {sound}", anchors(relative)))
        }
    }
}

/// Words that depend on a text and on nothing else.
fn drawn(text: &str, words: usize) -> String {
    let word = |at: usize| format!("{:x} ", xxhash_rust::xxh3::xxh3_64(format!("{text} {at}").as_bytes()));
    (0..words).map(word).collect()
}

fn last_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Whether a walk finds all sound pages in at most `most` requests, however many are in flight, and gives the
/// trap this name.
#[track_caller]
fn ends(site: Site<'_>, most: usize, name: &str) {
    let (tree, requested) = walked(site, WalkSettings::default(), 1);
    assert_eq!(tree.outcome, Outcome::Trap);
    assert_eq!(tree.trap_patterns.join(" "), name);
    assert_eq!(tree.externals.len(), SOUND, "what is sound is found");
    assert!(requested.len() <= most, "{} requests", requested.len());
    for parallel in [3, 9] {
        let (other, also) = walked(site, WalkSettings::default(), parallel);
        assert_eq!((other, also), (tree.clone(), requested.clone()), "{parallel} in flight");
    }
}

const MENU: [&str; 6] = ["en/about/", "en/news/", "en/team/", "en/jobs/", "en/maps/", "en/contact/"];

#[test]
fn one_page_for_every_path_ends() {
    ends(&|path| maze(path, "Welcome", &MENU), 35, "a.ke/**");
    // Many links, with one to four segments.
    let menu: Vec<String> = (0..50).map(|n| format!("{}/{n}/", ["a", "b/x", "c/d/e", "f"][n % 4])).collect();
    let menu: Vec<&str> = menu.iter().map(String::as_str).collect();
    ends(&|path| maze(path, "Welcome", &menu), 400, "a.ke/**");
    ends(&|path| maze(path, "Welcome", &["a/b/c/d/", "e/f.html", "../g/h/", "../../i/"]), 60, "a.ke/**");
}

#[test]
fn pages_by_the_last_name_end() {
    let menu: Vec<String> = (0..12).map(|n| format!("index.php/page{n}/")).collect();
    let menu: Vec<&str> = menu.iter().map(String::as_str).collect();
    ends(&|path| maze(path, &drawn(last_name(path), 40), &menu), 40, "a.ke/**");
    // Below a folder, next to queries.
    let menu = ["list/new/?page=1", "list/new/", "list/old/", "show/old/"];
    let site = |path: &str| match path.strip_prefix("/app/") {
        Some(below) => maze(path, &drawn(last_name(below.split('?').next().unwrap()), 40), &menu),
        None if path == "/" => maze(path, "Welcome", &["app/"]),
        None => maze(path, "Elsewhere", &[]),
    };
    ends(&site, 70, "a.ke/app/** a.ke/app/(list/new)/**");
}

#[test]
fn pages_by_the_first_name_end() {
    let menu = ["a.php/list/", "b.php/list/", "c.php/all/", "d.php/all/new/"];
    let site = |path: &str| maze(path, &drawn(path.split('/').nth(1).unwrap_or_default(), 40), &menu);
    ends(&site, 80, "a.ke/** a.ke/(a.php/list)/**");
}

#[test]
fn single_words_in_menus_without_the_page_itself_end() {
    let words: Vec<String> = ('a'..='t').map(|letter| format!("{letter}{letter}/")).collect();
    let site = |path: &str| {
        let here = format!("{}/", last_name(path));
        let menu: String = words
            .iter()
            .map(|word| if *word == here { format!("<b>{word}</b> ") } else { anchors([word]) })
            .collect();
        maze(path, &menu, &[])
    };
    ends(&site, 210, "a.ke/**");
}

#[test]
fn links_to_other_hosts_that_name_no_protocol_end() {
    let menu =
        ["www.bbc.com", "facebook.com/event", "twitter.com/ke/status.html", "youtube.com/watch", "x.ke/y/z"];
    ends(&|path| maze(path, "Our friends", &menu), 60, "a.ke/** a.ke/(facebook.com)/**");
}

#[test]
fn pages_that_tell_the_time_and_where_one_is_end() {
    let long = |path: &str| {
        let time = drawn(path, 3);
        maze(path, &format!("You are here: {path}. {} Made at {time}", drawn("our text", 120)), &MENU)
    };
    ends(&long, 45, "a.ke/**");
    // Short texts, a third of which is new each time.
    let short = |path: &str| maze(path, &format!("Welcome to our place {}", drawn(path, 3)), &MENU);
    ends(&short, 60, "a.ke/**");
    // An external link that contains the page's path, to a known host.
    let shared = |path: &str| {
        let share = format!("Welcome <a href='http://h1.ke/share?u={path}'>x</a>");
        maze(path, &share, &MENU)
    };
    let (tree, requested) = walked(&shared, WalkSettings::default(), 1);
    assert!(tree.outcome == Outcome::Trap && requested.len() < 60, "{}", requested.len());
}

#[test]
fn spellings_are_words_of_their_own() {
    let menu = ["En/About/", "en/about/", "EN/News/", "caf%C3%A9/%61/", "x.html/y.html", "x.html/Y.html/"];
    ends(&|path| maze(path, "Welcome", &menu), 60, "a.ke/**");
}

#[test]
fn a_tree_cut_at_a_depth_is_a_walk_to_that_depth() {
    let site = |path: &str| maze(path, &drawn(last_name(path), 40), &MENU);
    let (whole, _) = walked(&site, WalkSettings::default(), 1);
    for depth in 0..4 {
        let settings = WalkSettings { depth: Depth(depth), ..WalkSettings::default() };
        let cut = walked(&site, settings, 5).0;
        let levels = usize::from(depth) + 1;
        assert_eq!(
            cut.levels[..levels.min(cut.levels.len())],
            whole.levels[..levels.min(whole.levels.len())]
        );
    }
}

#[test]
fn without_the_rule_on_evidence_there_is_none_on_echoes() {
    let site = |path: &str| maze(path, "Welcome", &MENU[..3]);
    let settings = || WalkSettings { trap_levels: None, depth: Depth(4), ..WalkSettings::default() };
    let (tree, requested) = walked(&site, settings(), 1);
    assert_eq!(
        (tree.outcome, requested.len()),
        (Outcome::Depth, 1 + 1 + 3 + SOUND + 9 + 27 + (81 - 3)),
        "but for the fourth in a row"
    );
}

/// The requests of an earlier version are on record: they are repeated as they were, and the rule applies to
/// new URLs.
#[test]
fn what_is_on_record_is_asked_as_it_was() {
    let site: Site<'_> = &|path| maze(path, "Welcome", &MENU);
    let before =
        walked(site, WalkSettings { trap_levels: None, depth: Depth(4), ..WalkSettings::default() }, 1).1;
    let recorded = &before[..80];
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    let mut requested = Vec::new();
    loop {
        walk.expect_recorded(
            recorded.get(requested.len()).cloned().map_or(OnRecord::Nothing, OnRecord::Requested),
        );
        let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) else { break };
        walk.begin(&request);
        let (response, content) = answered(site, &request);
        walk.handle(request.number, response, content);
        requested.push(request);
    }
    assert_eq!(requested, recorded);
    assert_eq!(walk.conclude().0.outcome, Outcome::Trap);
}

/// Walks a site that ends, and checks that every page of it was requested.
#[track_caller]
fn whole(site: Site<'_>, settings: WalkSettings) -> usize {
    let (tree, requested) = walked(site, settings, 1);
    assert_eq!((tree.outcome, tree.trap_patterns.join(" ")), (Outcome::Complete, String::new()));
    assert_eq!(tree.sum(|level| level.class(Class::Trap)), 0);
    requested.len()
}

/// Languages of a site below `/`, `/en/`, `/fr/`, …, with links that name neither host nor folder; most pages
/// exist in one language only.
#[test]
fn languages_that_nobody_has_translated_yet_are_walked_to_their_end() {
    let languages = ["", "en/", "fr/", "sw/", "so/"];
    let names: Vec<String> =
        (0..20).map(|n| format!("page-{n}/")).chain(["news/en.html".to_owned()]).collect();
    let site = |path: &str| {
        let path = path.strip_prefix('/')?;
        let language = languages.iter().rfind(|language| path.starts_with(*language))?;
        let name = path.strip_prefix(language)?;
        if name.is_empty() {
            return Some(format!(
                "Welcome {} {}",
                anchors(&names),
                anchors(languages.map(|to| format!("/{to}")))
            ));
        }
        let at = names.iter().position(|known| known == name)?;
        let is_translated = at > 15 && !language.is_empty();
        let host = if is_translated {
            format!("b{at}{}.ke", language.trim_end_matches('/'))
        } else {
            format!("b{at}.ke")
        };
        Some(format!("Page {name} <a href='http://{host}/'>x</a>"))
    };
    assert_eq!(whole(&site, WalkSettings::default()), 1 + 5 * 22);
}

/// Groups below groups, all with the same empty template, and one external link in the last.
#[test]
fn an_empty_catalogue_is_walked_to_its_end() {
    let groups = ["tools", "cloth", "seeds", "books"];
    let site = |path: &str| {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let is_there = parts.first().is_none_or(|first| *first == "all")
            && parts.iter().skip(1).enumerate().all(|(at, part)| {
                part.strip_suffix(&format!("-{at}")).is_some_and(|group| groups.contains(&group))
            })
            && parts.len() <= 4;
        let below = match parts.len() {
            0 => vec!["/all/".to_owned()],
            len @ 1..4 => groups.iter().map(|group| format!("{path}{group}-{}/", len - 1)).collect(),
            _ => vec![format!("http://h{}.ke/", parts.concat())],
        };
        let text = anchors_without_text(&below);
        is_there.then(|| format!("<p>There is nothing here yet.</p> {text}"))
    };
    assert_eq!(whole(&site, WalkSettings::default()), 1 + 1 + 1 + 4 + 16 + 64);
}

fn anchors_without_text(targets: &[String]) -> String {
    targets.iter().map(|to| format!("<a href='{to}'></a>")).collect()
}

/// Dead relative links in every folder lead to an error page with links from the root.
#[test]
fn pages_that_say_not_found_below_real_folders_are_no_trap() {
    let folders: Vec<String> = (0..15).map(|n| format!("/folder-{n}/")).collect();
    let site = |path: &str| {
        if path == "/robots.txt" {
            return None;
        }
        let home = anchors(&folders);
        Some(match folders.iter().position(|folder| path == folder) {
            None if path == "/" => format!("Welcome {home}"),
            None => format!("Not found {home}"),
            Some(at) => format!(
                "Folder {at} {home} <a href='http://h{at}.ke/'>x</a> <a href='old/img/'>x</a> <a href='old/old/'>x</a>"
            ),
        })
    };
    assert_eq!(whole(&site, WalkSettings::default()), 1 + 1 + 15 * 3);
}

/// A copy of the whole site in a folder of its own, links and all.
#[test]
fn a_copy_of_a_site_within_it_is_walked_to_its_end() {
    let names: Vec<String> = (0..40).map(|n| format!("part-{}/page-{n}.html", ["a", "b"][n % 2])).collect();
    let site = |path: &str| {
        let name = path.strip_prefix("/old").unwrap_or(path).strip_prefix('/')?;
        match names.iter().position(|known| known == name) {
            _ if name.is_empty() => Some(format!("Welcome {} <a href='/old/'>x</a>", anchors(&names))),
            Some(at) => Some(format!("Page {at} <a href='http://h{at}.ke/'>x</a>")),
            None => None,
        }
    };
    assert_eq!(whole(&site, WalkSettings::default()), 1 + 2 * 41);
}

/// A page with the name of its section, in many sections: `/news/news/` shows `/news/`.
#[test]
fn sections_that_are_called_twice_do_not_hide_what_is_below_them() {
    let sections: Vec<String> = (0..30).map(|n| format!("part-{}", "x".repeat(n + 1))).collect();
    let site = |path: &str| {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let is_section = |name: &&&str| sections.iter().any(|section| section == **name);
        match parts[..] {
            [] => Some(format!("Welcome {}", anchors(sections.iter().map(|section| format!("/{section}/"))))),
            [first] | [first, ..] if !is_section(&&first) => None,
            [first] => Some(section(first)),
            [first, second] if first == second => Some(section(first)),
            [first, second, "more"] if first == second => {
                Some(format!("More of {} <a href='http://{first}.ke/'>x</a>", drawn(first, 50)))
            }
            _ => None,
        }
    };
    let (tree, requested) = walked(&site, WalkSettings::default(), 1);
    assert_eq!((tree.outcome, tree.externals.len()), (Outcome::Complete, 30), "{:?}", tree.trap_patterns);
    assert_eq!(requested.len(), 1 + 1 + 30 * 3);
}

fn section(name: &str) -> String {
    format!("Section {name} {}", anchors([format!("/{name}/{name}/"), format!("/{name}/{name}/more/")]))
}

fn segment() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "en", "x.php", "News", "7", "part-3"]).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever relative links a page has, and whichever part of the path the server evaluates.
    #[test]
    fn any_menu_of_relative_links_ends_and_hides_nothing_sound(
        links in prop::collection::btree_set(prop::collection::vec(segment(), 1..5), 1..7),
        slash in any::<bool>(),
        decides in 0..3,
        parallel in 1..8_usize,
    ) {
        let menu: Vec<String> = links.iter().map(|link| link.join("/") + if slash { "/" } else { "" }).collect();
        let menu: Vec<&str> = menu.iter().map(String::as_str).collect();
        let site = |path: &str| {
            let text = match decides {
                0 => "Welcome".to_owned(),
                1 => drawn(last_name(path), 40),
                _ => drawn(path.split('/').nth(1).unwrap_or_default(), 40),
            };
            maze(path, &text, &menu)
        };
        let (tree, requested) = walked(&site, WalkSettings::default(), parallel);
        prop_assert_eq!(tree.externals.len(), SOUND);
        prop_assert!(requested.len() < 200, "{} requests", requested.len());
        prop_assert_eq!(walked(&site, WalkSettings::default(), 1), (tree, requested));
    }

    /// Any paths of a few words; each page leads to a host of its own and to the pages below it.
    #[test]
    fn no_page_is_lost_that_leads_to_a_host_of_its_own(
        paths in prop::collection::btree_set(prop::collection::vec(segment(), 1..6), 1..80)
    ) {
        let pages: BTreeSet<String> =
            paths.iter().flat_map(|path| (1..=path.len()).map(|end| format!("/{}/", path[..end].join("/")))).collect();
        prop_assume!(pages.iter().all(|page| crate::walk::traps::trap::endless_path(&url(&format!("http://a.ke{page}"))).is_none()));
        let site = |path: &str| {
            let is_below = |page: &&String| page.strip_prefix(path).is_some_and(|rest| rest.matches('/').count() == 1 && rest.len() > 1);
            let host = if pages.contains(path) || path == "/" { format!("http://h{}.ke/", last_name(&drawn(path, 1)).trim()) } else { return None };
            Some(format!("The same text everywhere {} <a href='{host}'></a>", anchors_without_text(&pages.iter().filter(is_below).cloned().collect::<Vec<_>>())))
        };
        let (tree, requested) = walked(&site, WalkSettings { depth: Depth(8), ..WalkSettings::default() }, 1);
        prop_assert_eq!(requested.len(), 2 + pages.len());
        prop_assert_eq!(tree.externals.len(), 1 + pages.len());
    }
}
