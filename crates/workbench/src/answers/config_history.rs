//! The versions that the configuration of an assignment had.

use serde::Serialize;
use utoipa::ToSchema;

use crate::change::source_name;
use crate::config_versions::ConfigVersion;

/// The versions of the configuration of an assignment, newest first.
#[derive(Serialize, ToSchema)]
pub struct ConfigHistoryFields {
    items: Vec<VersionFields>,
}

/// A version of the configuration.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct VersionFields {
    /// The version of the configuration; `null` if the assignment did not exist.
    version: Option<String>,
    /// The commit that brought it.
    commit: String,
    /// The URL of the repository of the commit.
    repository: String,
    /// The branch of the commit.
    branch: String,
    /// The time of the commit.
    committed_on: String,
    /// The first line of its message.
    subject: String,
}

impl ConfigHistoryFields {
    /// The answer with these versions.
    pub fn new(versions: &[ConfigVersion]) -> Self {
        let of = |found: &ConfigVersion| {
            let (repository, branch) = source_name(&found.commit);
            VersionFields {
                version: found.version.clone(),
                commit: found.commit.id.to_string(),
                repository,
                branch,
                committed_on: format!("{:.3}", found.on),
                subject: found.subject.clone(),
            }
        };
        Self { items: versions.iter().map(of).collect() }
    }
}
