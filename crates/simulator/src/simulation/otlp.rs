//! Log records of OpenTelemetry, as a collector sends what simulated hosts say.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message as _;
use serde_json::{Value, json};

use super::{HostOptions, Said};

/// The method that takes log records over gRPC.
pub(super) const METHOD: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/// What OTLP calls the host.
const HOST: &str = "k8s.cluster.name";

const NANOSECONDS: u64 = 1_000_000_000;

/// docs/how-to/connect-opentelemetry.md
fn attributes(said: &Said) -> Vec<(&'static str, String)> {
    let mut attributes = vec![
        ("kalypso.reconciler", said.pull.reconciler.clone()),
        ("kalypso.place.repository", said.pull.repository.as_str().to_owned()),
        ("kalypso.place.branch", said.pull.branch.clone()),
        ("kalypso.place.path", said.pull.path.clone()),
        ("kalypso.revision", said.content.commit.to_string()),
        ("kalypso.status", said.status.as_str().to_owned()),
    ];
    attributes.extend(said.heartbeat.map(|heartbeat| ("kalypso.heartbeat_seconds", heartbeat.to_string())));
    attributes
}

/// In protobuf.
pub(super) fn protobuf(host: &HostOptions, said: &[&Said]) -> Vec<u8> {
    let text = |text: &str| AnyValue { value: Some(Any::StringValue(text.to_owned())) };
    let attribute =
        |key: &str, value: &str| KeyValue { key: key.to_owned(), value: Some(text(value)), ..KeyValue::default() };
    let record = |said: &&Said| LogRecord {
        time_unix_nano: said.at as u64 * NANOSECONDS,
        body: Some(text(&said.message)),
        attributes: attributes(said).iter().map(|(key, value)| attribute(key, value)).collect(),
        ..LogRecord::default()
    };
    let resource = Resource { attributes: vec![attribute(HOST, &host.name)], ..Resource::default() };
    let logs = ScopeLogs { log_records: said.iter().map(record).collect(), ..ScopeLogs::default() };
    let logs = ResourceLogs { resource: Some(resource), scope_logs: vec![logs], ..ResourceLogs::default() };
    ExportLogsServiceRequest { resource_logs: vec![logs] }.encode_to_vec()
}

/// In protobuf, framed for gRPC: not compressed, and its length.
pub(super) fn framed(host: &HostOptions, said: &[&Said]) -> Vec<u8> {
    let message = protobuf(host, said);
    [&[0][..], &(message.len() as u32).to_be_bytes(), &message].concat()
}

/// In JSON, where 64-bit numbers are texts.
pub(super) fn json(host: &HostOptions, said: &[&Said]) -> Value {
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let record = |said: &&Said| {
        let attributes: Vec<_> = attributes(said).iter().map(|(key, value)| attribute(key, value)).collect();
        json!({
            "timeUnixNano": (said.at as u64 * NANOSECONDS).to_string(), "body": {"stringValue": said.message},
            "attributes": attributes,
        })
    };
    let records: Vec<_> = said.iter().map(record).collect();
    json!({"resourceLogs": [{
        "resource": {"attributes": [attribute(HOST, &host.name)]},
        "scopeLogs": [{"scope": {"name": "kalypso-agent"}, "logRecords": records}],
    }]})
}
