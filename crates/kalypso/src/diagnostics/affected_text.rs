//! The texts about the assignments that a finding affects.

use model::count::{count, thousands};
use model::diagnostic::Severity;
use workbench::diagnostics::{AffectedAssignments, Fate, LocatedDiagnostic};

/// The number of assignments that are named if there are more.
const ASSIGNMENTS_SHOWN: usize = 2;

/// The texts beside the message and the positions: notes, affected assignments, advice.
pub(super) fn facts(
    finding: &LocatedDiagnostic<'_>,
    reaches: &[AffectedAssignments],
    names_environments: bool,
) -> Vec<String> {
    let mut facts = finding.notes.clone();
    facts.extend(all_consequences(finding, reaches, names_environments));
    facts.extend(finding.help.iter().map(|help| format!("help: {help}")));
    facts
}

/// The affected assignments in all environments, and the consequences for them.
pub(super) fn all_consequences(
    finding: &LocatedDiagnostic<'_>,
    reaches: &[AffectedAssignments],
    names_environments: bool,
) -> Vec<String> {
    let is_error = finding.severity == Severity::Error;
    let reached = reaches.iter().filter(|reach| !reach.assignments.is_empty());
    reached.flat_map(|reach| consequences(reach, is_error, names_environments)).collect()
}

/// The affected assignments in one environment, and the consequences for them.
fn consequences(reach: &AffectedAssignments, is_error: bool, names_environments: bool) -> Vec<String> {
    let number = reach.assignments.len();
    let named = if number <= ASSIGNMENTS_SHOWN + 1 { number } else { ASSIGNMENTS_SHOWN };
    let mut names: Vec<_> = reach.assignments.iter().take(named).map(ToString::to_string).collect();
    if named < number {
        names.push(format!("{} more", thousands(number - named)));
    }
    let environment = reach.environment.as_ref().filter(|_| names_environments);
    let environment = environment.map_or_else(String::new, |environment| format!(" of {environment}"));
    let reached = format!("reaches {}{environment}: {}", count(number, "assignment"), listed(&names));
    if is_error { vec![reached, kept(reach)] } else { vec![reached] }
}

fn kept(reach: &AffectedAssignments) -> String {
    let number = reach.assignments.len();
    let is_one = number == 1;
    let kept = match reach.fate {
        Fate::Published if is_one => "it keeps what was published of it, if anything was".to_owned(),
        Fate::Published => "these keep what was published of them, if anything was".to_owned(),
        Fate::LeftOut if is_one => "it is left out".to_owned(),
        Fate::LeftOut => "these are left out".to_owned(),
        Fate::Kept(0, _) if is_one => "it was never published, and is left out".to_owned(),
        Fate::Kept(0, _) => "these were never published, and are left out".to_owned(),
        Fate::Kept(kept, commit) => {
            let commit = commit.map_or_else(String::new, |commit| format!(" (commit {})", commit.short()));
            match number - kept {
                0 if is_one => format!("it keeps its last good output{commit}"),
                0 => format!("these keep their last good output{commit}"),
                others => {
                    let keep = if kept == 1 { "keeps its" } else { "keep their" };
                    let were = if others == 1 { "other one was" } else { "others were" };
                    let kept = thousands(kept);
                    format!("{kept} of these {keep} last good output{commit}; the {were} never published, and left out")
                }
            }
        }
    };
    let others = match reach.others {
        None | Some(0) => String::new(),
        Some(1) => "; 1 other is not affected".to_owned(),
        Some(others) => format!("; {} others are not affected", thousands(others)),
    };
    format!("{kept}{others}")
}

/// Joins names: `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use model::diagnostic::AssignmentId;
    use model::git_id::GitId;
    use model::name::{DeploymentTargetName, PlaceName};

    use super::*;

    fn check(number: usize, fate: Fate, expected: &str) {
        let id = |index| AssignmentId {
            place: PlaceName::new("edge").unwrap(),
            target: DeploymentTargetName::new(format!("shop-{index}")).unwrap(),
        };
        let reach = AffectedAssignments {
            environment: None,
            assignments: (0..number).map(id).collect(),
            others: Some(1),
            fate,
        };
        assert_eq!(kept(&reach), format!("{expected}; 1 other is not affected"));
    }

    #[test]
    fn texts_distinguish_published_and_unpublished_output() {
        let commit = Some(GitId::of_blob(b""));
        check(1, Fate::Kept(1, commit), "it keeps its last good output (commit e69de29)");
        check(2, Fate::Kept(2, None), "these keep their last good output");
        check(1, Fate::Kept(0, commit), "it was never published, and is left out");
        check(2, Fate::Kept(0, commit), "these were never published, and are left out");
        let one = "1 of these keeps its last good output; the other one was never published, and left out";
        check(2, Fate::Kept(1, None), one);
        check(
            5,
            Fate::Kept(2, None),
            "2 of these keep their last good output; the others were never published, and left out",
        );
        check(1, Fate::Published, "it keeps what was published of it, if anything was");
        check(2, Fate::LeftOut, "these are left out");
    }
}
