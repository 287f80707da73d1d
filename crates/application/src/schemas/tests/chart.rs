//! Manifests as large charts render them fit their schemas.

use super::*;

/// All usual kinds, with the fields that charts use.
const MANIFESTS: &str = include_str!("chart.yaml");

#[test]
fn manifests_of_a_realistic_chart_fit() {
    let validation = Setup::default().validate(MANIFESTS);
    assert_eq!(problems(MANIFESTS), [""; 0]);
    assert_eq!(validation.unknown, BTreeMap::new());
    let kinds = manifests::parse(MANIFESTS.as_bytes(), FileId::default()).objects;
    assert!(kinds.len() >= 25, "{}", kinds.len());
}

#[test]
fn a_mistake_in_any_of_them_is_found() {
    for (from, to, expected) in [
        (
            "startingDeadlineSeconds: 60",
            "startingDeadlineSecond: 60",
            "is no field of CronJob shop-report; did you mean `startingDeadlineSeconds`?",
        ),
        (
            "averageUtilization: 80",
            "averageUtilization: 80%",
            "`spec.metrics[0].resource.target.averageUtilization` of HorizontalPodAutoscaler shop is a text, and must be an integer",
        ),
        (
            "path: /metrics",
            "path: 3",
            "`spec.endpoints[0].path` of ServiceMonitor shop is a number, and must be a text",
        ),
        (
            "interval: 30s",
            "interval: 30 s",
            "`spec.endpoints[0].interval` of ServiceMonitor shop does not match the pattern",
        ),
        (
            "storage: 10Gi",
            "storage: [10]",
            "`spec.volumeClaimTemplates[0].spec.resources.requests.storage` of StatefulSet shop-db is a list, and must be a text or a number",
        ),
        ("pathType: Prefix", "pathTyp: Prefix", "`spec.rules[0].http.paths[0].pathType` is missing in Ingress shop"),
        (
            "policyTypes: [Ingress, Egress]",
            "policyTypes: Ingress",
            "`spec.policyTypes` of NetworkPolicy shop is a text, and must be a list",
        ),
    ] {
        assert!(MANIFESTS.contains(from), "{from}");
        let found = problems(&MANIFESTS.replacen(from, to, 1));
        assert!(found.iter().any(|text| text.contains(expected)), "{to}: {found:?}");
    }
}
