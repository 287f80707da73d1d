//! Tests of Flux configurations.

use serde_json::json;

use super::*;

const ID: &str = "/subscriptions/S1/resourceGroups/Plants/providers/Microsoft.Kubernetes/connectedClusters/Chicago-Edge-04/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/platform";
const COMMIT: &str = "4444444444444444444444444444444444444444";
const EARLIER: &str = "3333333333333333333333333333333333333333";

/// A configuration with two Kustomizations and the objects that they created. It has every field of the API contract that the tests need.
fn properties() -> Value {
    let applied = format!("Applied revision: prod@sha1:{EARLIER}");
    json!({
        "scope": "cluster", "namespace": "flux-system", "sourceKind": "GitRepository", "suspend": false,
        "gitRepository": {
            "url": "https://git.example/acme/gitops", "timeoutInSeconds": 600, "syncIntervalInSeconds": 600,
            "repositoryRef": {"branch": "prod", "tag": null, "semver": null, "commit": null},
        },
        "kustomizations": {
            "edge": {"name": "edge", "path": "./chicago-edge", "dependsOn": [], "wait": true},
            "infra": {"name": "infra", "path": "./infra", "dependsOn": ["edge"], "prune": false},
        },
        "statuses": [
            object("GitRepository", "platform", "Compliant", &format!("stored artifact for revision 'prod@sha1:{COMMIT}'")),
            object("Kustomization", "platform-edge", "Compliant", &applied),
            object("Kustomization", "platform-infra", "Non-Compliant", "kustomize build failed: no such file"),
            object("Kustomization", "prod.acme.shop.checkout.eu.edge", "Compliant", &format!("Applied revision: sha1:{EARLIER}")),
            object("HelmRelease", "prometheus", "Compliant", "Helm install succeeded for release m/prometheus.v1 with chart prometheus@25.8.0"),
        ],
        "sourceSyncedCommitId": format!("prod@sha1:{COMMIT}"),
        "sourceUpdatedAt": "2026-11-21T13:40:00Z", "statusUpdatedAt": "2026-11-21T13:44:01.5+00:00",
        "complianceState": "Non-Compliant", "provisioningState": "Succeeded", "errorMessage": "",
        "repositoryPublicKey": "ssh-rsa AAAA", "configurationProtectedSettings": {},
    })
}

fn object(kind: &str, name: &str, state: &str, message: &str) -> Value {
    json!({
        "name": name, "namespace": "flux-system", "kind": kind, "complianceState": state, "appliedBy": null,
        "helmReleaseProperties": null,
        "statusConditions": [
            {"lastTransitionTime": "2026-11-21T13:00:00Z", "message": "working", "reason": "x", "status": "True", "type": "Reconciling"},
            {"lastTransitionTime": "2026-11-21T13:00:00Z", "message": message, "reason": "y", "status": "True", "type": "Ready"},
        ],
    })
}

fn now() -> Timestamp {
    "2026-11-21T13:45:00Z".parse().unwrap()
}

/// The result of reading the changed configuration: `reconciler kind status endpoint commit version` of each report, and the problems.
fn check(change: impl FnOnce(&mut Value)) -> (Vec<String>, Vec<String>) {
    let mut properties = properties();
    change(&mut properties);
    let found = read(json!({"id": ID, "name": "platform", "properties": properties}), now()).unwrap();
    let line = |report: &Report| {
        let endpoint = report.endpoint.as_ref().map_or("-".to_owned(), ToString::to_string);
        let commit = report.commit().get(..2).unwrap_or("-");
        let version = report.version.as_deref().unwrap_or("-");
        format!("{} {} {} {endpoint} {commit} {version}", report.reconciler, report.kind, report.status)
    };
    (found.reports.iter().map(line).collect(), found.problems.into_iter().map(|problem| problem.message).collect())
}

#[test]
fn kustomizations_and_their_objects_are_reconcilers() {
    let (reports, problems) = check(|_| ());
    assert_eq!(
        reports,
        [
            "platform-edge arc success https://git.example/acme/gitops/prod/chicago-edge 33 -",
            "platform-infra arc failure https://git.example/acme/gitops/prod/infra 44 -",
            "prod.acme.shop.checkout.eu.edge flux success - 33 -",
            "HelmRelease/prometheus flux success - - 25.8.0",
        ]
    );
    assert_eq!(problems, [""; 0]);
}

#[test]
fn host_and_time_are_those_of_the_configuration() {
    let found = read(json!({"id": ID, "properties": properties()}), now()).unwrap();
    assert_eq!(found.host.qualified, "chicago-edge-04.plants.s1");
    assert_eq!(found.reports.first().unwrap().observed_on.to_string(), "2026-11-21T13:44:01.500Z");
    assert_eq!(found.reports.get(1).unwrap().message, "kustomize build failed: no such file");
    assert!(!found.lacks_statuses);
}

#[test]
fn without_statuses_parts_have_the_overall_state() {
    let (reports, problems) = check(|properties| properties["statuses"] = Value::Null);
    assert_eq!(
        reports,
        [
            "platform-edge arc failure https://git.example/acme/gitops/prod/chicago-edge 44 -",
            "platform-infra arc failure https://git.example/acme/gitops/prod/infra 44 -",
        ]
    );
    assert_eq!(problems, [""; 0]);
}

#[test]
fn sources_of_every_kind_are_places() {
    let place = |kind: &str, field: &str, source: Value| {
        let (reports, _) = check(|properties| {
            properties["gitRepository"] = Value::Null;
            properties["sourceKind"] = kind.into();
            properties[field] = source;
        });
        reports.first().unwrap().split(' ').nth(3).unwrap().to_owned()
    };
    let git = |reference: Value| {
        place("GitRepository", "gitRepository", json!({"url": "https://g/r.git", "repositoryRef": reference}))
    };
    assert_eq!(git(Value::Null), "https://g/r/master/chicago-edge");
    assert_eq!(git(json!({"branch": "prod", "commit": COMMIT})), "https://g/r/prod/chicago-edge");
    assert_eq!(git(json!({"branch": "prod", "tag": "v1"})), "https://g/r/v1/chicago-edge");
    assert_eq!(git(json!({"tag": "v1", "semver": "1.x"})), "https://g/r/1.x/chicago-edge");
    let bucket = place("Bucket", "bucket", json!({"url": "https://minio.example", "bucketName": "flux"}));
    assert_eq!(bucket, "https://minio.example/flux/chicago-edge");
    let blob = place("AzureBlob", "azureBlob", json!({"url": "https://a.blob.core.windows.net", "containerName": "c"}));
    assert_eq!(blob, "https://a.blob.core.windows.net/c/chicago-edge");
    let oci =
        place("OCIRepository", "ociRepository", json!({"url": "oci://r.example/m", "repositoryRef": {"tag": "1.2"}}));
    assert_eq!(oci, "oci://r.example/m/1.2/chicago-edge");
    assert_eq!(
        place("OCIRepository", "ociRepository", json!({"url": "oci://r.example/m"})),
        "oci://r.example/m/latest/chicago-edge"
    );
}

#[test]
fn states_are_read_in_each_spelling() {
    for (state, status) in [
        ("Compliant", Status::Success),
        ("Succeeded", Status::Success),
        ("Non-Compliant", Status::Failure),
        ("Noncompliant", Status::Failure),
        ("Failed", Status::Failure),
        ("Pending", Status::InProgress),
        ("Suspended", Status::InProgress),
        ("", Status::InProgress),
    ] {
        assert_eq!(status_of(state), status, "{state}");
    }
}

#[test]
fn suspended_configuration_is_reported_as_suspended() {
    let suspended = |properties: &mut Value| {
        properties["suspend"] = true.into();
        properties["complianceState"] = "Suspended".into();
        properties["statuses"] = json!([]);
    };
    let (reports, _) = check(suspended);
    assert!(reports.iter().all(|report| report.contains(" in_progress ")), "{reports:?}");
    let mut properties = properties();
    suspended(&mut properties);
    let found = read(json!({"id": ID, "properties": properties}), now()).unwrap();
    assert_eq!(
        found.reports.first().unwrap().message,
        "The configuration is suspended: changes in its source are not applied."
    );
}

#[test]
fn equal_names_in_two_namespaces_are_distinguished() {
    let (reports, _) = check(|properties| {
        let mut other = object("Kustomization", "platform-edge", "Compliant", "");
        other["namespace"] = "apps".into();
        properties["statuses"] = json!([other]);
    });
    assert!(reports.iter().any(|report| report.starts_with("apps/platform-edge flux success")), "{reports:?}");
    assert!(reports.iter().any(|report| report.starts_with("platform-edge arc failure")), "{reports:?}");
}

#[test]
fn commits_are_found_in_every_form() {
    for form in ["prod@sha1:C", "sha1:C", "master/C", "'master/C'", "refs/tags/v1@sha1:C,", "(C)."] {
        let (reports, _) = check(|properties| {
            let message = format!("Applied revision: {}", form.replace('C', EARLIER));
            properties["statuses"] = json!([object("Kustomization", "platform-edge", "Compliant", &message)]);
        });
        assert!(reports.first().unwrap().ends_with(" 33 -"), "{form}: {reports:?}");
    }
    let (reports, _) = check(|properties| {
        properties["statuses"] = json!([object("Kustomization", "a.b.c", "Compliant", "sha1:short")]);
    });
    assert!(reports.iter().any(|report| report == "a.b.c flux success - - -"), "{reports:?}");
}

#[test]
fn invalid_parts_do_not_affect_the_others() {
    let (reports, problems) = check(|properties| {
        properties["kustomizations"]["edge"] = json!({"path": "../../etc"});
        properties["kustomizations"]["infra"] = json!(3);
        properties["statuses"][0] = json!({"name": 3});
        properties["statuses"][3] = Value::Null;
        properties["statusUpdatedAt"] = "soon".into();
    });
    assert_eq!(reports.len(), 3, "{reports:?}");
    assert_eq!(problems.len(), 4, "{problems:?}");
    for field in [
        "properties.statusUpdatedAt: `soon`",
        "properties.statuses[0]: ",
        "properties.kustomizations.edge: the path",
        "properties.kustomizations.infra: ",
    ] {
        assert!(problems.iter().any(|problem| problem.starts_with(field)), "{field}: {problems:?}");
    }
}

#[test]
fn invalid_configurations_are_refused_with_their_id() {
    let refused = |id: &str, properties: Value| read(json!({"id": id, "properties": properties}), now()).unwrap_err();
    assert_eq!(
        refused("/subscriptions/S1", json!({})),
        PollProblem::new("/subscriptions/S1", "id: is not that of a Flux configuration")
    );
    let wrong = refused(ID, json!({"namespace": 3}));
    assert_eq!(wrong.subject, ID);
    assert!(wrong.message.starts_with("properties: invalid type"), "{}", wrong.message);
}
