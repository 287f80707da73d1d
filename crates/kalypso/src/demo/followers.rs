//! Simulated hosts that follow the branches of the company, as long as the service runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context as _;
use delivery::output::planned::targets;
use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use git::{GitRepositories, Repositories as _, RepositoryUrl, Revision};
use hub_api::client::Client;
use model::progress::Progress;
use simulator::simulation::Simulation;
use tokio::runtime::Runtime;

use super::pulled::{self, Heads};
use super::{ENVIRONMENTS, failing, hosts, messages};
use crate::arguments::{HubDatabase, SourceOptions};
use crate::{compiling, configuration, loading};

/// The pause between two looks at the branches.
const STEP: Duration = Duration::from_secs(1);
/// The time in which hosts pull and apply new content, in seconds.
const PULL_SECONDS: i64 = 30;
/// The time for which hosts report after new content, in seconds. Then all have applied it that can.
const REPORT_SECONDS: i64 = 75;

/// Hosts in the background. They end when this is dropped.
pub(crate) struct Followers {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Followers {
    /// Starts the hosts of the company in a folder. They report to the hub at a URL.
    pub(crate) fn start(folder: &Path, hub_url: &str) -> anyhow::Result<Self> {
        let mut fleet = Fleet::new(folder, hub_url)?;
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().name("demo-hosts".to_owned()).spawn(move || fleet.run(&stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Followers {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Its error was logged.
            let _ = thread.join();
        }
    }
}

/// The hosts of all environments.
struct Fleet {
    folder: PathBuf,
    client: Client,
    runtime: Runtime,
    repositories: GitRepositories,
    /// The branches that hosts pull. The name of a branch is that of its environment.
    branches: Vec<(RepositoryUrl, String)>,
    /// The commits that hosts pulled last. None if no host has pulled anything.
    pulled: Option<Heads>,
    /// The hosts of environments in which something was pulled, by the names of the environments.
    followed: BTreeMap<&'static str, Followed>,
    /// The hosts that can't apply new content.
    failing: BTreeSet<String>,
    /// The last error, so that it is logged once.
    error: String,
}

/// The hosts of an environment.
struct Followed {
    hosts: Vec<Simulation>,
    /// What they pull.
    heads: Heads,
    /// The time until which they report at least, in seconds since 1970. None: they have nothing to do.
    ends_on: Option<i64>,
}

impl Followed {
    /// Whether the hosts have done all that they can: those that fail try again.
    fn is_done(&self, now: i64) -> bool {
        self.ends_on.is_some_and(|ends_on| ends_on <= now) && !self.hosts.iter().any(Simulation::is_outdated)
    }
}

impl Fleet {
    fn new(folder: &Path, hub_url: &str) -> anyhow::Result<Self> {
        let config = Some(folder.join(configuration::FILE_NAME));
        let watch = configuration::read_hub(&HubDatabase { database: None, config })?.watch;
        let watch = watch.context("no branch is watched")?;
        Ok(Self {
            folder: folder.to_owned(),
            client: Client::new(hub_url, None)?,
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
            repositories: GitRepositories::new(watch.git),
            branches: watch.branches.into_iter().map(|branch| (branch.url, branch.branch)).collect(),
            pulled: pulled::read(folder),
            followed: BTreeMap::new(),
            failing: BTreeSet::new(),
            error: String::new(),
        })
    }

    fn run(&mut self, stopped: &Receiver<()>) {
        while stopped.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
            self.read_failing();
            for environment in ENVIRONMENTS {
                if let Err(error) = self.step(environment) {
                    self.log(environment, &error);
                }
            }
        }
    }

    /// Reads which hosts fail, and tells the hosts.
    fn read_failing(&mut self) {
        let failing = failing::read(&self.folder);
        if failing != self.failing {
            tracing::info!(failing = failing.len(), "simulated hosts fail, or are repaired");
            self.failing = failing;
        }
        for followed in self.followed.values_mut() {
            followed.hosts.iter_mut().for_each(|hosts| hosts.set_failing(|name| self.failing.contains(name)));
        }
    }

    fn log(&mut self, environment: &str, error: &anyhow::Error) {
        let text = format!("the simulated hosts of {environment} can't go on: {error:#}");
        if self.error != text {
            tracing::warn!("{text}");
            self.error = text;
        }
    }

    fn step(&mut self, environment: &'static str) -> anyhow::Result<()> {
        let (heads, now) = (self.heads(environment)?, super::now());
        let known = |followed: &Followed| followed.heads == heads;
        if !self.followed.get(environment).is_some_and(known) && !self.is_pulled(&heads) {
            let hosts = self.hosts(environment, &heads, now)?;
            let count: usize = hosts.iter().map(|hosts| hosts.hosts().count()).sum();
            tracing::info!(environment, hosts = count, "simulated hosts pull what is new");
            self.followed.insert(environment, Followed { hosts, heads, ends_on: Some(now + REPORT_SECONDS) });
        }
        let Some(followed) = self.followed.get_mut(environment).filter(|followed| followed.ends_on.is_some()) else {
            return Ok(());
        };
        let sent: Vec<_> = followed.hosts.iter_mut().flat_map(|hosts| hosts.advance(now)).collect();
        self.runtime.block_on(messages::deliver(&self.client, sent))?;
        if followed.is_done(now) {
            followed.ends_on = None;
            let pulled = self.pulled.get_or_insert_default();
            pulled.extend(followed.heads.clone());
            pulled::write(&self.folder, pulled)?;
        }
        Ok(())
    }

    /// The commits of the branches of an environment.
    fn heads(&self, environment: &str) -> anyhow::Result<Heads> {
        let own = self.branches.iter().filter(|(_, branch)| branch == environment);
        let head = |(url, branch): &(RepositoryUrl, String)| {
            let commit = self.repositories.resolve(url, &Revision::branch(branch))?;
            Ok(((url.clone(), branch.clone()), commit.id))
        };
        own.map(head).collect()
    }

    /// Whether the hosts have these commits.
    fn is_pulled(&self, heads: &Heads) -> bool {
        let pulled = self.pulled.as_ref();
        pulled.is_some_and(|pulled| heads.iter().all(|(branch, commit)| pulled.get(branch) == Some(commit)))
    }

    /// The hosts of an environment, which have what they pulled last, and pull what is in the branches now.
    fn hosts(&self, environment: &str, heads: &Heads, now: i64) -> anyhow::Result<Vec<Simulation>> {
        let earlier = self.followed.get(environment).map(|followed| followed.hosts.as_slice()).unwrap_or_default();
        let is_known = |pulled: &&Heads| heads.keys().any(|branch| pulled.contains_key(branch));
        let pulled = self.pulled.as_ref().filter(is_known);
        let (loaded, compiled) = self.compiled(environment)?;
        let access = loaded.access.as_ref().context("the environment is not in git")?;
        let known: BTreeSet<_> = self.branches.iter().collect();
        let mut all = Vec::new();
        for target in targets(&loaded, None, None)? {
            let source = hosts::Source {
                environment,
                repository: loaded.url(&target.place.repo)?,
                branch: &target.place.branch,
                folder: &|place, name| target.folder.join(&format!("{place}/{name}")),
                is_pulled: &|repository, branch| known.contains(&(repository.clone(), branch.to_owned())),
                is_live: true,
            };
            let mut hosts = hosts::fleet(&compiled, &source, (now, now + PULL_SECONDS));
            if let Some(pulled) = pulled {
                hosts.read_contents_at(&*access.repositories, |url, branch| revision(pulled, url, branch))?;
                hosts.settle();
                // What failed before the service began was repaired since.
                hosts.restart();
            }
            earlier.iter().for_each(|earlier| hosts.resume(earlier));
            hosts.set_failing(|name| self.failing.contains(name));
            hosts.read_contents(&*access.repositories)?;
            all.push(hosts);
        }
        Ok(all)
    }

    fn compiled(&self, environment: &str) -> anyhow::Result<(Loaded, Arc<Compiled>)> {
        let config = Some(self.folder.join(configuration::FILE_NAME));
        let options = SourceOptions { from: None, config, strict: false };
        let progress = Progress::default();
        let loaded = loading::environments(&options, Some(environment), ReadAt::Admitted, &progress)?.pop();
        let loaded = loaded.filter(|loaded| loaded.is_complete).context("the environment can't be read")?;
        let (compiled, _) = compiling::begin(&loaded, &progress);
        Ok((loaded, Arc::new(compiled)))
    }
}

/// The commit of a branch, or its head if none is known.
fn revision(heads: &Heads, url: &RepositoryUrl, branch: &str) -> Revision {
    match heads.get(&(url.clone(), branch.to_owned())) {
        Some(id) => Revision::Commit { id: *id, branch: Some(branch.into()) },
        None => Revision::branch(branch),
    }
}
