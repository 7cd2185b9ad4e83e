//! What a survey keeps: tables in Parquet, a dictionary of their columns, and a manifest.
//!
//! Rows come from the survey room as plain structs, one type a table: [`ExchangeRow`],
//! [`LinkRow`], [`SiteRow`], [`LevelRow`] and [`ServerRow`]; and, for surveys that are to be walked
//! again, [`PageLinkRow`] and [`RobotsRow`], whose folders exist only where [`Tables::keep_pages`]
//! made them. Each is declared once; the same declaration writes the column, reads it back and
//! documents it, so that the [data dictionary](dictionary_markdown) cannot say what the files do not.
//!
//! The life of a row: when a site ends, the survey gathers its rows with those of other sites
//! into [`SegmentRows`] and gives them to [`Tables::write`] under the next segment number. Every
//! table gets one file, `DIR/tables/NAME/000012.parquet`: written under a hidden name, flushed
//! to the disk, then renamed, so that a reader sees a whole file or none. Only then does the
//! survey note the number in its own state. After a crash [`Tables::discard_after`] removes what
//! was written but never noted, and the survey writes it again. Segments are never changed
//! afterwards, except that [`Tables::compact`] may join them when the survey is over. The
//! `servers` table is an aggregate and is rewritten whole. [`CurveRow`]s are drawn from the others when the survey is
//! over, by who can draw them.
//!
//! Readers go segment by segment ([`read_frames`]) or row group by row group ([`read_table`], and [`row_groups`] on several
//! threads), so that memory is bounded by the size of a segment and not by the size of the survey. The [`Manifest`] says which survey
//! this is, with which settings it ran and how it ended. [`Geo`] tells the country and the
//! network of an address from the user's own databases.
//!
//! This room never decides what is recorded, never reads the clock and never opens a socket.

mod dictionary;
pub mod durable;
mod error;
mod exchange_counts;
mod files;
mod geo;
mod manifest;
mod opt_outs;
mod rows;
mod site_totals;
mod surveyed_web;
mod table;
mod unlevelled;
mod visible;

#[cfg(test)]
mod geo_tests;
#[cfg(test)]
mod tables_tests;

pub use crate::promises::units;
pub use crate::promises::{Judgement, Verdict};
pub use dictionary::{TableDoc, dictionary, dictionary_markdown};
pub use durable::{replace_with, sync_folder};
pub use error::TablesError;
pub use exchange_counts::{ExchangeCounts, Unchanged, error_name, exchange_counts};
pub use files::curves::{CurveRow, read_curves, write_curves};
pub use files::read::{RowGroup, read_frames, read_pieces, read_table, row_count, row_counts, row_groups};
pub use files::servers_file::ServersFile;
pub use files::tables::{Segments, Tables};
pub use geo::place::GeoLocation;
pub use geo::{Geo, GeoDatabase, GeoError};
pub use manifest::{FORMAT, Manifest, ManifestError, RatesUsed, SurveyState, TableCount};
pub use opt_outs::{OptOutRecord, read_opt_outs, write_opt_outs};
pub use rows::exchanges::{ExchangeRow, milliseconds};
pub use rows::levels::LevelRow;
pub use rows::links::{LinkRow, PageLinkRow, RobotsRow};
pub use rows::other_users::{AddedDelay, OtherUsers, THIN};
pub use rows::segment::SegmentRows;
pub use rows::servers::ServerRow;
pub use rows::sites::SiteRow;
pub use site_totals::{SiteTotals, site_totals};
pub use surveyed_web::SurveyedWeb;
pub use table::cell::ColumnType;
pub use table::csv_line::{csv_line, disarmed};
pub use table::term::Term;
pub use table::timestamp::{Timestamp, TimestampError};
pub use table::{ColumnDoc, Row};
pub use unlevelled::{Cost, Unlevelled};
pub use visible::{visible, visible_json, visible_lines};
