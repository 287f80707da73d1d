//! Flux configurations of Arc and AKS clusters (`Microsoft.KubernetesConfiguration/fluxConfigurations`).
//!
//! <https://learn.microsoft.com/rest/api/kubernetesconfiguration/flux-configurations/get>

use std::collections::{BTreeMap, BTreeSet};

use hub_api::endpoint::Endpoint;
use hub_api::report::names::flux_reconciler;
use hub_api::report::{Report, Status};
use hub_api::revision;
use hub_api::timestamp::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::hosts::{Host, HostKind};
use crate::problem::PollProblem;
use crate::resource::ResourceId;
use crate::row::row;

/// The query for all configurations of a subscription. Without an order, pages could overlap.
pub(crate) const QUERY: &str = "kubernetesconfigurationresources \
    | where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations' \
    | project id, name, properties | order by id asc";

/// The API version for a single configuration.
pub(crate) const VERSION: &str = "2023-05-01";

/// The kind of reconcilers that a configuration itself creates, as in Microsoft's hub.
const KIND: &str = "arc";
/// The kind of reconcilers that these reconcilers create.
const CHILD_KIND: &str = "flux";
/// The kinds of objects that are reconcilers. Other objects are sources.
const KINDS: &[&str] = &["Kustomization", "HelmRelease"];

/// A Flux configuration, with the reports of its reconcilers.
#[derive(Debug)]
pub(crate) struct FluxConfiguration {
    /// The configuration's id.
    pub(crate) id: String,
    /// The cluster of the configuration.
    pub(crate) host: Host,
    /// The cluster's id, in lower case.
    pub(crate) cluster: String,
    /// The reports, without the name of the host. `observed_on` is the time of the last change.
    pub(crate) reports: Vec<Report>,
    /// The parts that can't be read.
    pub(crate) problems: Vec<PollProblem>,
    /// Whether the statuses of its objects are missing.
    pub(crate) lacks_statuses: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Properties {
    namespace: Option<String>,
    suspend: Option<bool>,
    source_kind: Option<String>,
    git_repository: Option<Source>,
    bucket: Option<Source>,
    azure_blob: Option<Source>,
    oci_repository: Option<Source>,
    kustomizations: Option<BTreeMap<String, Value>>,
    statuses: Option<Vec<Value>>,
    source_synced_commit_id: Option<String>,
    status_updated_at: Option<String>,
    compliance_state: Option<String>,
    error_message: Option<String>,
}

/// The source of the manifests, of any kind.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    url: Option<String>,
    bucket_name: Option<String>,
    container_name: Option<String>,
    repository_ref: Option<Reference>,
}

#[derive(Clone, Default, Deserialize)]
struct Reference {
    branch: Option<String>,
    tag: Option<String>,
    semver: Option<String>,
    digest: Option<String>,
}

#[derive(Default, Deserialize)]
struct Kustomization {
    path: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectStatus {
    name: Option<String>,
    namespace: Option<String>,
    kind: Option<String>,
    compliance_state: Option<String>,
    message: Option<String>,
    status_conditions: Option<Vec<Condition>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
}

/// Parses the configuration in a row of the graph or an answer of Resource Manager.
///
/// # Errors
/// If it is not a configuration. Then nothing of it can be reported.
pub(crate) fn read(value: Value, now: Timestamp) -> Result<FluxConfiguration, PollProblem> {
    let (id, properties) = row(value)?;
    let resource = ResourceId::parse(&id).filter(|id| id.of_type("fluxConfigurations").is_some());
    let resource = resource.ok_or_else(|| PollProblem::new(&id, "id: is not that of a Flux configuration"))?;
    let properties: Properties =
        decode(properties).map_err(|error| PollProblem::new(&id, format!("properties: {error}")))?;
    let mut found = FluxConfiguration {
        host: Host::new(HostKind::Cluster, &resource),
        cluster: resource.root(),
        reports: Vec::new(),
        problems: Vec::new(),
        lacks_statuses: properties.statuses.is_none(),
        id: id.clone(),
    };
    Reader { configuration: resource.last(), now, properties, found: &mut found }.read();
    Ok(found)
}

struct Reader<'a> {
    configuration: &'a str,
    now: Timestamp,
    properties: Properties,
    found: &'a mut FluxConfiguration,
}

impl Reader<'_> {
    fn read(&mut self) {
        let observed_on = self.observed_on();
        let statuses = self.statuses();
        let namespace = self.properties.namespace.clone().unwrap_or_else(|| "default".to_owned());
        let mut own = BTreeSet::new();
        for (name, kustomization) in self.properties.kustomizations.take().unwrap_or_default() {
            // The object in the cluster has the name of the configuration, followed by the name of the Kustomization.
            let object = format!("{}-{name}", self.configuration);
            let is_own = |status: &ObjectStatus| {
                let is_same_namespace = status.namespace.as_deref().is_none_or(|other| other == namespace);
                is_same_namespace
                    && status.kind.as_deref() == Some("Kustomization")
                    && status.name.as_deref() == Some(&object)
            };
            let index = statuses.iter().position(is_own);
            own.extend(index);
            let status = index.and_then(|index| statuses.get(index));
            let endpoint = self.endpoint(&name, kustomization);
            let revision =
                status.and_then(ObjectStatus::applied).or_else(|| self.properties.source_synced_commit_id.clone());
            let state = status.and_then(|status| status.compliance_state.as_deref());
            let state = state.or(self.properties.compliance_state.as_deref()).unwrap_or_default().to_owned();
            let message = self.message(status, &statuses, &state);
            self.found.reports.push(Report {
                endpoint,
                revision: revision.unwrap_or_default(),
                message,
                ..report(flux_reconciler("Kustomization", &namespace, &object), KIND, status_of(&state), observed_on)
            });
        }
        let children = statuses.iter().enumerate().filter(|(index, _)| !own.contains(index));
        self.found.reports.extend(children.filter_map(|(_, status)| status.child(observed_on)));
    }

    /// The time at which the cluster reported the status to Azure.
    fn observed_on(&mut self) -> Timestamp {
        let Some(text) = self.properties.status_updated_at.take() else { return self.now };
        match text.parse::<Timestamp>() {
            Ok(timestamp) => timestamp.min(self.now),
            Err(error) => {
                self.add_problem("properties.statusUpdatedAt", &error);
                self.now
            }
        }
    }

    fn statuses(&mut self) -> Vec<ObjectStatus> {
        let mut statuses = Vec::new();
        for (index, status) in self.properties.statuses.take().unwrap_or_default().into_iter().enumerate() {
            match decode::<Option<ObjectStatus>>(status) {
                Ok(status) => statuses.extend(status),
                Err(error) => self.add_problem(&format!("properties.statuses[{index}]"), &error),
            }
        }
        statuses
    }

    fn endpoint(&mut self, name: &str, kustomization: Value) -> Option<Endpoint> {
        let field = format!("properties.kustomizations.{name}");
        let kustomization = match decode::<Option<Kustomization>>(kustomization) {
            Ok(kustomization) => kustomization.unwrap_or_default(),
            Err(error) => {
                self.add_problem(&field, &error);
                return None;
            }
        };
        let source = self.properties.source();
        let (repository, branch) = source.place();
        match Endpoint::new(&repository, &branch, &kustomization.path.unwrap_or_default()) {
            Ok(endpoint) => Some(endpoint),
            Err(error) => {
                self.add_problem(&field, &error);
                None
            }
        }
    }

    /// The message of the object itself, or else the messages of all objects in the state of the configuration.
    fn message(&self, status: Option<&ObjectStatus>, statuses: &[ObjectStatus], state: &str) -> String {
        let own = status.map(ObjectStatus::text).filter(|text| !text.is_empty());
        let same = || {
            let same = statuses.iter().filter(|status| status.compliance_state.as_deref() == Some(state));
            let texts: Vec<_> = same.map(ObjectStatus::text).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        };
        let suspended = self.properties.suspend.unwrap_or_default() || state.eq_ignore_ascii_case("suspended");
        let suspended =
            suspended.then(|| "The configuration is suspended: changes in its source are not applied.".to_owned());
        let error = self.properties.error_message.clone();
        let parts = [suspended, error, Some(own.unwrap_or_else(same))].into_iter().flatten();
        parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn add_problem(&mut self, field: &str, error: &dyn std::fmt::Display) {
        self.found.problems.push(PollProblem::new(&self.found.id, format!("{field}: {error}")));
    }
}

impl Properties {
    fn source(&self) -> Source {
        let by_kind = match self.source_kind.as_deref().unwrap_or_default() {
            "GitRepository" => &self.git_repository,
            "Bucket" => &self.bucket,
            "AzureBlob" => &self.azure_blob,
            "OCIRepository" => &self.oci_repository,
            _ => &None,
        };
        let any = [&self.git_repository, &self.oci_repository, &self.bucket, &self.azure_blob];
        let source = by_kind.as_ref().or_else(|| any.into_iter().flatten().next());
        source.cloned().unwrap_or_default()
    }
}

impl Source {
    /// The repository, and the branch or its replacement (digest, version, tag), by Flux's order of precedence. A commit always has a branch.
    fn place(&self) -> (String, String) {
        let url = self.url.clone().unwrap_or_default();
        let reference = self.repository_ref.clone().unwrap_or_default();
        let container = [&self.bucket_name, &self.container_name].into_iter().flatten().next();
        let named = [
            container,
            reference.digest.as_ref(),
            reference.semver.as_ref(),
            reference.tag.as_ref(),
            reference.branch.as_ref(),
        ];
        let is_given = |name: &&String| !name.trim().is_empty();
        let default = if url.starts_with("oci://") { "latest" } else { "master" };
        let branch = named.into_iter().flatten().find(is_given).cloned().unwrap_or_else(|| default.to_owned());
        (url, branch)
    }
}

impl ObjectStatus {
    /// The message of the condition `Ready`, or else all messages.
    fn text(&self) -> String {
        let conditions = self.status_conditions.as_deref().unwrap_or_default();
        let ready = conditions.iter().find(|condition| condition.kind.as_deref() == Some("Ready"));
        let ready = ready.and_then(|condition| condition.message.clone());
        let all = || {
            let messages = conditions.iter().filter_map(|condition| condition.message.as_deref());
            messages.chain(self.message.as_deref()).collect::<Vec<_>>().join("\n")
        };
        ready.unwrap_or_else(all).trim().to_owned()
    }

    /// The revision in its message: the first word that contains a commit.
    fn applied(&self) -> Option<String> {
        let text = self.text();
        let is_edge = |character: char| !character.is_alphanumeric();
        let words = text.split_whitespace().map(|word| word.trim_matches(is_edge));
        words.into_iter().find(|word| revision::is_hash(revision::commit(word))).map(str::to_owned)
    }

    /// The version of the chart in its message (`chart name@1.2.3`).
    fn chart_version(&self) -> Option<String> {
        let text = self.text();
        let (_, rest) = text.split_once("chart ")?;
        let (_, version) = rest.split_whitespace().next()?.split_once('@')?;
        Some(version.trim_matches(|character: char| !character.is_alphanumeric()).to_owned())
    }

    /// The report of an object that the configuration has created. None if the object is no reconciler.
    fn child(&self, observed_on: Timestamp) -> Option<Report> {
        let (kind, name) = (self.kind.as_deref()?, self.name.as_deref()?);
        if !KINDS.contains(&kind) || name.is_empty() {
            return None;
        }
        let namespace = self.namespace.as_deref().unwrap_or_default();
        let state = self.compliance_state.as_deref().unwrap_or_default();
        let version = if kind == "HelmRelease" { self.chart_version() } else { None };
        Some(Report {
            revision: self.applied().unwrap_or_default(),
            version,
            message: self.text(),
            ..report(flux_reconciler(kind, namespace, name), CHILD_KIND, status_of(state), observed_on)
        })
    }
}

/// Converts the compliance state of Azure, or the status of Workload Orchestration.
pub(crate) fn status_of(state: &str) -> Status {
    match state.to_ascii_lowercase().as_str() {
        "compliant" | "succeeded" => Status::Success,
        "non-compliant" | "noncompliant" | "failed" => Status::Failure,
        _ => Status::InProgress,
    }
}

fn report(reconciler: String, kind: &str, status: Status, observed_on: Timestamp) -> Report {
    Report {
        host: String::new(),
        reconciler,
        kind: kind.to_owned(),
        endpoint: None,
        revision: String::new(),
        tree: None,
        version: None,
        workload: None,
        status,
        is_waiting: false,
        message: String::new(),
        observed_on,
        heartbeat: None,
        labels: BTreeMap::new(),
    }
}

fn decode<T: DeserializeOwned>(value: Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(value)
}

#[cfg(test)]
mod tests;
