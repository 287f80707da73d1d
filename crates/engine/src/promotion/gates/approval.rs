//! Gates that people decide: enough of them, other than the author, approved the change.

use std::collections::BTreeSet;

use model::count::count;
use model::object::promotion::Approval;

use super::{GateInput, Verdict};
use crate::promotion::state::GateStatus;

/// Whether enough people approved. Accounts differ only in more than upper and lower case. If the author is not known, any of the approvals may be the
/// author's, so one more is needed.
pub(super) fn verdict((name, approval): (&str, &Approval), input: &GateInput<'_>) -> Verdict {
    let members = match &approval.team {
        None => None,
        Some(team) => match input.teams.get(team) {
            Some(members) => Some(members.iter().map(|account| account.to_lowercase()).collect::<BTreeSet<_>>()),
            None => {
                return (GateStatus::Waiting, format!("the team `{team}` is not in the configuration of the service"));
            }
        },
    };
    let author = input.author.map(str::to_lowercase);
    let meant = input.approvals.iter().filter(|approver| approver.gate.as_ref().is_none_or(|gate| **gate == *name));
    let accounts = meant.map(|approver| approver.account.to_lowercase());
    let counted = accounts.filter(|account| {
        Some(account) != author.as_ref() && members.as_ref().is_none_or(|members| members.contains(account))
    });
    let counted: BTreeSet<_> = counted.collect();
    let needed = approval.count as usize + usize::from(author.is_none());
    let status = if counted.len() >= needed { GateStatus::Passed } else { GateStatus::Waiting };
    let by = if counted.is_empty() {
        String::new()
    } else {
        format!(" ({})", counted.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    let team = approval.team.as_ref().map_or_else(String::new, |team| format!(" of the team `{team}`"));
    let unknown = if author.is_none() { "; one more, because the author of the change is not known" } else { "" };
    (status, format!("{} of {}{team}{by}{unknown}", counted.len(), count(needed, "approval")))
}
