//! A client of a hub: for queries, reports, publications and management.

mod compiled;
mod events;
mod http;
mod management;
mod promotions;
mod queries;
mod syncs;
mod transport;
mod views;

use std::time::Duration;

use model::secret::SecretSource;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::events::{EventStream, StreamItem};
pub use self::http::HttpTransport;
use self::http::{Body, JSON};
pub use self::transport::{Transport, TransportAnswer};
use crate::publication::{Publication, PublicationQuery, PublicationReceipt, PublicationState};
use crate::report::receipt::{Receipt, RefusedReport};

/// The maximum number of shown characters of an unexpected answer.
const SHOWN_MAX: usize = 200;

/// A client of one hub.
#[derive(Clone, Debug)]
pub struct Client<T = HttpTransport> {
    transport: T,
}

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL can't be the URL of a hub.
    #[error("`{url}` is no URL of a hub: {reason}")]
    Url {
        /// The URL, without a credential.
        url: String,
        /// The reason.
        reason: String,
    },
    /// There is no answer, or not in time.
    #[error("the hub at {url} can't be reached: {reason}")]
    Unreachable {
        /// The URL of the hub.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The hub refuses the request.
    #[error("{detail}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The message of the hub.
        detail: String,
        /// The advice of the hub.
        hint: Option<String>,
        /// The refused reports, if reports were sent.
        refused: Vec<RefusedReport>,
    },
    /// The server is not a hub, or has an unknown version.
    #[error("the server at {url} does not answer like a hub: {reason}")]
    Unexpected {
        /// The URL of the hub.
        url: String,
        /// The reason.
        reason: String,
    },
}

impl<T: Transport> Client<T> {
    /// A client with this transport.
    pub fn over(transport: T) -> Self {
        Self { transport }
    }

    /// Sends a query to a path below `/api/v1`.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    async fn get<A: DeserializeOwned>(&self, path: &[&str], parameters: &[(String, String)]) -> Result<A, ClientError> {
        self.transport.query(path, parameters).await?.read(|| self.transport.url())
    }

    /// The last commit of which all places of an output were published.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query. An earlier version of the hub does not know it, with the status 404 or 405.
    pub async fn publication_state(&self, query: &PublicationQuery) -> Result<PublicationState, ClientError> {
        let PublicationQuery { repository, branch, environment, folder } = query;
        let parameters =
            [("repository", repository), ("branch", branch), ("environment", environment), ("folder", folder)];
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value.clone()));
        self.get(&["publications"], &parameters).await
    }
}

impl Client {
    /// Creates a client for the hub at a URL. With a token, all requests contain it.
    ///
    /// # Errors
    /// If the URL is not valid, or contains a user or a password.
    pub fn new(url: &str, token: Option<String>) -> Result<Self, ClientError> {
        HttpTransport::new(url, token).map(Self::over)
    }

    /// The same client with a token that may be replaced. Each request contains the current one.
    #[must_use]
    pub fn with_token(self, token: SecretSource) -> Self {
        Self::over(HttpTransport { token: Some(token), ..self.transport })
    }

    /// Sends reports: one, a list, or with `are_lines` one on each line. If the hub is busy or can't be reached, the request is repeated for at most
    /// `retry_time`, after the pause that the hub names or after growing pauses. Sending the same reports again is harmless.
    ///
    /// # Errors
    /// If the hub can't be reached in that time, or refuses the whole request. Refused reports are no error, but part of the receipt.
    pub async fn report(&self, body: Vec<u8>, are_lines: bool, retry_time: Duration) -> Result<Receipt, ClientError> {
        let media_type = if are_lines { "application/x-ndjson" } else { JSON };
        self.receipt(self.transport.post("reports", Body { media_type, bytes: body }, retry_time).await?).await
    }

    /// Sends a publication: the content of a branch at a commit, or the content that a proposed change will bring. At most
    /// [`PUBLICATION_PLACES_MAX`](crate::limits::PUBLICATION_PLACES_MAX) places at a time. The request is repeated as in [`Self::report`]. Sending the same
    /// publication again is harmless.
    ///
    /// # Errors
    /// If the hub can't be reached in that time, or refuses the publication.
    pub async fn publish(
        &self,
        publication: &Publication,
        retry_time: Duration,
    ) -> Result<PublicationReceipt, ClientError> {
        let body = self.transport.json(publication)?;
        self.transport.read(self.transport.post("publications", body, retry_time).await?).await
    }

    /// Sends a message in the format of a reconciler to a path of the hub, with these headers. It is sent only once.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the message.
    pub async fn relay(
        &self,
        path: &str,
        headers: &[(&'static str, String)],
        body: Vec<u8>,
    ) -> Result<(), ClientError> {
        let mut url = self.transport.url.clone();
        url.set_path(path);
        let request =
            headers.iter().fold(self.transport.client.post(url), |request, (name, value)| request.header(*name, value));
        let response = self.transport.send(request.body(body)).await?;
        if response.status().is_success() { Ok(()) } else { self.transport.read(response).await }
    }

    /// Reads the receipt. If all reports are refused, the status is an error, but the answer lists the reports.
    async fn receipt(&self, response: reqwest::Response) -> Result<Receipt, ClientError> {
        match self.transport.read(response).await {
            Err(ClientError::Refused { refused, .. }) if !refused.is_empty() => {
                Ok(Receipt { refused, ..Receipt::default() })
            }
            other => other,
        }
    }
}

/// The beginning of a text, without control characters, which a terminal would execute.
fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(SHOWN_MAX).collect()
}

/// Converts a value, such as a filter, to parameters of a query. Fields without a value are left out.
fn parameters(of: &impl Serialize) -> Vec<(String, String)> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(of) else { return Vec::new() };
    let text = |value: serde_json::Value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    fields.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect()
}
