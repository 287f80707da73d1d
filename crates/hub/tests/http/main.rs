//! The hub as its clients see it: real servers on this machine, with requests over HTTP.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod browser;
mod description;
mod desired;
mod encrypted;
mod events;
mod forged_requests;
mod formats;
mod identity_provider;
mod limits;
mod management;
mod openapi;
mod operation;
mod otlp;
mod promotions;
mod questions;
mod reach;
mod rights;
mod roles;
mod sessions;
mod sign_in;
mod statuses;
mod stopping;
mod syncs;
mod views;

use std::net::SocketAddr;
use std::time::Duration;

use hub::authentication::tokens::{self, NewToken};
use hub::management::retention::Retention;
use hub::server::{Server, ServerOptions};
use hub::store::{Database, DatabaseUrl};
use hub_api::token::TokenText;
use hub_api::tokens::Scope;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running hub with its own database.
struct Hub {
    folder: tempfile::TempDir,
    /// The database as another process sees it.
    database: Database,
    address: SocketAddr,
    client: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

impl Hub {
    async fn start() -> Self {
        Self::start_with(|_| ()).await
    }

    async fn start_with(change: impl FnOnce(&mut ServerOptions)) -> Self {
        Self::start_server(change, |server| server).await
    }

    async fn start_server(change: impl FnOnce(&mut ServerOptions), extend: impl FnOnce(Server) -> Server) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(folder.path().join("hub.db"));
        Self::start_at((url, folder), change, extend).await
    }

    /// Another hub with the same database.
    async fn replica(url: DatabaseUrl, change: impl FnOnce(&mut ServerOptions)) -> Self {
        Self::start_at((url, tempfile::tempdir().unwrap()), change, |server| server).await
    }

    async fn start_at(
        (url, folder): (DatabaseUrl, tempfile::TempDir),
        change: impl FnOnce(&mut ServerOptions),
        extend: impl FnOnce(Server) -> Server,
    ) -> Self {
        let mut options = Self::options(url.clone());
        change(&mut options);
        let server = extend(Server::start(options).await.unwrap());
        let database = Database::open(&url).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let address = server.address();
        let running = tokio::spawn(server.run(async move { drop(stopped.await) }));
        Self { folder, database, address, client: client(), stop: Some(stop), running }
    }

    /// The options of a hub, unless a test sets others.
    fn options(database: DatabaseUrl) -> ServerOptions {
        ServerOptions {
            listen: "127.0.0.1:0".into(),
            database,
            issuer: None,
            certificate: None,
            retention: Retention::default(),
        }
    }

    fn database_url(&self) -> DatabaseUrl {
        DatabaseUrl::Sqlite(self.folder.path().join("hub.db"))
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.url(path))
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.url(path))
    }

    /// Creates a token with a name and a scope.
    async fn token(&self, name: &str, scope: Scope) -> TokenText {
        let token = NewToken { name: name.into(), signs: scope.may_report(), scope, expires_on: None };
        tokens::create(&self.database, &token, "test").await.unwrap()
    }

    /// Sends a report with that token.
    async fn report(&self, token: &TokenText, report: &Value) -> Response {
        self.post("/api/v1/reports").bearer_auth(token.reveal()).json(report).send().await.unwrap()
    }

    /// The history: host, reconciler and message of each report, in order.
    async fn history(&self) -> Vec<String> {
        let sql = "select h.name, r.name, d.status_message from deployment d join reconciler r on r.id = d.reconciler_id \
                   join host h on h.id = r.host_id order by h.name, r.name, d.id";
        let rows = self.database.query::<(String, String, Option<String>)>(sql, vec![]).await.unwrap();
        let line = |(host, reconciler, message): (_, _, Option<_>)| {
            format!("{host}/{reconciler}: {}", message.unwrap_or_default())
        };
        rows.into_iter().map(line).collect()
    }

    /// Stops the hub, and waits until it has stopped.
    async fn stop(&mut self) {
        drop(self.stop.take());
        (&mut self.running).await.unwrap();
    }
}

/// Advances the time without waiting.
async fn later(duration: Duration) {
    tokio::time::pause();
    tokio::time::advance(duration).await;
    tokio::time::resume();
}

fn client() -> reqwest::Client {
    hub_api::tls::install_provider();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// A valid report of a host.
fn report(host: &str, message: &str) -> Value {
    json!({"host": host, "reconciler": "checkout", "status": "success", "revision": "main@sha1:4", "message": message})
}

/// The status of a response, which must be a complete problem document, with its type and its detail.
async fn problem(response: Response) -> (StatusCode, String, String) {
    let status = response.status();
    assert_eq!(response.headers()["content-type"], "application/problem+json", "{status}");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["status"], status.as_u16(), "{body}");
    assert!(body["title"].as_str().is_some_and(|title| !title.is_empty()), "{body}");
    let kind = body["type"].as_str().unwrap().strip_prefix("urn:kalypso:problem:").unwrap().to_owned();
    (status, kind, body["detail"].as_str().unwrap().to_owned())
}
