//! Changes of objects, with their effect on other assignments.

use engine::answers::why_not::{ChangeReach, EditAction, ObjectEdit, SuggestedChange};
use hub_api::compiled::{SourcePosition, WhyNotChange, WhyNotEdit};
use model::locate::Locator;

pub(super) fn change_fields(changes: &[SuggestedChange], locator: &mut Locator<'_>) -> Vec<WhyNotChange> {
    let of = |change: &SuggestedChange| {
        let ChangeReach { answers, added: adds, removed: removes, reconfigured: reconfigures } = change.reach;
        let edits = change.edits.iter().map(|edit| edit_fields(edit, locator)).collect();
        WhyNotChange { edits, answers, adds, removes, reconfigures }
    };
    changes.iter().map(of).collect()
}

fn edit_fields(edit: &ObjectEdit, locator: &mut Locator<'_>) -> WhyNotEdit {
    let (action, key, before, after) = match &edit.action {
        EditAction::SetLabel { key, value, before } => ("setLabel", Some(key), before.clone(), Some(value.to_string())),
        EditAction::RemoveLabel { key, before } => ("removeLabel", Some(key), Some(before.clone()), None),
        EditAction::SetRequirement { before, after, .. } => {
            ("setRequirement", Some(&before.key), Some(before.to_string().into()), Some(after.to_string()))
        }
        EditAction::RemoveRequirement { before, .. } => {
            ("removeRequirement", Some(&before.key), Some(before.to_string().into()), None)
        }
        EditAction::SetWorkspace { before, after } => {
            ("setWorkspace", None, Some(before.clone()), Some(after.to_string()))
        }
    };
    WhyNotEdit {
        kind: edit.object.kind.name().to_owned(),
        object: edit.object.name.to_string(),
        field: edit.path.to_string(),
        place: SourcePosition::find(&edit.origin(), locator),
        action: action.to_owned(),
        key: key.map(ToString::to_string),
        before: before.as_deref().map(str::to_owned),
        after,
        registration: edit.registration.as_ref().map(ToString::to_string),
    }
}
