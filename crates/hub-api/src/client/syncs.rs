//! Requests to the service: the syncs of environments.

use reqwest::Method;

use super::{Client, ClientError, Transport};
use crate::syncs::{Confirmation, EnvironmentSync, EnvironmentSyncDetail, SyncReceipt, SyncRequest};

impl<T: Transport> Client<T> {
    /// The environments of the service. Empty if the process is only a hub.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn syncs(&self) -> Result<Vec<EnvironmentSync>, ClientError> {
        self.get(&["syncs"], &[]).await
    }

    /// An environment of the service, with its plans and problems.
    ///
    /// # Errors
    /// If there is no such environment, the hub can't be reached, or refuses the query.
    pub async fn sync_detail(&self, environment: &str) -> Result<EnvironmentSyncDetail, ClientError> {
        self.get(&["syncs", environment], &[]).await
    }
}

impl Client {
    /// Requests a sync. The answer comes before the sync ends.
    ///
    /// # Errors
    /// If there is no such environment, the hub can't be reached, or refuses the request.
    pub async fn request_sync(&self, request: &SyncRequest) -> Result<SyncReceipt, ClientError> {
        self.transport.read(self.request(Method::POST, &["sync"], request).await?).await
    }

    /// Confirms removals.
    ///
    /// # Errors
    /// If the word confirms nothing in the environment, the hub can't be reached, or refuses the request.
    pub async fn confirm(&self, confirmation: &Confirmation) -> Result<SyncReceipt, ClientError> {
        self.transport.read(self.request(Method::POST, &["confirmations"], confirmation).await?).await
    }
}
