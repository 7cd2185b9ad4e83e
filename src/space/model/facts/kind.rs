use super::language::Language;
use super::notice::Notice;
use super::prose::PageText;
use super::{errors, parked, placeholders};
use crate::World;
use crate::draw::{Key, by_share};

/// What stands in place of a site's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The domain is for sale, or shows advertisements.
    Parked,
    /// The default page of a server or a control panel, or the announcement of a site.
    Placeholder,
    /// The text of an error, with status 200.
    Error,
    /// A page without text.
    Empty,
}

impl Kind {
    /// `content` is the key of the facts of the site's pages.
    pub(crate) fn draw(world: &World, content: Key) -> Option<Self> {
        let shares = &world.facts;
        let kinds = [
            (shares.parked_share, Self::Parked),
            (shares.placeholder_share, Self::Placeholder),
            (shares.error_share, Self::Error),
            (shares.empty_share, Self::Empty),
        ];
        by_share(content.draw("in place of pages"), &kinds)
    }

    /// The word for it in the table `hosts`.
    pub(crate) fn column_value(self) -> &'static str {
        match self {
            Self::Parked => "parked",
            Self::Placeholder => "placeholder",
            Self::Error => "error",
            Self::Empty => "empty",
        }
    }

    /// The page: half of the sites in a language show a notice in it, if there is one; the rest is in
    /// English, as the pages of programs are [A].
    pub(crate) fn text(self, content: Key, language: Option<Language>) -> PageText {
        let notices = match self {
            Self::Empty => return PageText::Empty(content.draw("empty page").pick::<&str>(&EMPTY)),
            Self::Parked => parked::NOTICES,
            Self::Placeholder => placeholders::NOTICES,
            Self::Error => errors::NOTICES,
        };
        let is_translated = content.draw("notice is translated").happens(0.5);
        let wanted = language.filter(|_| is_translated).unwrap_or(Language::English);
        let has_wanted = notices.iter().any(|notice| notice.language == wanted);
        let wanted = if has_wanted { wanted } else { Language::English };
        let found: Vec<&Notice> = notices.iter().filter(|notice| notice.language == wanted).collect();
        PageText::Notice(content.draw("which notice").pick::<&Notice>(&found))
    }
}

/// Documents that show nothing.
const EMPTY: [&str; 4] = [
    "",
    "\n",
    "<html><head></head><body></body></html>\n",
    "<!DOCTYPE html>\n<html>\n<head><title></title><meta charset=\"utf-8\"></head>\n<body>\n<!-- index -->\n\
     <div id=\"app\"></div>\n</body>\n</html>\n",
];
