//! The connections to PostgreSQL.

use std::sync::{Arc, Mutex, PoisonError};

use model::secret::{Secret, SecretSource};
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use super::error::DatabaseError;
use super::{ACQUIRE_TIMEOUT, READERS, migrations};

/// The connections to PostgreSQL.
#[derive(Clone, Debug)]
pub(super) struct PostgresPool {
    pub(super) pool: PgPool,
    url: SecretSource,
    /// The URL that new connections use.
    used: Arc<Mutex<Secret>>,
}

impl PostgresPool {
    /// Opens a database.
    pub(super) async fn open(url: SecretSource) -> Result<Self, DatabaseError> {
        let used = url.current();
        let pool = PgPoolOptions::new().max_connections(READERS + 4).acquire_timeout(ACQUIRE_TIMEOUT);
        let pool = pool.connect_with(postgres_options(&used)?).await?;
        migrations::migrate_postgres(&mut *pool.acquire().await?).await?;
        Ok(Self { pool, url, used: Arc::new(Mutex::new(used)) })
    }

    /// The connections. If a new one may be needed, the current URL is read. Open connections stay: their user is authenticated already.
    pub(super) fn current(&self) -> &PgPool {
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

fn postgres_options(url: &Secret) -> Result<PgConnectOptions, DatabaseError> {
    let options: Result<PgConnectOptions, _> = url.reveal().parse();
    let options = options.map_err(|_| DatabaseError::Refused("its URL is wrong".to_owned()))?;
    Ok(options.application_name("kalypso-hub").options([("timezone", "utc")]))
}
