use std::fmt;

use polars::prelude::{BooleanChunked, Int64Chunked, NamedFrom};
use polars::prelude::{
    ChunkedArray, Column, DataType, Float64Type, IntoColumn, NewChunkedArray, PlSmallStr, PolarsError,
    PolarsNumericType, PolarsResult, StringChunked, TimeUnit, TimeZone, UInt32Type, UInt64Type,
};

use crate::records::Timestamp;

/// The type of a column, independent of the tool that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8.
    Text,
    /// True or false.
    Boolean,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, unsigned.
    U64,
    /// 64-bit floating point.
    F64,
    /// Microseconds, UTC.
    Timestamp,
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Boolean => "boolean",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F64 => "f64",
            Self::Timestamp => "timestamp(µs, UTC)",
        })
    }
}

/// A Rust type that can be a column: how it is written and read.
///
/// `u16` is written as 32 bits: a narrower column saves nothing in a compressed file.
pub(in crate::records) trait ColumnValue: Sized {
    const TYPE: ColumnType;
    const OPTIONAL: bool;

    fn column<'a>(name: &str, cells: impl Iterator<Item = &'a Self>) -> Column
    where
        Self: 'a;

    /// # Errors
    /// If the column has another type, or holds a null or a number that the Rust type cannot represent.
    fn read(column: &Column) -> PolarsResult<Vec<Self>>;

    /// The cells of a column that is missing in a file of an older version; none if the column is required.
    fn absent(rows: usize) -> Option<Vec<Self>>;
}

/// A cell that is never null.
trait NonNullValue: Sized {
    const TYPE: ColumnType;

    fn column<'a>(name: &str, cells: impl Iterator<Item = Option<&'a Self>>) -> Column
    where
        Self: 'a;
    fn read(column: &Column) -> PolarsResult<Vec<Option<Self>>>;
}

impl<T: NonNullValue> ColumnValue for Option<T> {
    const TYPE: ColumnType = T::TYPE;
    const OPTIONAL: bool = true;

    fn column<'a>(name: &str, cells: impl Iterator<Item = &'a Self>) -> Column
    where
        Self: 'a,
    {
        T::column(name, cells.map(Option::as_ref))
    }

    fn read(column: &Column) -> PolarsResult<Vec<Self>> {
        T::read(column)
    }

    fn absent(rows: usize) -> Option<Vec<Self>> {
        Some(std::iter::repeat_with(|| None).take(rows).collect())
    }
}

macro_rules! never_null {
    ($($type:ty),+) => {$(
        impl ColumnValue for $type {
            const TYPE: ColumnType = <Self as NonNullValue>::TYPE;
            const OPTIONAL: bool = false;

            fn column<'a>(name: &str, cells: impl Iterator<Item = &'a Self>) -> Column {
                <Self as NonNullValue>::column(name, cells.map(Some))
            }

            fn read(column: &Column) -> PolarsResult<Vec<Self>> {
                let cells = <Self as NonNullValue>::read(column)?;
                cells.into_iter().map(|cell| cell.ok_or_else(|| mismatch(column, "a null"))).collect()
            }

            fn absent(_rows: usize) -> Option<Vec<Self>> {
                None
            }
        }
    )+};
}

never_null!(String, bool, u16, u32, u64, f64, Timestamp);

fn mismatch(column: &Column, found: &str) -> PolarsError {
    PolarsError::SchemaMismatch(format!("column '{}' holds {found}", column.name()).into())
}

fn numbers<T: PolarsNumericType>(name: &str, cells: impl Iterator<Item = Option<T::Native>>) -> Column
where
    ChunkedArray<T>: IntoColumn,
{
    ChunkedArray::<T>::from_iter_options(PlSmallStr::from_str(name), cells).into_column()
}

impl NonNullValue for String {
    const TYPE: ColumnType = ColumnType::Text;

    fn column<'a>(name: &str, cells: impl Iterator<Item = Option<&'a Self>>) -> Column {
        StringChunked::from_iter_options(
            PlSmallStr::from_str(name),
            cells.map(|cell| cell.map(String::as_str)),
        )
        .into_column()
    }

    fn read(column: &Column) -> PolarsResult<Vec<Option<Self>>> {
        Ok(column.str()?.iter().map(|cell| cell.map(str::to_owned)).collect())
    }
}

impl NonNullValue for bool {
    const TYPE: ColumnType = ColumnType::Boolean;

    fn column<'a>(name: &str, cells: impl Iterator<Item = Option<&'a Self>>) -> Column {
        let cells: Vec<Option<bool>> = cells.map(Option::<&bool>::copied).collect();
        BooleanChunked::new(PlSmallStr::from_str(name), cells).into_column()
    }

    fn read(column: &Column) -> PolarsResult<Vec<Option<Self>>> {
        Ok(column.bool()?.iter().collect())
    }
}

impl NonNullValue for u16 {
    const TYPE: ColumnType = ColumnType::U32;

    fn column<'a>(name: &str, cells: impl Iterator<Item = Option<&'a Self>>) -> Column {
        numbers::<UInt32Type>(name, cells.map(|cell| cell.map(|&number| u32::from(number))))
    }

    fn read(column: &Column) -> PolarsResult<Vec<Option<Self>>> {
        let narrow = |number: u32| u16::try_from(number).map_err(|_| mismatch(column, &number.to_string()));
        column.u32()?.iter().map(|cell| cell.map(narrow).transpose()).collect()
    }
}

impl NonNullValue for u32 {
    const TYPE: ColumnType = ColumnType::U32;

    fn column<'a>(name: &str, cells: impl Iterator<Item = Option<&'a Self>>) -> Column {
        numbers::<UInt32Type>(name, cells.map(Option::<&u32>::copied))
    }

    fn read(column: &Column) -> PolarsResult<Vec<Option<Self>>> {
        Ok(column.u32()?.iter().collect())
    }
}

impl NonNullValue for u64 {
    const TYPE: ColumnType = ColumnType::U64;

    fn column<'a>(name: &str, cells: impl Iterator<Item = Option<&'a Self>>) -> Column {
        numbers::<UInt64Type>(name, cells.map(Option::<&u64>::copied))
    }

    fn read(column: &Column) -> PolarsResult<Vec<Option<Self>>> {
        Ok(column.u64()?.iter().collect())
    }
}

impl NonNullValue for f64 {
    const TYPE: ColumnType = ColumnType::F64;

    fn column<'a>(name: &str, cells: impl Iterator<Item = Option<&'a Self>>) -> Column {
        numbers::<Float64Type>(name, cells.map(Option::<&f64>::copied))
    }

    fn read(column: &Column) -> PolarsResult<Vec<Option<Self>>> {
        Ok(column.f64()?.iter().collect())
    }
}

impl NonNullValue for Timestamp {
    const TYPE: ColumnType = ColumnType::Timestamp;

    fn column<'a>(name: &str, cells: impl Iterator<Item = Option<&'a Self>>) -> Column {
        Int64Chunked::from_iter_options(PlSmallStr::from_str(name), cells.map(|cell| cell.map(|time| time.0)))
            .into_datetime(TimeUnit::Microseconds, Some(TimeZone::UTC))
            .into_column()
    }

    fn read(column: &Column) -> PolarsResult<Vec<Option<Self>>> {
        if *column.dtype() != DataType::Datetime(TimeUnit::Microseconds, Some(TimeZone::UTC)) {
            return Err(mismatch(column, &format!("{} instead of microseconds in UTC", column.dtype())));
        }
        Ok(column.datetime()?.physical().iter().map(|cell| cell.map(Timestamp)).collect())
    }
}
