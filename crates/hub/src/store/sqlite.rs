//! The connections to SQLite, and its settings.

use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, SqlitePool};
use tokio::time::Instant;

use super::error::DatabaseError;
use super::{ACQUIRE_TIMEOUT, READERS, migrations};

/// How long another process may hold SQLite's only write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause before a file is opened again whose lock another process holds.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// The page size of a new file, in bytes. A report changes a few dozen bytes, usually on a page that no other report of the transaction changes. SQLite
/// writes whole pages, so small pages mean fewer bytes. The longest names still fit into the index entries of a page.
const PAGE_BYTES: u32 = 2_048;
/// The page cache of the writer in KiB, for SQLite's pragma `cache_size` (a negative number is KiB, a positive one is pages).
const WRITER_CACHE: &str = "-65536";
/// The page cache of each connection for questions, in the same unit.
const READER_CACHE: &str = "-32768";
/// The connections to SQLite, which has one writer at a time. Writes use a connection of their own, so that no connection waits for the lock and fails.
#[derive(Clone, Debug)]
pub(super) struct SqlitePools {
    pub(super) writer: SqlitePool,
    pub(super) readers: SqlitePool,
}

impl SqlitePools {
    /// Opens a file. It is created if it does not exist.
    ///
    /// SQLite's busy timeout does not apply where a wait could be a deadlock: when several processes change a new file to a write-ahead log at once,
    /// all but one get `SQLITE_BUSY` immediately. They open the file again.
    pub(super) async fn open(file: &Path) -> Result<Self, DatabaseError> {
        keep_private(file);
        let given_up = Instant::now() + BUSY_TIMEOUT;
        loop {
            match Self::connect(file).await {
                Err(DatabaseError::Conflict(_)) if Instant::now() < given_up => tokio::time::sleep(BUSY_PAUSE).await,
                pools_or_error => return pools_or_error,
            }
        }
    }

    async fn connect(file: &Path) -> Result<Self, DatabaseError> {
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
        Ok(Self { writer, readers })
    }

    /// A database in memory belongs to one connection: it serves writes and reads.
    pub(super) async fn in_memory() -> Result<Self, DatabaseError> {
        let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        let pool = pool.connect_with(sqlite_options().in_memory(true)).await?;
        migrate_sqlite(&pool).await?;
        Ok(Self { writer: pool.clone(), readers: pool })
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
    migrations::migrate_sqlite(&mut transaction).await?;
    Ok(transaction.commit().await?)
}
