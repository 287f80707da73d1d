//! Backups: a file with the complete content of a database, from which an SQLite or a PostgreSQL database can be restored.
//!
//! A backup is NDJSON: a line with its version; for each table, a line with its columns and a line for each row; and a last line with the number of
//! rows and the SHA-256 of all lines before it, which reveals a truncated or changed file. A backup is a snapshot, and is made while the hub runs.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::store::{ColumnType, Database, DatabaseError, Dialect, Row, Rows, SqlValue, Table, Transaction, tables};

/// Tables that are not part of a backup: they are about running processes and open browsers. A restored session could be one that was ended.
const OF_PROCESSES: [&str; 4] = ["lease", "session", "sign_in_attempt", "sync_request"];

/// The earliest version whose backups can be restored. A later migration may add columns with defaults and make tables, which are empty after the restore of
/// an earlier backup. A migration with other changes must raise this version.
const EARLIEST: i64 = 29;

/// The number of rows that are inserted by one statement.
const ROWS_PER_STATEMENT: usize = 500;

/// The backup was not made, or nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database cannot be read or written.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The file cannot be read or written.
    #[error("the file of the backup: {0}")]
    File(#[from] io::Error),
    /// The file is not a backup, or is damaged.
    #[error("line {line} of the backup: {reason}")]
    Damaged {
        /// The line, counted from 1.
        line: u64,
        /// The reason.
        reason: String,
    },
    /// The backup was made by a later version, or by one that is too old: its tables had other contents.
    #[error(
        "the backup has the tables of version {found} and this Kalypso those of version {own}: restore it with the version of Kalypso that made it, and then upgrade"
    )]
    OtherVersion {
        /// The version of the backup.
        found: i64,
        /// The version of the database.
        own: i64,
    },
    /// The database is not empty.
    #[error("a backup is restored into an empty database only, and table {0} has rows")]
    NotEmpty(String),
}

/// A writer that computes the SHA-256 of everything written.
struct Hashing<'a, W> {
    out: &'a mut W,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or(bytes));
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W> Hashing<'_, W> {
    fn digest(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.hash.clone().finalize())
    }
}

/// A line of a backup.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
enum Line {
    Head { kalypso_hub_backup: i64 },
    Table { table: String, columns: Vec<String> },
    Row(Vec<Cell>),
    End { rows: u64, sha256: String },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Cell {
    Int(Option<i64>),
    Text(String),
}

/// Writes the complete content of the database. Returns the number of rows.
///
/// # Errors
/// The database cannot be read, or the file cannot be written.
pub async fn back_up(database: &Database, out: &mut impl Write) -> Result<u64, BackupError> {
    let mut reading = database.begin_reading().await?;
    let dialect = reading.dialect();
    let out = &mut Hashing { out, hash: Sha256::new() };
    write(out, &Line::Head { kalypso_hub_backup: version(&mut reading).await? })?;
    let mut rows = 0;
    for table in stored_tables(&mut reading).await? {
        let columns = table.columns.iter().map(|(name, _)| name.clone()).collect();
        write(out, &Line::Table { table: table.name.clone(), columns })?;
        let sql = format!("select {} from {}", table.selection(dialect), table.name);
        let each = |row: Row| {
            rows += 1;
            write(out, &Line::Row(row.values().iter().map(cell).collect()))
        };
        reading.each(&sql, Vec::new(), each).await?;
    }
    let sha256 = out.digest();
    write(out, &Line::End { rows, sha256 })?;
    out.flush()?;
    Ok(rows)
}

/// Restores a backup into an empty database, completely or not at all. Returns the number of rows.
///
/// # Errors
/// The database is not empty, or cannot be written; the backup is damaged, or has a version that cannot be restored.
pub async fn restore(database: &Database, backup: &mut impl BufRead) -> Result<u64, BackupError> {
    let mut transaction = database.begin().await?;
    let tables = stored_tables(&mut transaction).await?;
    for table in &tables {
        let sql = format!("select 1 from {} limit 1", table.name);
        if transaction.exists(&sql, Vec::new()).await? {
            return Err(BackupError::NotEmpty(table.name.clone()));
        }
    }
    let references = lift_references(&mut transaction).await?;
    let own = version(&mut transaction).await?;
    let mut restored = Restored { transaction, tables, own, current: None, rows: 0 };
    let mut reader = Reader { backup, line: 0, hash: Sha256::new() };
    while let Some(line) = reader.next()? {
        let is_end = matches!(line, Line::End { .. });
        if let Line::End { sha256, .. } = &line
            && *sha256 != reader.digest()
        {
            return Err(LineProblem::Damaged(
                "the lines before it were changed after the backup was written".to_owned(),
            )
            .at(reader.line));
        }
        restored.take(line).await.map_err(|problem| problem.at(reader.line))?;
        if is_end {
            let Restored { mut transaction, tables, rows, .. } = restored;
            for sql in references {
                transaction.run(&sql).await?;
            }
            set_sequences(&mut transaction, &tables).await?;
            transaction.commit().await?;
            return Ok(rows);
        }
    }
    Err(LineProblem::Damaged("the end is missing: it was cut off".to_owned()).at(reader.line))
}

/// The tables that are part of a backup.
async fn stored_tables(transaction: &mut Transaction) -> Result<Vec<Table>, DatabaseError> {
    let mut tables = tables(transaction).await?;
    tables.retain(|table| !OF_PROCESSES.contains(&table.name.as_str()));
    Ok(tables)
}

/// The problem of a line.
#[derive(Debug)]
enum LineProblem {
    Damaged(String),
    Other(BackupError),
}

impl LineProblem {
    fn at(self, line: u64) -> BackupError {
        match self {
            Self::Damaged(reason) => BackupError::Damaged { line, reason },
            Self::Other(error) => error,
        }
    }
}

impl From<DatabaseError> for LineProblem {
    fn from(error: DatabaseError) -> Self {
        Self::Other(error.into())
    }
}

struct Reader<'a, R> {
    backup: &'a mut R,
    line: u64,
    /// The hash of all lines before the last one.
    hash: Sha256,
}

impl<R: BufRead> Reader<'_, R> {
    fn next(&mut self) -> Result<Option<Line>, BackupError> {
        let mut text = String::new();
        self.line += 1;
        if self.backup.read_line(&mut text)? == 0 {
            return Ok(None);
        }
        let damaged = |error: serde_json::Error| LineProblem::Damaged(error.to_string()).at(self.line);
        let line = serde_json::from_str(&text).map_err(damaged)?;
        if !matches!(line, Line::End { .. }) {
            self.hash.update(&text);
        }
        Ok(Some(line))
    }

    fn digest(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.hash.clone().finalize())
    }
}

/// The progress of a restore.
struct Restored {
    transaction: Transaction,
    tables: Vec<Table>,
    /// The version of the database.
    own: i64,
    current: Option<Filling>,
    rows: u64,
}

/// The table into which rows are inserted.
struct Filling {
    table: Table,
    waiting: Rows,
}

impl Restored {
    async fn take(&mut self, line: Line) -> Result<(), LineProblem> {
        match line {
            Line::Head { kalypso_hub_backup: found } if (EARLIEST..=self.own).contains(&found) => Ok(()),
            Line::Head { kalypso_hub_backup: found } => {
                Err(LineProblem::Other(BackupError::OtherVersion { found, own: self.own }))
            }
            Line::Table { table, columns } => {
                self.flush().await?;
                self.current = Some(self.filling(&table, &columns)?);
                Ok(())
            }
            Line::Row(cells) => self.row(cells).await,
            Line::End { rows, .. } => {
                self.flush().await?;
                if rows == self.rows {
                    return Ok(());
                }
                Err(LineProblem::Damaged(format!("it counts {rows} rows, and the backup has {}", self.rows)))
            }
        }
    }

    /// The names in statements come from the database, never from the file.
    fn filling(&self, name: &str, columns: &[String]) -> Result<Filling, LineProblem> {
        let known = self.tables.iter().find(|table| table.name == name);
        let known = known.ok_or_else(|| LineProblem::Damaged(format!("there is no table `{name}`")))?;
        let column = |name: &String| {
            let found = known.columns.iter().find(|(known, _)| known == name).cloned();
            found.ok_or_else(|| LineProblem::Damaged(format!("table {} has no column `{name}`", known.name)))
        };
        let columns = columns.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let table = Table { name: known.name.clone(), columns };
        Ok(Filling { waiting: waiting(&table), table })
    }

    async fn row(&mut self, cells: Vec<Cell>) -> Result<(), LineProblem> {
        let Some(Filling { table, waiting }) = &mut self.current else {
            return Err(LineProblem::Damaged("a row before the first table".to_owned()));
        };
        if cells.len() != table.columns.len() {
            return Err(LineProblem::Damaged(format!("{} values for {} columns", cells.len(), table.columns.len())));
        }
        let values = cells.into_iter().zip(&table.columns).map(|(cell, (name, kind))| value(cell, name, *kind));
        waiting.push(values.collect::<Result<_, _>>()?);
        self.rows += 1;
        if waiting.len() >= ROWS_PER_STATEMENT {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), LineProblem> {
        let Some(Filling { table, waiting: rows }) = &mut self.current else { return Ok(()) };
        let columns = table.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let statement = format!("insert into {} ({columns}) select {columns} from source", table.name);
        let rows = std::mem::replace(rows, waiting(table));
        self.transaction.execute_with(rows, &statement).await?;
        Ok(())
    }
}

fn waiting(table: &Table) -> Rows {
    let columns: Vec<_> = table.columns.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    Rows::new(&columns)
}

fn cell(value: &SqlValue) -> Cell {
    match value {
        SqlValue::Text(Some(text)) => Cell::Text(text.clone()),
        SqlValue::Int(number) => Cell::Int(*number),
        _ => Cell::Int(None),
    }
}

fn value(cell: Cell, name: &str, kind: ColumnType) -> Result<SqlValue, LineProblem> {
    match (cell, kind) {
        (Cell::Text(text), ColumnType::Text) => Ok(text.into()),
        (Cell::Int(None), ColumnType::Text) => Ok(None::<String>.into()),
        (Cell::Int(number), ColumnType::Int | ColumnType::Timestamp) => Ok(number.into()),
        _ => Err(LineProblem::Damaged(format!("column {name} does not hold that"))),
    }
}

fn write(out: &mut impl Write, line: &Line) -> Result<(), BackupError> {
    serde_json::to_writer(&mut *out, line).map_err(io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// The version of the last migration that ran.
async fn version(transaction: &mut Transaction) -> Result<i64, DatabaseError> {
    transaction.one("select max(version) from _sqlx_migrations", Vec::new()).await
}

/// Lets rows refer to rows that are inserted later. Returns the statements that restore the checks at the end.
async fn lift_references(transaction: &mut Transaction) -> Result<Vec<String>, DatabaseError> {
    if transaction.dialect() == Dialect::Sqlite {
        transaction.run("pragma defer_foreign_keys = on").await?;
        return Ok(Vec::new());
    }
    let sql = "select format('alter table %I drop constraint %I', r.relname, c.conname), \
        format('alter table %I add constraint %I %s', r.relname, c.conname, pg_get_constraintdef(c.oid)) \
        from pg_constraint c join pg_class r on r.oid = c.conrelid \
        where c.contype = 'f' and c.connamespace = current_schema()::regnamespace";
    let mut afterwards = Vec::new();
    for (drop, add) in transaction.query::<(String, String)>(sql, Vec::new()).await? {
        transaction.run(&drop).await?;
        afterwards.push(add);
    }
    Ok(afterwards)
}

/// Sets the sequences of ids, so that the next row gets an unused id. SQLite does this itself.
async fn set_sequences(transaction: &mut Transaction, tables: &[Table]) -> Result<(), DatabaseError> {
    // Ids of type text, such as those of tokens, have no sequence.
    let is_counted = |table: &&Table| table.columns.iter().any(|(name, kind)| name == "id" && *kind == ColumnType::Int);
    for Table { name, .. } in tables.iter().filter(is_counted) {
        if transaction.dialect() == Dialect::Postgres {
            let sql = format!(
                "select setval(pg_get_serial_sequence('{name}', 'id'), coalesce(max(id), 1), max(id) is not null) from {name}"
            );
            transaction.execute(&sql, Vec::new()).await?;
        }
    }
    Ok(())
}
