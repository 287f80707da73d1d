//! Values that a command sets: whether an assignment uses them.

use std::sync::Arc;

use engine::answers::inventory::{Inventory, OverrideReason, OverridingValue, ValueReach};
use model::count::count;
use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::kind::Kind;
use model::label::Labels;
use model::name::ConfigMapName;
use model::object::config_map::{IGNORED_LABELS, PLATFORM_CONFIG};
use model::object_key::ObjectKey;

use crate::branch::EditComparison;

/// The maximum number of overriding values that a message shows.
const OVERRIDING_MAX: usize = 3;

/// Values of a `ConfigMap` that at least one assignment must use after an edit.
pub struct ExpectedValues {
    /// Their keys.
    pub keys: Vec<Arc<str>>,
    /// Whether they are written anyway, with a warning.
    pub may_be_unused: bool,
}

/// Adds an error for each value that no assignment uses. Nothing is added if that is not certain: if applications can't be read, or if there are no
/// assignments yet.
pub fn check_expected((expected, name): (&ExpectedValues, &str), comparisons: &mut [EditComparison<'_>]) {
    let Ok(name) = ConfigMapName::new(name) else { return };
    let is_known = |comparison: &EditComparison<'_>| {
        let loaded = comparison.loaded();
        loaded.is_complete && loaded.fleet.unavailable.is_empty()
    };
    if !comparisons.iter().all(is_known) {
        return;
    }
    let mut judged: Vec<_> = comparisons.iter_mut().filter(|comparison| !comparison.compiled().is_empty()).collect();
    for key in &expected.keys {
        let reach = |comparison: &&mut EditComparison<'_>| {
            Inventory::new(comparison.compiled().prepared()).value_reach(&name, key)
        };
        let reaches: Vec<_> = judged.iter().map(reach).collect();
        if reaches.iter().any(|reach| reach.effective > 0) {
            continue;
        }
        for (comparison, reach) in judged.iter_mut().zip(reaches) {
            let diagnostic = diagnostic((&name, key), &reach, comparison);
            let severity =
                if expected.may_be_unused { model::diagnostic::Severity::Warning } else { diagnostic.severity };
            comparison.add(Diagnostic { severity, ..diagnostic });
        }
    }
}

/// The error for a value without effect.
fn diagnostic((name, key): (&ConfigMapName, &str), reach: &ValueReach, comparison: &EditComparison<'_>) -> Diagnostic {
    let fleet = &comparison.loaded().fleet;
    let config_map = ObjectKey { kind: Kind::ConfigMap, name: Arc::clone(name.as_arc()), of: None };
    let error = |message: String| Diagnostic::error(Code::ValueWithoutEffect, message).about(&config_map);
    let anyway = "--allow-unused writes it anyway";
    let environment = &fleet.environment;
    let Some(origin) = &reach.origin else {
        let path = FieldPath::from(["metadata", "labels"]);
        return error(format!("`{key}` of {config_map} reaches no assignment: the map takes no part in compositions"))
            .at(Origin::field(&config_map, path), format!("`{PLATFORM_CONFIG}: \"true\"` is missing"))
            .help(anyway);
    };
    if reach.matching == 0 {
        let diagnostic = error(format!("`{key}` of {config_map} reaches no assignment of `{environment}`"))
            .at(origin.clone(), "this value is not used")
            .note(format!("no assignment has {}", conditions(fleet, name)));
        return with_unknown_labels(diagnostic, (comparison, &config_map))
            .help(format!("`kalypso get cluster-types -e {environment} -o wide` and `kalypso get targets -e {environment}` list the labels"))
            .help(format!("{anyway}, for assignments that come later"));
    }
    let used = match reach.matching {
        1 => "is not used in the only assignment that it reaches".to_owned(),
        several => format!("is used in none of the {several} assignments that it reaches"),
    };
    let mut diagnostic = error(format!("`{key}` of {config_map} {used}")).at(origin.clone(), "this value is not used");
    for other in reach.overriding.iter().take(OVERRIDING_MAX) {
        diagnostic = diagnostic.at(other.by.origin.clone(), why(other));
    }
    for help in ways_out(reach) {
        diagnostic = diagnostic.help(help);
    }
    diagnostic.help(anyway)
}

/// The labels that an assignment must have, for people.
fn conditions(fleet: &Fleet, name: &ConfigMapName) -> String {
    let labels = fleet.config_maps.get(name.as_str()).map(|object| &object.labels);
    let conditions = labels.into_iter().flat_map(Labels::iter);
    let conditions = conditions.filter(|(key, _)| !IGNORED_LABELS.contains(&&***key));
    let conditions: Vec<_> = conditions.map(|(key, value)| format!("`{key}: {value}`")).collect();
    match conditions.as_slice() {
        [] => "its labels".to_owned(),
        [one] => format!("the label {one}"),
        several => format!("all of the labels {}", several.join(", ")),
    }
}

/// Adds what a check says about labels that nothing has.
fn with_unknown_labels(
    diagnostic: Diagnostic,
    (comparison, config_map): (&EditComparison<'_>, &ObjectKey),
) -> Diagnostic {
    let is_about =
        |warning: &&Diagnostic| warning.code == Code::AppliesToNothing && warning.object.as_ref() == Some(config_map);
    comparison.new_warnings().iter().filter(is_about).fold(diagnostic, |mut diagnostic, warning| {
        diagnostic.notes.push(warning.message.clone());
        diagnostic.notes.extend(warning.notes.iter().cloned());
        diagnostic.help.extend(warning.help.iter().cloned());
        diagnostic
    })
}

/// Why a value overrides the new one.
fn why(other: &OverridingValue) -> String {
    let OverridingValue { by, assignments, reason } = other;
    let reason = match reason {
        OverrideReason::AzureAppConfig => "keys of `azure-app-config` maps come last".to_owned(),
        OverrideReason::MoreSpecial => "its labels are more special".to_owned(),
        OverrideReason::Priority { own, other } => format!("its priority is {other}, and not {own}"),
        OverrideReason::Name { .. } => "its name comes last".to_owned(),
    };
    format!("`{}` is used instead in {}: {reason}", by.config_map, count(*assignments, "assignment"))
}

/// How the value gets an effect.
fn ways_out(reach: &ValueReach) -> Vec<String> {
    let mut ways = Vec::new();
    if let Some(priority) = reach.priority_above() {
        ways.push(format!("`--priority {priority}` lets it take precedence"));
    }
    let all = |is: fn(OverrideReason) -> bool| reach.overriding.iter().all(|other| is(other.reason));
    let any = |is: fn(OverrideReason) -> bool| reach.overriding.iter().any(|other| is(other.reason));
    if all(|reason| matches!(reason, OverrideReason::Name { is_less_special: true, .. })) {
        ways.push("`config.kalypso.io/precedence: specificity` on the environment or on a BaseRepo lets the values for more labels take precedence; `kalypso plan` shows what that changes".to_owned());
    }
    if any(|reason| reason == OverrideReason::MoreSpecial) {
        ways.push(
            "values for a cluster take precedence, then those for a cluster type, then those for more labels: name more with --for, or change the value above"
                .to_owned(),
        );
    }
    if any(|reason| reason == OverrideReason::AzureAppConfig) {
        ways.push("change the key of the `azure-app-config` map".to_owned());
    }
    ways
}
