//! Servers that write the identifier of a session into URLs if a client takes no cookies.

use super::*;

fn session(number: usize) -> String {
    format!("(S(lit3py55t21z5v55vlm2{:04}))", number % 6 * 1111)
}

/// The URLs requested, in their order, without robots.txt.
fn requested(requests: &[Request]) -> Vec<&str> {
    requests
        .iter()
        .filter(|request| request.purpose == Purpose::Page)
        .map(|request| request.url.target())
        .collect()
}

#[test]
fn a_redirect_into_a_session_leads_to_the_page_and_its_links_to_pages_that_are_known() {
    let (one, two) = (session(1), session(2));
    let web = Web::default()
        .redirect("http://a.ke/", &format!("/{one}/"))
        .page(&format!("http://a.ke/{one}/"), &["b.aspx", "/c.aspx", "/"])
        .page(&format!("http://a.ke/{one}/b.aspx"), &["c.aspx", "b.aspx", "/b.aspx", "./"])
        .redirect("http://a.ke/c.aspx", &format!("/{two}/c.aspx"))
        .page(&format!("http://a.ke/{two}/c.aspx"), &["b.aspx", "c.aspx", "http://b.ke/"]);
    let (tree, requests) = walk(&web, WalkSettings::default());
    let expected =
        ["/", &format!("/{one}/"), &format!("/{one}/b.aspx"), "/c.aspx", &format!("/{two}/c.aspx")];
    assert_eq!(requested(&requests), expected);
    assert_eq!((tree.outcome, tree.externals.len()), (Outcome::Complete, 1));
    let urls_in_class = |class| tree.sum(|level| level.class(class));
    assert_eq!((tree.sum(|level| level.pages), urls_in_class(Class::Fetched)), (3, 3));
    assert!(tree.levels.iter().all(|level| level.internal_urls() == level.class(Class::Fetched)));
}

#[test]
fn every_way_into_a_session_is_followed_once_and_circles_end() {
    let follow = |hops: &[&str]| {
        let web = hops
            .windows(2)
            .fold(Web::default(), |web, hop| web.redirect(&format!("http://a.ke{}", hop[0]), hop[1]));
        let last = hops[hops.len() - 1];
        let web = if hops[..hops.len() - 1].contains(&last) {
            web
        } else {
            web.page(&format!("http://a.ke{last}"), &["http://b.ke/"])
        };
        let web = web.page("http://a.ke/", &["/x"]);
        let (tree, requests) = walk(&web, WalkSettings::default());
        let requested: Vec<String> = requested(&requests).into_iter().skip(1).map(str::to_owned).collect();
        (requested, tree.externals.len())
    };
    let all = |hops: &[&str]| (hops.iter().map(|hop| (*hop).to_owned()).collect(), 1);
    for hops in [
        vec!["/x", "/(S(a))/x"],
        vec!["/x", "/x;jsessionid=1"],
        vec!["/x", "/x?PHPSESSID=1"],
        vec!["/x", "/x?AspxAutoDetectCookieSupport=1", "/(X(1)S(a))/x?AspxAutoDetectCookieSupport=1"],
        vec!["/x", "/x;jsessionid=1", "/x"],
    ] {
        let is_circle = hops.len() > 2 && hops[0] == hops[2];
        let expected = if is_circle { (all(&hops[..2]).0, 0) } else { all(&hops) };
        assert_eq!(follow(&hops), expected, "{hops:?}");
    }
    let ever_new = ["/x", "/(S(a))/x", "/(S(b))/x", "/(S(c))/x"];
    assert_eq!(follow(&ever_new), (all(&ever_new[..3]).0, 0), "a third session is one too many");
}

#[test]
fn a_session_that_the_server_takes_out_of_the_url_costs_no_page() {
    let web = Web::default()
        .page("http://a.ke/", &["/x.jsp;jsessionid=1", "/y.jsp;jsessionid=1"])
        .redirect("http://a.ke/x.jsp;jsessionid=1", "/x.jsp")
        .page("http://a.ke/x.jsp", &["http://b.ke/", "/y.jsp;jsessionid=2", "/z.jsp;jsessionid=2"])
        .page("http://a.ke/y.jsp;jsessionid=1", &["http://c.ke/"])
        .page("http://a.ke/z.jsp;jsessionid=2", &["http://d.ke/"]);
    let (tree, requests) = walk(&web, WalkSettings::default());
    let expected = ["/", "/x.jsp;jsessionid=1", "/y.jsp;jsessionid=1", "/x.jsp", "/z.jsp;jsessionid=2"];
    assert_eq!(requested(&requests), expected);
    assert_eq!((tree.externals.len(), tree.sum(|level| level.pages)), (3, 4));
}

/// Every page of a site below one session, deeper than the levels after which traps are weighed: nothing
/// varies in it.
#[test]
fn a_site_below_one_session_is_walked_to_its_end() {
    let base = format!("http://a.ke/{}", session(3));
    let mut web = Web::default().redirect("http://a.ke/", &format!("{base}/"));
    let mut folder = String::new();
    for level in ["", "a/", "b/", "c/", "d/", "e/"] {
        folder += level;
        let pages = (0..12).map(|n| format!("{folder}page-{}.aspx", ('a'..='z').nth(n).unwrap()));
        let pages: Vec<String> = pages.map(|page| format!("{base}/{page}")).collect();
        let next = ["a/", "b/", "c/", "d/", "e/"][folder.len().div_ceil(2).min(4)];
        let links: Vec<String> = pages.iter().cloned().chain([format!("{base}/{folder}{next}")]).collect();
        web = web.page(&format!("{base}/{folder}"), &links.iter().map(String::as_str).collect::<Vec<_>>());
        web = pages.iter().fold(web, |web, page| web.page(page, &[]));
    }
    let (tree, _) = walk(&web, WalkSettings::default());
    assert_eq!((tree.outcome, tree.trap_patterns.len()), (Outcome::Complete, 0));
    assert_eq!(tree.sum(|level| level.pages), 6 * 13);
}

/// An earlier version took each session for a separate page.
#[test]
fn what_an_earlier_version_requested_in_several_sessions_is_walked_as_it_is_on_record() {
    let links = [
        "/(S(aaaaaaaaaaaaaaaaaaaaaaaa))/x",
        "/(S(bbbbbbbbbbbbbbbbbbbbbbbb))/x",
        "/(S(cccccccccccccccccccccccc))/x",
    ];
    let owned = |links: &[&str]| links.iter().map(|link| (*link).to_owned()).collect::<Vec<_>>();
    let web = Web::default().page("http://a.ke/", &[links[0], links[1], "/y", links[2]]);
    let web = links.iter().fold(web, |web, link| web.page(&format!("http://a.ke{link}"), &["/z"]));
    let web = web.page("http://a.ke/y", &[]).page("http://a.ke/z", &["http://b.ke/"]);
    let recorded = on_record(owned(&[links[0], links[1], "/y", links[2]]));
    let (tree, requested) = walk_on_record(&web, &recorded);
    assert_eq!(requested[..recorded.len()], recorded);
    assert_eq!(pages(&requested[recorded.len()..]), [(2, "/z")]);
    assert_eq!((tree.outcome, tree.externals.len()), (Outcome::Complete, 1));
    assert_eq!((tree.levels[1].class(Class::Fetched), tree.levels[1].requests), (2, 4));
}
