//! Reads all objects of an environment, from all repositories that it refers to.

mod assembly;
mod broken;
mod declarations;
mod destinations;
pub(crate) mod diagnostics;
mod directory;
mod earlier;
mod fallback;
mod follow;
mod history;
mod kept;
mod main_branch;
mod place;
mod reference;
mod releases;
mod replay;
mod resolution;
mod snapshot;
mod threads;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::fleet::FleetInput;
use model::git_id::GitId;
use model::name::{BaseRepoName, EnvironmentName, RegistrationName};
use model::object::environment::RepositoryPlace;
use model::progress::Progress;
use model::source::Files;

pub use self::broken::BrokenFiles;
pub use self::declarations::Declarations;
pub use self::diagnostics::UNTRUSTED_CACHE_HELP;
pub use self::directory::{Directory, DirectoryError, read_directory};
pub use self::fallback::ReadPublications;
pub use self::snapshot::{PlatformPart, Snapshot, unknown_environment};
pub use self::threads::RequestThreads;
use crate::publications::{AdmittedReleases, KeptObject, SourceBranch, source_trailer};
use crate::repositories::{Commit, Repositories};
use crate::settings::Rewrite;
use crate::url::RepositoryUrl;
use crate::walk::PathError;

/// The control plane that contains the environments, and the context for reading it.
#[derive(Clone, Copy)]
pub struct ControlPlane<'a> {
    /// The repository with the folder `.environments`.
    pub url: &'a RepositoryUrl,
    /// Its main branch.
    pub branch: &'a str,
    /// The rewrite rules. If a rule changes the URL of an object, that URL may also use `http`.
    pub rewrite: &'a [Rewrite],
    /// Replaces the commit of the environment's own `BaseRepo` named `main`. None: the commit of the object applies.
    pub promoted: Option<GitId>,
    /// Replaces the release pins that promotions wrote. Workloads that are not here keep theirs.
    pub releases: &'a AdmittedReleases,
    /// Counts fetches and reads.
    pub progress: &'a Progress,
    /// The cache of broken files, shared with other runs.
    pub broken: &'a BrokenFiles,
}

/// The environments of a control plane.
#[derive(Clone, Debug)]
pub struct DeclaredEnvironments {
    /// The names, sorted.
    pub names: Vec<EnvironmentName>,
    /// The repository, branch and path of each environment.
    pub places: BTreeMap<EnvironmentName, RepositoryPlace>,
    /// The `Environment` and `Promotion` objects.
    pub declarations: Declarations,
    /// The files that diagnostics refer to.
    pub files: Arc<Files>,
    /// The problems in the input.
    pub diagnostics: Vec<Diagnostic>,
}

/// All files of an environment.
#[derive(Clone, Debug)]
pub struct LoadedFiles {
    /// The files, for [`Fleet::build`](model::fleet::Fleet::build). It reports the problems inside them.
    pub input: FleetInput,
    /// The `Environment` and `Promotion` objects at the head of the control plane's main branch, or in the directory.
    pub declarations: Declarations,
    /// All other problems in the input.
    pub diagnostics: Vec<Diagnostic>,
    /// The commits that were read, in the order in which they were found.
    pub reads: Vec<Read>,
    /// Whether all files of the platform team could be read. If not, nothing may be published: missing objects would count as deleted.
    pub is_complete: bool,
    /// Whether all files are free of errors, and no object is kept. If not, load again with the publications: [`Snapshot::load_after`].
    pub is_readable: bool,
    /// Kept objects, each with its source, that the history of the source does not prove.
    pub kept: BTreeSet<(SourceBranch, KeptObject)>,
}

/// A commit that an environment was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The purpose of the read.
    pub role: ReadRole,
    /// The repository.
    pub url: RepositoryUrl,
    /// The requested branch, tag or commit.
    pub revision: Arc<str>,
    /// The path whose files were read.
    pub path: Arc<str>,
    /// Whether the object that refers to the repository names a commit.
    pub is_pinned: bool,
    /// The commit.
    pub commit: GitId,
}

impl Read {
    /// The name of the source in the trailers of published commits.
    pub fn source_name(&self) -> SourceBranch {
        (self.url.as_str().to_owned(), self.requested_revision())
    }

    /// The value of the `Kalypso-Source` trailer for this commit.
    pub fn source_trailer(&self) -> String {
        source_trailer(&self.source_name(), self.commit)
    }

    /// The requested revision: a branch or tag, or the whole id of a commit.
    pub fn requested_revision(&self) -> String {
        if self.is_pinned { self.commit.to_string() } else { self.revision.to_string() }
    }
}

/// The purpose of a read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadRole {
    /// The `Environment` objects.
    Main,
    /// The environment's own objects.
    Environment,
    /// A base repository.
    Base(BaseRepoName),
    /// A Flux `Kustomization` with this name.
    Flux(Arc<str>),
    /// An application.
    Application(RegistrationName),
    /// The manifests of a workload. Only the commit is read, not the files.
    Manifests(Arc<str>),
}

/// Reads one environment at the current commits. To read several environments at the same commits, use a [`Snapshot`].
pub fn load(
    repositories: &dyn Repositories,
    control_plane: ControlPlane<'_>,
    environment: &EnvironmentName,
) -> LoadedFiles {
    Snapshot::new(repositories, control_plane).load(environment)
}

/// The files at and below a path of a commit that are read, by path. A path that does not exist has no files. Links and files that are too large are
/// left out.
///
/// # Errors
/// If the repository can't be read, or if the path exceeds a limit. The message is for people.
pub fn files(
    repositories: &dyn Repositories,
    commit: &Commit,
    path: &str,
) -> Result<BTreeMap<Arc<str>, Arc<[u8]>>, String> {
    let (url, revision) = (commit.url.clone(), commit.revision.clone());
    let place = place::SourcePlace {
        url,
        revision,
        path: path.into(),
        role: ReadRole::Environment,
        limits: model::fleet::limits::Limits::default(),
        is_control_plane: false,
    };
    let read = match place::read_place(repositories, commit.clone(), &place) {
        Err(place::PlaceError::Path(PathError::Missing)) => return Ok(BTreeMap::new()),
        read => read.map_err(|error| error.to_string())?,
    };
    let content = |file: place::RawFile| match file.content {
        place::RawContent::Bytes(bytes) => Some((file.path, bytes)),
        _ => None,
    };
    Ok(read.files.into_iter().filter_map(content).collect())
}
