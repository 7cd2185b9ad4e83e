use super::bars::BarRows;
use super::frame::{GAP, LINE, ticks_across};
use super::ink::Ink;
use super::paper::{Anchor, FONT_SIZE, Paper, width_of};
use super::span::Span;
use super::{Drawing, PageWidth};
use crate::report::Boxes;

pub(super) fn draw(chart: &Boxes, page_width: PageWidth) -> Drawing {
    let rows =
        BarRows::new(chart.boxes.iter().map(|row| row.label.as_str()), page_width, 24.0, 2.0 * LINE + GAP);
    let values = chart.boxes.iter().flat_map(|row| row.percentiles);
    let span = Span::over(chart.axis.scale, values, ticks_across(rows.right - rows.left, width_of("100 ms")));
    // Half of the first tick's label lies left of the tick.
    let left = rows.left + 24.0;
    let x = |along: f64| left + along * (rows.right - left);
    let bottom = rows.height(chart.boxes.len());
    Paper::drawn(page_width.width(), bottom, |paper| {
        paper.label(&chart.axis.title, (rows.left, FONT_SIZE / 2.0 + 1.0), Anchor::Start, Ink::Title);
        for (position, tick_text) in &span.ticks {
            let x = x((position - span.low) / (span.high - span.low));
            paper.line((x, rows.top), (x, bottom), Ink::Grid);
            paper.label(tick_text, (x, 1.5 * LINE), Anchor::Middle, Ink::Label);
        }
        for (number, row) in chart.boxes.iter().enumerate() {
            let (top, bottom) = rows.draw_row(paper, number, &row.label, "");
            let middle = f64::midpoint(top, bottom);
            let [lowest, low, median, high, highest] = row.percentiles.map(|value| x(span.along(value)));
            paper.line((lowest, middle), (highest, middle), Ink::Whisker);
            paper.rect((low, top), (high, bottom), Ink::Box);
            paper.line((median, top - 1.0), (median, bottom + 1.0), Ink::Median);
        }
    })
}
