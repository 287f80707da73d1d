//! The parts of a contract as rows and sentences, for text and for Markdown.

use engine::answers::contract::{
    Advice, AskedValue, GivenValue, PlaceCount, UnassignedTarget, UnmetLabel, WorkloadContract,
};
use model::count::{count, places, thousands};
use model::diagnostic::{AssignmentId, Origin};
use model::locate::Locator;

/// The maximum number of containers of a value that are shown.
const GIVERS_SHOWN: usize = 3;
/// The maximum number of names of values in a sentence.
const NAMES_SHOWN: usize = 12;
/// The maximum number of wrong values of one key that are shown.
const WRONG_SHOWN: usize = 5;

/// A value as rows of a table: key, whether it is required, requirements, the places where it is given, and the containers that give it. Only the
/// last column is filled in further rows.
pub(super) fn rows(value: &AskedValue, locator: &mut Locator<'_>) -> Vec<[String; 5]> {
    let mut givers = givers(value, locator).into_iter();
    let given = match value.given {
        0 if value.asked > 0 => "not given".to_owned(),
        _ => share(value.given_places, value.asked_places),
    };
    let first = [value.key.to_string(), need(value), requirements(value), given, givers.next().unwrap_or_default()];
    let more = givers.map(|giver| [String::new(), String::new(), String::new(), String::new(), giver]);
    std::iter::once(first).chain(more).collect()
}

/// Whether a value is required.
pub(super) fn need(value: &AskedValue) -> String {
    if value.is_required { "required".to_owned() } else { "optional".to_owned() }
}

/// The requirements of all schemas for a value, each once.
fn requirements(value: &AskedValue) -> String {
    let mut parts: Vec<String> = Vec::new();
    for ask in &value.asks {
        let default = ask.default.as_ref().map(|default| format!("default {default}"));
        let text = std::iter::once(ask.requirements.clone()).filter(|text| !text.is_empty()).chain(default);
        let text = text.collect::<Vec<_>>().join(", ");
        if !text.is_empty() && !parts.contains(&text) {
            parts.push(text);
        }
    }
    parts.join("; ")
}

/// The containers that give a value, each with its place and the number of places that it reaches.
fn givers(value: &AskedValue, locator: &mut Locator<'_>) -> Vec<String> {
    let mut lines: Vec<_> = value.givers.iter().take(GIVERS_SHOWN).map(|giver| self::giver(giver, locator)).collect();
    let more = value.givers.len().saturating_sub(GIVERS_SHOWN) + value.more_givers;
    if more > 0 {
        lines.push(format!("… and {} more", thousands(more)));
    }
    lines
}

fn giver(giver: &GivenValue, locator: &mut Locator<'_>) -> String {
    let place = locator.shown(&giver.origin).unwrap_or_default();
    format!(
        "{} on {}  {place}",
        giver.container,
        thousands((giver.places.cluster_types + giver.places.clusters) as usize)
    )
}

/// Examples: `12 of 14 cluster types`, `3 of 306 cluster types and clusters`.
pub(super) fn share(some: PlaceCount, all: PlaceCount) -> String {
    let total = |count: PlaceCount| (count.cluster_types + count.clusters) as usize;
    let places = match (all.cluster_types, all.clusters) {
        (0, _) | (_, 0) => place_count(all),
        _ => format!("{} cluster types and clusters", thousands(total(all))),
    };
    format!("{} of {places}", thousands(total(some)))
}

/// Example: `12 cluster types and 3 clusters`.
pub(super) fn place_count(count: PlaceCount) -> String {
    places(count.cluster_types as usize, count.clusters as usize)
}

/// A problem of a value: a sentence, and lines with facts, each with its name.
pub(super) struct Problem {
    pub(super) title: String,
    pub(super) facts: Vec<(&'static str, String)>,
}

/// The problems of a workload's values, wrong ones first.
pub(super) fn problems(workload: &WorkloadContract, locator: &mut Locator<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    for value in &workload.values {
        for wrong in value.wrong.iter().take(WRONG_SHOWN) {
            let title = format!("{} ({})", wrong.message, reached(wrong.assignments, &wrong.examples));
            let mut facts = Vec::new();
            facts.extend(wrong.origin.as_ref().and_then(|origin| at("value", origin, locator)));
            facts.extend(at("asked for by", &wrong.schema, locator));
            found.push(Problem { title, facts });
        }
    }
    found.extend(workload.values.iter().filter_map(|value| missing(value, locator)));
    for origin in &workload.unusable_schemas {
        let title =
            "a schema can't be used, so it is not known what it asks for: `kalypso check` shows the reason".to_owned();
        found.push(Problem { title, facts: at("schema", origin, locator).into_iter().collect() });
    }
    found
}

fn missing(value: &AskedValue, locator: &mut Locator<'_>) -> Option<Problem> {
    let missing = value.missing.as_ref()?;
    let warned = if missing.is_enforced { "" } else { ", which is only a warning" };
    let where_missing = place_count(missing.places);
    let title = format!(
        "`{}` is missing on {where_missing} ({}){warned}",
        value.key,
        reached(missing.assignments, &missing.examples)
    );
    let mut facts = Vec::new();
    facts.extend(
        value
            .asks
            .iter()
            .find(|ask| ask.is_required)
            .or(value.asks.first())
            .and_then(|ask| at("asked for by", &ask.origin, locator)),
    );
    facts.extend(value.advice.iter().map(|advice| self::advice(advice, locator)));
    if value.advice.is_empty() {
        facts.push((
            "help",
            format!("no ConfigMap has `{}`: the platform team can add it to one that matches", value.key),
        ));
    }
    Some(Problem { title, facts })
}

fn at(name: &'static str, origin: &Origin, locator: &mut Locator<'_>) -> Option<(&'static str, String)> {
    Some((name, locator.shown(origin)?))
}

/// Example: `3 assignments: edge/checkout-us, …`.
fn reached(assignments: u64, examples: &[AssignmentId]) -> String {
    let mut names: Vec<_> = examples.iter().map(ToString::to_string).collect();
    if let Some(more) = (assignments as usize).checked_sub(names.len()).filter(|more| *more > 0) {
        let last = names.pop().unwrap_or_default();
        names.push(format!("{last} and {} more", thousands(more)));
    }
    format!("{}: {}", count(assignments as usize, "assignment"), names.join(", "))
}

fn advice(advice: &Advice, locator: &mut Locator<'_>) -> (&'static str, String) {
    match advice {
        Advice::Spelling { key, container, origin } => {
            let place = locator.shown(origin).unwrap_or_default();
            ("similar key", format!("`{key}` in {container}, which no schema asks for  {place}"))
        }
        Advice::Elsewhere { container, origin, assignment, unmet } => {
            let place = locator.shown(origin).unwrap_or_default();
            let needs: Vec<_> = unmet.iter().map(|label| self::unmet(label, locator)).collect();
            ("elsewhere", format!("{container} has it  {place}; on {assignment} {}", needs.join(", ")))
        }
    }
}

fn unmet(label: &UnmetLabel, locator: &mut Locator<'_>) -> String {
    let UnmetLabel { key, value, actual, is_near, origin } = label;
    let actual = match actual {
        Some(actual) => format!("`{key}` is `{actual}` instead of `{value}`"),
        None => format!("there is no label `{key}: {value}`"),
    };
    let place = locator.shown(origin).filter(|_| *is_near);
    let near = place.map_or_else(String::new, |place| format!(" (a spelling mistake in {place}?)"));
    format!("{actual}{near}")
}

/// What a target without a policy would miss.
pub(super) fn unassigned(target: &UnassignedTarget) -> String {
    if target.missing.is_empty() {
        return format!("no policy assigns `{}`; it would miss nothing", target.name);
    }
    let missing = target.missing.iter().map(|(key, places)| format!("`{key}` on {}", share(*places, target.places)));
    format!("no policy assigns `{}`; it would miss {}", target.name, limited(missing.collect()))
}

/// The values that no schema of a workload asks for.
pub(super) fn unasked(workload: &WorkloadContract) -> Option<String> {
    let number = workload.unasked.len();
    let names = workload.unasked.iter().map(|given| format!("`{}`", given.key)).collect();
    (number > 0).then(|| format!("also gets {} that no schema asks for: {}", count(number, "value"), limited(names)))
}

/// Names, limited to the first ones.
pub(super) fn limited(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMES_SHOWN);
    names.truncate(NAMES_SHOWN);
    if more > 0 {
        names.push(format!("… and {} more", thousands(more)));
    }
    names.join(", ")
}

/// The place of a workload's assignments, in words.
pub(super) fn reach(workload: &WorkloadContract) -> String {
    let targets = count(workload.targets, "deployment target");
    if workload.is_hypothetical {
        return format!(
            "{targets}, and no policy assigns any of them: as if they were on all {}",
            place_count(workload.places)
        );
    }
    format!("{targets}, {} on {}", count(workload.assignments as usize, "assignment"), place_count(workload.places))
}
