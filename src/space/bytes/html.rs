use super::charset::{Charset, CharsetPlace, Writing};
use super::filler::Filler;
use super::head::{push_head, push_image};
use super::links::{MORE, P, WrittenLinks};
use super::texts::text;
use super::written::{push_notice, push_prose};
use crate::World;
use crate::model::content::{Page, Url};
use crate::model::facts::prose::{PageText, Prose};
use crate::model::site::Site;

/// The bytes of a page and its content type.
///
/// A page has a head and a body. Most pages are filled ([`push_filled`]); the others are those of the model's
/// [`PageText`], in UTF-8.
pub(crate) fn render(world: &World, site: &Site, page: &Page, url: &Url) -> (String, Vec<u8>) {
    let writing = Writing::new(world, site.content);
    let writing = if page.text == PageText::Filler { writing } else { writing.in_utf8() };
    let declared = writing.declared(world, page.key);
    let charset_in = |places: [CharsetPlace; 2]| {
        declared.filter(|(_, place)| places.contains(place)).map(|(charset, _)| charset.label())
    };
    let content_type = match charset_in([CharsetPlace::Header, CharsetPlace::Both]) {
        None => "text/html".to_owned(),
        Some(label) => ["text/html; charset=", label].concat(),
    };
    if let PageText::Empty(document) = page.text {
        return (content_type, document.into());
    }
    let size = Filler::page_bytes(world, site.content, page.key);
    let mut html = Vec::with_capacity(size + 1024);
    push_head(&mut html, site, page, url, charset_in([CharsetPlace::Meta, CharsetPlace::Both]));
    match page.text {
        PageText::Filler | PageText::Empty(_) => push_filled(&mut html, world, site, page, url, writing),
        PageText::Notice(notice) => push_notice(&mut html, notice, page, &url.host),
        PageText::Prose(language) => {
            let prose = Prose::draw(world, language, page.key);
            push_prose(&mut html, (world, site), (page, url), &prose, |html| push_image(html, site));
        }
    }
    html.extend_from_slice(END);
    (content_type, html)
}

/// A title, a text block that is the same on every page of the site, and links with text between them. The
/// text fills the page to exactly the size drawn for it; a page whose links need more has no text.
fn push_filled(html: &mut Vec<u8>, world: &World, site: &Site, page: &Page, url: &Url, writing: Writing) {
    let title = &text(writing.title, &url.host).title;
    let links = WrittenLinks::write(world, site, page, url, MORE);
    let size = Filler::page_bytes(world, site.content, page.key);
    push_title(html, "title", title, &url.target);
    html.extend_from_slice(b"</head>\n<body>");
    push_title(html, "h1", title, &url.target);
    push_image(html, site);
    if page.key.draw("decoy").happens(world.pages.decoy_share) {
        html.extend_from_slice(DECOY.as_bytes());
    }
    if let Some(edition) = page.changed {
        html.extend_from_slice(format!("<!-- edition {edition} -->\n").as_bytes());
    }
    let sentences = &text(writing.text, &url.host).sentences;
    if writing.text == Charset::Utf8 && page.key.draw("cut excerpt").happens(world.pages.cut_excerpt_share) {
        push_excerpt(html, &sentences[0]);
    }
    let markup = html.len() + links.html.len() + P.len() * (links.ends.len() + 2) + END.len();
    Filler::new(world, site.content, page.key, sentences, size.saturating_sub(markup)).weave(html, &links);
}

/// The lowest lead byte of a non-ASCII character in UTF-8.
const UTF_8_LEAD: u8 = 0xc2;
const END: &[u8] = b"</body></html>\n";

/// Decoys that look like links to a careless parser.
const DECOY: &str = "<!-- <a href=\"/ghost/comment.html\">old</a> -->\
<script>document.write('<a href=\"/ghost/script.html\">x</a>');</script>\
<style>/* <a href=\"/ghost/style.html\"> */</style>\
<a name=\"top\"></a><a href=\"mailto:desk@example.com\">desk</a><a href=\"javascript:void(0)\">menu</a>\n";

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
