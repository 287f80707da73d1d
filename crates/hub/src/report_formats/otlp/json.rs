//! OTLP in JSON: only the fields that reports need.
//!
//! The rules: <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>. 64-bit numbers are texts or numbers. Unknown fields are ignored. The
//! types of `opentelemetry-proto` can read JSON too, but they refuse the whole request because of an empty list (`{"arrayValue":{}}`), which the
//! collector writes.

use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use serde::Deserialize;
use serde_json::Value as Json;

use super::BodyError;
use crate::limits::OTLP_PARTS_MAX;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JsonRequest {
    resource_logs: Option<Vec<JsonResourceLogs>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JsonResourceLogs {
    resource: Option<JsonResource>,
    scope_logs: Option<Vec<JsonScopeLogs>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JsonResource {
    attributes: Option<Vec<JsonAttribute>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JsonScopeLogs {
    log_records: Option<Vec<JsonRecord>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JsonRecord {
    time_unix_nano: Option<Json>,
    observed_time_unix_nano: Option<Json>,
    body: Option<Json>,
    attributes: Option<Vec<JsonAttribute>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JsonAttribute {
    key: Option<String>,
    value: Option<Json>,
}

/// Decodes a request in JSON, as OTLP/HTTP sends it with content type `application/json`. The result has only the fields that [`super::read`] uses.
///
/// # Errors
/// The body is not such a request, or has too many parts.
pub fn decode_json(body: &[u8]) -> Result<ExportLogsServiceRequest, BodyError> {
    // Each part is an object. Braces in texts are counted too, so the count may be too high, but not higher than the number of bytes.
    if body.iter().filter(|byte| **byte == b'{').count() > OTLP_PARTS_MAX {
        return Err(BodyError::TooManyParts);
    }
    let request: JsonRequest = serde_json::from_slice(body)
        .map_err(|error| BodyError::Syntax { format: "OTLP request in JSON", message: error.to_string() })?;
    let resource_logs = request.resource_logs.unwrap_or_default().into_iter().map(resource_logs).collect();
    Ok(ExportLogsServiceRequest { resource_logs })
}

/// The response to a request, in JSON.
pub fn encode_json(answer: &ExportLogsServiceResponse) -> String {
    let Some(partial) = &answer.partial_success else { return "{}".to_owned() };
    let count = partial.rejected_log_records.to_string();
    let partial = serde_json::json!({"rejectedLogRecords": count, "errorMessage": partial.error_message});
    serde_json::json!({ "partialSuccess": partial }).to_string()
}

fn resource_logs(logs: JsonResourceLogs) -> ResourceLogs {
    let resource =
        logs.resource.map(|resource| Resource { attributes: attributes(resource.attributes), ..Resource::default() });
    let records = |scope: JsonScopeLogs| scope.log_records.unwrap_or_default().into_iter().map(record).collect();
    let scope_logs = logs.scope_logs.unwrap_or_default().into_iter();
    let scope_logs =
        scope_logs.map(|scope| ScopeLogs { log_records: records(scope), ..ScopeLogs::default() }).collect();
    ResourceLogs { resource, scope_logs, ..ResourceLogs::default() }
}

fn record(record: JsonRecord) -> LogRecord {
    LogRecord {
        time_unix_nano: nanoseconds(record.time_unix_nano.as_ref()),
        observed_time_unix_nano: nanoseconds(record.observed_time_unix_nano.as_ref()),
        body: record.body.as_ref().map(any_value),
        attributes: attributes(record.attributes),
        ..LogRecord::default()
    }
}

fn attributes(attributes: Option<Vec<JsonAttribute>>) -> Vec<KeyValue> {
    let attribute = |attribute: JsonAttribute| KeyValue {
        key: attribute.key.unwrap_or_default(),
        value: attribute.value.as_ref().map(any_value),
        ..KeyValue::default()
    };
    attributes.unwrap_or_default().into_iter().map(attribute).collect()
}

/// A number, or a number in a text; 0 (unknown) for all other values.
fn nanoseconds(value: Option<&Json>) -> u64 {
    let text = |value: &Json| value.as_str()?.parse().ok();
    value.and_then(|value| value.as_u64().or_else(|| text(value))).unwrap_or_default()
}

/// Lists, maps and bytes are only distinguished from texts and numbers. Their content is not read, because no attribute of Kalypso has such a value.
fn any_value(value: &Json) -> AnyValue {
    let integer = |value: &Json| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    let found = value.as_object().into_iter().flatten().find_map(|(name, value)| match name.as_str() {
        "stringValue" => value.as_str().map(|text| Value::StringValue(text.to_owned())),
        "boolValue" => value.as_bool().map(Value::BoolValue),
        "intValue" => integer(value).map(Value::IntValue),
        "doubleValue" => Some(Value::DoubleValue(value.as_f64().unwrap_or(f64::NAN))),
        "arrayValue" | "kvlistValue" | "bytesValue" => Some(Value::ArrayValue(ArrayValue::default())),
        _ => None,
    });
    AnyValue { value: found }
}
