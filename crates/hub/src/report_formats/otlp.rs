//! Reads OpenTelemetry logs (OTLP): log records with attributes of Kalypso are reports.
//!
//! The protocol: <https://opentelemetry.io/docs/specs/otlp/>. A record is a report if the record itself has an attribute with the prefix `kalypso.`.
//! Attributes that the record does not have are taken from its resource. All other records are ignored, so that a collector can send all its records.

use std::collections::BTreeMap;
use std::time::Duration;

use hub_api::limits::BATCH_REPORTS_MAX;
use hub_api::report::batch::{Batch, BodyError, Refused, ReportPosition};
use hub_api::report::fields;
use hub_api::report::{Report, ReportError, WorkloadName};
use hub_api::timestamp::Timestamp;
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;

mod json;
mod protobuf;

pub use json::{decode_json, encode_json};
pub use protobuf::{decode_protobuf, encode_protobuf};

/// The kind of a reconciler whose records do not name one.
pub const KIND: &str = "otlp";

/// The prefix of the attributes of Kalypso.
const PREFIX: &str = "kalypso.";

/// The prefix of attributes with labels of the host.
const LABEL_PREFIX: &str = "kalypso.label.";

/// Attributes with the name of the host, the strongest first: the one of Kalypso, then those of the OpenTelemetry conventions for clusters and
/// machines.
const HOST: &[&str] = &["kalypso.host", "k8s.cluster.name", "host.name"];

const ATTRIBUTES: &[&str] = &[
    "kalypso.host",
    "kalypso.reconciler",
    "kalypso.type",
    "kalypso.place.repository",
    "kalypso.place.branch",
    "kalypso.place.path",
    "kalypso.revision",
    "kalypso.tree",
    "kalypso.version",
    "kalypso.workload",
    "kalypso.environment",
    "kalypso.status",
    "kalypso.message",
    "kalypso.heartbeat_seconds",
    "kalypso.label.*",
];

const NANOSECONDS_PER_MILLISECOND: u64 = 1_000_000;

/// Reads a request. Positions are numbers of log records. Records without attributes of Kalypso are counted as ignored.
///
/// # Errors
/// The request has too many reports.
pub fn read(request: &ExportLogsServiceRequest, now: Timestamp) -> Result<Batch, BodyError> {
    let mut batch = Batch::default();
    let mut index = 0;
    for resource in &request.resource_logs {
        let shared = resource.resource.as_ref().map_or(&[][..], |resource| &resource.attributes);
        for record in resource.scope_logs.iter().flat_map(|scope| &scope.log_records) {
            if record.attributes.iter().any(|attribute| attribute.key.starts_with(PREFIX)) {
                let entry = Attributes { record, shared }.report(now);
                batch.push_at(ReportPosition { index, line: None }, entry);
            } else {
                batch.ignore();
            }
            index += 1;
        }
    }
    if batch.len() > BATCH_REPORTS_MAX {
        return Err(BodyError::TooMany(batch.len()));
    }
    Ok(batch)
}

/// The response to a request, over gRPC and HTTP: the number of rejected records, and the reasons for the first ones. Records that are kept apart are not
/// rejected, but have a reason, too.
pub fn answer(refused: &[Refused], apart: &[Refused]) -> ExportLogsServiceResponse {
    const SHOWN_MAX: usize = 3;
    if refused.is_empty() && apart.is_empty() {
        return ExportLogsServiceResponse { partial_success: None };
    }
    let shown = refused.iter().chain(apart).take(SHOWN_MAX);
    let shown: Vec<_> = shown.map(|refused| format!("record {}: {}", refused.position.index, refused.error)).collect();
    let partial_success = ExportLogsPartialSuccess {
        rejected_log_records: i64::try_from(refused.len()).unwrap_or(i64::MAX),
        error_message: shown.join("; "),
    };
    ExportLogsServiceResponse { partial_success: Some(partial_success) }
}

/// The attributes of a record, and those of its resource.
struct Attributes<'a> {
    record: &'a LogRecord,
    shared: &'a [KeyValue],
}

impl Attributes<'_> {
    fn report(&self, now: Timestamp) -> Result<Report, ReportError> {
        self.check_names()?;
        let repository = self.text("kalypso.place.repository")?;
        let (branch, path) = (self.text("kalypso.place.branch")?, self.text("kalypso.place.path")?);
        let endpoint = fields::endpoint(repository.as_deref(), branch.as_deref(), path.as_deref())
            .map_err(|error| ReportError::new("kalypso.place", error.message))?;
        let status = self.text("kalypso.status")?;
        Ok(Report {
            host: self.host()?,
            reconciler: self.text("kalypso.reconciler")?.unwrap_or_default(),
            kind: self.text("kalypso.type")?.unwrap_or_else(|| KIND.to_owned()),
            endpoint,
            revision: self.text("kalypso.revision")?.unwrap_or_default(),
            tree: self.text("kalypso.tree")?,
            version: self.text("kalypso.version")?,
            workload: self.workload()?,
            status: fields::status("kalypso.status", status.as_deref())?,
            is_waiting: fields::is_waiting(status.as_deref()),
            message: self.text("kalypso.message")?.or_else(|| self.body()).unwrap_or_default(),
            observed_on: self.observed_on().unwrap_or(now),
            heartbeat: self.heartbeat()?,
            labels: self.labels()?,
        })
    }

    /// The workload of the record. A resource may have an environment even if a record names no workload.
    fn workload(&self) -> Result<Option<WorkloadName>, ReportError> {
        let name = self.text("kalypso.workload")?;
        let environment = self.text("kalypso.environment")?;
        Ok(name.map(|name| WorkloadName { name, environment }))
    }

    fn check_names(&self) -> Result<(), ReportError> {
        let ours = self.record.attributes.iter().map(|attribute| attribute.key.as_str());
        let mut ours = ours.filter(|key| key.starts_with(PREFIX) && !key.starts_with(LABEL_PREFIX));
        match ours.find(|key| !ATTRIBUTES.contains(key)) {
            Some(key) => Err(ReportError::new(fields::shown(key), fields::unknown(key, ATTRIBUTES))),
            None => Ok(()),
        }
    }

    /// A text attribute. The record has precedence over its resource. Returns none if the text is empty.
    fn text(&self, key: &str) -> Result<Option<String>, ReportError> {
        let found = self.record.attributes.iter().chain(self.shared).find(|attribute| attribute.key == key);
        let text = found.map(scalar).transpose()?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    fn host(&self) -> Result<String, ReportError> {
        for key in HOST {
            if let Some(host) = self.text(key)? {
                return Ok(host);
            }
        }
        Ok(String::new())
    }

    fn body(&self) -> Option<String> {
        match self.record.body.as_ref()?.value.as_ref()? {
            Value::StringValue(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The time of the event, or else the time when it was observed. Zero means unknown.
    fn observed_on(&self) -> Option<Timestamp> {
        let nanoseconds = [self.record.time_unix_nano, self.record.observed_time_unix_nano];
        let nanoseconds = nanoseconds.into_iter().find(|nanoseconds| *nanoseconds > 0)?;
        Some(Timestamp::from_millis(i64::try_from(nanoseconds / NANOSECONDS_PER_MILLISECOND).unwrap_or(i64::MAX)))
    }

    fn heartbeat(&self) -> Result<Option<Duration>, ReportError> {
        const KEY: &str = "kalypso.heartbeat_seconds";
        let Some(text) = self.text(KEY)? else { return Ok(None) };
        let wrong = || ReportError::new(KEY, format!("`{}` is no whole number of seconds", fields::shown(&text)));
        Ok(Some(Duration::from_secs(text.parse().map_err(|_| wrong())?)))
    }

    fn labels(&self) -> Result<BTreeMap<String, String>, ReportError> {
        let mut labels = BTreeMap::new();
        for attribute in self.shared.iter().chain(&self.record.attributes) {
            if let Some(name) = attribute.key.strip_prefix(LABEL_PREFIX) {
                labels.insert(name.to_owned(), scalar(attribute)?);
            }
        }
        Ok(labels)
    }
}

/// The value of an attribute as text. A number with a fraction is refused, because version 1.10 would become 1.1.
fn scalar(attribute: &KeyValue) -> Result<String, ReportError> {
    match attribute.value.as_ref().and_then(|value: &AnyValue| value.value.as_ref()) {
        None => Ok(String::new()),
        Some(Value::StringValue(text)) => Ok(text.clone()),
        Some(Value::IntValue(number)) => Ok(number.to_string()),
        Some(Value::BoolValue(value)) => Ok(value.to_string()),
        Some(_) => {
            Err(ReportError::new(fields::shown(&attribute.key), "is no text and no whole number, and should be a text"))
        }
    }
}

#[cfg(test)]
mod tests;
