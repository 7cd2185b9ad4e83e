use super::frame::{GAP, LINE};
use super::ink::{Ink, SHADES};
use super::paper::{Anchor, FONT_SIZE, Paper, fitting, width_of};
use super::span::tick_label;
use super::{Drawing, PageWidth};
use crate::report::Matrix;

/// The layout of the cells of a heat map.
struct Grid {
    left: f64,
    top: f64,
    cell_width: f64,
    cell_height: f64,
    /// Whether all values fit into their cells. Showing only some of them would mislead.
    has_values: bool,
}

/// The maximum width of a cell, so that a matrix of two countries does not fill the page.
const LARGEST: f64 = 64.0;
const HEIGHT: f64 = 26.0;

pub(super) fn draw(chart: &Matrix, page_width: PageWidth) -> Drawing {
    let grid = Grid::new(chart, page_width);
    let largest = chart.cells.iter().flatten().flatten().copied().fold(0.0, f64::max);
    let height = grid.top + grid.cell_height * chart.rows.len() as f64;
    Paper::drawn(page_width.width(), height + GAP, |paper| {
        paper.label(&chart.row_title, (0.0, FONT_SIZE / 2.0 + 1.0), Anchor::Start, Ink::Title);
        paper.label(
            &chart.column_title,
            (grid.left, LINE + FONT_SIZE / 2.0 + 1.0),
            Anchor::Start,
            Ink::Title,
        );
        for (number, name) in chart.columns.iter().enumerate() {
            grid.draw_column_name(paper, number, name);
        }
        for (row, name) in chart.rows.iter().enumerate() {
            let middle = grid.top + (row as f64 + 0.5) * grid.cell_height;
            let name = fitting(name, grid.left - GAP);
            paper.label(&name, (grid.left - GAP, middle), Anchor::End, Ink::Label);
            let cells = chart.cells.get(row).map_or(&[][..], Vec::as_slice);
            for (column, value) in cells.iter().take(chart.columns.len()).enumerate() {
                if let Some(value) = value {
                    grid.draw_cell(paper, (row, column), *value, largest, chart);
                }
            }
        }
    })
}

impl Grid {
    fn new(chart: &Matrix, page_width: PageWidth) -> Self {
        let widest = |names: &[String]| names.iter().map(|name| width_of(name)).fold(0.0, f64::max);
        let left = widest(&chart.rows).min(page_width.width() * 0.3) + GAP;
        let cell_width = ((page_width.width() - left) / chart.columns.len().max(1) as f64).min(LARGEST);
        let names = widest(&chart.columns);
        // Names that are wider than their column are written vertically.
        let head = if names + 2.0 > cell_width { names } else { LINE };
        let value_widths =
            chart.cells.iter().flatten().flatten().map(|value| width_of(&tick_label(chart.scale, *value)));
        let has_values = value_widths.fold(0.0, f64::max) + GAP <= cell_width;
        Self { left, top: 2.0 * LINE + head + GAP, cell_width, cell_height: HEIGHT, has_values }
    }

    fn draw_column_name(&self, paper: &mut Paper, number: usize, name: &str) {
        let middle = self.left + (number as f64 + 0.5) * self.cell_width;
        if self.top > 3.0 * LINE + GAP {
            paper.upright(name, (middle, self.top - 4.0), Ink::Label);
        } else {
            paper.label(name, (middle, self.top - GAP - FONT_SIZE / 2.0), Anchor::Middle, Ink::Label);
        }
    }

    fn draw_cell(
        &self,
        paper: &mut Paper,
        (row, column): (usize, usize),
        value: f64,
        largest: f64,
        chart: &Matrix,
    ) {
        let (x, y) = (self.left + column as f64 * self.cell_width, self.top + row as f64 * self.cell_height);
        let corner = (x + self.cell_width - 1.0, y + self.cell_height - 1.0);
        paper.rect((x, y), corner, Ink::Shade(shade(value, largest)));
        if self.has_values {
            let cell_text = tick_label(chart.scale, value);
            let middle = (x + self.cell_width / 2.0, y + self.cell_height / 2.0);
            paper.label(&cell_text, middle, Anchor::Middle, Ink::Inside);
        }
    }
}

/// The shade of a value, by its square root, so that small values differ visibly from zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of ten shades")]
fn shade(value: f64, largest: f64) -> usize {
    if value <= 0.0 || largest <= 0.0 {
        return 0;
    }
    let share = (value / largest).clamp(0.0, 1.0).sqrt();
    (1.0 + share * (SHADES - 2) as f64).round() as usize
}
