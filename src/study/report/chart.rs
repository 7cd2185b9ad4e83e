use super::{Meaning, Table};
use crate::analysis::Estimate;

/// A chart with everything needed to understand it without seeing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The anchor, with the rules of a table's `id`. The data table has the id `ID-data`.
    pub id: String,
    /// What the chart shows; the page numbers figures itself.
    pub caption: String,
    /// The message of the chart in words with numbers, for readers who cannot see it.
    pub alt: String,
    /// The chart as data.
    pub chart: Chart,
    /// All values in the chart, and related ones.
    pub data: Table,
}

/// A chart as data.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// Curves over two axes.
    Lines(Lines),
    /// Horizontal bars.
    Bars(Bars),
    /// Stacked columns.
    Columns(Columns),
    /// Shaded cells.
    Matrix(Matrix),
    /// Percentiles as boxes.
    Boxes(Boxes),
}

/// Lines over a number: coverage against depth, shares below a response time. Colour, dash and marker
/// distinguish eight series at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub series: Vec<Series>,
    /// A vertical line: "chosen: depth 8".
    pub mark: Option<Mark>,
}

/// Horizontal bars of categories, the longest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The horizontal axis, from 0.
    pub axis: Axis,
    /// From the top down.
    pub bars: Vec<Bar>,
}

/// Vertical columns of stacked parts, in the order given: site trees by deepest level, complete and cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// The title of the horizontal axis.
    pub x: String,
    /// The vertical axis, from 0.
    pub y: Axis,
    /// The parts of every column, from the bottom up.
    pub parts: Vec<Part>,
    /// The name of each column and the values of its parts.
    pub columns: Vec<(String, Vec<f64>)>,
    /// The index of the chosen column.
    pub mark: Option<usize>,
}

/// A heat map: rows against columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The title of the rows.
    pub row_title: String,
    /// The title of the columns.
    pub column_title: String,
    /// The names of the rows, from the top down.
    pub rows: Vec<String>,
    /// The names of the columns, from left to right.
    pub columns: Vec<String>,
    /// One list of cells per row. Darker means more, on a scale from 0 to the largest value. None is left
    /// blank.
    pub cells: Vec<Vec<Option<f64>>>,
    /// The scale of the shades.
    pub scale: Scale,
}

/// Distributions side by side, each as a box with whiskers.
#[derive(Clone, Debug, PartialEq)]
pub struct Boxes {
    /// The horizontal axis.
    pub axis: Axis,
    /// From the top down.
    pub boxes: Vec<BoxPlot>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The title, with the unit.
    pub title: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The axis extends at least to this value.
    pub reach: f64,
}

/// How values are placed on an axis and how its ticks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Whole levels, each with a tick where there is space.
    Depth,
    /// From 0 to 1, written in percent.
    Share,
    /// From 0 up, written as 10 k, 2 M and so on.
    Count,
    /// Numbers from 0 up, fractions included.
    Number,
    /// Milliseconds on a logarithmic scale.
    LogMilliseconds,
    /// Numbers above 0 on a logarithmic scale; 0 cannot be placed on it.
    LogNumber,
}

/// A line of a few points, each with a marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// In the order of `x`.
    pub points: Vec<Point>,
}

/// A point of a line. The band around the line spans from `low` to `high`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// The horizontal position.
    pub x: f64,
    /// The vertical position, with its interval.
    pub y: Estimate,
    /// The text beside the point; empty at most points.
    pub label: String,
}

/// A vertical line with a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The horizontal position.
    pub x: f64,
    /// The text beside the line.
    pub label: String,
}

/// A part of the columns, as the legend lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name in the legend.
    pub name: String,
    /// The meaning of the name, shown as a tooltip; may be empty.
    pub meaning: &'static str,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The text before the bar.
    pub label: String,
    /// The meaning of the label, shown as a tooltip; may be empty.
    pub meaning: &'static str,
    /// The length of the bar on the axis.
    pub value: f64,
    /// The text at the end of the bar: the value as the table shows it.
    pub value_text: String,
    /// Whether the bar sums up the rest; such a bar is last, whatever its length.
    pub is_rest: bool,
}

/// A distribution: 5th, 25th, 50th, 75th and 95th percentile.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// The text before the box.
    pub label: String,
    /// The 5th, 25th, 50th, 75th and 95th percentile, on the axis.
    pub percentiles: [f64; 5],
}

impl Figure {
    /// A figure. Its data table takes the id and the caption of the figure.
    #[must_use]
    pub fn new(
        id: &str,
        caption: impl Into<String>,
        alt: impl Into<String>,
        chart: impl Into<Chart>,
        data: Table,
    ) -> Self {
        let caption = caption.into();
        let data = Table { id: format!("{id}-data"), caption: caption.clone(), ..data };
        Self { id: id.to_owned(), caption, alt: alt.into(), chart: chart.into(), data }
    }
}

impl Figure {
    /// Adds meanings to the words in the labels, the legend and the data, where they have one.
    #[must_use]
    pub fn explained(mut self, meaning: Meaning) -> Self {
        match &mut self.chart {
            Chart::Bars(bars) => {
                bars.bars.iter_mut().for_each(|bar| bar.meaning = meaning(&bar.label).unwrap_or(bar.meaning));
            }
            Chart::Columns(columns) => {
                columns
                    .parts
                    .iter_mut()
                    .for_each(|part| part.meaning = meaning(&part.name).unwrap_or(part.meaning));
            }
            Chart::Lines(_) | Chart::Matrix(_) | Chart::Boxes(_) => {}
        }
        self.data = self.data.explained(meaning);
        self
    }
}

impl From<&str> for Part {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), meaning: "" }
    }
}

impl Axis {
    /// An axis with this title.
    #[must_use]
    pub fn new(title: &str, scale: Scale) -> Self {
        Self { title: title.to_owned(), scale, reach: 0.0 }
    }

    /// Makes the axis extend at least to this value.
    #[must_use]
    pub fn reaching(mut self, reach: f64) -> Self {
        self.reach = reach;
        self
    }
}

impl Series {
    /// A curve through these points.
    #[must_use]
    pub fn new(name: &str, points: Vec<Point>) -> Self {
        Self { name: name.to_owned(), points }
    }
}

impl Point {
    /// A point with an exact value.
    #[must_use]
    pub fn exact(x: f64, y: f64) -> Self {
        Self::estimated(x, Estimate::exact(y))
    }

    /// A point with its interval.
    #[must_use]
    pub fn estimated(x: f64, y: Estimate) -> Self {
        Self { x, y, label: String::new() }
    }
}

impl Bars {
    /// Sorts the bars: the longest first, bars of equal length by name, the bar that sums up the rest last.
    #[must_use]
    pub fn new(axis: Axis, mut bars: Vec<Bar>) -> Self {
        bars.sort_by(|a, b| {
            (a.is_rest.cmp(&b.is_rest)).then(b.value.total_cmp(&a.value)).then_with(|| a.label.cmp(&b.label))
        });
        Self { axis, bars }
    }
}

impl Bar {
    /// A bar; `value_text` is the text at its end.
    #[must_use]
    pub fn new(label: impl Into<String>, value: f64, value_text: impl Into<String>) -> Self {
        Self { label: label.into(), meaning: "", value, value_text: value_text.into(), is_rest: false }
    }

    /// Marks the bar as the one that sums up the rest.
    #[must_use]
    pub fn as_remainder(mut self) -> Self {
        self.is_rest = true;
        self
    }
}

impl From<Lines> for Chart {
    fn from(chart: Lines) -> Self {
        Self::Lines(chart)
    }
}

impl From<Bars> for Chart {
    fn from(chart: Bars) -> Self {
        Self::Bars(chart)
    }
}

impl From<Columns> for Chart {
    fn from(chart: Columns) -> Self {
        Self::Columns(chart)
    }
}

impl From<Matrix> for Chart {
    fn from(chart: Matrix) -> Self {
        Self::Matrix(chart)
    }
}

impl From<Boxes> for Chart {
    fn from(chart: Boxes) -> Self {
        Self::Boxes(chart)
    }
}
