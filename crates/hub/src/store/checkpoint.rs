//! Copies what SQLite's log holds into its file beside the writer, which otherwise would do it between two commits while everybody waits.

use std::time::Duration;

use super::database::Database;

/// Between two copies: long enough for pages that change often to be copied once for many transactions.
const PERIOD: Duration = Duration::from_millis(500);

/// Copies again and again until it is aborted. On PostgreSQL there is nothing to do.
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
