//! The pages as browsers get them: a real hub with a fleet, and every page that a link leads to.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]
#![allow(clippy::print_stdout, reason = "a test says why it is skipped")]

mod browser;
mod crawl;
mod downloads;
mod hostile;
mod past;
mod places;
mod roles;
mod tables;
mod views;
mod workloads;

use std::net::SocketAddr;

use hub::authentication::tokens::{self, NewToken};
use hub::management::retention::Retention;
use hub::server::{Server, ServerOptions};
use hub::store::{Database, DatabaseUrl};
use hub_api::tokens::Scope;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running hub with its pages and its own database.
struct Site {
    _folder: tempfile::TempDir,
    database: Database,
    address: SocketAddr,
    client: reqwest::Client,
    /// The token of an administrator, who reports and publishes.
    administrator: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

/// A page that was read.
#[derive(Debug)]
struct Page {
    path: String,
    status: StatusCode,
    html: String,
}

impl Site {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(folder.path().join("hub.db"));
        let options = ServerOptions {
            listen: "127.0.0.1:0".into(),
            database: url.clone(),
            issuer: None,
            certificate: None,
            retention: Retention::default(),
        };
        let server = Server::start(options).await.unwrap().presenting(web::with_pages);
        let database = Database::open(&url).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let address = server.address();
        let running = tokio::spawn(server.run(async move { drop(stopped.await) }));
        hub_api::tls::install_provider();
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let mut site = Self {
            _folder: folder,
            database,
            address,
            client: client.build().unwrap(),
            administrator: String::new(),
            stop,
            running,
        };
        site.administrator = site.token("administrator", Scope::Admin).await;
        site
    }

    /// Stops the hub, and waits until it has stopped.
    async fn stop(self) {
        drop(self.stop);
        self.running.await.unwrap();
    }

    /// Creates a token with a name and a scope.
    async fn token(&self, name: &str, scope: Scope) -> String {
        let token = NewToken { name: name.into(), signs: scope.may_report(), scope, expires_on: None };
        tokens::create(&self.database, &token, "test").await.unwrap().reveal().clone()
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Makes content desired at a place of an environment: of the platform, for one target.
    async fn publish(&self, environment: &str, names: &Names) {
        self.publish_on(environment, names, "2026-11-21T13:44:01Z").await;
    }

    /// The same with the time of the commit. A later commit replaces what an earlier one made desired.
    async fn publish_on(&self, environment: &str, names: &Names, committed_on: &str) {
        let body = json!({
            "repository": "https://git.example/acme/gitops", "branch": environment, "commit": names.commit,
            "committedOn": committed_on,
            "places": [{
                "path": format!("{}/{}", names.cluster_type, names.target), "tree": names.commit, "role": "platform",
                "environment": environment, "clusterType": names.cluster_type, "configVersion": names.version,
                "targets": [{
                    "workspace": names.workspace, "application": "shop", "workload": names.workload, "name": names.target,
                    "environment": environment, "labels": {"region": names.label}, "sourceEndpoint": "https://git.example/acme/shop/main/x",
                    "version": {"version": names.version, "build": "7", "commit": "dd13f00"}
                }]
            }]
        });
        let response = self.post("/api/v1/publications", &body).await;
        assert_eq!(response.status(), StatusCode::OK, "{}", response.text().await.unwrap());
    }

    /// Reports what a reconciler of a host applied.
    async fn report(&self, names: &Names, environment: &str, status: &str) {
        let body = json!({
            "host": names.host, "reconciler": names.reconciler, "status": status, "message": names.message,
            "labels": {"region": names.label, "ring": "1"}, "revision": format!("{environment}@sha1:{}", names.commit),
            "place": {
                "repository": "https://git.example/acme/gitops", "branch": environment,
                "path": format!("{}/{}", names.cluster_type, names.target),
            },
        });
        let response = self.post("/api/v1/reports", &body).await;
        assert!(response.status().is_success(), "{}", response.text().await.unwrap());
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        self.client.post(self.url(path)).bearer_auth(&self.administrator).json(body).send().await.unwrap()
    }

    async fn get(&self, path: &str, token: Option<&str>) -> Response {
        let request = self.client.get(self.url(path)).header("accept", "text/html,*/*;q=0.8");
        let request = token.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
        request.send().await.unwrap()
    }

    /// A page, whose headers must be those of every page.
    async fn page(&self, path: &str, token: &str) -> Page {
        let response = self.get(path, Some(token)).await;
        let headers = response.headers().clone();
        assert_eq!(headers["content-security-policy"], CONTENT_SECURITY_POLICY, "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        let status = response.status();
        Page { path: path.to_owned(), status, html: response.text().await.unwrap() }
    }
}

/// What the browser may do with any page, as the requirement says it.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The names and texts of one deployment.
#[derive(Clone, Debug)]
struct Names {
    workspace: String,
    workload: String,
    target: String,
    cluster_type: String,
    host: String,
    reconciler: String,
    version: String,
    label: String,
    message: String,
    commit: String,
}

impl Names {
    fn new(workspace: &str, workload: &str, number: usize) -> Self {
        Self {
            workspace: workspace.to_owned(),
            workload: workload.to_owned(),
            target: format!("{workload}-eu"),
            cluster_type: "west-edge".to_owned(),
            host: format!("edge-{number:02}"),
            reconciler: format!("{workload}-config"),
            version: "1.4.2".to_owned(),
            label: "west".to_owned(),
            message: "applied".to_owned(),
            commit: format!("{:040x}", 0x41c7_7fe0_u64 + number as u64),
        }
    }
}

/// A site with two environments and two workspaces; one host of each environment failed.
async fn company() -> Site {
    let site = Site::start().await;
    for (number, (environment, workspace, workload)) in
        [("stage", "shop", "till"), ("prod", "shop", "till"), ("prod", "web", "site")].into_iter().enumerate()
    {
        let names = Names::new(workspace, workload, number);
        site.publish(environment, &names).await;
        for (host, status) in [(10, "success"), (11, "failure")] {
            let host = format!("{environment}-{host}");
            site.report(&Names { host, ..names.clone() }, environment, status).await;
        }
    }
    site
}
