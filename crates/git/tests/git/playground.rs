//! Test repositories: created by the git program, or in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use git::load::{BrokenFiles, ControlPlane};
use git::publications::NO_RELEASES;
use git::{
    CacheKey, GitRepositories, MemoryRepositories, NewCommit, Person, Repositories, RepositoryUrl, Revision, Rewrite,
    Settings,
};
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Tree, closed};
use tempfile::TempDir;
use testkit::git_server::GitServer;
pub(crate) use testkit::objects::HOST;

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

pub(crate) fn key(secret: &str) -> CacheKey {
    CacheKey::derive(secret.as_bytes()).unwrap()
}

/// A temporary folder with bare repositories and a cache.
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

    /// Settings that rewrite [`HOST`] to `to`.
    pub(crate) fn settings(&self, to: &str) -> Settings {
        let rewrite = vec![Rewrite { from: HOST.to_owned(), to: to.to_owned() }];
        Settings { rewrite, key: Some(key("a key of this machine")), ..Settings::new(self.cache()) }
    }

    /// Access to the repositories in place.
    pub(crate) fn local(&self) -> GitRepositories {
        GitRepositories::new(self.settings(&format!("{}/", self.served().display())))
    }

    /// Creates an empty repository.
    pub(crate) fn create(&self, name: &str) -> PathBuf {
        let path = self.served().join(format!("{name}.git"));
        run(&self.served(), &["init", "--quiet", "--bare", "--initial-branch=main", path.to_str().unwrap()]);
        path
    }

    /// Creates a commit with exactly these files on a branch, like a push from a clone.
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

/// Creates a commit with these files on a branch, through the trait.
pub(crate) fn commit(
    repositories: &dyn Repositories,
    url: &RepositoryUrl,
    branch: &str,
    files: &[(&str, &str)],
) -> GitId {
    commit_tree(repositories, url, branch, &tree(files))
}

/// Creates a commit on a branch, through the trait.
pub(crate) fn commit_tree(repositories: &dyn Repositories, url: &RepositoryUrl, branch: &str, tree: &Tree) -> GitId {
    let head = repositories.resolve(url, &Revision::branch(branch)).ok().map(|commit| commit.id);
    let author = person("Ann");
    let parents: Vec<_> = head.into_iter().collect();
    let commit = NewCommit {
        parents: &parents,
        tree,
        open: &closed,
        message: "a change",
        author: &author,
        seconds: 1_000,
        signer: None,
    };
    let push = git::Push { branch, expected: head, commit: Some(commit), progress: &Progress::default() };
    match repositories.push(url, &push).unwrap() {
        git::Pushed::Moved(id) => id,
        other => panic!("{other:?}"),
    }
}

/// [`MemoryRepositories`] with one empty repository.
pub(crate) fn memory(name: &str) -> MemoryRepositories {
    let repositories = MemoryRepositories::default();
    repositories.create(&url(name));
    repositories
}

/// Runs git with the environment of the tests.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The control plane with this URL, of which nothing was admitted.
pub(crate) fn control_plane<'a>(
    url: &'a RepositoryUrl,
    (progress, broken): (&'a Progress, &'a BrokenFiles),
) -> ControlPlane<'a> {
    ControlPlane { url, branch: "main", rewrite: &[], promoted: None, releases: &NO_RELEASES, progress, broken }
}

/// Runs a test with an empty repository `gitops`, in each implementation: in memory, in place, and over HTTP.
pub(crate) fn in_each_implementation(test: impl Fn(&dyn Repositories)) {
    test(&memory("gitops"));
    let disk = Disk::new();
    disk.create("gitops");
    test(&disk.local());
    let disk = Disk::new();
    disk.create("gitops");
    let server = GitServer::start(&disk.served()).unwrap();
    test(&GitRepositories::new(disk.settings(&server.url())));
}
