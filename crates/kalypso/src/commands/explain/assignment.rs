//! The explanation of an assignment, for people and for programs.

use std::collections::BTreeMap;

use delivery::output::rings::HeldContent;
use engine::answers::explain::{Explanation, MappedLabel, PolicyReason};
use engine::hold::Held;
use model::credential::without;
use model::diagnostic::{Diagnostic, Origin};
use model::excerpt;
use model::field_path::FieldPath;
use model::locate::Locator;
use model::object::release_pin::MANIFESTS;
use model::object::{Object, ReleasePin};
use serde::Serialize;
use utoipa::ToSchema;
use workbench::listing::position::SourcePosition;
use workbench::listing::rows::PublishedContent;
use workbench::listing::view::pairs;

use super::context::ExplanationContext;
use super::held::HeldFields;
use super::value::ValueFields;
use crate::terminal;

/// The maximum length of a value, in characters.
const SHOWN_MAX: usize = 36;

pub(super) fn text(explanation: &Explanation, words: &mut ExplanationContext<'_, '_>) -> String {
    let Explanation { id, policies, values, .. } = explanation;
    let mut lines = vec![format!(
        "{} runs on {} in {} because {} so",
        id.target,
        id.place,
        words.environment,
        says(policies.len())
    )];
    for reason in policies {
        lines.push(String::new());
        lines.push(format!("  {}   {}", reason.policy, words.place(&reason.origin)));
        lines.push(format!("    target         {}", requirements(&reason.target)));
        lines.push(format!("    cluster type   {}", requirements(&reason.cluster_type)));
    }
    lines.push(String::new());
    let team = if explanation.workspace.is_empty() { String::new() } else { format!(" of {}", explanation.workspace) };
    lines.push(format!("  workload       {}{team}   {}", explanation.workload, words.place(&explanation.target)));
    if let Some(registration) = &explanation.registration {
        lines.push(format!("  registered by  {registration}"));
    }
    for MappedLabel { key, value, mapping, origin } in &explanation.mapped {
        lines.push(format!("  label          {key}={value}, added by mapping {mapping}   {}", words.place(origin)));
    }
    lines.extend(explanation.pins.iter().flat_map(|pin| pin_lines(pin, words)));
    let [reconciler, namespace, config] = &explanation.templates;
    lines.push(format!("  templates      {reconciler}, {namespace}, {config}"));
    lines.push(format!("  configuration  version {}, {}", explanation.version, terminal::count(values.len(), "value")));
    if !values.is_empty() {
        lines.push(String::new());
    }
    let widest = values.iter().map(|value| value.path.to_string().chars().count()).max().unwrap_or_default().min(40);
    for value in values {
        let from =
            value.set_by.as_ref().map(|source| format!("{}   {}", source.container, words.place(&source.origin)));
        let shown = excerpt::first(value.shown.as_deref().unwrap_or_default(), SHOWN_MAX);
        let over =
            if value.overrides.is_empty() { String::new() } else { format!(" (overrides {})", value.overrides.len()) };
        lines.push(format!("    {:widest$}  {shown:<36}  {}{over}", value.path.to_string(), from.unwrap_or_default()));
    }
    if !values.is_empty() {
        lines.push(String::new());
        lines.push(format!("  kalypso explain -e {} {id} KEY shows more about one value", words.environment));
    }
    lines.join("\n") + "\n"
}

fn pin_lines(pin: &Object<ReleasePin>, words: &mut ExplanationContext<'_, '_>) -> Vec<String> {
    let ReleasePin { manifests, reason, expires, .. } = &pin.spec;
    let place = words.place(&Origin::field(&pin.key(), FieldPath::from(MANIFESTS)));
    let manifests: Vec<_> = manifests.iter().map(|(key, value)| format!("{key}={}", without(value))).collect();
    let mut lines = vec![format!("  pinned by      {}   {place}   {}", pin.name, manifests.join("   "))];
    let expires = expires.map(|expiry| format!("expires {expiry}"));
    let reason = (!reason.is_empty()).then(|| reason.lines().collect::<Vec<_>>().join(" "));
    let more: Vec<_> = expires.into_iter().chain(reason).collect();
    if !more.is_empty() {
        lines.push(format!("                 {}", more.join(": ")));
    }
    lines
}

fn says(count: usize) -> String {
    if count == 1 { "1 policy says".to_owned() } else { format!("{count} policies say") }
}

fn requirements(requirements: &[String]) -> String {
    if requirements.is_empty() { "any".to_owned() } else { requirements.join("   ") }
}

/// The diagnostics that prevent the assignment from being rendered.
pub(super) fn problems_text(problems: &[Diagnostic], held: &[(String, Held)]) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let of_held: Vec<_> = held.iter().flat_map(|(_, held)| held.diagnostics()).collect();
    let lines = problems
        .iter()
        .chain(&of_held)
        .map(|problem| format!("    {}[{}]: {}\n", problem.severity, problem.code, problem.message));
    format!("\n  what is wrong with it (kalypso check shows more)\n{}", lines.collect::<String>())
}

/// The explanation of an assignment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AssignmentFields {
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
    /// Every value, as in `explain KEY`.
    #[schema(value_type = Vec<Object>)]
    values: Vec<ValueFields>,
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

impl AssignmentFields {
    /// `published`: what is published, if it is not the desired content.
    pub(super) fn new(
        explanation: &Explanation,
        held: &[(String, Held)],
        published: Option<&HeldContent>,
        locator: &mut Locator<'_>,
    ) -> Self {
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
            values: explanation.values.iter().map(|value| ValueFields::new(value, locator)).collect(),
            held: HeldFields::all(held),
            rollout: published.map(PublishedContent::new),
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
