use std::borrow::Cow;

use super::clues::Clues;
use super::signs::{SIGNS, Shown};
use crate::address::WebUrl;
use crate::exchange::ContentClass;
use crate::page::link::{Element, Link};

/// What else is known of a page.
pub(in crate::page) struct Observed<'a> {
    pub(in crate::page) url: &'a WebUrl,
    pub(in crate::page) title: Option<&'a str>,
    pub(in crate::page) links: &'a [Link],
    pub(in crate::page) words: u32,
}

/// A page with more words is a page of a site, whatever it says: the longest page of the group `none` that is
/// known, Apache's default page of Debian, has 400.
pub(super) const MOST_WORDS: u32 = 500;
/// Neither DNS Belgium nor CZ.NIC publishes where low content ends, so this is a choice: two paragraphs.
const HIGH_WORDS: u32 = 100;
/// The front page of a site whose words are in its pictures has a menu of this length.
const HIGH_LINKS: usize = 20;

/// The class of a page, and the evidence.
pub(super) fn classify(clues: &Clues, text: &str, page: &Observed<'_>) -> (ContentClass, String) {
    let by_signs = (page.words <= MOST_WORDS).then(|| by_signs(clues, text, page)).flatten();
    by_signs.unwrap_or_else(|| by_amount(clues, text, page))
}

fn by_signs(clues: &Clues, text: &str, page: &Observed<'_>) -> Option<(ContentClass, String)> {
    if clues.has_advertising_key {
        return Some((ContentClass::Parked, "attribute: data-adblockkey".to_owned()));
    }
    let (title, text) = (normal(page.title.unwrap_or_default()), normal(text));
    let references = references(clues, page.links);
    let shown = Shown { title: &title, text: &text, references: &references, scripts: clues.scripts() };
    let fitting =
        SIGNS.iter().filter(|sign| page.words <= sign.most_words && page.links.len() <= sign.most_links);
    let mut found = fitting.filter_map(|sign| Some((sign.class, sign.evidence(&shown)?)));
    found.next()
}

fn by_amount(clues: &Clues, text: &str, page: &Observed<'_>) -> (ContentClass, String) {
    let is_wordless = page.words == 0 || (page.words < 10 && !text.chars().any(char::is_alphanumeric));
    if is_wordless && page.links.is_empty() && !clues.has_picture {
        let scripts = if clues.has_script { ", scripts" } else { "" };
        return (ContentClass::Empty, format!("words: 0{scripts}"));
    }
    let is_high = page.words >= HIGH_WORDS || page.links.len() >= HIGH_LINKS;
    let class = if is_high { ContentClass::High } else { ContentClass::Low };
    (class, format!("words: {}, links: {}", page.words, page.links.len()))
}

/// As the signs are spelled.
fn normal(text: &str) -> String {
    let text = text.to_lowercase();
    if text.is_ascii() { text } else { text.replace(['’', 'ʼ', '‘'], "'").replace('\u{a0}', " ") }
}

/// The hosts and paths of what a page loads, shows, frames and links to; a page with signs has few.
fn references(clues: &Clues, links: &[Link]) -> Vec<String> {
    let loaded = clues.references().filter_map(|(text, _)| text.strip_prefix(b"//"));
    let loaded = loaded.map(String::from_utf8_lossy).map(Cow::into_owned);
    let is_followed = |link: &&Link| link.element != Element::Redirect;
    let linked = links.iter().take(SEARCHED_LINKS).filter(is_followed);
    loaded.chain(linked.map(|link| format!("{}{}", link.url.host(), link.url.path()))).collect()
}

/// Signs with references fit pages of at most this number of links.
const SEARCHED_LINKS: usize = 60;
