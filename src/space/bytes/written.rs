use super::links::{P, WrittenLinks};
use crate::World;
use crate::model::content::{Page, Url};
use crate::model::facts::notice::{Block, Notice, filled};
use crate::model::facts::prose::Prose;
use crate::model::site::Site;

/// Sentences of a paragraph.
const PARAGRAPH: usize = 3;

/// The title and the body of a page in a language: a heading, paragraphs, and the links below them. `image`
/// is an element after the heading.
pub(crate) fn push_prose(
    html: &mut Vec<u8>,
    (world, site): (&World, &Site),
    (page, url): (&Page, &Url),
    prose: &Prose,
    image: impl FnOnce(&mut Vec<u8>),
) {
    let title = prose.title;
    push(html, &format!("<title>{title}</title>\n</head>\n<body><h1>{title}</h1>\n"));
    image(html);
    if let Some(edition) = page.changed {
        push(html, &format!("<!-- edition {edition} -->\n"));
    }
    for sentences in prose.sentences.chunks(PARAGRAPH) {
        push(html, &format!("<p>{}</p>\n", sentences.join(" ")));
    }
    let links = WrittenLinks::write(world, site, page, url, prose.link);
    let mut start = 0;
    for end in links.ends {
        html.extend_from_slice(P);
        push(html, &links.html[start..end]);
        start = end;
    }
}

/// The title and the body of a notice. Its links are the ones of the page.
pub(crate) fn push_notice(html: &mut Vec<u8>, notice: &Notice, page: &Page, host: &str) {
    let text = |text: &str| escaped(&filled(text, host));
    push(html, &format!("<title>{}</title>\n</head>\n<body>\n", text(notice.title)));
    let mut links = page.links.iter();
    for block in notice.blocks {
        let written = match *block {
            Block::Heading(heading) => format!("<h1>{}</h1>\n", text(heading)),
            Block::Text(own) => format!("<p>{}</p>\n", text(own)),
            Block::List(items) => {
                let items: String = items.iter().map(|item| format!("<li>{}</li>\n", text(item))).collect();
                format!("<ul>\n{items}</ul>\n")
            }
            Block::Link(own, ..) => links.next().map_or_else(String::new, |link| {
                format!("<p><a href=\"{}\">{}</a></p>\n", escaped(&link.url.to_string()), text(own))
            }),
            Block::Php(kind, message, file, line) => {
                let message = text(message);
                format!("<br />\n<b>{kind}</b>:  {message} in <b>{file}</b> on line <b>{line}</b><br />\n")
            }
        };
        push(html, &written);
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn push(html: &mut Vec<u8>, text: &str) {
    html.extend_from_slice(text.as_bytes());
}
