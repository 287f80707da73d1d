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
use crate::problem::Problem;
use crate::resource::ResourceId;
use crate::row::row;

/// The question for all of a subscription. Without an order, pages could overlap.
pub(crate) const QUERY: &str = "kubernetesconfigurationresources \
    | where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations' \
    | project id, name, properties | order by id asc";

/// The version of the contract for a single configuration.
pub(crate) const VERSION: &str = "2023-05-01";

/// The kind of reconcilers that a configuration itself makes, as Microsoft's hub calls them.
const KIND: &str = "arc";
/// The kind of reconcilers that these bring with them.
const CHILD_KIND: &str = "flux";
/// Objects whose status is that of a reconciler; others are sources.
const KINDS: &[&str] = &["Kustomization", "HelmRelease"];

/// What a configuration says.
#[derive(Debug)]
pub(crate) struct Found {
    /// The configuration's id.
    pub(crate) id: String,
    /// The cluster that it is on.
    pub(crate) host: Host,
    /// The cluster's id, in lower case.
    pub(crate) cluster: String,
    /// Reports whose host is not named yet, and which say since when it is so.
    pub(crate) reports: Vec<Report>,
    /// What of it can't be read.
    pub(crate) problems: Vec<Problem>,
    /// The statuses of its objects are not in it.
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

/// Where the manifests come from, whatever kind of store it is.
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

/// The configuration in a row of the graph or an answer of Resource Manager.
///
/// # Errors
/// It is none: nothing of it can be reported.
pub(crate) fn read(value: Value, now: Timestamp) -> Result<Found, Problem> {
    let (id, properties) = row(value)?;
    let resource = ResourceId::parse(&id).filter(|id| id.of_type("fluxConfigurations").is_some());
    let resource = resource.ok_or_else(|| Problem::new(&id, "id: is not that of a Flux configuration"))?;
    let properties: Properties =
        decode(properties).map_err(|error| Problem::new(&id, format!("properties: {error}")))?;
    let mut found = Found {
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
    found: &'a mut Found,
}

impl Reader<'_> {
    fn read(&mut self) {
        let observed_on = self.observed_on();
        let statuses = self.statuses();
        let namespace = self.properties.namespace.clone().unwrap_or_else(|| "default".to_owned());
        let mut own = BTreeSet::new();
        for (name, kustomization) in self.properties.kustomizations.take().unwrap_or_default() {
            // Azure calls the object like that: the configuration's name, then the Kustomization's.
            let object = format!("{}-{name}", self.configuration);
            let is_it = |status: &ObjectStatus| {
                let is_here = status.namespace.as_deref().is_none_or(|there| there == namespace);
                is_here && status.kind.as_deref() == Some("Kustomization") && status.name.as_deref() == Some(&object)
            };
            let index = statuses.iter().position(is_it);
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

    /// When the cluster told Azure so.
    fn observed_on(&mut self) -> Timestamp {
        let Some(text) = self.properties.status_updated_at.take() else { return self.now };
        match text.parse::<Timestamp>() {
            Ok(moment) => moment.min(self.now),
            Err(error) => {
                self.complain("properties.statusUpdatedAt", &error);
                self.now
            }
        }
    }

    fn statuses(&mut self) -> Vec<ObjectStatus> {
        let mut statuses = Vec::new();
        for (index, status) in self.properties.statuses.take().unwrap_or_default().into_iter().enumerate() {
            match decode::<Option<ObjectStatus>>(status) {
                Ok(status) => statuses.extend(status),
                Err(error) => self.complain(&format!("properties.statuses[{index}]"), &error),
            }
        }
        statuses
    }

    fn endpoint(&mut self, name: &str, kustomization: Value) -> Option<Endpoint> {
        let field = format!("properties.kustomizations.{name}");
        let kustomization = match decode::<Option<Kustomization>>(kustomization) {
            Ok(kustomization) => kustomization.unwrap_or_default(),
            Err(error) => {
                self.complain(&field, &error);
                return None;
            }
        };
        let source = self.properties.source();
        let (repository, branch) = source.place();
        match Endpoint::new(&repository, &branch, &kustomization.path.unwrap_or_default()) {
            Ok(endpoint) => Some(endpoint),
            Err(error) => {
                self.complain(&field, &error);
                None
            }
        }
    }

    /// What the object itself says; otherwise what all objects say that are in the state of the whole.
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

    fn complain(&mut self, field: &str, error: &dyn std::fmt::Display) {
        self.found.problems.push(Problem::new(&self.found.id, format!("{field}: {error}")));
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
    /// The repository, and the branch or what takes its place, by Flux's order of precedence. A commit is always one of a branch.
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
    /// What it says: its condition `Ready`, else all that it says.
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

    /// The revision in its message: the first word that has a commit in it.
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

    /// The report of an object that the configuration brought with it; none if it is no reconciler.
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

/// What Azure calls compliance, and Workload Orchestration status.
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
