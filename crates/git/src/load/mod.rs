//! Reads everything that an environment consists of, from all repositories that it refers to.

mod assembly;
mod directory;
mod earlier;
mod follow;
mod moment;
mod place;
pub(crate) mod problem;
mod reference;

use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::fleet::FleetInput;
use model::git_id::GitId;
use model::name::{BaseRepoName, EnvironmentName, RegistrationName};
use model::progress::Progress;
use model::source::Files;

pub use self::directory::{Directory, DirectoryError, read_directory};
pub use self::moment::Moment;
use crate::repositories::Repositories;
use crate::settings::Rewrite;
use crate::url::RepositoryUrl;

/// Where environments are found.
#[derive(Clone, Copy)]
pub struct ControlPlane<'a> {
    /// The repository with folder `.environments`.
    pub url: &'a RepositoryUrl,
    /// Its main branch.
    pub branch: &'a str,
    /// A URL of an object that one of these rules changes may also be `http`.
    pub rewrite: &'a [Rewrite],
    /// The environment is read as if its own `BaseRepo` named `main` said this commit; none: as it is.
    pub promoted: Option<GitId>,
    /// Where fetching and reading are counted.
    pub progress: &'a Progress,
}

/// The environments of a control plane.
#[derive(Clone, Debug)]
pub struct Environments {
    /// Their names, sorted.
    pub names: Vec<EnvironmentName>,
    /// The files that diagnostics refer to.
    pub files: Arc<Files>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Everything that was read for an environment.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The files, for [`Fleet::build`](model::fleet::Fleet::build), which reports what is wrong inside them.
    pub input: FleetInput,
    /// What else is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// What was read, in the order in which it was found.
    pub reads: Vec<Read>,
    /// Whether everything of the platform's is known. If not, nothing may be published: what is missing would be taken for deleted.
    pub is_whole: bool,
}

/// A commit that an environment was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// What for.
    pub role: ReadRole,
    /// The repository.
    pub url: RepositoryUrl,
    /// The branch, tag or commit that was asked for.
    pub revision: Arc<str>,
    /// The commit.
    pub commit: GitId,
}

/// What a commit is read for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadRole {
    /// The `Environment` objects.
    Main,
    /// The environment's own objects.
    Environment,
    /// A base repository.
    Base(BaseRepoName),
    /// A Flux `Kustomization` of this name.
    Flux(Arc<str>),
    /// An application.
    Application(RegistrationName),
}

/// Reads one environment at the present moment. For several environments at the same one, use a [`Moment`].
pub fn load(repositories: &dyn Repositories, control_plane: ControlPlane<'_>, environment: &EnvironmentName) -> Loaded {
    Moment::new(repositories, control_plane).load(environment)
}
