//! What the open gates of a candidate wait for: people, the clock, or evidence.

use model::object::Promotion;
use model::object::promotion::GateKind;

use super::answer::Answer;
use super::state::{Candidate, GateRecord};

/// What a candidate waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// A person must act: all that is left are decisions of people.
    People,
    /// Only time must pass: a window opens, or a write is on its way.
    Clock,
    /// The environments before, or checks, have not shown enough yet.
    Evidence,
}

impl WaitsFor {
    /// The name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Clock => "clock",
            Self::Evidence => "evidence",
        }
    }
}

/// The gates of a candidate that do not hold, as they were evaluated last.
pub fn open_gates(candidate: &Candidate) -> impl Iterator<Item = &GateRecord> {
    candidate.gates.iter().filter(|gate| !gate.holds())
}

/// What a candidate waits for, by the gates of its promotion. While evidence is missing, it is not yet the turn of people.
pub fn waits_for(candidate: &Candidate, promotion: Option<&Promotion>) -> WaitsFor {
    let kind = |record: &GateRecord| {
        let mut gates = promotion.iter().flat_map(|promotion| &promotion.gates);
        gates.find(|gate| gate.name == record.name).map(|gate| &gate.kind)
    };
    let mut found = WaitsFor::Clock;
    for record in open_gates(candidate) {
        match kind(record) {
            Some(GateKind::Window(_)) => {}
            Some(kind) if Answer::to_gate(kind).is_some() => found = WaitsFor::People,
            // Records without a gate are about the environments before.
            _ => return WaitsFor::Evidence,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use model::object::AnyObject;
    use model::read::read_file;
    use model::source::FileId;

    use super::super::state::{CandidatePhase, GateStatus, Revision};
    use super::*;

    const GATES: &str = "gates: [{name: healthy, compliant: {share: 98%}}, {name: night, window: {from: '22:00', until: '05:00', zone: UTC}}, {name: ann, approval: {count: 1}}]";

    fn check(open: &[&str], expected: WaitsFor) {
        let text = format!(
            "{{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {{name: p}}, spec: {{from: [qa], to: prod, {GATES}}}}}"
        );
        let read = read_file(FileId::default(), "p.yaml", text.as_bytes());
        let Some(AnyObject::Promotion(found)) = read.objects.first() else { panic!("{:?}", read.diagnostics) };
        let now = Timestamp::UNIX_EPOCH;
        let mut candidate = Candidate::new(Revision("a".into()), now, CandidatePhase::Gated);
        candidate.gates = ["settled", "healthy", "night", "ann"]
            .map(|name| {
                let status = if open.contains(&name) { GateStatus::Waiting } else { GateStatus::Passed };
                GateRecord { name: name.into(), status, since: now, text: "".into() }
            })
            .into();
        assert_eq!(waits_for(&candidate, Some(&found.spec)), expected, "{open:?}");
    }

    #[test]
    fn people_must_act_only_if_no_evidence_is_missing() {
        check(&["ann"], WaitsFor::People);
        check(&["night", "ann"], WaitsFor::People);
        check(&["night"], WaitsFor::Clock);
        check(&[], WaitsFor::Clock);
        check(&["healthy", "ann"], WaitsFor::Evidence);
        check(&["settled"], WaitsFor::Evidence);
    }
}
