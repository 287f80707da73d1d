//! Connections to the database: SQLite or PostgreSQL.

use std::path::PathBuf;
use std::str::FromStr;

use model::secret::{Secret, SecretSource};

use super::dialect::Dialect;
use super::error::DatabaseError;
use super::postgres::PostgresPool;
use super::row::{FromRow, Row, read_all};
use super::sqlite::SqlitePools;
use super::transaction::Transaction;
use super::value::SqlValue;

/// Where the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file. It is created if it does not exist.
    Sqlite(PathBuf),
    /// A database in memory. It is lost when the process ends.
    Memory,
    /// A PostgreSQL server: `postgres://user:password@host/database`.
    Postgres(String),
    /// A PostgreSQL server whose URL may be replaced, such as with another password. New connections use the current one.
    ReplaceablePostgres(SecretSource),
}

/// The text is not the URL of a database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a database is `sqlite:FILE` or `postgres://USER@HOST/DATABASE`")]
pub struct DatabaseUrlError;

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        match text.strip_prefix("sqlite:").map(|file| file.strip_prefix("//").unwrap_or(file)) {
            Some(":memory:") => Ok(Self::Memory),
            Some(file) if !file.is_empty() => Ok(Self::Sqlite(file.into())),
            _ => Err(DatabaseUrlError),
        }
    }
}

/// A database that is open, with all its tables.
#[derive(Clone, Debug)]
pub struct Database(Pools);

#[derive(Clone, Debug)]
enum Pools {
    Sqlite(SqlitePools),
    Postgres(PostgresPool),
}

impl Database {
    /// Opens a database and brings its tables up to date. Several processes may do that at once.
    ///
    /// # Errors
    /// The database can't be reached, or a later version of Kalypso has migrated it.
    pub async fn open(url: &DatabaseUrl) -> Result<Self, DatabaseError> {
        match url {
            DatabaseUrl::Sqlite(file) => Ok(Self(Pools::Sqlite(SqlitePools::open(file).await?))),
            DatabaseUrl::Memory => Ok(Self(Pools::Sqlite(SqlitePools::in_memory().await?))),
            DatabaseUrl::Postgres(url) => Ok(Self(Pools::Postgres(PostgresPool::open(Secret::new(url).into()).await?))),
            DatabaseUrl::ReplaceablePostgres(url) => Ok(Self(Pools::Postgres(PostgresPool::open(url.clone()).await?))),
        }
    }

    /// The SQL dialect of the database.
    pub fn dialect(&self) -> Dialect {
        match &self.0 {
            Pools::Sqlite(_) => Dialect::Sqlite,
            Pools::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Begins a transaction that writes. Without a commit, it is rolled back.
    ///
    /// # Errors
    /// The database can't be reached.
    pub async fn begin(&self) -> Result<Transaction, DatabaseError> {
        Ok(match &self.0 {
            // An immediate transaction takes the lock at its beginning. So it can't fail later because another connection holds the lock.
            Pools::Sqlite(SqlitePools { writer, .. }) => {
                Transaction::Sqlite(writer.begin_with("begin immediate").await?)
            }
            Pools::Postgres(pool) => Transaction::Postgres(pool.current().begin().await?),
        })
    }

    /// Begins a transaction that reads: all its statements see the same state of the database.
    ///
    /// # Errors
    /// The database can't be reached.
    pub async fn begin_reading(&self) -> Result<Transaction, DatabaseError> {
        Ok(match &self.0 {
            Pools::Sqlite(SqlitePools { readers, .. }) => Transaction::Sqlite(readers.begin().await?),
            Pools::Postgres(pool) => {
                let begin = "begin isolation level repeatable read read only";
                Transaction::Postgres(pool.current().begin_with(begin).await?)
            }
        })
    }

    /// Runs one query and returns its rows.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error; or the rows have another type.
    pub async fn query<T: FromRow>(&self, sql: &str, parameters: Vec<SqlValue>) -> Result<Vec<T>, DatabaseError> {
        read_all(self.rows(sql, parameters).await?, sql)
    }

    /// Runs one query and returns its first row, if there is any.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub async fn first<T: FromRow>(&self, sql: &str, parameters: Vec<SqlValue>) -> Result<Option<T>, DatabaseError> {
        Ok(self.query(sql, parameters).await?.into_iter().next())
    }

    /// Runs one query that always has a row, and returns that row.
    ///
    /// # Errors
    /// As [`Self::query`]; and if there is no row.
    pub async fn one<T: FromRow>(&self, sql: &str, parameters: Vec<SqlValue>) -> Result<T, DatabaseError> {
        let first = self.first(sql, parameters).await?;
        first.ok_or_else(|| DatabaseError::NoRow { statement: sql.to_owned() })
    }

    /// Whether a query has any row.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn exists(&self, sql: &str, parameters: Vec<SqlValue>) -> Result<bool, DatabaseError> {
        Ok(!self.rows(sql, parameters).await?.is_empty())
    }

    /// Runs one query whose columns are not known at compile time, and returns its rows without conversion.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn rows(&self, sql: &str, parameters: Vec<SqlValue>) -> Result<Vec<Row>, DatabaseError> {
        match &self.0 {
            Pools::Sqlite(SqlitePools { readers, .. }) => {
                super::transaction::query_sqlite(readers, sql, parameters).await
            }
            Pools::Postgres(pool) => super::transaction::query_postgres(pool.current(), sql, parameters).await,
        }
    }

    /// Copies committed pages from SQLite's log into its file, without blocking readers or the writer. Returns whether the database has such a log.
    pub(super) async fn checkpoint(&self) -> Result<bool, DatabaseError> {
        match &self.0 {
            Pools::Sqlite(SqlitePools { readers, .. }) => {
                super::transaction::query_sqlite(readers, "pragma wal_checkpoint(passive)", Vec::new()).await?;
                Ok(true)
            }
            Pools::Postgres(_) => Ok(false),
        }
    }

    /// Waits for running statements, and closes all connections.
    pub async fn close(&self) {
        match &self.0 {
            Pools::Sqlite(SqlitePools { writer, readers }) => {
                readers.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.pool.close().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_select_the_database() {
        let check = |text: &str| text.parse::<DatabaseUrl>();
        assert_eq!(check("sqlite:kalypso.db"), Ok(DatabaseUrl::Sqlite("kalypso.db".into())));
        assert_eq!(check("sqlite:///var/kalypso.db"), Ok(DatabaseUrl::Sqlite("/var/kalypso.db".into())));
        assert_eq!(check("sqlite::memory:"), Ok(DatabaseUrl::Memory));
        assert!(matches!(check("postgresql://hub@localhost/hub"), Ok(DatabaseUrl::Postgres(_))));
        for wrong in ["", "sqlite:", "mysql://x", "kalypso.db"] {
            assert_eq!(check(wrong), Err(DatabaseUrlError), "{wrong}");
        }
    }
}
