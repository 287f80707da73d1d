//! Writes the reports of simulated hosts as log records of OpenTelemetry, as a collector sends them.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message as _;
use serde_json::{Value, json};

use super::{HostOptions, SentReport};

/// The gRPC method that receives log records.
pub(super) const METHOD: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/// The attribute with the name of the host.
const HOST: &str = "k8s.cluster.name";

const NANOSECONDS: u64 = 1_000_000_000;

/// The attributes of a report: docs/how-to/connect-opentelemetry.md
fn attributes(report: &SentReport) -> Vec<(&'static str, String)> {
    let mut attributes = vec![
        ("kalypso.reconciler", report.pull.reconciler.clone()),
        ("kalypso.place.repository", report.pull.repository.as_str().to_owned()),
        ("kalypso.place.branch", report.pull.branch.clone()),
        ("kalypso.place.path", report.pull.path.clone()),
        ("kalypso.revision", report.content.commit.to_string()),
        ("kalypso.status", report.status.as_str().to_owned()),
    ];
    attributes.extend(report.heartbeat.map(|heartbeat| ("kalypso.heartbeat_seconds", heartbeat.to_string())));
    attributes
}

/// Writes reports as protobuf.
pub(super) fn protobuf(host: &HostOptions, reports: &[&SentReport]) -> Vec<u8> {
    let text = |text: &str| AnyValue { value: Some(Any::StringValue(text.to_owned())) };
    let attribute =
        |key: &str, value: &str| KeyValue { key: key.to_owned(), value: Some(text(value)), ..KeyValue::default() };
    let record = |report: &&SentReport| LogRecord {
        time_unix_nano: report.at as u64 * NANOSECONDS,
        body: Some(text(&report.message)),
        attributes: attributes(report).iter().map(|(key, value)| attribute(key, value)).collect(),
        ..LogRecord::default()
    };
    let resource = Resource { attributes: vec![attribute(HOST, &host.name)], ..Resource::default() };
    let logs = ScopeLogs { log_records: reports.iter().map(record).collect(), ..ScopeLogs::default() };
    let logs = ResourceLogs { resource: Some(resource), scope_logs: vec![logs], ..ResourceLogs::default() };
    ExportLogsServiceRequest { resource_logs: vec![logs] }.encode_to_vec()
}

/// Writes reports as protobuf with a gRPC frame: the compression flag and the length.
pub(super) fn framed(host: &HostOptions, reports: &[&SentReport]) -> Vec<u8> {
    let message = protobuf(host, reports);
    [&[0][..], &(message.len() as u32).to_be_bytes(), &message].concat()
}

/// Writes reports as JSON. 64-bit numbers are strings in it.
pub(super) fn json(host: &HostOptions, reports: &[&SentReport]) -> Value {
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let record = |report: &&SentReport| {
        let attributes: Vec<_> = attributes(report).iter().map(|(key, value)| attribute(key, value)).collect();
        json!({
            "timeUnixNano": (report.at as u64 * NANOSECONDS).to_string(), "body": {"stringValue": report.message},
            "attributes": attributes,
        })
    };
    let records: Vec<_> = reports.iter().map(record).collect();
    json!({"resourceLogs": [{
        "resource": {"attributes": [attribute(HOST, &host.name)]},
        "scopeLogs": [{"scope": {"name": "kalypso-agent"}, "logRecords": records}],
    }]})
}
