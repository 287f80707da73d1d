//! Writes the reports of simulated hosts in the formats of their reconcilers.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{HostOptions, HostReportFormat, Message, OF_PLATFORM, Route, SentReport, SentStatus, otlp};

/// The messages of a host, each with the time at which it is sent. Each report has its number in the log of the simulation.
pub(super) fn messages(host: &HostOptions, reports: &[(usize, &SentReport)]) -> Vec<(i64, Message)> {
    let is_batched = matches!(
        host.format,
        HostReportFormat::Lines
            | HostReportFormat::OtlpProtobuf
            | HostReportFormat::OtlpJson
            | HostReportFormat::OtlpGrpc
            | HostReportFormat::File
    );
    let size = if is_batched { reports.len().max(1) } else { 1 };
    let message = |numbered: &[(usize, &SentReport)]| {
        let (_, last) = numbered.last()?;
        let (numbers, reports): (Vec<_>, Vec<_>) = numbered.iter().copied().unzip();
        Some((last.at, message(host, &reports, numbers)))
    };
    reports.chunks(size).filter_map(message).collect()
}

fn message(host: &HostOptions, reports: &[&SentReport], report_numbers: Vec<usize>) -> Message {
    let http = |path: &str| Route::Http(path.to_owned());
    let json = "application/json";
    let lines = |write: fn(&HostOptions, &SentReport) -> Value| {
        let texts: Vec<_> = reports.iter().map(|report| write(host, report).to_string()).collect();
        texts.join("\n").into_bytes()
    };
    let (route, media_type, body) = match host.format {
        HostReportFormat::Json => (http("/api/v1/reports"), json, lines(generic)),
        HostReportFormat::Lines => (http("/api/v1/reports"), "application/x-ndjson", lines(generic)),
        HostReportFormat::File => (Route::Carried, "application/x-ndjson", lines(generic)),
        HostReportFormat::Flux | HostReportFormat::FluxSigned => (http("/api/v1/reports/flux"), json, lines(flux)),
        HostReportFormat::ArgoCd => (http("/api/v1/reports/argocd"), json, argo_cd(host, reports)),
        HostReportFormat::OtlpProtobuf => (http("/v1/logs"), "application/x-protobuf", otlp::protobuf(host, reports)),
        HostReportFormat::OtlpJson => (http("/v1/logs"), json, otlp::json(host, reports).to_string().into_bytes()),
        HostReportFormat::OtlpGrpc => (Route::Grpc(otlp::METHOD), "application/grpc", otlp::framed(host, reports)),
    };
    let headers = vec![("content-type", media_type.to_owned())];
    let mut message = Message { host: host.name.clone(), route, headers, body, report_numbers };
    authenticate(&mut message, host);
    message
}

/// Adds the token to the message, or signs the message with it.
fn authenticate(message: &mut Message, host: &HostOptions) {
    let Some(token) = &host.token else { return };
    match (&mut message.route, host.format) {
        (Route::Http(path), HostReportFormat::FluxSigned) => {
            path.push_str("?token=");
            path.push_str(&token.id);
            message.headers.push(("x-signature", signature(&token.signing_key, &message.body)));
        }
        (Route::Carried, _) => {}
        _ => message.headers.push(("authorization", format!("Bearer {}", token.text))),
    }
}

/// The signature of Flux' notification-controller: <https://fluxcd.io/flux/components/notification/providers/#generic-webhook-with-hmac>.
fn signature(key: &str, body: &[u8]) -> String {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    format!("sha256={}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn rfc3339(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap_or_default().to_string()
}

/// A generic report: docs/how-to/connect-anything-else.md
fn generic(host: &HostOptions, report: &SentReport) -> Value {
    let mut body = json!({
        "host": host.name, "reconciler": report.pull.reconciler, "type": "script",
        "place": {"repository": report.pull.repository.as_str(), "branch": report.pull.branch, "path": report.pull.path},
        "commit": report.content.commit.to_string(), "status": report.status.as_str(), "message": report.message,
        "observedAt": rfc3339(report.at),
    });
    if let Some(heartbeat) = report.heartbeat {
        body["heartbeatSeconds"] = json!(heartbeat);
    }
    body
}

/// An event of Flux: <https://fluxcd.io/flux/components/notification/events/#event-structure>.
fn flux(host: &HostOptions, report: &SentReport) -> Value {
    let configured = match report.pull.reconciler.strip_suffix(OF_PLATFORM) {
        Some(_) => "ConfigMap/platform-config configured".to_owned(),
        None => format!("Deployment/{} configured", report.pull.reconciler),
    };
    let (severity, reason, message) = match report.status {
        SentStatus::InProgress => ("info", "Progressing", &*configured),
        SentStatus::Success => ("info", "ReconciliationSucceeded", "Reconciliation finished in 1.2s, next run in 1m0s"),
        SentStatus::Failure if report.message.starts_with("health") => ("error", "HealthCheckFailed", &*report.message),
        SentStatus::Failure => ("error", "ReconciliationFailed", &*report.message),
    };
    let heartbeat = report.heartbeat.unwrap_or_default().to_string();
    json!({
        "involvedObject": {
            "kind": "Kustomization", "namespace": "flux-system", "name": report.pull.reconciler,
            "uid": "7d0cdc51-ddcf-4743-b223-83ca5c699632", "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "resourceVersion": "4711",
        },
        "severity": severity, "timestamp": rfc3339(report.at), "message": message, "reason": reason,
        "metadata": {
            "revision": format!("{}@sha1:{}", report.pull.branch, report.content.commit), "cluster": host.name,
            "repository": report.pull.repository.as_str(), "path": format!("./{}", report.pull.path),
            "heartbeatSeconds": heartbeat,
        },
        "reportingController": "kustomize-controller", "reportingInstance": "kustomize-controller-7c7b47f5f-8bhrp",
    })
}

/// The output of the template in `deploy/argocd` for Applications.
#[allow(clippy::expect_used, reason = "the template and the Application are ours, and a test renders them")]
fn argo_cd(host: &HostOptions, reports: &[&SentReport]) -> Vec<u8> {
    let rendered = reports.iter().map(|report| {
        crate::argocd::notification(&application(report), &host.name).expect("the template renders an Application")
    });
    rendered.collect::<Vec<_>>().join("\n").into_bytes()
}

/// An Application, as Argo CD stores it: <https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/>.
fn application(report: &SentReport) -> Value {
    let (at, commit) = (rfc3339(report.at), report.content.commit.to_string());
    // A sync fails either while it applies the objects, or later, when the objects do not become healthy.
    let is_degraded = report.status == SentStatus::Failure && !report.message.contains("failed to apply");
    let (phase, message) = match report.status {
        SentStatus::InProgress => ("Running", "waiting for completion of hook"),
        SentStatus::Success => ("Succeeded", "successfully synced (all tasks run)"),
        SentStatus::Failure if is_degraded => ("Succeeded", "successfully synced (all tasks run)"),
        SentStatus::Failure => ("Failed", report.message.as_str()),
    };
    let health = match report.status {
        SentStatus::InProgress => json!({"status": "Progressing", "lastTransitionTime": at}),
        SentStatus::Success => json!({"status": "Healthy", "lastTransitionTime": at}),
        SentStatus::Failure if is_degraded => {
            json!({"status": "Degraded", "message": report.message, "lastTransitionTime": at})
        }
        SentStatus::Failure => json!({"status": "Missing", "lastTransitionTime": at}),
    };
    let mut state = json!({
        "phase": phase, "message": message, "startedAt": at, "operation": {"sync": {"revision": commit}},
    });
    if report.status != SentStatus::InProgress {
        state["finishedAt"] = json!(at);
        state["syncResult"] = json!({"revision": commit});
    }
    let sync = if report.status == SentStatus::Success { "Synced" } else { "OutOfSync" };
    json!({
        "metadata": {"name": report.pull.reconciler, "namespace": "argocd"},
        "spec": {
            "destination": {"server": "https://kubernetes.default.svc"},
            "source": {
                "repoURL": report.pull.repository.as_str(), "targetRevision": report.pull.branch, "path": report.pull.path,
            },
        },
        "status": {
            "sync": {"status": sync, "revision": commit}, "health": health, "operationState": state, "reconciledAt": at,
        },
    })
}
