use super::frame::{Frame, LINE, LabelBox, ticks_across};
use super::ink::Ink;
use super::paper::{Anchor, Paper, Position, width_of};
use super::span::Span;
use super::{Drawing, PageWidth};
use crate::report::{Lines, Scale, Series};

pub(super) fn draw(chart: &Lines, page_width: PageWidth) -> Drawing {
    let (x, y, frame) = layout(chart, page_width);
    Paper::drawn(page_width.width(), page_width.height(), |paper| {
        frame.draw_y(paper, &chart.y, &y);
        frame.draw_x(paper, &chart.x.title, &x);
        let to_position = |point: (f64, f64)| (frame.x(x.along(point.0)), frame.y(y.along(point.1)));
        if let Some(mark) = &chart.mark {
            frame.draw_mark(paper, &mark.label, frame.x(x.along(mark.x)));
        }
        for (number, series) in chart.series.iter().enumerate() {
            draw_band(paper, series, number, to_position);
        }
        for (number, series) in chart.series.iter().enumerate() {
            draw_line(paper, series, number, to_position);
        }
        draw_labels(paper, chart, frame.bottom, to_position);
    })
}

fn layout(chart: &Lines, page_width: PageWidth) -> (Span, Span, Frame) {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let highest = points().flat_map(|point| [point.y.value, point.y.high]);
    let y = Span::over(chart.y.scale, highest, 6);
    let frame = Frame::between(page_width, &y, chart.mark.is_some());
    let reach = Some(chart.x.reach).filter(|reach| *reach > 0.0);
    let across = || points().map(|point| point.x).chain(chart.mark.as_ref().map(|mark| mark.x)).chain(reach);
    let widest = match chart.x.scale {
        Scale::Depth => width_of("20"),
        _ => width_of("100 ms"),
    };
    let x = Span::over(chart.x.scale, across(), ticks_across(frame.right - frame.left, widest));
    (x, y, frame)
}

fn draw_band(
    paper: &mut Paper,
    series: &Series,
    number: usize,
    to_position: impl Fn((f64, f64)) -> Position,
) {
    // A share without an interval gets no band: a band of zero width would look certain.
    for points in series.points.split(|point| point.y.is_unsure()) {
        if points.iter().all(|point| point.y.low >= point.y.high) {
            continue;
        }
        let above = points.iter().map(|point| to_position((point.x, point.y.high)));
        let below = points.iter().rev().map(|point| to_position((point.x, point.y.low)));
        let border: Vec<Position> = above.chain(below).collect();
        paper.area(&border, Ink::Band(number));
    }
}

fn draw_line(
    paper: &mut Paper,
    series: &Series,
    number: usize,
    to_position: impl Fn((f64, f64)) -> Position,
) {
    let positions: Vec<Position> =
        series.points.iter().map(|point| to_position((point.x, point.y.value))).collect();
    paper.path(&positions, Ink::Line(number));
    positions.iter().for_each(|marker_position| draw_marker(paper, *marker_position, number));
}

/// Half the width of a marker.
const MARKER: f64 = 4.0;

/// Four shapes in turn. Together with colour and dash they distinguish eight series.
fn draw_marker(paper: &mut Paper, (x, y): Position, number: usize) {
    let ink = Ink::Dot(number);
    let shifted = |across: f64, down: f64| (x + across * MARKER, y + down * MARKER);
    match number % 4 {
        0 => paper.circle((x, y), MARKER, ink),
        1 => paper.rect(shifted(-0.9, -0.9), shifted(0.9, 0.9), ink),
        2 => paper.area(&[shifted(0.0, -1.2), shifted(1.15, 0.9), shifted(-1.15, 0.9)], ink),
        _ => paper.area(&[shifted(0.0, -1.3), shifted(1.3, 0.0), shifted(0.0, 1.3), shifted(-1.3, 0.0)], ink),
    }
}

/// Writes the labels of points, above the axis. A label that would overlap another one is left out.
fn draw_labels(paper: &mut Paper, chart: &Lines, floor: f64, to_position: impl Fn((f64, f64)) -> Position) {
    let mut occupied: Vec<LabelBox> = Vec::new();
    for point in chart.series.iter().flat_map(|series| &series.points).filter(|point| !point.label.is_empty())
    {
        let (x, y) = to_position((point.x, point.y.value));
        let (width, distance) = (width_of(&point.label), MARKER + LINE / 2.0 + 1.0);
        let middle = if y + distance + LINE / 2.0 > floor { y - distance } else { y + distance };
        let candidate =
            LabelBox { from: (x, middle - LINE / 2.0), to: (x + width + 4.0, middle + LINE / 2.0) };
        if candidate.to.0 <= paper.width && !occupied.iter().any(|other| other.overlaps(&candidate)) {
            paper.label(&point.label, (x + 3.0, middle), Anchor::Start, Ink::Value);
            occupied.push(candidate);
        }
    }
}

/// A short piece of the series' line for the legend.
pub(super) fn swatch(paper: &mut Paper, number: usize) {
    paper.line((1.0, 7.0), (29.0, 7.0), Ink::Line(number));
    draw_marker(paper, (15.0, 7.0), number);
}
