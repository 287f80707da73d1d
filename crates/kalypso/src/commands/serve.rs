//! `kalypso serve`: runs the service, with the hub in the same process.

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use delivery::access::ControlPlaneSettings;
use git::GitRepositories;
use service::{PromotionHub, ServiceHost, ServiceSettings};
use workbench::process_lock;

use super::hub::run::{Beginning, Beside, HubOfService, run_with};
use crate::arguments::Serve;
use crate::configuration::{DemoConfiguration, Host, ServiceConfiguration, Settings};
use crate::demo::{DemoGitHost, Followers};
use crate::exit::{Exit, Failure};

pub(super) fn run(options: &Serve) -> anyhow::Result<Exit> {
    use_small_pages();
    let config = options.run.database.config.clone();
    // Errors of the configuration are shown before anything is opened.
    let settings = Settings::read(config.as_deref())?;
    let mut service = configured_service(&settings, None)?;
    let environments = settings.environments().to_vec();
    let all = std::iter::once(&service.control_plane).chain(service.other_control_planes.values());
    let _locks = all.map(only_one).collect::<anyhow::Result<Vec<_>>>()?;
    let demo = settings.demo()?;
    let git_host = demo.as_ref().map(DemoGitHost::start).transpose()?;
    let address = git_host.as_ref().map(DemoGitHost::address);
    if address.is_some() {
        // The system may have chosen the port.
        service = configured_service(&settings, address)?;
    }
    let beside = demo.zip(git_host).map(|(demo, git_host)| -> Beside {
        Box::new(move |url| Box::new((follow(&demo, url), announced(git_host, url))))
    });
    let again = move |hub: &HubOfService| {
        let settings = Settings::read(config.as_deref())?;
        Ok(service_settings(configured_service(&settings, address)?, settings.environments().to_vec(), hub))
    };
    let first = Box::new(move |hub: &HubOfService| service_settings(service, environments, hub));
    let beginning = Beginning { first, again: Arc::new(again), beside };
    run_with(&options.run, settings.hub(&options.run.database)?, Some(beginning))
}

/// The settings of the service. It must be able to store states.
fn configured_service(settings: &Settings, git_host: Option<SocketAddr>) -> anyhow::Result<ServiceConfiguration> {
    let service = settings.service(git_host)?;
    let keys = &service.control_plane.state_keys;
    if let (Err(reason), false) = (&keys.own, keys.trusted.is_empty()) {
        return Err(Failure::usage(format!("the service could store no states of promotions: {reason}")).into());
    }
    Ok(service)
}

/// Keeps memory small while nothing happens. After a sync, most memory is given back, but a huge page only if all of its 2 MiB are free. With huge pages,
/// the service at rest needs about a quarter more memory. If the system refuses this, the service works the same way.
fn use_small_pages() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
}

/// The demo's git host, which announces merges to the service at a URL.
fn announced(git_host: DemoGitHost, url: &str) -> DemoGitHost {
    git_host.announce_to(url);
    tracing::info!("pull requests of the demo are at {}", git_host.url());
    git_host
}

/// The simulated hosts of the demo, which report to the hub at a URL. None if they can't be started.
fn follow(demo: &DemoConfiguration, url: &str) -> Option<Followers> {
    let started = Followers::start(&demo.folder, url);
    started.inspect_err(|error| tracing::warn!("the demo has no simulated hosts: {error:#}")).ok()
}

fn service_settings(read: ServiceConfiguration, environments: Vec<String>, hub: &HubOfService) -> ServiceSettings {
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
        evidence: read.evidence,
        promotion: PromotionHub {
            places: Some(Arc::new(hub.promotions.clone())),
            history: Some(Arc::new(hub.promotions.clone())),
        },
        timing: read.timing,
    }
}

/// Refuses a second service with the same control plane and the same cache. Replicas on one machine have caches of their own.
fn only_one(control_plane: &ControlPlaneSettings) -> anyhow::Result<File> {
    let refused = || {
        let message = format!("another `kalypso serve` runs for {} on this machine", control_plane.repo);
        Failure::refused(message).help("stop it first. Two replicas need PostgreSQL, and each its own `git.cache`")
    };
    Ok(lock(control_plane)?.ok_or_else(refused)?)
}

/// The lock of the service with a control plane and a cache. It ends with the file or the process. None if a service runs.
pub(super) fn lock(control_plane: &ControlPlaneSettings) -> Result<Option<File>, Failure> {
    let cache: &Path = &control_plane.git.cache;
    let unusable =
        |error: std::io::Error| Failure::outside(format!("the cache `{}` can't be used: {error}", cache.display()));
    std::fs::create_dir_all(cache).map_err(unusable)?;
    let digest = model::digest::Digest::from_value(&control_plane.subject());
    let file = File::create(cache.join(format!("serve-{digest}.lock"))).map_err(unusable)?;
    let is_locked = process_lock::lock(&file).map_err(unusable)?;
    Ok(is_locked.then_some(file))
}
