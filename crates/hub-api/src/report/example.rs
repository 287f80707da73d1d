//! An example, for tests.

use std::collections::BTreeMap;

use super::{Report, Status};
use crate::endpoint::Endpoint;
use crate::timestamp::Timestamp;

/// A report that is valid.
pub fn report() -> Report {
    Report {
        host: "chicago-edge-04".into(),
        reconciler: "checkout-eu".into(),
        kind: "flux".into(),
        endpoint: Endpoint::new("https://git.example/acme/gitops", "prod", "chicago-edge/checkout-eu").ok(),
        revision: format!("prod@sha1:{}", "4".repeat(40)),
        tree: None,
        version: None,
        workload: None,
        status: Status::Success,
        is_waiting: false,
        message: "applied".into(),
        observed_on: Timestamp::from_millis(1_000),
        heartbeat: None,
        labels: BTreeMap::new(),
    }
}
