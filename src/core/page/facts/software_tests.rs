use crate::address::WebUrl;
use crate::page::{Page, PageFacts, Source};

fn facts_at(url: &str, html: &str) -> PageFacts {
    let url = WebUrl::parse(url).unwrap();
    let source =
        Source { body: html.as_bytes(), url: &url, content_type: Some("text/html"), robots_tag: None };
    Page::read(source).facts
}

fn software(html: &str) -> Option<(String, String)> {
    let found = facts_at("http://www.a.ke/", html).software;
    found.map(|software| (software.name, software.evidence))
}

fn evidence(html: &str) -> Option<String> {
    software(html).map(|(_, evidence)| evidence)
}

#[test]
fn the_first_generator_is_recorded_and_all_of_them_are_evidence() {
    let html = "<meta name=\"Generator\" content=\"  Elementor\n 3.18.3 \"><meta name=robots content=none>\
                <meta name='generator' content='WordPress 6.4.2' />";
    let facts = facts_at("http://a.ke/", html);
    assert_eq!(facts.generator.as_deref(), Some("Elementor 3.18.3"));
    assert_eq!(facts.software.unwrap().evidence, "generator: WordPress 6.4.2");
    let facts =
        facts_at("http://a.ke/", "<meta name=generator content=''><meta name=generator content='Acme 3'>");
    assert_eq!((facts.generator.as_deref(), facts.software), (Some("Acme 3"), None));
}

#[test]
fn scripts_styles_and_pictures_of_the_own_host_show_software() {
    for html in [
        "<link rel='stylesheet' id='x-css' href='http://www.a.ke/wp-content/themes/x/style.css?ver=6.4' media='all' />",
        "<script src=\"//a.ke/wp-content/plugins/x.js?a=1&amp;b=2\" defer></script>",
        "<img width=10 src=\"/wp-content/uploads/2024/01/x.jpg\">",
        "<IMG SRC=https://cdn.a.ke/blog/WP-Content/uploads/x.jpg>",
        "<script src=wp-content/x.js></script>",
    ] {
        assert_eq!(software(html), Some(("WordPress".to_owned(), "path: /wp-content/".to_owned())), "{html}");
    }
    for (html, name) in [
        ("<script src='/media/jui/js/jquery.min.js?3f9'></script>", "Joomla"),
        ("<link rel=stylesheet href='/sites/default/files/css/css_x.css'>", "Drupal"),
        ("<link rel=stylesheet href='/typo3conf/ext/x/y.css'>", "TYPO3"),
        ("<script src='https://cdn.shopify.com/s/files/1/x.js'></script>", "Shopify"),
        ("<script src='https://static.parastorage.com/services/x.js'></script>", "Wix"),
        ("<link href='//cdn2.editmysite.com/css/sites.css' rel=stylesheet>", "Weebly"),
        ("<link rel=stylesheet href='/opac-tmpl/bootstrap/css/opac.css'>", "Koha"),
    ] {
        assert_eq!(software(html).map(|found| found.0).as_deref(), Some(name), "{html}");
    }
}

#[test]
fn links_show_software_on_the_own_host_only() {
    assert_eq!(
        evidence("<a href='index.php?option=com_content&amp;view=article'>x</a>").as_deref(),
        Some("path: /index.php?option=com_")
    );
    assert_eq!(evidence("<a href='/handle/123456789/7'>x</a>").as_deref(), Some("path: /handle/123456789/"));
    for html in [
        "<a href='http://b.ke/wp-content/uploads/report.pdf'>The report of another site</a>",
        "<img src='http://b.ke/wp-content/uploads/logo.png'>",
        "<img src='https://static.wixstatic.com/media/x.png'>",
        "<p>How to find /wp-content/ on your server, and &lt;script src=/wp-content/x.js></p>",
        "<!-- <script src=/wp-content/x.js></script> -->",
        "<iframe srcdoc='<script src=/wp-content/x.js></script>'></iframe>",
        "<script src='data:text/javascript,/wp-content/'></script>",
        "<a href='https://cdn.shopify.com/x'>x</a>",
    ] {
        assert_eq!(evidence(html), None, "{html}");
    }
}

#[test]
fn a_page_without_evidence_has_the_default_and_it_is_all_zero_bytes() {
    let facts = PageFacts::default();
    assert!(postcard::to_stdvec(&facts).unwrap().iter().all(|byte| *byte == 0));
    let facts = facts_at("http://a.ke/", "<meta name=generator content='Drupal 10'><p>Habari za leo");
    let stored = postcard::to_stdvec(&facts).unwrap();
    assert_eq!(postcard::from_bytes::<PageFacts>(&stored).unwrap(), facts);
}
