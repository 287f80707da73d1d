//! The hub of the demo. It runs in this process.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use git::{RepositoryUrl, Revision};
use hub::management::retention::Retention;
use hub::server::{Server, ServerOptions};
use hub::store::DatabaseUrl;
use hub_api::client::Client;
use hub_api::watches::WatchState;
use model::git_id::GitId;
use simulator::simulation::Message;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use watch::WatchSettings;

use super::place::{HUB_DATABASE, HUB_FILES};
use super::pulled::{self, Heads};
use super::{ENVIRONMENTS, messages, repositories};
use crate::arguments::HubDatabase;
use crate::configuration;
use crate::exit::Failure;
use crate::hub_tasks::read_branches;

/// The time limit for reading the branches of the applications.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval between two checks whether the branches are read.
const READ_PAUSE: Duration = Duration::from_millis(10);

/// A hub that runs until it is stopped.
pub(crate) struct DemoHub {
    /// The URL of its API.
    pub(crate) url: String,
    /// Whether its database is new.
    pub(crate) is_new: bool,
    /// The heads of the branches with manifests that the hub has read, and of the branches that are published to.
    heads: Heads,
    /// The commits that the hosts pulled last.
    pulled: Heads,
    folder: PathBuf,
    runtime: Runtime,
    client: Client,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl DemoHub {
    /// Starts the hub on a free port. The incomplete database of an interrupted run is created again.
    pub(crate) fn start(folder: &Path) -> anyhow::Result<Self> {
        let database = folder.join(HUB_DATABASE);
        let filled = pulled::read(folder).filter(|_| database.exists());
        let is_new = filled.is_none();
        for file in HUB_FILES.iter().filter(|_| is_new) {
            // The file may not exist. Other errors appear when the file is used.
            let _ = std::fs::remove_file(folder.join(file));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.context("the program can't wait for several things at once")?;
        let watch = watch(folder)?;
        let watched: Vec<_> = watch.iter().flat_map(|watch| watch.branches.clone()).collect();
        let server = runtime.block_on(Server::start(options(database))).map_err(|error| failure(&error))?;
        let server = read_branches(server, watch);
        let order = ENVIRONMENTS.map(str::to_owned).into();
        runtime.block_on(server.order(order)).map_err(|error| failure(&error))?;
        let url = format!("http://{}", server.address());
        let client = Client::new(&url, None)?;
        let (stop, stopped) = oneshot::channel();
        let running = runtime.spawn(server.run(async move { drop(stopped.await) }));
        let read = runtime.block_on(read(&client)).map_err(|error| failure(&*error))?;
        let head = |url: &RepositoryUrl, branch: &str| {
            let of_branch = |one: &&WatchState| one.repository == url.as_str() && one.branch == branch;
            GitId::from_hex(read.iter().find(of_branch)?.commit.as_deref()?)
        };
        let heads = watched.into_iter().filter_map(|one| Some((head(&one.url, &one.branch)?, (one.url, one.branch))));
        let heads = heads.map(|(commit, branch)| (branch, commit)).collect();
        let pulled = filled.unwrap_or_default();
        Ok(Self { url, is_new, heads, pulled, folder: folder.to_owned(), runtime, client, stop, running })
    }

    /// Whether hosts pull this branch of an application's manifests.
    pub(crate) fn is_pulled(&self, repository: &RepositoryUrl, branch: &str) -> bool {
        self.heads.contains_key(&(repository.clone(), branch.to_owned()))
    }

    /// Whether the commit that hosts pulled last of a branch is not this commit.
    pub(crate) fn is_behind(&self, repository: &RepositoryUrl, branch: &str, commit: Option<GitId>) -> bool {
        let pulled = self.pulled.get(&(repository.clone(), branch.to_owned()));
        !self.is_new && pulled.is_some_and(|pulled| Some(*pulled) != commit)
    }

    /// Stores the commit of a branch that the environment is published to.
    pub(crate) fn is_at(&mut self, repository: RepositoryUrl, branch: &str, commit: Option<GitId>) {
        if let Some(commit) = commit {
            self.heads.insert((repository, branch.to_owned()), commit);
        }
    }

    /// The commit that hosts pulled last of a branch. If it is not known, the head of the branch.
    pub(crate) fn pulled(&self, repository: &RepositoryUrl, branch: &str) -> Revision {
        match self.pulled.get(&(repository.clone(), branch.to_owned())) {
            Some(id) => Revision::Commit { id: *id, branch: Some(branch.into()) },
            None => Revision::branch(branch),
        }
    }

    /// The branches that have moved since hosts pulled them last.
    pub(crate) fn moved(&self) -> impl Iterator<Item = (&RepositoryUrl, &str)> {
        let moved = self.heads.iter().filter(|(branch, commit)| self.pulled.get(branch) != Some(commit));
        moved.map(|((repository, branch), _)| (repository, branch.as_str()))
    }

    /// Sends the messages of hosts, and returns when all of them are stored.
    pub(crate) fn deliver(&self, messages: Vec<Message>) -> Result<(), Failure> {
        let sent = self.runtime.block_on(messages::deliver(&self.client, messages));
        sent.map_err(|error| failure(&error))
    }

    /// Stops the hub in order, so that its database is complete.
    pub(crate) fn stop(self) -> Result<(), Failure> {
        drop(self.stop);
        // All data is stored, so an error at the end does not matter.
        let _ = self.runtime.block_on(self.running);
        pulled::write(&self.folder, &self.heads)
    }
}

/// The branches that `kalypso hub` polls in this folder, except for the branches that the demo publishes to.
fn watch(folder: &Path) -> anyhow::Result<Option<WatchSettings>> {
    let config = Some(folder.join(configuration::FILE_NAME));
    let watch = configuration::read_hub(&HubDatabase { database: None, config })?.watch;
    let name = repositories::GITOPS.trim_end_matches(".git");
    Ok(watch.map(|mut watch| {
        watch.branches.retain(|branch| branch.url.as_str().rsplit('/').next() != Some(name));
        watch
    }))
}

/// Waits until all branches are read.
async fn read(client: &Client) -> Result<Vec<WatchState>, Box<dyn std::error::Error>> {
    let started = Instant::now();
    loop {
        let read = client.watches().await?;
        if let Some(WatchState { repository, branch, error: Some(error), .. }) =
            read.iter().find(|one| one.error.is_some())
        {
            return Err(format!("branch `{branch}` of {repository} can't be read: {error}").into());
        }
        if read.iter().all(|one| one.polled_on.is_some()) {
            return Ok(read);
        }
        if started.elapsed() > READ_TIMEOUT {
            return Err("reading the manifests takes too long".into());
        }
        tokio::time::sleep(READ_PAUSE).await;
    }
}

fn options(database: PathBuf) -> ServerOptions {
    ServerOptions {
        listen: "127.0.0.1:0".to_owned(),
        database: DatabaseUrl::Sqlite(database),
        issuer: None,
        certificate: None,
        retention: Retention::default(),
    }
}

fn failure(error: &dyn std::error::Error) -> Failure {
    Failure::outside(format!("the hub of the demo: {error}")).help("--no-hub leaves it out")
}
