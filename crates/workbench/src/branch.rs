//! One branch of the control plane that is edited: in its working tree, or at its head in git.
//!
//! Typical use: [`ControlPlaneBranch::open`], edit some of its [`files`](ControlPlaneBranch::files), show the [`changes`](ControlPlaneBranch::changes)
//! and their new errors, then [`write`](ControlPlaneBranch::write) and perhaps [`commit`](ControlPlaneBranch::commit), or
//! [`propose`](ControlPlaneBranch::propose).

mod changes;
mod comparison;
mod declarations;
mod proposal;
mod result;
mod source;
mod writing;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use authoring::branch_files::BranchFiles;
use authoring::file_edits::FileEdits;
use delivery::access::{RepositoryAccess, destination_url};
use delivery::reading;
use git::load::{DeclaredEnvironments, Snapshot};
use git::{Commit, Edits, RepositoryError, RepositoryUrl, Revision};
use model::name::EnvironmentName;
use model::source::Source;

pub use self::changes::Changes;
pub use self::comparison::EditComparison;
pub(crate) use self::comparison::diagnostics;
pub use self::proposal::{NewProposal, ProposalResult, author, decider, proposal_failure, propose};
pub use self::result::EditResult;
pub use self::writing::{not_committed, unfinished, unfinished_operation};
use crate::commit_range::Branches;
use crate::edited_repositories::EditedRepositories;
use crate::source::unknown_environment;
use crate::working_trees::{RemoteBranch, WorkingBranch, WorkingTrees};
use crate::{Error, Failure};

/// The branch that is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchOf<'a> {
    /// The control plane's main branch.
    Main,
    /// The branch that an `Environment` object names. It may be in another repository.
    Environment(&'a EnvironmentName),
    /// The branch that a `BaseRepo` of an environment names: the name of the `BaseRepo`, or the URL of its repository.
    Source(&'a EnvironmentName, &'a str),
    /// A branch of the repository of an application, with the folder of its objects.
    Application(&'a RemoteBranch, &'a str),
}

/// Where the branch is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditPlace<'a> {
    /// In the working tree in which it is checked out, on top of the changes that are not committed. The folder is that of `--working-tree`.
    WorkingTree(Option<&'a Path>),
    /// On top of its head in git. No working tree is read or changed.
    Head,
}

/// A branch that can be edited.
pub struct ControlPlaneBranch {
    access: Arc<RepositoryAccess>,
    /// The environment whose branch it is. None for the main branch.
    environment: Option<EnvironmentName>,
    /// The head of the branch, without uncommitted changes.
    head: Commit,
    /// The folder of the environment in the branch. Empty for the root.
    folder: String,
    trees: WorkingTrees,
    environments: DeclaredEnvironments,
    files: BTreeMap<Arc<str>, Arc<[u8]>>,
    /// Other files, as they were when they were read.
    other_files: RefCell<BTreeMap<String, Option<Arc<[u8]>>>>,
    /// Whether it is edited in a working tree.
    is_in_working_tree: bool,
}

impl ControlPlaneBranch {
    /// Opens a branch.
    ///
    /// # Errors
    /// If the environment or its branch does not exist, or can't be read. If it is to be edited in a working tree, and none has it.
    pub fn open(access: &Arc<RepositoryAccess>, of: BranchOf<'_>, place: EditPlace<'_>) -> Result<Self, Error> {
        let source = match of {
            BranchOf::Source(name, source) => Some(source::place(access, name, source)?),
            BranchOf::Application(branch, folder) => Some((branch.clone(), plain_folder(folder))),
            BranchOf::Main | BranchOf::Environment(_) => None,
        };
        let more = source.as_ref().map(|(branch, _)| branch);
        let (trees, is_in_working_tree) = match place {
            EditPlace::WorkingTree(folder) => (WorkingTrees::open_with(access, folder, more)?, true),
            EditPlace::Head => (WorkingTrees::none(access), false),
        };
        let edited = EditedRepositories::new(&*access.repositories, trees.next());
        let environments = Snapshot::new(&edited, access.control_plane()).environments();
        let (url, branch, folder) = match source {
            Some(((url, branch), folder)) => (url, branch, folder),
            None => place_of(access, of, &environments)?,
        };
        let resolve = |repositories: &dyn git::Repositories| {
            let resolved = repositories.resolve(&url, &Revision::branch(&branch));
            resolved.map_err(|error| unresolved(&error, &branch))
        };
        let head = resolve(&*access.repositories)?;
        if is_in_working_tree && trees.branch(&url, &branch).is_none() {
            return Err(not_checked_out(&trees, &url, &branch).into());
        }
        let files = git::load::files(&edited, &resolve(&edited)?, &folder);
        let files = files.map_err(|reason| Failure::outside(format!("branch `{branch}` can't be read: {reason}")))?;
        let environment = match of {
            // Several environments may read the branch.
            BranchOf::Main | BranchOf::Source(..) | BranchOf::Application(..) => None,
            BranchOf::Environment(name) => Some(name.clone()),
        };
        let (access, other_files) = (Arc::clone(access), RefCell::default());
        Ok(Self { access, environment, head, folder, trees, environments, files, other_files, is_in_working_tree })
    }

    /// The main branch of the control plane, as git has it.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn main(&self) -> Result<Self, Error> {
        Self::open(&self.access, BranchOf::Main, EditPlace::Head)
    }

    /// The name of the branch.
    pub fn name(&self) -> Arc<str> {
        self.head.revision.name()
    }

    /// The commit that a text names in the notation of Git: `HEAD~1`, or an abbreviated id. It must be on this branch.
    ///
    /// # Errors
    /// If there is no such commit.
    pub fn find_commit(&self, text: &str) -> Result<Commit, Failure> {
        let branches = Branches { repositories: &*self.access.repositories, own: self.head.clone(), main: None };
        Ok(Commit { id: branches.range(text)?.to, ..self.head.clone() })
    }

    /// The files that Kalypso reads, as in [`files`](Self::files), at another commit of the branch.
    ///
    /// # Errors
    /// If the commit can't be read.
    pub fn files_at(&self, commit: &Commit) -> Result<BTreeMap<Arc<str>, Arc<[u8]>>, Failure> {
        let files = git::load::files(&*self.access.repositories, commit, &self.folder);
        files.map_err(|reason| Failure::outside(format!("commit {} can't be read: {reason}", commit.id.short())))
    }

    /// The repository.
    pub fn url(&self) -> &RepositoryUrl {
        &self.head.url
    }

    /// The environment whose branch it is. None for the main branch.
    pub fn environment(&self) -> Option<&EnvironmentName> {
        self.environment.as_ref()
    }

    /// The branch for people: an environment, the main branch, or a branch of another repository.
    pub fn description(&self) -> String {
        let settings = &self.access.settings;
        match &self.environment {
            Some(name) => format!("environment `{name}`"),
            None if self.head.url == settings.repo && *self.name() == *settings.branch => "the main branch".to_owned(),
            None => format!("branch `{}` of {}", self.name(), self.head.url),
        }
    }

    /// The environments that the main branch declares, with their repositories, branches and paths.
    pub fn environments(&self) -> &DeclaredEnvironments {
        &self.environments
    }

    /// The files that Kalypso reads, by path from the root of the repository, with their bytes on disk: uncommitted changes and new files count, ignored
    /// files do not. For an environment's branch, these are the files below the path of its `Environment` object.
    pub fn files(&self) -> &BTreeMap<Arc<str>, Arc<[u8]>> {
        &self.files
    }

    /// Files of a commit of the branch with their objects.
    pub fn objects<'f>(&'f self, contents: &'f BTreeMap<Arc<str>, Arc<[u8]>>) -> BranchFiles<'f> {
        let (label, url) = (self.url().label(), self.url().as_str().into());
        let source = Source { label, url, revision: self.name(), commit: None, is_pinned: false };
        BranchFiles::new(source, contents, self.folder())
    }

    /// The folder that the environment is read from, relative to the root of the repository. Empty for the root. New files belong below it.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// The branch that commits go to, with what has to follow if it is another one: `topic, which must be merged into dev`.
    pub fn committed_to(&self) -> String {
        let name = self.name();
        match self.working().map(|branch| branch.checkout.branch()) {
            None => name.to_string(),
            Some(Some(branch)) if *branch == *name => name.to_string(),
            Some(Some(branch)) => format!("{branch}, which must be merged into {name},"),
            Some(None) => format!("no branch (`HEAD` is detached; it belongs on {name})"),
        }
    }

    /// The root of the working tree. None if the branch is edited at its head in git.
    pub fn root(&self) -> Option<&Path> {
        self.working().map(|branch| branch.checkout.root())
    }

    /// The root of the working tree for people: `.` without one.
    pub fn shown_root(&self) -> PathBuf {
        self.root().map(|root| self.access.settings.git.shown(root)).unwrap_or_default()
    }

    /// The paths of files with changes that are not committed. Other line endings do not count.
    pub fn uncommitted(&self) -> &[Arc<str>] {
        self.working().map_or(&[], |branch| &branch.state.changed)
    }

    /// The path of a file for people: from the current directory, if the working tree is below it.
    pub fn shown(&self, path: &str) -> String {
        let here = |root: &Path| self.access.settings.git.shown(&root.join(path)).display().to_string();
        self.root().map_or_else(|| format!("{}:{path}", self.name()), here)
    }

    /// Any file of the branch, such as `CODEOWNERS`. None if it does not exist.
    ///
    /// # Errors
    /// If it can't be read, or if it is a symbolic link.
    pub fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Failure> {
        if let Some(bytes) = self.files.get(path) {
            return Ok(Some(Arc::clone(bytes)));
        }
        if let Some(read) = self.other_files.borrow().get(path) {
            return Ok(read.clone());
        }
        let read = match self.root() {
            Some(root) => writing::read(root, path)?,
            None => crate::change::file_of_commit(&*self.access.repositories, &self.head, path)?,
        };
        self.other_files.borrow_mut().insert(path.to_owned(), read.clone());
        Ok(read)
    }

    /// Says that a topic branch is edited instead of the branch itself. None if the branch itself is.
    pub fn topic_note(&self) -> Option<String> {
        let branch = self.trees.branch(&self.head.url, &self.name())?;
        branch.topic_note(&self.access.settings.git)
    }

    fn working(&self) -> Option<&WorkingBranch> {
        self.trees.branch(&self.head.url, &self.name()).filter(|_| self.is_in_working_tree)
    }
}

/// Edits of files as edits of a commit.
pub fn git_edits(files: &FileEdits) -> Edits {
    files.iter().map(|(path, edit)| (Arc::clone(path), edit.content().cloned())).collect()
}

/// The repository, branch and folder of what is edited.
fn place_of(
    access: &RepositoryAccess,
    of: BranchOf<'_>,
    environments: &DeclaredEnvironments,
) -> Result<(RepositoryUrl, String, String), Error> {
    let BranchOf::Environment(name) = of else {
        return Ok((access.settings.repo.clone(), access.settings.branch.clone(), String::new()));
    };
    let Some(place) = environments.places.get(name) else {
        return Err(unknown_environment(name.as_str(), &reading::in_promotion_order(environments, access)).into());
    };
    Ok((destination_url(Some(access), &place.repo)?, place.branch.to_string(), plain_folder(&place.path)))
}

/// A path of an object without `.` and without slashes at its ends. Empty for the root.
pub fn plain_folder(path: &str) -> String {
    let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    parts.join("/")
}

fn unresolved(error: &RepositoryError, branch: &str) -> Failure {
    match error {
        RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. } => {
            Failure::refused(error.to_string()).help(format!("push the branch first: `git push origin {branch}`"))
        }
        _ => Failure::outside(error.to_string()),
    }
}

/// The branch is in no working tree: the failure names those that exist, and what to do.
fn not_checked_out(trees: &WorkingTrees, url: &RepositoryUrl, branch: &str) -> Failure {
    let failure = Failure::refused(format!("branch `{branch}` of `{url}` is checked out nowhere"));
    let Some(other) = trees.of_repository(url).next() else {
        return failure.help(format!(
            "clone it: `git clone --branch {branch} {url}`, or name a clone with --working-tree DIR; --propose needs no working tree"
        ));
    };
    let root = trees.settings().shown(other.root());
    let root = root.display();
    let has = other.branch().map_or_else(|| "no branch".to_owned(), |other| format!("branch `{other}`"));
    failure.help(format!(
        "`{root}` has {has}: `git -C {root} switch {branch}`, or `git -C {root} worktree add ../{branch} {branch}`; --propose needs no working tree"
    ))
}

#[cfg(test)]
mod tests;
