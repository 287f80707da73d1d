//! Tests of Argo CD notifications.

use serde_json::{Value, json};

use super::*;

const NOW: Timestamp = Timestamp::MIN;
const OLD: &str = "1111111111111111111111111111111111111111";
const NEW: &str = "2222222222222222222222222222222222222222";

/// An Application whose last operation applied `NEW`.
fn application() -> Value {
    serde_json::from_str(include_str!("../../../tests/payloads/argocd-deployed.json")).unwrap()
}

/// The report of an Application in which the values at these paths are replaced.
fn report(changes: &[(&str, Value)]) -> Report {
    let (mut taken, refused) = read_with(changes).into_parts();
    assert_eq!(refused, []);
    taken.remove(0).check(Timestamp::MAX).unwrap()
}

fn read_with(changes: &[(&str, Value)]) -> Batch {
    let mut application = application();
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        application.pointer_mut(parent).unwrap()[name] = value.clone();
    }
    read(application.to_string().as_bytes(), NOW).unwrap()
}

/// The status and the commit of such a report.
fn check(changes: &[(&str, Value)]) -> (Status, String) {
    let report = report(changes);
    (report.status, report.commit().to_owned())
}

#[test]
fn an_application_becomes_a_report() {
    let report = report(&[]);
    assert_eq!((report.host.as_str(), report.reconciler.as_str()), ("chicago-edge-04", "checkout-eu"));
    assert_eq!((report.kind.as_str(), report.status, report.commit()), ("argocd", Status::Success, NEW));
    assert_eq!(report.endpoint.unwrap().to_string(), "https://git.example/acme/gitops/prod/chicago-edge/checkout-eu");
    assert_eq!(report.observed_on.to_string(), "2026-11-21T13:44:09.001Z");
    assert_eq!(
        (report.version.as_deref(), report.message.as_str()),
        (Some("1.4.2"), "successfully synced (all tasks run)")
    );
}

#[test]
fn phases_and_health_become_statuses() {
    let health = |status: &str| check(&[("/status/health/status", json!(status))]).0;
    assert_eq!([health("Progressing"), health("Missing"), health("Suspended")], [Status::InProgress; 3]);
    assert_eq!([health("Degraded"), health("Healthy")], [Status::Failure, Status::Success]);
    let phase = |phase: &str| check(&[("/status/operationState/phase", json!(phase))]).0;
    assert_eq!([phase("Running"), phase("Terminating")], [Status::InProgress; 2]);
    assert_eq!([phase("Failed"), phase("Error")], [Status::Failure; 2]);
    assert_eq!(check(&[("/status/sync/status", json!("Unknown"))]).0, Status::Failure);
    assert_eq!(check(&[("/status/operationState", Value::Null)]).0, Status::Success);
    assert_eq!(check(&[("/status", json!({}))]), (Status::InProgress, String::new()));
}

#[test]
fn time_is_the_latest_one_for_every_status() {
    let at = |health: &str| report(&[("/status/health", json!({"status": health}))]).observed_on;
    assert_eq!([at("Healthy"), at("Degraded")], [at("Progressing"); 2]);
}

#[test]
fn revision_is_the_applied_one_and_not_the_compared_one() {
    let old = ("/status/operationState/syncResult/revision", json!(OLD));
    assert_eq!(check(&[old.clone(), ("/status/sync/status", json!("OutOfSync"))]), (Status::Success, OLD.into()));
    assert_eq!(check(&[old, ("/status/operationState/phase", json!("Running"))]), (Status::InProgress, NEW.into()));
}

#[test]
fn failures_include_the_reason() {
    let failed = report(&[
        ("/status/operationState/phase", json!("Failed")),
        ("/status/operationState/message", json!("one or more objects failed to apply")),
        (
            "/status/conditions",
            json!([
                {"type": "SyncError", "message": "Deployment \"a\" is invalid"},
                {"type": "OrphanedResourceWarning", "message": "3 orphans"}
            ]),
        ),
    ]);
    assert_eq!(failed.message, "one or more objects failed to apply\nDeployment \"a\" is invalid");
    let degraded = report(&[
        ("/status/health/status", json!("Degraded")),
        ("/status/health/message", json!("0/3 pods are ready")),
    ]);
    assert_eq!(degraded.message, "0/3 pods are ready");
}

#[test]
fn host_is_the_name_of_the_destination_cluster() {
    let host = |destination: Value, cluster: &str| {
        report(&[
            ("/spec/destination", destination),
            ("/cluster", json!(cluster)),
            ("/metadata/namespace", json!("argocd")),
        ])
        .host
    };
    let own = json!({"server": "https://kubernetes.default.svc"});
    assert_eq!(host(own, "seattle"), "seattle");
    assert_eq!(host(json!({"name": "in-cluster"}), "seattle"), "seattle");
    assert_eq!(host(json!({"server": "https://10.1.2.3:6443"}), "seattle"), "10.1.2.3");
    assert_eq!(host(json!({"name": "line-7"}), "seattle"), "line-7");
}

#[test]
fn source_with_a_folder_is_chosen_from_several() {
    let sources = json!([
        {"repoURL": "https://charts.example", "chart": "redis", "targetRevision": "1.2.3"},
        {"repoURL": "https://git.example/acme/values", "targetRevision": "main", "ref": "values"},
        {"repoURL": "https://git.example/acme/gitops", "targetRevision": "refs/heads/prod", "path": "a/b"}
    ]);
    let report = report(&[
        ("/spec/sources", sources),
        ("/status/operationState/syncResult/revisions", json!(["1.2.3", OLD, NEW])),
        ("/status/operationState/syncResult/revision", Value::Null),
    ]);
    assert_eq!(report.endpoint.as_ref().unwrap().to_string(), "https://git.example/acme/gitops/prod/a/b");
    assert_eq!(report.commit(), NEW);
}

#[test]
fn head_and_commits_are_not_branches() {
    for target in ["", "HEAD", NEW] {
        assert_eq!(report(&[("/spec/source/targetRevision", json!(target))]).endpoint, None, "{target}");
    }
}

#[test]
fn names_do_not_collide_and_may_be_set() {
    assert_eq!(report(&[("/metadata/namespace", json!("team-a"))]).reconciler, "team-a/checkout-eu");
    let annotations =
        json!({"hub.kalypso.io/reconciler": "line-7", "hub.kalypso.io/host": "plant", "hub.kalypso.io/version": null});
    let named = report(&[("/metadata/annotations", annotations)]);
    assert_eq!((named.reconciler.as_str(), named.host.as_str(), named.version), ("line-7", "plant", None));
}

#[test]
fn invalid_fields_are_reported_with_their_path() {
    let check = |changes: &[(&str, Value)]| {
        read_with(changes).into_parts().1.into_iter().map(|refused| refused.error.to_string()).collect::<String>()
    };
    assert_eq!(check(&[("/metadata/name", json!(""))]), "metadata.name: is missing");
    assert_eq!(check(&[("/spec/source/path", json!("../a"))]), "spec.source: the path `../a` leaves its repository");
    assert!(check(&[("/status/reconciledAt", json!("soon"))]).starts_with("status.reconciledAt: `soon` is no time"));
    let huge = check(&[("/cluster", json!("x".repeat(REPORT_BYTES_MAX)))]);
    assert!(huge.starts_with("report: has 6"), "{huge}");
    assert_eq!(read(b"", NOW), Err(BodyError::Empty));
    assert!(matches!(read(b"<no value>", NOW), Err(BodyError::Syntax { .. })));
}
