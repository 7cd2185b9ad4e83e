use encoding_rs::{Encoding, SHIFT_JIS, UTF_8, WINDOWS_1252};

use super::World;
use super::content::{Element, Link, Page, Url};
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

/// A page while it is written: ASCII but for its title, which is encoded.
struct Html(Vec<u8>);

/// The bytes of a page and its content type.
pub(super) fn render(world: &World, site: &Site, page: &Page, url: &Url) -> (String, Vec<u8>) {
    let (encoding, label, title) = language(site.charset);
    let title = encoding.encode(title).0;
    let declared =
        *site.key.draw("charset declared").pick(&[Declared::InHeader, Declared::InPage, Declared::Twice]);
    let mut html = Html(Vec::with_capacity(16_384));
    html.push("<!DOCTYPE html>\n<html><head>");
    if declared != Declared::InHeader {
        html.push(&format!("<meta http-equiv=\"Content-Type\" content=\"text/html; charset={label}\">"));
    }
    html.push_title("title", &title, &url.target);
    if site.has_base {
        html.push(&format!("<base href=\"http{}://{}/\">", if url.is_https { "s" } else { "" }, url.host));
    }
    if page.nofollow {
        html.push("<META NAME=Robots CONTENT=\"index, NoFollow\">");
    }
    for link in page.links.iter().filter(|link| link.element == Element::Refresh) {
        html.push(&format!("<meta http-equiv=refresh content=\"3; url={}\">", link.url.target));
    }
    html.push("</head>\n<body>");
    html.push_title("h1", &title, &url.target);
    if page.key.draw("decoy").happens(world.pages.decoy_share) {
        html.push(DECOY);
    }
    html.push_links(world, site, page, url);
    html.push("</body></html>\n");
    let content_type = match declared {
        Declared::InPage => "text/html".to_owned(),
        _ => format!("text/html; charset={label}"),
    };
    (content_type, html.0)
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

impl Html {
    fn push(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn push_title(&mut self, element: &str, title: &[u8], target: &str) {
        self.push(&format!("<{element}>"));
        self.0.extend_from_slice(title);
        self.push(&format!(" {}</{element}>\n", target.replace('&', "&amp;")));
    }

    fn push_links(&mut self, world: &World, site: &Site, page: &Page, url: &Url) {
        let (pages, draw) = (&world.pages, page.key.draw("bytes"));
        let bytes = rounded(draw.log_normal(pages.bytes_median, pages.bytes_sigma)).min(pages.most_bytes);
        let filler = usize::try_from(bytes).unwrap_or(0) / (page.links.len() + 1);
        self.push_filler(filler);
        let spelling = page.key.draw("spelling");
        let visible = page.links.iter().filter(|link| link.element != Element::Refresh);
        for (number, link) in (0_u64..).zip(visible) {
            let spelled = spell(&link.url, url, site.has_base, pages.alias_share, spelling.nth(number));
            self.push_link(number, link, &spelled.replace('&', "&amp;"));
            self.push_filler(filler);
        }
    }

    fn push_link(&mut self, number: u64, link: &Link, href: &str) {
        let rel = if link.nofollow { "rel='external NoFollow' " } else { "" };
        let text = match link.element {
            Element::Area => format!("<map name=\"m{number}\"><area {rel}shape=rect href='{href}'></map>"),
            Element::Iframe => format!("<iframe src=\"{href}\"></iframe>"),
            _ if number % 7 == 3 => format!("<A CLASS=x {rel}HREF='{href}'>{number}</A>"),
            _ => format!("<a {rel}href=\"{href}\">{number}</a>"),
        };
        self.push(&text);
    }

    fn push_filler(&mut self, bytes: usize) {
        self.push("<p>");
        let mut rest = bytes;
        while rest > 0 {
            let part = rest.min(FILLER.len());
            self.push(&FILLER[..part]);
            rest -= part;
        }
        self.push("</p>\n");
    }
}
