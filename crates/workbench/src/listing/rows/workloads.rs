//! Workloads, their deployment targets and their registrations.

use engine::schedule::target::Target;
use model::count::thousands;
use model::credential::without;
use model::name::RegistrationName;
use model::object::{Object, Workload, WorkloadRegistration};
use serde::Serialize;
use utoipa::ToSchema;

use super::repositories::RepositoryFields;
use super::{KindFields, ListColumns, columns};
use crate::listing::object::registered;
use crate::listing::view::{Pairs, View, label_pairs, or_dash, pairs, pairs_text};

/// A workload.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadFields {
    /// The workspace (the team) that it belongs to.
    pub workspace: String,
    /// The `WorkloadRegistration` that brought it; may be `null`.
    pub registration: Option<String>,
    /// The repository of that registration; may be `null`.
    pub repository: Option<String>,
    /// How many deployment targets it has in the environment.
    pub targets: usize,
    /// How many assignments these have.
    pub assignments: usize,
    #[serde(skip)]
    labels: Pairs,
}

impl WorkloadFields {
    pub(super) fn new(object: &Object<Workload>, view: &View<'_>) -> Self {
        let fleet = view.fleet();
        let (registration, workspace) = registered(fleet, &object.name);
        let repository = registration.and_then(|name| fleet.registrations.get(name));
        Self {
            workspace: workspace.to_owned(),
            registration: registration.map(str::to_owned),
            repository: repository.map(|object| without(&object.spec.workload.repo).into_owned()),
            targets: view.inventory.targets_of(object.name.as_str()),
            assignments: view.inventory.len(&view.inventory.of_workload(object.name.as_str())),
            labels: label_pairs(&object.labels),
        }
    }
}

impl KindFields for WorkloadFields {
    const COLUMNS: ListColumns =
        columns(&["NAME", "WORKSPACE", "REGISTRATION", "TARGETS", "ASSIGNMENTS"], &["REPOSITORY", "LABELS", "SOURCE"]);

    fn cells(&self) -> Vec<String> {
        vec![
            or_dash(&self.workspace),
            or_dash(self.registration.as_deref().unwrap_or_default()),
            thousands(self.targets),
            thousands(self.assignments),
            or_dash(self.repository.as_deref().unwrap_or_default()),
            pairs_text(&self.labels),
        ]
    }
}

/// A deployment target.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetFields {
    /// Its workload.
    pub workload: String,
    /// Its workspace.
    pub workspace: String,
    /// The `WorkloadRegistration` that brought it; may be `null`.
    pub registration: Option<String>,
    /// Where its manifests are, key by key, as in `spec.manifests`.
    pub manifests: Pairs,
    /// On how many places it runs.
    pub assignments: usize,
    /// How many of these are cluster types.
    pub cluster_types: usize,
    /// How many of these are clusters.
    pub clusters: usize,
    #[serde(skip)]
    labels: Pairs,
}

impl TargetFields {
    pub(super) fn new(target: &Target, view: &View<'_>) -> Self {
        let counts = view.inventory.counts(&view.inventory.of_target(target.name.as_str()));
        Self {
            workload: target.workload().to_owned(),
            workspace: target.workspace().to_owned(),
            registration: target.registration.as_ref().map(RegistrationName::to_string),
            manifests: pairs(target.manifests.iter().map(|(key, value)| (&**key, &**value))),
            assignments: counts.assignments,
            cluster_types: counts.cluster_types,
            clusters: counts.clusters,
            labels: label_pairs(&target.labels),
        }
    }
}

impl KindFields for TargetFields {
    const COLUMNS: ListColumns =
        columns(&["NAME", "WORKLOAD", "ASSIGNMENTS", "LABELS"], &["WORKSPACE", "MANIFESTS", "SOURCE"]);

    fn cells(&self) -> Vec<String> {
        vec![
            or_dash(&self.workload),
            thousands(self.assignments),
            pairs_text(&self.labels),
            or_dash(&self.workspace),
            pairs_text(&self.manifests),
        ]
    }
}

/// A `WorkloadRegistration`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationFields {
    /// The workspace of its targets.
    pub workspace: String,
    /// Where its workloads are.
    #[serde(flatten)]
    pub place: RepositoryFields,
    /// The workloads that it brings.
    pub workloads: Vec<String>,
    /// Whether the repository could be read.
    pub readable: bool,
}

impl RegistrationFields {
    pub(super) fn new(object: &Object<WorkloadRegistration>, view: &View<'_>) -> Self {
        let fleet = view.fleet();
        let all = fleet.workloads.values().chain(fleet.conflicting_claims.values().flatten());
        let brought = all.filter(|workload| workload.registration.as_ref() == Some(&object.name));
        Self {
            workspace: object.spec.workspace.to_string(),
            place: RepositoryFields::new(&object.spec.workload),
            workloads: brought.map(|workload| workload.object.name.to_string()).collect(),
            readable: !fleet.unavailable.contains(&object.name),
        }
    }
}

impl KindFields for RegistrationFields {
    const COLUMNS: ListColumns =
        columns(&["NAME", "WORKSPACE", "REPOSITORY", "BRANCH", "PATH", "WORKLOADS"], &["SOURCE"]);

    fn cells(&self) -> Vec<String> {
        let workloads = if self.readable { or_dash(&self.workloads.join(",")) } else { "(can't be read)".to_owned() };
        [vec![or_dash(&self.workspace)], self.place.cells(), vec![workloads]].concat()
    }
}
