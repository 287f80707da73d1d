//! Gates that a check decides, which the service runs.

use jiff::Timestamp;

use super::{CHECK_FRESHNESS, Verdict};
use crate::promotion::evidence::{CheckOutcome, CheckResult};
use crate::promotion::state::GateStatus;

/// Whether the last result of a check is as expected, and recent.
pub(super) fn verdict(result: Option<&CheckResult>, now: Timestamp) -> Verdict {
    let Some(result) = result else {
        return (GateStatus::Waiting, "the check has not run yet".to_owned());
    };
    let age = now.duration_since(result.at);
    if age > CHECK_FRESHNESS || age < -CHECK_FRESHNESS {
        return (
            GateStatus::Waiting,
            format!("the last result, of {}, does not count any more: {}", result.at, result.text),
        );
    }
    match result.outcome {
        CheckOutcome::Passed => (GateStatus::Passed, result.text.to_string()),
        CheckOutcome::Failed => (GateStatus::Failed, result.text.to_string()),
        CheckOutcome::Unknown => (GateStatus::Waiting, format!("the check has no result: {}", result.text)),
    }
}
