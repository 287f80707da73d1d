//! Sends the messages of simulated hosts to a real hub, each in its own format.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, stream};
use hub::authentication::tokens::{self, NewToken};
use hub::management::retention::Retention;
use hub::server::{Server, ServerOptions};
use hub::store::Database;
use hub::writer::Writer;
use hub::writer::import;
use hub_api::client::Client;
use hub_api::report::{generic, signed_file};
use hub_api::timestamp::Timestamp;
use hub_api::token::TokenText;
use hub_api::tokens::{HostScope, Reach, Scope};
use simulator::simulation::{HubToken, Message, Route};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use watch::{Resources, WatchSettings};

use super::PATIENCE;
use crate::twins::Ground;

/// The number of concurrent messages. Their order of arrival is random.
const AT_ONCE: usize = 8;

/// A hub, with the client and the tokens for requests to it.
pub(super) struct Carrier {
    database: Database,
    url: String,
    pub(super) client: Client,
    http: reqwest::Client,
    grpc: reqwest::Client,
    tokens: Mutex<BTreeMap<String, TokenText>>,
    folder: TempDir,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Carrier {
    pub(super) async fn start(ground: &Ground, watch: WatchSettings) -> Self {
        let options = ServerOptions {
            listen: "127.0.0.1:0".into(),
            database: ground.url.clone(),
            issuer: None,
            certificate: None,
            retention: Retention::default(),
        };
        let asks = NewToken { name: "asks".into(), scope: Scope::Read(Reach::ALL), signs: false, expires_on: None };
        let asks = tokens::create(&ground.database, &asks, "test").await.unwrap();
        let server = reading(Server::start(options).await.unwrap(), watch);
        let url = format!("http://{}", server.address());
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(server.run(async move { drop(stopped.await) }));
        let http = || reqwest::Client::builder().no_proxy();
        Self {
            database: ground.database.clone(),
            client: Client::new(&url, Some(asks.reveal())).unwrap(),
            url,
            http: http().build().unwrap(),
            grpc: http().http2_prior_knowledge().build().unwrap(),
            tokens: Mutex::default(),
            folder: tempfile::tempdir().unwrap(),
            stop,
            running,
        }
    }

    /// The token of a host, which names the repository of all its places.
    pub(super) async fn token(&self, host: &str) -> HubToken {
        let places = vec![super::branches::url().to_string()];
        let scope = HostScope { host: host.to_owned(), places, environments: Vec::new() };
        let token = NewToken { name: host.into(), scope: Scope::Host(scope), signs: true, expires_on: None };
        let text = tokens::create(&self.database, &token, "test").await.unwrap();
        let (id, signing_key) = (text.id().to_owned(), text.signing_key().reveal().to_owned());
        let token = HubToken { text: text.reveal(), id, signing_key };
        self.tokens.lock().unwrap().insert(host.to_owned(), text);
        token
    }

    /// Sends messages until the hub has accepted all.
    pub(super) async fn carry(&self, messages: Vec<Message>) {
        stream::iter(messages).for_each_concurrent(AT_ONCE, |message| self.send(message)).await;
    }

    async fn send(&self, message: Message) {
        let (client, path) = match &message.route {
            Route::Http(path) => (&self.http, path.as_str()),
            Route::Grpc(path) => (&self.grpc, *path),
            Route::Carried => return self.bring(&message).await,
        };
        let request = client.post(format!("{}{path}", self.url)).body(message.body.clone());
        let headers = message.headers.iter();
        let request = headers.fold(request, |request, (name, value)| request.header(*name, value));
        let response = request.send().await.unwrap();
        let status = response.status();
        // An error of gRPC has its status in the headers, a success in the trailers.
        let refused = response.headers().get("grpc-status").cloned();
        let text = response.text().await.unwrap();
        assert!(
            status.is_success() && refused.is_none() && !text.contains("field"),
            "{status} {refused:?} {text}: {message:?}"
        );
    }

    /// Imports a file that the host signed.
    async fn bring(&self, message: &Message) {
        let token = self.tokens.lock().unwrap()[&message.host].clone();
        let reports: Vec<_> = message
            .body
            .split(|byte| *byte == b'\n')
            .map(|line| generic::read_one(line, Timestamp::MIN).unwrap())
            .collect();
        let signed = signed_file::add(&[], &token, &reports, Timestamp::now()).unwrap();
        let file = self.folder.path().join(TokenText::random().unwrap().id());
        std::fs::write(&file, signed.bytes).unwrap();
        let (ingest, writer) = Writer::start(self.database.clone());
        let imported = import::import(&self.database, &ingest, &file, Timestamp::now()).await.unwrap();
        assert_eq!((imported.reports, imported.refused), (reports.len(), 0), "{imported:?}");
        drop(ingest);
        writer.await.unwrap();
    }

    /// Waits until the hub has read these branches up to these commits.
    pub(super) async fn has_read(&self, heads: &BTreeMap<String, String>) {
        let read = async {
            loop {
                let states = self.client.watches().await.unwrap();
                let read = states.into_iter().filter_map(|state| Some((state.branch, state.commit?)));
                if read.collect::<BTreeMap<_, _>>() == *heads {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, read).await.unwrap();
    }

    pub(super) async fn stop(self) {
        drop(self.stop);
        self.running.await.unwrap();
    }
}

/// Adds the poller of branches to the server as a task.
fn reading(server: Server, WatchSettings { branches, pause, git }: WatchSettings) -> Server {
    let repositories = Arc::new(git::GitRepositories::new(git));
    let resources = Resources { sink: server.desired_state_sink(), repositories };
    let (watches, task) = watch::watch(&resources, branches, pause);
    server.watching(Arc::new(watches)).with_task(task)
}
