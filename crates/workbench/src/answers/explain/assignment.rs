//! The explanation of an assignment.

use std::collections::BTreeMap;

use delivery::output::rings::HeldContent;
use delivery::sources::loaded::Loaded;
use engine::answers::explain::{Explanation, MappedLabel, PolicyReason};
use engine::compile::{Prepared, SingleAssignments};
use engine::hold::Held;
use model::diagnostic::{AssignmentId, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::locate::Locator;
use model::object::release_pin::MANIFESTS;
use model::object::{Object, ReleasePin};
use serde::Serialize;
use utoipa::ToSchema;

use super::held::{self, HeldFields};
use super::value::ExplainedValue;
use crate::held_assignments::HeldAssignments;
use crate::listing::position::SourcePosition;
use crate::listing::rows::PublishedContent;
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

/// The explanation of an assignment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedAssignment {
    /// The cluster type.
    cluster_type: String,
    /// The cluster; `null` if the assignment is the cluster type's.
    cluster: Option<String>,
    /// The deployment target.
    target: String,
    /// Its workload.
    workload: String,
    /// The workspace (the team) that it belongs to.
    workspace: String,
    /// The `WorkloadRegistration` that brought the workload; may be `null`.
    registration: Option<String>,
    /// Where the target is written.
    place: Option<SourcePosition>,
    policies: Vec<PolicyFields>,
    mapped_labels: Vec<MappedFields>,
    release_pins: Vec<PinFields>,
    /// The names of the templates: reconciler, namespace, configuration.
    templates: Vec<String>,
    /// The version of the configuration: the same for the same values.
    config_version: String,
    /// Every value, as in `explain KEY`; `endsUpIn` is empty here, because files are searched for one value at a time.
    #[schema(value_type = Vec<Object>)]
    values: Vec<ExplainedValue>,
    /// One for each branch on which it is held, because it fails and a release pin reaches it.
    held: Vec<HeldFields>,
    /// What is published at the place, if it differs from the desired content: the place waits in a ring or in a pull request, is not published yet, or the assignment has errors. `null` if the place has the desired content, or if the branch has no publication.
    rollout: Option<PublishedContent>,
}

/// A policy that makes an assignment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PolicyFields {
    /// A policy that makes the assignment.
    policy: String,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// Its requirements of the target, in words.
    target: Vec<String>,
    /// Its requirements of the cluster type, in words.
    cluster_type: Vec<String>,
}

/// A label that a `LabelMapping` added.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MappedFields {
    /// A label that a `LabelMapping` added to the target.
    label: String,
    /// Its value.
    value: String,
    /// That `LabelMapping`.
    label_mapping: String,
    /// Where the label is written.
    place: Option<SourcePosition>,
}

/// A release pin that holds an assignment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PinFields {
    /// A `ReleasePin` that holds it.
    release_pin: String,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// The keys of the manifests that it overrides, with their values.
    manifests: BTreeMap<String, String>,
    /// The reason that it gives.
    reason: String,
    /// The day after which it is warned of; `null` if there is none.
    expires: Option<String>,
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

impl ExplainedAssignment {
    /// The explanation, with positions in files.
    pub fn new(facts: &AssignmentFacts, locator: &mut Locator<'_>) -> Self {
        let AssignmentFacts { explanation, held, published, .. } = facts;
        Self {
            cluster_type: explanation.place.cluster_type.name.to_string(),
            cluster: explanation.place.cluster.as_ref().map(|cluster| cluster.name.to_string()),
            target: explanation.id.target.to_string(),
            workload: explanation.workload.to_string(),
            workspace: explanation.workspace.to_string(),
            registration: explanation.registration.as_ref().map(ToString::to_string),
            place: SourcePosition::find(&explanation.target, locator),
            policies: explanation.policies.iter().map(|reason| PolicyFields::new(reason, locator)).collect(),
            mapped_labels: explanation.mapped.iter().map(|label| MappedFields::new(label, locator)).collect(),
            release_pins: explanation.pins.iter().map(|pin| PinFields::new(pin, locator)).collect(),
            templates: explanation.templates.iter().map(ToString::to_string).collect(),
            config_version: explanation.version.to_string(),
            values: explanation.values.iter().map(|value| ExplainedValue::new(value, locator)).collect(),
            held: HeldFields::all(held),
            rollout: published.as_ref().map(PublishedContent::new),
        }
    }
}

impl PolicyFields {
    fn new(reason: &PolicyReason, locator: &mut Locator<'_>) -> Self {
        Self {
            policy: reason.policy.to_string(),
            place: SourcePosition::find(&reason.origin, locator),
            target: reason.target.clone(),
            cluster_type: reason.cluster_type.clone(),
        }
    }
}

impl MappedFields {
    fn new(label: &MappedLabel, locator: &mut Locator<'_>) -> Self {
        Self {
            label: label.key.to_string(),
            value: label.value.to_string(),
            label_mapping: label.mapping.to_string(),
            place: SourcePosition::find(&label.origin, locator),
        }
    }
}

impl PinFields {
    fn new(pin: &Object<ReleasePin>, locator: &mut Locator<'_>) -> Self {
        Self {
            release_pin: pin.name.to_string(),
            place: SourcePosition::find(&Origin::field(&pin.key(), FieldPath::from(MANIFESTS)), locator),
            manifests: pairs(pin.spec.manifests.iter().map(|(key, value)| (&**key, &**value))),
            reason: pin.spec.reason.to_string(),
            expires: pin.spec.expires.map(|expiry| expiry.to_string()),
        }
    }
}
