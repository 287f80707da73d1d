//! Named releases, and what differs between two of them.

use std::sync::Arc;

use delivery::states::named_releases::{NamedRelease, ReleasedWorkload};
use model::git_id::GitId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::releases::{ReleaseDifference, differences};

/// The releases.
#[derive(Serialize, ToSchema)]
pub struct ReleaseList {
    items: Vec<ReleaseFields>,
}

/// A release.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseFields {
    /// The name.
    name: String,
    /// When it was made.
    created_on: String,
    /// Who made it.
    by: String,
    /// The environment that proved it.
    environment: String,
    /// The commit of the main branch; `null` if the environment does not use it.
    platform: Option<String>,
    /// The commit of the environment's own branch.
    configuration: Option<String>,
    workloads: Vec<WorkloadFields>,
    /// Of `create`: whether the release did not exist before.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_new: Option<bool>,
}

/// A workload in a release.
#[derive(Serialize, ToSchema)]
struct WorkloadFields {
    /// A workload.
    name: String,
    /// The key of `manifests` that names its version.
    key: Option<String>,
    /// Its version; `null` if its targets have several, or none.
    version: Option<String>,
    configurations: Vec<ConfigurationFields>,
}

/// A version of the configuration of a workload.
#[derive(Serialize, ToSchema)]
struct ConfigurationFields {
    /// A version of its configuration.
    version: String,
    /// The number of assignments with this version.
    assignments: u64,
}

/// What differs between two releases.
#[derive(Serialize, ToSchema)]
pub struct ReleaseDifferences {
    /// The first release.
    pub from: String,
    /// The other release, or the environment.
    pub to: String,
    /// The differences.
    pub items: Vec<ReleaseDifference>,
}

impl ReleaseList {
    /// The list of these releases.
    pub fn new(releases: &[NamedRelease]) -> Self {
        Self { items: releases.iter().map(|release| ReleaseFields::new(release, None)).collect() }
    }
}

impl ReleaseFields {
    /// A release. `is_new` of one that was made: whether it did not exist before.
    pub fn new(release: &NamedRelease, is_new: Option<bool>) -> Self {
        let id = |commit: Option<GitId>| commit.map(|commit| commit.to_string());
        Self {
            name: release.name.to_string(),
            created_on: release.created.to_string(),
            by: release.by.to_string(),
            environment: release.environment.to_string(),
            platform: id(release.platform),
            configuration: id(release.configuration),
            workloads: release.workloads.iter().map(WorkloadFields::new).collect(),
            is_new,
        }
    }
}

impl WorkloadFields {
    fn new((name, workload): (&Arc<str>, &ReleasedWorkload)) -> Self {
        let (key, version) =
            workload.version.as_ref().map(|(key, version)| (key.to_string(), version.to_string())).unzip();
        let configurations = workload.configurations.iter();
        let configurations = configurations
            .map(|(version, count)| ConfigurationFields { version: version.to_string(), assignments: *count })
            .collect();
        Self { name: name.to_string(), key, version, configurations }
    }
}

impl ReleaseDifferences {
    /// The differences between two releases.
    pub fn new(from: &NamedRelease, to: &NamedRelease) -> Self {
        Self { from: from.name.to_string(), to: to.name.to_string(), items: differences(from, to) }
    }
}
