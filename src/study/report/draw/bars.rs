use super::frame::{GAP, LINE};
use super::ink::Ink;
use super::paper::{Anchor, FONT_SIZE, Paper, fitting, width_of};
use super::{Drawing, PageWidth};
use crate::report::{Bar, Bars};

/// The layout of labels and bars in a chart with one row per category.
pub(super) struct BarRows {
    /// Whether labels are above the bars and not left of them.
    is_above: bool,
    max_label_width: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
}

/// The height of a bar.
const BAR: f64 = 14.0;

impl BarRows {
    pub(super) fn new<'a>(
        labels: impl Iterator<Item = &'a str>,
        page_width: PageWidth,
        values: f64,
        top: f64,
    ) -> Self {
        let widest = labels.map(width_of).fold(0.0, f64::max);
        let is_above = page_width == PageWidth::Narrow;
        // Names of networks are long. Labels wider than two fifths would leave no space for the bars.
        let max_label_width =
            if is_above { page_width.width() } else { widest.min(page_width.width() * 0.4) };
        let left = if is_above { 0.0 } else { max_label_width + GAP };
        Self { is_above, max_label_width, left, right: page_width.width() - values - GAP, top }
    }

    fn pitch(&self) -> f64 {
        if self.is_above { LINE + BAR + 2.0 * GAP } else { BAR + 10.0 }
    }

    pub(super) fn height(&self, rows: usize) -> f64 {
        self.top + self.pitch() * rows as f64
    }

    /// Writes the label of a row and returns the upper and lower edge of its bar. The meaning of the label,
    /// if it has one, becomes a tooltip.
    pub(super) fn draw_row(
        &self,
        paper: &mut Paper,
        number: usize,
        label: &str,
        meaning: &str,
    ) -> (f64, f64) {
        let top = self.height(number);
        let text = fitting(label, self.max_label_width);
        if self.is_above {
            paper.explained(&text, meaning, (0.0, top + LINE / 2.0), Anchor::Start, Ink::Label);
            (top + LINE, top + LINE + BAR)
        } else {
            let top = top + 5.0;
            paper.explained(&text, meaning, (self.max_label_width, top + BAR / 2.0), Anchor::End, Ink::Label);
            (top, top + BAR)
        }
    }
}

pub(super) fn draw(chart: &Bars, page_width: PageWidth) -> Drawing {
    let value_width = chart.bars.iter().map(|bar| width_of(&bar.value_text)).fold(0.0, f64::max);
    let rows = BarRows::new(
        chart.bars.iter().map(|bar| bar.label.as_str()),
        page_width,
        value_width + GAP,
        LINE + GAP,
    );
    let largest = chart.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    Paper::drawn(page_width.width(), rows.height(chart.bars.len()), |paper| {
        paper.label(&chart.axis.title, (rows.left, FONT_SIZE / 2.0 + 1.0), Anchor::Start, Ink::Title);
        for (number, bar) in chart.bars.iter().enumerate() {
            draw_bar(paper, &rows, number, bar, largest);
        }
    })
}

fn draw_bar(paper: &mut Paper, rows: &BarRows, number: usize, bar: &Bar, largest: f64) {
    let (top, bottom) = rows.draw_row(paper, number, &bar.label, bar.meaning);
    let along =
        if largest > 0.0 && bar.value.is_finite() { (bar.value / largest).clamp(0.0, 1.0) } else { 0.0 };
    let end = rows.left + along * (rows.right - rows.left);
    // The bar that sums up the rest looks different from the others.
    let ink = if bar.is_rest { Ink::Part(7) } else { Ink::Part(0) };
    paper.rect((rows.left, top), (end, bottom), ink);
    // Each bar has its own line: a line through all rows would cross labels that are above bars.
    paper.line((rows.left, top - 2.0), (rows.left, bottom + 2.0), Ink::Axis);
    paper.label(&bar.value_text, (end + GAP, f64::midpoint(top, bottom)), Anchor::Start, Ink::Value);
}
