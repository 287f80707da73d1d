//! Checkpoints of SQLite: copies the log into the file, in parallel to the writer. Otherwise the writer would do it between two commits, and all
//! other writes would wait.

use std::time::Duration;

use super::database::Database;

/// The pause between two checkpoints. It is long enough to copy frequently changed pages once for many transactions.
const PERIOD: Duration = Duration::from_millis(500);

/// Runs checkpoints periodically until it is aborted. On PostgreSQL it does nothing.
pub async fn watch(database: Database) {
    loop {
        tokio::time::sleep(PERIOD).await;
        match database.checkpoint().await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::debug!(%error, "the log of the database can't be copied now"),
        }
    }
}
