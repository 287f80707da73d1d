//! OpenTelemetry logs over HTTP and gRPC.

use hub_api::tokens::{Reach, Scope};
use opentelemetry_proto::tonic::collector::logs::v1::logs_service_client::LogsServiceClient;
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use prost::Message as _;
use reqwest::StatusCode;
use tonic::transport::Channel;
use tonic::{Code, Request};

use super::Hub;

fn request(host: &str) -> ExportLogsServiceRequest {
    let attribute = |(key, value): (&str, &str)| KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(any_value::Value::StringValue(value.to_owned())) }),
        ..KeyValue::default()
    };
    let attributes = [
        ("kalypso.host", host),
        ("kalypso.reconciler", "checkout"),
        ("kalypso.status", "success"),
        ("kalypso.message", "one"),
    ];
    let record = LogRecord { attributes: attributes.map(attribute).to_vec(), ..LogRecord::default() };
    let scope_logs = vec![ScopeLogs { log_records: vec![record], ..ScopeLogs::default() }];
    ExportLogsServiceRequest { resource_logs: vec![ResourceLogs { scope_logs, ..ResourceLogs::default() }] }
}

async fn export(hub: &Hub, token: Option<&str>) -> Result<(), Code> {
    export_through(Channel::from_shared(hub.url("")).unwrap().connect().await.unwrap(), token).await
}

/// Sends an export request over this connection, as a collector does.
pub(super) async fn export_through(channel: Channel, token: Option<&str>) -> Result<(), Code> {
    let mut client = LogsServiceClient::new(channel);
    let mut request = Request::new(request("a"));
    if let Some(token) = token {
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    client.export(request).await.map(drop).map_err(|status| status.code())
}

#[tokio::test]
async fn protobuf_is_accepted_over_http() {
    let hub = Hub::start().await;
    let send = |body: Vec<u8>| hub.post("/v1/logs").header("content-type", "application/x-protobuf").body(body).send();
    let response = send(request("a").encode_to_vec()).await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/x-protobuf");
    let answer = ExportLogsServiceResponse::decode(response.bytes().await.unwrap()).unwrap();
    assert_eq!(answer.partial_success, None);
    assert_eq!(hub.history().await, ["a/checkout: one"]);
    assert_eq!(send(vec![0xff]).await.unwrap().status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn json_is_accepted_over_http_and_errors_are_a_status() {
    let hub = Hub::start().await;
    let body = include_str!("../payloads/otlp-logs.json");
    let send = |body| hub.post("/v1/logs").header("content-type", "application/json").body(body).send();
    assert_eq!(send(body).await.unwrap().status(), StatusCode::OK);
    assert!(!hub.history().await.is_empty());
    let response = send("{").await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let status: serde_json::Value = response.json().await.unwrap();
    assert_eq!(status["code"], Code::InvalidArgument as i32, "{status}");
}

#[tokio::test]
async fn records_are_accepted_over_grpc_on_the_same_port() {
    let hub = Hub::start().await;
    assert_eq!(export(&hub, None).await, Ok(()));
    assert_eq!(hub.history().await, ["a/checkout: one"]);
}

#[tokio::test]
async fn grpc_requires_tokens() {
    let hub = Hub::start().await;
    let reader = hub.token("reader", Scope::Read(Reach::ALL)).await.reveal();
    let host = hub.token("host", Scope::host("berlin")).await.reveal();
    assert_eq!(export(&hub, None).await, Err(Code::Unauthenticated));
    assert_eq!(export(&hub, Some("kal_x")).await, Err(Code::Unauthenticated));
    assert_eq!(export(&hub, Some(&reader)).await, Err(Code::PermissionDenied));
    assert_eq!(export(&hub, Some(&host)).await, Ok(()));
    assert_eq!(hub.history().await, ["berlin/checkout: one"]);
}
