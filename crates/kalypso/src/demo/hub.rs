//! The hub of the demo, while it runs in this process.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hub::client::{Client, ClientError};
use hub::retention::Retention;
use hub::server::{Server, ServerOptions};
use hub::store::DatabaseUrl;
use testkit::fleet::{Message, Route};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use super::{ENVIRONMENTS, place};
use crate::exit::Failure;

/// Its database, in the folder of the demo; `kalypso.toml` there names it, too.
const DATABASE: &str = ".kalypso/hub.db";
/// The file that says that it is filled. It is written last.
const FILLED: &str = ".kalypso/hub-filled";
/// All of these, and what SQLite keeps beside its own.
pub(super) const FILES: [&str; 4] = [FILLED, DATABASE, ".kalypso/hub.db-wal", ".kalypso/hub.db-shm"];
/// Messages under way at once.
const LANES: usize = 8;

/// A hub that runs until it is stopped.
pub(crate) struct DemoHub {
    /// Where it answers.
    pub(crate) url: String,
    /// Whether it knows nothing yet.
    pub(crate) is_new: bool,
    folder: PathBuf,
    runtime: Runtime,
    client: Client,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl DemoHub {
    /// Starts it, on a port that is free. What a run left behind that ended early is begun anew.
    pub(crate) fn start(folder: &Path) -> anyhow::Result<Self> {
        let database = folder.join(DATABASE);
        let is_new = !(database.exists() && folder.join(FILLED).exists());
        for file in FILES.iter().filter(|_| is_new) {
            // What is not there need not be removed; what can't be is found out at once.
            let _ = std::fs::remove_file(folder.join(file));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.context("the program can't wait for several things at once")?;
        let server = runtime.block_on(Server::start(options(database))).map_err(|error| failure(&error))?;
        let order = ENVIRONMENTS.map(str::to_owned).into();
        runtime.block_on(server.order(order)).map_err(|error| failure(&error))?;
        let url = format!("http://{}", server.address());
        let client = Client::new(&url, None)?;
        let (stop, stopped) = oneshot::channel();
        let running = runtime.spawn(server.run(async move { drop(stopped.await) }));
        Ok(Self { url, is_new, folder: folder.to_owned(), runtime, client, stop, running })
    }

    /// Sends what hosts say, and returns when all of it is stored.
    pub(crate) fn deliver(&self, messages: Vec<Message>) -> Result<(), Failure> {
        let mut lanes: [Vec<Message>; LANES] = std::array::from_fn(|_| Vec::new());
        for (number, message) in messages.into_iter().enumerate() {
            lanes[number % LANES].push(message);
        }
        let sent = self.runtime.block_on(async {
            let mut lanes: JoinSet<_> = lanes.into_iter().map(|lane| send(self.client.clone(), lane)).collect();
            while let Some(sent) = lanes.join_next().await {
                sent.unwrap_or(Ok(()))?;
            }
            Ok(())
        });
        sent.map_err(|error: ClientError| failure(&error))
    }

    /// Stops it in order, so that its database is whole.
    pub(crate) fn stop(self) -> Result<(), Failure> {
        drop(self.stop);
        // What it does at its end is not worth a word if it fails: everything is stored.
        let _ = self.runtime.block_on(self.running);
        place::write(&self.folder, FILLED, "")
    }
}

fn options(database: PathBuf) -> ServerOptions {
    ServerOptions {
        listen: "127.0.0.1:0".to_owned(),
        database: DatabaseUrl::Sqlite(database),
        issuer: None,
        certificate: None,
        watch: None,
        retention: Retention::default(),
    }
}

async fn send(client: Client, lane: Vec<Message>) -> Result<(), ClientError> {
    for message in lane {
        // The hosts of the demo have no other routes.
        if let Route::Http(path) = &message.route {
            client.relay(path, &message.headers, message.body).await?;
        }
    }
    Ok(())
}

fn failure(error: &dyn std::error::Error) -> Failure {
    Failure::outside(format!("the hub of the demo: {error}")).help("--no-hub leaves it out")
}
