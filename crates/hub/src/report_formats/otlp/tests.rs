//! Tests of OTLP logs.

use hub_api::report::Status;
use prost::Message as _;

use super::*;
use crate::limits::OTLP_PARTS_MAX;

const NOW: Timestamp = Timestamp::MIN;

/// A JSON request as a collector sends it: one record with attributes of Kalypso, and the example of the OpenTelemetry project.
const REQUEST: &str = include_str!("../../../tests/payloads/otlp-logs.json");

/// The report of a record with a reconciler, a status, and this attribute.
fn check(key: &str, value: &str) -> Result<Report, String> {
    let body = format!(
        r#"{{"resourceLogs": [{{"scopeLogs": [{{"logRecords": [{{"attributes": [
            {{"key": "{key}", "value": {value}}},
            {{"key": "kalypso.reconciler", "value": {{"stringValue": "a"}}}},
            {{"key": "kalypso.status", "value": {{"stringValue": "running"}}}}]}}]}}]}}]}}"#
    );
    let (mut taken, refused) = read(&decode_json(body.as_bytes()).unwrap(), NOW).unwrap().into_parts();
    match refused.first() {
        Some(refused) => Err(refused.error.to_string()),
        None => Ok(taken.remove(0)),
    }
}

#[test]
fn records_with_our_attributes_are_reports_and_others_are_ignored() {
    let batch = read(&decode_json(REQUEST.as_bytes()).unwrap(), NOW).unwrap();
    assert_eq!(batch.ignored(), 1);
    let (taken, refused) = batch.into_parts();
    assert_eq!(refused, []);
    let report = taken.into_iter().next().unwrap().check(Timestamp::MAX).unwrap();
    assert_eq!((report.host.as_str(), report.reconciler.as_str()), ("chicago-edge-04", "checkout-eu"));
    assert_eq!(
        (report.kind.as_str(), report.status, report.message.as_str()),
        ("otlp", Status::Success, "applied 12 files")
    );
    assert_eq!(report.endpoint.unwrap().to_string(), "https://git.example/acme/gitops/prod/chicago-edge/checkout-eu");
    assert_eq!(report.observed_on.to_string(), "2026-11-21T13:44:01.250Z");
    assert_eq!((report.heartbeat, report.labels.len()), (Some(Duration::from_mins(5)), 1));
}

#[test]
fn protobuf_and_json_give_the_same_reports() {
    let from_json = decode_json(REQUEST.as_bytes()).unwrap();
    let from_protobuf = decode_protobuf(&from_json.encode_to_vec()).unwrap();
    assert_eq!(read(&from_protobuf, NOW), read(&from_json, NOW));
    assert!(matches!(decode_protobuf(REQUEST.as_bytes()), Err(BodyError::Syntax { .. })));
}

#[test]
fn record_attributes_override_resource_attributes() {
    assert_eq!(check("kalypso.host", r#"{"stringValue": "line-7"}"#).unwrap().host, "line-7");
    assert_eq!(check("host.name", r#"{"stringValue": "node-1"}"#).unwrap().host, "node-1");
    assert_eq!(check("kalypso.label.rank", r#"{"intValue": "3"}"#).unwrap().labels["rank"], "3");
    let workload = check("kalypso.workload", r#"{"stringValue": "checkout"}"#).unwrap().workload;
    assert_eq!(workload.map(|workload| workload.name).as_deref(), Some("checkout"));
    assert_eq!(check("other", "{}").unwrap().status, Status::InProgress);
}

#[test]
fn invalid_attributes_are_reported_by_name() {
    let wrong = |key: &str, value: &str| check(key, value).unwrap_err();
    assert_eq!(
        wrong("kalypso.verson", r#"{"stringValue": "1"}"#),
        "kalypso.verson: is unknown: did you mean `kalypso.version`?"
    );
    assert_eq!(
        wrong("kalypso.version", r#"{"doubleValue": 1.1}"#),
        "kalypso.version: is no text and no whole number, and should be a text"
    );
    assert_eq!(
        wrong("kalypso.heartbeat_seconds", r#"{"stringValue": "5m"}"#),
        "kalypso.heartbeat_seconds: `5m` is no whole number of seconds"
    );
    assert_eq!(
        wrong("kalypso.status", r#"{"stringValue": "fine"}"#),
        "kalypso.status: `fine` is no status: did you mean `success`, `failure` or `in_progress`?"
    );
}

#[test]
fn answer_counts_refused_records() {
    assert_eq!(encode_json(&answer(&[], &[])), "{}");
    assert_eq!(encode_protobuf(&answer(&[], &[])), b"");
    let error = ReportError::new("kalypso.status", "is missing");
    let refused = vec![Refused { position: ReportPosition { index: 7, line: None }, error }; 5];
    let answer = answer(&refused, &[]);
    let message = "record 7: kalypso.status: is missing";
    let expected = format!(
        r#"{{"partialSuccess":{{"rejectedLogRecords":"5","errorMessage":"{message}; {message}; {message}"}}}}"#
    );
    assert_eq!(encode_json(&answer), expected);
}

#[test]
fn empty_bodies_are_accepted_and_deep_or_long_ones_refused() {
    for body in ["{}", r#"{"resourceLogs": null}"#, r#"{"resourceLogs": [{"scopeLogs": [{}]}]}"#] {
        assert_eq!(read(&decode_json(body.as_bytes()).unwrap(), NOW), Ok(Batch::default()), "{body}");
    }
    let deep = r#"{"resourceLogs": [{"resource": {"attributes": [{"value": "#.to_owned() + &"[".repeat(10_000);
    assert!(matches!(decode_json(deep.as_bytes()), Err(BodyError::Syntax { .. })));
    let many = format!(r#"{{"resourceLogs": [{}{{}}]}}"#, "{},".repeat(OTLP_PARTS_MAX));
    assert_eq!(decode_json(many.as_bytes()), Err(BodyError::TooManyParts));
}
