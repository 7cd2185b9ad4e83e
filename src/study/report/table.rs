use super::Cell;

/// A table; on the page it stands in a box of its own that scrolls, and has a CSV link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// A word for links to it and the name of its CSV file: lower-case letters, digits and hyphens, each once
    /// in a report.
    pub id: String,
    /// What the table shows.
    pub caption: String,
    /// From left to right.
    pub columns: Vec<Column>,
    /// As many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The title.
    pub head: String,
    /// What the title means, where a pointer rests on it; may be empty.
    pub meaning: &'static str,
    /// Of the raw value, as it stands in the CSV file; empty where there is none.
    pub unit: &'static str,
    /// How its cells are set.
    pub form: Form,
}

/// Tells what a word means; none for what is no word of its list.
pub type Meaning = fn(&str) -> Option<&'static str>;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Words, set to the left.
    Text,
    /// Figures, set to the right.
    Number,
    /// A number with its interval: three columns of CSV.
    Interval,
}

impl Table {
    /// A table without rows; `id` names its CSV file.
    #[must_use]
    pub fn new(id: &str, caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { id: id.to_owned(), caption: caption.into(), columns, rows: Vec::new() }
    }

    /// Adds a row; cells beyond the columns are left out, missing ones are missing.
    pub fn push(&mut self, mut row: Vec<Cell>) {
        row.resize(self.columns.len(), Cell::Missing);
        self.rows.push(row);
    }

    /// The table with the meaning of the words in its head and in its first column, as far as they have one.
    #[must_use]
    pub fn explained(mut self, meaning: Meaning) -> Self {
        for column in &mut self.columns {
            column.meaning = meaning(&column.head).unwrap_or(column.meaning);
        }
        for cell in self.rows.iter_mut().filter_map(|row| row.first_mut()) {
            if let Cell::Text(word) = cell
                && let Some(meaning) = meaning(word)
            {
                *cell = Cell::Word(std::mem::take(word), meaning);
            }
        }
        self
    }

    /// The table with the given rows.
    #[must_use]
    pub fn with_rows(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        rows.into_iter().for_each(|row| self.push(row));
        self
    }
}

impl Column {
    /// A column of words.
    #[must_use]
    pub fn text(head: &str) -> Self {
        Self { head: head.to_owned(), meaning: "", unit: "", form: Form::Text }
    }

    /// A column of figures, with their unit.
    #[must_use]
    pub fn number(head: &str, unit: &'static str) -> Self {
        Self { head: head.to_owned(), meaning: "", unit, form: Form::Number }
    }

    /// A share of one.
    #[must_use]
    pub fn share(head: &str) -> Self {
        Self::number(head, "share")
    }

    /// A number with its interval.
    #[must_use]
    pub fn interval(head: &str, unit: &'static str) -> Self {
        Self { head: head.to_owned(), meaning: "", unit, form: Form::Interval }
    }
}
