//! Publications: the desired content of places, with its deployment targets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointError};
use crate::limits::{EARLIER_NAMES_MAX, ENDPOINT_CHARACTERS_MAX, FUTURE_MAX, LABELS_MAX, NAME_CHARACTERS_MAX};
use crate::revision::is_hash;
use crate::timestamp::Timestamp;

/// The desired content of all or some places of a branch. The body of `POST /api/v1/publications`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Publication {
    /// The repository's URL.
    pub repository: String,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// The commit of the branch with this content. None: the change is only proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The time of the commit. None: the time of arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_on: Option<Timestamp>,
    /// The desired content of the places.
    pub places: Vec<DesiredPlace>,
    /// The range of paths for which `places` lists all platform folders. Folders in this range that are not listed are removed. Needs a `commit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<PathRange>,
    /// The environments in the order of promotion. Empty: the order is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<String>,
    /// The output of which the hub has all places of the commit with this publication. None: more requests follow, or the rest is not known. Needs a `commit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completes: Option<PublishedOutput>,
}

/// The output of an environment in a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PublishedOutput {
    /// The environment.
    pub environment: String,
    /// The folder in the branch. Empty: the whole branch.
    #[serde(default)]
    pub folder: String,
}

/// Which output a publisher asks about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct PublicationQuery {
    /// The repository's URL.
    pub repository: String,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// The environment.
    pub environment: String,
    /// The folder in the branch. Empty: the whole branch.
    #[serde(default)]
    pub folder: String,
}

/// How far the output of an environment in a branch is published to the hub.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicationState {
    /// The last commit of the branch of which all places were published. None: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A range of paths of a branch, in byte order. Large branches are published in several ranges, each of which is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathRange {
    /// Only paths in this folder. Empty: the whole branch.
    #[serde(default)]
    pub below: String,
    /// Only paths after this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Only paths up to and including this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl PathRange {
    /// The paths in its fields.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        [Some(&self.below), self.after.as_ref(), self.until.as_ref()].into_iter().flatten()
    }
}

/// The desired content of a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DesiredPlace {
    /// The folder in the branch.
    pub path: String,
    /// The git tree of the folder. None: it was removed.
    pub tree: Option<String>,
    /// The role of the folder.
    pub role: Role,
    /// Its environment.
    #[serde(default)]
    pub environment: Option<String>,
    /// The cluster type of the folder that it belongs to.
    #[serde(default)]
    pub cluster_type: Option<String>,
    /// The cluster of the folder that it belongs to. Such places are counted together with the places of other clusters of the type.
    #[serde(default)]
    pub cluster: Option<String>,
    /// The earlier names of the cluster, or of the cluster type if there is no cluster: at most 20, without commas. The history under the present name also has
    /// what happened under these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_names: Vec<String>,
    /// The version of its configuration.
    #[serde(default)]
    pub config_version: Option<String>,
    /// Its deployment targets.
    #[serde(default)]
    pub targets: Vec<DesiredTarget>,
}

/// The role of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A workload's own manifests.
    Application,
    /// Namespace, configuration and reconciler of assignments.
    Platform,
}

impl Role {
    /// The stored text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::Platform => "platform",
        }
    }
}

/// A deployment target, with its desired version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DesiredTarget {
    /// The workspace of the application.
    pub workspace: String,
    /// The application of the workload.
    pub application: String,
    /// The workload.
    pub workload: String,
    /// The target's own name.
    pub name: String,
    /// The target's environment.
    pub environment: String,
    /// The target's labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The source of the workload, as `repository/branch/path`.
    #[serde(default)]
    pub source_endpoint: Option<String>,
    /// The desired version of the workload, if this place defines it. At a platform folder: the release that it was rendered with.
    #[serde(default)]
    pub version: Option<DesiredVersion>,
}

/// A version of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DesiredVersion {
    /// The version.
    pub version: String,
    /// The build of the version.
    #[serde(default)]
    pub build: Option<String>,
    /// The commit of its source.
    #[serde(default)]
    pub commit: Option<String>,
    /// Whether a person pinned the place to it: it does not get other versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
}

impl DesiredVersion {
    /// A version of which only the name is known.
    pub fn named(version: impl Into<String>) -> Self {
        Self { version: version.into(), ..Self::default() }
    }
}

/// The changes of the hub by a publication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicationReceipt {
    /// The number of places whose desired content has changed.
    pub changed: usize,
    /// The number of places that were removed.
    pub removed: usize,
    /// The number of places whose desired content has not changed.
    pub unchanged: usize,
}

/// The content of a branch of a GitOps repository at a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BranchContent {
    /// The repository's URL.
    pub repository: String,
    /// The branch that reconcilers pull.
    pub branch: String,
    /// The commit.
    pub commit: String,
    /// The time of the commit.
    pub committed_on: Timestamp,
    /// The content of the places.
    pub places: Vec<DesiredPlace>,
    /// Whether `places` lists all places of the branch. If so, all others are removed.
    #[serde(default)]
    pub is_complete: bool,
}

/// The progress of reading a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// The last read commit before this one. None: the branch was never read. If the hub has stored another commit in the meantime, nothing is changed.
    pub before: Option<String>,
    /// Whether this is the last part of the commit. Large commits are sent in several parts.
    pub is_last: bool,
    /// The folder of the output that was read. Empty for the root.
    pub folder: String,
}

/// How far a branch was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchRead {
    /// The last read commit.
    pub commit: String,
    /// The folder of the output. None: the hub was of an earlier version, which did not store it.
    pub folder: Option<String>,
}

/// The reason why a publication is not valid, with the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicationError {
    /// A path, branch or repository is not valid.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A name is empty or too long, or has control characters.
    #[error("`{0}` is a text of 1 to {NAME_CHARACTERS_MAX} characters, without control characters")]
    Name(&'static str),
    /// The labels of a target are too many, too long, or have control characters.
    #[error(
        "`labels` are at most {LABELS_MAX}, of at most {NAME_CHARACTERS_MAX} characters each, without control characters"
    )]
    Labels,
    /// The earlier names of a place are too many, or one is empty or too long, or has commas or control characters.
    #[error(
        "`earlierNames` are at most {EARLIER_NAMES_MAX}, of 1 to {NAME_CHARACTERS_MAX} characters each, without commas and control characters"
    )]
    EarlierNames,
    /// An endpoint is too long, or has control characters.
    #[error("`sourceEndpoint` is a text of at most {ENDPOINT_CHARACTERS_MAX} characters, without control characters")]
    Source,
    /// The time of the commit is in the future.
    #[error("`committedOn` is {0}, in the future; it is {1} here: is the clock of the committing machine right?")]
    Future(Timestamp, Timestamp),
    /// A git object id is not valid.
    #[error("`{0}` is the id of a git object: 40 or 64 hexadecimal digits")]
    Hash(&'static str),
}

/// Checks the names and ids of places of a branch.
///
/// # Errors
/// If the repository, the branch, a path, a name or an id is not valid.
pub fn check_places(repository: &str, branch: &str, places: &[DesiredPlace]) -> Result<(), PublicationError> {
    // The repository and branch are checked even if the list is empty.
    Endpoint::new(repository, branch, "")?;
    places.iter().try_for_each(|place| {
        Endpoint::new(repository, branch, &place.path)?;
        place.check()
    })
}

impl DesiredPlace {
    fn check(&self) -> Result<(), PublicationError> {
        hash("tree", self.tree.as_deref())?;
        check_name("environment", self.environment.as_deref())?;
        check_name("clusterType", self.cluster_type.as_deref())?;
        check_name("cluster", self.cluster.as_deref())?;
        check_name("configVersion", self.config_version.as_deref())?;
        // The hub stores them with commas between them.
        let are_names = self.earlier_names.len() <= EARLIER_NAMES_MAX
            && self.earlier_names.iter().all(|name| is_name(name) && !name.contains(','));
        if !are_names {
            return Err(PublicationError::EarlierNames);
        }
        self.targets.iter().try_for_each(DesiredTarget::check)
    }
}

impl BranchContent {
    /// Checks names, ids and, unless `is_observed`, the time of the commit: an observer of a branch can't change the dates of its commits.
    ///
    /// # Errors
    /// If a field is not valid, or the time of the commit is in the future.
    pub fn check(&self, is_observed: bool, now: Timestamp) -> Result<(), PublicationError> {
        hash("commit", Some(&self.commit))?;
        if !is_observed && self.committed_on > now.after(FUTURE_MAX) {
            return Err(PublicationError::Future(self.committed_on, now));
        }
        check_places(&self.repository, &self.branch, &self.places)
    }
}

impl DesiredTarget {
    /// Checks names, labels and the source endpoint.
    ///
    /// # Errors
    /// If one of them is not valid.
    pub fn check(&self) -> Result<(), PublicationError> {
        check_name("workspace", Some(&self.workspace))?;
        check_name("application", Some(&self.application))?;
        check_name("workload", Some(&self.workload))?;
        check_name("name", Some(&self.name))?;
        check_name("environment", Some(&self.environment))?;
        let version = self.version.as_ref();
        check_name("version", version.map(|version| version.version.as_str()))?;
        check_name("build", version.and_then(|version| version.build.as_deref()))?;
        check_name("commit", version.and_then(|version| version.commit.as_deref()))?;
        let are_labels = self.labels.len() <= LABELS_MAX
            && self.labels.iter().all(|(key, value)| is_name(key) && is_text(value, NAME_CHARACTERS_MAX));
        if !are_labels {
            return Err(PublicationError::Labels);
        }
        let source = self.source_endpoint.as_deref().unwrap_or_default();
        if is_text(source, ENDPOINT_CHARACTERS_MAX) { Ok(()) } else { Err(PublicationError::Source) }
    }
}

/// Checks the name in a field, if there is one.
///
/// # Errors
/// If it is empty, too long, or has control characters.
pub fn check_name(field: &'static str, text: Option<&str>) -> Result<(), PublicationError> {
    if text.is_none_or(is_name) { Ok(()) } else { Err(PublicationError::Name(field)) }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && is_text(text, NAME_CHARACTERS_MAX)
}

fn is_text(text: &str, characters_max: usize) -> bool {
    text.chars().count() <= characters_max && !text.chars().any(char::is_control)
}

fn hash(field: &'static str, text: Option<&str>) -> Result<(), PublicationError> {
    if text.is_none_or(is_hash) { Ok(()) } else { Err(PublicationError::Hash(field)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(place: &str) -> Result<(), String> {
        let place = serde_json::from_str(place).unwrap();
        check_places("https://git.example/r", "b", &[place]).map_err(|error| error.to_string())
    }

    #[test]
    fn the_wrong_field_is_named() {
        assert_eq!(check(r#"{"path": "a", "role": "platform", "environment": "Größe 1"}"#), Ok(()));
        let error = |place| check(place).unwrap_err();
        assert!(error(r#"{"path": "../a", "role": "platform"}"#).contains("leaves its repository"));
        assert!(error(r#"{"path": "a", "role": "platform", "tree": "main"}"#).starts_with("`tree` is the id"));
        assert!(error(r#"{"path": "a", "role": "platform", "cluster": "a\nb"}"#).starts_with("`cluster` is a text"));
        let renamed = |names: &[String]| {
            let names = serde_json::json!(names);
            check(&format!(r#"{{"path": "a", "role": "platform", "earlierNames": {names}}}"#))
        };
        assert_eq!(renamed(&vec!["edge".to_owned(); 20]), Ok(()));
        for wrong in [vec!["edge".to_owned(); 21], vec![String::new()], vec!["a,b".into()], vec!["a\n".into()]] {
            assert!(renamed(&wrong).unwrap_err().starts_with("`earlierNames` are at most 20"), "{wrong:?}");
        }
        let target = |more: &str| {
            let names = r#""workspace": "s", "application": "a", "workload": "w", "name": "n", "environment": "e""#;
            check(&format!(r#"{{"path": "a", "role": "platform", "targets": [{{{names}, {more}}}]}}"#))
        };
        assert_eq!(target(r#""labels": {"region": ""}, "sourceEndpoint": "r/b/p""#), Ok(()));
        assert!(target(r#""labels": {"region": "e\u0000u"}"#).unwrap_err().starts_with("`labels` are at most"));
        assert!(target(r#""sourceEndpoint": "r\u0000""#).unwrap_err().starts_with("`sourceEndpoint` is a text"));
    }
}
