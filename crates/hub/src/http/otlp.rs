//! OTLP logs, over HTTP and over gRPC on the same port.
//!
//! The protocol: <https://opentelemetry.io/docs/specs/otlp/>. If a collector must not send a request again, the status of the answer is not retryable (4xx
//! except 429; `INVALID_ARGUMENT` and similar codes). If it should send the request again, the status is 429 or 503 (`UNAVAILABLE`).

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, header};
use hub_api::timestamp::Timestamp;
use opentelemetry_proto::tonic::collector::logs::v1::logs_service_server::{LogsService, LogsServiceServer};
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use prost::Message as _;
use tokio::time::timeout;
use tonic::codec::CompressionEncoding;

use super::metrics::Source;
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::submission::{Submission, check_may_report};
use super::{App, caller, reports};
use crate::authentication::tokens::Identity;
use crate::limits::{BODY_TIMEOUT, GRPC_BYTES_MAX};
use crate::report_formats::otlp;

const PROTOBUF: &str = "application/x-protobuf";
const JSON: &str = "application/json";

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; logs)
}

/// Receive log records of OpenTelemetry
///
/// The body is what the exporter `otlphttp` of a collector sends, in protobuf or JSON. Records with attributes that begin with `kalypso.` are reports. The
/// hub ignores all other records. Errors are a `google.rpc.Status` in the same encoding, as OTLP requires.
#[utoipa::path(
    post,
    path = "/v1/logs",
    tag = "Reports",
    request_body(content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json")), description = "An `ExportLogsServiceRequest`, possibly with gzip"),
    responses(
        (status = 200, description = "Stored, except for the records that `partial_success` counts", content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json"))),
        (status = "4XX", description = "Rejected; do not send it again, except after 429", content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json"))),
        (status = "5XX", description = "Not possible now", content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json"))),
    ),
)]
async fn logs(State(app): State<App>, headers: HeaderMap, submission: Result<Submission, ProblemResponse>) -> Response {
    let is_json = headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(JSON.as_bytes()));
    match export_submission(&app, submission).await {
        Ok(answer) if is_json => encoded(JSON, otlp::encode_json(&answer).into_bytes()),
        Ok(answer) => encoded(PROTOBUF, otlp::encode_protobuf(&answer)),
        Err(problem) => status(problem, is_json),
    }
}

async fn export_submission(
    app: &App,
    submission: Result<Submission, ProblemResponse>,
) -> Result<ExportLogsServiceResponse, ProblemResponse> {
    let submission = submission?;
    submission.check_type(&[PROTOBUF, JSON])?;
    let request = match submission.media_type.as_str() {
        JSON => otlp::decode_json(&submission.body)?,
        _ => otlp::decode_protobuf(&submission.body)?,
    };
    export(app, &submission.identity, &request).await
}

async fn export(
    app: &App,
    identity: &Identity,
    request: &ExportLogsServiceRequest,
) -> Result<ExportLogsServiceResponse, ProblemResponse> {
    let batch = otlp::read(request, Timestamp::now())?;
    let taken = reports::take(app, Source::Otlp, identity, batch).await?;
    Ok(otlp::answer(&taken.refused, &taken.apart))
}

fn encoded(media_type: &'static str, body: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, media_type)], body).into_response()
}

/// `google.rpc.Status`, without details.
#[derive(Clone, PartialEq, prost::Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// Converts a problem to the form that OTLP over HTTP requires: the status and the headers stay, the body becomes a `google.rpc.Status`.
fn status(problem: ProblemResponse, is_json: bool) -> Response {
    let (code, message) = (code(problem.what()) as i32, problem.detail().to_owned());
    let (mut parts, _) = problem.into_response().into_parts();
    let (media_type, body) = if is_json {
        (JSON, serde_json::json!({"code": code, "message": message}).to_string().into_bytes())
    } else {
        (PROTOBUF, RpcStatus { code, message }.encode_to_vec())
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    Response::from_parts(parts, body.into())
}

/// The status code of gRPC for a kind of problem.
fn code(kind: ProblemType) -> tonic::Code {
    match kind {
        ProblemType::Malformed | ProblemType::Ambiguous | ProblemType::MediaType | ProblemType::Unprocessable => {
            tonic::Code::InvalidArgument
        }
        ProblemType::Unauthenticated => tonic::Code::Unauthenticated,
        ProblemType::Forbidden => tonic::Code::PermissionDenied,
        ProblemType::NotFound => tonic::Code::NotFound,
        ProblemType::Method => tonic::Code::Unimplemented,
        // Not `RESOURCE_EXHAUSTED`: collectors retry after that code.
        ProblemType::TooLarge => tonic::Code::OutOfRange,
        ProblemType::Slow | ProblemType::Busy | ProblemType::Unavailable => tonic::Code::Unavailable,
        ProblemType::Mistake => tonic::Code::Internal,
    }
}

/// The gRPC service. It authenticates the caller before it reads the message.
pub(super) fn grpc(app: App) -> Router {
    let service = LogsServiceServer::new(Logs(app.clone()))
        .accept_compressed(CompressionEncoding::Gzip)
        .max_decoding_message_size(GRPC_BYTES_MAX);
    let routes = tonic::service::Routes::new(service).into_axum_router().reset_fallback();
    routes.layer(from_fn_with_state(app, admit))
}

async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let admitted = async {
        let identity = caller::identify(&app, &parts).await?;
        check_may_report(&identity)?;
        Ok::<_, ProblemResponse>((identity, app.room(GRPC_BYTES_MAX)?))
    };
    match admitted.await {
        Err(problem) => rpc_status(&problem).into_http(),
        Ok((identity, _room)) => {
            parts.extensions.insert(identity);
            let answered = timeout(BODY_TIMEOUT, next.run(Request::from_parts(parts, body))).await;
            answered.unwrap_or_else(|_| tonic::Status::deadline_exceeded("the message took too long").into_http())
        }
    }
}

struct Logs(App);

#[tonic::async_trait]
impl LogsService for Logs {
    async fn export(
        &self,
        request: tonic::Request<ExportLogsServiceRequest>,
    ) -> Result<tonic::Response<ExportLogsServiceResponse>, tonic::Status> {
        let identity = request.extensions().get::<Identity>().cloned();
        let identity = identity.ok_or_else(|| tonic::Status::unauthenticated("the request has no known token"))?;
        let answer = export(&self.0, &identity, request.get_ref()).await;
        answer.map(tonic::Response::new).map_err(|problem| rpc_status(&problem))
    }
}

fn rpc_status(problem: &ProblemResponse) -> tonic::Status {
    tonic::Status::new(code(problem.what()), problem.detail())
}
