//! The gates in force before an environment: those of the `Promotion` that was admitted, of the candidate, and of the head of the main branch.
//!
//! A change that loosens a gate does not serve itself: until it is proved, the gates before count too.

use std::sync::Arc;

use model::object::promotion::{Gate, Promotion, Require};

use super::state::{AdvanceState, Revision};

/// The promotion with which a revision moves: the newest one, with all gates and all environments before of the others. The rings are those of the
/// `admitted` one, if there is one. None: there is no promotion at all.
pub fn in_force(admitted: Option<&Promotion>, others: &[&Promotion]) -> Option<Promotion> {
    let all: Vec<_> = others.iter().copied().chain(admitted).collect();
    let mut promotion = (*all.first()?).clone();
    for other in all.iter().skip(1) {
        add(&mut promotion, other);
    }
    if let Some(admitted) = admitted {
        promotion.rings.clone_from(&admitted.rings);
    }
    Some(promotion)
}

/// The commit whose promotion is admitted after a step: the one that the environment has proved in this step, or for the `first` promotion the one that it has. None:
/// the admitted promotion stays.
pub fn admits<'s>((before, is_first): (&AdvanceState, bool), after: &'s AdvanceState) -> Option<&'s Revision> {
    fn proved(state: &AdvanceState) -> Option<&Revision> {
        state.proved.as_ref().map(|proved| &proved.revision)
    }
    let is_first = is_first || before.admitted.is_none();
    let proved_now = proved(after).filter(|revision| proved(before) != Some(*revision));
    proved_now.or(after.admitted.as_ref().filter(|_| is_first))
}

fn add(promotion: &mut Promotion, other: &Promotion) {
    let before = promotion.from.len();
    for name in &other.from {
        if !promotion.from.contains(name) {
            promotion.from.push(Arc::clone(name));
        }
    }
    // All of two lists are all environments of both. One of each of them can't be said with one list, so all must have proved the change.
    if promotion.from.len() > before.max(other.from.len()) || (other.require == Require::All && !other.from.is_empty())
    {
        promotion.require = Require::All;
    }
    promotion.select.platform |= other.select.platform;
    if promotion.select.workloads.is_none() {
        promotion.select.workloads.clone_from(&other.select.workloads);
    }
    for gate in &other.gates {
        if promotion.gates.iter().all(|known| known.kind != gate.kind) {
            let mut name = Arc::clone(&gate.name);
            while promotion.gates.iter().any(|known| known.name == name) {
                name = format!("{name}-before").into();
            }
            promotion.gates.push(Gate { name, ..gate.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use model::object::AnyObject;
    use model::read::read_file;
    use model::source::FileId;

    use super::*;

    fn promotion(spec: &str) -> Promotion {
        let text = format!(
            "{{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {{name: p}}, spec: {{to: prod, {spec}}}}}"
        );
        let read = read_file(FileId::default(), "p.yaml", text.as_bytes());
        let Some(AnyObject::Promotion(found)) = read.objects.first() else { panic!("{:?}", read.diagnostics) };
        found.spec.clone()
    }

    /// The environments before and the gates in force: of the admitted promotion, and of others.
    fn check(admitted: &str, others: &[&str], expected: &str) {
        let (admitted, others) = (promotion(admitted), others.iter().map(|spec| promotion(spec)).collect::<Vec<_>>());
        let found = in_force(Some(&admitted), &others.iter().collect::<Vec<_>>()).unwrap();
        let gates: Vec<_> = found.gates.iter().map(|gate| gate.name.to_string()).collect();
        let rings: Vec<_> = found.rings.iter().map(|ring| ring.name.to_string()).collect();
        let shown =
            format!("{:?} of {}; {}; {}", found.require, found.from.join(" "), gates.join(" "), rings.join(" "));
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_loosened_gate_counts_until_the_change_is_proved() {
        let strict = "from: [stage], gates: [{name: ok, compliant: {share: 100%}}, {name: person, manual: {}}]";
        let loose = "from: [stage], gates: [{name: ok, compliant: {share: 100%}}]";
        check(strict, &[loose], "All of stage; ok person; ");
        check(loose, &[strict], "All of stage; ok person; ");
        let share = "from: [stage], gates: [{name: ok, compliant: {share: 1%}}]";
        check(loose, &[share], "All of stage; ok ok-before; ");
    }

    #[test]
    fn all_environments_before_count() {
        check("from: [stage]", &["from: [dev]"], "All of dev stage; ; ");
        check("from: [a, b]", &["from: [a, b], require: any"], "All of a b; ; ");
        check("from: [a, b], require: any", &["from: [a, b], require: any"], "Any of a b; ; ");
        check("from: [stage]", &[""], "All of stage; ; ");
    }

    #[test]
    fn the_rings_are_those_of_the_admitted_promotion() {
        check("rings: [{name: a, percent: 1%}, {name: b}]", &["rings: [{name: c}]"], "All of ; ; a b");
        check("", &["rings: [{name: c}]"], "All of ; ; ");
        assert!(in_force(None, &[]).is_none());
    }
}
