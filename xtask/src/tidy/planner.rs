//! Only `engine::promotion` decides about promotions: other code calls its step, and does not compare gates.

use super::Finding;
use crate::workspace::Workspace;

/// Where gates are read and compared.
const HOME: &[&str] = &["crates/engine/src/promotion/", "crates/model/src/"];

/// Where gates are named for another reason.
const NAMED: &[(&str, &str)] = &[
    ("crates/checks/src/sources.rs", "the checks and teams that the configuration must have"),
    ("crates/kalypso/src/commands/promotion/dry_run.rs", "gates in words"),
    ("crates/simulator/src/scenario/walk/", "the model that checks the decisions"),
    ("crates/simulator/src/scenario/world/resting.rs", "what people do about a gate in a walk"),
    ("crates/simulator/src/scenario/world/system.rs", "the results of checks"),
    ("crates/simulator/src/scenario/read/references.rs", "the checks that a scenario names"),
];

/// The parts of a step. Its order and its facts are one decision, so only the whole step is called.
const PARTS: &[&[&str]] = &[
    &["advance", "::", "step", "("],
    &["rollout", "::", "step", "("],
    &["source", "::", "step", "("],
    &["gates", "::", "evaluate", "("],
    &["apply_to_advance", "("],
    &["apply_to_rollout", "("],
];

/// Files that apply a command to one state, because the command is about exactly that.
const COMMANDS: &[&str] =
    &["crates/delivery/src/promotion/controller/acts.rs", "crates/delivery/src/promotion/controller/command/values.rs"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_source = |path: &str| path.starts_with("crates/") && path.contains("/src/") && !path.contains("/tests");
    let is_elsewhere = |path: &str| HOME.iter().all(|home| !path.starts_with(home));
    let sources = workspace.rust.iter().filter(|(path, _)| is_source(path) && is_elsewhere(path));
    for (path, source) in sources {
        if NAMED.iter().all(|(named, _)| !path.starts_with(named)) {
            let message = "planner law: only `engine::promotion` compares gates: ask a method of `GateKind`, or let the step decide";
            findings.extend(source.find(&["GateKind", "::"]).into_iter().map(|line| Finding::new(path, line, message)));
        }
        let parts = PARTS.iter().flat_map(|part| source.find(part).into_iter().map(move |line| (part, line)));
        let is_allowed = |part: &[&str]| part[0].starts_with("apply_to_") && COMMANDS.contains(&path.as_str());
        for (part, line) in parts.filter(|(part, _)| !is_allowed(part)) {
            let name = part.concat();
            let message =
                format!("planner law: `{name}…)` is a part of a decision: call `promotion::step` or `decision::apply`");
            findings.push(Finding::new(path, line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(path: &str, text: &str) -> usize {
        check_law(super::check, &[(path, text)]).len()
    }

    #[test]
    fn gates_are_compared_in_one_place() {
        let text = "fn f(gate: &Gate) -> bool { matches!(gate.kind, GateKind::Manual) }\n";
        assert_eq!(check("crates/delivery/src/a.rs", text), 1);
        assert_eq!(check("crates/engine/src/promotion/gates.rs", text), 0);
        assert_eq!(check("crates/simulator/src/scenario/walk/referee.rs", text), 0);
        assert_eq!(check("crates/delivery/tests/delivery/a.rs", text), 0);
    }

    #[test]
    fn only_the_engine_calls_the_parts_of_a_step() {
        let text = "fn f() { let next = advance::step(&input, state); }\n";
        assert_eq!(check("crates/delivery/src/a.rs", text), 1);
        assert_eq!(check("crates/simulator/src/scenario/walk/a.rs", text), 1);
        assert_eq!(check("crates/engine/src/promotion/step/moves.rs", text), 0);
        let command = "fn f() { let after = apply_to_advance(&before, command); }\n";
        assert_eq!(check("crates/delivery/src/a.rs", command), 1);
        assert_eq!(check("crates/delivery/src/promotion/controller/acts.rs", command), 0);
    }
}
