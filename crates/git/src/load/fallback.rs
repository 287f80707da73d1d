//! Decides whether a cached commit may replace a repository that can't be reached.

use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;

use super::place::SourcePlace;
use crate::publications::{Publications, SourceBranch};
use crate::repositories::RepositoryError;

/// Reads the publications on the destination branches. It is called only if a repository can't be reached.
pub type ReadPublications<'a> = &'a (dyn Fn() -> Result<Vec<Publications>, RepositoryError> + Sync);

/// The reason why a cached commit is not used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// This commit of the source was published, and may be newer.
    Published(GitId),
    /// The publications can't be read. The error message.
    Unknown(String),
}

/// Checks that a commit is not older than the published one of the same source.
///
/// Copies are shallow and commit dates are not reliable, so the order in which this machine saw the heads of the branch is the only evidence. The
/// commits that were published since the commit, and then the commit itself, must have been seen in this order. A commit that was never published
/// must have been seen after the newest published commit.
///
/// # Errors
/// If the order is not known, or if the publications can't be read.
pub(super) fn check(
    commit: GitId,
    seen: &[GitId],
    published: &Result<Vec<Publications>, RepositoryError>,
    name: &SourceBranch,
) -> Result<(), Refusal> {
    let published = published.as_ref().map_err(|error| Refusal::Unknown(error.to_string()))?;
    for commits in published.iter().map(|published| published.commits(name)) {
        let Some(newest) = commits.last().filter(|newest| **newest != commit) else { continue };
        let since = commits.iter().position(|other| *other == commit).unwrap_or(commits.len() - 1);
        let order = commits.iter().skip(since).chain([&commit]);
        if !is_subsequence(order, seen) {
            return Err(Refusal::Published(*newest));
        }
    }
    Ok(())
}

fn is_subsequence<'a>(mut part: impl Iterator<Item = &'a GitId>, whole: &[GitId]) -> bool {
    let mut whole = whole.iter();
    part.all(|id| whole.any(|found| found == id))
}

/// The diagnostic for a repository that can't be reached, as `unreachable` says, and whose cached commit is not used.
pub(super) fn diagnostic(unreachable: Diagnostic, place: &SourcePlace, commit: GitId, refusal: &Refusal) -> Diagnostic {
    let (label, revision, cached) = (place.url.label(), &place.revision, commit.short());
    let (problem, cause) = match refusal {
        Refusal::Published(published) => (
            format!("commit {} was published, and may be newer", published.short()),
            "this machine has no record that the published commit is older than the cached one".to_owned(),
        ),
        Refusal::Unknown(reason) => ("the published commits are not known".to_owned(), reason.clone()),
    };
    let message =
        format!("`{label}` can't be reached, and the cached commit {cached} of {revision} is not used: {problem}");
    let (labels, object) = (unreachable.labels, unreachable.object);
    let mut diagnostic = Diagnostic::error(Code::CachedIsOlder, message)
        .note(unreachable.message)
        .note(cause)
        .note("the published output of its workloads stays")
        .help("try again when the repository can be reached, or publish from a machine that can reach it");
    (diagnostic.labels, diagnostic.object) = (labels, object);
    diagnostic
}

/// The name of a place in the trailers of publications.
pub(super) fn name(place: &SourcePlace) -> SourceBranch {
    (place.url.as_str().to_owned(), place.revision.name().to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::publications::PublishedCommit;

    /// Whether a commit may be used. `seen` lists the heads that this machine saw, `published` the published commits of each branch; both oldest
    /// first, one letter per commit.
    fn is_used(commit: &str, seen: &str, published: &[&str]) -> bool {
        let id = |letter: char| GitId::of_blob(letter.to_string().as_bytes());
        let name = ("u".to_owned(), "main".to_owned());
        let publication = |letter: char| PublishedCommit {
            sources: BTreeMap::from([(name.clone(), id(letter))]),
            ..PublishedCommit::from_message(id('x'), "")
        };
        let published = published
            .iter()
            .map(|letters| Publications { publications: letters.chars().rev().map(publication).collect() });
        let ids = |letters: &str| letters.chars().map(id).collect::<Vec<_>>();
        check(ids(commit)[0], &ids(seen), &Ok(published.collect()), &name).is_ok()
    }

    #[test]
    fn published_and_never_published_sources_are_used() {
        assert!(is_used("a", "a", &[]));
        assert!(is_used("a", "a", &[""]));
        assert!(is_used("a", "a", &["a"]));
        assert!(is_used("a", "", &["ba"]));
    }

    #[test]
    fn heads_seen_after_the_published_commit_are_used() {
        assert!(is_used("b", "ab", &["a"]));
        assert!(is_used("c", "abc", &["a"]));
    }

    #[test]
    fn possibly_older_commits_are_not_used() {
        assert!(!is_used("a", "a", &["b"]), "another machine saw a newer head");
        assert!(!is_used("a", "a", &["ab"]), "the commit was published, and then a newer one");
        assert!(!is_used("a", "ab", &["b"]), "the commit was seen before the published one");
        assert!(!is_used("a", "", &["b"]), "no head was seen");
    }

    #[test]
    fn resets_count_where_they_were_seen() {
        assert!(is_used("a", "aba", &["ab"]), "this machine saw the reset");
        assert!(!is_used("b", "ab", &["aba"]), "the commit was published, and another machine published the reset");
        assert!(is_used("b", "abab", &["aba"]));
    }

    #[test]
    fn publications_of_every_branch_count() {
        assert!(!is_used("a", "a", &["a", "b"]), "a newer one is proposed");
        assert!(is_used("b", "ab", &["a", "b"]));
    }

    #[test]
    fn nothing_is_used_if_publications_are_unknown() {
        let name = ("u".to_owned(), "main".to_owned());
        let url = crate::url::RepositoryUrl::from_object("https://git.example/acme/gitops").unwrap();
        let error = RepositoryError::Empty { url };
        let id = GitId::of_blob(b"a");
        assert!(matches!(check(id, &[id], &Err(error), &name), Err(Refusal::Unknown(_))));
    }
}
