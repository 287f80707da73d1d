//! Describes changes of objects, with their effect on other assignments.

use engine::answers::why_not::{ChangeReach, EditAction, ObjectEdit, SuggestedChange};
use model::kind::Kind;
use model::locate::Locator;

use crate::{places, terminal};

/// The maximum number of changes that are shown.
const CHANGES_MAX: usize = 2;

/// The lines about changes: the edits with their places, and the effect of each change.
pub(super) fn lines(changes: &[SuggestedChange], target: Option<&str>, locator: &mut Locator<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    // Several ways of several edits are too much to read.
    let shown = if changes.first().is_some_and(|change| change.edits.len() > 1) { 1 } else { CHANGES_MAX };
    for (number, change) in changes.iter().take(shown).enumerate() {
        for (position, edit) in change.edits.iter().enumerate() {
            let title = match (number, position) {
                (0, 0) => "smallest change",
                (_, 0) => "or",
                _ => "and",
            };
            let place = places::shown(&edit.origin(), locator);
            lines.push(format!("    {title:<15}  {}   {place}", edit_text(edit, target)));
            lines.extend(asked_team(edit).map(|text| format!("    {:<15}  {text}", "")));
        }
        lines.push(format!("    {:<15}  {}", "", reach_text(change.reach)));
    }
    lines
}

/// The team to ask for an edit in the repository of an application.
fn asked_team(edit: &ObjectEdit) -> Option<String> {
    let registration = edit.registration.as_ref()?;
    Some(format!("this is in the repository of registration {registration}: ask its team"))
}

fn edit_text(edit: &ObjectEdit, target: Option<&str>) -> String {
    let object = object_text(edit, target);
    match &edit.action {
        EditAction::SetLabel { key, value, before: None } => format!("label {object} {key}={value}"),
        EditAction::SetLabel { key, value, before: Some(before) } => {
            format!("label {object} {key}={value} instead of {key}={before}")
        }
        EditAction::RemoveLabel { key, before } => format!("remove label {key}={before} of {object}"),
        EditAction::SetRequirement { before, after, .. } => format!("in the policy, write {after} instead of {before}"),
        EditAction::RemoveRequirement { before, .. } => format!("in the policy, remove {before}"),
        EditAction::SetWorkspace { before, after } if after.is_empty() => {
            format!("in the policy, remove workspace {before}: it then selects targets of any workspace")
        }
        EditAction::SetWorkspace { before, after } if before.is_empty() => format!("set workspace {after} in {object}"),
        EditAction::SetWorkspace { before, after } => {
            format!("write workspace {after} instead of {before} in {object}")
        }
    }
}

fn object_text(edit: &ObjectEdit, target: Option<&str>) -> String {
    let ObjectEdit { object, path, .. } = edit;
    let is_of_target = object.kind == Kind::Workload && path.to_string().starts_with("spec.");
    match (object.kind, target) {
        (Kind::Workload, Some(target)) if is_of_target => format!("deployment target `{target}`"),
        (Kind::Workload, _) if !is_of_target => format!("{object} (all its deployment targets)"),
        _ => object.to_string(),
    }
}

/// The effect of a change on assignments that the question is not about.
fn reach_text(reach: ChangeReach) -> String {
    let ChangeReach { answers, added, removed, reconfigured } = reach;
    let count = |number: u64, noun: &str| terminal::count(number as usize, noun);
    let mut effects = Vec::new();
    if answers > 1 {
        effects.push(format!("adds these {}", count(answers, "assignment")));
    }
    if added > 0 {
        effects.push(format!("adds {}", count(added, "other assignment")));
    }
    if removed > 0 {
        effects.push(format!("removes {}", count(removed, "assignment")));
    }
    if reconfigured > 0 {
        effects.push(format!("changes the ConfigMaps or schemas of {}", count(reconfigured, "other assignment")));
    }
    if reach.others() == 0 {
        effects.push(if answers > 1 { "and no others" } else { "changes no other assignment" }.to_owned());
    }
    effects.join(", ")
}
