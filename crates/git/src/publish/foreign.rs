//! Commits of people on a proposing branch: finds one whose content would be lost if the branch was replaced.

use model::git_id::GitId;
use model::tree::{FileDifference, OpenError, Tree};

use super::{AUTHOR_EMAIL, DestinationBranch, Heads, PublishError};
use crate::limits::{BASE_REACHES, OWN_COMMITS_MAX};
use crate::repositories::{Commit, CommitInfo, Person, Repositories, RepositoryError, opener};
use crate::trailer;

/// Checks that no content of a person is lost if the proposing branch is replaced. These commits may be replaced:
///
/// - Kalypso's own.
/// - A merge of the base branch without changes of its own, as the button **Update branch** of git hosts makes it.
/// - Commits whose content the base branch has, for example after a merge that squashes commits.
///
/// # Errors
/// If there is another commit. If the repository can't be read.
pub fn check_commits(
    repositories: &dyn Repositories,
    destination: &DestinationBranch<'_>,
    heads: &Heads,
) -> Result<(), PublishError> {
    let Heads { base, branch: Some(branch) } = heads else { return Ok(()) };
    let info = repositories.info(branch)?;
    // Usually, the branch is one commit of Kalypso on the base branch.
    if let (true, Some(parent)) = (is_ours(&info, destination), info.parents.first())
        && is_in_base(repositories, base, *parent)?
    {
        return Ok(());
    }
    let line = Line::read(repositories, (base, branch))?;
    match line.foreign(destination)? {
        Some((commit, _)) if line.is_contained(commit)? => Ok(()),
        None => Ok(()),
        Some((commit, author)) => {
            let branch = destination.branch.unwrap_or(destination.base).to_owned();
            Err(PublishError::Foreign { url: destination.url.clone(), branch, commit: commit.id, author })
        }
    }
}

/// A commit is Kalypso's if it has the trailer, one parent, and Kalypso as the committer. If a person amends such a commit, trailer and author stay,
/// but the committer changes.
pub(super) fn is_ours(info: &CommitInfo, destination: &DestinationBranch<'_>) -> bool {
    let is_for_it = trailer::trailers(&info.message, trailer::ENVIRONMENT) == [destination.environment.as_str()];
    is_for_it && info.parents.len() == 1 && info.committer.email == AUTHOR_EMAIL
}

fn is_in_base(repositories: &dyn Repositories, base: &Commit, commit: GitId) -> Result<bool, RepositoryError> {
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

/// The commits of a proposing branch along the first parents.
struct Line<'a> {
    repositories: &'a dyn Repositories,
    base: &'a Commit,
    /// The commits that are not in the base branch, newest first.
    own: Vec<Commit>,
    /// The commit of the base branch at which the branch begins. None: it was not found.
    begin: Option<Commit>,
}

impl<'a> Line<'a> {
    fn read(
        repositories: &'a dyn Repositories,
        (base, branch): (&'a Commit, &Commit),
    ) -> Result<Self, RepositoryError> {
        let mut own = repositories.history(branch, OWN_COMMITS_MAX + 1)?;
        // All ancestors of a commit of the base branch are in the base branch, too.
        let (mut outside, mut inside) = (0, own.len());
        while outside < inside {
            let middle = outside.midpoint(inside);
            match own.get(middle) {
                Some(commit) if !is_in_base(repositories, base, commit.id)? => outside = middle + 1,
                _ => inside = middle,
            }
        }
        let begin = own.get(inside).cloned();
        own.truncate(inside);
        Ok(Self { repositories, base, own, begin })
    }

    /// The newest commit that is neither Kalypso's nor a merge of the base branch without changes of its own.
    fn foreign(&self, destination: &DestinationBranch<'_>) -> Result<Option<(&Commit, Person)>, PublishError> {
        let mut found = None;
        let mut merged = self.begin.clone();
        for commit in self.own.iter().rev() {
            let info = self.repositories.info(commit)?;
            if is_ours(&info, destination) {
                continue;
            }
            match self.merge_of_base((commit, &info), merged.as_ref())? {
                Some(newer) => merged = Some(newer),
                None => found = Some((commit, info.author)),
            }
        }
        // A branch of which the begin is not known is not replaced.
        match self.own.first().filter(|_| self.begin.is_none() && found.is_none()) {
            Some(first) => Ok(Some((first, self.repositories.info(first)?.author))),
            None => Ok(found),
        }
    }

    /// The merged commit of the base branch, if a commit merges it without changes of its own. `merged` is the commit of the base branch that was merged before.
    fn merge_of_base(
        &self,
        (commit, info): (&Commit, &CommitInfo),
        merged: Option<&Commit>,
    ) -> Result<Option<Commit>, PublishError> {
        let (&[first, second], Some(merged)) = (&info.parents[..], merged) else { return Ok(None) };
        if !is_in_base(self.repositories, self.base, second)? {
            return Ok(None);
        }
        let (first, second) = (Commit { id: first, ..commit.clone() }, Commit { id: second, ..self.base.clone() });
        let [before, after, old, new] = [&first, commit, merged, &second].map(|commit| self.repositories.tree(commit));
        let (old, new) = (old?, new?);
        let is_of_base = |FileDifference { path, before, after }: &FileDifference| {
            Ok(*before == self.file(&old, path)? && *after == self.file(&new, path)?)
        };
        Ok(self.all((&before?, &after?), &is_of_base)?.then_some(second))
    }

    /// Whether the base branch has what the branch changes, although the commit is not in it.
    fn is_contained(&self, commit: &Commit) -> Result<bool, PublishError> {
        let Some(begin) = &self.begin else { return Ok(false) };
        let [before, after, base] = [begin, commit, self.base].map(|commit| self.repositories.tree(commit));
        let (before, after, base) = (before?, after?, base?);
        // What only takes back a proposed change leaves nothing to compare.
        let is_in_base = |FileDifference { path, after, .. }: &FileDifference| Ok(*after == self.file(&base, path)?);
        Ok(before != after && self.all((&before, &after), &is_in_base)?)
    }

    /// Whether this is true of all files that differ between two trees.
    fn all(
        &self,
        (before, after): (&Tree, &Tree),
        is_true: &dyn Fn(&FileDifference) -> Result<bool, OpenError>,
    ) -> Result<bool, PublishError> {
        let open = opener(self.repositories, self.base);
        for difference in before.diff(after, &open) {
            if !difference.and_then(|found| is_true(&found)).map_err(|error| self.damaged(&error))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn file(&self, tree: &Tree, path: &str) -> Result<Option<model::tree::Entry>, OpenError> {
        tree.file(path, &opener(self.repositories, self.base))
    }

    fn damaged(&self, error: &OpenError) -> RepositoryError {
        RepositoryError::Damaged { url: self.base.url.clone(), reason: error.to_string() }
    }
}
