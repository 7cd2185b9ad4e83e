use super::charset::{Charset, CharsetPlace, Writing};
use super::filler::Filler;
use super::links::{P, WrittenLinks};
use super::texts::text;
use crate::World;
use crate::model::content::{Element, Page, Url};
use crate::model::site::Site;

/// The bytes of a page and its content type.
///
/// A page has a head, a text block that is the same on every page of the site, and links with text between
/// them. The text fills the page to exactly the size drawn for it; a page whose links need more has no text.
pub(crate) fn render(world: &World, site: &Site, page: &Page, url: &Url) -> (String, Vec<u8>) {
    let writing = Writing::new(world, site.content);
    let declared = writing.declared(world, page.key);
    let charset_in = |places: [CharsetPlace; 2]| {
        declared.filter(|(_, place)| places.contains(place)).map(|(charset, _)| charset.label())
    };
    let title = &text(writing.title, &url.host).title;
    let links = WrittenLinks::write(world, site, page, url);
    let size = Filler::page_bytes(world, site.content, page.key);
    let mut html = Vec::with_capacity(size.max(links.html.len()) + 1024);
    push_head(&mut html, site, page, url, charset_in([CharsetPlace::Meta, CharsetPlace::Both]));
    push_title(&mut html, "title", title, &url.target);
    html.extend_from_slice(b"</head>\n<body>");
    push_title(&mut html, "h1", title, &url.target);
    if page.key.draw("decoy").happens(world.pages.decoy_share) {
        html.extend_from_slice(DECOY.as_bytes());
    }
    if let Some(edition) = page.changed {
        html.extend_from_slice(format!("<!-- edition {edition} -->\n").as_bytes());
    }
    let sentences = &text(writing.text, &url.host).sentences;
    if writing.text == Charset::Utf8 && page.key.draw("cut excerpt").happens(world.pages.cut_excerpt_share) {
        push_excerpt(&mut html, &sentences[0]);
    }
    let markup = html.len() + links.html.len() + P.len() * (links.ends.len() + 2) + END.len();
    Filler::new(world, site.content, page.key, sentences, size.saturating_sub(markup))
        .weave(&mut html, &links);
    html.extend_from_slice(END);
    let content_type = match charset_in([CharsetPlace::Header, CharsetPlace::Both]) {
        None => "text/html".to_owned(),
        Some(label) => ["text/html; charset=", label].concat(),
    };
    (content_type, html)
}

/// The lowest lead byte of a non-ASCII character in UTF-8.
const UTF_8_LEAD: u8 = 0xc2;
const END: &[u8] = b"</body></html>\n";

/// Decoys that look like links to a careless parser.
const DECOY: &str = "<!-- <a href=\"/ghost/comment.html\">old</a> -->\
<script>document.write('<a href=\"/ghost/script.html\">x</a>');</script>\
<style>/* <a href=\"/ghost/style.html\"> */</style>\
<a name=\"top\"></a><a href=\"mailto:desk@example.com\">desk</a><a href=\"javascript:void(0)\">menu</a>\n";

fn push_head(html: &mut Vec<u8>, site: &Site, page: &Page, url: &Url, charset: Option<&'static str>) {
    let mut push = |text: &str| html.extend_from_slice(text.as_bytes());
    push("<!DOCTYPE html>\n<html><head>");
    if let Some(label) = charset {
        push("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=");
        push(label);
        push("\">");
    }
    if site.has_base {
        push(if url.is_https { "<base href=\"https://" } else { "<base href=\"http://" });
        push(&url.host);
        push("/\">");
    }
    if page.nofollow {
        push("<META NAME=Robots CONTENT=\"index, NoFollow\">");
    }
    for link in page.links.iter().filter(|link| link.element == Element::Refresh) {
        push("<meta http-equiv=refresh content=\"3; url=");
        push(&link.url.target);
        push("\">");
    }
}

fn push_title(html: &mut Vec<u8>, element: &str, title: &[u8], target: &str) {
    html.extend_from_slice(format!("<{element}>").as_bytes());
    html.extend_from_slice(title);
    html.extend_from_slice(format!(" {}</{element}>\n", target.replace('&', "&amp;")).as_bytes());
}

/// A sentence up to the first byte of its last non-ASCII character. No charset reads the following space as
/// part of a character.
fn push_excerpt(html: &mut Vec<u8>, sentence: &[u8]) {
    let end = sentence.iter().rposition(|byte| *byte >= UTF_8_LEAD).map_or(sentence.len(), |lead| lead + 1);
    html.extend_from_slice(P);
    html.extend_from_slice(&sentence[..end]);
    html.extend_from_slice(b" ...");
}
