//! A survey as a single page that anybody can open: what exists, what it cost, which depth to use.
//!
//! **Data first, drawing after.** A [`Report`] is a list of [`Section`]s, and a section is a list of
//! [`Block`]s: text, facts, [`Table`]s, [`Figure`]s with the [`Chart`] as data, verdicts. Each section is
//! built by its own function in `sections` from the results of the analysis. The function decides what the
//! section says, never how it looks.
//!
//! **One file, the same bytes.** [`Report::html`] writes everything as one HTML file: no script, no external
//! resources, for light and dark mode, for phones and paper. Every chart is drawn twice, for a wide and a
//! narrow page, so that its text stays readable; colours are style sheet classes. Below every figure is its
//! data as a table and as a CSV link. The same survey, settings and seed give the same bytes: this room uses
//! no clock and no randomness.
//!
//! **All text is untrusted.** Titles, server headers, host names and network names come from outside. They
//! pass [`plain`](text::plain), which makes control characters and direction marks visible, and the template
//! engine escapes the result.
//!
//! This room reads no table and computes no statistics. Numbers are formatted by [`crate::records::units`].

pub mod advice;
mod block;
mod cell;
mod chart;
mod compared;
mod contents;
mod draw;
mod page;
mod sections;
mod standing;
mod table;
pub mod text;

pub use crate::records::units::percent;
pub use block::{Block, Fact, Section, Verdicts};
pub use cell::Cell;
pub use chart::{
    Axis, Bar, Bars, BoxPlot, Boxes, Chart, Columns, Figure, Lines, Mark, Matrix, Part, Point, Scale, Series,
};
pub use compared::certain_changes;
pub use contents::Findings;
pub use page::PageError;
pub use sections::groups::{GroupCurve, GroupCurves};
pub use standing::Banner;
pub use table::{Column, Form, Meaning, Table};

/// A report on a survey, in reading order.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The title of the page.
    pub title: String,
    /// The identity and the dates of the survey.
    pub subtitle: String,
    /// Warnings that readers must see first: that the Web is not the Internet, that the survey is partial.
    pub banners: Vec<Banner>,
    /// The headline numbers.
    pub facts: Vec<Fact>,
    /// In the order of the page.
    pub sections: Vec<Section>,
}
