use super::spelling::Speller;
use crate::World;
use crate::model::content::{Element, Link, Page, Url};
use crate::model::site::Site;

/// The markup before each run of text, with or without links.
pub(crate) const P: &[u8] = b"<p>\n";
/// The text of links in pages that are filled.
pub(crate) const MORE: &str = "more";

/// The written links of a page, in order.
pub(crate) struct WrittenLinks {
    pub html: String,
    /// The end of each link in `html`.
    pub ends: Vec<usize>,
}

impl WrittenLinks {
    pub(crate) fn write(world: &World, site: &Site, page: &Page, url: &Url, text: &str) -> Self {
        let speller = Speller::new(url, site.has_base, world.pages.alias_share);
        let spelling = page.key.draw("spelling");
        let visible = page.links.iter().filter(|link| link.element != Element::Refresh);
        let mut links = Self { html: String::with_capacity(80 * page.links.len()), ends: Vec::new() };
        for (number, link) in (0_u64..).zip(visible) {
            links.push((number, text), link, |html| speller.push(&link.url, spelling.nth(number), html));
            links.ends.push(links.html.len());
        }
        links
    }

    fn push(&mut self, (number, text): (u64, &str), link: &Link, push_href: impl FnOnce(&mut String)) {
        let html = &mut self.html;
        let rel = if link.nofollow { "rel='external NoFollow' " } else { "" };
        let (open, quote, close) = match link.element {
            Element::Area => ("<map><area shape=rect ", "href='", "'></map>"),
            Element::Iframe => ("<iframe ", "src=\"", "\"></iframe>"),
            _ if number % 7 == 3 => ("<A CLASS=x ", "HREF='", "'>"),
            _ => ("<a ", "href=\"", "\">"),
        };
        [open, rel, quote].into_iter().for_each(|part| html.push_str(part));
        let start = html.len();
        push_href(html);
        if html[start..].contains('&') {
            let escaped = html[start..].replace('&', "&amp;");
            html.truncate(start);
            html.push_str(&escaped);
        }
        html.push_str(close);
        if link.element == Element::A {
            html.push_str(text);
            html.push_str(if number % 7 == 3 { "</A>" } else { "</a>" });
        }
    }
}
