//! The body of the fuzz target for answers of Azure. It also runs with fixed seeds.

use hub_api::report::Report;
use hub_api::timestamp::Timestamp;
use serde_json::Value;

use crate::orchestration::{self, Target};
use crate::{client, collect, flux};

/// Parses bytes as a row of each kind. The parsers must not panic. Each report must be about the resource of the row, and must be valid or be refused with a
/// reason.
pub fn fuzz(input: &[u8]) {
    let _ = client::message(input);
    let Ok(row) = serde_json::from_slice::<Value>(input) else { return };
    let now = Timestamp::from_millis(1_800_000_000_000);
    let _ = collect::cluster(row.clone());
    let _ = Target::read(row.clone());
    let mut reports = Vec::new();
    if let Ok(Some(instance)) = orchestration::read(row.clone(), now) {
        reports.push(instance.report);
    }
    if let Ok(found) = flux::read(row, now) {
        assert!(found.problems.iter().all(|problem| problem.subject == found.id && !problem.message.is_empty()));
        reports.extend(found.reports);
    }
    for report in reports {
        assert!(report.observed_on <= now);
        let named = Report { host: "host".to_owned(), ..report };
        if let Ok(report) = named.check(now) {
            assert_eq!(report.clone().check(now).as_ref(), Ok(&report));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fuzz;

    /// JSON that is similar to the answers of Azure.
    fn json() -> impl Strategy<Value = String> {
        let id = "/subscriptions/S/resourceGroups/G/providers/Microsoft.Kubernetes/connectedClusters/c/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/f";
        let words = "[{}\\[\\]:,\" ]|true|null|-1|\"(statuses|name|kind|Kustomization|HelmRelease|message|complianceState|kustomizations|path|url|statusConditions|gitRepository|repositoryRef|branch|Applied revision: main@sha1:4444444444444444444444444444444444444444)\"";
        let body = proptest::collection::vec(words, 0..30).prop_map(|words| words.concat());
        body.prop_map(move |body| format!(r#"{{"id": "{id}", "properties": {{{body}}}}}"#))
    }

    proptest! {
        #[test]
        fn any_bytes(input in proptest::collection::vec(any::<u8>(), 0..200)) {
            fuzz(&input);
        }

        #[test]
        fn anything_like_json(json in json()) {
            fuzz(json.as_bytes());
        }
    }
}
