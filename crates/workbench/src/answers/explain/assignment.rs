//! The explanation of an assignment.

use delivery::output::rings::HeldContent;
use delivery::sources::loaded::Loaded;
use engine::answers::explain::{Explanation, MappedLabel, PolicyReason};
use engine::compile::{Prepared, SingleAssignments};
use engine::hold::Held;
use hub_api::compiled::{ExplainedAssignment, ExplainedLabel, ExplainedPin, ExplainedPolicy, SourcePosition};
use model::diagnostic::{AssignmentId, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::locate::Locator;
use model::object::release_pin::MANIFESTS;
use model::object::{Object, ReleasePin};

use super::held;
use super::value::explained_value;
use crate::held_assignments::HeldAssignments;
use crate::listing::rows::published_content;
use crate::listing::view::pairs;

/// What is known of an assignment.
pub struct AssignmentFacts {
    /// The reasons for it.
    pub explanation: Explanation,
    /// The diagnostics about it.
    pub problems: Vec<Diagnostic>,
    /// The files that release pins hold because it fails, on each branch.
    pub held: Vec<(String, Held)>,
    /// What is published, if it is not the desired content.
    pub published: Option<HeldContent>,
}

impl AssignmentFacts {
    /// None if there is no such assignment. `warn` gets what can't be read of the branches.
    pub fn find(loaded: &Loaded, prepared: &Prepared, id: &AssignmentId, warn: &dyn Fn(&str)) -> Option<Self> {
        let explanation = prepared.explain(id)?;
        let problems = prepared.problems(id);
        let held = held::files(loaded, (prepared, &problems), id).unwrap_or_else(|error| {
            warn(&format!("the files that release pins hold in the GitOps branch can't be read: {error}"));
            Vec::new()
        });
        let alone = |ids: &[AssignmentId]| SingleAssignments::new(prepared, ids.iter()).folders(ids);
        let mut published = HeldAssignments::read(loaded, prepared, warn).find(std::slice::from_ref(id), alone);
        Some(Self { explanation, problems, held, published: published.remove(id) })
    }
}

/// The explanation of an assignment, with positions in files.
pub fn explained_assignment(facts: &AssignmentFacts, locator: &mut Locator<'_>) -> ExplainedAssignment {
    let AssignmentFacts { explanation, held, published, .. } = facts;
    ExplainedAssignment {
        cluster_type: explanation.place.cluster_type.name.to_string(),
        cluster: explanation.place.cluster.as_ref().map(|cluster| cluster.name.to_string()),
        target: explanation.id.target.to_string(),
        workload: explanation.workload.to_string(),
        workspace: explanation.workspace.to_string(),
        registration: explanation.registration.as_ref().map(ToString::to_string),
        place: SourcePosition::find(&explanation.target, locator),
        policies: explanation.policies.iter().map(|reason| policy(reason, locator)).collect(),
        mapped_labels: explanation.mapped.iter().map(|label| mapped_label(label, locator)).collect(),
        release_pins: explanation.pins.iter().map(|pin| release_pin(pin, locator)).collect(),
        templates: explanation.templates.iter().map(ToString::to_string).collect(),
        config_version: explanation.version.to_string(),
        values: explanation.values.iter().map(|value| explained_value(value, locator)).collect(),
        held: held::explained(held),
        rollout: published.as_ref().map(published_content),
    }
}

fn policy(reason: &PolicyReason, locator: &mut Locator<'_>) -> ExplainedPolicy {
    ExplainedPolicy {
        policy: reason.policy.to_string(),
        place: SourcePosition::find(&reason.origin, locator),
        target: reason.target.clone(),
        cluster_type: reason.cluster_type.clone(),
    }
}

fn mapped_label(label: &MappedLabel, locator: &mut Locator<'_>) -> ExplainedLabel {
    ExplainedLabel {
        label: label.key.to_string(),
        value: label.value.to_string(),
        label_mapping: label.mapping.to_string(),
        place: SourcePosition::find(&label.origin, locator),
    }
}

fn release_pin(pin: &Object<ReleasePin>, locator: &mut Locator<'_>) -> ExplainedPin {
    ExplainedPin {
        release_pin: pin.name.to_string(),
        place: SourcePosition::find(&Origin::field(&pin.key(), FieldPath::from(MANIFESTS)), locator),
        manifests: pairs(pin.spec.manifests.iter().map(|(key, value)| (&**key, &**value))),
        reason: pin.spec.reason.to_string(),
        expires: pin.spec.expires.map(|expiry| expiry.to_string()),
    }
}
