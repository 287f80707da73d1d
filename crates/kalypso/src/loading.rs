//! Reads the environments, names and selectors of the command line.

use std::path::Path;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use model::diagnostic::AssignmentId;
use model::name::{DeploymentTargetName, PlaceName};
use model::progress::Progress;
use model::selector::LabelSelector;
use workbench::source::{PlainFolder, environment_name};
use workbench::{EnvironmentSource, Failure};

use crate::arguments::SourceOptions;
use crate::configuration::{self, Settings};
use crate::progress::Watch;

/// What the arguments read environments from.
pub(crate) fn source(options: &SourceOptions, progress: &Progress) -> anyhow::Result<EnvironmentSource> {
    let Some(path) = &options.from else {
        return Ok(EnvironmentSource::ControlPlane(access(options.config.as_deref(), progress)?));
    };
    let acknowledgements = configuration::acknowledgements_in(path)?.into();
    Ok(EnvironmentSource::Folder(PlainFolder { path: path.clone(), acknowledgements, progress: progress.clone() }))
}

/// Reads one environment. Fails if the environment is incomplete.
pub(crate) fn environment(options: &SourceOptions, name: &str, at: ReadAt, watch: &Watch) -> anyhow::Result<Loaded> {
    // An invalid name is an error also if there is no configuration.
    environment_name(name)?;
    Ok(source(options, watch.progress())?.environment(name, at)?)
}

/// Reads all environments, or the environment with this name.
pub(crate) fn environments(
    options: &SourceOptions,
    name: Option<&str>,
    at: ReadAt,
    progress: &Progress,
) -> anyhow::Result<Vec<Loaded>> {
    let name = name.map(environment_name).transpose()?;
    Ok(source(options, progress)?.environments(name.as_ref(), at)?)
}

/// Parses the name of an assignment: `CLUSTER_TYPE/TARGET`.
pub(crate) fn parse_assignment(text: &str) -> Result<AssignmentId, Failure> {
    let usage = || {
        Failure::usage(format!("`{text}` is not an assignment"))
            .help("write CLUSTER_TYPE/TARGET, as in the GitOps repository: chicago-edge/checkout-us")
    };
    let (place, target) = text.trim_matches('/').split_once('/').ok_or_else(usage)?;
    Ok(AssignmentId {
        place: PlaceName::new(place).map_err(|_| usage())?,
        target: DeploymentTargetName::new(target).map_err(|_| usage())?,
    })
}

/// The control plane of the configuration file, with access to its repositories.
pub(crate) fn access(config: Option<&Path>, progress: &Progress) -> anyhow::Result<Arc<RepositoryAccess>> {
    access_with(&Settings::read(config)?, progress)
}

/// The control plane of settings that were read, with access to its repositories.
pub(crate) fn access_with(settings: &Settings, progress: &Progress) -> anyhow::Result<Arc<RepositoryAccess>> {
    Ok(Arc::new(RepositoryAccess::new(settings.control_plane()?, progress.clone())))
}

/// A selector on a command line.
pub(crate) fn selector(option: &str, text: &str) -> Result<LabelSelector, Failure> {
    LabelSelector::parse(text).map_err(|error| {
        Failure::usage(format!("{option} can't be read: {error}"))
            .help("write requirements with commas between them: region=west,tier in (gold,silver),!edge")
    })
}
