use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;

use crate::address::is_name_at_or_below;
use crate::exchange::ContentClass;

/// The signs of pages without content, read once; `data/content-signs.toml` explains them.
pub(super) static SIGNS: LazyLock<Vec<Sign>> = LazyLock::new(|| {
    let file: SignFile = toml::from_str(include_str!("../../data/content-signs.toml"))
        .expect("data/content-signs.toml is valid, as a test shows");
    file.sign.into_iter().map(Sign::from).collect()
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignFile {
    sign: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    class: String,
    words: u32,
    links: Option<usize>,
    #[serde(default)]
    titles: Vec<String>,
    #[serde(default)]
    openings: Vec<String>,
    #[serde(default)]
    texts: Vec<String>,
    #[serde(default)]
    starts: Vec<String>,
    #[serde(default)]
    references: Vec<String>,
    #[serde(default)]
    scripts: Vec<String>,
}

/// A class, the largest page that it fits, and the evidence for it.
pub(super) struct Sign {
    pub(super) class: ContentClass,
    pub(super) most_words: u32,
    pub(super) most_links: usize,
    titles: Vec<String>,
    openings: Vec<String>,
    texts: Vec<Finder<'static>>,
    starts: Vec<String>,
    references: Vec<String>,
    scripts: Vec<Finder<'static>>,
}

impl From<Entry> for Sign {
    fn from(entry: Entry) -> Self {
        let finders = |marks: Vec<String>| marks.iter().map(|mark| Finder::new(mark).into_owned()).collect();
        Self {
            class: ContentClass::named(&entry.class).expect("a word of the closed list, as a test shows"),
            most_words: entry.words,
            most_links: entry.links.unwrap_or(usize::MAX),
            titles: entry.titles,
            openings: entry.openings,
            texts: finders(entry.texts),
            starts: entry.starts,
            references: entry.references,
            scripts: finders(entry.scripts),
        }
    }
}

/// What a page shows, in lower case.
pub(super) struct Shown<'a> {
    pub(super) title: &'a str,
    pub(super) text: &'a str,
    /// `host/path` of what the page loads, shows, frames and links to.
    pub(super) references: &'a [String],
    pub(super) scripts: &'a [u8],
}

impl Sign {
    /// The evidence of this sign, if the page has any.
    pub(super) fn evidence(&self, page: &Shown<'_>) -> Option<String> {
        let title = || self.in_title(page.title).map(|mark| format!("title: {mark}"));
        let start = || {
            let found = self.starts.iter().find(|mark| page.text.starts_with(mark.as_str()));
            found.map(|mark| format!("text: {mark}"))
        };
        let text = || found_in(&self.texts, page.text.as_bytes(), "text");
        let script = || found_in(&self.scripts, page.scripts, "script");
        title().or_else(start).or_else(text).or_else(|| self.in_references(page.references)).or_else(script)
    }

    fn in_title(&self, title: &str) -> Option<&str> {
        let opening = self.openings.iter().find(|mark| title.starts_with(mark.as_str()));
        let is_part =
            |mark: &&String| title == mark.as_str() || title_parts(title).any(|part| part == mark.as_str());
        opening.or_else(|| self.titles.iter().find(is_part)).map(String::as_str)
    }

    fn in_references(&self, references: &[String]) -> Option<String> {
        let is_here = |mark: &&String| references.iter().any(|reference| leads_to(reference, mark));
        self.references.iter().find(is_here).map(|mark| format!("reference: {mark}"))
    }
}

fn found_in(marks: &[Finder<'static>], text: &[u8], kind: &str) -> Option<String> {
    let found = marks.iter().find(|mark| mark.find(text).is_some())?;
    Some(format!("{kind}: {}", String::from_utf8_lossy(found.needle())))
}

/// Whether a reference (`host/path`) leads to this host or one below it, or begins with this host and path.
fn leads_to(reference: &str, mark: &str) -> bool {
    match mark.split_once('/') {
        Some((of, path)) => {
            let (host, rest) = reference.split_once('/').unwrap_or((reference, ""));
            is_name_at_or_below(host, of) && rest.starts_with(path)
        }
        None => is_name_at_or_below(reference.split('/').next().unwrap_or_default(), mark),
    }
}

/// The parts of a title, which names the page and the site: `Page not found – County of Kisumu`.
fn title_parts(title: &str) -> impl Iterator<Item = &str> {
    let bars = title.split(['|', '–', '—', '·', '»', '«', '•', ':']);
    let parts = bars.flat_map(|part| part.split(" - "));
    parts.map(|part| part.trim().trim_end_matches(['.', '!', '…', '?']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_parts_and_a_reference_a_host() {
        let parts: Vec<_> = title_parts("404 Not Found - Shop | Page: x…").collect();
        assert_eq!(parts, ["404 Not Found", "Shop", "Page", "x"]);
        assert!(leads_to("img.sedoparking.com/x", "sedoparking.com"));
        assert!(leads_to("www.dan.com/buy-domain/x", "dan.com/buy-domain"));
        for other in ["nosedo.com/search/details", "sedo.com/", "a.ke/sedo.com/search/details"] {
            assert!(!leads_to(other, "sedo.com/search/details"), "{other}");
        }
    }
}
