//! The explanation of an assignment, as text and as JSON.

use engine::explain::{Explanation, MappedLabel};
use engine::hold::Held;
use model::credential::without;
use model::diagnostic::{Diagnostic, Origin};
use model::excerpt;
use model::field_path::FieldPath;
use model::locate::Locator;
use model::object::release_pin::MANIFESTS;
use model::object::{Object, ReleasePin};
use serde_json::{Map, Value as Json, json};

use super::context::ExplanationContext;
use super::value;
use crate::{places, terminal};

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

pub(super) fn json(explanation: &Explanation, locator: &mut Locator<'_>) -> Json {
    let policies = explanation.policies.iter().map(|reason| {
        json!({
            "policy": reason.policy.as_str(),
            "place": places::json(&reason.origin, locator),
            "target": reason.target,
            "clusterType": reason.cluster_type,
        })
    });
    let policies: Vec<_> = policies.collect();
    let mapped = explanation.mapped.iter().map(|label| {
        json!({
            "label": &*label.key,
            "value": &*label.value,
            "labelMapping": label.mapping.as_str(),
            "place": places::json(&label.origin, locator),
        })
    });
    let mapped: Vec<_> = mapped.collect();
    let pins = explanation.pins.iter().map(|pin| {
        json!({
            "releasePin": pin.name.as_str(),
            "place": places::json(&Origin::field(&pin.key(), FieldPath::from(MANIFESTS)), locator),
            "manifests": pin.spec.manifests.iter().map(|(key, value)| (key.to_string(), Json::from(&*without(value)))).collect::<Map<_, _>>(),
            "reason": &*pin.spec.reason,
            "expires": pin.spec.expires.map(|expiry| expiry.to_string()),
        })
    });
    let pins: Vec<_> = pins.collect();
    json!({
        "clusterType": explanation.place.cluster_type.name.as_str(),
        "cluster": explanation.place.cluster.as_ref().map(|cluster| cluster.name.as_str()),
        "target": explanation.id.target.as_str(),
        "workload": &*explanation.workload,
        "workspace": &*explanation.workspace,
        "registration": explanation.registration.as_ref().map(model::name::RegistrationName::as_str),
        "place": places::json(&explanation.target, locator),
        "policies": policies,
        "mappedLabels": mapped,
        "releasePins": pins,
        "templates": explanation.templates.iter().map(|name| &**name).collect::<Vec<_>>(),
        "configVersion": &*explanation.version,
        "values": explanation.values.iter().map(|value| value::json(value, locator)).collect::<Vec<_>>(),
    })
}
