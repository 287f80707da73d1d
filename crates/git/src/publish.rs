//! Puts a tree into a branch of a GitOps repository: atomically, over nobody's work.

use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::progress::Progress;
use model::tree::{Open, Tree};

use crate::limits::{BASE_REACHES, OWN_COMMITS_MAX};
use crate::load::problem;
use crate::repositories::{
    Commit, CommitInfo, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, Revision,
};
use crate::trailer;
use crate::url::RepositoryUrl;

/// The name that our commits carry.
pub const AUTHOR_NAME: &str = "Kalypso";
/// The address that our commits carry. Nobody can have it: its top-level domain is reserved by RFC 2606.
pub const AUTHOR_EMAIL: &str = "kalypso@kalypso.invalid";

/// Where a tree shall go.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    /// The GitOps repository.
    pub url: &'a RepositoryUrl,
    /// The branch that clusters look at. It must exist.
    pub base: &'a str,
    /// Our own branch, from which a pull request goes to the base; none: straight into the base.
    pub branch: Option<&'a str>,
    /// The environment, which the trailer of every commit names.
    pub environment: &'a EnvironmentName,
}

/// The state of a destination.
#[derive(Clone, Debug)]
pub struct Target {
    /// The head of the base branch.
    pub base: Commit,
    /// What is in it.
    pub base_tree: Tree,
    /// The head of our own branch, if that is asked for and exists.
    pub branch: Option<Commit>,
    /// What is in it.
    pub branch_tree: Option<Tree>,
}

/// What shall be published.
#[derive(Clone, Copy)]
pub struct Change<'a> {
    /// The whole tree, foreign files included.
    pub tree: &'a Tree,
    /// Opens what is sealed in it.
    pub open: &'a Open<'a>,
    /// Why; the trailer that names the environment is added.
    pub message: &'a str,
    /// More trailers.
    pub trailers: &'a [(&'a str, &'a str)],
    /// When, in seconds since 1970.
    pub seconds: i64,
    /// Where what is written is counted, as [`Push::progress`] says.
    pub progress: &'a Progress,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// The branch is at this new commit.
    Pushed(GitId),
    /// The branch at this commit, or the base branch, holds the tree already; nothing was pushed. If it is the base, our branch has become needless.
    Unchanged(GitId),
    /// Somebody else moved the branch meanwhile. Nothing was pushed: look again, decide again.
    LostRace,
}

/// Why nothing can be published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The repository can't be read or refuses.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The base branch does not exist.
    #[error("repository `{url}` has no branch `{branch}`")]
    NoBase {
        /// The repository.
        url: RepositoryUrl,
        /// The branch.
        branch: String,
        /// Whether there is no commit at all.
        is_empty: bool,
    },
    /// Our branch holds somebody else's commit.
    #[error("branch `{branch}` of `{url}` holds commit {commit} of {author}, which Kalypso did not make", commit = commit.short())]
    Foreign {
        /// The repository.
        url: RepositoryUrl,
        /// The branch.
        branch: String,
        /// The commit.
        commit: GitId,
        /// Who made it.
        author: Person,
    },
}

impl PublishError {
    /// The error with its code and advice.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::Repository(error) => problem::repository(error),
            Self::NoBase { branch, is_empty, .. } => {
                let help = if *is_empty {
                    format!(
                        "the repository is empty. Make the branch: `git switch --orphan {branch}`, `git commit --allow-empty -m 'Begin'`, `git push origin {branch}`"
                    )
                } else {
                    format!("is the name right? Otherwise make the branch: `git push origin HEAD:refs/heads/{branch}`")
                };
                Diagnostic::error(Code::RevisionNotFound, self.to_string()).help(help)
            }
            Self::Foreign { branch, .. } => Diagnostic::error(Code::ForeignCommit, self.to_string())
                .note("the commit is kept, and nothing is pushed over it")
                .help(format!("merge it, or move it to another branch and delete `{branch}`")),
        }
    }
}

/// Where the branches of a destination are, by one look at each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heads {
    /// The head of the base branch.
    pub base: Commit,
    /// The head of our own branch, if that is asked for and exists.
    pub branch: Option<Commit>,
}

/// Where the branches of a destination are now. Whoever reads sources afterwards, and pushes with what was found here as the lease, never replaces what was
/// made of newer ones.
///
/// # Errors
/// If the repository can't be read, or the base branch does not exist.
pub fn heads(repositories: &dyn Repositories, destination: &Destination<'_>) -> Result<Heads, PublishError> {
    let Destination { url, base: name, .. } = *destination;
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

/// Reads what is in the branches of a destination.
///
/// # Errors
/// If the repository can't be read, or our branch holds a commit that we did not make.
pub fn read(
    repositories: &dyn Repositories,
    destination: &Destination<'_>,
    heads: Heads,
) -> Result<Target, PublishError> {
    let Heads { base, branch } = heads;
    let base_tree = repositories.tree(&base)?;
    let branch_tree = match &branch {
        Some(branch) => {
            refuse_foreign(repositories, destination, &base, branch)?;
            Some(repositories.tree(branch)?)
        }
        None => None,
    };
    Ok(Target { base, base_tree, branch, branch_tree })
}

/// Looks at a destination.
///
/// # Errors
/// If the repository can't be read, the base branch does not exist, or our branch holds a commit that we did not make.
pub fn look(repositories: &dyn Repositories, destination: &Destination<'_>) -> Result<Target, PublishError> {
    read(repositories, destination, heads(repositories, destination)?)
}

/// Makes one commit on the head of the base branch, and moves the destination's branch there: by pushing over our own commits only, or, where
/// it is the base branch itself, by adding to it.
///
/// # Errors
/// If the repository can't be reached, or refuses.
pub fn publish(
    repositories: &dyn Repositories,
    destination: &Destination<'_>,
    target: &Target,
    change: &Change<'_>,
) -> Result<Published, PublishError> {
    let (head, tree) = match destination.branch {
        None => (Some(&target.base), Some(&target.base_tree)),
        Some(_) => (target.branch.as_ref(), target.branch_tree.as_ref()),
    };
    if let (Some(head), Some(tree)) = (head, tree)
        && tree == change.tree
    {
        return Ok(Published::Unchanged(head.id));
    }
    if *change.tree == target.base_tree {
        return Ok(Published::Unchanged(target.base.id));
    }
    let environment = (trailer::ENVIRONMENT, destination.environment.as_str());
    let trailers: Vec<_> = [environment].into_iter().chain(change.trailers.iter().copied()).collect();
    let commit = NewCommit {
        parents: &[target.base.id],
        tree: change.tree,
        open: change.open,
        message: &trailer::with_trailers(change.message, &trailers),
        author: &Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() },
        seconds: change.seconds,
    };
    let branch = destination.branch.unwrap_or(destination.base);
    let push = Push { branch, expected: head.map(|head| head.id), commit: Some(commit), progress: change.progress };
    Ok(match repositories.push(destination.url, &push)? {
        Pushed::Moved(id) => Published::Pushed(id),
        Pushed::Removed | Pushed::LostRace => Published::LostRace,
    })
}

/// Removes our branch, after its change has vanished. [`Published::Unchanged`] says that there was none, or that it is gone, with the commit of the base.
///
/// # Errors
/// If the repository can't be reached, or refuses.
pub fn withdraw(
    repositories: &dyn Repositories,
    destination: &Destination<'_>,
    target: &Target,
    progress: &Progress,
) -> Result<Published, PublishError> {
    let (Some(branch), Some(head)) = (destination.branch, &target.branch) else {
        return Ok(Published::Unchanged(target.base.id));
    };
    let push = Push { branch, expected: Some(head.id), commit: None, progress };
    Ok(match repositories.push(destination.url, &push)? {
        Pushed::Removed => Published::Unchanged(target.base.id),
        Pushed::Moved(_) | Pushed::LostRace => Published::LostRace,
    })
}

/// Makes sure that every commit of our branch that is not in the base is ours.
fn refuse_foreign(
    repositories: &dyn Repositories,
    destination: &Destination<'_>,
    base: &Commit,
    branch: &Commit,
) -> Result<(), PublishError> {
    let mut commit = branch.clone();
    for _ in 0..OWN_COMMITS_MAX {
        let info = repositories.info(&commit)?;
        let parent = info.parents.first().copied().filter(|_| is_ours(&info, destination.environment));
        // What is not ours may still be the base's: somebody made the branch, or merged it.
        if is_in_base(repositories, base, parent.unwrap_or(commit.id))? {
            return Ok(());
        }
        let before = repositories.history(&commit, 2)?.into_iter().find(|before| Some(before.id) == parent);
        match before {
            Some(before) => commit = before,
            None => return Err(foreign(destination, commit.id, info.author)),
        }
    }
    let author = repositories.info(&commit)?.author;
    Err(foreign(destination, commit.id, author))
}

fn foreign(destination: &Destination<'_>, commit: GitId, author: Person) -> PublishError {
    let branch = destination.branch.unwrap_or(destination.base).to_owned();
    PublishError::Foreign { url: destination.url.clone(), branch, commit, author }
}

/// Ours carry our trailer, have one parent, and were committed by us: somebody who amends one keeps trailer and author, but becomes its committer.
fn is_ours(info: &CommitInfo, environment: &EnvironmentName) -> bool {
    let is_for_it = trailer::trailers(&info.message, trailer::ENVIRONMENT) == [environment.as_str()];
    is_for_it && info.parents.len() == 1 && info.committer.email == AUTHOR_EMAIL
}

fn is_in_base(repositories: &dyn Repositories, base: &Commit, commit: GitId) -> Result<bool, PublishError> {
    if commit == base.id {
        return Ok(true);
    }
    for reach in BASE_REACHES {
        if repositories.is_ancestor(commit, base, reach)? {
            return Ok(true);
        }
    }
    Ok(false)
}
