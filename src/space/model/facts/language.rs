use crate::World;
use crate::draw::{Key, by_share};

/// A language in which sites are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Language {
    English,
    French,
    Portuguese,
    Swahili,
    Arabic,
    Amharic,
    Somali,
}

/// The language of a site's text, and the one that its pages declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub language: Language,
    /// The value of the attribute `lang` of the html element.
    pub declared: Option<&'static str>,
}

impl Language {
    pub(crate) const ALL: [Self; 7] = [
        Self::English,
        Self::French,
        Self::Portuguese,
        Self::Swahili,
        Self::Arabic,
        Self::Amharic,
        Self::Somali,
    ];

    /// `content` is the key of the facts of the site's pages.
    pub(crate) fn draw(world: &World, content: Key) -> Option<Self> {
        let shares = world.languages.shares().into_iter().zip(Self::ALL);
        by_share(content.draw("language"), &shares.collect::<Vec<_>>())
    }

    /// ISO 639-1.
    pub(crate) fn code(self) -> &'static str {
        self.tags()[0]
    }

    /// The values of `lang` that are right, the code first.
    fn tags(self) -> [&'static str; 2] {
        match self {
            Self::English => ["en", "en-GB"],
            Self::French => ["fr", "fr-FR"],
            Self::Portuguese => ["pt", "pt-PT"],
            Self::Swahili => ["sw", "sw-KE"],
            Self::Arabic => ["ar", "ar-EG"],
            Self::Amharic => ["am", "am-ET"],
            Self::Somali => ["so", "so-SO"],
        }
    }
}

impl Written {
    /// `declares` unless the world draws no languages of sites.
    pub(super) fn draw(world: &World, content: Key, language: Language, declares: bool) -> Self {
        let shares = &world.languages;
        let kinds = [(shares.wrong_declared_share, true), (shares.undeclared_share, false)];
        let declared = match by_share(content.draw("declared language"), &kinds) {
            None => Some(*content.draw("form of declared language").pick(&language.tags())),
            // What templates declare.
            Some(true) if language != Language::English => Some("en-US"),
            Some(true) => Some("fr-FR"),
            Some(false) => None,
        };
        Self { language, declared: declared.filter(|_| declares) }
    }
}
