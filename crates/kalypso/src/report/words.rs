//! The words for whom a finding reaches, and how many.

use model::diagnostic::Severity;

use super::Fallback;
use super::finding::{Finding, Reach};
use crate::terminal::{count, thousands};

/// How many assignments are named where there are more.
const ASSIGNMENTS_SHOWN: usize = 2;

/// What there is to say beside the message and the places: notes, whom it reaches, advice.
pub(super) fn facts(finding: &Finding<'_>, reaches: &[Reach], names_environments: bool) -> Vec<String> {
    let mut facts = finding.notes.clone();
    facts.extend(all_consequences(finding, reaches, names_environments));
    facts.extend(finding.help.iter().map(|help| format!("help: {help}")));
    facts
}

/// Whom it reaches in all environments, and what becomes of them.
pub(super) fn all_consequences(finding: &Finding<'_>, reaches: &[Reach], names_environments: bool) -> Vec<String> {
    let is_error = finding.severity == Severity::Error;
    let reached = reaches.iter().filter(|reach| !reach.assignments.is_empty());
    reached.flat_map(|reach| consequences(reach, is_error, names_environments)).collect()
}

/// Whom it reaches, and what becomes of them.
fn consequences(reach: &Reach, is_error: bool, names_environments: bool) -> Vec<String> {
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

fn kept(reach: &Reach) -> String {
    let is_one = reach.assignments.len() == 1;
    let kept = match (reach.fallback, is_one) {
        (Fallback::Nothing, true) => "it is left out",
        (Fallback::Nothing, false) => "these are left out",
        (Fallback::LastGood(_), true) => "it keeps its last good output",
        (Fallback::LastGood(_), false) => "these keep their last good output",
    };
    let commit = match reach.fallback {
        Fallback::LastGood(Some(commit)) => format!(" (commit {})", commit.short()),
        _ => String::new(),
    };
    let others = match reach.others {
        None | Some(0) => String::new(),
        Some(1) => "; 1 other is not affected".to_owned(),
        Some(others) => format!("; {} others are not affected", thousands(others)),
    };
    format!("{kept}{commit}{others}")
}

/// `a`, `a and b`, `a, b and c`
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
