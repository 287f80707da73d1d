//! Repositories as they were: what was read for an earlier publication.

use std::collections::BTreeMap;

use git::load::Read;
use git::{Commit, CommitInfo, Content, Item, Push, Pushed, Repositories, RepositoryError, RepositoryUrl, Revision};
use model::git_id::GitId;
use model::tree::Tree;

/// The trailer that names a commit which output was made of: `<URL> <branch> <commit>`.
pub(crate) const SOURCE: &str = "Kalypso-Source";

/// Repositories whose branches are where they were.
pub(crate) struct Pinned<'a> {
    repositories: &'a dyn Repositories,
    pins: BTreeMap<(String, String), GitId>,
}

impl<'a> Pinned<'a> {
    pub(crate) fn new(repositories: &'a dyn Repositories, pins: BTreeMap<(String, String), GitId>) -> Self {
        Self { repositories, pins }
    }

    fn at(&self, url: &RepositoryUrl, revision: &Revision) -> Revision {
        match revision {
            Revision::Branch(name) => match self.pins.get(&(url.as_str().to_owned(), name.to_string())) {
                Some(id) => Revision::Commit { id: *id, branch: Some(name.clone()) },
                None => revision.clone(),
            },
            other => other.clone(),
        }
    }
}

/// The value of a trailer for something that was read.
pub(crate) fn source(read: &Read) -> String {
    format!("{} {} {}", read.url.as_str(), read.revision, read.commit)
}

/// The commits that a message names.
pub(crate) fn pins(message: &str) -> BTreeMap<(String, String), GitId> {
    let pin = |value: &str| {
        let mut words = value.rsplitn(3, ' ');
        let (commit, revision, url) = (words.next()?, words.next()?, words.next()?);
        Some(((url.to_owned(), revision.to_owned()), GitId::from_hex(commit)?))
    };
    git::trailer::trailers(message, SOURCE).into_iter().filter_map(pin).collect()
}

impl Repositories for Pinned<'_> {
    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        self.repositories.resolve(url, &self.at(url, revision))
    }

    fn remembered(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit> {
        self.repositories.remembered(url, &self.at(url, revision))
    }

    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<Item>>, RepositoryError> {
        self.repositories.folder(commit, path)
    }

    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<Content, RepositoryError> {
        self.repositories.content(commit, blob, limit)
    }

    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError> {
        self.repositories.tree(commit)
    }

    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError> {
        self.repositories.subtree(commit, tree)
    }

    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError> {
        self.repositories.info(commit)
    }

    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError> {
        self.repositories.history(commit, reach)
    }

    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        self.repositories.is_ancestor(ancestor, commit, reach)
    }

    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        self.repositories.push(url, push)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_message_names_is_pinned() {
        let commit = "4fb8c440e19eca604bbdc14dbba63e5fb98b2c52";
        let url = "https://git.example/acme/control-plane";
        let message = format!(
            "dev: 1 added\n\nKalypso-Environment: dev\nKalypso-Source: {url} dev {commit}\nKalypso-Source: nonsense\n"
        );
        let expected = BTreeMap::from([((url.to_owned(), "dev".to_owned()), GitId::from_hex(commit).unwrap())]);
        assert_eq!(pins(&message), expected);
    }
}
