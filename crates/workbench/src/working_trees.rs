//! The working trees in which branches of the control plane are checked out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use delivery::access::{RepositoryAccess, destination_url};
use git::checkout::{
    Checkout, CheckoutError, StateError, WorkingState, checkouts, distance, local_folder, repository_above,
};
use git::limits::BASE_REACHES;
use git::load::Snapshot;
use git::{Commit, Repositories, RepositoryError, RepositoryUrl, Revision};
use model::git_id::GitId;

use crate::checkout_paths::CheckoutPaths;
use crate::edited_repositories::{EditedRepositories, Next};
use crate::{Error, Failure};

/// The folder of the control plane beside the configuration file, if the file names a remote repository.
const BESIDE: &str = "control-plane";

/// The working trees of the control plane's branches: the main branch, and those of the environments.
pub struct WorkingTrees {
    settings: Arc<git::Settings>,
    branches: Vec<WorkingBranch>,
    /// The names of branches that are checked out nowhere.
    elsewhere: Vec<String>,
    /// All working trees that were found, with the URL of their repository.
    found: Vec<(RepositoryUrl, Checkout)>,
}

/// A branch that is checked out.
pub struct WorkingBranch {
    /// The head of the branch, as it is read without working trees.
    pub head: Commit,
    /// The working tree.
    pub checkout: Checkout,
    /// The content of the working tree, compared with the head.
    pub state: WorkingState,
    /// The topic branch that is checked out instead. It left the branch for a change.
    pub topic: Option<Arc<str>>,
}

/// The name of a branch with the URL of its repository.
pub type RemoteBranch = (RepositoryUrl, String);

impl WorkingTrees {
    /// Finds the working trees, and reads them. `named` is a folder in a working tree; its repository comes first.
    ///
    /// # Errors
    /// If the named folder is not in a working tree of the control plane, or if a working tree can't be read.
    pub fn open(access: &RepositoryAccess, named: Option<&Path>) -> Result<Self, Error> {
        Self::open_with(access, named, None)
    }

    /// The same, with the working tree of one more branch, which may be in another repository.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        access: &RepositoryAccess,
        named: Option<&Path>,
        more: Option<&RemoteBranch>,
    ) -> Result<Self, Error> {
        let mut search = Search { access, folders: folders(access, named)?, trees: Self::none(access) };
        let settings = &access.settings;
        let main = (settings.repo.clone(), settings.branch.clone());
        search.find(&main.0)?;
        if let Some((url, _)) = more {
            search.find(url)?;
        }
        if let Some(folder) = named.filter(|_| search.trees.found.is_empty()) {
            return Err(other_repository(folder, more.map_or(&settings.repo, |(url, _)| url)).into());
        }
        search.read(&main)?;
        if let Some(branch) = more {
            search.read(branch)?;
        }
        let mut wanted = search.read_environments(&main)?;
        search.read_topics(&wanted)?;
        if search.trees.branch(&main.0, &main.1).is_some_and(|branch| branch.topic.is_some()) {
            wanted = search.read_environments(&main)?;
        }
        wanted.retain(|(url, branch)| search.trees.branch(url, branch).is_none());
        search.trees.elsewhere = wanted.into_iter().map(|(_, branch)| branch).collect();
        search.trees.elsewhere.dedup();
        Ok(search.trees)
    }

    /// No working trees.
    pub fn none(access: &RepositoryAccess) -> Self {
        let settings = Arc::new(access.settings.git.clone());
        Self { settings, branches: Vec::new(), elsewhere: Vec::new(), found: Vec::new() }
    }

    /// The settings that say which URLs are those of the same repository.
    pub fn settings(&self) -> &Arc<git::Settings> {
        &self.settings
    }

    /// The commits that exist only in memory: the content of the working trees.
    pub fn next(&self) -> Vec<Next> {
        let differing = self.branches.iter().filter(|branch| !branch.state.edits.is_empty());
        differing.map(|branch| branch.next(&self.settings)).collect()
    }

    /// The working trees as a report shows their files: at their paths from the current directory.
    pub fn checkouts(&self) -> Vec<CheckoutPaths> {
        let checkout = |branch: &WorkingBranch| CheckoutPaths {
            url: branch.head.url.as_str().into(),
            revision: branch.head.revision.name(),
            commit: Some(branch.commit(&self.settings)),
            folder: self.settings.shown(branch.checkout.root()).display().to_string(),
        };
        self.branches.iter().map(checkout).collect()
    }

    /// Access to the control plane with the content of its working trees.
    pub fn access(&self, access: &RepositoryAccess) -> Arc<RepositoryAccess> {
        let edited = EditedRepositories::shared(Arc::clone(&access.repositories), self.next());
        Arc::new(RepositoryAccess::with(access.settings.clone(), Arc::new(edited), access.progress.clone()))
    }

    /// The branches that are checked out.
    pub fn branches(&self) -> &[WorkingBranch] {
        &self.branches
    }

    /// The names of the branches that are checked out nowhere.
    pub fn elsewhere(&self) -> &[String] {
        &self.elsewhere
    }

    /// A branch that is checked out. None if no working tree has it.
    pub fn branch(&self, url: &RepositoryUrl, name: &str) -> Option<&WorkingBranch> {
        self.branches.iter().find(|branch| branch.head.url == *url && *branch.head.revision.name() == *name)
    }

    /// The working trees of a repository, with any branch.
    pub fn of_repository(&self, url: &RepositoryUrl) -> impl Iterator<Item = &Checkout> {
        self.found.iter().filter(move |(of, _)| of == url).map(|(_, checkout)| checkout)
    }
}

impl WorkingBranch {
    fn next(&self, settings: &Arc<git::Settings>) -> Next {
        Next::of_branch(self.head.clone(), self.state.edits.clone(), settings)
    }

    /// Whether the working tree has an earlier commit of the branch: a clone that was not updated. False if this can't be determined.
    pub fn is_behind(&self, repositories: &dyn Repositories) -> bool {
        let earlier = self.checkout.commit().filter(|commit| *commit != self.head.id);
        let is_ancestor =
            |commit: GitId, reach: &usize| repositories.is_ancestor(commit, &self.head, *reach) == Ok(true);
        earlier.is_some_and(|commit| BASE_REACHES.iter().any(|reach| is_ancestor(commit, reach)))
    }

    /// Says that a topic branch is read instead of the branch itself. None if the branch itself is checked out.
    pub fn topic_note(&self, settings: &git::Settings) -> Option<String> {
        let (topic, branch) = (self.topic.as_ref()?, self.head.revision.name());
        let root = settings.shown(self.checkout.root());
        Some(format!("note: branch `{topic}` in {} stands for `{branch}`, which it began at", root.display()))
    }

    /// The commit as which the content of the working tree is read. It exists only in memory, if the content differs from the head.
    fn commit(&self, settings: &Arc<git::Settings>) -> GitId {
        if self.state.edits.is_empty() { self.head.id } else { self.next(settings).id() }
    }
}

/// A search for working trees.
struct Search<'a> {
    access: &'a RepositoryAccess,
    folders: Vec<Folder>,
    trees: WorkingTrees,
}

/// A folder that may be in a working tree.
struct Folder {
    path: PathBuf,
    is_named: bool,
}

impl Search<'_> {
    /// Finds the working trees of a repository.
    fn find(&mut self, url: &RepositoryUrl) -> Result<(), Failure> {
        if self.trees.found.iter().any(|(of, _)| of == url) {
            return Ok(());
        }
        let settings = &self.access.settings.git;
        let is_named = self.folders.iter().any(|folder| folder.is_named);
        let local = local_folder(settings, url).filter(|_| !is_named).map(|path| Folder { path, is_named: false });
        let mut roots = BTreeSet::new();
        for folder in local.iter().chain(&self.folders) {
            let found = match checkouts(settings, url, &folder.path) {
                Ok(found) => found,
                Err(error) if folder.is_named => return Err(Failure::usage(error.to_string())),
                Err(_) => continue,
            };
            let new = found.into_iter().filter(|checkout| roots.insert(checkout.root().to_owned()));
            let new: Vec<_> = new.map(|checkout| (url.clone(), checkout)).collect();
            self.trees.found.extend(new);
        }
        Ok(())
    }

    /// Reads the working trees of the environments' branches. Returns all branches, `main` among them.
    fn read_environments(&mut self, main: &RemoteBranch) -> Result<Vec<RemoteBranch>, Failure> {
        let edited = EditedRepositories::new(&*self.access.repositories, self.trees.next());
        let environments = Snapshot::new(&edited, self.access.control_plane()).environments();
        let mut all = BTreeSet::from([main.clone()]);
        for place in environments.places.values() {
            // A URL that is not allowed is reported when the environment is read.
            let Ok(url) = destination_url(Some(self.access), &place.repo) else { continue };
            self.find(&url)?;
            let branch = (url, place.branch.to_string());
            self.read(&branch)?;
            all.insert(branch);
        }
        Ok(all.into_iter().collect())
    }

    /// Reads the working tree of a branch, if there is one.
    fn read(&mut self, branch: &RemoteBranch) -> Result<(), Failure> {
        let has_branch = |checkout: &&Checkout| checkout.branch() == Some(&branch.1);
        let checkout = self.trees.of_repository(&branch.0).find(has_branch).cloned();
        checkout.map_or(Ok(()), |checkout| self.read_as(branch, checkout, None))
    }

    /// Reads working trees with topic branches. Each stands for the branch that it left last, if that branch is checked out nowhere.
    fn read_topics(&mut self, all: &[RemoteBranch]) -> Result<(), Failure> {
        if all.iter().all(|(url, branch)| self.trees.branch(url, branch).is_some()) {
            return Ok(());
        }
        for (of, checkout) in self.trees.found.clone() {
            let Some(topic) = checkout.branch().map(Arc::<str>::from) else { continue };
            let of_it: Vec<_> = all.iter().filter(|(url, _)| *url == of).collect();
            if of_it.iter().any(|(_, branch)| **branch == *topic) {
                continue;
            }
            let mut left = Vec::new();
            for branch in of_it {
                let head = self.access.repositories.resolve(&branch.0, &Revision::branch(&branch.1));
                let far =
                    head.ok().and_then(|head| distance(&self.access.settings.git, &checkout, (&branch.1, head.id)));
                left.extend(far.map(|far| (far, branch)));
            }
            left.sort_by_key(|(far, branch)| (far.commits(), *branch));
            match &left[..] {
                // If it left two branches at the same commit, it is not known which one it belongs to.
                [(one, _), (other, _), ..] if one.commits() == other.commits() => {}
                [(_, branch), ..] => self.read_as(branch, checkout, Some(topic))?,
                [] => {}
            }
        }
        Ok(())
    }

    fn read_as(
        &mut self,
        (url, branch): &RemoteBranch,
        checkout: Checkout,
        topic: Option<Arc<str>>,
    ) -> Result<(), Failure> {
        if self.trees.branch(url, branch).is_some() {
            return Ok(());
        }
        let repositories = &*self.access.repositories;
        let head = match repositories.resolve(url, &Revision::branch(branch)) {
            // The environment is read again later, and its error shown.
            Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => return Ok(()),
            head => head.map_err(|error| Failure::outside(error.to_string()))?,
        };
        let state = git::checkout::working_state(&self.access.settings.git, &checkout, (repositories, &head));
        let state = state.map_err(|error| unreadable(&error))?;
        self.trees.branches.push(WorkingBranch { head, checkout, state, topic });
        Ok(())
    }
}

/// The folders that may be in a working tree of the control plane: the named one, else that of the current directory, and the one beside the
/// configuration file.
fn folders(access: &RepositoryAccess, named: Option<&Path>) -> Result<Vec<Folder>, Failure> {
    let current_dir = &access.settings.git.current_dir;
    if let Some(named) = named {
        let absolute = current_dir.join(named);
        let root = repository_above(&absolute).map(Path::to_owned);
        let is_bare = absolute.join("HEAD").is_file();
        let path = root.or_else(|| is_bare.then_some(absolute)).ok_or_else(|| {
            let message = format!("`{}` is in no git repository", named.display());
            Failure::usage(message).help("name a folder with a clone of the control plane")
        })?;
        return Ok(vec![Folder { path, is_named: true }]);
    }
    let here = repository_above(current_dir).map(Path::to_owned);
    let beside = access.settings.git.base.join(BESIDE);
    let folders = here.into_iter().chain(beside.join(".git").exists().then_some(beside));
    Ok(folders.map(|path| Folder { path, is_named: false }).collect())
}

fn other_repository(folder: &Path, url: &RepositoryUrl) -> Failure {
    Failure::usage(format!("`{}` is no working tree of the control plane `{url}`", folder.display()))
        .help("name a folder with a clone of it: one of its remotes must have this URL")
}

/// A failure to read a working tree.
fn unreadable(error: &StateError) -> Failure {
    let failure = Failure::outside(error.to_string());
    match error {
        StateError::Checkout(CheckoutError::Git { path, message, .. }) if message.contains("safe.directory") => {
            failure.help(format!("if you trust it: git config --global --add safe.directory {}", path.display()))
        }
        _ => failure,
    }
}
