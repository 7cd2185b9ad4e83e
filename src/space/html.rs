use encoding_rs::{Encoding, SHIFT_JIS, UTF_8, WINDOWS_1252};

use super::World;
use super::content::{Element, Page, Url};
use super::draw::rounded;
use super::site::{Charset, Site};
use super::spelling::spell;

/// Text between the links; says nothing and takes space.
const FILLER: &str = "The office is open on weekdays. Visitors are asked to bring a letter of introduction. \
The reading room lies on the second floor, next to the map collection, and closes an hour before the house. \
Questions about the harvest, the weather station and the ferry are answered at the desk by the entrance. ";

/// How a page's charset is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declared {
    InHeader,
    InPage,
    Twice,
}

/// The bytes of a page and its content type.
pub(super) fn render(world: &World, site: &Site, page: &Page, url: &Url) -> (String, Vec<u8>) {
    let (encoding, label, title) = language(site.charset);
    let declared =
        *site.key.draw("charset declared").pick(&[Declared::InHeader, Declared::InPage, Declared::Twice]);
    let mut html = String::with_capacity(16_384);
    html.push_str("<!DOCTYPE html>\n<html><head>");
    if declared != Declared::InHeader {
        html.push_str(&format!("<meta http-equiv=\"Content-Type\" content=\"text/html; charset={label}\">"));
    }
    html.push_str(&format!("<title>{title} {}</title>", url.target.replace('&', "&amp;")));
    if site.has_base {
        html.push_str(&format!("<base href=\"http://{}/\">", url.host));
    }
    if page.nofollow {
        html.push_str("<META NAME=Robots CONTENT=\"index, NoFollow\">");
    }
    push_refreshes(page, &mut html);
    html.push_str(&format!("</head>\n<body><h1>{title}</h1>\n"));
    if page.key.draw("decoy").happens(world.pages.decoy_share) {
        html.push_str(DECOY);
    }
    push_links(world, site, page, url, &mut html);
    html.push_str("</body></html>\n");
    let content_type = match declared {
        Declared::InPage => "text/html".to_owned(),
        _ => format!("text/html; charset={label}"),
    };
    (content_type, encoding.encode(&html).0.into_owned())
}

/// What looks like links to a careless reader, and is none.
const DECOY: &str = "<!-- <a href=\"/ghost/comment.html\">old</a> -->\
<script>document.write('<a href=\"/ghost/script.html\">x</a>');</script>\
<style>/* <a href=\"/ghost/style.html\"> */</style>\
<a name=\"top\"></a><a href=\"mailto:desk@example.com\">desk</a><a href=\"javascript:void(0)\">menu</a>\n";

fn language(charset: Charset) -> (&'static Encoding, &'static str, &'static str) {
    match charset {
        Charset::Utf8 => (UTF_8, "UTF-8", "Karibu – 東京 Ünï"),
        Charset::Latin1 => (WINDOWS_1252, "ISO-8859-1", "Université de la côte"),
        Charset::ShiftJis => (SHIFT_JIS, "Shift_JIS", "日本語のページ"),
    }
}

fn push_refreshes(page: &Page, html: &mut String) {
    for link in page.links.iter().filter(|link| link.element == Element::Refresh) {
        html.push_str(&format!("<meta http-equiv=refresh content=\"3; url={}\">", link.url.target));
    }
}

fn push_links(world: &World, site: &Site, page: &Page, url: &Url, html: &mut String) {
    let draw = page.key.draw("bytes");
    let bytes = rounded(draw.log_normal(world.pages.bytes_median, world.pages.bytes_sigma))
        .min(world.pages.most_bytes);
    let visible = page.links.iter().filter(|link| link.element != Element::Refresh);
    let filler = usize::try_from(bytes).unwrap_or(0) / (page.links.len() + 1);
    push_filler(filler, html);
    let spelling = page.key.draw("spelling");
    for (number, link) in (0_u64..).zip(visible) {
        let spelled = spell(&link.url, url, site.has_base, world.pages.alias_share, spelling.nth(number));
        let href = spelled.replace('&', "&amp;");
        match (link.element, link.nofollow) {
            (Element::Area, nofollow) => {
                let rel = if nofollow { "rel='NoFollow' " } else { "" };
                html.push_str(&format!("<map name=\"m{number}\"><area {rel}shape=rect href='{href}'></map>"));
            }
            (Element::Iframe, _) => html.push_str(&format!("<iframe src=\"{href}\"></iframe>")),
            (_, true) => html.push_str(&format!("<a rel=\"external NoFollow\" href=\"{href}\">{number}</a>")),
            _ if number % 7 == 3 => html.push_str(&format!("<A CLASS=x HREF='{href}'>{number}</A>")),
            _ => html.push_str(&format!("<a href=\"{href}\">{number}</a>")),
        }
        push_filler(filler, html);
    }
}

fn push_filler(bytes: usize, html: &mut String) {
    html.push_str("<p>");
    let mut rest = bytes;
    while rest > 0 {
        let part = rest.min(FILLER.len());
        html.push_str(&FILLER[..part]);
        rest -= part;
    }
    html.push_str("</p>\n");
}
