//! Writes a tree into a branch of a GitOps repository. The update is atomic, and never overwrites commits of others.

mod foreign;

use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::progress::Progress;
use model::tree::{Open, Tree, closed};

use crate::load::diagnostics;
use crate::repositories::{Commit, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, Revision};
use crate::trailer;
use crate::url::RepositoryUrl;

pub use self::foreign::check_commits;

/// The author and committer name of Kalypso's commits.
pub const AUTHOR_NAME: &str = "Kalypso";
/// The email address of Kalypso's commits. It can't exist: RFC 2606 reserves its top-level domain.
pub const AUTHOR_EMAIL: &str = "kalypso@kalypso.invalid";

/// The branch that a tree is published to.
#[derive(Clone, Copy, Debug)]
pub struct DestinationBranch<'a> {
    /// The GitOps repository.
    pub url: &'a RepositoryUrl,
    /// The branch that clusters pull from. It must exist.
    pub base: &'a str,
    /// The proposing branch, from which a pull request goes to the base branch. None: commits go directly to the base branch.
    pub branch: Option<&'a str>,
    /// The environment. The trailer of every commit names it.
    pub environment: &'a EnvironmentName,
}

/// The state of a destination.
#[derive(Clone, Debug)]
pub struct DestinationState {
    /// The head of the base branch.
    pub base: Commit,
    /// The files of the base branch.
    pub base_tree: Tree,
    /// The head of the proposing branch. None if the destination has no such branch, or if the branch does not exist.
    pub branch: Option<Commit>,
    /// The files of the proposing branch.
    pub branch_tree: Option<Tree>,
}

/// The new content of a branch.
#[derive(Clone, Copy)]
pub struct BranchChange<'a> {
    /// The whole tree, including foreign files.
    pub tree: &'a Tree,
    /// Opens the sealed folders of the tree.
    pub open: &'a Open<'a>,
    /// The text of the commit message. The trailer with the environment is added to it.
    pub message: &'a str,
    /// Additional trailers.
    pub trailers: &'a [(&'a str, &'a str)],
    /// The time of the commit, in seconds since 1970.
    pub seconds: i64,
    /// Counts the written objects: see [`Push::progress`].
    pub progress: &'a Progress,
}

/// What happens to commits on the proposing branch that Kalypso did not make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForeignCommits {
    /// They stay, and nothing is pushed.
    #[default]
    Keep,
    /// They are replaced.
    Replace,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The branch is at this new commit.
    Pushed(GitId),
    /// Nothing was pushed: this commit, the head of the proposing branch or of the base branch, has the same tree. If it is the head of the base
    /// branch, the proposing branch is no longer needed.
    Unchanged(GitId),
    /// Another client moved the branch in the meantime. Nothing was pushed. The caller must read the destination and plan again.
    LostRace,
}

/// The reason why nothing can be published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The repository can't be read, or refuses the push.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The base branch does not exist.
    #[error("repository `{url}` has no branch `{branch}`")]
    NoBase {
        /// The repository.
        url: RepositoryUrl,
        /// The branch.
        branch: String,
        /// Whether the repository has no commits at all.
        is_empty: bool,
    },
    /// The proposing branch contains a commit that Kalypso did not make.
    #[error("branch `{branch}` of `{url}` contains commit {commit} of {author}, which Kalypso did not create", commit = commit.short())]
    Foreign {
        /// The repository.
        url: RepositoryUrl,
        /// The branch.
        branch: String,
        /// The commit.
        commit: GitId,
        /// The author of the commit.
        author: Person,
    },
}

impl PublishError {
    /// Converts the error to a diagnostic with its code and advice.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::Repository(error) => diagnostics::repository(error),
            Self::NoBase { branch, is_empty, .. } => {
                let help = if *is_empty {
                    "the repository is empty. `kalypso publish` creates the branch".to_owned()
                } else {
                    format!(
                        "is the name right? `kalypso publish` creates a branch that never existed; if it was deleted, push it again: `git push origin COMMIT:refs/heads/{branch}`"
                    )
                };
                Diagnostic::error(Code::RevisionNotFound, self.to_string()).help(help)
            }
            Self::Foreign { branch, .. } => Diagnostic::error(Code::ForeignCommit, self.to_string())
                .note("the commit stays; Kalypso pushes nothing over it")
                .help(format!("merge it, or move it to another branch and delete `{branch}`; `kalypso publish --force` replaces it")),
        }
    }
}

/// The heads of the branches of a destination. Each branch is requested once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heads {
    /// The head of the base branch.
    pub base: Commit,
    /// The head of the proposing branch. None if the destination has no such branch, or if the branch does not exist.
    pub branch: Option<Commit>,
}

/// Requests the current heads of a destination. Call it before the sources are read, and push with these heads as the lease: then output of newer
/// sources is never replaced with output of older ones.
///
/// # Errors
/// If the repository can't be read, or the base branch does not exist.
pub fn heads(repositories: &dyn Repositories, destination: &DestinationBranch<'_>) -> Result<Heads, PublishError> {
    let DestinationBranch { url, base: name, .. } = *destination;
    let no_base = |is_empty| PublishError::NoBase { url: url.clone(), branch: name.to_owned(), is_empty };
    let base = match repositories.resolve(url, &Revision::branch(name)) {
        Err(RepositoryError::NoRevision { .. }) => return Err(no_base(false)),
        Err(RepositoryError::Empty { .. }) => return Err(no_base(true)),
        other => other?,
    };
    let branch = match destination.branch.map(|name| repositories.resolve(url, &Revision::branch(name))) {
        None | Some(Err(RepositoryError::NoRevision { .. })) => None,
        Some(other) => Some(other?),
    };
    Ok(Heads { base, branch })
}

/// Reads the files in the branches of a destination.
///
/// # Errors
/// If the repository can't be read. If the proposing branch contains a commit of a person, and it is to be kept: see [`check_commits`].
pub fn state_at(
    repositories: &dyn Repositories,
    destination: &DestinationBranch<'_>,
    heads: Heads,
    foreign: ForeignCommits,
) -> Result<DestinationState, PublishError> {
    if foreign == ForeignCommits::Keep {
        check_commits(repositories, destination, &heads)?;
    }
    let Heads { base, branch } = heads;
    let base_tree = repositories.tree(&base)?;
    let branch_tree = branch.as_ref().map(|branch| repositories.tree(branch)).transpose()?;
    Ok(DestinationState { base, base_tree, branch, branch_tree })
}

/// Requests the heads of a destination, and reads the files in its branches.
///
/// # Errors
/// If the repository can't be read, the base branch does not exist, or the proposing branch contains a commit of a person.
pub fn current_state(
    repositories: &dyn Repositories,
    destination: &DestinationBranch<'_>,
) -> Result<DestinationState, PublishError> {
    state_at(repositories, destination, heads(repositories, destination)?, ForeignCommits::Keep)
}

/// Creates one commit on the head of the base branch, and moves the branch of the destination to it. A push to the proposing branch replaces all commits
/// that the base branch does not have: [`state_at`] checks them. A push to the base branch is a fast-forward.
///
/// A proposing branch with the same files is replaced, too, unless it is one commit of Kalypso on the head of the base branch: otherwise, the branches may
/// conflict, or have nothing to merge.
///
/// # Errors
/// If the repository can't be reached, or refuses the push.
pub fn publish(
    repositories: &dyn Repositories,
    destination: &DestinationBranch<'_>,
    state: &DestinationState,
    change: &BranchChange<'_>,
) -> Result<PushOutcome, PublishError> {
    if *change.tree == state.base_tree {
        return Ok(PushOutcome::Unchanged(state.base.id));
    }
    let head = match destination.branch {
        None => Some(&state.base),
        Some(_) => state.branch.as_ref(),
    };
    if let (Some(branch), Some(tree)) = (&state.branch, &state.branch_tree)
        && tree == change.tree
    {
        let info = repositories.info(branch)?;
        if foreign::is_ours(&info, destination) && info.parents == [state.base.id] {
            return Ok(PushOutcome::Unchanged(branch.id));
        }
    }
    let environment = (trailer::ENVIRONMENT, destination.environment.as_str());
    let trailers: Vec<_> = [environment].into_iter().chain(change.trailers.iter().copied()).collect();
    let commit = NewCommit {
        parents: &[state.base.id],
        tree: change.tree,
        open: change.open,
        message: &trailer::with_trailers(change.message, &trailers),
        author: &Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() },
        seconds: change.seconds,
        signer: None,
    };
    let branch = destination.branch.unwrap_or(destination.base);
    let push = Push { branch, expected: head.map(|head| head.id), commit: Some(commit), progress: change.progress };
    Ok(match repositories.push(destination.url, &push)? {
        Pushed::Moved(id) => PushOutcome::Pushed(id),
        Pushed::Removed | Pushed::LostRace => PushOutcome::LostRace,
    })
}

/// Creates the base branch with a first commit without files.
///
/// # Errors
/// If the repository can't be reached, or refuses the push.
pub fn create_base(
    repositories: &dyn Repositories,
    destination: &DestinationBranch<'_>,
    seconds: i64,
    progress: &Progress,
) -> Result<PushOutcome, PublishError> {
    let commit = NewCommit {
        parents: &[],
        tree: &Tree::default(),
        open: &closed,
        message: &format!("{}: begin the branch\n", destination.environment),
        author: &Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() },
        seconds,
        signer: None,
    };
    let push = Push { branch: destination.base, expected: None, commit: Some(commit), progress };
    Ok(match repositories.push(destination.url, &push)? {
        Pushed::Moved(id) => PushOutcome::Pushed(id),
        Pushed::Removed | Pushed::LostRace => PushOutcome::LostRace,
    })
}

/// Deletes the proposing branch when its change is no longer needed. Returns [`PushOutcome::Unchanged`] with the head of the base branch if the branch
/// is deleted or did not exist.
///
/// # Errors
/// If the repository can't be reached, or refuses the push.
pub fn withdraw(
    repositories: &dyn Repositories,
    destination: &DestinationBranch<'_>,
    state: &DestinationState,
    progress: &Progress,
) -> Result<PushOutcome, PublishError> {
    let (Some(branch), Some(head)) = (destination.branch, &state.branch) else {
        return Ok(PushOutcome::Unchanged(state.base.id));
    };
    let push = Push { branch, expected: Some(head.id), commit: None, progress };
    Ok(match repositories.push(destination.url, &push)? {
        Pushed::Removed => PushOutcome::Unchanged(state.base.id),
        Pushed::Moved(_) | Pushed::LostRace => PushOutcome::LostRace,
    })
}
