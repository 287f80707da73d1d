//! The generic report: JSON of a script, an agent, a CI job or an Ansible host.
//!
//! A body has one object, a list of objects, or one object on each line (NDJSON). A report with an unknown field is refused. Otherwise a report with `observed`
//! instead of `observedAt` would be stored with the wrong time, without a message.

use std::fmt;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::batch::{Batch, BodyError};
use super::fields::{self, Fields};
use crate::endpoint::Endpoint;
use crate::limits::{BATCH_REPORTS_MAX, REPORT_BYTES_MAX};
use crate::report::{Report, ReportError, WorkloadName};
use crate::revision;
use crate::timestamp::Timestamp;

/// The default kind of reconcilers.
pub const KIND: &str = "generic";

const FIELDS: &[&str] = &[
    "host",
    "reconciler",
    "type",
    "place",
    "revision",
    "commit",
    "tree",
    "version",
    "workload",
    "environment",
    "status",
    "message",
    "observedAt",
    "heartbeatSeconds",
    "labels",
];

const PLACE_FIELDS: &[&str] = &["repository", "branch", "path"];

/// The JSON of one report, with its line if the body consists of lines.
type Piece<'a> = (Option<usize>, &'a [u8]);

/// A list of reports. For a list that is too long, only its length. So a list of millions of zeros needs no more memory than the body.
#[derive(Default)]
struct Items<'a> {
    kept: Vec<&'a RawValue>,
    count: usize,
}

/// Reads a body. Reports without a time get `now`.
///
/// # Errors
/// If the body is empty, is not JSON, or has too many reports.
pub fn read(body: &[u8], now: Timestamp) -> Result<Batch, BodyError> {
    let mut batch = Batch::default();
    for (line, piece) in split(body)? {
        batch.push(line, read_one(piece, now));
    }
    Ok(batch)
}

/// Reads one report.
///
/// # Errors
/// If the report is too long or no JSON object, or has unknown fields or values of the wrong type.
pub fn read_one(json: &[u8], now: Timestamp) -> Result<Report, ReportError> {
    if json.len() > REPORT_BYTES_MAX {
        let message = format!("has {} bytes; at most {REPORT_BYTES_MAX} are possible", json.len());
        return Err(ReportError::new("report", message));
    }
    let value: Value =
        serde_json::from_slice(json).map_err(|error| ReportError::new("report", format!("is no JSON: {error}")))?;
    let mut fields = Fields::new(value, "report")?;
    let status = fields.text("status")?;
    let report = Report {
        host: fields.text("host")?.unwrap_or_default(),
        reconciler: fields.text("reconciler")?.unwrap_or_default(),
        kind: fields.text("type")?.unwrap_or_else(|| KIND.to_owned()),
        endpoint: place(&mut fields)?,
        revision: revision(&mut fields)?,
        tree: fields.text("tree")?,
        version: fields.text("version")?,
        workload: fields::workload(fields.text("workload")?, fields.text("environment")?, "workload")?,
        status: fields::status("status", status.as_deref())?,
        is_waiting: fields::is_waiting(status.as_deref()),
        message: fields.text("message")?.unwrap_or_default(),
        observed_on: observed_at(&mut fields)?.unwrap_or(now),
        heartbeat: fields.number("heartbeatSeconds")?.map(Duration::from_secs),
        labels: fields.texts("labels")?,
    };
    fields.end(FIELDS)?;
    Ok(report)
}

/// Writes a report in this format, on one line, without empty fields.
pub fn write(report: &Report) -> String {
    let mut map = Map::new();
    let mut put = |name: &str, text: &str| {
        if !text.is_empty() {
            map.insert(name.to_owned(), Value::from(text));
        }
    };
    put("host", &report.host);
    put("reconciler", &report.reconciler);
    put("type", &report.kind);
    put("revision", &report.revision);
    put("tree", report.tree.as_deref().unwrap_or_default());
    put("version", report.version.as_deref().unwrap_or_default());
    if let Some(WorkloadName { name, environment }) = &report.workload {
        put("workload", name);
        put("environment", environment.as_deref().unwrap_or_default());
    }
    put("status", if report.is_waiting { fields::WAITING } else { report.status.as_str() });
    put("message", &report.message);
    put("observedAt", &report.observed_on.to_string());
    if let Some(endpoint) = &report.endpoint {
        let parts = [("repository", endpoint.repository()), ("branch", endpoint.branch()), ("path", endpoint.path())];
        let place: Map<_, _> = parts.map(|(name, text)| (name.to_owned(), Value::from(text))).into_iter().collect();
        map.insert("place".to_owned(), Value::Object(place));
    }
    if let Some(heartbeat) = report.heartbeat {
        map.insert("heartbeatSeconds".to_owned(), Value::from(heartbeat.as_secs()));
    }
    if !report.labels.is_empty() {
        let labels = report.labels.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect();
        map.insert("labels".to_owned(), Value::Object(labels));
    }
    Value::Object(map).to_string()
}

/// Splits a body into its reports.
fn split(body: &[u8]) -> Result<Vec<Piece<'_>>, BodyError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    match body.trim_ascii_start().first() {
        None => Err(BodyError::Empty),
        Some(b'[') => {
            let items: Items<'_> = serde_json::from_slice(body).map_err(|error| BodyError::json(&error))?;
            check_count(items.count)?;
            Ok(items.kept.into_iter().map(|item| (None, item.get().as_bytes())).collect())
        }
        Some(_) => split_lines(body),
    }
}

/// Splits a body into lines, unless it is one object on several lines. It is an error if no line is JSON.
fn split_lines(body: &[u8]) -> Result<Vec<Piece<'_>>, BodyError> {
    let lines = body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty());
    let whole = serde_json::from_slice::<&RawValue>(body);
    if whole.is_ok() || lines.clone().nth(1).is_none() {
        return Ok(vec![(None, body.trim_ascii())]);
    }
    check_count(lines.clone().count())?;
    let is_json = |line: &[u8]| line.starts_with(b"{") && serde_json::from_slice::<&RawValue>(line).is_ok();
    match whole {
        Err(error) if !lines.clone().any(|(_, line)| is_json(line)) => Err(BodyError::json(&error)),
        _ => Ok(lines.map(|(index, line)| (Some(index + 1), line)).collect()),
    }
}

fn check_count(count: usize) -> Result<(), BodyError> {
    if count > BATCH_REPORTS_MAX { Err(BodyError::TooMany(count)) } else { Ok(()) }
}

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = Items<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of reports")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Items<'de>, A::Error> {
        let mut items = Items::default();
        while let Some(item) = list.next_element()? {
            items.count += 1;
            if items.count <= BATCH_REPORTS_MAX {
                items.kept.push(item);
            }
        }
        Ok(items)
    }
}

fn place(fields: &mut Fields) -> Result<Option<Endpoint>, ReportError> {
    let Some(mut place) = fields.object("place")? else { return Ok(None) };
    let (repository, branch, path) = (place.text("repository")?, place.text("branch")?, place.text("path")?);
    place.end(PLACE_FIELDS)?;
    let text = |part: Option<String>| part.unwrap_or_default();
    Ok(Some(Endpoint::new(&text(repository), &text(branch), &text(path))?))
}

fn revision(fields: &mut Fields) -> Result<String, ReportError> {
    match (fields.text("revision")?, fields.text("commit")?) {
        (Some(revision), Some(commit)) if revision::commit(&revision) != commit => {
            Err(ReportError::new("commit", "is another one than `revision` has: one of the two is enough"))
        }
        (revision, commit) => Ok(revision.or(commit).unwrap_or_default()),
    }
}

fn observed_at(fields: &mut Fields) -> Result<Option<Timestamp>, ReportError> {
    let text = fields.text("observedAt")?;
    let timestamp = text.map(|text| text.parse()).transpose();
    timestamp.map_err(|error: crate::timestamp::TimestampError| ReportError::new("observedAt", error.to_string()))
}

#[cfg(test)]
mod tests;
