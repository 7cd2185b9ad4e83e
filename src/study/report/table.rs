use super::Cell;

/// A table. On the page it has its own scrolling box and a CSV link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The anchor of the table and the name of its CSV file: lower-case letters, digits and hyphens, unique
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
    /// The title of the column.
    pub head: String,
    /// The meaning of the title, shown as a tooltip; may be empty.
    pub meaning: &'static str,
    /// The unit of the raw value, as in the CSV file; empty where there is none.
    pub unit: &'static str,
    /// The alignment of the cells and their form in CSV.
    pub form: Form,
}

/// Returns the meaning of a word; none for a word that is not in the list.
pub type Meaning = fn(&str) -> Option<&'static str>;

/// The kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text, aligned left.
    Text,
    /// Numbers, aligned right.
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

    /// Adds a row. Surplus cells are dropped; missing ones become [`Cell::Missing`].
    pub fn push(&mut self, mut row: Vec<Cell>) {
        row.resize(self.columns.len(), Cell::Missing);
        self.rows.push(row);
    }

    /// Adds meanings to the words in the head and in the first column, where they have one.
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

    /// Adds the given rows.
    #[must_use]
    pub fn with_rows(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        rows.into_iter().for_each(|row| self.push(row));
        self
    }
}

impl Column {
    /// A column of text.
    #[must_use]
    pub fn text(head: &str) -> Self {
        Self { head: head.to_owned(), meaning: "", unit: "", form: Form::Text }
    }

    /// A column of numbers, with their unit.
    #[must_use]
    pub fn number(head: &str, unit: &'static str) -> Self {
        Self { head: head.to_owned(), meaning: "", unit, form: Form::Number }
    }

    /// A column of shares from 0 to 1.
    #[must_use]
    pub fn share(head: &str) -> Self {
        Self::number(head, "share")
    }

    /// A column of numbers with their intervals.
    #[must_use]
    pub fn interval(head: &str, unit: &'static str) -> Self {
        Self { head: head.to_owned(), meaning: "", unit, form: Form::Interval }
    }
}
