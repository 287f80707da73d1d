//! Many rows at once as the source of a statement.

use super::dialect::Dialect;
use super::value::SqlValue;

/// The type of a column of [`Rows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Integers.
    Int,
    /// Texts.
    Text,
    /// Timestamps.
    Timestamp,
}

/// Rows that a statement reads as the table `source`.
#[derive(Clone, Debug)]
pub struct Rows {
    columns: Vec<(String, ColumnType)>,
    rows: Vec<Vec<SqlValue>>,
}

/// SQLite gets rows in pieces of these lengths, so that a few prepared statements are enough for any number of rows.
const PIECES: [usize; 4] = [256, 32, 4, 1];

impl Rows {
    /// No rows yet, of these columns.
    pub fn new(columns: &[(&str, ColumnType)]) -> Self {
        let columns = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row, with a value for each column.
    pub fn push(&mut self, row: Vec<SqlValue>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a value for each column");
        self.rows.push(row);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The statements, each with its parameters, in which `statement` reads all rows from `source`.
    ///
    /// A statement that begins with a comma adds tables to the same `with`, which may be recursive.
    pub(super) fn statements(self, dialect: Dialect, statement: &str) -> Vec<(String, Vec<SqlValue>)> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        match dialect {
            Dialect::Sqlite => self.in_pieces(statement),
            Dialect::Postgres => vec![self.in_arrays(statement)],
        }
    }

    fn in_pieces(self, statement: &str) -> Vec<(String, Vec<SqlValue>)> {
        let names: Vec<_> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let row = format!("({})", vec!["?"; names.len()].join(","));
        let mut statements = Vec::new();
        let mut rows = self.rows.into_iter();
        while let Some(length) = PIECES.iter().copied().find(|length| *length <= rows.len()) {
            let values = vec![row.as_str(); length].join(",");
            let sql = format!("with recursive source({}) as (values {values}) {statement}", names.join(","));
            statements.push((sql, rows.by_ref().take(length).flatten().collect()));
        }
        statements
    }

    fn in_arrays(self, statement: &str) -> (String, Vec<SqlValue>) {
        let mut arrays = Vec::new();
        let (mut names, mut taken, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (name, kind)) in self.columns.iter().enumerate() {
            let of_column = self.rows.iter().map(|row| row.get(index).cloned());
            arrays.push(match kind {
                ColumnType::Text => SqlValue::OptionalTexts(of_column.map(text).collect()),
                ColumnType::Int | ColumnType::Timestamp => SqlValue::OptionalInts(of_column.map(int).collect()),
            });
            names.push(name.as_str());
            types.push(format!("${}::{}[]", index + 1, if *kind == ColumnType::Text { "text" } else { "bigint" }));
            taken.push(match kind {
                ColumnType::Timestamp => format!("{} as {name}", Dialect::Postgres.instant(name)),
                _ => name.clone(),
            });
        }
        let (names, taken, types) = (names.join(","), taken.join(","), types.join(","));
        let source = format!("with recursive source as (select {taken} from unnest({types}) as given({names}))");
        (format!("{source} {statement}"), arrays)
    }
}

fn text(value: Option<SqlValue>) -> Option<String> {
    match value {
        Some(SqlValue::Text(text)) => text,
        _ => None,
    }
}

fn int(value: Option<SqlValue>) -> Option<i64> {
    match value {
        Some(SqlValue::Int(number)) => number,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: i64) -> Rows {
        let mut rows = Rows::new(&[("a", ColumnType::Int), ("b", ColumnType::Timestamp)]);
        (0..count).for_each(|number| rows.push(vec![number.into(), None::<i64>.into()]));
        rows
    }

    #[test]
    fn sqlite_gets_pieces_of_few_lengths() {
        let statements = rows(293).statements(Dialect::Sqlite, "select a from source");
        let lengths: Vec<_> = statements.iter().map(|(_, values)| values.len() / 2).collect();
        assert_eq!(lengths, [256, 32, 4, 1]);
        assert_eq!(statements[3].0, "with recursive source(a,b) as (values (?,?)) select a from source");
    }

    #[test]
    fn postgres_gets_an_array_for_each_column() {
        let (sql, values) = rows(2).statements(Dialect::Postgres, "select a from source").remove(0);
        assert!(sql.contains("unnest($1::bigint[],$2::bigint[]) as given(a,b)"), "{sql}");
        assert_eq!(values, [SqlValue::OptionalInts(vec![Some(0), Some(1)]), SqlValue::OptionalInts(vec![None, None])]);
    }

    #[test]
    fn no_rows_give_no_statement() {
        assert!(rows(0).statements(Dialect::Sqlite, "x").is_empty());
    }
}
