//! A company with a control plane and a GitOps repository, in memory.

#![expect(clippy::expect_used, reason = "a company that can't be made in memory is a broken test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use git::{MemoryRepositories, NewCommit, Person, Push, Repositories, RepositoryUrl, Revision};
use git_host::HostKind;
use git_host::hosts::memory::{Branches, MemoryHost};
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Child, Entry, Tree, closed};

use crate::generator::{self, ENVIRONMENT, Size};

/// The branch that clusters pull.
pub const BASE: &str = "clusters";
/// The branch that changes are proposed on.
pub const PROPOSAL: &str = "kalypso/prod";

/// The URL of the control plane.
pub const CONTROL_PLANE: &str = "https://git.example/platform/control-plane";
/// The URL of the GitOps repository.
pub const GITOPS: &str = "https://git.example/platform/gitops";

/// Two workloads with four targets each, on two cluster types.
const SIZE: Size = Size { cluster_types: 2, targets: 8, config_maps: 1, schemas: 0 };

/// The page of the git host in memory.
pub const HOST: &str = "https://git.example";

/// A company with one environment.
pub struct MemoryCompany {
    /// Its repositories.
    pub repositories: Arc<MemoryRepositories>,
    files: BTreeMap<String, String>,
}

fn url(text: &str) -> RepositoryUrl {
    RepositoryUrl::from_object(text).expect("it is in memory")
}

fn tree(files: &BTreeMap<String, String>) -> Tree {
    let mut tree = Tree::default();
    files.iter().for_each(|(path, text)| tree.write(path, text.as_bytes()));
    tree
}

impl Default for MemoryCompany {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryCompany {
    /// A control plane of which nothing was published, and a GitOps branch with a file of other people.
    pub fn new() -> Self {
        let is_own = |path: &String| !path.starts_with("registrations/");
        let mut files = generator::fleet(SIZE, 1);
        files.retain(|path, _| is_own(path));
        let gitops = format!(
            "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: GitOpsRepo, metadata: {{name: prod}}, \
             spec: {{repo: {GITOPS}, branch: {BASE}, path: .}}}}\n"
        );
        files.insert("gitops-repo.yaml".to_owned(), gitops);
        let world = Self { repositories: Arc::default(), files };
        let environment = declaration(ENVIRONMENT);
        let declared = BTreeMap::from([(format!(".environments/{ENVIRONMENT}.yaml"), environment)]);
        world.commit(CONTROL_PLANE, "main", &tree(&declared));
        world.commit(CONTROL_PLANE, ENVIRONMENT, &tree(&world.files));
        world.write_gitops("README.md", "Of other people.\n");
        world
    }

    /// Changes files of the environment's branch; none removes one.
    pub fn change(&mut self, changes: &[(&str, Option<&str>)]) {
        for (path, text) in changes {
            match text {
                Some(text) => self.files.insert((*path).to_owned(), (*text).to_owned()),
                None => self.files.remove(*path),
            };
        }
        self.commit(CONTROL_PLANE, ENVIRONMENT, &tree(&self.files));
    }

    /// Sets a field of the `GitOpsRepo`.
    pub fn set_gitops_field(&mut self, field: &str) {
        let text = self.files["gitops-repo.yaml"].replace("path: .", &format!("path: ., {field}"));
        self.change(&[("gitops-repo.yaml", Some(&text))]);
    }

    /// The files of the environment's branch.
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Deletes a branch of the GitOps repository.
    pub fn delete_branch(&self, branch: &str) {
        delete(&self.repositories, (GITOPS, branch));
    }

    /// A git host with the repositories of this world.
    pub fn host(&self, kind: HostKind) -> MemoryHost {
        let host = MemoryHost::new(kind);
        for url in [CONTROL_PLANE, GITOPS] {
            let branches = HostedBranches { repositories: Arc::clone(&self.repositories), url };
            host.add_repository(url.strip_prefix("https://git.example/").expect("it is in memory"), Box::new(branches));
        }
        host
    }

    /// Changes a value that all assignments have.
    pub fn change_value(&mut self, value: &str) {
        let found = self.files.iter().find(|(path, _)| path.starts_with("configs/"));
        let (path, text) = found.expect("the company has values");
        let (path, text) = (path.clone(), format!("{text}  ADDED_{value}: \"{value}\"\n"));
        self.change(&[(&path, Some(&text))]);
    }

    /// Pushes a file to the GitOps branch, as another program does.
    pub fn write_gitops(&self, path: &str, text: &str) {
        let url = url(GITOPS);
        let head = self.repositories.resolve(&url, &Revision::branch(BASE));
        let mut tree =
            head.map_or_else(|_| Tree::default(), |head| self.repositories.tree(&head).expect("it is in memory"));
        tree.write(path, text.as_bytes());
        self.commit(GITOPS, BASE, &tree);
    }

    /// The head of the environment's branch of the control plane.
    pub fn environment_head(&self) -> GitId {
        self.repositories.head(&url(CONTROL_PLANE), ENVIRONMENT).expect("it is in memory")
    }

    /// Commits a file to a branch of the GitOps repository, as a person.
    pub fn write_to(&self, branch: &str, path: &str, text: &str) {
        let url = url(GITOPS);
        let head = self.repositories.resolve(&url, &Revision::branch(branch)).expect("it is in memory");
        let mut tree = self.repositories.tree(&head).expect("it is in memory");
        let file = Child::File(Entry::file(text.as_bytes()));
        tree.put(path, file, &git::opener(&*self.repositories, &head)).expect("it is in memory");
        self.commit(GITOPS, branch, &tree);
    }

    /// Commits the files of a branch of the GitOps repository to another one, as a person.
    pub fn squash(&self, from: &str, branch: &str) {
        let head = self.repositories.resolve(&url(GITOPS), &Revision::branch(from)).expect("it is in memory");
        self.commit(GITOPS, branch, &self.repositories.tree(&head).expect("it is in memory"));
    }

    fn commit(&self, to: &str, branch: &str, tree: &Tree) {
        let url = url(to);
        let parents: Vec<_> = self.repositories.head(&url, branch).into_iter().collect();
        let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        let repositories = &self.repositories;
        let open = |sealed: &model::tree::Sealed| match repositories.resolve(&url, &Revision::branch(branch)) {
            Ok(head) => git::opener(&**repositories, &head)(sealed),
            Err(_) => closed(sealed),
        };
        let commit = NewCommit {
            parents: &parents,
            tree,
            open: &open,
            message: "A change",
            author: &author,
            seconds: 1_000,
            signer: None,
        };
        repositories.commit(&url, branch, &commit).expect("it is in memory");
    }

    /// The head of a branch of the GitOps repository.
    pub fn head(&self, branch: &str) -> Option<GitId> {
        self.repositories.head(&url(GITOPS), branch)
    }

    /// The paths of the files in a branch of the GitOps repository.
    pub fn paths(&self, branch: &str) -> Vec<String> {
        let head = self.repositories.resolve(&url(GITOPS), &Revision::branch(branch)).expect("it is in memory");
        let tree = self.repositories.tree(&head).expect("it is in memory");
        let open = git::opener(&*self.repositories, &head);
        tree.files(&open).map(|file| file.expect("it is in memory").0).collect()
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
        let declared = (format!(".environments/{ENVIRONMENT}.yaml"), declaration(ENVIRONMENT));
        let files = BTreeMap::from([declared, (path.to_owned(), text.to_owned())]);
        self.commit(CONTROL_PLANE, "main", &tree(&files));
    }

    /// The content of a file in the GitOps branch. None if it does not exist.
    pub fn gitops_file(&self, path: &str) -> Option<String> {
        let head = self.repositories.resolve(&url(GITOPS), &Revision::branch(BASE)).expect("it is in memory");
        let tree = self.repositories.tree(&head).expect("it is in memory");
        let file = tree.file(path, &git::opener(&*self.repositories, &head)).expect("it is in memory")?;
        let content = self.repositories.content(&head, file.blob.id(), u64::MAX).expect("it is in memory");
        match content {
            git::FileContent::Bytes(bytes) => Some(String::from_utf8(bytes.to_vec()).expect("it is text")),
            git::FileContent::TooLarge(_) => None,
        }
    }

    /// Declares another environment, with the objects of the first one.
    pub fn declare(&self, environment: &str) {
        let names = [ENVIRONMENT, environment];
        let declared = names.map(|name| (format!(".environments/{name}.yaml"), declaration(name)));
        self.commit(CONTROL_PLANE, "main", &tree(&BTreeMap::from(declared)));
    }
}

/// The object that declares an environment. All have the same branch.
fn declaration(environment: &str) -> String {
    format!(
        "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Environment, metadata: {{name: {environment}}}, \
         spec: {{controlPlane: {{repo: {CONTROL_PLANE}, branch: {ENVIRONMENT}, path: .}}}}}}\n"
    )
}

pub(crate) fn delete(repositories: &MemoryRepositories, (repository, branch): (&str, &str)) {
    let url = url(repository);
    let expected = repositories.head(&url, branch);
    let push = Push { branch, expected, commit: None, progress: &Progress::default() };
    repositories.push(&url, &push).expect("it is in memory");
}

/// The branches of a repository in memory, as the git host sees them.
#[derive(Clone)]
pub(crate) struct HostedBranches {
    pub(crate) repositories: Arc<MemoryRepositories>,
    pub(crate) url: &'static str,
}

impl std::fmt::Debug for HostedBranches {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
