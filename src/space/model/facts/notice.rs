use super::language::Language;
use super::prose::{PageText, words};
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

/// A page in place of a site, in the words of the program or the company that writes such pages. `{host}` in
/// its texts and links is the host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub language: Language,
    pub title: &'static str,
    pub blocks: &'static [Block],
}

/// A block of a notice, in the order of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    Heading(&'static str),
    Text(&'static str),
    List(&'static [&'static str]),
    /// Text, host and target of a link with https.
    Link(&'static str, &'static str, &'static str),
    /// A message of PHP: its kind, text, file and line.
    Php(&'static str, &'static str, &'static str, &'static str),
}

/// A text with the host in the place of `{host}`.
pub(crate) fn filled(text: &str, host: &str) -> String {
    text.replace("{host}", host)
}

impl Notice {
    /// The number of words in the body. The place of the host is one word, or part of one.
    pub(crate) fn words(&self) -> usize {
        self.blocks.iter().map(|block| block.words()).sum()
    }
}

impl Block {
    fn words(self) -> usize {
        match self {
            Self::Heading(text) | Self::Text(text) | Self::Link(text, ..) => words(text),
            Self::List(items) => items.iter().map(|item| words(item)).sum(),
            // "KIND: TEXT in FILE on line LINE"
            Self::Php(kind, text, file, line) => words(kind) + words(text) + words(file) + words(line) + 3,
        }
    }
}
