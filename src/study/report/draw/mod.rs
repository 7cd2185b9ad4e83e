//! Charts as SVG inside the HTML page. This room places shapes and text; the style sheet of the page sets the
//! colours.

mod bars;
mod boxes;
mod columns;
mod frame;
mod ink;
mod lines;
mod matrix;
mod paper;
mod span;

use super::{Chart, Part};
pub(super) use paper::Drawing;
use paper::Paper;

/// The page width for which a chart is drawn. Letters have the same size in both; the style sheet shows the
/// drawing that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageWidth {
    /// A desktop screen or a sheet of paper.
    Wide,
    /// A phone.
    Narrow,
}

impl PageWidth {
    pub(super) const ALL: [Self; 2] = [Self::Wide, Self::Narrow];

    /// The width in CSS pixels: the text column of a wide page, or a phone of 360 pixels less its margins.
    fn width(self) -> f64 {
        match self {
            Self::Wide => 720.0,
            Self::Narrow => 328.0,
        }
    }

    /// The height of a chart with two axes, in CSS pixels.
    fn height(self) -> f64 {
        match self {
            Self::Wide => 360.0,
            Self::Narrow => 280.0,
        }
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }
}

/// Draws a chart.
pub(super) fn draw(chart: &Chart, page_width: PageWidth) -> Drawing {
    match chart {
        Chart::Lines(lines) => lines::draw(lines, page_width),
        Chart::Bars(bars) => bars::draw(bars, page_width),
        Chart::Columns(columns) => columns::draw(columns, page_width),
        Chart::Matrix(matrix) => matrix::draw(matrix, page_width),
        Chart::Boxes(boxes) => boxes::draw(boxes, page_width),
    }
}

/// The legend of a chart: the name of each part and its swatch. Empty if there is only one part.
pub(super) fn legend(chart: &Chart) -> Vec<(Part, Swatch)> {
    let legend: Vec<(Part, Swatch)> = match chart {
        Chart::Lines(lines) => {
            let names = lines.series.iter().map(|series| Part::from(series.name.as_str()));
            names.enumerate().map(|(number, name)| (name, Swatch::Line(number))).collect()
        }
        Chart::Columns(columns) => {
            let parts = columns.parts.iter().cloned();
            parts.enumerate().map(|(number, part)| (part, Swatch::Part(number))).collect()
        }
        Chart::Bars(_) | Chart::Matrix(_) | Chart::Boxes(_) => Vec::new(),
    };
    if legend.len() > 1 { legend } else { Vec::new() }
}

/// The small picture beside a name in the legend.
#[derive(Clone, Copy, Debug)]
pub(super) enum Swatch {
    /// The line of the series with this number.
    Line(usize),
    /// The colour of the part with this number.
    Part(usize),
}

impl Swatch {
    pub(super) fn draw(self) -> Drawing {
        Paper::drawn(30.0, 14.0, |paper| match self {
            Self::Line(number) => lines::swatch(paper, number),
            Self::Part(number) => paper.rect((8.0, 1.0), (22.0, 13.0), ink::Ink::Part(number)),
        })
    }
}
