use super::{Cell, Figure, Table};
use crate::promises::Judgement;

/// A chapter of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The anchor of the section: lower-case letters, digits and hyphens, unique in a report.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// A summary in one or two sentences with the headline numbers.
    pub lead: String,
    /// In the order of the page.
    pub blocks: Vec<Block>,
}

/// A part of a section.
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
    /// The result for each promise.
    Verdicts(Verdicts),
}

/// A name with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// In plain words.
    pub name: String,
    /// The value, mostly a number.
    pub value: Cell,
    /// What the name means or where the value comes from, in small print; may be empty.
    pub note: String,
}

/// Statements that were tested, each with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdicts {
    /// The anchor of the list, with the rules of a section's `id`.
    pub id: String,
    /// What the list shows.
    pub caption: String,
    /// The promise, whether it was kept, and the evidence.
    pub list: Vec<(String, Judgement, String)>,
}

impl Section {
    /// A section without blocks; `id` is its anchor.
    #[must_use]
    pub fn new(id: &'static str, title: &str, lead: impl Into<String>) -> Self {
        Self { id, title: title.to_owned(), lead: lead.into(), blocks: Vec::new() }
    }

    /// Appends a block to the section.
    #[must_use]
    pub fn with(mut self, block: impl Into<Block>) -> Self {
        self.blocks.push(block.into());
        self
    }

    /// Appends a table to the section, if the table has rows.
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
    /// A fact without a note.
    #[must_use]
    pub fn new(name: &str, value: impl Into<Cell>) -> Self {
        Self { name: name.to_owned(), value: value.into(), note: String::new() }
    }

    /// Adds a note that explains the fact.
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
