//! Gates: whether the conditions of a move hold, with the evidence.
//!
//! A gate that can't be evaluated is `Waiting` with the reason. It never holds.

mod approval;
mod check;
mod fleet;
mod soak;
#[cfg(test)]
mod tests;
pub(super) mod window;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{Amount, Gate, GateKind, Share, Silent};

pub(super) use self::approval::recorded;
pub use self::approval::{NotCounted, Teams, counts};
pub use self::fleet::liveness_unknown;
use super::evidence::{Approver, Authors, CheckResult, Measured};
use super::state::{GateRecord, GateStatus};

/// How long the result of a check counts.
pub const CHECK_FRESHNESS: SignedDuration = SignedDuration::from_mins(10);

/// How long the state of the fleet may be unknown before a soak begins again.
pub const UNKNOWN_MAX: SignedDuration = SignedDuration::from_mins(10);

/// The evidence for a list of gates.
#[derive(Clone, Debug)]
pub struct GateInput<'a> {
    /// The current time.
    pub now: Timestamp,
    /// The state of the fleet, or why it is not known.
    pub measured: Result<Measured, Arc<str>>,
    /// The `good_since` of the previous evaluation.
    pub good_since: Option<Timestamp>,
    /// The last results of checks, by the name of the gate.
    pub checks: &'a BTreeMap<Arc<str>, CheckResult>,
    /// All approvals.
    pub approvals: &'a [Approver],
    /// Who wrote the change.
    pub authors: &'a Authors,
    /// The accounts of the members of each team.
    pub teams: &'a Teams,
    /// The records of the previous evaluation. Those that a person skipped stay skipped.
    pub before: &'a [GateRecord],
}

/// The evaluation of a list of gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateReport {
    /// A record of each gate, in the order of the list. A list with a soak and without a gate that measures the fleet gets the gates
    /// `compliant` (all) and `failures` (none) first.
    pub records: Vec<GateRecord>,
    /// Since when the gates that measure the fleet have held without interruption.
    pub good_since: Option<Timestamp>,
    /// Whether all gates hold, or are skipped.
    pub all_hold: bool,
    /// Whether a gate failed.
    pub is_failed: bool,
}

/// The status of a gate and its text.
pub(super) type Verdict = (GateStatus, String);

/// Evaluates the gates of a list.
///
/// The `since` of a record stays while its status stays. `good_since` begins when all gates that measure the fleet hold, and ends when one of them
/// does not hold. While the state of the fleet is not known, it stays for at most [`UNKNOWN_MAX`], but no soak holds.
pub fn evaluate(gates: &[Gate], input: &GateInput<'_>) -> GateReport {
    evaluate_with(gates, silent_in(gates), input)
}

/// Evaluates the gates of a list, for which silent reconcilers count as another list says.
pub(super) fn evaluate_with(gates: &[Gate], silent: Silent, input: &GateInput<'_>) -> GateReport {
    let gates = with_measure(gates);
    let measuring = gates.iter().filter(|gate| is_measuring(gate));
    let measuring: Vec<_> = measuring.map(|gate| record(gate, input, (silent, None))).collect();
    let good_since = good_since(&measuring, input);
    GateReport::new(gates.iter().map(|gate| record(gate, input, (silent, good_since))).collect(), good_since)
}

/// Evaluates gates that do not measure the fleet, after others decided since when the fleet is good.
pub(super) fn evaluate_since(gates: &[Gate], input: &GateInput<'_>, good_since: Option<Timestamp>) -> GateReport {
    let silent = silent_in(gates);
    GateReport::new(gates.iter().map(|gate| record(gate, input, (silent, good_since))).collect(), good_since)
}

impl GateReport {
    /// The report with these records.
    pub(super) fn new(records: Vec<GateRecord>, good_since: Option<Timestamp>) -> Self {
        Self {
            good_since,
            all_hold: records.iter().all(GateRecord::holds),
            is_failed: records.iter().any(|record| record.status == GateStatus::Failed),
            records,
        }
    }
}

impl GateRecord {
    /// The record of a gate now. If its status is that of the previous record, `since` stays.
    pub(super) fn new(name: Arc<str>, verdict: Verdict, (before, now): (&[Self], Timestamp)) -> Self {
        let (status, text) = verdict;
        let same = before.iter().find(|record| record.name == name && record.status == status);
        Self { name, status, since: same.map_or(now, |record| record.since), text: text.into() }
    }

    /// Whether the gate does not stop a move: it passed, or a person skipped it.
    pub fn holds(&self) -> bool {
        matches!(self.status, GateStatus::Passed | GateStatus::Skipped(_))
    }
}

/// The first gate that does not hold: its name and status.
pub(super) fn first_open(gates: &[GateRecord]) -> Option<(Arc<str>, GateStatus)> {
    let open = gates.iter().find(|record| !record.holds())?;
    Some((Arc::clone(&open.name), open.status.clone()))
}

/// Whether a gate measures the fleet.
pub(super) fn is_measuring(gate: &Gate) -> bool {
    matches!(gate.kind, GateKind::Compliant { .. } | GateKind::Failures(_))
}

/// How silent reconcilers count for the gates of a list: as the gate `compliant` says, for each gate. Of several such gates, the strictest decides.
pub fn silent_in(gates: &[Gate]) -> Silent {
    let words = gates.iter().filter_map(|gate| match gate.kind {
        GateKind::Compliant { silent, .. } => Some(silent),
        _ => None,
    });
    let strictness = |silent: &Silent| match silent {
        Silent::Ignore => 0,
        Silent::Wait => 1,
        Silent::Fail => 2,
    };
    words.max_by_key(strictness).unwrap_or_default()
}

/// The gate that all expected reconcilers applied the change.
pub(super) fn all_compliant(name: Arc<str>) -> Gate {
    Gate::new(name, GateKind::Compliant { share: Share::ALL, silent: Silent::Wait })
}

/// A name for a built-in gate that no gate of a list has.
pub(super) fn free_name(name: &str, gates: &[Gate]) -> Arc<str> {
    let mut free = name.to_owned();
    while gates.iter().any(|gate| *gate.name == *free) {
        free.insert_str(0, "all-");
    }
    free.into()
}

/// The gates. If one is a soak and none measures the fleet, `compliant` and `failures` come first: a soak needs a measurement.
pub(super) fn with_measure(gates: &[Gate]) -> Vec<Gate> {
    let has_soak = gates.iter().any(|gate| matches!(gate.kind, GateKind::Soak(_)));
    let mut all = Vec::new();
    if has_soak && !gates.iter().any(is_measuring) {
        all.push(all_compliant(free_name("compliant", gates)));
        all.push(Gate::new(free_name("failures", gates), GateKind::Failures(Amount::Count(0))));
    }
    all.extend_from_slice(gates);
    all
}

fn good_since(measuring: &[GateRecord], input: &GateInput<'_>) -> Option<Timestamp> {
    if measuring.is_empty() {
        return None;
    }
    let is_short = |records: &mut dyn Iterator<Item = &GateRecord>| {
        let since = records.filter(|record| !record.holds()).map(|record| record.since).min();
        // After the clock was set back, nobody knows how much time has passed since then.
        let is_short = |time: SignedDuration| !time.is_negative() && time <= UNKNOWN_MAX;
        since.is_none_or(|since| is_short(input.now.duration_since(since)))
    };
    if measuring.iter().all(GateRecord::holds) {
        // Without steps, for example while the service was down, the records stay as they were.
        let is_measured = |before: &&GateRecord| measuring.iter().any(|record| record.name == before.name);
        let has_gap = !is_short(&mut input.before.iter().filter(is_measured));
        return input.good_since.filter(|_| !has_gap).or(Some(input.now));
    }
    input.good_since.filter(|_| input.measured.is_err() && is_short(&mut measuring.iter()))
}

/// The record of a gate now. `silent`: how silent reconcilers count for the gates of its list.
pub(super) fn record(
    gate: &Gate,
    input: &GateInput<'_>,
    (silent, good_since): (Silent, Option<Timestamp>),
) -> GateRecord {
    let before = input.before.iter().find(|record| record.name == gate.name);
    let (status, text) = match before {
        Some(GateRecord { status: GateStatus::Skipped(decision), .. }) => {
            let text = format!("skipped by {}: {}", decision.by, decision.reason);
            (GateStatus::Skipped(decision.clone()), text)
        }
        _ => verdict(gate, input, (silent, good_since)),
    };
    GateRecord::new(Arc::clone(&gate.name), (status, text), (input.before, input.now))
}

fn verdict(gate: &Gate, input: &GateInput<'_>, (of_list, good_since): (Silent, Option<Timestamp>)) -> Verdict {
    match &gate.kind {
        GateKind::Compliant { share, silent } => fleet::compliant(*share, *silent, &input.measured),
        GateKind::Failures(amount) => fleet::failures(*amount, of_list, &input.measured),
        GateKind::Soak(time) => soak::verdict(*time, input, good_since),
        GateKind::Check(_) => check::verdict(input.checks.get(&gate.name), input.now),
        GateKind::Window(window) => window::verdict(window, input.now),
        GateKind::Approval(approval) => approval::verdict((&gate.name, approval), input),
        GateKind::Manual => (GateStatus::Waiting, "a person must let the change through".to_owned()),
    }
}

/// A duration in readable form: `1d 2h`, `30m`.
pub(super) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let shown: Vec<_> =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, unit)| format!("{number}{unit}")).collect();
    if shown.is_empty() { "0s".to_owned() } else { shown.join(" ") }
}
