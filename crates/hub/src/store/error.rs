//! Errors of databases.

/// The value of a column does not have the type that the caller reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column} holds {found} instead of {expected}")]
pub struct ColumnError {
    /// The column, counted from 1.
    pub column: usize,
    /// The type that the caller reads.
    pub expected: &'static str,
    /// The type of the value.
    pub found: &'static str,
}

/// A statement or a connection failed.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The database can't be reached at the moment. A retry can succeed.
    #[error("the database can't be reached: {0}")]
    Unreachable(String),
    /// Its disk is full.
    #[error("the disk of the database is full: {0}")]
    Full(String),
    /// A conflict with another transaction. An immediate retry can succeed.
    #[error("another transaction was in the way: {0}")]
    Conflict(String),
    /// A later version of Kalypso has migrated the database, or its migrations were changed.
    #[error("the tables of the database do not fit this version: {0}")]
    Tables(String),
    /// A statement and the type of its rows do not match: a bug in Kalypso.
    #[error("{column}, in the answer to `{statement}`")]
    Column {
        /// The column.
        column: ColumnError,
        /// The statement.
        statement: String,
    },
    /// A statement that always returns a row returned none: a bug in Kalypso.
    #[error("no row in the answer to `{statement}`")]
    NoRow {
        /// The statement.
        statement: String,
    },
    /// Any other error of the database.
    #[error("the database refused: {0}")]
    Refused(String),
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        let text = error.to_string();
        let code =
            error.as_database_error().and_then(sqlx::error::DatabaseError::code).unwrap_or_default().into_owned();
        match (&error, code.as_str()) {
            (_, "40001" | "40P01" | "5" | "517" | "261") => Self::Conflict(text),
            // SQLite: disk full, and the errors of writes to a full disk (SQLITE_IOERR_WRITE, _FSYNC, _SHMSIZE). PostgreSQL: disk_full.
            (_, "13" | "778" | "1034" | "4874" | "53100") => Self::Full(text),
            // SQLite: the file can't be opened. PostgreSQL: shutting down, starting up, too many connections.
            (sqlx::Error::Database(_), "14" | "57P01" | "57P02" | "57P03" | "53300") => Self::Unreachable(text),
            _ if is_gone(&error) => Self::Unreachable(text),
            _ => Self::Refused(text),
        }
    }
}

/// Whether the connection failed, not the statement.
fn is_gone(error: &sqlx::Error) -> bool {
    use sqlx::Error as E;
    matches!(error, E::Io(_) | E::Tls(_) | E::Protocol(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed)
}

impl DatabaseError {
    /// Whether a retry can succeed.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Full(_) | Self::Conflict(_))
    }
}
