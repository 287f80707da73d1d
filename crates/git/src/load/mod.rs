//! Reads everything that an environment consists of, from all repositories that it refers to.

mod assembly;
mod broken;
mod directory;
mod earlier;
mod follow;
mod keeping;
mod kept;
mod moment;
mod own_source;
mod past;
mod place;
pub(crate) mod problem;
mod reference;
mod stand_in;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::fleet::FleetInput;
use model::git_id::GitId;
use model::name::{BaseRepoName, EnvironmentName, RegistrationName};
use model::progress::Progress;
use model::source::Files;

pub use self::broken::BrokenFiles;
pub use self::directory::{Directory, DirectoryError, read_directory};
pub use self::moment::{Moment, PlatformPart};
pub use self::problem::UNTRUSTED_CACHE_HELP;
pub use self::stand_in::ReadPublished;
use crate::published::{KeptObject, SourceName};
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
    /// Which files are known to be broken, by this reading and others.
    pub broken: &'a BrokenFiles,
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
    /// Whether everything that was read is understood. If not, what was published says more: [`Moment::load_after`].
    pub is_understood: bool,
    /// Objects that are kept though the history of their source does not say so, with that source.
    pub kept: BTreeSet<(SourceName, KeptObject)>,
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
    /// Whether the object that refers to it names the commit itself.
    pub is_pinned: bool,
    /// The commit.
    pub commit: GitId,
}

impl Read {
    /// The name of the source in the trailers of what is published.
    pub fn source_name(&self) -> SourceName {
        (self.url.as_str().to_owned(), self.asked_for())
    }

    /// What was asked for: a branch or tag, or the whole id of a commit.
    pub fn asked_for(&self) -> String {
        if self.is_pinned { self.commit.to_string() } else { self.revision.to_string() }
    }
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
