//! Evaluates the gates of a candidate, with the evidence of the environments before.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{Amount, Gate, GateKind, Require, Share, Silent};

use super::standing::{Proofs, Standing};
use super::{AdvanceInput, FromEnvironment};
use crate::promotion::evidence::{Approver, Authors, Measured};
use crate::promotion::gates::{self, GateInput, GateReport};
use crate::promotion::state::{Candidate, GateRecord, GateStatus, ProofRecord};

/// How long the newest revision of the environments before must have been good itself before an older one passes its soak time under it. A shorter soak time is
/// enough. Right after a publication, the evidence is thin.
const STEADY_MIN: SignedDuration = SignedDuration::from_mins(1);

/// The name of the built-in record about an environment before that is not settled.
const SETTLED: &str = "settled";
/// The name of the built-in record about a commit that the main branch does not have.
const MAIN: &str = "main";

/// The evaluation of the gates of a candidate.
pub(super) struct GatedReport {
    /// The records, and since when no environment before has shown a failure.
    pub(super) report: GateReport,
    /// Since when the gates that measure the environments before have held, for what these have now.
    pub(super) steady_since: Option<Timestamp>,
}

/// The gates of a candidate, with the evidence of the environments before.
pub(super) fn gated(proofs: Proofs<'_>, candidate: &Candidate) -> GatedReport {
    let input = proofs.input;
    let approvals = [&*candidate.approvals, input.approvals].concat();
    let gates = gates::with_measure(&input.promotion.gates);
    let (measuring, others): (Vec<_>, Vec<_>) = gates.into_iter().partition(gates::is_measuring);
    let evaluation = Evaluation { input, proofs, candidate, approvals: &approvals };
    let same = input.reverts_to.filter(|_| proofs.revert() == Some(&candidate.revision));
    if let Some(proof) = proofs.state.proof(same.unwrap_or(&candidate.revision)) {
        return evaluation.proved_here(proof, &others);
    }
    let fleets: Vec<_> = input.from.iter().map(|from| evaluation.fleet(&measuring, from)).collect();
    let fleet = match input.promotion.require {
        _ if input.promotion.from.is_empty() => evaluation.without_fleet(&measuring),
        Require::All => evaluation.all(fleets),
        Require::Any => evaluation.any(fleets),
    };
    let steady_since = candidate.steady_since.filter(|_| fleet.is_steady).or(fleet.is_steady.then_some(input.now));
    let measured = if fleet.is_known { Ok(Measured::default()) } else { Err("see the gates before".into()) };
    let mut rest = gates::evaluate_since(&others, &evaluation.gate_input(measured, fleet.good_since), fleet.good_since);
    if fleet.is_successor {
        evaluation.wait_until_steady(&others, &mut rest.records, steady_since);
    }
    GatedReport { report: GateReport::new([fleet.records, rest.records].concat(), fleet.good_since), steady_since }
}

/// The gates by which a revision was admitted, as they are now. Evidence that is missing for a while takes nothing back, and a time that is over does not begin again.
/// After an override has expired, all gates count, and a soak time begins then.
pub(super) fn entry(proofs: Proofs<'_>, admitted: &Candidate) -> Vec<GateRecord> {
    let (input, before) = (proofs.input, &admitted.entry_at(proofs.input.now));
    let expired = admitted.expired_override(input.now);
    let since = Some(expired.map_or(admitted.since, |expired| expired.expires));
    let candidate = Candidate { gates: before.clone(), good_since: since, steady_since: since, ..admitted.clone() };
    let held = |record: &GateRecord| before.iter().find(|known| known.name == record.name && known.holds()).cloned();
    let is_approval = |record: &GateRecord| {
        let mut gates = input.promotion.gates.iter();
        gates.any(|gate| *gate.name == *record.name && matches!(gate.kind, GateKind::Approval(_)))
    };
    let ends = |record: &GateRecord| !record.holds() && (is_approval(record) || ends_entry(input, record));
    let is_known = |record: &GateRecord| expired.is_some() || before.iter().any(|known| known.name == record.name);
    let found = gated(proofs, &candidate).report.records.into_iter().filter(is_known);
    found.map(|record| if ends(&record) { record } else { held(&record).unwrap_or(record) }).collect()
}

/// The gates by which the environment proves a revision. If it has rings, their gates have held when it is settled.
pub(super) fn proving(
    input: &AdvanceInput<'_>,
    (candidate, measured): (&Candidate, Result<Measured, Arc<str>>),
) -> GateReport {
    let failures = input.promotion.rings.last().map_or(Amount::Count(0), |ring| ring.failures);
    let mut gates = vec![Gate::new("failures".into(), GateKind::Failures(failures))];
    if input.promotion.rings.is_empty() {
        let kind = GateKind::Compliant { share: Share::ALL, silent: Silent::Ignore };
        gates.insert(0, Gate::new("compliant".into(), kind));
    }
    let input = GateInput {
        now: input.now,
        measured,
        good_since: candidate.good_since,
        checks: input.checks,
        approvals: &[],
        authors: input.authors,
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
    /// Whether all gates that measure the fleet hold for what the environment has now.
    is_steady: bool,
    /// Whether the environment has a newer revision than the candidate.
    is_successor: bool,
}

struct Evaluation<'a> {
    input: &'a AdvanceInput<'a>,
    proofs: Proofs<'a>,
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
            authors: self.authors(),
            teams: self.input.teams,
            before: &self.candidate.gates,
        }
    }

    /// Who wrote the candidate. What was known when it was admitted counts: afterwards, nothing tells what it replaced.
    fn authors(&self) -> &Authors {
        let known = self.candidate.authors.as_ref().filter(|_| self.candidate.phase.is_admitted());
        known.unwrap_or(self.input.authors)
    }

    fn without_fleet(&self, measuring: &[Gate]) -> Fleet {
        let reason = "the promotion has no environment before";
        let report = gates::evaluate(measuring, &self.gate_input(Err(reason.into()), None));
        let records = self.foreign_record().into_iter().chain(report.records).collect();
        Fleet { records, ..Fleet::default() }
    }

    /// A gate that the first environment has: the candidate is a commit of the main branch. Behind environments before, a foreign commit is proved nowhere.
    fn foreign_record(&self) -> Option<GateRecord> {
        let is_foreign = !self.input.line.is_empty() && !self.input.line.contains(&self.candidate.revision);
        let name = gates::free_name(MAIN, &self.input.promotion.gates);
        let known = self.candidate.gates.iter().find(|record| record.name == name);
        match known.filter(|record| matches!(record.status, GateStatus::Skipped(_))) {
            Some(skipped) => Some(skipped.clone()),
            None => is_foreign.then(|| {
                let verdict = (GateStatus::Waiting, "the main branch does not contain the revision".to_owned());
                GateRecord::new(name, verdict, (&self.candidate.gates, self.input.now))
            }),
        }
    }

    /// A revision that the environment has proved before needs only what people and the clock decide.
    fn proved_here(&self, proof: &ProofRecord, others: &[Gate]) -> GatedReport {
        let others: Vec<_> = others.iter().filter(|gate| gate.kind.is_of_people_or_clock()).cloned().collect();
        let rest = gates::evaluate_since(&others, &self.gate_input(Ok(Measured::default()), None), None);
        let name = gates::free_name(SETTLED, &self.input.promotion.gates);
        let (to, on) = (&self.input.promotion.to, proof.on);
        let what = if proof.revision == self.candidate.revision {
            "it".to_owned()
        } else {
            format!("`{}`, which has the same content,", proof.revision.0)
        };
        let verdict = (GateStatus::Passed, format!("`{to}` proved {what} on {on:.0}"));
        let first = GateRecord::new(name, verdict, (&self.candidate.gates, self.input.now));
        GatedReport { report: GateReport::new([vec![first], rest.records].concat(), None), steady_since: None }
    }

    fn fleet(&self, measuring: &[Gate], from: &FromEnvironment) -> Fleet {
        let standing = self.proofs.standing(from, &self.candidate.revision);
        let is_successor = standing == Standing::HasShown;
        let settled = settled(from, standing);
        let measured = settled.clone().and_then(|()| from.measured.clone());
        let gates: Vec<_> =
            measuring.iter().map(|gate| Gate { name: self.name(from, &gate.name), ..gate.clone() }).collect();
        let is_known = measured.is_ok();
        let report = gates::evaluate(&gates, &self.gate_input(measured, self.candidate.good_since));
        // The time goes on while a newer revision is on its way. It does not while the hub can't say how the fleet is.
        let is_on_its_way = is_successor && !report.is_failed && (from.settled.is_err() || is_known);
        let good_since = report.good_since.or(self.candidate.good_since.filter(|_| is_on_its_way));
        let good_since = good_since.filter(|_| !from.is_stopped);
        let is_steady = is_known && report.all_hold;
        let mut records = report.records;
        records.insert(0, self.settled_record(from, settled));
        Fleet { records, good_since, is_known, is_steady, is_successor }
    }

    /// Lets soak times wait until the newest revision before has been good for a moment itself.
    fn wait_until_steady(&self, gates: &[Gate], records: &mut [GateRecord], steady_since: Option<Timestamp>) {
        let steady = steady_since.map(|since| self.input.now.duration_since(since));
        for (gate, record) in gates.iter().zip(records) {
            let GateKind::Soak(time) = gate.kind else { continue };
            let needed = SignedDuration::try_from(time).map_or(STEADY_MIN, |time| time.min(STEADY_MIN));
            if record.status == GateStatus::Passed && steady.is_none_or(|steady| steady < needed) {
                let text = "the gates of the newest revision before hold for less than a minute".to_owned();
                let before = (&*self.candidate.gates, self.input.now);
                *record = GateRecord::new(Arc::clone(&record.name), (GateStatus::Waiting, text), before);
            }
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
            _ => GateRecord::new(name, (status, text), (&self.candidate.gates, self.input.now)),
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
            GateRecord::new(format!("{name}/{SETTLED}").into(), verdict, (&self.candidate.gates, self.input.now))
        });
        let missing: Vec<_> = missing.collect();
        let good = fleets.iter().map(|fleet| fleet.good_since);
        let good_since = good.reduce(|all, next| all.zip(next).map(|(all, next)| all.max(next))).flatten();
        let all = |holds: &dyn Fn(&Fleet) -> bool| missing.is_empty() && !fleets.is_empty() && fleets.iter().all(holds);
        Fleet {
            is_known: all(&|fleet| fleet.is_known),
            is_steady: all(&|fleet| fleet.is_steady),
            is_successor: fleets.iter().any(|fleet| fleet.is_successor),
            good_since: good_since.filter(|_| missing.is_empty()),
            records: fleets.into_iter().flat_map(|fleet| fleet.records).chain(missing).collect(),
        }
    }
}

/// Whether an environment before has the candidate, or has shown it, and nothing is open in it.
fn settled(from: &FromEnvironment, standing: Standing) -> Result<(), Arc<str>> {
    match standing {
        Standing::Unknown => Err(match &from.settled {
            Err(reason) => format!("`{}`: {reason}", from.name).into(),
            Ok(()) => format!("it is not known which revision `{}` has", from.name).into(),
        }),
        Standing::Missing(reason) | Standing::Passed(reason) => Err(reason),
        Standing::Has | Standing::HasShown => {
            from.settled.clone().map_err(|reason| format!("`{}`: {reason}", from.name).into())
        }
    }
}

/// Whether a gate takes a change back that has not entered yet: it failed, its window ended, or its share is not reached any more. Evidence that is missing for a
/// while does not.
pub(super) fn ends_entry(input: &AdvanceInput<'_>, record: &GateRecord) -> bool {
    let is_known = input.from.iter().all(|from| from.settled.is_ok() && from.measured.is_ok());
    // With several environments before, a gate that measures them has the name of one in front.
    let name = record.name.rsplit('/').next().unwrap_or_default();
    let is_strict = |gate: &Gate| match gate.kind {
        GateKind::Window(_) => *gate.name == *record.name,
        GateKind::Compliant { .. } => is_known && *gate.name == *name,
        _ => false,
    };
    match record.status {
        GateStatus::Failed => true,
        GateStatus::Waiting => input.promotion.gates.iter().any(is_strict),
        GateStatus::Passed | GateStatus::Skipped(_) => false,
    }
}
