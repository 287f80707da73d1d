//! Named releases: sets of versions that were proved together. They never change.
//!
//! The branch `kalypso-releases` of the control plane's repository has a file `releases/<name>.yaml` for each of them.

mod file;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::compile::Compiled;
use engine::promotion::release::{config_versions, workload_releases};
use git::load::ReadRole;
use git::{
    Commit, EntryKind, FileContent, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, Revision, opener,
};
use jiff::Timestamp;
use model::git_id::GitId;
use model::name::{EnvironmentName, NameError};
use model::object::release::Release;
use model::progress::Progress;
use model::tree::{Child, Entry, OpenError, Sealed, Tree, closed};
use serde::{Deserialize, Serialize};

use crate::access::RepositoryAccess;
use crate::sources::loaded::Loaded;
pub use crate::states::state_file::StateFileError;

/// The branch with the releases.
pub const BRANCH: &str = "kalypso-releases";
/// The folder with the releases.
const FOLDER: &str = "releases";
/// The maximum size of a release, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The maximum number of attempts if other programs add releases at the same time.
const RACES_MAX: usize = 5;

/// A set of versions that were proved together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedRelease {
    /// The name.
    #[serde(skip)]
    pub name: Arc<str>,
    /// When it was made.
    pub created: Timestamp,
    /// Who made it.
    pub by: Arc<str>,
    /// The environment that proved it.
    pub environment: EnvironmentName,
    /// The commit of the control plane's main branch. None if the environment does not use that branch.
    pub platform: Option<GitId>,
    /// The commit of the environment's own branch.
    pub configuration: Option<GitId>,
    /// The workloads by name.
    #[serde(default)]
    pub workloads: BTreeMap<Arc<str>, ReleasedWorkload>,
}

/// A workload in a release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedWorkload {
    /// The key of `manifests` that names its version, and the version. None if its targets have different versions, or none.
    #[serde(rename = "\0flatten", with = "file::version")]
    pub version: Option<(Arc<str>, Arc<str>)>,
    /// The versions of its configuration, each with the number of assignments.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configurations: BTreeMap<Arc<str>, u64>,
}

/// The result of making a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeRelease {
    /// It is new, with this commit.
    New(GitId),
    /// The same release exists.
    Known,
}

/// The reason why a release can't be read or made.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// The repository can't be read, or refuses the push.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A folder of the branch can't be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The name can't be the name of a file.
    #[error("`{0}` is not the name of a release: {1}")]
    Name(Arc<str>, NameError),
    /// Another release has the name.
    #[error("release `{0}` exists, and a release never changes")]
    Exists(Arc<str>),
    /// Other programs added releases during every attempt.
    #[error("branch `{BRANCH}` moved in the meantime")]
    LostRace,
}

/// A release by its name, or the reason why its file can't be read.
pub type ReadRelease = (Arc<str>, Result<NamedRelease, StateFileError>);

/// What people decide about a new release.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseRequest<'a> {
    /// The name.
    pub name: &'a str,
    /// Who makes it.
    pub by: &'a str,
    /// When.
    pub created: Timestamp,
}

impl NamedRelease {
    /// The release of an environment as it is compiled now.
    pub fn new(request: ReleaseRequest<'_>, loaded: &Loaded, compiled: &Compiled) -> Self {
        let ReleaseRequest { name, by, created } = request;
        let of_role = |is: fn(&ReadRole) -> bool| loaded.reads.iter().find(|read| is(&read.role));
        let mut configurations = config_versions(compiled);
        let workload = |(name, found): (Arc<str>, Option<Release>)| {
            let version = found.and_then(|found| {
                let key = found.manifests().first_key_value().map(|(key, _)| Arc::clone(key))?;
                Some((key, found.text()))
            });
            let counted = configurations.remove(&name).unwrap_or_default().into_iter();
            let configurations = counted.map(|(version, count)| (version, count as u64)).collect();
            (name, ReleasedWorkload { version, configurations })
        };
        Self {
            name: name.into(),
            created,
            by: by.into(),
            environment: loaded.fleet.environment.clone(),
            platform: of_role(|role| matches!(role, ReadRole::Base(base) if base.as_str() == "main"))
                .map(|read| read.commit),
            configuration: of_role(|role| *role == ReadRole::Environment).map(|read| read.commit),
            workloads: workload_releases(compiled.prepared()).into_iter().map(workload).collect(),
        }
    }

    /// Whether both have the same versions. Their names, authors and times do not count.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.environment, &self.platform, &self.configuration, &self.workloads)
            == (&other.environment, &other.platform, &other.configuration, &other.workloads)
    }
}

/// All releases, by name.
///
/// # Errors
/// If the branch can't be read. A single file that can't be read is a part of the result.
pub fn list(access: &RepositoryAccess) -> Result<Vec<ReadRelease>, ReleaseError> {
    head(access)?.map_or_else(|| Ok(Vec::new()), |head| list_at(&*access.repositories, &head))
}

/// A release. None if there is none of this name.
///
/// # Errors
/// If the branch can't be read.
pub fn find(access: &RepositoryAccess, name: &str) -> Result<Option<ReadRelease>, ReleaseError> {
    Ok(list(access)?.into_iter().find(|(found, _)| **found == *name))
}

fn head(access: &RepositoryAccess) -> Result<Option<Commit>, ReleaseError> {
    match access.repositories.resolve(&access.settings.repo, &Revision::branch(BRANCH)) {
        Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => Ok(None),
        head => Ok(Some(head?)),
    }
}

fn list_at(repositories: &dyn Repositories, head: &Commit) -> Result<Vec<ReadRelease>, ReleaseError> {
    let mut releases = Vec::new();
    for entry in repositories.folder(head, FOLDER)?.unwrap_or_default() {
        let Some(name) = entry.name.strip_suffix(".yaml").filter(|_| entry.kind == EntryKind::File) else { continue };
        let path = path(name);
        let error = |message: &str| StateFileError {
            file: path.as_str().into(),
            line: 1,
            column: 1,
            message: message.to_owned(),
        };
        let text = match repositories.content(head, entry.id, FILE_BYTES_MAX)? {
            FileContent::Bytes(bytes) => String::from_utf8(bytes.to_vec()).map_err(|_| error("the file is not UTF-8")),
            FileContent::TooLarge(_) => Err(error("the file is too large")),
        };
        releases.push((Arc::from(name), text.and_then(|text| file::read(name, (&path, &text)))));
    }
    Ok(releases)
}

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}.yaml")
}

/// Makes a release. The same release again is no error.
///
/// # Errors
/// If another release has the name, or the branch can't be read or pushed.
pub fn make(access: &RepositoryAccess, release: &NamedRelease, author: &Person) -> Result<MadeRelease, ReleaseError> {
    model::name::check(&release.name).map_err(|error| ReleaseError::Name(Arc::clone(&release.name), error))?;
    for _ in 0..RACES_MAX {
        let head = head(access)?;
        let known = head.as_ref().map_or_else(|| Ok(Vec::new()), |head| list_at(&*access.repositories, head))?;
        if let Some((_, found)) = known.into_iter().find(|(name, _)| *name == release.name) {
            let is_same = found.is_ok_and(|found| found.is_same(release));
            return if is_same { Ok(MadeRelease::Known) } else { Err(ReleaseError::Exists(Arc::clone(&release.name))) };
        }
        if let Some(commit) = push(access, head.as_ref(), (release, author))? {
            return Ok(MadeRelease::New(commit));
        }
    }
    Err(ReleaseError::LostRace)
}

/// Adds the file of a release after a head. None if the branch has moved.
fn push(
    access: &RepositoryAccess,
    head: Option<&Commit>,
    (release, author): (&NamedRelease, &Person),
) -> Result<Option<GitId>, ReleaseError> {
    let repositories = &*access.repositories;
    let open = |sealed: &Sealed| match head {
        Some(head) => opener(repositories, head)(sealed),
        None => closed(sealed),
    };
    let mut tree = head.map_or_else(|| Ok(Tree::default()), |head| repositories.tree(head))?;
    tree.put(&path(&release.name), Child::File(Entry::file(file::write(release).into_bytes())), &open)?;
    let parents: Vec<_> = head.iter().map(|head| head.id).collect();
    let message = format!("Release {}\n\nProved in {}.\n", release.name, release.environment);
    let seconds = release.created.as_second();
    let commit =
        NewCommit { parents: &parents, tree: &tree, open: &open, message: &message, author, seconds, signer: None };
    let progress = &Progress::default();
    let push = Push { branch: BRANCH, expected: head.map(|head| head.id), commit: Some(commit), progress };
    match repositories.push(&access.settings.repo, &push)? {
        Pushed::Moved(id) => Ok(Some(id)),
        Pushed::Removed | Pushed::LostRace => Ok(None),
    }
}
