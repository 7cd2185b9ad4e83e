use std::fmt;

use crate::records::visible;

/// Rows of text in aligned columns, two spaces apart.
pub(super) struct Columns {
    sides: &'static [Side],
    rows: Vec<Vec<String>>,
}

/// The alignment of a column: words to the left, numbers to the right.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Columns {
    pub(super) fn new(sides: &'static [Side]) -> Self {
        Self { sides, rows: Vec::new() }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.rows.push(cells.map(|cell| visible(cell).into_owned()).to_vec());
    }

    fn width(&self, column: usize) -> usize {
        let widths = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        widths.max().unwrap_or(0)
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.sides.len()).map(|column| self.width(column)).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).zip(self.sides).map(|((cell, width), side)| match side {
                Side::Left => format!("{cell:<width$}"),
                Side::Right => format!("{cell:>width$}"),
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_numbers_right() {
        let mut table = Columns::new(&[Side::Left, Side::Right, Side::Left]);
        table.row(["address", "requests", "note"]);
        table.row(["102.0.0.1", "7", ""]);
        assert_eq!(table.to_string(), "address    requests  note\n102.0.0.1         7\n");
    }
}
