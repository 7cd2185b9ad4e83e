//! The files of the tables: where they are, and how they are written, joined and read.

pub(super) mod compact;
pub(super) mod curves;
pub(super) mod layout;
pub(super) mod read;
pub(super) mod table_file;
pub(super) mod tables;
pub(super) mod whole_table;
