//! What a database can refuse.

/// A column does not hold what its reader needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column} holds {found} instead of {expected}")]
pub struct ColumnError {
    /// The column, counted from 1.
    pub column: usize,
    /// What the reader needs.
    pub expected: &'static str,
    /// What is there.
    pub found: &'static str,
}

/// The database can't do what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It can't be reached now: worth another try.
    #[error("the database can't be reached: {0}")]
    Unreachable(String),
    /// Its disk is full.
    #[error("the disk of the database is full: {0}")]
    Full(String),
    /// Another transaction was in the way: worth another try at once.
    #[error("another transaction was in the way: {0}")]
    Conflict(String),
    /// It was made by a later version of Kalypso, or its migrations were changed.
    #[error("the tables of the database do not fit this version: {0}")]
    Tables(String),
    /// A statement and the type of its rows do not agree: a mistake of Kalypso.
    #[error("{column}, in the answer to `{statement}`")]
    Column {
        /// The column.
        column: ColumnError,
        /// The statement.
        statement: String,
    },
    /// A statement that always answers a row answered none: a mistake of Kalypso.
    #[error("no row in the answer to `{statement}`")]
    NoRow {
        /// The statement.
        statement: String,
    },
    /// It refused.
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
            // SQLite: disk full, and what a full disk makes of a write (SQLITE_IOERR_WRITE, _FSYNC, _SHMSIZE). PostgreSQL: disk_full.
            (_, "13" | "778" | "1034" | "4874" | "53100") => Self::Full(text),
            // SQLite: it can't be opened. PostgreSQL: shutting down, starting up, too many connections.
            (sqlx::Error::Database(_), "14" | "57P01" | "57P02" | "57P03" | "53300") => Self::Unreachable(text),
            _ if is_gone(&error) => Self::Unreachable(text),
            _ => Self::Refused(text),
        }
    }
}

/// Whether the connection is what failed.
fn is_gone(error: &sqlx::Error) -> bool {
    use sqlx::Error as E;
    matches!(error, E::Io(_) | E::Tls(_) | E::Protocol(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed)
}

impl DatabaseError {
    /// Whether the same may succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Full(_) | Self::Conflict(_))
    }
}
