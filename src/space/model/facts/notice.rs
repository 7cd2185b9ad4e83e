use super::language::Language;

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

/// The number of words that white space separates.
pub(crate) fn words(text: &str) -> usize {
    text.split_whitespace().count()
}
