//! A company with a generated fleet, in memory.

#![expect(clippy::expect_used, reason = "a company that can't be made in memory is a broken test")]

use std::sync::Arc;

use git::{Commit, MemoryRepositories, Repositories as _};
use git_host::HostKind;
use git_host::hosts::memory::MemoryHost;
use model::git_id::GitId;
use model::tree::Tree;

use super::BranchTexts;
use super::memory::{self, CONTROL_PLANE, GITOPS, commit_files, commit_tree, put_files, read_file, url};
use crate::generator::{self, ENVIRONMENT, Size};
use crate::objects;

/// The branch that clusters pull.
pub const BASE: &str = "clusters";
/// The branch that changes are proposed on.
pub const PROPOSAL: &str = "kalypso/prod";

/// Two workloads with four targets each, on two cluster types.
const SIZE: Size = Size { cluster_types: 2, targets: 8, config_maps: 1, schemas: 0 };

/// The file of the environment's branch with the `GitOpsRepo`.
const GITOPS_FILE: &str = "gitops-repo.yaml";

/// A company with one environment.
pub struct MemoryCompany {
    /// Its repositories.
    pub repositories: Arc<MemoryRepositories>,
    files: BranchTexts,
}

impl Default for MemoryCompany {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryCompany {
    /// A control plane of which nothing was published, and a GitOps branch with a file of other people.
    pub fn new() -> Self {
        let company = Self { repositories: Arc::default(), files: generated_files(SIZE, 1, BASE) };
        let repositories = &company.repositories;
        commit_files(repositories, (CONTROL_PLANE, "main"), &[declaration(ENVIRONMENT)].into());
        commit_files(repositories, (CONTROL_PLANE, ENVIRONMENT), &company.files);
        let readme = ("README.md".to_owned(), "Of other people.\n".to_owned());
        commit_files(repositories, (GITOPS, BASE), &[readme].into());
        company
    }

    /// Changes files of the environment's branch; none removes one.
    pub fn change(&mut self, changes: &[(&str, Option<&str>)]) {
        for (path, text) in changes {
            match text {
                Some(text) => self.files.insert((*path).to_owned(), (*text).to_owned()),
                None => self.files.remove(*path),
            };
        }
        commit_files(&self.repositories, (CONTROL_PLANE, ENVIRONMENT), &self.files);
    }

    /// Sets a field of the `GitOpsRepo`.
    pub fn set_gitops_field(&mut self, field: &str) {
        let text = format!("{}  {field}\n", self.files[GITOPS_FILE]);
        self.change(&[(GITOPS_FILE, Some(&text))]);
    }

    /// The files of the environment's branch.
    pub fn files(&self) -> &BranchTexts {
        &self.files
    }

    /// Deletes a branch of the GitOps repository.
    pub fn delete_branch(&self, branch: &str) {
        self.repositories.force(&url(GITOPS), branch, None);
    }

    /// A git host with the repositories of this company.
    pub fn host(&self, kind: HostKind) -> MemoryHost {
        memory::host(&self.repositories, kind, &[CONTROL_PLANE, GITOPS])
    }

    /// Changes a value that all assignments have.
    pub fn change_value(&mut self, value: &str) {
        let found = self.files.iter().find(|(path, _)| path.starts_with("configs/"));
        let (path, text) = found.expect("the company has values");
        let (path, text) = (path.clone(), format!("{text}  ADDED_{value}: \"{value}\"\n"));
        self.change(&[(&path, Some(&text))]);
    }

    /// The head of the environment's branch of the control plane.
    pub fn environment_head(&self) -> GitId {
        self.repositories.head(&url(CONTROL_PLANE), ENVIRONMENT).expect("it is in memory")
    }

    /// Commits a file to a branch of the GitOps repository, as a person or another program.
    pub fn write_to(&self, branch: &str, path: &str, text: &str) {
        put_files(&self.repositories, (GITOPS, branch), &[(path, text)]);
    }

    /// Commits the files of a branch of the GitOps repository to another one, as a person.
    pub fn squash(&self, from: &str, branch: &str) {
        commit_tree(&self.repositories, (GITOPS, branch), &self.tree(&self.resolve(from)));
    }

    /// The head of a branch of the GitOps repository.
    pub fn head(&self, branch: &str) -> Option<GitId> {
        self.repositories.head(&url(GITOPS), branch)
    }

    /// The paths of the files in a branch of the GitOps repository.
    pub fn paths(&self, branch: &str) -> Vec<String> {
        let head = self.resolve(branch);
        let open = git::opener(&*self.repositories, &head);
        self.tree(&head).files(&open).map(|file| file.expect("it is in memory").0).collect()
    }

    fn resolve(&self, branch: &str) -> Commit {
        memory::resolve(&self.repositories, (GITOPS, branch)).expect("the branch exists")
    }

    fn tree(&self, commit: &Commit) -> Tree {
        self.repositories.tree(commit).expect("it is in memory")
    }

    /// Lets every request to the GitOps repository fail.
    pub fn break_gitops(&self) {
        self.repositories.set_broken(&url(GITOPS), Some("it is down"));
    }

    /// Lets every request to the control plane fail.
    pub fn break_control_plane(&self) {
        self.repositories.set_broken(&url(CONTROL_PLANE), Some("it is down"));
    }

    /// Adds a file to the main branch of the control plane, beside the declaration of the environment.
    pub fn declare_file(&self, path: &str, text: &str) {
        let files = [declaration(ENVIRONMENT), (path.to_owned(), text.to_owned())];
        commit_files(&self.repositories, (CONTROL_PLANE, "main"), &files.into());
    }

    /// The content of a file in the GitOps branch. None if it does not exist.
    pub fn gitops_file(&self, path: &str) -> Option<String> {
        read_file(&self.repositories, (GITOPS, BASE), path)
    }

    /// Declares another environment, with the objects of the first one.
    pub fn declare(&self, environment: &str) {
        let files = [ENVIRONMENT, environment].map(declaration);
        commit_files(&self.repositories, (CONTROL_PLANE, "main"), &files.into());
    }
}

/// The files of a generated environment's branch: the workloads themselves, so that no repositories of applications are needed, and its branch of the GitOps repository.
pub fn generated_files(size: Size, seed: u64, gitops_branch: &str) -> BranchTexts {
    let mut files = generator::fleet(size, seed);
    files.retain(|path, _| !path.starts_with("registrations/"));
    files.insert(GITOPS_FILE.to_owned(), objects::gitops(ENVIRONMENT, gitops_branch, "."));
    files
}

/// The file that declares an environment. All have the same branch.
fn declaration(environment: &str) -> (String, String) {
    let place = format!("controlPlane: {{repo: {CONTROL_PLANE}, branch: {ENVIRONMENT}, path: .}}");
    (format!(".environments/{environment}.yaml"), objects::object("Environment", environment, &place))
}
