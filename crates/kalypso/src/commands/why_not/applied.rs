//! The part of the answer about a `ConfigMap` or a schema, as text.

use engine::answers::why_not::{
    Applicability, AppliedKind, AssignmentSide, CheckedCondition, Exclusion, Standing, ValueStanding, Winner,
};
use model::locate::Locator;
use model::similar;
use workbench::answers::why_not::{AppliedObject, WhyNotAnswer};

use super::change;
use crate::{places, terminal};

/// The maximum number of keys of an `azure-app-config` map that are shown.
const PARTS_MAX: usize = 5;

/// The lines about the object of the question. None if the question has no object.
pub(super) fn lines(answer: &WhyNotAnswer<'_>, locator: &mut Locator<'_>) -> Vec<String> {
    let Some((object, parts)) = &answer.applied else { return Vec::new() };
    if answer.found.is_unknown() {
        return Vec::new();
    }
    let mut lines = vec![String::new()];
    if parts.is_empty() {
        lines.push(unknown_object(answer, object));
        return lines;
    }
    // The keys of a map that apply say the least.
    let (applying, others): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.applies());
    let shown: Vec<_> = others.into_iter().chain(applying).collect();
    for part in shown.iter().take(PARTS_MAX) {
        lines.extend(part_lines(answer, part, locator));
    }
    if shown.len() > PARTS_MAX {
        lines.push(format!("  … and {} more", terminal::thousands(shown.len() - PARTS_MAX)));
    }
    if let Some(value) = &answer.standing {
        lines.extend(standing_lines(answer, value, locator));
    }
    lines
}

/// The message about an object that does not exist.
fn unknown_object(answer: &WhyNotAnswer<'_>, object: &AppliedObject) -> String {
    let fleet = answer.fleet;
    let (kind, nearest) = match object.kind {
        AppliedKind::ConfigMap => {
            let names = fleet.config_maps.keys().map(model::name::ConfigMapName::as_str);
            ("ConfigMap", similar::nearest(&object.name, names).map(str::to_owned))
        }
        AppliedKind::Schema => {
            let names: Vec<_> = fleet.all_config_schemas().map(|(key, _)| key.name).collect();
            let names = names.iter().map(|name| &**name);
            ("ConfigSchema", similar::nearest(&object.name, names).map(str::to_owned))
        }
    };
    let advice = nearest.map_or_else(String::new, |nearest| format!(": did you mean `{nearest}`?"));
    format!("{} has no {kind} `{}`{advice}", fleet.environment, object.name)
}

fn part_lines(answer: &WhyNotAnswer<'_>, part: &Applicability, locator: &mut Locator<'_>) -> Vec<String> {
    let question = &answer.question;
    let place = question.place.as_deref().unwrap_or_default();
    let target = question.target.as_deref().unwrap_or_default();
    let name = &part.name;
    let unmet = part.unmet().count();
    let assignment = format!("{place}/{target}");
    let title = match (&part.excluded, unmet) {
        (Some(_), _) => format!("{name} applies to no assignment"),
        (None, 0) if part.conditions.is_empty() => format!("{name} applies to {assignment}: it has no conditions"),
        (None, 0) => format!("{name} applies to {assignment}"),
        (None, unmet) => {
            format!("{name} does not apply to {assignment}: {} not met", conditions(unmet))
        }
    };
    let mut lines = vec![format!("{title}   {}", places::shown(&part.origin, locator))];
    lines.extend(part.excluded.as_ref().map(excluded_text));
    for condition in &part.conditions {
        lines.extend(condition_lines(condition, (place, target), locator));
    }
    if part.excluded.is_none() {
        lines.push(format!("    {:<15}  {}", "applies to", terminal::count(part.assignments as usize, "assignment")));
    }
    lines.extend(change::lines(&part.changes, question.target.as_deref(), locator));
    lines
}

fn conditions(count: usize) -> String {
    if count == 1 { "1 condition is".to_owned() } else { format!("{count} conditions are") }
}

fn excluded_text(exclusion: &Exclusion) -> String {
    match exclusion {
        Exclusion::NotPlatformConfig(None) => {
            "    ✗ it has no label platform-config: only a ConfigMap with `platform-config: \"true\"` takes part"
                .to_owned()
        }
        Exclusion::NotPlatformConfig(Some(value)) => {
            format!("    ✗ platform-config={value}: only a ConfigMap with `platform-config: \"true\"` takes part")
        }
        Exclusion::Problem(problem) => format!("    ✗ {}[{}]: {}", problem.severity, problem.code, problem.message),
    }
}

fn condition_lines(
    condition: &CheckedCondition,
    (place, target): (&str, &str),
    locator: &mut Locator<'_>,
) -> Vec<String> {
    let CheckedCondition { key, value, origin, met_by, labels, actual_name, advice, is_application } = condition;
    let shown = if *is_application { format!("targets of application {value}") } else { format!("{key}={value}") };
    if let Some(side) = met_by {
        let by = if *side == AssignmentSide::Place { place } else { target };
        return vec![format!("    ✓ {shown}, met by {by}")];
    }
    let mut lines = vec![format!("    ✗ {shown}   {}", places::shown(origin, locator))];
    match actual_name {
        Some(actual) if *is_application => lines.push(format!("        {target} is of application {actual}")),
        Some(actual) => lines.push(format!("        here it is {key}={actual}")),
        None if *is_application => lines.push(format!("        {target} is of the platform team")),
        None if labels.is_empty() => lines.push(format!("        neither {place} nor {target} has this label")),
        None => {}
    }
    for label in labels {
        let name = if matches!(label.object.kind, model::kind::Kind::Cluster | model::kind::Kind::ClusterType) {
            place
        } else {
            target
        };
        lines.push(format!("      {}", super::text::label_text(name, label, locator)));
    }
    lines.extend(advice.as_ref().map(|advice| format!("        nothing in this environment has it: {advice}")));
    lines
}

fn standing_lines(answer: &WhyNotAnswer<'_>, value: &ValueStanding, locator: &mut Locator<'_>) -> Vec<String> {
    let key = answer.question.key.as_deref().unwrap_or_default();
    let name = answer.question.object.as_ref().map(|object| object.name.as_str()).unwrap_or_default();
    let own = value.origin.as_ref().map(|origin| places::shown(origin, locator)).unwrap_or_default();
    let mut lines = vec![String::new()];
    match &value.standing {
        Standing::Sets => lines.push(format!("{name} sets {key}   {own}")),
        Standing::SetsPart => lines.push(format!("{name} sets a part of {key}   {own}")),
        Standing::WithoutKey => {
            lines.push(format!("{name} has no key {key}"));
            let nearest = similar::nearest(key, value.keys.iter().map(|key| &**key));
            lines.extend(nearest.map(|nearest| format!("  did you mean `{nearest}`?")));
        }
        Standing::Overridden(winner) => {
            lines.push(format!("{name} does not set {key}: {} overrides it   {own}", winner.container));
            lines.push(format!("    ✗ {}   {}", reason(name, winner), places::shown(&winner.origin, locator)));
            lines.push(format!("    {:<15}  {}", "smallest change", advice(name, key, winner)));
        }
    }
    let environment = &answer.fleet.environment;
    let id = answer.question.assignment().map(|id| id.to_string()).unwrap_or_default();
    lines.push(format!("  kalypso explain -e {environment} {id} {key} shows more"));
    lines
}

/// The reason why a `ConfigMap` comes later.
fn reason(name: &str, winner: &Winner) -> String {
    let Winner { container, priorities, replaces, .. } = winner;
    let order = match priorities {
        [_, None] => format!("{container} comes after all ConfigMaps with labels"),
        [None, Some(_)] => format!("{container} is merged with it"),
        [Some(own), Some(other)] if own == other => {
            format!("both have priority {own}, and {container} comes after {name} by name")
        }
        [Some(own), Some(other)] => format!("{container} has priority {other}, {name} has {own}"),
    };
    if *replaces { format!("{order}; it replaces the whole value") } else { order }
}

fn advice(name: &str, key: &str, winner: &Winner) -> String {
    match winner.priorities {
        [Some(_), Some(other)] => format!(
            "change {key} in {}, or give {name} a higher priority: annotation config.kalypso.io/priority: \"{}\"",
            winner.container,
            other.saturating_add(1)
        ),
        _ => format!("change {key} in {}", winner.container),
    }
}
