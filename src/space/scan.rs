//! A simple parser for the pages written here, for the tests: it knows how they are written.

use crate::address::WebUrl;

/// One link of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scanned {
    pub url: String,
    pub element: &'static str,
    pub nofollow: bool,
}

/// The links of a page in order, with canonical URLs.
pub(super) fn scan(page: &str, html: &[u8]) -> Vec<Scanned> {
    let html = without_decoys(&String::from_utf8_lossy(html));
    let page_nofollow = html.contains("<META NAME=Robots CONTENT=\"index, NoFollow\">");
    let base = between(&html, "<base href=\"", "\"").unwrap_or(page);
    let base = WebUrl::parse(base).unwrap();
    html.split('<')
        .filter_map(|tag| {
            let tag = tag.split('>').next()?;
            let name = tag.split(' ').next()?.to_ascii_lowercase();
            let (element, href) = match name.as_str() {
                "a" => ("a", attribute(tag, "href")?),
                "area" => ("area", attribute(tag, "href")?),
                "iframe" => ("iframe", attribute(tag, "src")?),
                "meta" if tag.contains("refresh") => {
                    ("meta", tag.split("url=").nth(1)?.trim_end_matches('"'))
                }
                _ => return None,
            };
            let url = base.join(&href.replace("&amp;", "&")).ok()?.canonical();
            Some(Scanned { url, element, nofollow: page_nofollow || tag.contains("NoFollow") })
        })
        .collect()
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let at = tag.to_ascii_lowercase().find(&format!("{name}="))? + name.len() + 1;
    let quote = &tag[at..=at];
    tag[at + 1..].split(quote).next()
}

fn without_decoys(html: &str) -> String {
    let mut text = html.to_owned();
    for (open, close) in [("<!--", "-->"), ("<script>", "</script>"), ("<style>", "</style>")] {
        while let Some(inner) = between(&text, open, close) {
            text = text.replace(&format!("{open}{inner}{close}"), "");
        }
    }
    text
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    text.split_once(open)?.1.split_once(close).map(|(inner, _)| inner)
}
