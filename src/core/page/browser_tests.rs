//! Links and titles of odd pages, as Chromium has them with scripts off: `tests/pages/in_chromium.py` queries
//! it.

use serde::Deserialize;

use crate::address::WebUrl;

use super::{Page, Source};

#[derive(Deserialize)]
struct BrowserPages {
    browser: String,
    url: String,
    pages: Vec<BrowserPage>,
}

#[derive(Deserialize)]
struct BrowserPage {
    html: String,
    #[serde(rename = "type")]
    media_type: Option<String>,
    links: Vec<String>,
    title: Option<String>,
    /// The links that the survey finds where it differs on purpose.
    ours: Option<Vec<String>>,
    why: Option<String>,
}

#[test]
fn pages_have_the_links_and_titles_that_they_have_in_chromium() {
    let recorded: BrowserPages =
        serde_json::from_str(include_str!("../../../tests/data/pages_in_chromium.json")).unwrap();
    assert!(recorded.browser.starts_with("Chromium ") && recorded.pages.len() >= 60);
    let url = WebUrl::parse(&recorded.url).unwrap();
    let mut differences = Vec::new();
    for page in &recorded.pages {
        let content_type = format!("{};charset=utf-8", page.media_type.as_deref().unwrap_or("text/html"));
        let source = Source {
            body: page.html.as_bytes(),
            url: &url,
            content_type: Some(&content_type),
            robots_tag: None,
        };
        let read = Page::read(source);
        let links: Vec<&str> = read.links.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(page.ours.is_some(), page.why.is_some(), "{}", page.html);
        if links != *page.ours.as_ref().unwrap_or(&page.links) || read.title != page.title {
            differences.push(format!(
                "{}: {links:?} {:?}, expected {:?} {:?}",
                page.html, read.title, page.links, page.title
            ));
        }
    }
    assert!(differences.is_empty(), "{}: {differences:#?}", recorded.browser);
}
