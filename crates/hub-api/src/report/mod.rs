//! Reports of reconcilers, independent of their format.

pub mod batch;
#[cfg(any(test, feature = "examples"))]
pub mod example;
pub mod fields;
pub mod generic;
pub mod names;
pub mod receipt;
pub mod signed_file;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use model::rollout::ReconcilerState;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::endpoint::{Endpoint, EndpointError};
use crate::limits::{
    FUTURE_MAX, HEARTBEAT_MAX, HEARTBEAT_MIN, LABELS_MAX, MESSAGE_CHARACTERS_MAX, NAME_CHARACTERS_MAX,
};
use crate::revision;
use crate::timestamp::Timestamp;

/// The status of a reconciler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// The reconciler is applying the revision.
    InProgress,
    /// The revision is applied, and the applied objects are healthy.
    #[serde(rename = "succeeded")]
    Success,
    /// The revision could not be applied, or the applied objects are not healthy.
    #[serde(rename = "failed")]
    Failure,
}

impl Status {
    /// The text in the database and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }

    /// The rollout state of a reconciler whose last report has this status.
    pub fn state(self) -> ReconcilerState {
        match self {
            Self::InProgress => ReconcilerState::InProgress,
            Self::Success => ReconcilerState::Succeeded,
            Self::Failure => ReconcilerState::Failed,
        }
    }

    /// Parses the text of a status.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::InProgress, Self::Success, Self::Failure].into_iter().find(|status| status.as_str() == text)
    }

    /// The number in compact tables. 0 is reserved for: no report yet.
    pub fn number(self) -> i64 {
        match self {
            Self::InProgress => 1,
            Self::Success => 2,
            Self::Failure => 3,
        }
    }

    /// The status with a number.
    pub fn from_number(number: i64) -> Option<Self> {
        [Self::InProgress, Self::Success, Self::Failure].into_iter().find(|status| status.number() == number)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The status of one reconciler of one host at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The host's name.
    pub host: String,
    /// The reconciler's name, unique on its host.
    pub reconciler: String,
    /// The kind of the reconciler (`flux`, `argocd`, `ansible`, …).
    pub kind: String,
    /// The folder that it applies. None: the report names no folder, and the known one stays.
    pub endpoint: Option<Endpoint>,
    /// The reported revision. Empty if there is none.
    pub revision: String,
    /// The git tree of the applied folder, if the report names it.
    pub tree: Option<String>,
    /// The version of the workload, if the report names it.
    pub version: Option<String>,
    /// The workload, if the report names it. A reporter may name a workload instead of a folder, or both.
    pub workload: Option<WorkloadName>,
    /// The status.
    pub status: Status,
    /// Whether the reconciler only waits, for example for a dependency. It applies nothing meanwhile, so content that it has applied stays applied.
    pub is_waiting: bool,
    /// The status message. Empty if there is none.
    pub message: String,
    /// The time of the status, by the clock of the reporter.
    pub observed_on: Timestamp,
    /// The time within which the reconciler promises its next report. None: there is no promise.
    pub heartbeat: Option<Duration>,
    /// The labels of the host. Empty: the report contains no labels.
    pub labels: BTreeMap<String, String>,
}

/// A workload by name, for reporters that do not know its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkloadName {
    /// The workload, or one of its deployment targets: `workload`, `workload-target` or `target`, optionally with the prefix `application/` or
    /// `workspace/application/`.
    pub name: String,
    /// The environment, if it is known.
    pub environment: Option<String>,
}

/// The reason why a report is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{field}: {message}")]
pub struct ReportError {
    /// The field, by its name in the format of the report.
    pub field: String,
    /// The problem, with the valid values.
    pub message: String,
}

impl ReportError {
    /// Creates the error of a field.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

impl Report {
    /// The reported commit. Empty if there is none.
    pub fn commit(&self) -> &str {
        revision::commit(&self.revision)
    }

    /// Whether it identifies its content only by a version, and not by a tree or commit.
    pub fn is_by_version(&self) -> bool {
        self.version.is_some() && self.tree.is_none() && !revision::is_hash(self.commit())
    }

    /// The digest of the content without the time. Reports with the same digest have the same content.
    pub fn digest(&self) -> i64 {
        let endpoint = self.endpoint.as_ref().map(ToString::to_string).unwrap_or_default();
        let tree = self.tree.as_deref().unwrap_or_default();
        let version = self.version.as_deref().unwrap_or_default();
        digest([self.status.as_str(), self.commit(), tree, version, &endpoint, &self.message])
    }

    /// The digest of the data about the reconciler itself: its kind, its place, its heartbeat, and how it identifies its content. None if this data is not
    /// complete, because the report has no place, or has labels for its host.
    pub fn profile(&self) -> Option<i64> {
        let endpoint = self.endpoint.as_ref().filter(|_| self.labels.is_empty())?.to_string();
        let heartbeat = self.heartbeat.map(|heartbeat| heartbeat.as_secs().to_string()).unwrap_or_default();
        let by = if self.is_by_version() { "version" } else { "" };
        Some(digest([&self.kind, &endpoint, &heartbeat, by]))
    }

    /// Normalizes the report for storage: cuts long messages, and checks all fields.
    ///
    /// # Errors
    /// If a name is empty, too long or has control characters, if the time is in the future, or if there are too many labels.
    pub fn check(mut self, now: Timestamp) -> Result<Self, ReportError> {
        for (field, name) in [("host", &self.host), ("reconciler", &self.reconciler), ("type", &self.kind)] {
            check_name(field, name)?;
        }
        let workload = self.workload.as_ref();
        for (field, text) in [
            ("revision", Some(&self.revision)),
            ("tree", self.tree.as_ref()),
            ("version", self.version.as_ref()),
            ("workload", workload.map(|workload| &workload.name)),
            ("environment", workload.and_then(|workload| workload.environment.as_ref())),
        ] {
            check_text(field, text.map_or("", String::as_str))?;
        }
        if let Some(tree) = self.tree.as_ref().filter(|tree| !revision::is_hash(tree)) {
            return Err(ReportError::new("tree", format!("`{tree}` is no git tree: 40 or 64 hexadecimal digits")));
        }
        if self.observed_on > now.after(FUTURE_MAX) {
            let message =
                format!("{} is in the future; it is {now} here: is the clock of the host right?", self.observed_on);
            return Err(ReportError::new("observedAt", message));
        }
        if let Some(heartbeat) = self.heartbeat.filter(|heartbeat| !(HEARTBEAT_MIN..=HEARTBEAT_MAX).contains(heartbeat))
        {
            let (min, max) = (HEARTBEAT_MIN.as_secs(), HEARTBEAT_MAX.as_secs());
            let message = format!("{} seconds; {min} to {max} are possible", heartbeat.as_secs());
            return Err(ReportError::new("heartbeatSeconds", message));
        }
        check_labels(&self.labels)?;
        self.message = cut(&self.message);
        Ok(self)
    }
}

/// Checks a name. It may contain all printable characters of any script.
fn check_name(field: &str, name: &str) -> Result<(), ReportError> {
    if name.trim().is_empty() {
        return Err(ReportError::new(field, "is missing"));
    }
    if name.trim() != name {
        return Err(ReportError::new(field, "has blanks at its ends"));
    }
    check_text(field, name)
}

fn check_text(field: &str, text: &str) -> Result<(), ReportError> {
    let count = text.chars().count();
    if count > NAME_CHARACTERS_MAX {
        return Err(ReportError::new(
            field,
            format!("has {count} characters; at most {NAME_CHARACTERS_MAX} are possible"),
        ));
    }
    if text.chars().any(char::is_control) {
        return Err(ReportError::new(field, "has control characters"));
    }
    Ok(())
}

fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), ReportError> {
    if labels.len() > LABELS_MAX {
        return Err(ReportError::new("labels", format!("are {}; at most {LABELS_MAX} are possible", labels.len())));
    }
    for (key, value) in labels {
        check_name("labels", key)?;
        check_text(&format!("labels.{key}"), value)?;
    }
    Ok(())
}

/// Removes control characters of a message, and its end if it is too long.
fn cut(message: &str) -> String {
    let shown = |character: &char| !character.is_control() || matches!(character, '\n' | '\t');
    let mut kept: String = message.trim().chars().filter(shown).take(MESSAGE_CHARACTERS_MAX).collect();
    if kept.chars().count() == MESSAGE_CHARACTERS_MAX {
        kept.push('…');
    }
    kept
}

impl From<EndpointError> for ReportError {
    fn from(error: EndpointError) -> Self {
        Self::new("place", error.to_string())
    }
}

/// The digest of texts, as a number.
fn digest<const N: usize>(parts: [&str; N]) -> i64 {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest = hasher.finalize();
    i64::from_le_bytes(std::array::from_fn(|index| digest[index]))
}

#[cfg(test)]
mod tests {
    use super::example::report;
    use super::*;

    fn check(change: impl FnOnce(&mut Report)) -> String {
        let mut report = report();
        change(&mut report);
        report.check(Timestamp::from_millis(1_000)).map_or_else(|error| error.to_string(), |_| "good".to_owned())
    }

    #[test]
    fn names_are_anything_that_a_person_can_read() {
        assert_eq!(check(|report| report.host = "シカゴ-04'; drop table host; --%_".into()), "good");
        assert_eq!(check(|report| report.host = " ".into()), "host: is missing");
        assert_eq!(check(|report| report.host = "a\0".into()), "host: has control characters");
        assert_eq!(
            check(|report| report.reconciler = "é".repeat(254)),
            "reconciler: has 254 characters; at most 253 are possible"
        );
        assert_eq!(check(|report| report.reconciler = "é".repeat(253)), "good");
    }

    #[test]
    fn clocks_may_differ_but_not_by_much() {
        assert_eq!(check(|report| report.observed_on = Timestamp::from_millis(601_000)), "good");
        assert!(check(|report| report.observed_on = Timestamp::from_millis(601_001)).contains("is in the future"));
    }

    #[test]
    fn digest_depends_on_content_and_not_on_time() {
        let digest = |change: fn(&mut Report)| {
            let mut report = report();
            change(&mut report);
            report.digest()
        };
        assert_eq!(digest(|_| ()), digest(|report| report.observed_on = Timestamp::MAX));
        assert_eq!(digest(|_| ()), digest(|report| report.revision = "4".repeat(40)));
        assert_ne!(digest(|_| ()), digest(|report| report.message.push('.')));
        assert_ne!(digest(|_| ()), digest(|report| report.version = Some("1".into())));
    }

    #[test]
    fn long_messages_are_cut_and_control_characters_left_out() {
        let long = Report { message: "é".repeat(5_000), ..report() }.check(Timestamp::MAX).unwrap();
        assert_eq!(long.message.chars().count(), MESSAGE_CHARACTERS_MAX + 1);
        let bell = Report { message: "a\u{7}\0b\nc".into(), ..report() }.check(Timestamp::MAX).unwrap();
        assert_eq!(bell.message, "ab\nc");
    }
}
