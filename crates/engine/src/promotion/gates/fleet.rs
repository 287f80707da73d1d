//! Gates that measure the fleet: the share of compliant reconcilers, and the number of failed ones.

use std::sync::Arc;

use model::count::{count, thousands};
use model::object::promotion::{Amount, Share, Silent};

use super::Verdict;
use crate::promotion::evidence::Measured;
use crate::promotion::state::GateStatus;

/// Whether a share of the expected reconcilers has applied the change.
pub(super) fn compliant(share: Share, silent: Silent, measured: &Result<Measured, Arc<str>>) -> Verdict {
    let measured = match known(measured) {
        Ok(measured) => measured,
        Err(verdict) => return verdict,
    };
    let left_out = if silent == Silent::Ignore { measured.silent } else { 0 };
    let expected = measured.expected.saturating_sub(left_out);
    if expected == 0 {
        return (GateStatus::Waiting, format!("all {} are silent", reconcilers(measured.expected)));
    }
    let applied = format!("{} of {} applied the change", number(measured.succeeded), reconcilers(expected));
    if share.is_reached(measured.succeeded, expected) {
        return (GateStatus::Passed, applied);
    }
    let mut text = format!("{applied}, {share} are needed");
    if measured.failed > 0 {
        text = format!("{text}, {} failed", number(measured.failed));
    }
    if measured.silent > 0 {
        text = format!("{text}, {} are silent", number(measured.silent));
    }
    let possible = expected.saturating_sub(measured.silent).saturating_sub(measured.failed);
    let is_failed = silent == Silent::Fail && measured.silent > 0 && !share.is_reached(possible, expected);
    (if is_failed { GateStatus::Failed } else { GateStatus::Waiting }, text)
}

/// Whether at most this many of the expected reconcilers failed.
pub(super) fn failures(amount: Amount, measured: &Result<Measured, Arc<str>>) -> Verdict {
    let (failed, whole) = measured.as_ref().map_or((0, 0), |measured| (measured.failed, measured.expected));
    let allowed = amount.of(whole);
    let text = format!("{} of {} failed, at most {amount} may fail", number(failed), reconcilers(whole));
    if failed > allowed {
        return (GateStatus::Failed, text);
    }
    match known(measured) {
        Ok(_) => (GateStatus::Passed, text),
        Err(verdict) => verdict,
    }
}

/// The state of the fleet, if gates can be evaluated with it.
fn known(measured: &Result<Measured, Arc<str>>) -> Result<Measured, Verdict> {
    let waiting = |text: String| Err((GateStatus::Waiting, text));
    match measured {
        Err(reason) => waiting(format!("the state of the fleet is not known: {reason}")),
        Ok(measured) if measured.unpublished == 1 => waiting("1 place is not published yet".to_owned()),
        Ok(measured) if measured.unpublished > 0 => {
            waiting(format!("{} places are not published yet", number(measured.unpublished)))
        }
        Ok(measured) if measured.expected == 0 => {
            waiting("no reconciler is expected, so nothing can prove the change".to_owned())
        }
        Ok(measured) => Ok(*measured),
    }
}

fn number(number: u64) -> String {
    thousands(usize::try_from(number).unwrap_or(usize::MAX))
}

fn reconcilers(number: u64) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), "reconciler")
}
