//! The hub can read the notifications that the template for Argo CD makes of Applications.

use hub::report_formats::argocd;
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;
use serde_json::{Value, json};

const COMMIT: &str = "53e28ff20cc530b9ada2173fbbd64d48338583ba";

/// An Application as Argo CD stores it, with fields that the template must omit.
fn application() -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "guestbook", "namespace": "argocd", "uid": "0e3b0f4d", "resourceVersion": "1042", "generation": 7},
        "spec": {
            "project": "default",
            "source": {
                "repoURL": "https://git.example/acme/gitops.git", "path": "west-large/guestbook", "targetRevision": "prod",
                "helm": {"parameters": [{"name": "password", "value": "hunter2"}]}
            },
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "guestbook"},
            "syncPolicy": {"automated": {"prune": true}}
        },
        "status": {
            "sync": {"status": "Synced", "revision": COMMIT, "comparedTo": {"source": {"repoURL": "https://git.example/acme/gitops.git"}}},
            "health": {"status": "Healthy", "lastTransitionTime": "2026-11-21T13:44:09Z"},
            "operationState": {
                "operation": {"sync": {"revision": COMMIT, "prune": true}, "initiatedBy": {"automated": true}, "retry": {"limit": 5}},
                "phase": "Succeeded", "message": "successfully synced (all \"tasks\" run)",
                "syncResult": {"revision": COMMIT, "resources": [{"kind": "Service", "name": "ui", "message": "unchanged"}]},
                "startedAt": "2026-11-21T13:44:01Z", "finishedAt": "2026-11-21T13:44:05Z"
            },
            "reconciledAt": "2026-11-21T13:44:08Z", "sourceType": "Directory", "history": [], "summary": {"images": ["ui:1"]}
        }
    })
}

fn report(application: &Value) -> Result<Report, String> {
    let body = simulator::argocd::notification(application, "seattle")?;
    assert!(!body.contains("hunter2") && !body.contains("<no value>"), "{body}");
    let batch = argocd::read(body.as_bytes(), Timestamp::MIN).map_err(|error| format!("{error}: {body}"))?;
    let (taken, refused) = batch.into_parts();
    taken.into_iter().next().ok_or_else(|| format!("{refused:?}"))
}

#[test]
fn an_application_that_is_deployed() {
    let report = report(&application()).unwrap();
    assert_eq!((report.host.as_str(), report.reconciler.as_str()), ("seattle", "guestbook"));
    assert_eq!((report.status, report.commit()), (Status::Success, COMMIT));
    assert_eq!(report.endpoint.unwrap().to_string(), "https://git.example/acme/gitops/prod/west-large/guestbook");
    assert_eq!(report.message, "successfully synced (all \"tasks\" run)");
    assert_eq!(report.observed_on.to_string(), "2026-11-21T13:44:09.001Z");
}

#[test]
fn an_application_with_annotations_several_sources_and_an_error() {
    let mut application = application();
    application["metadata"]["annotations"] = json!({"hub.kalypso.io/version": "1.4.2", "other": "x"});
    application["spec"]["sources"] = json!([
        {"repoURL": "https://charts.example", "chart": "redis", "targetRevision": "1.2.3"},
        {"repoURL": "https://git.example/acme/gitops", "path": "a", "targetRevision": "prod"}
    ]);
    application["spec"].as_object_mut().unwrap().remove("source");
    application["status"]["operationState"]["phase"] = json!("Failed");
    application["status"]["conditions"] =
        json!([{"type": "SyncError", "message": "a\nb", "lastTransitionTime": "2026-11-21T13:44:05Z"}]);
    let report = report(&application).unwrap();
    assert_eq!((report.version.as_deref(), report.status), (Some("1.4.2"), Status::Failure));
    assert_eq!(report.endpoint.unwrap().to_string(), "https://git.example/acme/gitops/prod/a");
    assert!(report.message.ends_with("a\nb"));
}

#[test]
fn an_application_of_which_nothing_is_known_yet() {
    let mut application = application();
    application["status"] =
        json!({"health": {"status": "Missing"}, "operationState": {"phase": "Running", "operation": {}}});
    assert_eq!(report(&application).unwrap().status, Status::InProgress);
    application["status"] = json!({});
    let report = report(&application).unwrap();
    assert_eq!((report.status, report.revision.as_str()), (Status::InProgress, ""));
}
