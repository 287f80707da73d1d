//! Repositories to play with: made by the git program, or in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use git::{
    GitRepositories, Key, MemoryRepositories, NewCommit, Person, Repositories, RepositoryUrl, Revision, Rewrite,
    Settings,
};
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Tree, closed};
use tempfile::TempDir;

/// Where URLs of the playground begin.
pub(crate) const HOST: &str = "https://git.example/acme/";

pub(crate) fn url(name: &str) -> RepositoryUrl {
    RepositoryUrl::from_object(&format!("{HOST}{name}")).unwrap()
}

pub(crate) fn person(name: &str) -> Person {
    Person { name: name.to_owned(), email: format!("{}@example.com", name.to_lowercase()) }
}

pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        tree.write(path, text.as_bytes());
    }
    tree
}

pub(crate) fn key(secret: &str) -> Key {
    Key::of_secret(secret.as_bytes()).unwrap()
}

/// A folder for bare repositories and one for the cache.
pub(crate) struct Disk {
    pub(crate) folder: TempDir,
}

impl Disk {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("served")).unwrap();
        Self { folder }
    }

    pub(crate) fn served(&self) -> PathBuf {
        self.folder.path().join("served")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// Settings that find the playground's URLs at `to`.
    pub(crate) fn settings(&self, to: &str) -> Settings {
        let rewrite = vec![Rewrite { from: HOST.to_owned(), to: to.to_owned() }];
        Settings { rewrite, key: Some(key("a key of this machine")), ..Settings::new(self.cache()) }
    }

    /// Reads the repositories in place.
    pub(crate) fn local(&self) -> GitRepositories {
        GitRepositories::new(self.settings(&format!("{}/", self.served().display())))
    }

    /// Makes an empty repository.
    pub(crate) fn create(&self, name: &str) -> PathBuf {
        let path = self.served().join(format!("{name}.git"));
        run(&self.served(), &["init", "--quiet", "--bare", "--initial-branch=main", path.to_str().unwrap()]);
        path
    }

    /// Makes a commit with exactly these files on a branch, as somebody with a clone would.
    pub(crate) fn commit(&self, name: &str, branch: &str, files: &[(&str, &str)]) -> GitId {
        let path = self.served().join(format!("{name}.git"));
        if !path.exists() {
            self.create(name);
        }
        let repositories = GitRepositories::new(Settings::new(self.folder.path().join("writer")));
        let url = RepositoryUrl::from_configuration(path.to_str().unwrap()).unwrap();
        commit(&repositories, &url, branch, files)
    }
}

/// Makes a commit with these files on a branch through the seam.
pub(crate) fn commit(
    repositories: &dyn Repositories,
    url: &RepositoryUrl,
    branch: &str,
    files: &[(&str, &str)],
) -> GitId {
    commit_tree(repositories, url, branch, &tree(files))
}

/// Makes a commit on a branch through the seam.
pub(crate) fn commit_tree(repositories: &dyn Repositories, url: &RepositoryUrl, branch: &str, tree: &Tree) -> GitId {
    let head = repositories.resolve(url, &Revision::branch(branch)).ok().map(|commit| commit.id);
    let author = person("Ann");
    let parents: Vec<_> = head.into_iter().collect();
    let commit =
        NewCommit { parents: &parents, tree, open: &closed, message: "a change", author: &author, seconds: 1_000 };
    let push = git::Push { branch, expected: head, commit: Some(commit), progress: &Progress::default() };
    match repositories.push(url, &push).unwrap() {
        git::Pushed::Moved(id) => id,
        other => panic!("{other:?}"),
    }
}

/// Memory repositories with one empty repository.
pub(crate) fn memory(name: &str) -> MemoryRepositories {
    let repositories = MemoryRepositories::default();
    repositories.create(&url(name));
    repositories
}

/// Runs git as a person would.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
