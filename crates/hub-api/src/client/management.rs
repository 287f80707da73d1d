//! The methods for managing a hub: tokens, hosts, watched branches and the audit log.

use reqwest::{Method, Response, StatusCode, header};
use serde::Serialize;

use super::{Body, Client, ClientError, Transport, parameters};
use crate::audit::{AuditEntries, AuditFilter};
use crate::hosts::{HostPage, HostRegistration, Hosts};
use crate::sessions::{SessionState, Sessions, SignInMethods};
use crate::tokens::{Caller, CreatedToken, TokenRequest, Tokens};

impl<T: Transport> Client<T> {
    /// The tokens, without their secrets. The token of this client must have the role `manage` or `admin`, as for all methods of this module
    /// whose description does not say otherwise.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request.
    pub async fn tokens(&self) -> Result<Tokens, ClientError> {
        self.get(&["tokens"], &[]).await
    }

    /// Who this client is for the hub. Every valid token may ask.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request.
    pub async fn caller(&self) -> Result<Caller, ClientError> {
        self.get(&["caller"], &[]).await
    }

    /// A page of hosts with their reconcilers, by name.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request.
    pub async fn hosts(&self, page: &HostPage) -> Result<Hosts, ClientError> {
        self.get(&["hosts"], &parameters(page)).await
    }

    /// A page of the audit log, newest first.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request.
    pub async fn audit(&self, filter: &AuditFilter) -> Result<AuditEntries, ClientError> {
        self.get(&["audit"], &parameters(filter)).await
    }

    /// Who this client is for the hub, how it is authenticated, and all its permissions. Every caller may ask.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request.
    pub async fn session(&self) -> Result<SessionState, ClientError> {
        self.get(&["session"], &[]).await
    }

    /// The ways to sign in with a browser. No token is necessary.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request.
    pub async fn sign_in_methods(&self) -> Result<SignInMethods, ClientError> {
        self.get(&["sign-in"], &[]).await
    }

    /// The sessions of all people who are signed in with a browser. The token of this client must have the role `admin`.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request.
    pub async fn sessions(&self) -> Result<Sessions, ClientError> {
        self.get(&["sessions"], &[]).await
    }
}

impl Client {
    /// Ends all sessions of a person. The token of this client must have the role `admin`.
    ///
    /// # Errors
    /// If the hub can't be reached, has no session of this person, or refuses the request.
    pub async fn end_sessions(&self, name: &str) -> Result<(), ClientError> {
        self.command(Method::DELETE, &["sessions"], &[("name".to_owned(), name.to_owned())]).await
    }

    /// Creates a token. The answer is the only one that contains its secret. The request is sent only once, because it is not idempotent.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request: for example, a token with this name exists.
    pub async fn create_token(&self, request: &TokenRequest) -> Result<CreatedToken, ClientError> {
        let response = self.request(Method::POST, &["tokens"], request).await?;
        self.transport.read(response).await
    }

    /// Revokes a token by its name or id.
    ///
    /// # Errors
    /// If the hub can't be reached, has no such token, or refuses the request.
    pub async fn revoke_token(&self, name: &str) -> Result<(), ClientError> {
        self.command(Method::DELETE, &["tokens", name], &[]).await
    }

    /// Registers a host before its first report, or changes its labels, or adds a reconciler. A retired host stays retired.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request.
    pub async fn register_host(&self, host: &str, registration: &HostRegistration) -> Result<(), ClientError> {
        self.read_empty(self.request(Method::PUT, &["hosts", host], registration).await?).await
    }

    /// Takes a host out of service, or only one of its reconcilers. Its history is kept.
    ///
    /// # Errors
    /// If the hub can't be reached, has no such host or reconciler, or refuses the request.
    pub async fn retire_host(&self, host: &str, reconciler: Option<&str>) -> Result<(), ClientError> {
        self.command(Method::POST, &["hosts", host, "retire"], &of_reconciler(reconciler)).await
    }

    /// Returns a host to service, or only one of its reconcilers.
    ///
    /// # Errors
    /// If the hub can't be reached, has no such host or reconciler, or refuses the request.
    pub async fn restore_host(&self, host: &str, reconciler: Option<&str>) -> Result<(), ClientError> {
        self.command(Method::POST, &["hosts", host, "restore"], &of_reconciler(reconciler)).await
    }

    /// Polls all watched branches at once. It does not wait for the result. The token of this client must have the role `admin`.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the request.
    pub async fn refresh_watches(&self) -> Result<(), ClientError> {
        self.command(Method::POST, &["refresh"], &[]).await
    }

    /// Sends a request without a body, once. Its answer has none either.
    async fn command(&self, method: Method, path: &[&str], parameters: &[(String, String)]) -> Result<(), ClientError> {
        let request = self.transport.client.request(method, self.transport.url_of(path, parameters)?);
        self.read_empty(self.transport.send(request).await?).await
    }

    /// Reads an answer that has no body.
    async fn read_empty(&self, response: Response) -> Result<(), ClientError> {
        match response.status() {
            StatusCode::NO_CONTENT | StatusCode::ACCEPTED => Ok(()),
            status if status.is_success() => {
                Err(self.transport.unexpected(&format!("it answers {status} to a command")))
            }
            _ => self.transport.read(response).await,
        }
    }

    /// Sends a request with a body in JSON, once.
    pub(super) async fn request(
        &self,
        method: Method,
        path: &[&str],
        body: &impl Serialize,
    ) -> Result<Response, ClientError> {
        let request = self.transport.client.request(method, self.transport.url_of(path, &[])?);
        let Body { media_type, bytes } = self.transport.json(body)?;
        self.transport.send(request.header(header::CONTENT_TYPE, media_type).body(bytes)).await
    }
}

/// The parameter that selects one reconciler of a host.
fn of_reconciler(name: Option<&str>) -> Vec<(String, String)> {
    name.map(|name| ("reconciler".to_owned(), name.to_owned())).into_iter().collect()
}
