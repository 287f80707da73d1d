//! A branch of a GitOps repository, with what was published on it.

use std::sync::Arc;

use engine::output::Folder;
use git::load::Snapshot;
use git::publish::{Destination, Heads, PublishError};
use git::published::{Publication, Published};
use git::{Commit, Revision};
use model::git_id::GitId;
use model::object::environment::RepositoryPlace;
use model::object::{GitOpsRepo, Object};
use model::tree::{OpenError, Sealed, Tree, closed};

use crate::access::SharedRepositories;
use crate::error::DestinationError;
use crate::heads::DestinationHeads;
use crate::loaded::Loaded;
use crate::pinned_repositories::PinnedRepositories;
use crate::reading::with_past;

/// How many bytes of a file of the GitOps branch are read.
const CONTENT_BYTES_MAX: u64 = 8 << 20;

/// What a GitOps branch holds.
pub struct Branch {
    /// What it is called.
    pub name: String,
    /// Its files.
    pub tree: Tree,
    head: Option<(Commit, SharedRepositories)>,
    /// What was found when its head was read.
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
    /// The branch at the place of a `GitOpsRepo`: at its head before the environment was read, if that is known, else at its head now. `repositories` reads the
    /// branches that a plain directory names.
    ///
    /// # Errors
    /// If the branch can't be read, or it is not known what was published.
    pub fn read(
        loaded: &Loaded,
        (gitops_repo, place): (&str, &RepositoryPlace),
        repositories: Option<&SharedRepositories>,
    ) -> Result<Self, DestinationError> {
        if let Some(error) = &loaded.unread {
            return Err(error.clone().into());
        }
        let url = loaded.url(&place.repo)?;
        let repositories = loaded.access.as_ref().map(|access| &access.repositories).or(repositories);
        let repositories = repositories.ok_or(DestinationError::Directory)?;
        let known = loaded.destinations.iter().find(|known| known.name == gitops_repo && known.place == *place);
        let destination =
            Destination { url: &url, base: &place.branch, branch: None, environment: &loaded.fleet.environment };
        let heads = match known {
            Some(known) => known.heads.clone(),
            None => git::publish::heads(&**repositories, &destination),
        };
        let base = heads?.base;
        let tree = repositories.tree(&base).map_err(PublishError::from)?;
        let name = format!("{}@{}", url.label(), place.branch);
        Ok(Self { name, tree, head: Some((base, Arc::clone(repositories))), heads: known.cloned() })
    }

    /// A branch that is only a tree.
    pub fn of_tree(name: String, tree: Tree) -> Self {
        Self { name, tree, head: None, heads: None }
    }

    /// The commit that it is at.
    pub fn commit(&self) -> Option<GitId> {
        self.head.as_ref().map(|(commit, _)| commit.id)
    }

    /// Where the branches must be for a push, and the branch that a change is proposed on, if it is not to go straight to this one. None if our own branch was
    /// not looked at.
    pub fn leases(&self, is_direct: bool) -> Option<(Heads, Option<&str>)> {
        let base = self.head.as_ref()?.0.clone();
        if is_direct {
            return Some((Heads { base, branch: None }, None));
        }
        let known = self.heads.as_ref()?;
        Some((known.heads.clone().ok()?, Some(&known.proposing_branch)))
    }

    /// When that commit was made, in seconds since 1970.
    pub fn committed(&self) -> Option<i64> {
        let (commit, repositories) = self.head.as_ref()?;
        repositories.info(commit).ok().map(|info| info.seconds)
    }

    /// The content of a file of the branch. Of a branch that is only a tree, files have theirs with them.
    pub fn content(&self, id: GitId) -> Option<Arc<[u8]>> {
        let (commit, repositories) = self.head.as_ref()?;
        match repositories.content(commit, id, CONTENT_BYTES_MAX) {
            Ok(git::Content::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// What is in a folder of the branch.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        match &self.head {
            Some((commit, repositories)) => git::opener(&**repositories, commit)(sealed),
            None => closed(sealed),
        }
    }

    /// The newest publication on the branch, and its fleet, if its commits say what it was made of and that can still be read.
    pub fn published_from(&self, loaded: &Loaded) -> Option<(GitId, Loaded)> {
        let (head, repositories) = self.head.as_ref()?;
        let access = loaded.access.as_ref()?;
        let environment = &loaded.fleet.environment;
        let published = Published::read(&**repositories, head, environment).ok()?;
        let newest = published.newest()?;
        let pinned = PinnedRepositories::new(&**repositories, newest.sources.clone());
        let read = Snapshot::new(&pinned, access.control_plane()).load(environment);
        let loaded = Some(Loaded::new(read, None, Some(access))).filter(|loaded| loaded.is_whole)?;
        Some((newest.commit, loaded))
    }

    /// The publications on the branch, as many generations back. None if it is no branch of a repository, or the environment was read from a plain directory.
    ///
    /// # Errors
    /// If the branch can't be read.
    pub fn published(&self, loaded: &Loaded, reach: usize) -> Result<Option<Published>, DestinationError> {
        let Some((head, repositories)) = self.head.as_ref().filter(|_| loaded.access.is_some()) else {
            return Ok(None);
        };
        let environment = &loaded.fleet.environment;
        let read = Published::read_back(&**repositories, (head, reach), environment);
        Ok(Some(read.map_err(PublishError::from)?))
    }

    /// A commit of its repository that the branch came from.
    fn earlier(&self, id: GitId) -> Option<Commit> {
        let (head, repositories) = self.head.as_ref()?;
        let branch = match &head.revision {
            Revision::Branch(branch) => Some(Arc::clone(branch)),
            _ => None,
        };
        repositories.resolve(&head.url, &Revision::Commit { id, branch }).ok()
    }

    /// The tree of an earlier commit.
    ///
    /// # Errors
    /// If the commit can't be read.
    pub fn tree_at(&self, id: GitId) -> Result<Tree, OpenError> {
        let unreadable = |reason: String| OpenError::Unreadable { id, reason };
        let commit = self.earlier(id).ok_or_else(|| unreadable("it is not in the repository".to_owned()))?;
        let (_, repositories) = self.head.as_ref().ok_or_else(|| unreadable("there is no repository".to_owned()))?;
        repositories.tree(&commit).map_err(|error| unreadable(error.to_string()))
    }

    /// What a commit says it was made of, if it is a publication of the environment.
    pub fn publication(&self, loaded: &Loaded, id: GitId) -> Option<Publication> {
        let (_, repositories) = self.head.as_ref()?;
        let published = Published::read_back(&**repositories, (&self.earlier(id)?, 1), &loaded.fleet.environment);
        published.ok()?.publications.into_iter().find(|publication| publication.commit == id)
    }

    /// The fleet that the first of these publications, newest first, was made of: of nothing but the commits that it names.
    ///
    /// # Errors
    /// Why that can't be had.
    pub fn made_of(&self, loaded: &Loaded, publications: Vec<Publication>) -> Result<Loaded, String> {
        let (Some((_, repositories)), Some(access), Some(first)) =
            (self.head.as_ref(), loaded.access.as_ref(), publications.first())
        else {
            return Err("it is not in the branch".to_owned());
        };
        let environment = &loaded.fleet.environment;
        let pinned = PinnedRepositories::strictly(&**repositories, first.sources.clone());
        let moment = Snapshot::new(&pinned, access.control_plane());
        let read = moment.load(environment);
        let (read, unread) = with_past((&moment, environment), read, || Ok(vec![Published { publications }]));
        if let Some(error) = unread {
            return Err(DestinationError::from(error).to_string());
        }
        let found = Loaded::new(read, None, Some(access));
        if found.is_whole {
            return Ok(found);
        }
        let first = found.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        Err(first
            .map_or_else(|| "not all of it is there".to_owned(), |found| format!("[{}] {}", found.code, found.message)))
    }
}
