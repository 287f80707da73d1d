//! A branch of a GitOps repository, with its publications.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::layout::Folder;
use git::load::{ControlPlane, Snapshot};
use git::publications::{Publications, PublishedCommit};
use git::publish::{DestinationBranch, Heads, PublishError};
use git::{Commit, Repositories, RepositoryError, Revision};
use model::git_id::GitId;
use model::object::environment::RepositoryPlace;
use model::object::{GitOpsRepo, Object};
use model::tree::{OpenError, Sealed, Tree, closed};

use crate::access::SharedRepositories;
use crate::error::DestinationError;
use crate::sources::earlier_files::with_publications;
use crate::sources::heads::DestinationHeads;
use crate::sources::loaded::Loaded;
use crate::sources::pinned_repositories::PinnedRepositories;

/// The maximum size of a file of the GitOps branch that is read, in bytes.
const CONTENT_BYTES_MAX: u64 = 8 << 20;

/// A GitOps branch at one commit.
pub struct Branch {
    /// The name: the repository and the branch.
    pub name: String,
    /// Its files. Folders that move to another path are at their new path.
    pub tree: Tree,
    /// Whether the files are published. If not, they were rendered to be compared with.
    pub is_published: bool,
    head: Option<(Commit, SharedRepositories)>,
    /// The heads of the destination before the environment was read. None if they were not read.
    pub heads: Option<DestinationHeads>,
}

/// The folder that a `GitOpsRepo`'s output lives under.
///
/// # Errors
/// If the path of the object leads out of the repository.
pub fn folder_of(object: &Object<GitOpsRepo>) -> Result<Folder, DestinationError> {
    let path = &object.spec.place.path;
    let outside = || DestinationError::Path { name: object.name.to_string(), path: path.to_string() };
    Folder::parse(path).ok_or_else(outside)
}

impl Branch {
    /// Reads the branch of a `GitOpsRepo`: at its head before the environment was read, or at its current head if that head was not read. `repositories` reads
    /// the branches for an environment of a plain directory.
    ///
    /// # Errors
    /// If the branch or its publications can't be read.
    pub fn read(
        loaded: &Loaded,
        (gitops_repo, place): (&str, &RepositoryPlace),
        repositories: Option<&SharedRepositories>,
    ) -> Result<Self, DestinationError> {
        if let Some(error) = &loaded.publications_error {
            return Err(error.clone().into());
        }
        let url = loaded.url(&place.repo)?;
        let repositories = loaded.access.as_ref().map(|access| &access.repositories).or(repositories);
        let repositories = repositories.ok_or(DestinationError::Directory)?;
        let known = loaded.destinations.iter().find(|known| known.name == gitops_repo && known.place == *place);
        let destination =
            DestinationBranch { url: &url, base: &place.branch, branch: None, environment: &loaded.fleet.environment };
        let heads = match known {
            Some(known) => known.heads.clone(),
            None => git::publish::heads(&**repositories, &destination),
        };
        let base = heads?.base;
        let tree = repositories.tree(&base).map_err(PublishError::from)?;
        let name = format!("{}@{}", url.label(), place.branch);
        let head = Some((base, Arc::clone(repositories)));
        Ok(Self { name, tree, is_published: true, head, heads: known.cloned() })
    }

    /// A tree without a repository, as a branch.
    pub fn of_tree(name: String, tree: Tree) -> Self {
        Self { name, tree, is_published: true, head: None, heads: None }
    }

    /// The commit. None if there is no repository.
    pub fn commit(&self) -> Option<GitId> {
        self.head.as_ref().map(|(commit, _)| commit.id)
    }

    /// The head, and the repositories that it was read from. None if there is no repository.
    pub(crate) fn read_at(&self) -> Option<(&Commit, &dyn Repositories)> {
        let (head, repositories) = self.head.as_ref()?;
        Some((head, &**repositories))
    }

    /// The expected heads for a push, and the proposing branch. A direct push has no proposing branch. None if the head of the proposing branch was not read.
    pub fn leases(&self, is_direct: bool) -> Option<(Heads, Option<&str>)> {
        let base = self.head.as_ref()?.0.clone();
        if is_direct {
            return Some((Heads { base, branch: None }, None));
        }
        let known = self.heads.as_ref()?;
        Some((known.heads.clone().ok()?, Some(&known.proposing_branch)))
    }

    /// The time of the commit, in seconds since 1970. None if there is no repository.
    pub fn committed_on(&self) -> Option<i64> {
        let (commit, repositories) = self.head.as_ref()?;
        repositories.info(commit).ok().map(|info| info.seconds)
    }

    /// The content of a file of the branch. None if there is no repository: then the tree itself contains the content.
    pub fn content(&self, id: GitId) -> Option<Arc<[u8]>> {
        let (commit, repositories) = self.head.as_ref()?;
        match repositories.content(commit, id, CONTENT_BYTES_MAX) {
            Ok(git::FileContent::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// Opens a sealed folder of the branch.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        match &self.head {
            Some((commit, repositories)) => git::opener(&**repositories, commit)(sealed),
            None => closed(sealed),
        }
    }

    /// The newest publication on the branch. None if there is none, or if it can't be read.
    pub fn newest_publication(&self, loaded: &Loaded) -> Option<PublishedCommit> {
        let (head, repositories) = self.head.as_ref()?;
        loaded.access.as_ref()?;
        Publications::read(&**repositories, head, &loaded.fleet.environment).ok()?.newest().cloned()
    }

    /// The environment of a publication on the branch. None if its sources can't be read completely.
    pub fn load_publication(&self, loaded: &Loaded, publication: &PublishedCommit) -> Option<Loaded> {
        let (_, repositories) = self.head.as_ref()?;
        let access = loaded.access.as_ref()?;
        let pinned = PinnedRepositories::new(&**repositories, publication.sources.clone());
        let (promoted, releases) = (publication.promoted, &publication.releases);
        let control_plane = ControlPlane { promoted, releases, ..access.control_plane() };
        let read = Snapshot::new(&pinned, control_plane).load(&loaded.fleet.environment);
        Some(Loaded::new(read, None, Some(access))).filter(|loaded| loaded.is_complete)
    }

    /// The publications on the branch within `reach` generations. None if there is no repository, or if the environment was read from a plain directory.
    ///
    /// # Errors
    /// If the branch can't be read.
    pub fn publications(&self, loaded: &Loaded, reach: usize) -> Result<Option<Publications>, DestinationError> {
        let Some((head, repositories)) = self.head.as_ref().filter(|_| loaded.access.is_some()) else {
            return Ok(None);
        };
        let environment = &loaded.fleet.environment;
        let read = Publications::read_back(&**repositories, (head, reach), environment);
        Ok(Some(read.map_err(PublishError::from)?))
    }

    /// An earlier commit of the branch.
    fn commit_at(&self, id: GitId) -> Option<Commit> {
        let (head, repositories) = self.head.as_ref()?;
        let branch = match &head.revision {
            Revision::Branch(branch) => Some(Arc::clone(branch)),
            _ => None,
        };
        repositories.resolve(&head.url, &Revision::Commit { id, branch }).ok()
    }

    /// The branch at an earlier commit. None: the repository has no such commit.
    ///
    /// # Errors
    /// If the commit can't be read.
    pub fn at(&self, id: GitId) -> Result<Option<Self>, DestinationError> {
        let (head, repositories) = self.head.as_ref().ok_or(DestinationError::Directory)?;
        let branch = match &head.revision {
            Revision::Branch(branch) => Some(Arc::clone(branch)),
            _ => None,
        };
        let commit = match repositories.resolve(&head.url, &Revision::Commit { id, branch }) {
            Err(RepositoryError::NoRevision { .. }) => return Ok(None),
            found => found.map_err(PublishError::from)?,
        };
        let tree = repositories.tree(&commit).map_err(PublishError::from)?;
        let head = Some((commit, Arc::clone(repositories)));
        Ok(Some(Self { name: self.name.clone(), tree, is_published: true, head, heads: None }))
    }

    /// The tree of an earlier commit.
    ///
    /// # Errors
    /// If the commit can't be read.
    pub fn tree_at(&self, id: GitId) -> Result<Tree, OpenError> {
        let unreadable = |reason: String| OpenError::Unreadable { id, reason };
        let commit = self.commit_at(id).ok_or_else(|| unreadable("it is not in the repository".to_owned()))?;
        let (_, repositories) = self.head.as_ref().ok_or_else(|| unreadable("there is no repository".to_owned()))?;
        repositories.tree(&commit).map_err(|error| unreadable(error.to_string()))
    }

    /// The values of the trailers for the sources and for the kept objects of an environment that is published on this branch.
    ///
    /// # Errors
    /// If the environment was read from a plain directory, or if the publications are needed and can't be read.
    pub(crate) fn source_trailers(
        &self,
        loaded: &Loaded,
    ) -> Result<(BTreeSet<String>, BTreeSet<String>), DestinationError> {
        let (head, repositories) = self.head.as_ref().ok_or(DestinationError::Directory)?;
        Ok(crate::branches::push::sources(loaded, (&**repositories, head)).map_err(PublishError::from)?)
    }

    /// The publication with this commit. None if the commit is no publication of the environment.
    pub fn publication(&self, loaded: &Loaded, id: GitId) -> Option<PublishedCommit> {
        let (_, repositories) = self.head.as_ref()?;
        let published = Publications::read_back(&**repositories, (&self.commit_at(id)?, 1), &loaded.fleet.environment);
        published.ok()?.publications.into_iter().find(|publication| publication.commit == id)
    }

    /// Loads the environment of the first of these publications, which are sorted newest first. Only the commits that the publication names are read.
    ///
    /// # Errors
    /// The reason why it can't be loaded.
    pub fn load_at(&self, loaded: &Loaded, publications: Vec<PublishedCommit>) -> Result<Loaded, String> {
        let (Some((_, repositories)), Some(access), Some(first)) =
            (self.head.as_ref(), loaded.access.as_ref(), publications.first())
        else {
            return Err("it is not in the branch".to_owned());
        };
        let environment = &loaded.fleet.environment;
        let pinned = PinnedRepositories::strict(&**repositories, first.sources.clone());
        let (promoted, releases) = (first.promoted, first.releases.clone());
        let control_plane = ControlPlane { promoted, releases: &releases, ..access.control_plane() };
        let snapshot = Snapshot::new(&pinned, control_plane);
        let read = snapshot.load(environment);
        let (read, error) =
            with_publications((&snapshot, environment), read, || Ok(vec![Publications { publications }]));
        if let Some(error) = error {
            return Err(DestinationError::from(error).to_string());
        }
        let found = Loaded::new(read, None, Some(access));
        if found.is_complete {
            return Ok(found);
        }
        let first = found.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        Err(first
            .map_or_else(|| "not all of it is there".to_owned(), |found| format!("[{}] {}", found.code, found.message)))
    }
}
