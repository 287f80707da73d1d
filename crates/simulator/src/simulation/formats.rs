//! What simulated hosts say, in the formats in which reconcilers say it.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Format, HostOptions, Message, OF_PLATFORM, Route, Said, Status, otlp};

/// The messages of a host, each with when it is sent. What is said comes with its number, by which it is known later.
pub(super) fn messages(host: &HostOptions, said: &[(usize, &Said)]) -> Vec<(i64, Message)> {
    let all_at_once = matches!(
        host.format,
        Format::Lines | Format::OtlpProtobuf | Format::OtlpJson | Format::OtlpGrpc | Format::File
    );
    let size = if all_at_once { said.len().max(1) } else { 1 };
    let message = |said: &[(usize, &Said)]| {
        let (_, last) = said.last()?;
        let reports: Vec<&Said> = said.iter().map(|(_, said)| *said).collect();
        Some((last.at, message(host, &reports, said.iter().map(|(number, _)| *number).collect())))
    };
    said.chunks(size).filter_map(message).collect()
}

fn message(host: &HostOptions, said: &[&Said], numbers: Vec<usize>) -> Message {
    let http = |path: &str| Route::Http(path.to_owned());
    let json = "application/json";
    let one = |write: fn(&HostOptions, &Said) -> Value| {
        let texts: Vec<_> = said.iter().map(|said| write(host, said).to_string()).collect();
        texts.join("\n").into_bytes()
    };
    let (route, media_type, body) = match host.format {
        Format::Json => (http("/api/v1/reports"), json, one(generic)),
        Format::Lines => (http("/api/v1/reports"), "application/x-ndjson", one(generic)),
        Format::File => (Route::Carried, "application/x-ndjson", one(generic)),
        Format::Flux | Format::FluxSigned => (http("/api/v1/reports/flux"), json, one(flux)),
        Format::ArgoCd => (http("/api/v1/reports/argocd"), json, argo_cd(host, said)),
        Format::OtlpProtobuf => (http("/v1/logs"), "application/x-protobuf", otlp::protobuf(host, said)),
        Format::OtlpJson => (http("/v1/logs"), json, otlp::json(host, said).to_string().into_bytes()),
        Format::OtlpGrpc => (Route::Grpc(otlp::METHOD), "application/grpc", otlp::framed(host, said)),
    };
    let headers = vec![("content-type", media_type.to_owned())];
    let mut message = Message { host: host.name.clone(), route, headers, body, said: numbers };
    authenticate(&mut message, host);
    message
}

/// Shows the token, or signs with it.
fn authenticate(message: &mut Message, host: &HostOptions) {
    let Some(token) = &host.token else { return };
    match (&mut message.route, host.format) {
        (Route::Http(path), Format::FluxSigned) => {
            path.push_str("?token=");
            path.push_str(&token.id);
            message.headers.push(("x-signature", signature(&token.signing_key, &message.body)));
        }
        (Route::Carried, _) => {}
        _ => message.headers.push(("authorization", format!("Bearer {}", token.text))),
    }
}

/// As Flux' notification-controller signs: <https://fluxcd.io/flux/components/notification/providers/#generic-webhook-with-hmac>.
fn signature(key: &str, body: &[u8]) -> String {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    format!("sha256={}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn moment(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap_or_default().to_string()
}

/// docs/how-to/connect-anything-else.md
fn generic(host: &HostOptions, said: &Said) -> Value {
    let mut report = json!({
        "host": host.name, "reconciler": said.pull.reconciler, "type": "script",
        "place": {"repository": said.pull.repository.as_str(), "branch": said.pull.branch, "path": said.pull.path},
        "commit": said.content.commit.to_string(), "status": said.status.as_str(), "message": said.message,
        "observedAt": moment(said.at),
    });
    if let Some(heartbeat) = said.heartbeat {
        report["heartbeatSeconds"] = json!(heartbeat);
    }
    report
}

/// An event: <https://fluxcd.io/flux/components/notification/events/#event-structure>.
fn flux(host: &HostOptions, said: &Said) -> Value {
    let configured = match said.pull.reconciler.strip_suffix(OF_PLATFORM) {
        Some(_) => "ConfigMap/platform-config configured".to_owned(),
        None => format!("Deployment/{} configured", said.pull.reconciler),
    };
    let (severity, reason, message) = match said.status {
        Status::InProgress => ("info", "Progressing", &*configured),
        Status::Success => ("info", "ReconciliationSucceeded", "Reconciliation finished in 1.2s, next run in 1m0s"),
        Status::Failure if said.message.starts_with("health") => ("error", "HealthCheckFailed", &*said.message),
        Status::Failure => ("error", "ReconciliationFailed", &*said.message),
    };
    let heartbeat = said.heartbeat.unwrap_or_default().to_string();
    json!({
        "involvedObject": {
            "kind": "Kustomization", "namespace": "flux-system", "name": said.pull.reconciler,
            "uid": "7d0cdc51-ddcf-4743-b223-83ca5c699632", "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "resourceVersion": "4711",
        },
        "severity": severity, "timestamp": moment(said.at), "message": message, "reason": reason,
        "metadata": {
            "revision": format!("{}@sha1:{}", said.pull.branch, said.content.commit), "cluster": host.name,
            "repository": said.pull.repository.as_str(), "path": format!("./{}", said.pull.path),
            "heartbeatSeconds": heartbeat,
        },
        "reportingController": "kustomize-controller", "reportingInstance": "kustomize-controller-7c7b47f5f-8bhrp",
    })
}

/// What the template in `deploy/argocd` makes of an Application.
#[allow(clippy::expect_used, reason = "the template and the Application are ours, and a test renders them")]
fn argo_cd(host: &HostOptions, said: &[&Said]) -> Vec<u8> {
    let rendered = said.iter().map(|said| {
        crate::argocd::notification(&application(said), &host.name).expect("the template renders an Application")
    });
    rendered.collect::<Vec<_>>().join("\n").into_bytes()
}

/// An Application as Argo CD keeps it: <https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/>.
fn application(said: &Said) -> Value {
    let (at, commit) = (moment(said.at), said.content.commit.to_string());
    // One that failed did so while it was applied, or later, when what was applied did not become healthy.
    let is_degraded = said.status == Status::Failure && !said.message.contains("failed to apply");
    let (phase, message) = match said.status {
        Status::InProgress => ("Running", "waiting for completion of hook"),
        Status::Success => ("Succeeded", "successfully synced (all tasks run)"),
        Status::Failure if is_degraded => ("Succeeded", "successfully synced (all tasks run)"),
        Status::Failure => ("Failed", said.message.as_str()),
    };
    let health = match said.status {
        Status::InProgress => json!({"status": "Progressing", "lastTransitionTime": at}),
        Status::Success => json!({"status": "Healthy", "lastTransitionTime": at}),
        Status::Failure if is_degraded => {
            json!({"status": "Degraded", "message": said.message, "lastTransitionTime": at})
        }
        Status::Failure => json!({"status": "Missing", "lastTransitionTime": at}),
    };
    let mut state = json!({
        "phase": phase, "message": message, "startedAt": at, "operation": {"sync": {"revision": commit}},
    });
    if said.status != Status::InProgress {
        state["finishedAt"] = json!(at);
        state["syncResult"] = json!({"revision": commit});
    }
    let sync = if said.status == Status::Success { "Synced" } else { "OutOfSync" };
    json!({
        "metadata": {"name": said.pull.reconciler, "namespace": "argocd"},
        "spec": {
            "destination": {"server": "https://kubernetes.default.svc"},
            "source": {
                "repoURL": said.pull.repository.as_str(), "targetRevision": said.pull.branch, "path": said.pull.path,
            },
        },
        "status": {
            "sync": {"status": sync, "revision": commit}, "health": health, "operationState": state, "reconciledAt": at,
        },
    })
}
