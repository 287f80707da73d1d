//! Where the evidence from outside comes from: the checks and the accounts of the configuration.

use model::object::promotion::{Check, Gate, GateKind, Promotion, Ring};

use crate::accounts::Accounts;
use crate::checks::Checks;
use crate::judgement;

/// The checks and the accounts of the configuration.
#[derive(Clone, Debug, Default)]
pub struct EvidenceSources {
    /// The checks.
    pub checks: Checks,
    /// The accounts.
    pub accounts: Accounts,
}

impl EvidenceSources {
    /// What promotions name and the configuration does not have: a sentence for each gate, without duplicates.
    pub fn missing<'p>(&self, promotions: impl IntoIterator<Item = &'p Promotion>) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for promotion in promotions {
            let of_rings = promotion.rings.iter().flat_map(Ring::gates);
            for gate in promotion.gates.iter().chain(of_rings) {
                let Some(problem) = self.problem(gate) else { continue };
                let sentence = format!("the gate `{}` before `{}` waits forever: {problem}", gate.name, promotion.to);
                if !found.contains(&sentence) {
                    found.push(sentence);
                }
            }
        }
        found
    }

    fn problem(&self, gate: &Gate) -> Option<String> {
        match &gate.kind {
            GateKind::Check(check) => self.problem_of_check(check),
            GateKind::Approval(approval) => {
                let team = approval.team.as_deref().filter(|team| !self.accounts.teams.contains_key(*team))?;
                Some(format!("`[promotion.teams]` has no `{team}`"))
            }
            _ => None,
        }
    }

    fn problem_of_check(&self, check: &Check) -> Option<String> {
        let name = &check.name;
        match self.checks.kind(name) {
            None => Some(format!("`[promotion.checks]` has no `{name}`")),
            Some(kind) if judgement::fits(kind, &check.expect) => None,
            Some(kind) => {
                let (is, expected) = (kind.title(), judgement::title(&check.expect));
                Some(format!("the check `{name}` is {is}, and the gate expects {expected}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::object::promotion::{
        Approval, ChangeDelivery, Expectation, Gate, Newer, OnFailure, Require, Selection, Start,
    };

    use super::*;
    use crate::{CheckKind, CheckSettings, HttpSettings, Runtime};

    fn gate(name: &str, check: &str, expect: Expectation) -> Gate {
        Gate::new(name.into(), GateKind::Check(Check { name: check.into(), expect }))
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
    fn absent_checks_and_teams_and_checks_of_another_kind_are_missing() {
        let kind = CheckKind::Http(HttpSettings { url: "https://smoke.example".to_owned(), credential: None });
        let checks = Checks::new([("smoke".to_owned(), CheckSettings::new(kind))], Runtime::default()).unwrap();
        let http = Expectation::Http { status: None, json: None };
        let accounts =
            Accounts { teams: [("managers".to_owned(), ["ana".to_owned()].into())].into(), ..Accounts::default() };
        let sources = EvidenceSources { checks, accounts };
        let approval = |team: &str| {
            let kind = GateKind::Approval(Approval { count: 2, team: Some(team.into()) });
            Gate::new("people".into(), kind)
        };
        let good = promotion(vec![gate("a", "smoke", http.clone()), approval("managers")]);
        assert_eq!(sources.missing([&good]), [""; 0]);
        let wrong =
            promotion(vec![gate("a", "smoke", Expectation::Command), gate("b", "load", http), approval("owners")]);
        let expected = [
            "the gate `a` before `prod` waits forever: the check `smoke` is an HTTP request, and the gate expects a command",
            "the gate `b` before `prod` waits forever: `[promotion.checks]` has no `load`",
            "the gate `people` before `prod` waits forever: `[promotion.teams]` has no `owners`",
        ];
        assert_eq!(sources.missing([&good, &wrong, &wrong]), expected);
    }
}
