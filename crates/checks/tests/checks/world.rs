//! Checks with one configured check, and the gates that use it.

use std::sync::Arc;
use std::time::Duration;

use checks::{CheckKind, CheckSettings, CheckSubject, Checks, RequestCredential, Runtime, Secret};
use engine::promotion::evidence::{CheckOutcome, CheckResult};
use model::object::promotion::{Check, Expectation};

/// The secret of requests.
pub(crate) const SECRET: &str = "t0ken-of-smoke";

/// The time limit of quick measurements.
pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) fn checks(kind: CheckKind, timeout: Duration) -> Checks {
    let settings = CheckSettings { timeout, ..CheckSettings::new(kind) };
    Checks::new([("smoke".to_owned(), settings)], Runtime::default()).unwrap()
}

pub(crate) fn credential() -> RequestCredential {
    RequestCredential { header: None, secret: Secret::new(SECRET).into() }
}

pub(crate) fn gate(expect: Expectation) -> Check {
    Check { name: "smoke".into(), expect }
}

pub(crate) fn http(json: Option<(&str, &str)>) -> Check {
    let json = json.map(|(path, text)| (Arc::from(path), Arc::from(text)));
    gate(Expectation::Http { status: None, json })
}

pub(crate) fn subject(workload: &str) -> CheckSubject {
    let ring = Some("canary".into());
    CheckSubject { environment: "dev".into(), workload: Some(workload.into()), revision: "r1".into(), ring }
}

/// The outcome and the text of a result.
pub(crate) fn shown(result: &CheckResult) -> (CheckOutcome, &str) {
    (result.outcome, &result.text)
}
