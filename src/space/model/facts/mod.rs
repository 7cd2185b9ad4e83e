//! The facts of a site that its responses show: what stands in place of its pages, the CMS that runs it, the
//! language of its text, and header fields.
//!
//! All of it is drawn per site ([`Facts`]). A site of one of the [`kinds`](kind) has a single page: a
//! [`notice`] of a [`parked`] domain, one of the [`placeholders`] of servers or the [`errors`] of programs,
//! or nothing. Other sites may be written in a [`language`] with sentences of its own ([`prose`]), and a
//! [`cms`] may show itself. [`sitemaps`] are those that a robots.txt names. The bytes are written elsewhere.

pub(crate) mod cms;
mod errors;
pub(crate) mod kind;
pub(crate) mod language;
pub(crate) mod notice;
mod parked;
mod placeholders;
pub(crate) mod prose;
pub(super) mod sitemaps;

use self::cms::ShownCms;
use self::kind::Kind;
use self::language::{Language, Written};
use self::notice::Notice;
use self::prose::PageText;
use crate::World;
use crate::draw::Key;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// None for a site with pages of its own.
    pub kind: Option<Kind>,
    /// The text of all its pages.
    pub text: PageText,
    /// None if the text is without meaning, or if there is none.
    pub written: Option<Written>,
    /// None if the site has no CMS, or one that does not show.
    pub cms: Option<ShownCms>,
    /// The value of `Strict-Transport-Security`.
    pub hsts: Option<&'static str>,
}

/// As servers send it; the first is what most guides recommend.
const HSTS: [&str; 4] = [
    "max-age=31536000",
    "max-age=31536000; includeSubDomains",
    "max-age=63072000; includeSubDomains; preload",
    "max-age=15552000",
];

impl Facts {
    /// `site` is the key of the site itself, `content` that of its pages.
    pub(crate) fn draw(world: &World, site: Key, content: Key, is_cms: bool) -> Self {
        let (site, content) = (site.part("facts"), content.part("facts"));
        let kind = Kind::draw(world, content);
        let language = Language::draw(world, content);
        let text = match kind {
            None => language.map_or(PageText::Filler, PageText::Prose),
            Some(kind) => kind.text(content, language),
        };
        let hsts = site.draw("sends HSTS").happens(world.https.hsts_share);
        Self {
            kind,
            text,
            written: text.language().map(|shown| Written::draw(world, content, shown, language.is_some())),
            cms: if is_cms { ShownCms::draw(world, content) } else { None },
            hsts: hsts.then(|| *site.draw("HSTS").pick(&HSTS)),
        }
    }

    /// Whether the site is drawn as something other than a site with pages of its own.
    pub(crate) fn replaces_pages(world: &World, content: Key) -> bool {
        Kind::draw(world, content.part("facts")).is_some()
    }

    /// The header fields of a response, beside those of any server. HSTS is sent with each response over TLS
    /// (RFC 6797 §7.1), what shows the CMS with pages only.
    pub(crate) fn fields(&self, is_https: bool, is_page: bool, host: &str) -> Box<[(&'static str, String)]> {
        let hsts =
            self.hsts.filter(|_| is_https).map(|value| ("Strict-Transport-Security", value.to_owned()));
        let cms = self.cms.filter(|_| is_page).and_then(|shown| shown.field(host));
        hsts.into_iter().chain(cms).collect()
    }

    /// The notice that is the only page of the site.
    pub(crate) fn notice(&self) -> Option<&'static Notice> {
        if let PageText::Notice(notice) = self.text { Some(notice) } else { None }
    }
}
