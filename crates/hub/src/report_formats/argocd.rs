//! Reads notifications of Argo CD: an Application, or the part of it that the template in `deploy/argocd` sends.
//!
//! The fields are those of the Application itself (`argoproj.io/v1alpha1`,
//! <https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/> and its status). So a custom template or the whole object can be
//! sent as well.

use std::collections::BTreeMap;

use hub_api::endpoint::Endpoint;
use hub_api::limits::REPORT_BYTES_MAX;
use hub_api::report::batch::{Batch, BodyError};
use hub_api::report::fields;
use hub_api::report::{Report, ReportError, Status};
use hub_api::revision;
use hub_api::timestamp::Timestamp;
use serde::Deserialize;

use super::SECONDS_OFFSET;

/// The kind of reconcilers that report in this format.
pub const KIND: &str = "argocd";

/// The namespace of Argo CD itself. Applications in it are named without a namespace.
const HOME_NAMESPACE: &str = "argocd";

/// The prefix of annotations with data that an Application does not have itself.
const ANNOTATIONS: &str = "hub.kalypso.io/";

/// Argo CD's name of the cluster in which it runs.
const OWN_CLUSTER: &str = "in-cluster";

/// The prefix of that cluster's address.
const OWN_SERVER: &str = "https://kubernetes.default.svc";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Application {
    metadata: Metadata,
    spec: Spec,
    status: ApplicationStatus,
    /// A field of Kalypso, not of the Application: the name of the cluster in which Argo CD runs.
    cluster: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    annotations: Option<BTreeMap<String, Option<String>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spec {
    destination: Option<Destination>,
    source: Option<Source>,
    sources: Option<Vec<Source>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Destination {
    name: Option<String>,
    server: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Source {
    #[serde(rename = "repoURL")]
    repo_url: Option<String>,
    target_revision: Option<String>,
    path: Option<String>,
    chart: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ApplicationStatus {
    sync: Option<Sync>,
    health: Option<Health>,
    operation_state: Option<OperationState>,
    conditions: Option<Vec<Condition>>,
    reconciled_at: Option<String>,
}

/// Also the specification and the result of an operation, because all of them have revisions.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Sync {
    status: Option<String>,
    revision: Option<String>,
    revisions: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Health {
    status: Option<String>,
    message: Option<String>,
    last_transition_time: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OperationState {
    phase: Option<String>,
    message: Option<String>,
    started_at: Option<String>,
    finished_at: Option<String>,
    operation: Option<Operation>,
    sync_result: Option<Sync>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Operation {
    sync: Option<Sync>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
}

/// Reads a notification.
///
/// # Errors
/// The body is not an Application.
pub fn read(body: &[u8], now: Timestamp) -> Result<Batch, BodyError> {
    if body.trim_ascii().is_empty() {
        return Err(BodyError::Empty);
    }
    if body.len() > REPORT_BYTES_MAX {
        let message = format!("has {} bytes; at most {REPORT_BYTES_MAX} are possible", body.len());
        return Ok(Batch::of_one(Some(Err(ReportError::new("report", message)))));
    }
    let application: Application = serde_json::from_slice(body).map_err(|error| BodyError::json(&error))?;
    Ok(Batch::of_one(Some(application.report(now))))
}

impl Application {
    fn report(self, now: Timestamp) -> Result<Report, ReportError> {
        let status = self.status();
        let (index, endpoint) = self.source()?;
        let reconciler = self.annotation("reconciler").map_or_else(|| self.name(), |name| Ok(name.to_owned()))?;
        Ok(Report {
            host: self.host(),
            reconciler,
            kind: KIND.to_owned(),
            endpoint,
            revision: self.revision(index).to_owned(),
            tree: None,
            version: self.annotation("version").map(ToOwned::to_owned),
            workload: None,
            status,
            is_waiting: false,
            message: self.message(status),
            observed_on: self.observed_on()?.unwrap_or(now),
            heartbeat: None,
            labels: BTreeMap::new(),
        })
    }

    fn name(&self) -> Result<String, ReportError> {
        let name = text(self.metadata.name.as_ref()).ok_or_else(|| ReportError::new("metadata.name", "is missing"))?;
        Ok(match text(self.metadata.namespace.as_ref()) {
            Some(namespace) if namespace != HOME_NAMESPACE => format!("{namespace}/{name}"),
            _ => name.to_owned(),
        })
    }

    fn annotation(&self, name: &str) -> Option<&str> {
        let value = self.metadata.annotations.as_ref()?.get(&format!("{ANNOTATIONS}{name}"))?;
        text(value.as_ref())
    }

    /// The name of the destination. For the cluster in which Argo CD runs, the name comes from the template. For a destination that has only an
    /// address, the name is the host of the address.
    fn host(&self) -> String {
        let destination = self.spec.destination.as_ref();
        let name = destination.and_then(|destination| text(destination.name.as_ref()));
        let server = destination.and_then(|destination| text(destination.server.as_ref()));
        let remote = name.filter(|name| *name != OWN_CLUSTER).or_else(|| {
            let server = server.filter(|server| !server.starts_with(OWN_SERVER))?;
            let (_, rest) = server.split_once("://").unwrap_or(("", server));
            rest.split(['/', ':']).next()
        });
        self.annotation("host").or(remote).or_else(|| text(self.cluster.as_ref())).unwrap_or_default().to_owned()
    }

    /// The source that is a folder of a repository, with its index. Other sources are charts, or files with values for charts.
    fn source(&self) -> Result<(usize, Option<Endpoint>), ReportError> {
        let several = self.spec.sources.as_deref().filter(|sources| !sources.is_empty());
        let mut sources = several.unwrap_or_default().iter().chain(self.spec.source.as_ref()).enumerate();
        let is_folder = |source: &Source| text(source.path.as_ref()).is_some() && text(source.chart.as_ref()).is_none();
        let Some((index, source)) = sources.find(|(_, source)| is_folder(source)) else { return Ok((0, None)) };
        let Some(branch) = source.branch() else { return Ok((index, None)) };
        let endpoint = fields::endpoint(text(source.repo_url.as_ref()), Some(branch), text(source.path.as_ref()))
            .map_err(|error| ReportError::new("spec.source", error.message))?;
        Ok((index, endpoint))
    }

    fn phase(&self) -> &str {
        self.status.operation_state.as_ref().and_then(|state| text(state.phase.as_ref())).unwrap_or_default()
    }

    /// The revision of the running operation, or else the revision that the last operation applied. `status.sync.revision` alone is only the revision
    /// that was compared, which may never have been applied.
    fn revision(&self, index: usize) -> &str {
        let state = self.status.operation_state.as_ref();
        let desired = state.and_then(|state| state.operation.as_ref()?.sync.as_ref()?.revision(index));
        let applied = state.and_then(|state| state.sync_result.as_ref()?.revision(index));
        let compared = self.status.sync.as_ref().and_then(|sync| sync.revision(index));
        let found = if self.phase() == "Running" { desired.or(compared).or(applied) } else { applied.or(compared) };
        found.unwrap_or_default()
    }

    fn status(&self) -> Status {
        let health = self.status.health.as_ref().and_then(|health| text(health.status.as_ref())).unwrap_or_default();
        let sync = self.status.sync.as_ref().and_then(|sync| text(sync.status.as_ref())).unwrap_or_default();
        match (self.phase(), health) {
            ("Running" | "Terminating", _) => Status::InProgress,
            ("Failed" | "Error", _) | (_, "Degraded") => Status::Failure,
            _ if sync == "Unknown" || self.errors().next().is_some() => Status::Failure,
            ("Succeeded", "Healthy") => Status::Success,
            // The resources were created outside Argo CD, or the last operation is not recorded any more. The live state equals the desired state.
            ("", "Healthy") if sync == "Synced" => Status::Success,
            _ => Status::InProgress,
        }
    }

    /// The conditions that are errors, by their types: `ComparisonError`, `SyncError`, `InvalidSpecError`. Other conditions are warnings.
    fn errors(&self) -> impl Iterator<Item = &Condition> {
        let conditions = self.status.conditions.as_deref().unwrap_or_default().iter();
        conditions.filter(|condition| condition.kind.as_ref().is_some_and(|kind| kind.ends_with("Error")))
    }

    fn message(&self, status: Status) -> String {
        let operation = self.status.operation_state.as_ref().and_then(|state| text(state.message.as_ref()));
        if status != Status::Failure {
            return operation.unwrap_or_default().to_owned();
        }
        let health = self.status.health.as_ref().and_then(|health| text(health.message.as_ref()));
        let conditions = self.errors().filter_map(|condition| text(condition.message.as_ref()));
        let failed = operation.filter(|_| self.phase() != "Succeeded");
        failed.into_iter().chain(health).chain(conditions).collect::<Vec<_>>().join("\n")
    }

    /// The latest time in the status. Argo CD writes whole seconds. Not every change sets one of the times: `lastTransitionTime` does not exist before 2.14,
    /// in 3.0.0 and with older CRDs, and a comparison with recent state does not set `reconciledAt`. So different states may have the same time.
    fn observed_on(&self) -> Result<Option<Timestamp>, ReportError> {
        let (state, health) = (self.status.operation_state.as_ref(), self.status.health.as_ref());
        let times = [
            ("status.operationState.startedAt", state.and_then(|state| text(state.started_at.as_ref()))),
            ("status.operationState.finishedAt", state.and_then(|state| text(state.finished_at.as_ref()))),
            ("status.health.lastTransitionTime", health.and_then(|health| text(health.last_transition_time.as_ref()))),
            ("status.reconciledAt", text(self.status.reconciled_at.as_ref())),
        ];
        let mut latest = None;
        for (field, time) in times.into_iter().filter_map(|(field, time)| Some((field, time?))) {
            let time: Timestamp = time
                .parse()
                .map_err(|error: hub_api::timestamp::TimestampError| ReportError::new(field, error.to_string()))?;
            latest = latest.max(Some(time));
        }
        Ok(latest.map(|time| time.after(SECONDS_OFFSET)))
    }
}

impl Sync {
    fn revision(&self, index: usize) -> Option<&str> {
        let of_source = self.revisions.as_ref().and_then(|revisions| text(revisions.get(index)));
        of_source.or_else(|| text(self.revision.as_ref()))
    }
}

impl Source {
    /// The branch; none if the Application follows a commit or the default branch of the repository.
    fn branch(&self) -> Option<&str> {
        let target = text(self.target_revision.as_ref()).filter(|target| *target != "HEAD")?;
        let target = target.strip_prefix("refs/heads/").unwrap_or(target);
        Some(target).filter(|target| !revision::is_hash(target))
    }
}

fn text(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
