//! How queries reach a hub: over HTTP, or in the process of the hub itself.

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
        let unexpected = |reason: String| ClientError::Unexpected { url: url(), reason };
        if (200..300).contains(status) {
            return serde_json::from_slice(body).map_err(|error| unexpected(error.to_string()));
        }
        match serde_json::from_slice::<Problem>(body) {
            Ok(Problem { detail, hint, refused, .. }) => {
                Err(ClientError::Refused { status: *status, detail, hint, refused })
            }
            Err(_) => Err(unexpected(format!("{status}: {}", shown(&String::from_utf8_lossy(body))))),
        }
    }
}
