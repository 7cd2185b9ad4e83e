use super::frame::{Frame, GAP, ticks_across};
use super::ink::Ink;
use super::paper::{Anchor, FONT_SIZE, Paper, width_of};
use super::span::Span;
use super::{Drawing, PageWidth};
use crate::report::Columns;

pub(super) fn draw(chart: &Columns, page_width: PageWidth) -> Drawing {
    let totals = chart.columns.iter().map(|(_, parts)| parts.iter().sum::<f64>());
    let y = Span::over(chart.y.scale, totals, 6);
    let frame = Frame::between(page_width, &y, chart.mark.is_some());
    Paper::drawn(page_width.width(), page_width.height(), |paper| {
        frame.draw_y(paper, &chart.y, &y);
        frame.title_x(paper, &chart.x);
        if let Some(column) = chart.mark.filter(|column| *column < chart.columns.len()) {
            let (left, right) = edges(&frame, chart, column);
            frame.draw_mark(paper, "chosen", f64::midpoint(left, right));
        }
        for (number, (_, parts)) in chart.columns.iter().enumerate() {
            draw_column(paper, &frame, &y, edges(&frame, chart, number), parts);
        }
        draw_names(paper, &frame, chart);
    })
}

/// The left and right edge of a column, which takes four fifths of its share of the width.
fn edges(frame: &Frame, chart: &Columns, number: usize) -> (f64, f64) {
    let pitch = 1.0 / chart.columns.len().max(1) as f64;
    let column_x = |along: f64| frame.x((number as f64 + along) * pitch);
    (column_x(0.1), column_x(0.9))
}

fn draw_column(paper: &mut Paper, frame: &Frame, y: &Span, (left, right): (f64, f64), parts: &[f64]) {
    let mut sum = 0.0;
    for (part, value) in parts.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        let below = frame.y(y.along(sum));
        sum += value;
        paper.rect((left, frame.y(y.along(sum))), (right, below), Ink::Part(part));
    }
}

/// Names every column, or every second, fifth and so on where there is no space for all.
fn draw_names(paper: &mut Paper, frame: &Frame, chart: &Columns) {
    let widest = chart.columns.iter().map(|(name, _)| width_of(name)).fold(0.0, f64::max);
    let max_names = ticks_across(frame.right - frame.left, widest);
    let step =
        [1, 2, 5, 10, 20, 50].into_iter().find(|step| chart.columns.len().div_ceil(*step) <= max_names);
    for (number, (name, _)) in chart.columns.iter().enumerate().step_by(step.unwrap_or(100)) {
        let (left, right) = edges(frame, chart, number);
        let below = frame.bottom + GAP + FONT_SIZE / 2.0;
        paper.label(name, (f64::midpoint(left, right), below), Anchor::Middle, Ink::Label);
    }
}
