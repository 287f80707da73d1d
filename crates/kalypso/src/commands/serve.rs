//! `kalypso serve`: runs the service, with the hub in the same process.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use delivery::access::ControlPlaneSettings;
use git::GitRepositories;
use service::{ServiceHost, ServiceSettings};

use super::hub::run::{Beginning, HubOfService, run_with};
use crate::arguments::Serve;
use crate::configuration::{self, Host, ServiceConfiguration};
use crate::exit::{Exit, Failure};

pub(super) fn run(options: &Serve) -> anyhow::Result<Exit> {
    let config = options.run.database.config.clone();
    // Errors of the configuration are shown before anything is opened.
    let read = configuration::read_service(config.as_deref())?;
    let environments = configuration::read_environments(config.as_deref())?;
    let all = std::iter::once(&read.control_plane).chain(read.other_control_planes.values());
    let _locks = all.map(only_one).collect::<anyhow::Result<Vec<_>>>()?;
    let again = move |hub: &HubOfService| {
        let read = configuration::read_service(config.as_deref())?;
        let environments = configuration::read_environments(config.as_deref())?;
        Ok(settings(read, environments, hub))
    };
    let beginning = Beginning { first: Box::new(move |hub| settings(read, environments, hub)), again: Arc::new(again) };
    run_with(&options.run, Some(beginning))
}

fn settings(read: ServiceConfiguration, environments: Vec<String>, hub: &HubOfService) -> ServiceSettings {
    let host = |Host { settings, webhook_secrets }| ServiceHost { settings, webhook_secrets };
    ServiceSettings {
        repositories: Arc::new(GitRepositories::new(read.control_plane.git.clone())),
        control_plane: read.control_plane,
        other_control_planes: read.other_control_planes,
        hosts: read.hosts.0.into_iter().map(host).collect(),
        hub: Some(Arc::clone(&hub.hub) as _),
        leases: hub.leases.clone().map(|leases| leases as _),
        environments,
        confirmers: read.confirmers,
        timing: read.timing,
    }
}

/// Refuses a second service with the same control plane and the same cache. The lock ends with the process. Replicas on one machine have caches of their own.
fn only_one(control_plane: &ControlPlaneSettings) -> anyhow::Result<File> {
    let cache: &Path = &control_plane.git.cache;
    let unusable =
        |error: std::io::Error| Failure::outside(format!("the cache `{}` can't be used: {error}", cache.display()));
    std::fs::create_dir_all(cache).map_err(unusable)?;
    let digest = model::digest::Digest::of(&control_plane.subject());
    let file = File::create(cache.join(format!("serve-{digest}.lock"))).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => {
            let message = format!("another `kalypso serve` runs for {} on this machine", control_plane.repo);
            Err(Failure::refused(message)
                .help("stop it first. Two replicas need PostgreSQL, and each its own `git.cache`")
                .into())
        }
        Err(std::fs::TryLockError::Error(error)) => Err(unusable(error).into()),
    }
}
