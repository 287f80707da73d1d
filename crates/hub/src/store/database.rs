//! SQLite or PostgreSQL: how to reach it.

use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, PgPool, SqlitePool};

use super::dialect::Dialect;
use super::error::DatabaseError;
use super::migrations;
use super::row::{FromRow, Row, read_all};
use super::transaction::Transaction;
use super::value::Value;

/// How long to wait for a connection before the database counts as gone.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long another process may hold SQLite's only write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The pages of a new file. A report changes a state of a few dozen bytes on a page that no other report of the transaction is on, and whole pages are
/// written: small ones are less. Names of the longest kind still fit into a page's index entries.
const PAGE_BYTES: u32 = 2_048;
/// Of the pages that are read and changed, as many as this many KiB hold stay in memory (the sign is SQLite's way to say that it is not a number of pages).
const WRITER_CACHE: &str = "-65536";
/// The same for each connection that answers questions.
const READER_CACHE: &str = "-32768";
/// Questions that are answered at once.
const READERS: u32 = 8;

/// Where the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file, made if it is not there.
    Sqlite(PathBuf),
    /// A database in memory, gone with the process.
    Memory,
    /// A PostgreSQL server: `postgres://user:password@host/database`.
    Postgres(String),
}

/// It is no place of a database.
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
    /// SQLite has one writer at a time: a connection of its own, so that nobody waits for a lock in vain.
    Sqlite {
        writer: SqlitePool,
        readers: SqlitePool,
    },
    Postgres(PgPool),
}

impl Database {
    /// Opens a database and brings its tables up to date. Several processes may do that at once.
    ///
    /// # Errors
    /// It can't be reached, or was made by a later version.
    pub async fn open(url: &DatabaseUrl) -> Result<Self, DatabaseError> {
        match url {
            DatabaseUrl::Sqlite(file) => open_sqlite(file).await,
            DatabaseUrl::Memory => open_memory().await,
            DatabaseUrl::Postgres(url) => open_postgres(url).await,
        }
    }

    /// What is different between the two.
    pub fn dialect(&self) -> Dialect {
        match &self.0 {
            Pools::Sqlite { .. } => Dialect::Sqlite,
            Pools::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Begins to write. What is not committed never was.
    ///
    /// # Errors
    /// The database can't be reached.
    pub async fn begin(&self) -> Result<Transaction, DatabaseError> {
        Ok(match &self.0 {
            // An immediate transaction has the lock from its beginning, and never fails for one in its middle.
            Pools::Sqlite { writer, .. } => Transaction::Sqlite(writer.begin_with("begin immediate").await?),
            Pools::Postgres(pool) => Transaction::Postgres(pool.begin().await?),
        })
    }

    /// Begins to read: all answers are from one snapshot.
    ///
    /// # Errors
    /// The database can't be reached.
    pub async fn begin_reading(&self) -> Result<Transaction, DatabaseError> {
        Ok(match &self.0 {
            Pools::Sqlite { readers, .. } => Transaction::Sqlite(readers.begin().await?),
            Pools::Postgres(pool) => {
                let begin = "begin isolation level repeatable read read only";
                Transaction::Postgres(pool.begin_with(begin).await?)
            }
        })
    }

    /// Asks one question, and gives the rows of the answer.
    ///
    /// # Errors
    /// The database can't be reached, or refuses; or the rows are of another type.
    pub async fn query<T: FromRow>(&self, sql: &str, parameters: Vec<Value>) -> Result<Vec<T>, DatabaseError> {
        read_all(self.rows(sql, parameters).await?, sql)
    }

    /// Asks one question, and gives the first row of the answer, if it has any.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub async fn first<T: FromRow>(&self, sql: &str, parameters: Vec<Value>) -> Result<Option<T>, DatabaseError> {
        Ok(self.query(sql, parameters).await?.into_iter().next())
    }

    /// Asks one question whose answer always has a row, and gives that row.
    ///
    /// # Errors
    /// As [`Self::query`]; and there is no row.
    pub async fn one<T: FromRow>(&self, sql: &str, parameters: Vec<Value>) -> Result<T, DatabaseError> {
        let first = self.first(sql, parameters).await?;
        first.ok_or_else(|| DatabaseError::NoRow { statement: sql.to_owned() })
    }

    /// Whether the answer to a question has any row.
    ///
    /// # Errors
    /// The database can't be reached, or refuses.
    pub async fn exists(&self, sql: &str, parameters: Vec<Value>) -> Result<bool, DatabaseError> {
        Ok(!self.rows(sql, parameters).await?.is_empty())
    }

    /// Asks one question whose columns are not known before, and gives the rows of the answer as they are.
    ///
    /// # Errors
    /// The database can't be reached, or refuses.
    pub async fn rows(&self, sql: &str, parameters: Vec<Value>) -> Result<Vec<Row>, DatabaseError> {
        match &self.0 {
            Pools::Sqlite { readers, .. } => super::transaction::query_sqlite(readers, sql, parameters).await,
            Pools::Postgres(pool) => super::transaction::query_postgres(pool, sql, parameters).await,
        }
    }

    /// Copies what was committed from SQLite's log into its file, without being in anybody's way; whether there is such a log.
    pub(super) async fn checkpoint(&self) -> Result<bool, DatabaseError> {
        match &self.0 {
            Pools::Sqlite { readers, .. } => {
                super::transaction::query_sqlite(readers, "pragma wal_checkpoint(passive)", Vec::new()).await?;
                Ok(true)
            }
            Pools::Postgres(_) => Ok(false),
        }
    }

    /// Waits for what is under way, and closes all connections.
    pub async fn close(&self) {
        match &self.0 {
            Pools::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }
}

/// Makes the file if it is not there: only its owner may read it, since digests of secrets are in it. SQLite gives its log the same rights. One that is there
/// stays as it is.
fn keep_private(file: &Path) {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let is_readable = |metadata: std::fs::Metadata| metadata.permissions().mode() & 0o077 != 0;
    if made.is_err() && std::fs::metadata(file).is_ok_and(is_readable) {
        let file = file.display();
        tracing::warn!(
            "others than its owner can read or change the database `{file}`, which has digests of secrets in it: `chmod 600 {file}`"
        );
    }
}

async fn open_sqlite(file: &Path) -> Result<Database, DatabaseError> {
    keep_private(file);
    let options = sqlite_options().filename(file).create_if_missing(true);
    let writer = SqlitePoolOptions::new().max_connections(1).acquire_timeout(BUSY_TIMEOUT);
    // When the disk is full, SQLite itself rolls back. sqlx does not notice, and would take the connection for one inside a transaction for ever.
    let writer = writer.before_acquire(|connection, _| Box::pin(async { Ok(!connection.is_in_transaction()) }));
    // It is decided when the first table is made. To say it again takes the write lock, for which who only reads must not wait.
    let writing = options.clone().auto_vacuum(SqliteAutoVacuum::Incremental).page_size(PAGE_BYTES);
    let writer = writer.connect_with(writing.pragma("cache_size", WRITER_CACHE)).await?;
    migrate_sqlite(&writer).await?;
    let readers = SqlitePoolOptions::new().max_connections(READERS).acquire_timeout(ACQUIRE_TIMEOUT);
    let readers = readers.connect_with(options.pragma("query_only", "on")).await?;
    Ok(Database(Pools::Sqlite { writer, readers }))
}

/// A database in memory belongs to one connection: the one that writes answers too.
async fn open_memory() -> Result<Database, DatabaseError> {
    let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_with(sqlite_options().in_memory(true)).await?;
    migrate_sqlite(&pool).await?;
    Ok(Database(Pools::Sqlite { writer: pool.clone(), readers: pool }))
}

fn sqlite_options() -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .journal_mode(SqliteJournalMode::Wal)
        // What is acknowledged survives the power going off, not only the process.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        // Of every row of the history, its reconciler's row would be looked up, wherever that is. Tests check that nothing is dangling.
        .foreign_keys(false)
        .pragma("cache_size", READER_CACHE)
        .pragma("mmap_size", "67108864")
        // The writer does it where nobody else does ([`super::checkpoint`]), or what that leaves: then the log begins anew.
        .pragma("wal_autocheckpoint", "32768")
        .pragma("temp_store", "memory")
        .statement_cache_capacity(256)
        // Rows go from SQLite's thread to ours; each time one side waits for the other costs more than the row.
        .row_buffer_size(8_192)
}

/// In one transaction that has the write lock from its beginning: sqlx locks only PostgreSQL against others who do the same.
async fn migrate_sqlite(pool: &SqlitePool) -> Result<(), DatabaseError> {
    let mut transaction = pool.begin_with("begin immediate").await?;
    migrations::migrator(&migrations::SQLITE).run(&mut *transaction).await.map_err(of_migration)?;
    Ok(transaction.commit().await?)
}

async fn open_postgres(url: &str) -> Result<Database, DatabaseError> {
    let options: PgConnectOptions = url.parse().map_err(|_| DatabaseError::Refused("its URL is wrong".to_owned()))?;
    let options = options.application_name("kalypso-hub").options([("timezone", "utc")]);
    let pool = PgPoolOptions::new().max_connections(READERS + 4).acquire_timeout(ACQUIRE_TIMEOUT);
    let pool = pool.connect_with(options).await?;
    migrations::migrator(&migrations::POSTGRES).run(&pool).await.map_err(of_migration)?;
    Ok(Database(Pools::Postgres(pool)))
}

fn of_migration(error: sqlx::migrate::MigrateError) -> DatabaseError {
    match error {
        sqlx::migrate::MigrateError::Execute(error) => error.into(),
        error => DatabaseError::Tables(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_say_which_database() {
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
