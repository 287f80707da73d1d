//! The explanation of an assignment, as text.

use engine::answers::explain::{Explanation, MappedLabel};
use engine::hold::Held;
use model::credential::without;
use model::diagnostic::{Diagnostic, Origin};
use model::excerpt;
use model::field_path::FieldPath;
use model::object::release_pin::MANIFESTS;
use model::object::{Object, ReleasePin};

use super::context::ExplanationContext;
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
