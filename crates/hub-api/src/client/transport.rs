//! How queries reach a hub: over HTTP, or in the process of the hub itself.

use reqwest::Method;
use serde::de::DeserializeOwned;

use super::{ClientError, shown};
use crate::problem::Problem;

/// How queries reach a hub.
pub trait Transport: Sync {
    /// Sends a query to a path below `/api/v1`, given by its segments.
    ///
    /// # Errors
    /// If there is no answer.
    fn query(
        &self,
        path: &[&str],
        parameters: &[(String, String)],
    ) -> impl Future<Output = Result<TransportAnswer, ClientError>> + Send;

    /// Sends a change to a path below `/api/v1`, given by its segments, once. `body` is JSON; none: the request has no body.
    ///
    /// # Errors
    /// If there is no answer.
    fn change(
        &self,
        method: Method,
        path: &[&str],
        body: Option<Vec<u8>>,
    ) -> impl Future<Output = Result<TransportAnswer, ClientError>> + Send;

    /// The address of the hub, for messages.
    fn url(&self) -> String;
}

/// The answer to a query.
#[derive(Clone, Debug)]
pub struct TransportAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

impl TransportAnswer {
    /// The value of the answer of the hub at `url`.
    ///
    /// # Errors
    /// If the hub refuses the query, or the body is something else.
    pub(super) fn read<T: DeserializeOwned>(&self, url: impl FnOnce() -> String) -> Result<T, ClientError> {
        let Self { status, body } = self;
        if !(200..300).contains(status) {
            return Err(self.refusal(url));
        }
        serde_json::from_slice(body).map_err(|error| ClientError::Unexpected { url: url(), reason: error.to_string() })
    }

    /// Checks the answer to a change, which has no body.
    ///
    /// # Errors
    /// If the hub refuses the change.
    pub(super) fn done(&self, url: impl FnOnce() -> String) -> Result<(), ClientError> {
        if (200..300).contains(&self.status) { Ok(()) } else { Err(self.refusal(url)) }
    }

    /// Why the hub refuses.
    fn refusal(&self, url: impl FnOnce() -> String) -> ClientError {
        let Self { status, body } = self;
        if let Ok(Problem { detail, hint, refused, .. }) = serde_json::from_slice(body) {
            return ClientError::Refused { status: *status, detail, hint, refused };
        }
        let reason = format!("{status}: {}", shown(&String::from_utf8_lossy(body)));
        ClientError::Unexpected { url: url(), reason }
    }
}
