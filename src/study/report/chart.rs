use super::{Meaning, Table};
use crate::analysis::Estimate;

/// A chart with what is needed to understand it without seeing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// As that of a table; its data table has the id `ID-data`.
    pub id: String,
    /// What is drawn; the page numbers figures by itself.
    pub caption: String,
    /// What the chart shows, in words with numbers, for those who do not see it.
    pub alt: String,
    /// What is drawn.
    pub chart: Chart,
    /// All that is drawn, and what belongs to it.
    pub data: Table,
}

/// What is drawn, as data.
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

/// Lines over a number: coverage against depth, shares below a response time. Eight series at most are
/// told apart, by colour, dash and marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Each a curve.
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

/// Upright columns of parts, in the order given: site trees by deepest level, complete and cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// What the columns stand for.
    pub x: String,
    /// The vertical axis, from 0.
    pub y: Axis,
    /// The parts of every column, from the bottom up.
    pub parts: Vec<Part>,
    /// The name of each column and its parts' values.
    pub columns: Vec<(String, Vec<f64>)>,
    /// Which column is the chosen one.
    pub mark: Option<usize>,
}

/// A heat map: rows against columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Of the rows.
    pub row_title: String,
    /// Of the columns.
    pub column_title: String,
    /// Names, from the top down.
    pub rows: Vec<String>,
    /// Names, from left to right.
    pub columns: Vec<String>,
    /// A row of cells for every row; darker is more, on a scale from 0 to the greatest; none is left blank.
    pub cells: Vec<Vec<Option<f64>>>,
    /// Of the shades.
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

/// An axis with its title, which names the unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// With the unit.
    pub title: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The axis reaches so far at least, whatever the values are.
    pub reach: f64,
}

/// How values lie on an axis and how its ticks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Whole levels, each with a tick where there is room.
    Depth,
    /// From 0 to 1, written in percent.
    Share,
    /// From 0 up, written as 10 k, 2 M and so on.
    Count,
    /// Numbers from 0 up, parts of one too.
    Number,
    /// Milliseconds, each power of ten as far from the last.
    LogMilliseconds,
    /// Numbers above 0, each power of ten as far from the last; what is 0 has no place on it.
    LogNumber,
}

/// A line of a few points, each with a marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// In the order of x.
    pub points: Vec<Point>,
}

/// A point of a line; the band around the line spans from `low` to `high`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// On the horizontal axis.
    pub x: f64,
    /// On the vertical axis, with its interval.
    pub y: Estimate,
    /// Written beside it; empty at most points.
    pub label: String,
}

/// A vertical line with a word.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// On the horizontal axis.
    pub x: f64,
    /// What stands beside it.
    pub label: String,
}

/// A part of columns, in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// What the name means, where a pointer rests on it; may be empty.
    pub meaning: &'static str,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What stands before it.
    pub label: String,
    /// What the label means, where a pointer rests on it; may be empty.
    pub meaning: &'static str,
    /// Its length on the axis.
    pub value: f64,
    /// Written at its end: the value as the table shows it.
    pub shown: String,
    /// What gathers the rest stands last, whatever its length.
    pub is_rest: bool,
}

/// A distribution: 5th, 25th, 50th, 75th and 95th percentile.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// What stands before it.
    pub label: String,
    /// The 5th, 25th, 50th, 75th and 95th, on the axis.
    pub percentiles: [f64; 5],
}

impl Figure {
    /// A figure; the table gets its id and caption from it.
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
    /// The figure with the meaning of the words in its labels, its legend and its data, as far as they have one.
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

    /// The axis that reaches so far at least.
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
    /// A point that is known exactly.
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
    /// Bars, sorted: the longest first, what gathers the rest last, equal ones by name.
    #[must_use]
    pub fn new(axis: Axis, mut bars: Vec<Bar>) -> Self {
        bars.sort_by(|a, b| {
            (a.is_rest.cmp(&b.is_rest)).then(b.value.total_cmp(&a.value)).then_with(|| a.label.cmp(&b.label))
        });
        Self { axis, bars }
    }
}

impl Bar {
    /// A bar; `shown` is what stands at its end.
    #[must_use]
    pub fn new(label: impl Into<String>, value: f64, shown: impl Into<String>) -> Self {
        Self { label: label.into(), meaning: "", value, shown: shown.into(), is_rest: false }
    }

    /// The bar of all that has no bar of its own.
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
