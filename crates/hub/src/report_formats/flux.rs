//! Reads events of Flux's notification-controller, from providers of type `generic` and `generic-hmac`.
//!
//! The event: <https://fluxcd.io/flux/components/notification/events/#event-structure>; its metadata:
//! <https://fluxcd.io/flux/components/notification/alerts/#event-metadata>. Signatures cover the whole body and are checked together with the token.
//!
//! Both providers also get the events at the end of each reconciliation of a Kustomization (`ReconciliationSucceeded`), once per interval. Other providers
//! do not get them. A `HelmRelease` and a source report only changes. notification-controller sends no event twice within five minutes if it has the same
//! object, revision and message.

use std::collections::BTreeMap;
use std::time::Duration;

use hub_api::endpoint::Endpoint;
use hub_api::limits::REPORT_BYTES_MAX;
use hub_api::report::batch::{Batch, BodyError};
use hub_api::report::fields;
use hub_api::report::names::flux_reconciler;
use hub_api::report::{Report, ReportError, Status};
use hub_api::revision;
use hub_api::timestamp::Timestamp;
use serde::Deserialize;

use super::SECONDS_OFFSET;

/// The kind of reconcilers that report in this format.
pub const KIND: &str = "flux";

/// The group of annotations that Flux copies from an object into the metadata of its events.
const EVENT_GROUP: &str = "event.toolkit.fluxcd.io";

/// The kinds of objects whose events describe a place or a source. Events of other kinds (image policies, receivers, charts) are ignored.
const KINDS: &[&str] = &["Kustomization", "HelmRelease", "GitRepository", "OCIRepository"];

/// The kinds of objects that report only changes, so they can't promise a next report. A Kustomization reports the end of each reconciliation.
pub(crate) const CHANGES_ONLY: [&str; 3] = ["HelmRelease", "GitRepository", "OCIRepository"];

/// What an event says about the revision that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Succeeded,
    Failed,
    InProgress,
    /// Nothing is applied. What was applied before stays.
    Waiting,
}

/// Reasons that mean success: of kustomize-controller, of helm-controller (`api/v2/condition_types.go`), and of source-controller.
const SUCCEEDED: &[&str] = &[
    "ReconciliationSucceeded",
    "InstallSucceeded",
    "UpgradeSucceeded",
    "TestSucceeded",
    "DriftCorrected",
    "NewArtifact",
    "ArtifactUpToDate",
    "GitOperationSucceeded",
    "OCIOperationSucceeded",
    "Succeeded",
];

/// Reasons that mean failure although the severity is `info`: another release than the desired one runs, or none, or the release was changed.
const FAILED: &[&str] = &["RollbackSucceeded", "UninstallSucceeded", "DriftDetected"];

/// Reasons that are not final if the severity is `info`. With severity `error`, the reconciliation failed: kustomize-controller sends the reason of the
/// last condition, which may not be updated yet.
const IN_PROGRESS: &[&str] = &["Progressing", "ProgressingWithRetry"];

/// Reasons that mean that nothing was applied, and a next reconciliation follows. helm-controller sends canceled health checks with severity `error`.
const WAITING: &[&str] = &["DependencyNotReady", "HealthCheckCanceled"];

/// The beginnings of the messages of controllers that send the severity as the reason: helm-controller before Flux 2.2, and the first versions of the others.
const MESSAGES: &[(&str, Outcome)] = &[
    ("Helm install succeeded", Outcome::Succeeded),
    ("Helm upgrade succeeded", Outcome::Succeeded),
    ("Helm test succeeded", Outcome::Succeeded),
    ("Helm rollback succeeded", Outcome::Failed),
    ("Helm uninstall succeeded", Outcome::Failed),
    ("Helm install has started", Outcome::InProgress),
    ("Helm upgrade has started", Outcome::InProgress),
    ("diff in cluster resources compared to release", Outcome::Failed),
    (RECONCILED, Outcome::Succeeded),
    ("Fetched revision", Outcome::Succeeded),
    ("stored artifact", Outcome::Succeeded),
];

/// The beginning of the message of kustomize-controller at the end of each successful reconciliation.
const RECONCILED: &str = "Reconciliation finished in";

/// An event as Flux sends it. Unknown fields are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(default)]
    involved_object: InvolvedObject,
    #[serde(default)]
    severity: String,
    timestamp: Option<String>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
    metadata: Option<BTreeMap<String, String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct InvolvedObject {
    api_version: String,
    kind: String,
    namespace: String,
    name: String,
}

/// Reads an event. Events of other kinds than Kustomization, `HelmRelease`, `GitRepository` and `OCIRepository`, and events with severity `trace`, are
/// counted as ignored.
///
/// # Errors
/// The body is not an event.
pub fn read(body: &[u8], now: Timestamp) -> Result<Batch, BodyError> {
    if body.trim_ascii().is_empty() {
        return Err(BodyError::Empty);
    }
    if body.len() > REPORT_BYTES_MAX {
        let message = format!("has {} bytes; at most {REPORT_BYTES_MAX} are possible", body.len());
        return Ok(Batch::of_one(Some(Err(ReportError::new("report", message)))));
    }
    let event: Event = serde_json::from_slice(body).map_err(|error| BodyError::json(&error))?;
    let is_ours = KINDS.contains(&event.involved_object.kind.as_str()) && event.severity != "trace";
    Ok(Batch::of_one(is_ours.then(|| event.report(now))))
}

impl Event {
    fn report(self, now: Timestamp) -> Result<Report, ReportError> {
        if self.involved_object.name.is_empty() {
            return Err(ReportError::new("involvedObject.name", "is missing"));
        }
        let text = |key: &str| self.metadata(key).unwrap_or_default().to_owned();
        let outcome = self.outcome();
        let object = &self.involved_object;
        Ok(Report {
            host: self.metadata("host").or_else(|| self.metadata("cluster")).unwrap_or_default().to_owned(),
            reconciler: self
                .metadata("reconciler")
                .map_or_else(|| flux_reconciler(&object.kind, &object.namespace, &object.name), ToOwned::to_owned),
            kind: KIND.to_owned(),
            endpoint: self.endpoint()?,
            revision: self.revision().to_owned(),
            tree: None,
            version: Some(text("version")).filter(|version| !version.is_empty()),
            workload: None,
            status: outcome.status(),
            is_waiting: outcome == Outcome::Waiting,
            message: self.message(),
            observed_on: self.observed_on(now)?,
            heartbeat: self.heartbeat()?,
            labels: BTreeMap::new(),
        })
    }

    /// The value of a key of the metadata. The sources are ranked as in notification-controller. Old versions of it keep the prefixes of the keys.
    fn metadata(&self, key: &str) -> Option<&str> {
        let metadata = self.metadata.as_ref()?;
        let (group, _) = self.involved_object.api_version.split_once('/').unwrap_or_default();
        let prefixed = |group: &str| metadata.get(&format!("{group}/{key}"));
        let value = prefixed(group).or_else(|| metadata.get(key)).or_else(|| prefixed(EVENT_GROUP))?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// The git revision: the revision from which an OCI artifact was made, if it is known, or else the revision of the source.
    fn revision(&self) -> &str {
        self.metadata("originRevision").or_else(|| self.metadata("revision")).unwrap_or_default()
    }

    fn endpoint(&self) -> Result<Option<Endpoint>, ReportError> {
        let branch = self.metadata("branch").or_else(|| revision::branch(self.revision()));
        fields::endpoint(self.metadata("repository"), branch, self.metadata("path"))
            .map_err(|error| ReportError::new("metadata", format!("{}: {}", error.field, error.message)))
    }

    /// An unknown reason of severity `info` says nothing about the applied revision.
    fn outcome(&self) -> Outcome {
        let reason = self.reason.as_str();
        let is_reason = |list: &[&str]| list.contains(&reason);
        if is_reason(WAITING) {
            Outcome::Waiting
        } else if self.severity == "error" || is_reason(FAILED) {
            Outcome::Failed
        } else if is_reason(SUCCEEDED) {
            Outcome::Succeeded
        } else if is_reason(IN_PROGRESS) {
            Outcome::InProgress
        } else if reason.is_empty() || reason == self.severity {
            let known = MESSAGES.iter().find(|(beginning, _)| self.message.starts_with(beginning));
            known.map_or(Outcome::Waiting, |(_, outcome)| *outcome)
        } else {
            Outcome::Waiting
        }
    }

    /// At the end of a successful reconciliation, the message without the duration and the time of the next run. So each interval has the same message,
    /// and the history does not grow.
    fn message(&self) -> String {
        if self.reason == "ReconciliationSucceeded" || self.message.starts_with(RECONCILED) {
            format!("Applied revision: {}", self.revision())
        } else {
            self.message.clone()
        }
    }

    /// The time of the event. Flux writes whole seconds.
    fn observed_on(&self, now: Timestamp) -> Result<Timestamp, ReportError> {
        let Some(timestamp) = &self.timestamp else { return Ok(now) };
        let time: Timestamp = timestamp
            .parse()
            .map_err(|error: hub_api::timestamp::TimestampError| ReportError::new("timestamp", error.to_string()))?;
        Ok(time.after(SECONDS_OFFSET))
    }

    /// The promise of a next report, for kinds that report again without a change.
    fn heartbeat(&self) -> Result<Option<Duration>, ReportError> {
        let Some(text) = self.metadata("heartbeatSeconds") else { return Ok(None) };
        let seconds = text.parse().map_err(|_| {
            let message = format!("`{}` is no whole number of seconds", fields::shown(text));
            ReportError::new("metadata.heartbeatSeconds", message)
        })?;
        Ok(Some(Duration::from_secs(seconds)).filter(|_| !CHANGES_ONLY.contains(&self.involved_object.kind.as_str())))
    }
}

impl Outcome {
    fn status(self) -> Status {
        match self {
            Self::Succeeded => Status::Success,
            Self::Failed => Status::Failure,
            Self::InProgress | Self::Waiting => Status::InProgress,
        }
    }
}

#[cfg(test)]
mod tests;
