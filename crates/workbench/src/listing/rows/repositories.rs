//! Environments and repositories.

use git::load::ReadRole;
use model::count::thousands;
use model::credential::without;
use model::git_id::GitId;
use model::object::environment::RepositoryPlace;
use model::object::{BaseRepo, Environment, GitOpsRepo, Object};
use serde::Serialize;
use utoipa::ToSchema;

use super::{KindFields, ListColumns, columns};
use crate::listing::view::{View, or_dash};

/// An environment.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentFields {
    /// The repository of the environment's objects; `null` for a plain folder.
    pub repository: Option<String>,
    /// Its branch; `null` for a plain folder.
    pub branch: Option<String>,
    /// The folder in it; `null` for a plain folder.
    pub path: Option<String>,
    /// The commit that was read; `null` for a plain folder.
    pub commit: Option<String>,
    /// The commit of the `BaseRepo` named `main` that was read; may be `null`.
    pub main: Option<String>,
    /// Whether exactly that commit is promoted; otherwise, the head of the branch counts.
    pub main_is_pinned: bool,
    /// Where the output goes: `REPOSITORY@BRANCH`.
    pub gitops_repos: Vec<String>,
    /// How many cluster types there are.
    pub cluster_types: usize,
    /// How many clusters.
    pub clusters: usize,
    /// How many workloads.
    pub workloads: usize,
    /// How many deployment targets.
    pub targets: usize,
    /// How many scheduling policies.
    pub policies: usize,
    /// How many `ConfigMap`s.
    pub configs: usize,
    /// How many assignments.
    pub assignments: usize,
    #[serde(skip)]
    commits: [Option<GitId>; 2],
}

impl EnvironmentFields {
    pub(super) fn new(object: &Object<Environment>, view: &View<'_>) -> Self {
        let RepositoryPlace { repo, branch, path, .. } = &object.spec.control_plane;
        Self {
            repository: Some(without(repo).into_owned()),
            branch: Some(branch.to_string()),
            path: Some(path.to_string()),
            ..Self::undeclared(view)
        }
    }

    /// An environment that no object declares: a plain folder.
    pub(super) fn undeclared(view: &View<'_>) -> Self {
        let (loaded, fleet, inventory) = (view.loaded, view.fleet(), &view.inventory);
        let read = |is_it: fn(&ReadRole) -> bool| loaded.reads.iter().find(|read| is_it(&read.role));
        let own = read(|role| *role == ReadRole::Environment).map(|read| read.commit);
        let main = read(|role| matches!(role, ReadRole::Base(name) if name.as_str() == "main"));
        let main = main.map(|read| read.commit);
        Self {
            repository: None,
            branch: None,
            path: None,
            commit: own.map(|id| id.to_string()),
            main: main.map(|id| id.to_string()),
            main_is_pinned: fleet.promoted_commit().is_some(),
            gitops_repos: fleet.gitops_repos.values().map(|object| place_text(&object.spec.place)).collect(),
            cluster_types: fleet.cluster_types.len(),
            clusters: fleet.clusters.len(),
            workloads: fleet.workloads.len(),
            targets: inventory.prepared().targets().len(),
            policies: fleet.policies.len(),
            configs: fleet.config_maps.len(),
            assignments: inventory.len(&inventory.all()),
            commits: [own, main],
        }
    }
}

impl KindFields for EnvironmentFields {
    const COLUMNS: ListColumns = columns(
        &["NAME", "BRANCH", "COMMIT", "MAIN", "CLUSTER-TYPES", "CLUSTERS", "WORKLOADS", "ASSIGNMENTS"],
        &["GITOPS", "SOURCE"],
    );

    fn cells(&self) -> Vec<String> {
        let [own, main] = self.commits.map(|id| id.map_or_else(|| "-".to_owned(), |id| id.short()));
        let is_head = self.main.is_some() && !self.main_is_pinned;
        vec![
            or_dash(self.branch.as_deref().unwrap_or_default()),
            own,
            if is_head { format!("{main} (head)") } else { main },
            thousands(self.cluster_types),
            thousands(self.clusters),
            thousands(self.workloads),
            thousands(self.assignments),
            or_dash(&self.gitops_repos.join(", ")),
        ]
    }
}

/// A repository with its branch: `https://git.example/acme/gitops@dev`.
fn place_text(place: &RepositoryPlace) -> String {
    let path = if matches!(&*place.path, "" | "." | "./") { String::new() } else { format!(":{}", place.path) };
    format!("{}@{}{path}", without(&place.repo), place.branch)
}

/// A repository, a branch and a folder.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepositoryFields {
    /// The repository, without credentials.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The folder.
    pub path: String,
}

impl RepositoryFields {
    pub(super) fn new(place: &RepositoryPlace) -> Self {
        let (branch, path) = (place.branch.to_string(), place.path.to_string());
        Self { repository: without(&place.repo).into_owned(), branch, path }
    }

    pub(super) fn cells(&self) -> Vec<String> {
        [&self.repository, &self.branch, &self.path].map(|text| or_dash(text)).to_vec()
    }
}

/// A `BaseRepo`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BaseRepoFields {
    /// Where it is.
    #[serde(flatten)]
    pub place: RepositoryFields,
    /// The promoted commit; `null` for the head of the branch.
    pub commit: Option<String>,
}

impl BaseRepoFields {
    pub(super) fn new(object: &Object<BaseRepo>) -> Self {
        let BaseRepo { place, commit, .. } = &object.spec;
        Self { place: RepositoryFields::new(place), commit: commit.as_deref().map(ToOwned::to_owned) }
    }
}

impl KindFields for BaseRepoFields {
    const COLUMNS: ListColumns = columns(&["NAME", "REPOSITORY", "BRANCH", "PATH", "COMMIT"], &["SOURCE"]);

    fn cells(&self) -> Vec<String> {
        let shown = self.commit.as_deref().map_or("(head)", |commit| commit.get(..7).unwrap_or(commit));
        [self.place.cells(), vec![shown.to_owned()]].concat()
    }
}

/// A `GitOpsRepo`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitOpsRepoFields {
    /// Where it is.
    #[serde(flatten)]
    pub place: RepositoryFields,
    /// Whether the git host merges pull requests by itself.
    pub auto_merge: bool,
}

impl GitOpsRepoFields {
    pub(super) fn new(object: &Object<GitOpsRepo>) -> Self {
        let GitOpsRepo { place, auto_merge } = &object.spec;
        Self { place: RepositoryFields::new(place), auto_merge: *auto_merge }
    }
}

impl KindFields for GitOpsRepoFields {
    const COLUMNS: ListColumns = columns(&["NAME", "REPOSITORY", "BRANCH", "PATH"], &["AUTO-MERGE", "SOURCE"]);

    fn cells(&self) -> Vec<String> {
        [self.place.cells(), vec![if self.auto_merge { "yes" } else { "no" }.to_owned()]].concat()
    }
}
