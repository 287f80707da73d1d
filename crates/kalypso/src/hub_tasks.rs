//! The background tasks of the hub that are in crates of their own: polling of Azure, and reading of branches.

use std::sync::Arc;

use azure::{HostNames, Poller, Source};
use git::GitRepositories;
use hub::server::Server;
use watch::{Resources, WatchSettings};

use crate::exit::Failure;

/// Adds the polling of sources in Azure to a server.
pub(crate) fn poll_azure(server: Server, sources: Vec<Source>) -> Result<Server, Failure> {
    let hosts = HostNames::default();
    let pollers = sources.into_iter().map(|source| Poller::new(source, hosts.clone())).collect::<Result<_, _>>();
    let pollers = pollers.map_err(|error| Failure::outside(format!("Azure can't be queried: {error}")))?;
    let sink = server.report_sink();
    Ok(server.with_task(azure::run(pollers, sink)))
}

/// Adds the reading of branches to a server.
pub(crate) fn read_branches(server: Server, settings: Option<WatchSettings>) -> Server {
    let Some(WatchSettings { branches, pause, git }) = settings else { return server };
    let resources = Resources { sink: server.desired_state_sink(), repositories: Arc::new(GitRepositories::new(git)) };
    let (watches, task) = watch::watch(&resources, branches, pause);
    server.watching(Arc::new(watches)).with_task(task)
}
