//! Reads the environments that the command line names.

use std::path::Path;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::acknowledgement::Entry;
use delivery::loaded::{Loaded, there_are};
use delivery::reading::{self, ReadAt};
use git::Edits;
use git::load::Directory;
use model::diagnostic::AssignmentId;
use model::name::{DeploymentTargetName, EnvironmentName, PlaceName};
use model::progress::Progress;
use model::similar;

use crate::arguments::SourceOptions;
use crate::diagnostics::{Batch, Report};
use crate::exit::Failure;
use crate::progress::Watch;
use crate::{configuration, reporting};

/// Reads one environment. Fails if the environment is incomplete.
pub(crate) fn environment(
    options: &SourceOptions,
    name: &str,
    at: ReadAt,
    watch: &mut Watch,
) -> anyhow::Result<Loaded> {
    let mut loaded = environments(options, Some(name), at, watch.progress())?;
    let Some(loaded) = loaded.pop() else {
        return Err(Failure::refused(format!("there is no environment `{name}`")).into());
    };
    whole(loaded, watch)
}

/// Reads an environment as `publish` does, with the heads of the branches to which its output is pushed.
pub(crate) fn for_publication(
    options: &SourceOptions,
    (name, only): (&str, Option<&str>),
    watch: &mut Watch,
) -> anyhow::Result<Loaded> {
    let name = environment_name(name)?;
    let access = access(options.config.as_deref(), watch.progress())?;
    let loaded = reading::for_publication(&access, &name, only)?;
    whole(loaded, watch)
}

/// Returns the environment if all objects of the platform were read; else prints the diagnostics and fails.
pub(crate) fn whole(loaded: Loaded, watch: &mut Watch) -> anyhow::Result<Loaded> {
    check_whole(&loaded, watch)?;
    Ok(loaded)
}

/// Fails if not all objects of the platform were read, and prints the diagnostics then.
pub(crate) fn check_whole(loaded: &Loaded, watch: &mut Watch) -> anyhow::Result<()> {
    if loaded.is_complete { Ok(()) } else { Err(incomplete(loaded, watch)) }
}

/// Prints the diagnostics of an environment for which not all objects of the platform were read.
pub(crate) fn incomplete(loaded: &Loaded, watch: &mut Watch) -> anyhow::Error {
    watch.end();
    let mut report = Report::new();
    let batch = Batch { diagnostics: &loaded.diagnostics, assignments: Some(0), ..Batch::default() };
    reporting::add(&mut report, loaded, batch);
    if let Err(error) = reporting::to_stderr(&report) {
        return error.into();
    }
    let make = if loaded.is_unreachable() { Failure::outside } else { Failure::refused };
    make(format!("environment `{}` could not be read", loaded.fleet.environment)).into()
}

/// Reads all environments, or the environment with this name. A plain folder has only one state.
pub(crate) fn environments(
    options: &SourceOptions,
    name: Option<&str>,
    at: ReadAt,
    progress: &Progress,
) -> anyhow::Result<Vec<Loaded>> {
    let name = name.map(environment_name).transpose()?;
    let Some(path) = &options.from else {
        let access = access(options.config.as_deref(), progress)?;
        return Ok(reading::from_git(&access, name.as_ref(), at)?);
    };
    let directory = Directory { path, edits: &Edits::default(), progress };
    let mut loaded = reading::from_directory(directory, name.as_ref())?;
    let acknowledgements: Arc<[Entry]> = configuration::acknowledgements_in(path)?.into();
    loaded.iter_mut().for_each(|loaded| loaded.acknowledgements = Arc::clone(&acknowledgements));
    Ok(loaded)
}

/// The error for an environment that does not exist. The known ones are in the order of promotion.
pub(crate) fn unknown_environment(name: &str, known: &[EnvironmentName]) -> Failure {
    let failure = Failure::refused(format!("there is no environment `{name}`"));
    let nearest = similar::nearest(name, known.iter().map(EnvironmentName::as_str));
    match nearest.map(|nearest| format!("did you mean `{nearest}`? ")) {
        None if known.is_empty() => failure,
        meant => failure.help(format!("{}{}", meant.unwrap_or_default(), there_are(known))),
    }
}

/// Parses the name of an environment.
pub(crate) fn environment_name(name: &str) -> Result<EnvironmentName, Failure> {
    let usage = |error| Failure::usage(format!("{name:?} is not the name of an environment: {error}"));
    EnvironmentName::new(name).map_err(usage)
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
    Ok(Arc::new(RepositoryAccess::new(configuration::read(config)?, progress.clone())))
}
