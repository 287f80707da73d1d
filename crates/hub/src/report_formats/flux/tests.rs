//! Tests of Flux events.

use super::*;

const NOW: Timestamp = Timestamp::MIN;

/// The event of kustomize-controller at the end of each reconciliation.
const SUCCEEDED: &str = include_str!("../../../tests/payloads/flux-reconciliation-succeeded.json");

/// The example of Flux's documentation, with a group before the keys of the metadata.
const FAILED: &str = include_str!("../../../tests/payloads/flux-validation-failed.json");

/// The event of kustomize-controller that lists the changes, in the same second as the final event.
const PROGRESSING: &str = include_str!("../../../tests/payloads/flux-progressing.json");

/// The event of helm-controller for a failed upgrade.
const UPGRADE_FAILED: &str = include_str!("../../../tests/payloads/flux-upgrade-failed.json");

/// The event of source-controller for a new artifact.
const NEW_ARTIFACT: &str = include_str!("../../../tests/payloads/flux-new-artifact.json");

fn report(body: &str) -> Report {
    let (mut taken, refused) = read(body.as_bytes(), NOW).unwrap().into_parts();
    assert_eq!(refused, []);
    taken.remove(0)
}

/// The error for an event with this metadata.
fn check_metadata(metadata: &str) -> String {
    let body = format!(r#"{{"involvedObject": {{"kind": "Kustomization", "name": "a"}}, "metadata": {metadata}}}"#);
    let (_, refused) = read(body.as_bytes(), NOW).unwrap().into_parts();
    refused.into_iter().map(|refused| refused.error.to_string()).collect()
}

/// The reconciler and the status of an event.
fn check(kind: &str, name: &str, reason: &str) -> String {
    let (namespace, name) = name.rsplit_once('/').unwrap_or(("flux-system", name));
    let (severity, reason) = reason.split_once(' ').unwrap_or(("info", reason));
    let report = report(&format!(
        r#"{{"involvedObject": {{"kind": "{kind}", "namespace": "{namespace}", "name": "{name}"}}, "reason": "{reason}", "severity": "{severity}"}}"#
    ));
    format!("{} {}", report.reconciler, said(&report))
}

/// The status of a report, and whether its reconciler only waits.
fn said(report: &Report) -> String {
    format!("{}{}", report.status, if report.is_waiting { ", waiting" } else { "" })
}

/// The status of an event of controllers that send the severity as the reason.
fn check_message(severity: &str, message: &str) -> String {
    let event = r#"{"involvedObject": {"kind": "HelmRelease", "name": "a"}, "reason": "SEVERITY", "severity": "SEVERITY", "message": "MESSAGE"}"#;
    said(&report(&event.replace("SEVERITY", severity).replace("MESSAGE", message)))
}

#[test]
fn an_event_becomes_a_report() {
    let report = report(SUCCEEDED).check(Timestamp::MAX).unwrap();
    assert_eq!((report.host.as_str(), report.reconciler.as_str()), ("chicago-edge-04", "checkout-eu"));
    assert_eq!((report.kind.as_str(), report.status, report.commit()), ("flux", Status::Success, &*"4".repeat(40)));
    assert_eq!(report.endpoint.unwrap().to_string(), "https://git.example/acme/gitops/prod/chicago-edge/checkout-eu");
    assert_eq!(report.observed_on.to_string(), "2026-11-21T13:44:01.001Z");
    assert_eq!(report.heartbeat, Some(Duration::from_mins(20)));
}

#[test]
fn the_documented_example_with_prefixed_metadata() {
    let report = report(FAILED);
    assert_eq!((report.reconciler.as_str(), report.status), ("apps/webapp", Status::Failure));
    assert_eq!(report.commit(), "731f7eaddfb6af01cb2173e18f0f75b0ba780ef1");
    assert_eq!((report.host.as_str(), report.endpoint.as_ref()), ("", None));
    assert!(report.message.contains("Unsupported value: Ingress"));
}

#[test]
fn events_of_one_second_have_one_time() {
    let (progressing, succeeded) = (report(PROGRESSING), report(SUCCEEDED));
    assert_eq!((progressing.status, progressing.endpoint.clone()), (Status::InProgress, succeeded.endpoint));
    assert_eq!(progressing.observed_on, succeeded.observed_on);
    assert!(progressing.message.contains("Deployment/checkout/checkout configured"));
}

#[test]
fn releases_and_sources_report_too() {
    let release = report(UPGRADE_FAILED).check(Timestamp::MAX).unwrap();
    assert_eq!((release.reconciler.as_str(), release.status), ("HelmRelease/podinfo/podinfo", Status::Failure));
    assert_eq!((release.revision.as_str(), release.endpoint), ("6.7.2", None));
    let source = report(NEW_ARTIFACT).check(Timestamp::MAX).unwrap();
    assert_eq!((source.reconciler.as_str(), source.status), ("GitRepository/flux-system", Status::Success));
    assert_eq!((source.commit(), source.endpoint.is_none()), (&*"4".repeat(40), true));
}

#[test]
fn repeated_events_have_the_same_digest() {
    let later = SUCCEEDED.replace("211.4ms", "198.7ms").replace("13:44", "13:54");
    assert_eq!(report(SUCCEEDED).digest(), report(&later).digest());
}

#[test]
fn reasons_become_statuses() {
    for reason in ["ReconciliationSucceeded", "InstallSucceeded", "UpgradeSucceeded", "TestSucceeded", "DriftCorrected"]
    {
        assert_eq!(check("Kustomization", "a", reason), "a success");
    }
    for reason in ["Progressing", "ProgressingWithRetry"] {
        assert_eq!(check("Kustomization", "a", reason), "a in_progress");
    }
    for reason in ["DependencyNotReady", "HealthCheckCanceled", "error HealthCheckCanceled", "info", "SomethingNew"] {
        assert_eq!(check("Kustomization", "a", reason), "a in_progress, waiting");
    }
    let reasons = [
        "Progressing",
        "ProgressingWithRetry",
        "ReconciliationFailed",
        "HealthCheckFailed",
        "ArtifactFailed",
        "BuildFailed",
        "PruneFailed",
        "SomethingNew",
    ];
    for reason in reasons {
        assert_eq!(check("Kustomization", "a", &format!("error {reason}")), "a failure");
    }
    for reason in ["error UpgradeFailed", "error TestFailed", "RollbackSucceeded", "DriftDetected"] {
        assert_eq!(check("HelmRelease", "a", reason), "HelmRelease/a failure");
    }
    assert_eq!(check("GitRepository", "flux-system", "NewArtifact"), "GitRepository/flux-system success");
    assert_eq!(check("OCIRepository", "apps/a", "error OCIArtifactPullFailed"), "OCIRepository/apps/a failure");
}

#[test]
fn messages_become_statuses_where_the_reason_is_the_severity() {
    for message in ["Helm install succeeded", "Helm upgrade succeeded", "Helm test succeeded"] {
        assert_eq!(check_message("info", message), "success", "{message}");
    }
    for message in ["Helm install has started", "Helm upgrade has started"] {
        assert_eq!(check_message("info", message), "in_progress", "{message}");
    }
    let waiting = [
        "dependencies do not meet ready condition (dependency 'a/b' is not ready), retrying in 30s",
        "HelmChart 'flux-system/a' is not ready",
        "no diff in cluster resources compared to release:\\n\\nDeployment/a/b unchanged",
    ];
    for message in waiting {
        assert_eq!(check_message("info", message), "in_progress, waiting", "{message}");
    }
    let failed =
        ["Helm rollback succeeded", "Helm uninstall succeeded", "diff in cluster resources compared to release:"];
    for message in failed {
        assert_eq!(check_message("info", message), "failure", "{message}");
    }
    for message in [
        "Helm upgrade failed: timed out",
        "Helm test failed: pod a failed",
        "reconciliation failed: upgrade retries exhausted",
    ] {
        assert_eq!(check_message("error", message), "failure", "{message}");
    }
    let first = |duration: &str| {
        let event = r#"{"involvedObject": {"kind": "Kustomization", "name": "a"}, "reason": "info", "severity": "info",
            "message": "Reconciliation finished in DURATION, next run in 10m0s", "metadata": {"revision": "main/1"}}"#;
        report(&event.replace("DURATION", duration))
    };
    assert_eq!((said(&first("1s")), first("1s").digest()), ("success".to_owned(), first("2s").digest()));
}

#[test]
fn only_kinds_that_report_each_interval_promise_a_next_report() {
    let of = |kind: &str| report(&SUCCEEDED.replace("\"Kustomization\"", &format!("\"{kind}\""))).heartbeat;
    assert_eq!(of("Kustomization"), Some(Duration::from_mins(20)));
    assert_eq!([of("HelmRelease"), of("GitRepository"), of("OCIRepository")], [None; 3]);
}

#[test]
fn names_do_not_collide_and_targets_keep_theirs() {
    assert_eq!(check("Kustomization", "team-a/apps", "Progressing"), "team-a/apps in_progress");
    let dotted = "dev.kaizen.greeting.hello.functional-test.drone";
    assert_eq!(check("Kustomization", &format!("hello/{dotted}"), "Progressing"), format!("{dotted} in_progress"));
    let named = SUCCEEDED.replace(r#""summary": "line 7""#, r#""event.toolkit.fluxcd.io/reconciler": "line-7""#);
    assert_eq!(report(&named).reconciler, "line-7");
}

#[test]
fn revisions_of_artifacts_lead_back_to_git() {
    let of = |revision: &str| {
        report(&SUCCEEDED.replace(r#""revision": "prod@sha1:4444444444444444444444444444444444444444""#, revision))
            .revision
    };
    let artifact = r#""revision": "6.7.2@sha256:a", "originRevision": "refs/tags/v1@sha1:b", "branch": "prod""#;
    assert_eq!(of(artifact), "refs/tags/v1@sha1:b");
    assert_eq!(of(r#""revision": "6.7.2", "branch": "prod""#), "6.7.2");
}

#[test]
fn events_not_about_reconcilers_are_ignored() {
    let policy = SUCCEEDED.replace("\"Kustomization\"", "\"ImagePolicy\"");
    let trace = SUCCEEDED.replace("\"info\"", "\"trace\"");
    for body in [policy.as_str(), trace.as_str(), "{}"] {
        let batch = read(body.as_bytes(), NOW).unwrap();
        assert_eq!((batch.ignored(), batch.into_parts()), (1, (Vec::new(), Vec::new())));
    }
}

#[test]
fn invalid_fields_are_reported_with_their_path() {
    let metadata = r#"{"repository": "https://git.example/a", "path": "./b", "revision": "6.7.2"}"#;
    assert_eq!(check_metadata(metadata), "metadata: place: the branch is missing");
    let seconds = check_metadata(r#"{"heartbeatSeconds": "10m"}"#);
    assert_eq!(seconds, "metadata.heartbeatSeconds: `10m` is no whole number of seconds");
    assert!(matches!(read(b"[]", NOW), Err(BodyError::Syntax { .. })));
    assert_eq!(read(b" ", NOW), Err(BodyError::Empty));
    assert!(read("[".repeat(60_000).as_bytes(), NOW).is_err());
    let (_, refused) = read("[".repeat(REPORT_BYTES_MAX + 1).as_bytes(), NOW).unwrap().into_parts();
    assert_eq!(refused[0].error.to_string(), "report: has 65537 bytes; at most 65536 are possible");
}
