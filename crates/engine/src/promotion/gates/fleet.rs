//! Gates that measure the fleet: the share of compliant reconcilers, and the number of failed ones.

use std::sync::Arc;

use model::count::{count, thousands};
use model::object::promotion::{Amount, Share, Silent};

use super::Verdict;
use crate::promotion::evidence::{Counted, Measured};
use crate::promotion::state::GateStatus;

/// Whether a share of the expected reconcilers has applied the change.
pub(super) fn compliant(share: Share, silent: Silent, measured: &Result<Measured, Arc<str>>) -> Verdict {
    let measured = match known(measured) {
        Ok(measured) => measured,
        Err(verdict) => return verdict,
    };
    let counted = measured.counted(silent);
    if counted.expected == 0 {
        return (GateStatus::Waiting, format!("all {} are silent", reconcilers(measured.expected)));
    }
    let applied = format!("{} of {} applied the change", number(counted.applied), reconcilers(counted.expected));
    if share.is_reached(counted.applied, counted.expected) {
        return (GateStatus::Passed, applied);
    }
    if share.is_reached(counted.applied + counted.unknown, counted.expected) {
        return (GateStatus::Waiting, liveness_unknown(counted));
    }
    let mut text = format!("{applied}, {share} are needed");
    if measured.failed > 0 {
        text = format!("{text}, {} failed", number(measured.failed));
    }
    if measured.silent > 0 {
        text = format!("{text}, {} are silent", number(measured.silent));
    }
    if counted.unknown > 0 {
        text = format!("{text}; {}", liveness_unknown(counted));
    }
    let possible = counted.expected.saturating_sub(counted.failed);
    let is_failed = silent == Silent::Fail && measured.silent > 0 && !share.is_reached(possible, counted.expected);
    (if is_failed { GateStatus::Failed } else { GateStatus::Waiting }, text)
}

/// Why reconcilers that applied the change do not count, and what to do.
pub fn liveness_unknown(counted: Counted) -> String {
    format!(
        "liveness unknown: {} of {} declare no interval; set `heartbeatSeconds` in their reports (Flux: in `eventMetadata` of the Alert; scripts: \
         `kalypso report --heartbeat`), or require one with `[[hub.heartbeat]]` in the configuration of the hub (Argo CD)",
        number(counted.unknown),
        reconcilers(counted.expected)
    )
}

/// Whether at most this many of the expected reconcilers failed. The amount is a share of all of them, silent or not.
pub(super) fn failures(amount: Amount, silent: Silent, measured: &Result<Measured, Arc<str>>) -> Verdict {
    let measure = |measured: &Measured| (measured.counted(silent).failed, measured.failed, measured.expected);
    let (failed, reported, whole) = measured.as_ref().map_or((0, 0, 0), measure);
    let allowed = amount.limit(whole);
    let mut text = format!("{} of {} failed", number(failed), reconcilers(whole));
    if failed > reported {
        text = format!("{text} ({} are silent)", number(failed - reported));
    }
    text = format!("{text}, at most {amount} may fail");
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
