//! How a row type becomes columns: the macro that declares a table, its cells, and lines of CSV.

pub(super) mod cell;
pub(super) mod csv_line;
pub(super) mod term;
pub(super) mod timestamp;

use polars::prelude::{Column, DataFrame, PolarsError, PolarsResult};

use super::ColumnType;
use cell::ColumnValue;

/// A row of a table: its columns, and the conversion between rows and columns.
pub trait Row: Sized {
    /// The name of the table and of its folder.
    const TABLE: &'static str;
    /// What a row stands for.
    const MEANING: &'static str;
    /// In the order of the file.
    const COLUMNS: &'static [ColumnDoc];

    /// The rows as columns. Without rows, the columns have a type and no cells.
    ///
    /// # Errors
    /// Never for rows that fit into memory; polars requires the `Result`.
    fn frame(rows: &[Self]) -> PolarsResult<DataFrame>;

    /// The rows of a table that was read with all its columns. A column that an older version did not write
    /// is null.
    ///
    /// # Errors
    /// Names the column that is missing or differs from the dictionary.
    fn rows(frame: &DataFrame) -> PolarsResult<Vec<Self>>;
}

/// One column of a table, for the data dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDoc {
    /// The name of the column.
    pub name: &'static str,
    /// The type of its cells.
    pub column_type: ColumnType,
    /// Whether a cell may be null.
    pub nullable: bool,
    /// Empty where the column counts or names things.
    pub unit: &'static str,
    /// A sentence for readers.
    pub meaning: &'static str,
    /// A cell as text.
    pub example: &'static str,
    /// The version of the program that first wrote the column.
    pub since: &'static str,
}

pub(super) fn read_column<C: ColumnValue>(frame: &DataFrame, name: &str) -> PolarsResult<Vec<C>> {
    match frame.column(name) {
        Ok(column) => C::read(column),
        Err(missing) => C::absent(frame.height()).ok_or(missing),
    }
}

pub(super) fn write_column<'a, C: ColumnValue + 'a>(
    name: &str,
    cells: impl Iterator<Item = &'a C>,
) -> Column {
    C::column(name, cells)
}

/// The cell of the next row. The columns of a frame have the same length.
pub(super) fn next_cell<C>(cells: &mut impl Iterator<Item = C>) -> PolarsResult<C> {
    cells.next().ok_or_else(|| PolarsError::ShapeMismatch("a column is shorter than its table".into()))
}

/// Several columns in one field of a row, declared by a closed list of words.
pub(super) trait ColumnGroup: Sized {
    /// In the order of the file.
    const COLUMNS: &'static [ColumnDoc];

    fn write<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Vec<Column>
    where
        Self: 'a;

    /// # Errors
    /// Names the column that is missing or differs from the dictionary.
    fn read(frame: &DataFrame) -> PolarsResult<Vec<Self>>;
}

/// The number of columns in several lists.
pub(super) const fn count(lists: &[&[ColumnDoc]]) -> usize {
    let (mut list, mut columns) = (0, 0);
    while list < lists.len() {
        columns += lists[list].len();
        list += 1;
    }
    columns
}

/// Joins several lists into one of [`count`] columns. The first list is not empty.
pub(super) const fn joined<const N: usize>(lists: &[&[ColumnDoc]]) -> [ColumnDoc; N] {
    let mut all = [lists[0][0]; N];
    let (mut list, mut next) = (0, 0);
    while list < lists.len() {
        let mut column = 0;
        while column < lists[list].len() {
            all[next] = lists[list][column];
            (next, column) = (next + 1, column + 1);
        }
        list += 1;
    }
    all
}

/// Declares a table once: the struct of its rows, its columns and their dictionary.
///
/// The doc comment of a field is the meaning of the column. A field behind `with` holds a [`ColumnGroup`].
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $row:ident in $table:literal;
        $($(#[doc = $meaning:literal])+ $field:ident: $type:ty, $unit:literal, $example:literal, $since:literal;)+
        $(with $group:ident: $group_type:ty, $about_group:literal;)?
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $row {
            $($(#[doc = $meaning])+ pub $field: $type,)+
            $(#[doc = $about_group] pub $group: $group_type,)?
        }

        impl $crate::records::Row for $row {
            const TABLE: &'static str = $table;
            const MEANING: &'static str = concat!($($about),+).trim_ascii();
            const COLUMNS: &'static [$crate::records::ColumnDoc] = {
                const LISTS: &[&[$crate::records::ColumnDoc]] = &[
                    &[$($crate::records::ColumnDoc {
                        name: stringify!($field),
                        column_type: <$type as $crate::records::table::cell::ColumnValue>::TYPE,
                        nullable: <$type as $crate::records::table::cell::ColumnValue>::OPTIONAL,
                        unit: $unit,
                        meaning: concat!($($meaning),+).trim_ascii(),
                        example: $example,
                        since: $since,
                    },)+],
                    $(<$group_type as $crate::records::table::ColumnGroup>::COLUMNS,)?
                ];
                const ALL: [$crate::records::ColumnDoc; $crate::records::table::count(LISTS)] =
                    $crate::records::table::joined(LISTS);
                &ALL
            };

            fn frame(rows: &[Self]) -> polars::prelude::PolarsResult<polars::prelude::DataFrame> {
                #[allow(unused_mut)] // Most tables have no group.
                let mut columns = vec![
                    $($crate::records::table::write_column(
                        stringify!($field),
                        rows.iter().map(|row| &row.$field),
                    ),)+
                ];
                $(columns.extend(<$group_type as $crate::records::table::ColumnGroup>::write(
                    rows.iter().map(|row| &row.$group),
                ));)?
                polars::prelude::DataFrame::new(rows.len(), columns)
            }

            fn rows(frame: &polars::prelude::DataFrame) -> polars::prelude::PolarsResult<Vec<Self>> {
                $(let mut $field =
                    $crate::records::table::read_column::<$type>(frame, stringify!($field))?.into_iter();)+
                $(let mut $group =
                    <$group_type as $crate::records::table::ColumnGroup>::read(frame)?.into_iter();)?
                (0..frame.height())
                    .map(|_| {
                        Ok(Self {
                            $($field: $crate::records::table::next_cell(&mut $field)?,)+
                            $($group: $crate::records::table::next_cell(&mut $group)?,)?
                        })
                    })
                    .collect()
            }
        }
    };
}

pub(super) use table;
