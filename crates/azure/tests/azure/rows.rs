//! Rows of Resource Graph, as Azure gives them.

use serde_json::{Value, json};

pub(crate) const COMMIT: &str = "4444444444444444444444444444444444444444";

pub(crate) fn cluster_id(subscription: &str, group: &str, name: &str) -> String {
    format!(
        "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Kubernetes/connectedClusters/{name}"
    )
}

/// An Arc cluster, as the query asks for it.
pub(crate) fn cluster(id: &str, status: &str, last: &str) -> Value {
    json!({"id": id, "properties": {"connectivityStatus": status, "lastConnectivityTime": last, "power": null}})
}

/// A configuration `platform` with one Kustomization `edge`, whose status Azure heard of at 13:44.
pub(crate) fn configuration(cluster: &str, state: &str) -> Value {
    let object = json!({
        "name": "platform-edge", "namespace": "flux-system", "kind": "Kustomization", "complianceState": state,
        "appliedBy": null, "helmReleaseProperties": null,
        "statusConditions": [{
            "type": "Ready", "status": "True", "reason": "ReconciliationSucceeded",
            "lastTransitionTime": "2026-11-21T13:44:00Z", "message": format!("Applied revision: prod@sha1:{COMMIT}"),
        }],
    });
    json!({
        "id": format!("{cluster}/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/platform"), "name": "platform",
        "properties": {
            "namespace": "flux-system", "sourceKind": "GitRepository", "suspend": false,
            "gitRepository": {"url": "https://git.example/acme/gitops", "repositoryRef": {"branch": "prod"}},
            "kustomizations": {"edge": {"name": "edge", "path": "./chicago-edge"}},
            "statuses": [object], "sourceSyncedCommitId": format!("prod@sha1:{COMMIT}"), "complianceState": state,
            "statusUpdatedAt": "2026-11-21T13:44:00Z", "provisioningState": "Succeeded", "errorMessage": "",
        },
    })
}

pub(crate) const TARGET: &str = "/subscriptions/s1/resourceGroups/g/providers/Microsoft.Edge/targets/line-7";

/// A target at custom location `Chicago`, as the query asks for it.
pub(crate) fn target() -> Value {
    let location = "/subscriptions/s1/resourceGroups/g/providers/Microsoft.ExtendedLocation/customLocations/Chicago";
    json!({"id": TARGET, "properties": {"extendedLocation": location}})
}

/// An instance of solution `hello`.
pub(crate) fn instance() -> Value {
    json!({
        "id": format!("{TARGET}/solutions/hello/instances/hello"), "name": "hello",
        "properties": {
            "solutionVersionId": format!("{TARGET}/solutions/hello/versions/hello-1.2.3.1"), "targetId": TARGET,
            "activeState": "active", "deploymentTimestampEpoch": 30, "provisioningState": "Succeeded",
            "status": {"lastModified": "2026-11-21T13:40:00Z", "deployed": 1, "status": "Succeeded", "statusDetails": "",
                       "targetStatuses": [{"name": "line-7", "status": "OK", "componentStatuses": []}]},
        },
    })
}
