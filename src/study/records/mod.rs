//! The data of a survey: tables in Parquet, a dictionary of their columns, and a manifest.
//!
//! Rows come from the survey room as plain structs, one type per table: [`ExchangeRow`], [`LinkRow`],
//! [`SiteRow`], [`LevelRow`] and [`ServerRow`]. Surveys that are to be replayed add [`PageLinkRow`] and
//! [`RobotsRow`], whose folders exist only where [`Tables::keep_pages`] created them. Each row type is
//! declared once. The same declaration writes the column, reads it back and documents it, so the [data
//! dictionary](dictionary_markdown) always agrees with the files.
//!
//! The life of a row: when a site tree ends, the survey collects its rows with those of other trees into
//! [`SegmentRows`] and passes them to [`Tables::write`] under the next segment number. Every table gets one
//! file, `DIR/tables/NAME/000012.parquet`. The file is written under a hidden name, flushed to the disk, then
//! renamed, so a reader sees a whole file or none. Only then does the survey record the number in its own
//! state. After a crash [`Tables::discard_after`] removes segments that were written but never recorded, and
//! the survey writes them again. Segments are never changed afterwards, except that [`Tables::compact`] may
//! join them when the survey is finished. The `servers` table is an aggregate and is rewritten as a whole.
//! [`CurveRow`]s and [`HostRow`]s are computed from the other tables when the survey is finished, outside this
//! room, and written with [`WholeTable`].
//!
//! Readers go segment by segment ([`read_frames`]) or row group by row group ([`read_table`], and
//! [`row_groups`] on several threads), so memory is bounded by the size of a segment and not by the size of
//! the survey. The [`Manifest`] says which survey this is, with which settings it ran and how it ended.
//! [`Geo`] looks up the country and the network of an address in the user's own databases.
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
pub use files::curves::{CurveRow, read_curves};
pub use files::read::{RowGroup, read_frames, read_pieces, read_table, row_count, row_counts, row_groups};
pub use files::tables::{Segments, Tables};
pub use files::whole_table::{COMPUTED, WholeTable, write_table};
pub use geo::place::GeoLocation;
pub use geo::{Geo, GeoDatabase, GeoError};
pub use manifest::{
    BudgetUsed, FORMAT, FURTHER_REQUESTS, LeftRecord, Manifest, ManifestError, RatesUsed, RoundRecord,
    SurveyState, TableCount,
};
pub use opt_outs::{OptOutRecord, read_opt_outs, write_opt_outs};
pub use rows::changes::{ChangeRow, ChangedFact, Presence};
pub use rows::exchanges::{ExchangeRow, milliseconds};
pub use rows::hosts::HostRow;
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
