//! Finds the checks that promotions name, and the configuration does not have.

use model::object::promotion::{Check, GateKind, Promotion};

use crate::checks::Checks;
use crate::judgement;

/// What promotions need and the checks do not have: a sentence for each gate, without duplicates.
pub fn missing<'p>(checks: &Checks, promotions: impl IntoIterator<Item = &'p Promotion>) -> Vec<String> {
    let of_rings = |promotion: &'p Promotion| promotion.rings.iter().flat_map(|ring| &ring.gates);
    let gates = promotions.into_iter().flat_map(|promotion| {
        let gates = promotion.gates.iter().chain(of_rings(promotion));
        gates.map(move |gate| (promotion, gate))
    });
    let mut found: Vec<String> = Vec::new();
    for (promotion, gate) in gates {
        let GateKind::Check(check) = &gate.kind else { continue };
        let Some(problem) = problem(checks, check) else { continue };
        let sentence = format!("the gate `{}` before `{}` waits forever: {problem}", gate.name, promotion.to);
        if !found.contains(&sentence) {
            found.push(sentence);
        }
    }
    found
}

fn problem(checks: &Checks, check: &Check) -> Option<String> {
    let name = &check.name;
    match checks.kind(name) {
        None => Some(format!("`[promotion.checks]` has no `{name}`")),
        Some(kind) if judgement::fits(kind, &check.expect) => None,
        Some(kind) => {
            let (is, expected) = (kind.title(), judgement::title(&check.expect));
            Some(format!("the check `{name}` is {is}, and the gate expects {expected}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use model::object::promotion::{ChangeDelivery, Expectation, Gate, Newer, OnFailure, Require, Selection, Start};

    use super::*;
    use crate::{CheckKind, CheckSettings, HttpSettings, Runtime};

    fn gate(name: &str, check: &str, expect: Expectation) -> Gate {
        Gate { name: name.into(), kind: GateKind::Check(Check { name: check.into(), expect }) }
    }

    fn promotion(gates: Vec<Gate>) -> Promotion {
        Promotion {
            to: "prod".into(),
            from: Vec::new(),
            require: Require::All,
            select: Selection { platform: true, workloads: None },
            delivery: ChangeDelivery::Direct,
            start: Start::Automatic,
            newer: Newer::Wait,
            on_failure: OnFailure::Stop,
            gates,
            rings: Vec::new(),
        }
    }

    #[test]
    fn absent_checks_and_those_of_another_kind_are_missing() {
        let kind = CheckKind::Http(HttpSettings { url: "https://smoke.example".to_owned(), credential: None });
        let checks = Checks::new([("smoke".to_owned(), CheckSettings::new(kind))], Runtime::default()).unwrap();
        let http = Expectation::Http { status: None, json: None };
        let good = promotion(vec![gate("a", "smoke", http.clone())]);
        assert_eq!(missing(&checks, [&good]), [""; 0]);
        let wrong = promotion(vec![gate("a", "smoke", Expectation::Command), gate("b", "load", http)]);
        let expected = [
            "the gate `a` before `prod` waits forever: the check `smoke` is an HTTP request, and the gate expects a command",
            "the gate `b` before `prod` waits forever: `[promotion.checks]` has no `load`",
        ];
        assert_eq!(missing(&checks, [&good, &wrong, &wrong]), expected);
    }
}
