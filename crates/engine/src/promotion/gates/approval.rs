//! Gates that people decide: enough of them, other than the authors, approved the change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::count::count;
use model::object::promotion::{Approval, Gate};

use super::{GateInput, Verdict};
use crate::promotion::evidence::Authors;
use crate::promotion::state::GateStatus;

/// The accounts of the members of each team.
pub type Teams = BTreeMap<Arc<str>, BTreeSet<Arc<str>>>;

/// Why the approval of an account does not count at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCounted {
    /// It wrote some of the change.
    Author,
    /// It is in another team, or in none.
    OtherTeam,
}

/// Whether the approval of an account counts at a gate. Account names are compared without case.
///
/// # Errors
/// Why it does not count.
pub fn counts(account: &str, approval: &Approval, (authors, teams): (&Authors, &Teams)) -> Result<(), NotCounted> {
    let is_member =
        |members: &BTreeSet<Arc<str>>| members.iter().any(|member| member.to_lowercase() == account.to_lowercase());
    if approval.team.as_ref().is_some_and(|team| !teams.get(team).is_some_and(is_member)) {
        return Err(NotCounted::OtherTeam);
    }
    if authors.contains(account) { Err(NotCounted::Author) } else { Ok(()) }
}

/// The authors as a state keeps them: only if a gate waits for approvals.
pub(in crate::promotion) fn recorded<'g>(
    gates: impl IntoIterator<Item = &'g Gate>,
    authors: &Authors,
) -> Option<Authors> {
    gates.into_iter().any(|gate| gate.kind.is_approval()).then(|| authors.clone())
}

/// Whether enough people approved. If not all authors are known, one more approval is needed, because one of the accounts that approved may be an author.
pub(super) fn verdict((name, approval): (&str, &Approval), input: &GateInput<'_>) -> Verdict {
    if let Some(team) = approval.team.as_ref().filter(|team| !input.teams.contains_key(*team)) {
        return (GateStatus::Waiting, format!("the team `{team}` is not in the configuration of the service"));
    }
    let meant = input.approvals.iter().filter(|approver| approver.gate.as_ref().is_none_or(|gate| **gate == *name));
    let (mut counted, mut others) = (BTreeSet::new(), BTreeMap::new());
    for account in meant.map(|approver| approver.account.to_lowercase()) {
        match counts(&account, approval, (input.authors, input.teams)) {
            Ok(()) => drop(counted.insert(account)),
            Err(why) => drop(others.insert(account, why)),
        }
    }
    let needed = approval.count as usize + usize::from(input.authors.has_unknown);
    let status = if counted.len() >= needed { GateStatus::Passed } else { GateStatus::Waiting };
    let team = approval.team.as_ref().map_or_else(String::new, |team| format!(" of the team `{team}`"));
    let by = if counted.is_empty() {
        String::new()
    } else {
        format!(" ({})", counted.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    let mut parts = vec![format!("{} of {}{team}{by}", counted.len(), count(needed, "approval"))];
    match (input.authors.has_unknown, input.authors.accounts.is_empty()) {
        (false, _) => {}
        (true, true) => parts.push("one more, because the author of the change is not known".to_owned()),
        (true, false) => parts.push("one more, because not all authors of the change are known".to_owned()),
    }
    if !others.is_empty() {
        let word = |why: &NotCounted| match why {
            NotCounted::Author => "an author",
            NotCounted::OtherTeam => "not in the team",
        };
        let others: Vec<_> = others.iter().map(|(account, why)| format!("{account} ({})", word(why))).collect();
        parts.push(format!("not counted: {}", others.join(", ")));
    }
    let possible = approval.team.as_ref().map(|team| possible(&input.teams[team], input.authors));
    if let Some(possible) = possible.filter(|possible| *possible < needed) {
        parts.push(format!("it can't be reached: {possible} of the team did not write the change"));
    }
    (status, parts.join("; "))
}

/// The number of members of a team whose approval would count.
fn possible(members: &BTreeSet<Arc<str>>, authors: &Authors) -> usize {
    members.iter().filter(|member| !authors.contains(member)).count()
}
