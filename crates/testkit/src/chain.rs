//! A control plane whose environments have commits of the main branch, one environment after another, in memory.

use std::sync::Arc;

use git::{MemoryRepositories, Repositories as _};
use git_host::HostKind;
use git_host::hosts::memory::MemoryHost;
use model::git_id::GitId;

use crate::company::memory::{self, commit_files, read_file, resolve, url};
use crate::company::{BranchTexts, CONTROL_PLANE, CompanyFiles, GITOPS, common_value, pinned, place_files};

/// The repository with the manifests of the workload.
pub const MANIFESTS: &str = "https://git.example/acme/shop-deploy";

/// The cluster types of each environment.
const PLACES: &[&str] = &["east", "west"];

/// A control plane with environments. Each has two cluster types and the workload `shop`, and a branch of the GitOps repository with its name.
pub struct MemoryChain {
    /// The repositories.
    pub repositories: Arc<MemoryRepositories>,
    main: BranchTexts,
}

impl MemoryChain {
    /// A control plane with these environments. All have the first commit of the main branch, and nothing was published.
    pub fn new(environments: &[&str]) -> Self {
        let places: Vec<_> = environments.iter().map(|name| (*name, PLACES)).collect();
        let (files, repositories) = (CompanyFiles::with_places(&places), Arc::<MemoryRepositories>::default());
        files.write(&*repositories);
        Self { repositories, main: files.main }
    }

    /// Writes a file of the main branch. Returns the commit.
    pub fn write_main(&mut self, path: &str, text: &str) -> GitId {
        self.propose_main("main", path, text)
    }

    /// Writes a file of the main branch to another branch, to be merged from there. Returns the commit.
    pub fn propose_main(&mut self, branch: &str, path: &str, text: &str) -> GitId {
        self.main.insert(path.to_owned(), text.to_owned());
        self.write(CONTROL_PLANE, branch, &self.main)
    }

    /// Removes a file of the main branch. Returns the commit.
    pub fn remove_main(&mut self, path: &str) -> GitId {
        self.main.remove(path);
        self.write(CONTROL_PLANE, "main", &self.main)
    }

    /// Commits exactly these files to a branch of a repository, which is made if there is none.
    pub fn write(&self, repository: &str, branch: &str, files: &BranchTexts) -> GitId {
        commit_files(&self.repositories, (repository, branch), files)
    }

    /// Changes a value that all assignments have. Returns the commit of the main branch.
    pub fn change_value(&mut self, value: &str) -> GitId {
        self.write_main("common.yaml", &common_value(value))
    }

    /// Commits exactly these files to a branch of an environment.
    pub fn write_environment(&self, name: &str, files: &BranchTexts) -> GitId {
        self.write(CONTROL_PLANE, name, files)
    }

    /// Deletes the branch of an environment.
    pub fn delete_environment(&self, name: &str) {
        self.repositories.force(&url(CONTROL_PLANE), name, None);
    }

    /// The head of a branch of the control plane.
    pub fn head(&self, branch: &str) -> Option<GitId> {
        self.repositories.head(&url(CONTROL_PLANE), branch)
    }

    /// The commit of the main branch that an environment's branch names.
    pub fn promoted(&self, environment: &str) -> Option<String> {
        let text = self.read(CONTROL_PLANE, environment, "base.yaml")?;
        Some(text.split_once("commit: ")?.1.trim_end().to_owned())
    }

    /// The text of a file of a branch. None if there is none.
    pub fn read(&self, repository: &str, branch: &str, path: &str) -> Option<String> {
        read_file(&self.repositories, (repository, branch), path)
    }

    /// The message of the commit at the head of a branch. Empty if there is none.
    pub fn message(&self, repository: &str, branch: &str) -> String {
        let head = resolve(&self.repositories, (repository, branch));
        let newest = head.and_then(|head| self.repositories.ancestry(&head, 1).ok()?.into_iter().next());
        newest.map(|(_, commit)| commit.message.clone()).unwrap_or_default()
    }

    /// A git host with the control plane, the GitOps repository and the manifests of the workload.
    pub fn host(&self, kind: HostKind) -> MemoryHost {
        memory::host(&self.repositories, kind, &[CONTROL_PLANE, GITOPS, MANIFESTS])
    }
}

/// The files of an environment's branch, with a commit of the main branch. None: it follows the head.
pub fn environment(name: &str, commit: Option<GitId>) -> BranchTexts {
    match commit {
        Some(commit) => pinned(place_files(name, PLACES), commit),
        None => place_files(name, PLACES),
    }
}
