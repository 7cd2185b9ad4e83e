//! A survey as one page that anybody can open: what exists, what it cost, which depth to use.
//!
//! **Data first, drawing after.** A [`Report`] is a list of [`Section`]s, a section a list of [`Block`]s: text, facts,
//! [`Table`]s, [`Figure`]s with the [`Chart`] as data, verdicts. Each section is made by a function of its own in
//! `sections` from what the analysis found; it decides what is said, never how it looks.
//!
//! **One file, the same bytes.** [`Report::html`] writes all of it as one HTML file: no script, nothing from elsewhere,
//! light and dark, on a phone and on paper. Every chart is drawn twice, for a wide and a narrow page, so that
//! letters stay readable; colours are style sheet classes. Under every figure stands its data as a table and as a
//! CSV link. The same survey, settings and seed make the same bytes: there is no clock and no chance in here.
//!
//! **All words are hostile.** Titles, server headers, host names and network names were written by strangers.
//! They pass [`plain`](text::plain), which makes control characters and direction marks visible, and the template
//! engine escapes what is left.
//!
//! This room reads no table and computes no statistics; numbers get their form from [`crate::records::units`].

pub mod advice;
mod block;
mod cell;
mod chart;
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
pub use contents::Findings;
pub use page::PageError;
pub use sections::groups::{GroupCurve, GroupCurves};
pub use standing::Banner;
pub use table::{Column, Form, Meaning, Table};

/// What is known of a survey, in the order in which it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Of the page.
    pub title: String,
    /// Which survey this is and when it ran.
    pub subtitle: String,
    /// What must be known before all else: that its Web is not the Internet, that it is partial.
    pub banners: Vec<Banner>,
    /// The headline numbers.
    pub facts: Vec<Fact>,
    /// In the order in which they stand.
    pub sections: Vec<Section>,
}
