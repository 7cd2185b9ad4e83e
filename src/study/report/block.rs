use super::{Cell, Figure, Table};
use crate::promises::Judgement;

/// A chapter of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// A word for links to it: lower-case letters, digits and hyphens, each once in a report.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// What the chapter says, in one or two sentences with the headline numbers.
    pub lead: String,
    /// In the order in which they stand.
    pub blocks: Vec<Block>,
}

/// A piece of a section, in the order in which it is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading below that of the section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A caveat, set apart from the text.
    Note(String),
    /// Names with values: the collection card, the settings.
    Facts(Vec<Fact>),
    /// Rows and columns.
    Table(Table),
    /// A chart with its data.
    Figure(Box<Figure>),
    /// What came of each promise.
    Verdicts(Verdicts),
}

/// A name with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// In words.
    pub name: String,
    /// Its figure.
    pub value: Cell,
    /// What the name means or where the value is from, in small print; may be empty.
    pub note: String,
}

/// Statements that were tested, each with what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdicts {
    /// A word for links to it, as that of a section.
    pub id: String,
    /// What the list shows.
    pub caption: String,
    /// What is promised, whether it was held, and the evidence.
    pub list: Vec<(String, Judgement, String)>,
}

impl Section {
    /// A section without blocks; `id` is its anchor.
    #[must_use]
    pub fn new(id: &'static str, title: &str, lead: impl Into<String>) -> Self {
        Self { id, title: title.to_owned(), lead: lead.into(), blocks: Vec::new() }
    }

    /// The section with a further block.
    #[must_use]
    pub fn with(mut self, block: impl Into<Block>) -> Self {
        self.blocks.push(block.into());
        self
    }

    /// The section with a table, if it has any row.
    #[must_use]
    pub fn with_filled(self, table: Table) -> Self {
        if table.rows.is_empty() { self } else { self.with(table) }
    }
}

impl Block {
    /// A paragraph.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

impl Fact {
    /// A fact with its figure.
    #[must_use]
    pub fn new(name: &str, value: impl Into<Cell>) -> Self {
        Self { name: name.to_owned(), value: value.into(), note: String::new() }
    }

    /// The fact with a word on what it means.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Self::Figure(Box::new(figure))
    }
}

impl From<Verdicts> for Block {
    fn from(verdicts: Verdicts) -> Self {
        Self::Verdicts(verdicts)
    }
}

impl From<Vec<Fact>> for Block {
    fn from(facts: Vec<Fact>) -> Self {
        Self::Facts(facts)
    }
}
