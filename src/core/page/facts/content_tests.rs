use proptest::prelude::*;

use super::content::MOST_WORDS;
use super::signs::SIGNS;
use crate::address::WebUrl;
use crate::exchange::{ContentClass, ContentGroup};
use crate::page::fragments::{FRAGMENTS, OPENINGS};
use crate::page::{Page, PageFacts, Source};

fn facts(body: &[u8]) -> PageFacts {
    let url = WebUrl::parse("http://www.a.ke/").unwrap();
    Page::read(Source { body, url: &url, content_type: Some("text/html; charset=utf-8"), robots_tag: None })
        .facts
}

/// The class and its evidence.
fn class(html: &str) -> (&'static str, String) {
    let facts = facts(html.as_bytes());
    (facts.content.unwrap().as_str(), facts.content_evidence.unwrap())
}

fn assert_class(html: &str, expected: &str) {
    let (class, evidence) = class(html);
    assert_eq!(class, expected, "{evidence}: {html}");
}

fn words(count: usize) -> String {
    (0..count).map(|n| format!("neno{n} ")).collect()
}

/// /usr/share/nginx/html/index.html of Debian's nginx-common 1.22.1, without its style.
const NGINX: &str = "<!DOCTYPE html>\n<html>\n<head>\n<title>Welcome to nginx!</title>\n</head>\n<body>\n\
    <h1>Welcome to nginx!</h1>\n<p>If you see this page, the nginx web server is successfully installed and\n\
    working. Further configuration is required.</p>\n\n<p>For online documentation and support please refer to\n\
    <a href=\"http://nginx.org/\">nginx.org</a>.<br/>\nCommercial support is available at\n\
    <a href=\"http://nginx.com/\">nginx.com</a>.</p>\n\n<p><em>Thank you for using nginx.</em></p>\n</body>\n</html>";

#[test]
fn default_pages_of_servers_and_panels_are_placeholders() {
    assert_eq!(class(NGINX), ("placeholder", "title: welcome to nginx!".to_owned()));
    for html in [
        "<html><body><h1>It works!</h1></body></html>",
        &format!("<title>Apache2 Debian Default Page: It works</title><p>{}", words(400)),
        &format!(
            "<title>Welcome page</title><h1>Placeholder page</h1><p>The owner of this web site has not put \
                  up any web pages yet. Please come back later.</p>{}",
            words(250)
        ),
        "<title>IIS Windows Server</title><a href='http://go.microsoft.com/fwlink/?x'><img src=iisstart.png></a>",
        "<title>Welcome!</title><h1>Welcome to your website!</h1><p>This is the default index page of your website.",
        "<title>HTTP Server Test Page powered by CentOS</title><p>This page is used to test the proper operation",
        "<title>Site is created successfully! </title><h1>Congratulations, the site is created successfully!</h1>",
    ] {
        assert_class(html, "placeholder");
    }
}

#[test]
fn pages_that_announce_a_site_are_placeholders_in_many_languages() {
    for text in [
        "Our website is coming soon",
        "Site en construction",
        "Notre site arrive bientôt",
        "Site em construção",
        "Sitio en construcción",
        "Hier entsteht eine neue Internetpräsenz",
        "Tovuti hii inajengwa. Karibu tena.",
        "الموقع قيد الإنشاء",
        "This site is under construction",
        "We’ll be back soon",
    ] {
        assert_class(&format!("<title>a.ke</title><h1>{text}</h1>"), "placeholder");
    }
    for title in
        ["Coming Soon", "Kampuni - Under Construction", "En construction | Société", "Em breve", "قريباً"]
    {
        assert_class(
            &format!("<title>{title}</title><p>Karibu <a href=mailto:a@a.ke>a@a.ke</a>"),
            "placeholder",
        );
    }
}

#[test]
fn parked_pages_are_known_by_attribute_reference_script_and_words() {
    let bodis =
        "<!doctype html><html data-adblockkey=\"MFwwDQYJ_x\" lang=\"en\"><body><div id=\"target\"></div>";
    assert_eq!(class(bodis), ("parked", "attribute: data-adblockkey".to_owned()));
    let lander = "<!DOCTYPE html><html><head><script>window.onload=function(){window.location.href=\"/lander\"}\
                  </script></head></html>";
    assert_eq!(class(lander), ("parked", "script: window.location.href=\"/lander\"".to_owned()));
    let godaddy =
        "<div id=root></div><script src=https://img1.wsimg.com/parking-lander/static/js/main.js></script>";
    assert_eq!(class(godaddy), ("parked", "reference: img1.wsimg.com/parking-lander".to_owned()));
    for html in [
        "<frameset><frame src='http://www.sedoparking.com/a.ke'></frameset>",
        "<title>a.ke</title><h1>a.ke</h1><p>This domain is for sale. <a href=https://sedo.com/search/details/?x>Buy</a>",
        "<title>a.ke - Domain for sale</title><p>Make an offer",
        "<p>Ce nom de domaine est à vendre",
        "<p>Diese Domain steht zum Verkauf!",
        "<p>Este domínio está à venda",
        "<p>Este dominio está en venta",
        "<p>Kikoa hiki kinauzwa",
        "<p>هذا النطاق للبيع",
    ] {
        assert_class(html, "parked");
    }
}

#[test]
fn suspended_sites_failed_scripts_and_delivered_errors_have_their_class() {
    let cpanel =
        "<title>Account Suspended</title><p>This Account has been suspended.<p>Contact your hosting provider";
    assert_eq!(class(cpanel), ("suspended", "title: account suspended".to_owned()));
    for html in [
        "<title>404 Not Found</title><h1>Not Found</h1><p>The requested URL was not found on this server.",
        "<html><head><title>403 Forbidden</title></head><body><center><h1>403 Forbidden</h1></center><hr>nginx",
        &format!("<title>Page not found – County of Kisumu</title>{}", words(150)),
        "<title>Database Error</title><h1>Error establishing a database connection</h1>",
        "<br />\n<b>Fatal error</b>:  Uncaught Error: Call to undefined function x() in /home/a/x.php:12",
        "<p>There has been a critical error on this website.</p><p><a href=x>Learn more</a>",
        "<title>Page introuvable - Mairie</title>",
        "<title>Página não encontrada</title>",
        "<title>Seite nicht gefunden - Verein</title>",
    ] {
        assert_class(html, "error");
    }
    let apache = "<title>Index of /</title><h1>Index of /</h1><a href=a.zip>a.zip</a>";
    assert_eq!(class(apache), ("listing", "title: index of /".to_owned()));
}

#[test]
fn pages_about_parking_errors_and_hosting_are_content() {
    let article = format!("<title>How to fix 404 Not Found in WordPress</title><p>{}", words(120));
    let news = format!(
        "<title>Parking domains explained</title><p>A page says: this domain is for sale. {}",
        words(200)
    );
    let menu: String = (0..12).map(|n| format!("<a href=/{n}>Ukurasa {n}</a> ")).collect();
    let shop = format!("<title>Duka</title>{menu}<p>Kettle, 900 KES. Radio: coming soon. {}", words(60));
    let links: String = (0..30).map(|n| format!("<a href=/{n}>Plan {n}</a> ")).collect();
    let host =
        format!("<title>Hosting and domains in Kenya</title>{links} Buy this domain today, or park it");
    let cinema = format!("<title>Coming Soon - Cinema</title>{menu}{}", words(60));
    for (html, expected) in
        [(article, "high"), (news, "high"), (shop, "low"), (host, "high"), (cinema, "low")]
    {
        assert_class(&html, expected);
    }
    assert_class("<title>How to fix 404 Not Found</title><p>Restart it.", "low");
    assert_class("<title>Index of prices</title><p>Maize, beans", "low");
}

#[test]
fn a_page_is_empty_without_words_frames_pictures_and_links() {
    assert_eq!(class(""), ("empty", "words: 0".to_owned()));
    assert_eq!(
        class("<title>App</title><div id=root>&nbsp;</div><script src=/x.js></script>"),
        ("empty", "words: 0, scripts".to_owned())
    );
    for html in [
        "<img src=x>",
        "<a href=x></a>",
        "<iframe src=x></iframe>",
        "<frameset><frame src=x></frameset>",
        "<svg><path/></svg>",
        "<object data=x></object>",
        "<meta http-equiv=refresh content='0;url=x'>",
        "<p>Habari",
    ] {
        assert_class(html, "low");
    }
}

#[test]
fn words_and_links_separate_low_from_high() {
    assert_eq!(class(&words(99)), ("low", "words: 99, links: 0".to_owned()));
    assert_eq!(class(&words(100)), ("high", "words: 100, links: 0".to_owned()));
    let links = |count: usize| (0..count).map(|n| format!("<a href=/{n}>x</a>")).collect::<String>();
    assert_class(&links(19), "low");
    assert_class(&links(20), "high");
    assert_eq!(facts("<p>今日は<b>二</b> cups".as_bytes()).words, 5);
}

#[test]
fn the_language_of_a_page_is_that_of_its_visible_text() {
    let html = "<html lang=en><title>Home</title><script>the of and to in is for that with on</script>\
                <p>Karibu kwenye tovuti ya shule yetu. Hapa utapata habari za masomo na ratiba ya mitihani.";
    assert_eq!(facts(html.as_bytes()).text_language.as_deref(), Some("sw"));
}

#[test]
fn every_sign_is_in_lower_case_and_fits_only_small_pages() {
    let of_signs = [ContentClass::Parked, ContentClass::Placeholder, ContentClass::Suspended];
    let of_signs = [&of_signs[..], &[ContentClass::Error, ContentClass::Listing]].concat();
    assert!(of_signs.iter().all(|class| SIGNS.iter().any(|sign| sign.class == *class)));
    for line in include_str!("../../data/content-signs.toml").lines().filter(|line| !line.starts_with('#')) {
        assert_eq!(line, line.to_lowercase());
    }
    for sign in SIGNS.iter() {
        assert!(of_signs.contains(&sign.class) && sign.most_words <= MOST_WORDS);
    }
}

proptest! {
    #[test]
    fn a_page_with_many_words_is_never_parked_a_placeholder_or_empty(
        title in prop::sample::select(vec!["404", "Coming soon", "Account suspended", "Domain for sale", "Index of /"]),
        text in prop::sample::select(vec!["This domain is for sale", "Fatal error: x", "Under construction"]),
        html in prop::sample::select(vec!["<html>", "<html data-adblockkey=x>"]),
        more in 0..50_usize,
    ) {
        let page = format!("{html}<title>{title}</title><p>{text} {}", words(MOST_WORDS as usize + more));
        prop_assert_eq!(facts(page.as_bytes()).content, Some(ContentClass::High));
    }

    #[test]
    fn any_bytes_have_a_class_with_evidence(body in any::<Vec<u8>>()) {
        let facts = facts(&body);
        prop_assert!(facts.content.is_some() && facts.content_evidence.is_some());
    }

    #[test]
    fn any_cut_of_any_markup_has_bounded_facts(
        opening in prop::sample::select(OPENINGS.to_vec()),
        fragments in prop::collection::vec(prop::sample::select(FRAGMENTS.to_vec()), 0..30),
        cut in 0..2000_usize,
    ) {
        let page = [opening, &fragments.concat(), NGINX].concat();
        let facts = facts(&page.as_bytes()[..cut.min(page.len())]);
        prop_assert!(facts.generator.is_none_or(|text| text.chars().count() <= 128));
        prop_assert!(facts.content.is_some_and(|class| ContentGroup::ALL.contains(&class.group())));
        prop_assert!(facts.content_evidence.is_some_and(|text| text.len() < 200));
    }
}
