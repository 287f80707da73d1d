//! Repositories in memory: commits, files, and their git host.

#![expect(clippy::expect_used, reason = "what can't be done in memory is a broken test")]

use std::fmt;
use std::sync::Arc;

use git::{Commit, FileContent, MemoryRepositories, NewCommit, Person, Repositories as _, RepositoryUrl, Revision};
use git_host::HostKind;
use git_host::hosts::memory::{Branches, MemoryHost};
use model::git_id::GitId;
use model::tree::{Child, Entry, Sealed, Tree, closed};

use super::{BranchTexts, CompanyRepositories};
use crate::objects::HOST;

/// The page of the git host.
pub const PAGES: &str = "https://git.example";
/// The URL of the control plane.
pub const CONTROL_PLANE: &str = "https://git.example/acme/control-plane";
/// The URL of the GitOps repository.
pub const GITOPS: &str = "https://git.example/acme/gitops";

impl CompanyRepositories for MemoryRepositories {
    fn write(&self, repository: &str, branch: &str, files: &BranchTexts) -> GitId {
        commit_files(self, (&format!("{HOST}{repository}"), branch), files)
    }
}

/// The URL of a repository.
pub fn url(text: &str) -> RepositoryUrl {
    RepositoryUrl::from_object(text).expect("it is a URL")
}

/// The commit of a branch. None if there is none.
pub fn resolve(repositories: &MemoryRepositories, (repository, branch): (&str, &str)) -> Option<Commit> {
    repositories.resolve(&url(repository), &Revision::branch(branch)).ok()
}

/// Commits exactly these files to a branch of a repository. Makes them if there are none.
pub fn commit_files(repositories: &MemoryRepositories, place: (&str, &str), files: &BranchTexts) -> GitId {
    let mut tree = Tree::default();
    files.iter().for_each(|(path, text)| tree.write(path, text.as_bytes()));
    commit_tree(repositories, place, &tree)
}

/// The same with a tree. Folders that are not opened are those of the branch.
pub fn commit_tree(repositories: &MemoryRepositories, place: (&str, &str), tree: &Tree) -> GitId {
    let (url, branch) = (url(place.0), place.1);
    let parents: Vec<_> = repositories.head(&url, branch).into_iter().collect();
    let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
    let open = |sealed: &Sealed| match resolve(repositories, place) {
        Some(head) => git::opener(repositories, &head)(sealed),
        None => closed(sealed),
    };
    let (parents, open, message, author) = (&parents, &open, "A change", &author);
    let commit = NewCommit { parents, tree, open, message, author, seconds: 1_000, signer: None };
    repositories.commit(&url, branch, &commit).expect("it is in memory")
}

/// Commits files to a branch, which keeps its other files.
pub fn put_files(repositories: &MemoryRepositories, place: (&str, &str), files: &[(&str, &str)]) -> GitId {
    let head = resolve(repositories, place).expect("the branch exists");
    let mut tree = repositories.tree(&head).expect("it is in memory");
    for (path, text) in files {
        let file = Child::File(Entry::file(text.as_bytes()));
        tree.put(path, file, &git::opener(repositories, &head)).expect("it is in memory");
    }
    commit_tree(repositories, place, &tree)
}

/// The text of a file of a branch. None if there is none.
pub fn read_file(repositories: &MemoryRepositories, place: (&str, &str), path: &str) -> Option<String> {
    let head = resolve(repositories, place)?;
    let tree = repositories.tree(&head).expect("it is in memory");
    let file = tree.file(path, &git::opener(repositories, &head)).expect("it is in memory")?;
    match repositories.content(&head, file.blob.id(), u64::MAX).expect("it is in memory") {
        FileContent::Bytes(bytes) => Some(String::from_utf8(bytes.to_vec()).expect("it is text")),
        FileContent::TooLarge(_) => None,
    }
}

/// A git host with these repositories.
pub fn host(repositories: &Arc<MemoryRepositories>, kind: HostKind, urls: &[&'static str]) -> MemoryHost {
    let host = MemoryHost::new(kind);
    for &url in urls {
        let branches = HostedBranches { repositories: Arc::clone(repositories), url };
        let path = url.strip_prefix(PAGES).expect("it is on the host").trim_start_matches('/');
        host.add_repository(path, Box::new(branches));
    }
    host
}

/// The branches of a repository, as the git host sees them.
#[derive(Clone)]
struct HostedBranches {
    repositories: Arc<MemoryRepositories>,
    url: &'static str,
}

impl fmt::Debug for HostedBranches {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.url)
    }
}

impl Branches for HostedBranches {
    fn head(&self, branch: &str) -> Option<GitId> {
        self.repositories.head(&url(self.url), branch)
    }

    fn has_commit(&self, id: GitId) -> bool {
        self.repositories.resolve(&url(self.url), &Revision::Commit { id, branch: None }).is_ok()
    }

    fn is_conflicting(&self, _: &str, _: &str) -> bool {
        false
    }

    fn merge(&mut self, head: &str, base: &str) -> Option<GitId> {
        let (url, repositories) = (url(self.url), &*self.repositories);
        let source = repositories.resolve(&url, &Revision::branch(head)).ok()?;
        let tree = repositories.tree(&source).ok()?;
        let parents = [self.head(base)?, source.id];
        let author = Person { name: "Merge".to_owned(), email: "merge@git.example".to_owned() };
        let open = git::opener(repositories, &source);
        let commit = NewCommit {
            parents: &parents,
            tree: &tree,
            open: &open,
            message: "Merge",
            author: &author,
            seconds: 3_000,
            signer: None,
        };
        repositories.commit(&url, base, &commit).ok()
    }
}
