use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::kept::{LinkElement, LinkMark, RecordedPages, RecordedResponse};

/// The bytes of a recorded page: its title and its links in order, written so that a crawler reads the same
/// links, and padded to the recorded size if that is larger.
///
/// Links to the page's own host are written without the host. A page that had long links in short references
/// is longer than the original.
pub(super) fn render(pages: &RecordedPages, saved: &RecordedResponse, is_https: bool, host: &str) -> Vec<u8> {
    let name = pages.texts.get(saved.charset);
    let encoding = Encoding::for_label(name.as_bytes()).unwrap_or(UTF_8);
    let origin = format!("http{}://{host}", if is_https { "s" } else { "" });
    let marks = &pages.marks[saved.links()];
    // An element without `rel` needs a nofollow for the whole page.
    let page_nofollow = marks.iter().any(|mark| mark.nofollow && !mark.element.has_rel());
    let mut html = head(pages, saved, encoding, &origin, page_nofollow);
    for (target, mark) in pages.targets[saved.links()].iter().zip(marks) {
        push_link(&mut html, pages.texts.get(*target), mark, &origin, page_nofollow);
    }
    html.push_str("</body></html>\n");
    let mut bytes = encode(&html, encoding);
    bytes.resize(bytes.len().max(saved.body_bytes as usize), b' ');
    bytes
}

fn head(
    pages: &RecordedPages,
    saved: &RecordedResponse,
    encoding: &'static Encoding,
    origin: &str,
    nofollow: bool,
) -> String {
    let text = |id| escaped(pages.texts.get(id));
    let is_xml = pages.texts.get(saved.content_type).contains("xml");
    let charset = encoding.name();
    let declaration =
        if is_xml { format!("<?xml version=\"1.0\" encoding=\"{charset}\"?>") } else { String::new() };
    let language = pages
        .texts
        .some(saved.language)
        .map_or(String::new(), |_| format!(" lang=\"{}\"", text(saved.language)));
    let title = pages
        .texts
        .some(saved.title)
        .map_or(String::new(), |_| format!("<title>{}</title>", text(saved.title)));
    let robots = if nofollow { "<meta name=\"robots\" content=\"nofollow\"/>" } else { "" };
    format!(
        "{declaration}<!DOCTYPE html>\n<html{language}><head><meta charset=\"{charset}\"/>{title}\
         <base href=\"{origin}/\"/>{robots}</head><body>\n"
    )
}

fn push_link(html: &mut String, url: &str, mark: &LinkMark, origin: &str, page_nofollow: bool) {
    // A path that begins with two slashes would name a host.
    let short = url.strip_prefix(origin).filter(|path| path.starts_with('/') && !path.starts_with("//"));
    let href = escaped(short.unwrap_or(url));
    let rel = if mark.nofollow && !page_nofollow { " rel=\"nofollow\"" } else { "" };
    html.push_str(&match mark.element {
        LinkElement::A => format!("<a{rel} href=\"{href}\">.</a>\n"),
        LinkElement::Area => format!("<area{rel} href=\"{href}\"/>\n"),
        // A page with a body has no frames, but a frame may contain a frameset page.
        LinkElement::Frame => {
            let frameset = format!("<frameset><frame src=\"{href}\"></frameset>");
            format!("<iframe srcdoc=\"{}\"></iframe>\n", escaped(&frameset))
        }
        LinkElement::Iframe => format!("<iframe src=\"{href}\"></iframe>\n"),
        LinkElement::Meta => format!("<meta http-equiv=\"refresh\" content=\"9; url={href}\"/>\n"),
    });
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Adds a byte order mark if the encoding has one; it takes precedence over the header.
fn encode(html: &str, encoding: &'static Encoding) -> Vec<u8> {
    let units = || std::iter::once(0xfeff).chain(html.encode_utf16());
    match encoding {
        _ if encoding == UTF_16LE => units().flat_map(u16::to_le_bytes).collect(),
        _ if encoding == UTF_16BE => units().flat_map(u16::to_be_bytes).collect(),
        _ if encoding == UTF_8 => [b"\xef\xbb\xbf", html.as_bytes()].concat(),
        _ => encoding.encode(html).0.into_owned(),
    }
}
