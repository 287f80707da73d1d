//! Rows of results, and the conversion of their columns to types.
//!
//! The caller of a statement gives the type of its rows, as in `transaction.query::<(HostId, String, Option<Timestamp>)>(..)`. Columns are read from left
//! to right. An unexpected null, another type, or a wrong number of columns is an error. None of them becomes 0 or an empty text.

use hub_api::timestamp::Timestamp;

use super::error::{ColumnError, DatabaseError};
use super::value::SqlValue;

/// A row of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub(super) Vec<SqlValue>);

impl Row {
    /// The values of the columns, for callers that do not know the types of the columns.
    pub fn values(&self) -> &[SqlValue] {
        &self.0
    }

    /// Reads all columns.
    ///
    /// # Errors
    /// The value of a column does not fit the type, or the number of columns differs.
    pub fn read<T: FromRow>(self) -> Result<T, ColumnError> {
        let mut columns = Columns { values: self.0.into_iter(), number: 0 };
        let read = T::from_row(&mut columns)?;
        match columns.values.next() {
            Some(value) => Err(columns.error("no column", value.describe())),
            None => Ok(read),
        }
    }
}

/// Reads the rows of a statement.
pub(super) fn read_all<T: FromRow>(rows: Vec<Row>, statement: &str) -> Result<Vec<T>, DatabaseError> {
    let rows = rows.into_iter().map(Row::read).collect::<Result<_, _>>();
    rows.map_err(|column| DatabaseError::Column { column, statement: statement.to_owned() })
}

/// The columns of a row that are not read yet.
#[derive(Debug)]
pub struct Columns {
    values: std::vec::IntoIter<SqlValue>,
    /// The column that was read last, counted from 1.
    number: usize,
}

impl Columns {
    /// Reads the next column, or the next columns of a type that has several.
    ///
    /// # Errors
    /// The value of a column does not fit the type, or a column is missing.
    pub fn take<T: FromRow>(&mut self) -> Result<T, ColumnError> {
        T::from_row(self)
    }

    /// Skips columns whose values have no meaning in this row.
    ///
    /// # Errors
    /// One of the columns is missing.
    pub fn skip(&mut self, count: usize) -> Result<(), ColumnError> {
        for _ in 0..count {
            self.next("a column")?;
        }
        Ok(())
    }

    fn next(&mut self, expected: &'static str) -> Result<SqlValue, ColumnError> {
        self.number += 1;
        self.values.next().ok_or(ColumnError { column: self.number, expected, found: "no column" })
    }

    fn column<T: FromColumn>(&mut self) -> Result<T, ColumnError> {
        let value = self.next(T::EXPECTED)?;
        let found = value.describe();
        T::from_value(value).ok_or(ColumnError { column: self.number, expected: T::EXPECTED, found })
    }

    fn error(&self, expected: &'static str, found: &'static str) -> ColumnError {
        ColumnError { column: self.number + 1, expected, found }
    }
}

/// A type that one column is read as.
pub trait FromColumn: Sized {
    /// The name of the expected type, for errors.
    const EXPECTED: &'static str;

    /// Converts a value; none if it has another type.
    fn from_value(value: SqlValue) -> Option<Self>;
}

impl FromColumn for i64 {
    const EXPECTED: &'static str = "an integer";

    fn from_value(value: SqlValue) -> Option<Self> {
        match value {
            SqlValue::Int(number) => number,
            _ => None,
        }
    }
}

impl FromColumn for usize {
    const EXPECTED: &'static str = "an integer from 0 on";

    fn from_value(value: SqlValue) -> Option<Self> {
        i64::from_value(value).and_then(|number| number.try_into().ok())
    }
}

impl FromColumn for bool {
    const EXPECTED: &'static str = "0 or 1";

    fn from_value(value: SqlValue) -> Option<Self> {
        match i64::from_value(value)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl FromColumn for Timestamp {
    const EXPECTED: &'static str = "a time in milliseconds";

    fn from_value(value: SqlValue) -> Option<Self> {
        i64::from_value(value).map(Self::from_millis)
    }
}

impl FromColumn for String {
    const EXPECTED: &'static str = "a text";

    fn from_value(value: SqlValue) -> Option<Self> {
        match value {
            SqlValue::Text(text) => text,
            _ => None,
        }
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_value(value: SqlValue) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::from_value(value).map(Some) }
    }
}

/// A type that the columns of a row are read as, from left to right.
pub trait FromRow: Sized {
    /// Reads the columns of the type, and no others.
    ///
    /// # Errors
    /// The value of a column does not fit the type, or a column is missing.
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError>;
}

impl<T: FromColumn> FromRow for T {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        columns.column()
    }
}

macro_rules! tuples {
    ($(($($part:ident)+);)+) => {$(
        impl<$($part: FromRow),+> FromRow for ($($part,)+) {
            fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
                Ok(($($part::from_row(columns)?,)+))
            }
        }
    )+};
}

tuples! {
    (A B);
    (A B C);
    (A B C D);
    (A B C D E);
    (A B C D E F);
    (A B C D E F G);
    (A B C D E F G H);
    (A B C D E F G H I);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Database, DatabaseUrl, HostId};

    fn check<T: FromRow + std::fmt::Debug>(values: Vec<SqlValue>) -> String {
        Row(values).read::<T>().map_or_else(|error| error.to_string(), |read| format!("{read:?}"))
    }

    #[test]
    fn columns_are_read_from_left_to_right() {
        let values = || vec![SqlValue::from(7), "a".into(), None::<i64>.into(), true.into(), 5.into()];
        assert!(
            check::<(HostId, String, Option<String>, bool, Timestamp)>(values())
                .starts_with("(HostId(7), \"a\", None, true, ")
        );
        assert!(check::<((HostId, String), (Option<i64>, bool, usize))>(values()).ends_with("(None, true, 5))"));
    }

    #[test]
    fn null_is_an_error() {
        let error = "column 1 holds null instead of an integer";
        assert_eq!(check::<i64>(vec![None::<i64>.into()]), error);
        assert_eq!(check::<HostId>(vec![None::<String>.into()]), error);
        assert_eq!(check::<String>(vec![None::<i64>.into()]), "column 1 holds null instead of a text");
        assert_eq!(check::<bool>(vec![None::<i64>.into()]), "column 1 holds null instead of 0 or 1");
    }

    #[test]
    fn another_type_is_an_error() {
        let text = || vec![SqlValue::from(1), "5".into()];
        assert_eq!(check::<(i64, i64)>(text()), "column 2 holds a text instead of an integer");
        assert_eq!(check::<(i64, Option<i64>)>(text()), "column 2 holds a text instead of an integer");
        assert_eq!(
            check::<(i64, Option<Timestamp>)>(text()),
            "column 2 holds a text instead of a time in milliseconds"
        );
        assert_eq!(check::<(String, String)>(text()), "column 1 holds an integer instead of a text");
        assert_eq!(check::<bool>(vec![2.into()]), "column 1 holds an integer instead of 0 or 1");
        assert_eq!(check::<usize>(vec![(-1).into()]), "column 1 holds an integer instead of an integer from 0 on");
    }

    #[test]
    fn a_row_has_as_many_columns_as_its_type() {
        assert_eq!(check::<(i64, Option<i64>)>(vec![1.into()]), "column 2 holds no column instead of an integer");
        assert_eq!(check::<i64>(vec![1.into(), 2.into()]), "column 2 holds an integer instead of no column");
    }

    #[tokio::test]
    async fn the_error_names_the_statement() {
        let database = Database::open(&DatabaseUrl::Memory).await.unwrap();
        let error = database.query::<i64>("select name from (select 'x' as name) as x", Vec::new()).await.unwrap_err();
        assert!(!error.is_passing());
        let expected = "column 1 holds a text instead of an integer, in the answer to `select name from (select 'x' as name) as x`";
        assert_eq!(error.to_string(), expected);
    }
}
