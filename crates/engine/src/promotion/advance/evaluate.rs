//! Evaluates the gates of a candidate, with the evidence of the environments before.

use std::sync::Arc;

use jiff::Timestamp;
use model::object::promotion::{Amount, Gate, GateKind, Require, Share, Silent};

use super::line::Line;
use super::{AdvanceInput, FromEnvironment};
use crate::promotion::evidence::{Approver, Measured};
use crate::promotion::gates::{self, GateInput, GateReport};
use crate::promotion::state::{Candidate, GateRecord, GateStatus};

/// The name of the built-in record about an environment before that is not settled.
const SETTLED: &str = "settled";

/// The gates of a candidate, with the evidence of the environments before.
pub(super) fn gated(input: &AdvanceInput<'_>, line: &Line<'_>, candidate: &Candidate) -> GateReport {
    let approvals = [&*candidate.approvals, input.approvals].concat();
    let gates = gates::with_measure(&input.promotion.gates);
    let (measuring, others): (Vec<_>, Vec<_>) = gates.into_iter().partition(gates::is_measuring);
    let evaluation = Evaluation { input, line, candidate, approvals: &approvals };
    let fleets: Vec<_> = input.from.iter().map(|from| evaluation.fleet(&measuring, from)).collect();
    let fleet = match input.promotion.require {
        _ if input.promotion.from.is_empty() => evaluation.without_fleet(&measuring),
        Require::All => evaluation.all(fleets),
        Require::Any => evaluation.any(fleets),
    };
    let measured = if fleet.is_known { Ok(Measured::default()) } else { Err("see the gates before".into()) };
    let rest = gates::evaluate_since(&others, &evaluation.gate_input(measured, fleet.good_since), fleet.good_since);
    let records = [fleet.records, rest.records].concat();
    GateReport {
        good_since: fleet.good_since,
        all_hold: records.iter().all(GateRecord::holds),
        is_failed: records.iter().any(|record| record.status == GateStatus::Failed),
        records,
    }
}

/// The gates by which the environment proves a revision. If it has rings, their gates have held when it is settled.
pub(super) fn proving(input: &AdvanceInput<'_>, candidate: &Candidate) -> GateReport {
    let failures = input.promotion.rings.last().map_or(Amount::Count(0), |ring| ring.failures);
    let mut gates = vec![Gate { name: "failures".into(), kind: GateKind::Failures(failures) }];
    if input.promotion.rings.is_empty() {
        let kind = GateKind::Compliant { share: Share::ALL, silent: Silent::Ignore };
        gates.insert(0, Gate { name: "compliant".into(), kind });
    }
    let input = GateInput {
        now: input.now,
        measured: input.to_measured.clone(),
        good_since: candidate.good_since,
        checks: input.checks,
        approvals: &[],
        author: input.author,
        teams: input.teams,
        before: &candidate.gates,
    };
    gates::evaluate(&gates, &input)
}

/// The gates that measure the fleet, for one or all environments before.
#[derive(Clone, Default)]
struct Fleet {
    records: Vec<GateRecord>,
    good_since: Option<Timestamp>,
    is_known: bool,
}

struct Evaluation<'a> {
    input: &'a AdvanceInput<'a>,
    line: &'a Line<'a>,
    candidate: &'a Candidate,
    approvals: &'a [Approver],
}

impl Evaluation<'_> {
    fn gate_input(&self, measured: Result<Measured, Arc<str>>, good_since: Option<Timestamp>) -> GateInput<'_> {
        GateInput {
            now: self.input.now,
            measured,
            good_since,
            checks: self.input.checks,
            approvals: self.approvals,
            author: self.input.author,
            teams: self.input.teams,
            before: &self.candidate.gates,
        }
    }

    fn without_fleet(&self, measuring: &[Gate]) -> Fleet {
        let reason = "the promotion has no environment before";
        let report = gates::evaluate(measuring, &self.gate_input(Err(reason.into()), None));
        Fleet { records: report.records, good_since: None, is_known: false }
    }

    fn fleet(&self, measuring: &[Gate], from: &FromEnvironment) -> Fleet {
        let settled = self.settled(from);
        let measured = settled.clone().and_then(|()| from.measured.clone());
        let gates: Vec<_> =
            measuring.iter().map(|gate| Gate { name: self.name(from, &gate.name), ..gate.clone() }).collect();
        let is_known = measured.is_ok();
        let report = gates::evaluate(&gates, &self.gate_input(measured, self.candidate.good_since));
        let mut records = report.records;
        records.insert(0, self.settled_record(from, settled));
        Fleet { records, good_since: report.good_since, is_known }
    }

    /// Whether an environment before has the candidate, and nothing is open in it.
    fn settled(&self, from: &FromEnvironment) -> Result<(), Arc<str>> {
        let revision = &self.candidate.revision;
        match &from.has {
            None => Err(match &from.settled {
                Err(reason) => format!("`{}`: {reason}", from.name).into(),
                Ok(()) => format!("it is not known which revision `{}` has", from.name).into(),
            }),
            Some(has) if !self.line.contains(has, revision) => {
                Err(format!("`{}` has `{}`, which does not contain the revision", from.name, has.0).into())
            }
            Some(_) => from.settled.clone().map_err(|reason| format!("`{}`: {reason}", from.name).into()),
        }
    }

    /// A gate that every promotion has: the environment before has the candidate, and nothing is open in it.
    fn settled_record(&self, from: &FromEnvironment, settled: Result<(), Arc<str>>) -> GateRecord {
        let name = self.name(from, &gates::free_name(SETTLED, &self.input.promotion.gates));
        let (status, text) = match settled {
            Ok(()) => (GateStatus::Passed, format!("`{}` has the revision", from.name)),
            Err(reason) => (GateStatus::Waiting, reason.to_string()),
        };
        let before = self.candidate.gates.iter().find(|record| record.name == name);
        match before {
            Some(before) if matches!(before.status, GateStatus::Skipped(_)) => before.clone(),
            _ => GateRecord::of(name, (status, text), (&self.candidate.gates, self.input.now)),
        }
    }

    fn name(&self, from: &FromEnvironment, gate: &str) -> Arc<str> {
        if self.input.promotion.from.len() == 1 { gate.into() } else { format!("{}/{gate}", from.name).into() }
    }

    /// One environment before whose gates hold, preferably the one of the previous step. A soak begins again with another one.
    fn any(&self, fleets: Vec<Fleet>) -> Fleet {
        let is_same = |fleet: &Fleet| {
            let mut names = fleet.records.iter().map(|record| &record.name);
            names.any(|name| self.candidate.gates.iter().any(|before| before.name == *name))
        };
        let holds = |fleet: &&Fleet| fleet.records.iter().all(GateRecord::holds);
        let previous = fleets.iter().find(|fleet| is_same(fleet));
        if let Some(fleet) = previous.filter(holds) {
            return fleet.clone();
        }
        let is_new = self.candidate.gates.is_empty();
        match fleets.iter().find(holds) {
            Some(fleet) => {
                let good_since = if is_new { fleet.good_since } else { fleet.good_since.map(|_| self.input.now) };
                Fleet { good_since, ..fleet.clone() }
            }
            None => previous.or(fleets.first()).cloned().unwrap_or_default(),
        }
    }

    /// All environments before together: the fleet is good since the time when the last of them became good.
    fn all(&self, fleets: Vec<Fleet>) -> Fleet {
        let known = |name: &&Arc<str>| self.input.from.iter().any(|from| from.name == **name);
        let missing = self.input.promotion.from.iter().filter(|name| !known(name)).map(|name| {
            let verdict = (GateStatus::Waiting, format!("nothing is known of `{name}`"));
            GateRecord::of(format!("{name}/{SETTLED}").into(), verdict, (&self.candidate.gates, self.input.now))
        });
        let missing: Vec<_> = missing.collect();
        let good = fleets.iter().map(|fleet| fleet.good_since);
        let good_since = good.reduce(|all, next| all.zip(next).map(|(all, next)| all.max(next))).flatten();
        Fleet {
            is_known: missing.is_empty() && !fleets.is_empty() && fleets.iter().all(|fleet| fleet.is_known),
            good_since: good_since.filter(|_| missing.is_empty()),
            records: fleets.into_iter().flat_map(|fleet| fleet.records).chain(missing).collect(),
        }
    }
}
