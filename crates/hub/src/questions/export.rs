//! Exports tables as CSV or NDJSON for other programs, and grants a role of PostgreSQL the right to read them.

use std::io::{self, Write};

use hub_api::timestamp::Timestamp;
use serde_json::json;

use crate::store::{ColumnType, Database, DatabaseError, Dialect, Row, SqlValue, Table, tables};

/// The tables that can be exported and that a reader may read. Other data, such as the digests of tokens, cannot be exported or read.
pub const TABLES: &[&str] = &[
    "workspace",
    "application",
    "workload",
    "workload_version",
    "environment",
    "environment_order",
    "deployment_target",
    "deployment_assignment",
    "host",
    "host_label",
    "reconciler",
    "reconciler_state",
    "deployment",
    "gitops_branch",
    "gitops_commit",
    "place_group",
    "place_group_target",
    "place",
    "place_revision",
    "tally",
    "silence",
    "rule_state",
    "notification",
    "promotion_event",
];

/// The tables of Microsoft's hub. For each, the view `microsoft_<table>` has the rows that the table would have there.
pub const MICROSOFT_TABLES: &[&str] = &[
    "workspace",
    "application",
    "workload",
    "workload_version",
    "environment",
    "deployment_target",
    "deployment_assignment",
    "host",
    "reconciler",
    "deployment",
];

/// The schema in which these views have the names of Microsoft's tables.
pub const MICROSOFT_SCHEMA: &str = "microsoft";

/// The columns by which rows are selected by time: the first of these columns that a table has.
const TIMES: [&str; 7] =
    ["created_on", "desired_on", "committed_on", "reported_on", "noticed_on", "evaluated_on", "happened_on"];

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// CSV of RFC 4180, with a first line of column names. A text that a spreadsheet would run as a formula (it begins with `=`, `+`, `-`, `@`, a tab
    /// or a carriage return) gets a `'` before it: text that hosts report must not run on the reader's machine.
    Csv,
    /// One JSON object per line.
    Ndjson,
}

/// The selection of an export.
#[derive(Clone, Debug)]
pub struct ExportSelection {
    /// A name of [`TABLES`].
    pub table: String,
    /// Only rows at or after this time. The time of a row is when it was created, desired or reported.
    pub since: Option<Timestamp>,
    /// Only rows before this time.
    pub until: Option<Timestamp>,
}

/// The export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The table does not exist, or cannot be exported.
    #[error("there is no table `{0}` to export; there are: {list}", list = TABLES.join(", "))]
    NoTable(String),
    /// The table has no column with a time.
    #[error("table `{0}` has no time: its rows can't be selected by time")]
    NoTime(String),
    /// The database is SQLite, which has no roles.
    #[error("only PostgreSQL has roles")]
    NoRoles,
    /// The database cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The output cannot be written.
    #[error("cannot write the export: {0}")]
    Output(#[from] io::Error),
}

/// Writes a table, row by row. Returns the number of rows.
///
/// # Errors
/// The table does not exist, or it cannot be read or written.
pub async fn export(
    database: &Database,
    selection: &ExportSelection,
    format: ExportFormat,
    out: &mut impl Write,
) -> Result<u64, ExportError> {
    let no_table = || ExportError::NoTable(selection.table.clone());
    let name = TABLES.iter().find(|name| **name == selection.table).ok_or_else(no_table)?;
    let mut reading = database.begin_reading().await?;
    let table = tables(&mut reading).await?.into_iter().find(|table| table.name == *name).ok_or_else(no_table)?;
    let (sql, parameters) = question(&table, selection, reading.dialect())?;
    if format == ExportFormat::Csv {
        let names: Vec<_> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
        write!(out, "{}\r\n", names.join(","))?;
    }
    let mut rows = 0;
    let each = |row: Row| -> Result<(), ExportError> {
        rows += 1;
        match format {
            ExportFormat::Csv => write!(out, "{}\r\n", csv(&table, &row))?,
            ExportFormat::Ndjson => writeln!(out, "{}", object(&table, &row))?,
        }
        Ok(())
    };
    reading.each(&sql, parameters, each).await?;
    out.flush()?;
    Ok(rows)
}

/// Grants a role of PostgreSQL the right to read [`TABLES`], and nothing else. It may be called again.
///
/// # Errors
/// The database is not PostgreSQL, the role does not exist, or the hub's own role may not grant the right.
pub async fn grant_read(database: &Database, role: &str) -> Result<(), ExportError> {
    if database.dialect() != Dialect::Postgres {
        return Err(ExportError::NoRoles);
    }
    let mut transaction = database.begin().await?;
    // The database quotes the name.
    let sql = "select format('grant usage on schema %I to %I', current_schema(), $1::text), format('%I', $1::text)";
    let (usage, role): (String, String) = transaction.one(sql, vec![role.into()]).await?;
    transaction.run(&usage).await?;
    transaction.run(&format!("grant select on {} to {role}", TABLES.join(", "))).await?;
    Ok(transaction.commit().await?)
}

/// Grants a role of PostgreSQL the right to read [`MICROSOFT_TABLES`], and nothing else. The views are in a schema of their own, with the names that queries
/// for Microsoft's hub use. It may be called again.
///
/// # Errors
/// The database is not PostgreSQL, the role does not exist, or the hub's own role may not grant the right.
pub async fn grant_read_microsoft_views(database: &Database, role: &str) -> Result<(), ExportError> {
    if database.dialect() != Dialect::Postgres {
        return Err(ExportError::NoRoles);
    }
    let mut transaction = database.begin().await?;
    let role: String = transaction.one("select format('%I', $1::text)", vec![role.into()]).await?;
    let sql = "select 1 from pg_catalog.pg_namespace where nspname = $1";
    if !transaction.exists(sql, vec![MICROSOFT_SCHEMA.into()]).await? {
        transaction.run(&format!("create schema {MICROSOFT_SCHEMA}")).await?;
    }
    transaction.run(&format!("grant usage on schema {MICROSOFT_SCHEMA} to {role}")).await?;
    for table in MICROSOFT_TABLES {
        let view = format!("{MICROSOFT_SCHEMA}.{table}");
        transaction.run(&format!("create or replace view {view} as select * from microsoft_{table}")).await?;
        transaction.run(&format!("grant select on {view} to {role}")).await?;
    }
    Ok(transaction.commit().await?)
}

fn question(
    table: &Table,
    selection: &ExportSelection,
    dialect: Dialect,
) -> Result<(String, Vec<SqlValue>), ExportError> {
    let all = format!("select {} from {}", table.selection(dialect), table.name);
    let bounds = [(">=", selection.since), ("<", selection.until)];
    let bounds: Vec<_> = bounds.into_iter().filter_map(|(sign, timestamp)| Some((sign, timestamp?))).collect();
    if bounds.is_empty() {
        return Ok((all, Vec::new()));
    }
    let has = |time: &&str| table.columns.iter().any(|(name, _)| name == time);
    let time = TIMES.iter().copied().find(has).ok_or_else(|| ExportError::NoTime(table.name.clone()))?;
    let condition = |(index, (sign, _)): (usize, &(&str, Timestamp))| {
        format!("{time} {sign} {}", dialect.instant(&format!("${}", index + 1)))
    };
    let conditions: Vec<_> = bounds.iter().enumerate().map(condition).collect();
    let sql = format!("{all} where {}", conditions.join(" and "));
    Ok((sql, bounds.into_iter().map(|(_, timestamp)| timestamp.into()).collect()))
}

fn csv(table: &Table, row: &Row) -> String {
    let cells = table.columns.iter().zip(row.values()).map(|((_, kind), value)| match (kind, value) {
        (ColumnType::Timestamp, SqlValue::Int(Some(millis))) => Timestamp::from_millis(*millis).to_string(),
        (_, SqlValue::Int(Some(number))) => number.to_string(),
        (_, SqlValue::Text(Some(text))) => quoted(text),
        _ => String::new(),
    });
    cells.collect::<Vec<_>>().join(",")
}

/// A field in quotes, if RFC 4180 requires them. An empty text is quoted too, to distinguish it from null.
fn quoted(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if text.is_empty() || text.contains([',', '"', '\r', '\n']) {
        return format!("\"{guard}{}\"", text.replace('"', "\"\""));
    }
    format!("{guard}{text}")
}

fn object(table: &Table, row: &Row) -> serde_json::Value {
    let fields = table.columns.iter().zip(row.values()).map(|((name, kind), value)| {
        let value = match (kind, value) {
            (ColumnType::Timestamp, SqlValue::Int(Some(millis))) => json!(Timestamp::from_millis(*millis)),
            (_, SqlValue::Int(number)) => json!(number),
            (_, SqlValue::Text(text)) => json!(text),
            _ => serde_json::Value::Null,
        };
        (name.clone(), value)
    });
    serde_json::Value::Object(fields.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_look_like_formulas_are_texts() {
        assert_eq!(quoted("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
        assert_eq!(quoted("-1"), "'-1");
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted(""), "\"\"");
        assert_eq!(quoted("two\nlines"), "\"two\nlines\"");
    }
}
