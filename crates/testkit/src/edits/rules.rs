//! Edits of policies, label mappings, pins, schemas, templates and the settings of the environment.

use simulator::random::Random;

use super::draft::{Draft, Health};
use super::fleet;
use super::labels::vocabulary;
use super::object::{FileObject, replaced_line};
use super::state::{State, pick};
use super::values::toggled;
use crate::generator::ENVIRONMENT;

const OF_CLUSTERS: [&str; 4] = ["region", "size", "ring", "site"];
const OF_TARGETS: [&str; 4] = ["purpose", "team", "tier", "workload"];

pub(super) fn policy_changed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("SchedulingPolicy", 0, random)?;
    let text = policy(object.name(), random);
    Some(state.replace(&object, text, format!("selectors of {object} changed")))
}

pub(super) fn policy_added(state: &State, random: &mut Random) -> Option<Draft> {
    if state.objects("SchedulingPolicy").len() > 6 {
        return None;
    }
    let name = format!("policy-{}", state.turn);
    let text = policy(&name, random);
    Some(Draft::add(format!("SchedulingPolicy {name} added"), format!("policies/{name}.yaml"), text))
}

pub(super) fn policy_removed(state: &State, random: &mut Random) -> Option<Draft> {
    state.one_of("SchedulingPolicy", 3, random).map(|object| state.remove(&object))
}

pub(super) fn mapping_added(state: &State, random: &mut Random) -> Option<Draft> {
    if state.objects("LabelMapping").len() > 3 {
        return None;
    }
    let name = format!("mapping-{}", state.turn);
    let text = mapping(&name, random);
    Some(Draft::add(format!("LabelMapping {name} added"), format!("mappings/{name}.yaml"), text))
}

pub(super) fn mapping_changed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("LabelMapping", 0, random)?;
    let text = mapping(object.name(), random);
    Some(state.replace(&object, text, format!("{object} changed")))
}

pub(super) fn mapping_removed(state: &State, random: &mut Random) -> Option<Draft> {
    state.one_of("LabelMapping", 0, random).map(|object| state.remove(&object))
}

pub(super) fn pin_added(state: &State, random: &mut Random) -> Option<Draft> {
    if state.objects("ReleasePin").len() > 3 {
        return None;
    }
    let name = format!("pin-{}", state.turn);
    let text = pin(&name, random);
    Some(Draft::add(format!("ReleasePin {name} added"), format!("pins/{name}.yaml"), text))
}

/// Changes the selector or the pinned value of a pin, or only its reason. Nothing depends on the reason.
pub(super) fn pin_changed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("ReleasePin", 0, random)?;
    let reason = object.text.lines().find(|line| line.starts_with("  reason: "))?;
    let text = match random.below(3) {
        0 => replaced_line(&object.text, reason, &format!("  reason: Nobody knows since {}.", state.turn)),
        _ => pin(object.name(), random),
    };
    Some(state.replace(&object, text, format!("{object} changed")))
}

pub(super) fn pin_removed(state: &State, random: &mut Random) -> Option<Draft> {
    state.one_of("ReleasePin", 0, random).map(|object| state.remove(&object))
}

/// Changes a limit of a schema, so that some values are no longer valid. Or changes only a word without meaning.
pub(super) fn schema_changed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("ConfigSchema", 0, random)?;
    let choices = [
        ("\"maxLength\": 200", "\"maxLength\": 20", Health::Breaks),
        ("\"maximum\": 99 ", "\"maximum\": 50 ", Health::Breaks),
        ("\"maximum\": 1000000", "\"maximum\": 90000", Health::Breaks),
        ("\"minimum\": 1,", "\"minimum\": 1, \"description\": \"small\",", Health::Same),
        ("\"minimum\": 0", "\"minimum\": -1", Health::Same),
        ("\"minimum\": -1", "\"minimum\": 0", Health::Same),
    ];
    let possible: Vec<_> = choices.into_iter().filter(|(old, ..)| object.text.contains(old)).collect();
    let (old, new, health) = *pick(&possible, random)?;
    let what = format!("{old} in {object} becomes {new}");
    Some(state.replace(&object, object.text.replacen(old, new, 1), what).with_health(health))
}

pub(super) fn template_with_labels_changed(state: &State, random: &mut Random) -> Option<Draft> {
    template_changed(state, true, random)
}

pub(super) fn template_without_labels_changed(state: &State, random: &mut Random) -> Option<Draft> {
    template_changed(state, false, random)
}

/// Changes the settings for missing values and long names.
pub(super) fn environment_changed(state: &State, random: &mut Random) -> Option<Draft> {
    let mut environments = state.objects("Environment");
    environments.retain(|object| object.name() == ENVIRONMENT);
    let choices = [("schema.kalypso.io/missing", "warn"), ("names.kalypso.io/long", "shorten")];
    let object = environments.first()?;
    let (text, what) = toggled(object, *pick(&choices, random)?);
    Some(state.replace(object, text, what))
}

fn template_changed(state: &State, reads_labels: bool, random: &mut Random) -> Option<Draft> {
    let mut objects = state.objects("Template");
    objects.retain(|object: &FileObject| object.text.contains("Labels") == reads_labels);
    let object = pick(&objects, random)?;
    let line = object.text.lines().find(|line| line.starts_with("      # revision "))?;
    let text = replaced_line(&object.text, line, &format!("      # revision {}", state.turn));
    Some(state.replace(object, text, format!("text of {object} changed")))
}

fn policy(name: &str, random: &mut Random) -> String {
    let targets = selector(&OF_TARGETS, random);
    fleet::policy(name, &targets, &selector(&OF_CLUSTERS, random))
}

fn mapping(name: &str, random: &mut Random) -> String {
    let from = label(&["tier", "purpose", "team"], random);
    fleet::mapping(name, &from, &label(&["size", "ring", "note", "region"], random))
}

fn pin(name: &str, random: &mut Random) -> String {
    let (target, cluster) = (label(&OF_TARGETS, random), label(&OF_CLUSTERS, random));
    fleet::pin(name, &target, &cluster, random.pick(&["release-1", "release-2"]))
}

fn label(keys: &[&'static str], random: &mut Random) -> String {
    let (key, value) = pair(keys, random);
    format!("{key}: {value}")
}

fn pair(keys: &[&'static str], random: &mut Random) -> (&'static str, &'static str) {
    let key = random.pick(keys);
    (key, random.pick(vocabulary(key)))
}

/// The lines of a label selector. Every operator occurs.
fn selector(keys: &[&'static str], random: &mut Random) -> String {
    let (key, value) = pair(keys, random);
    let expression =
        |rest: &str| format!("      matchExpressions:\n        - key: {key}\n          operator: {rest}\n");
    match random.below(5) {
        0 => format!("      matchLabels:\n        {key}: {value}\n"),
        1 => expression("Exists"),
        2 => expression("DoesNotExist"),
        3 => expression(&format!("In\n          values: [{value}, {}]", random.pick(vocabulary(key)))),
        _ => expression(&format!("NotIn\n          values: [{value}]")),
    }
}
