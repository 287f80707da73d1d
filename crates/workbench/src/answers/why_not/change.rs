//! Changes of objects, with their effect on other assignments.

use engine::answers::why_not::{ChangeReach, EditAction, ObjectEdit, SuggestedChange};
use hub_api::compiled::SourcePosition;
use model::locate::Locator;
use serde::Serialize;
use utoipa::ToSchema;

/// A change after which something would apply.
#[derive(Serialize, ToSchema)]
pub(super) struct ChangeFields {
    edits: Vec<EditFields>,
    /// The number of assignments of the question that the change adds.
    answers: u64,
    /// The number of other assignments that it adds.
    adds: u64,
    /// The number of assignments that it removes.
    removes: u64,
    /// The number of other assignments that get other `ConfigMap`s or schemas.
    reconfigures: u64,
}

/// An edit of one object.
#[derive(Serialize, ToSchema)]
struct EditFields {
    /// The kind of an object to edit.
    kind: &'static str,
    /// The name of this object.
    object: String,
    /// The field.
    field: String,
    /// Where the field is, or where it would be added.
    place: Option<SourcePosition>,
    /// `setLabel`, `removeLabel`, `setRequirement`, `removeRequirement` or `setWorkspace`.
    action: &'static str,
    /// The label's key; `null` for a workspace.
    key: Option<String>,
    /// The value or requirement now; may be `null`.
    before: Option<String>,
    /// The new value or requirement; `null` if it is removed.
    after: Option<String>,
    /// The registration of the team to ask, if the object is in its repository.
    registration: Option<String>,
}

impl ChangeFields {
    pub(super) fn all(changes: &[SuggestedChange], locator: &mut Locator<'_>) -> Vec<Self> {
        let of = |change: &SuggestedChange| {
            let ChangeReach { answers, added: adds, removed: removes, reconfigured: reconfigures } = change.reach;
            let edits = change.edits.iter().map(|edit| EditFields::new(edit, locator)).collect();
            Self { edits, answers, adds, removes, reconfigures }
        };
        changes.iter().map(of).collect()
    }
}

impl EditFields {
    fn new(edit: &ObjectEdit, locator: &mut Locator<'_>) -> Self {
        let (action, key, before, after) = match &edit.action {
            EditAction::SetLabel { key, value, before } => {
                ("setLabel", Some(key), before.clone(), Some(value.to_string()))
            }
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
        Self {
            kind: edit.object.kind.name(),
            object: edit.object.name.to_string(),
            field: edit.path.to_string(),
            place: SourcePosition::find(&edit.origin(), locator),
            action,
            key: key.map(ToString::to_string),
            before: before.as_deref().map(str::to_owned),
            after,
            registration: edit.registration.as_ref().map(ToString::to_string),
        }
    }
}
