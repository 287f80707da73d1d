//! The methods for the views of the caller.

use reqwest::Method;

use super::{Client, ClientError, Transport};
use crate::views::{ViewContent, Views};

impl<T: Transport> Client<T> {
    /// The views of the caller, the favourites first. Everyone who may read has views.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn views(&self) -> Result<Views, ClientError> {
        self.get(&["views"], &[]).await
    }

    /// Keeps a view of the caller. One with the same name is replaced.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the view: the name or the address is not valid, or there are too many.
    pub async fn keep_view(&self, name: &str, content: &ViewContent) -> Result<(), ClientError> {
        let unexpected =
            |error: serde_json::Error| ClientError::Unexpected { url: self.transport.url(), reason: error.to_string() };
        let body = serde_json::to_vec(content).map_err(unexpected)?;
        let answer = self.transport.change(Method::PUT, &["views", name], Some(body)).await?;
        answer.done(|| self.transport.url())
    }

    /// Removes a view of the caller.
    ///
    /// # Errors
    /// If the hub can't be reached, or the caller has no view with this name.
    pub async fn remove_view(&self, name: &str) -> Result<(), ClientError> {
        let answer = self.transport.change(Method::DELETE, &["views", name], None).await?;
        answer.done(|| self.transport.url())
    }
}
