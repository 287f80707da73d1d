//! What environments are read from: a control plane in git, or a plain folder.

use std::path::PathBuf;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::access::acknowledgement::AcknowledgedWarning;
use delivery::reading::{self, ReadAt};
use delivery::sources::loaded::{Loaded, there_are};
use git::Edits;
use git::load::Directory;
use model::name::EnvironmentName;
use model::progress::Progress;
use model::similar;

use crate::{Error, Failure};

/// What environments are read from.
#[derive(Clone)]
pub enum EnvironmentSource {
    /// A control plane in git.
    ControlPlane(Arc<RepositoryAccess>),
    /// A folder with the files of one environment.
    Folder(PlainFolder),
}

/// A folder that is read as one environment, without git.
#[derive(Clone)]
pub struct PlainFolder {
    /// The path of the folder.
    pub path: PathBuf,
    /// The acknowledged warnings.
    pub acknowledgements: Arc<[AcknowledgedWarning]>,
    /// The progress of reading.
    pub progress: Progress,
}

impl EnvironmentSource {
    /// Reads one environment.
    ///
    /// # Errors
    /// If the environment does not exist, if it can't be read, or if not all of its objects were read ([`Error::Incomplete`]).
    pub fn environment(&self, name: &str, at: ReadAt) -> Result<Loaded, Error> {
        let name = environment_name(name)?;
        let Some(loaded) = self.environments(Some(&name), at)?.pop() else {
            return Err(Failure::refused(format!("there is no environment `{name}`")).into());
        };
        complete(loaded)
    }

    /// Reads all environments, or the environment with this name. They may be incomplete. A plain folder has only one state.
    ///
    /// # Errors
    /// If the environment does not exist, or if the source can't be read.
    pub fn environments(&self, name: Option<&EnvironmentName>, at: ReadAt) -> Result<Vec<Loaded>, Error> {
        match self {
            Self::ControlPlane(access) => Ok(reading::from_git(access, name, at)?),
            Self::Folder(folder) => folder.environments(name),
        }
    }

    /// The names of all environments, in the order of promotion.
    ///
    /// # Errors
    /// If the source can't be read.
    pub fn environment_names(&self) -> Result<Vec<EnvironmentName>, Error> {
        match self {
            Self::ControlPlane(access) => Ok(reading::environment_names(access)?),
            Self::Folder(folder) => {
                let loaded = folder.environments(None)?;
                Ok(loaded.iter().map(|loaded| loaded.fleet.environment.clone()).collect())
            }
        }
    }

    /// Reads an environment as for its publication, with the heads of the branches to which its output is pushed. `only`: the name of the one `GitOpsRepo`
    /// to push to.
    ///
    /// # Errors
    /// As [`Self::environment`]. If the source is a plain folder, which is not published.
    pub fn for_publication(&self, name: &str, only: Option<&str>) -> Result<Loaded, Error> {
        let Self::ControlPlane(access) = self else { return Err(no_commits().into()) };
        complete(reading::for_publication(access, &environment_name(name)?, only)?)
    }
}

impl PlainFolder {
    fn environments(&self, name: Option<&EnvironmentName>) -> Result<Vec<Loaded>, Error> {
        let directory = Directory { path: &self.path, edits: &Edits::default(), progress: &self.progress };
        let mut loaded = reading::from_directory(directory, name)?;
        loaded.iter_mut().for_each(|loaded| loaded.acknowledgements = Arc::clone(&self.acknowledgements));
        Ok(loaded)
    }
}

/// Returns the environment if all objects of the platform were read.
///
/// # Errors
/// [`Error::Incomplete`] if not.
pub fn complete(loaded: Loaded) -> Result<Loaded, Error> {
    if loaded.is_complete { Ok(loaded) } else { Err(Error::Incomplete(Arc::new(loaded))) }
}

/// Checks that all objects of the platform were read.
///
/// # Errors
/// [`Error::Incomplete`] if not.
pub fn check_complete(loaded: &Arc<Loaded>) -> Result<(), Error> {
    if loaded.is_complete { Ok(()) } else { Err(Error::Incomplete(Arc::clone(loaded))) }
}

pub(crate) fn no_commits() -> Failure {
    Failure::usage("a plain directory has no commits")
}

/// The error for an environment that does not exist. The known ones are in the order of promotion.
pub fn unknown_environment(name: &str, known: &[EnvironmentName]) -> Failure {
    let failure = Failure::refused(format!("there is no environment `{name}`"));
    let nearest = similar::nearest(name, known.iter().map(EnvironmentName::as_str));
    match nearest.map(|nearest| format!("did you mean `{nearest}`? ")) {
        None if known.is_empty() => failure,
        meant => failure.help(format!("{}{}", meant.unwrap_or_default(), there_are(known))),
    }
}

/// Parses the name of an environment.
///
/// # Errors
/// If it is not the name of an environment.
pub fn environment_name(name: &str) -> Result<EnvironmentName, Failure> {
    let usage = |error| Failure::usage(format!("{name:?} is not the name of an environment: {error}"));
    EnvironmentName::new(name).map_err(usage)
}
