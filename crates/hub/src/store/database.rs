//! Connections to the database: SQLite or PostgreSQL.

use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::secret::{Secret, SecretSource};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, PgPool, SqlitePool};

use super::dialect::Dialect;
use super::error::DatabaseError;
use super::migrations;
use super::row::{FromRow, Row, read_all};
use super::transaction::Transaction;
use super::value::Value;

/// How long to wait for a connection before the database counts as unreachable.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long another process may hold SQLite's only write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The page size of a new file, in bytes. A report changes a few dozen bytes, usually on a page that no other report of the transaction changes. SQLite
/// writes whole pages, so small pages mean fewer bytes. The longest names still fit into the index entries of a page.
const PAGE_BYTES: u32 = 2_048;
/// The page cache of the writer in KiB, for SQLite's pragma `cache_size` (a negative number is KiB, a positive one is pages).
const WRITER_CACHE: &str = "-65536";
/// The page cache of each connection for questions, in the same unit.
const READER_CACHE: &str = "-32768";
/// Number of connections for questions.
const READERS: u32 = 8;

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
    /// SQLite has one writer at a time. Writes use a connection of their own, so that no connection waits for the lock and fails.
    Sqlite {
        writer: SqlitePool,
        readers: SqlitePool,
    },
    Postgres(PostgresPool),
}

/// The connections to PostgreSQL.
#[derive(Clone, Debug)]
struct PostgresPool {
    pool: PgPool,
    url: SecretSource,
    /// The URL that new connections use.
    used: Arc<Mutex<Secret>>,
}

impl Database {
    /// Opens a database and brings its tables up to date. Several processes may do that at once.
    ///
    /// # Errors
    /// The database can't be reached, or a later version of Kalypso has migrated it.
    pub async fn open(url: &DatabaseUrl) -> Result<Self, DatabaseError> {
        match url {
            DatabaseUrl::Sqlite(file) => open_sqlite(file).await,
            DatabaseUrl::Memory => open_memory().await,
            DatabaseUrl::Postgres(url) => open_postgres(Secret::new(url).into()).await,
            DatabaseUrl::ReplaceablePostgres(url) => open_postgres(url.clone()).await,
        }
    }

    /// The SQL dialect of the database.
    pub fn dialect(&self) -> Dialect {
        match &self.0 {
            Pools::Sqlite { .. } => Dialect::Sqlite,
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
            Pools::Sqlite { writer, .. } => Transaction::Sqlite(writer.begin_with("begin immediate").await?),
            Pools::Postgres(pool) => Transaction::Postgres(pool.current().begin().await?),
        })
    }

    /// Begins a transaction that reads: all its statements see the same state of the database.
    ///
    /// # Errors
    /// The database can't be reached.
    pub async fn begin_reading(&self) -> Result<Transaction, DatabaseError> {
        Ok(match &self.0 {
            Pools::Sqlite { readers, .. } => Transaction::Sqlite(readers.begin().await?),
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
    pub async fn query<T: FromRow>(&self, sql: &str, parameters: Vec<Value>) -> Result<Vec<T>, DatabaseError> {
        read_all(self.rows(sql, parameters).await?, sql)
    }

    /// Runs one query and returns its first row, if there is any.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub async fn first<T: FromRow>(&self, sql: &str, parameters: Vec<Value>) -> Result<Option<T>, DatabaseError> {
        Ok(self.query(sql, parameters).await?.into_iter().next())
    }

    /// Runs one query that always has a row, and returns that row.
    ///
    /// # Errors
    /// As [`Self::query`]; and if there is no row.
    pub async fn one<T: FromRow>(&self, sql: &str, parameters: Vec<Value>) -> Result<T, DatabaseError> {
        let first = self.first(sql, parameters).await?;
        first.ok_or_else(|| DatabaseError::NoRow { statement: sql.to_owned() })
    }

    /// Whether a query has any row.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn exists(&self, sql: &str, parameters: Vec<Value>) -> Result<bool, DatabaseError> {
        Ok(!self.rows(sql, parameters).await?.is_empty())
    }

    /// Runs one query whose columns are not known at compile time, and returns its rows without conversion.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn rows(&self, sql: &str, parameters: Vec<Value>) -> Result<Vec<Row>, DatabaseError> {
        match &self.0 {
            Pools::Sqlite { readers, .. } => super::transaction::query_sqlite(readers, sql, parameters).await,
            Pools::Postgres(pool) => super::transaction::query_postgres(pool.current(), sql, parameters).await,
        }
    }

    /// Copies committed pages from SQLite's log into its file, without blocking readers or the writer. Returns whether the database has such a log.
    pub(super) async fn checkpoint(&self) -> Result<bool, DatabaseError> {
        match &self.0 {
            Pools::Sqlite { readers, .. } => {
                super::transaction::query_sqlite(readers, "pragma wal_checkpoint(passive)", Vec::new()).await?;
                Ok(true)
            }
            Pools::Postgres(_) => Ok(false),
        }
    }

    /// Waits for running statements, and closes all connections.
    pub async fn close(&self) {
        match &self.0 {
            Pools::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.pool.close().await,
        }
    }
}

/// Creates the file if it does not exist. Only its owner may read it, because it contains digests of secrets. SQLite gives its log the same permissions.
/// The permissions of an existing file do not change; if others can read or change it, a warning is logged.
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
    // When the disk is full, SQLite itself rolls back. sqlx does not notice this, and would treat the connection as inside a transaction forever.
    let writer = writer.before_acquire(|connection, _| Box::pin(async { Ok(!connection.is_in_transaction()) }));
    // These settings take effect when the first table is created. To set them again takes the write lock, and connections that only read must not
    // wait for it.
    let writing = options.clone().auto_vacuum(SqliteAutoVacuum::Incremental).page_size(PAGE_BYTES);
    let writer = writer.connect_with(writing.pragma("cache_size", WRITER_CACHE)).await?;
    migrate_sqlite(&writer).await?;
    let readers = SqlitePoolOptions::new().max_connections(READERS).acquire_timeout(ACQUIRE_TIMEOUT);
    let readers = readers.connect_with(options.pragma("query_only", "on")).await?;
    Ok(Database(Pools::Sqlite { writer, readers }))
}

/// A database in memory belongs to one connection: it serves writes and reads.
async fn open_memory() -> Result<Database, DatabaseError> {
    let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_with(sqlite_options().in_memory(true)).await?;
    migrate_sqlite(&pool).await?;
    Ok(Database(Pools::Sqlite { writer: pool.clone(), readers: pool }))
}

fn sqlite_options() -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .journal_mode(SqliteJournalMode::Wal)
        // Acknowledged data survives a power failure, not only the end of the process.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        // With foreign keys, SQLite would read the reconciler's row for each new row of the history. Tests check that there are no dangling references.
        .foreign_keys(false)
        .pragma("cache_size", READER_CACHE)
        .pragma("mmap_size", "67108864")
        // The writer runs a checkpoint itself if [`super::checkpoint`] does not run or leaves pages behind: then the log starts again.
        .pragma("wal_autocheckpoint", "32768")
        .pragma("temp_store", "memory")
        .statement_cache_capacity(256)
        // Rows pass from SQLite's thread to the caller's. Each wait of one side for the other costs more than a row.
        .row_buffer_size(8_192)
}

/// Migrates in one transaction that has the write lock from its beginning: sqlx locks only PostgreSQL against concurrent migrations.
async fn migrate_sqlite(pool: &SqlitePool) -> Result<(), DatabaseError> {
    let mut transaction = pool.begin_with("begin immediate").await?;
    migrations::migrate_sqlite(&mut transaction).await.map_err(of_migration)?;
    Ok(transaction.commit().await?)
}

async fn open_postgres(url: SecretSource) -> Result<Database, DatabaseError> {
    let used = url.current();
    let pool = PgPoolOptions::new().max_connections(READERS + 4).acquire_timeout(ACQUIRE_TIMEOUT);
    let pool = pool.connect_with(postgres_options(&used)?).await?;
    migrations::migrate_postgres(&mut *pool.acquire().await?).await.map_err(of_migration)?;
    Ok(Database(Pools::Postgres(PostgresPool { pool, url, used: Arc::new(Mutex::new(used)) })))
}

fn postgres_options(url: &Secret) -> Result<PgConnectOptions, DatabaseError> {
    let options: Result<PgConnectOptions, _> = url.reveal().parse();
    let options = options.map_err(|_| DatabaseError::Refused("its URL is wrong".to_owned()))?;
    Ok(options.application_name("kalypso-hub").options([("timezone", "utc")]))
}

impl PostgresPool {
    /// The connections. If a new one may be needed, the current URL is read. Open connections stay: their user is authenticated already.
    fn current(&self) -> &PgPool {
        if self.pool.num_idle() > 0 {
            return &self.pool;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(url) = self.url.replaced(&used) {
            if let Ok(options) = postgres_options(&url) {
                self.pool.set_connect_options(options);
            } else {
                tracing::warn!("the replaced URL of the database is wrong, so the last one is used");
            }
            *used = url;
        }
        &self.pool
    }
}

fn of_migration(error: sqlx::migrate::MigrateError) -> DatabaseError {
    match error {
        sqlx::migrate::MigrateError::Execute(error) => error.into(),
        sqlx::migrate::MigrateError::VersionMissing(version) if version < migrations::FIRST => {
            let first = migrations::FIRST;
            let text = format!(
                "they are of a build before 0.1.0. Start a build whose tables have version {first} once: it upgrades the database"
            );
            DatabaseError::Tables(text)
        }
        error => DatabaseError::Tables(error.to_string()),
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
