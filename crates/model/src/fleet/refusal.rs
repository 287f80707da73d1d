//! The reasons why a limit does not allow an object.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::AuthorRole;
use super::limit::Limit;
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::field_path::FieldPath;
use crate::kind::Kind;
use crate::label::Labels;
use crate::object::allow::{Allow, Pattern, PriorityRange};
use crate::object::config_map::{AZURE_PREFIX, AzureKey, PLATFORM_CONFIG, PRIORITY};
use crate::object::deployment_target::WORKLOAD_LABEL;
use crate::object::environment::PRECEDENCE;
use crate::object::scheduling_policy::{CLUSTER_TYPE_SELECTOR, TARGET_SELECTOR};
use crate::object::{AnyObject, ConfigMap, Object, SchedulingPolicy};
use crate::selector::{LabelSelector, Operator};

/// The kinds that reach only assignments with the labels of a limit, or that have no effect of their own.
const LIMITED_BY_LABELS: [Kind; 10] = [
    Kind::BaseRepo,
    Kind::Cluster,
    Kind::ClusterType,
    Kind::ConfigMap,
    Kind::ConfigSchema,
    Kind::FluxGitRepository,
    Kind::FluxKustomization,
    Kind::ReleasePin,
    Kind::SchedulingPolicy,
    Kind::Template,
];

/// The label that Kalypso sets on the targets of a registration.
const WORKSPACE_LABEL: &str = "workspace";

/// The maximum number of names in one list of a message.
const NAMED_MAX: usize = 5;

/// The reasons why a limit does not allow an object. Empty if it allows the object.
pub(super) fn refusals(limit: &Limit, role: &AuthorRole, object: &AnyObject) -> Vec<Diagnostic> {
    let check = Check { limit, object };
    match role {
        // What an application repository may bring is limited anyway: to its workloads, and to schemas for them. The names of workloads are common to all.
        AuthorRole::Application(_) if object.kind() == Kind::Workload => check.name().into_iter().collect(),
        AuthorRole::Application(_) => Vec::new(),
        AuthorRole::Platform => {
            if let Some(refusal) = check.kind() {
                return vec![refusal];
            }
            let mut found: Vec<_> =
                [check.name(), check.workspace(), check.precedence()].into_iter().flatten().collect();
            found.extend(check.labels());
            if let AnyObject::ConfigMap(map) = object {
                found.extend([check.keys(map), check.priority(map)].into_iter().flatten());
            }
            found
        }
    }
}

/// A limit and an object.
struct Check<'a> {
    limit: &'a Limit,
    object: &'a AnyObject,
}

/// A place of the object, the field of `allow`, and advice.
struct Violation<'a> {
    code: Code,
    at: FieldPath,
    field: &'a str,
    help: String,
}

impl Check<'_> {
    fn kind(&self) -> Option<Diagnostic> {
        let (kind, by) = (self.object.kind(), &self.limit.by);
        let allow = &self.limit.allow;
        let at = FieldPath::from(["kind"]);
        if let Some(kinds) = &allow.kinds {
            let message = || {
                let kinds: Vec<_> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
                format!("{} may not come from here: {by} allows only {}", self.key(), kinds.join(", "))
            };
            let help = format!("move it to a repository that may bring it, or add `{kind}` to `kinds` of {by}");
            let violation = Violation { code: Code::NotAllowedByLimit, at, field: "kinds", help };
            return (!kinds.contains(&kind)).then(|| self.diagnostic(message(), violation));
        }
        if allow.labels.is_empty() || LIMITED_BY_LABELS.contains(&kind) {
            return None;
        }
        let message =
            format!("{} may not come from here: {by} limits labels, which a `{kind}` is not limited by", self.key());
        let help = format!(
            "move it to a repository that may bring it; or name `{kind}` and all other kinds in `kinds` of {by}"
        );
        Some(self.diagnostic(message, Violation { code: Code::NotAllowedByLimit, at, field: "labels", help }))
    }

    fn name(&self) -> Option<Diagnostic> {
        let patterns = self.limit.allow.names.as_ref()?;
        let name = self.object.name();
        if matches(patterns, name) {
            return None;
        }
        let by = &self.limit.by;
        let message = format!("{} may not have this name: {by} allows {}", self.key(), listed(patterns));
        let help = format!("rename it, or add its name to `names` of {by}");
        let at = FieldPath::from(["metadata", "name"]);
        Some(self.diagnostic(message, Violation { code: Code::NotAllowedByLimit, at, field: "names", help }))
    }

    /// The order of values is that of the whole environment, so no limited object may set it.
    fn precedence(&self) -> Option<Diagnostic> {
        let AnyObject::BaseRepo(base) = self.object else { return None };
        base.annotations.get(PRECEDENCE)?;
        let Limit { address, by, .. } = self.limit;
        let message = format!("{} may not set `{PRECEDENCE}` for the whole environment: {by} limits it", self.key());
        let at = FieldPath::from(["metadata", "annotations", PRECEDENCE]);
        let diagnostic = Diagnostic::error(Code::LimitValueRefused, message)
            .at(Origin::At(self.object.address(), at), "the object does not count")
            .at(Origin::At(*address, FieldPath::from(["spec", "allow"])), "limited here")
            .help("remove the annotation: the Environment can have it, or a BaseRepo that no limit is above")
            .because(format!("{by} precedence"));
        Some(diagnostic.about(&self.key()))
    }

    fn workspace(&self) -> Option<Diagnostic> {
        let patterns = self.limit.allow.workspaces.as_ref()?;
        let AnyObject::WorkloadRegistration(registration) = self.object else { return None };
        let (workspace, by) = (&registration.spec.workspace, &self.limit.by);
        if matches(patterns, workspace) {
            return None;
        }
        let message = format!("{} may not name workspace `{workspace}`: {by} allows {}", self.key(), listed(patterns));
        let help = format!("name another workspace, or add it to `workspaces` of {by}");
        let at = FieldPath::from(["spec", "workspace"]);
        Some(self.diagnostic(message, Violation { code: Code::NotAllowedByLimit, at, field: "workspaces", help }))
    }

    /// The labels that the object lacks.
    fn labels(&self) -> Vec<Diagnostic> {
        let pairs = self.limit.allow.labels.iter();
        pairs.flat_map(|(key, value)| self.lacking((key, value))).collect()
    }

    fn lacking(&self, pair: (&str, &Arc<str>)) -> Vec<Diagnostic> {
        match self.object {
            AnyObject::ConfigMap(map) => {
                let (is_plain, is_azure) = forms(map);
                let of_map = is_plain.then(|| self.lacking_label(pair, &map.labels)).flatten();
                let of_keys = is_azure.then(|| self.lacking_in_keys(pair, map)).flatten();
                of_map.into_iter().chain(of_keys).collect()
            }
            AnyObject::ConfigSchema(object) => self.lacking_label(pair, &object.labels).into_iter().collect(),
            AnyObject::Cluster(object) => self.lacking_label(pair, &object.labels).into_iter().collect(),
            AnyObject::ClusterType(object) => self.lacking_label(pair, &object.labels).into_iter().collect(),
            AnyObject::SchedulingPolicy(object) => self.lacking_in_selector(pair, &object.spec).into_iter().collect(),
            AnyObject::ReleasePin(object) => {
                self.lacking_in_selector(pair, &object.spec.selection).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn lacking_label(&self, (key, value): (&str, &Arc<str>), labels: &Labels) -> Option<Diagnostic> {
        let found = labels.get(key);
        if found == Some(value) {
            return None;
        }
        let by = &self.limit.by;
        let message = match found {
            Some(other) => format!("{} has the label `{key}: {other}`: {by} allows only `{key}: {value}`", self.key()),
            None => format!("{} must have the label `{key}: {value}`, which {by} requires here", self.key()),
        };
        let at = FieldPath::from(["metadata", "labels"]).key(key);
        Some(self.diagnostic(message, label_violation(at, format!("set the label `{key}: {value}`"))))
    }

    fn lacking_in_keys(&self, (key, value): (&str, &Arc<str>), map: &Object<ConfigMap>) -> Option<Diagnostic> {
        let lacks = |data_key: &&Arc<str>| AzureKey::parse(data_key).labels.get(key) != Some(value);
        let lacking: Vec<_> = map.spec.data.keys().filter(lacks).collect();
        let first = lacking.first()?;
        let (by, keys) = (&self.limit.by, named(&lacking));
        let message = format!("{} lacks `{key}.{value}.` in {keys}, which {by} requires here", self.key());
        let at = FieldPath::from(["data"]).key(Arc::clone(first));
        Some(self.diagnostic(message, label_violation(at, format!("begin each key with `{key}.{value}.`"))))
    }

    /// The places decide which site is reached. Applications choose the labels of their targets, except for the two that Kalypso sets.
    fn lacking_in_selector(&self, (key, value): (&str, &Arc<str>), selection: &SchedulingPolicy) -> Option<Diagnostic> {
        let is_of_targets = matches!(key, WORKLOAD_LABEL | WORKSPACE_LABEL);
        let selects = if is_of_targets {
            let is_workspace = key == WORKSPACE_LABEL && selection.workspace == *value;
            is_workspace || requires(&selection.targets, (key, value))
        } else {
            requires(&selection.cluster_types, (key, value))
        };
        if selects {
            return None;
        }
        let [spec, selector] = if is_of_targets { TARGET_SELECTOR } else { CLUSTER_TYPE_SELECTOR };
        let by = &self.limit.by;
        let message = format!("{} must require `{key}: {value}` in its `{selector}`, as {by} limits it", self.key());
        let at = FieldPath::from([spec, selector, "labelSelector"]);
        Some(self.diagnostic(message, label_violation(at, format!("add `{key}: {value}` to its `matchLabels`"))))
    }

    /// The keys that the map may not set.
    fn keys(&self, map: &Object<ConfigMap>) -> Option<Diagnostic> {
        let patterns = self.limit.allow.keys.as_ref()?;
        let (is_plain, is_azure) = forms(map);
        let is_refused = |data_key: &&Arc<str>| {
            let is_allowed = |key: &str| matches(patterns, key);
            (is_plain && !is_allowed(data_key)) || (is_azure && !is_allowed(AzureKey::parse(data_key).key))
        };
        let refused: Vec<_> = map.spec.data.keys().filter(is_refused).collect();
        let first = refused.first()?;
        let (by, keys) = (&self.limit.by, named(&refused));
        let message = format!("{} may not set {keys}: {by} allows {}", self.key(), listed(patterns));
        let help = format!("remove the value, or add its key to `keys` of {by}");
        let at = FieldPath::from(["data"]).key(Arc::clone(first));
        Some(self.diagnostic(message, Violation { code: Code::LimitValueRefused, at, field: "keys", help }))
    }

    fn priority(&self, map: &Object<ConfigMap>) -> Option<Diagnostic> {
        let range = self.limit.allow.priority?;
        let (is_plain, is_azure) = forms(map);
        let by = &self.limit.by;
        let at = FieldPath::from(["metadata", "annotations", PRIORITY]);
        let violation = |at, help| Violation { code: Code::LimitValueRefused, at, field: "priority", help };
        if is_azure {
            let message = format!(
                "{} may not come from here: {by} limits priorities, and `{AZURE_PREFIX}` maps override all priorities",
                self.key()
            );
            let help = format!("write a `ConfigMap` with the label `{PLATFORM_CONFIG}: \"true\"` instead");
            return Some(self.diagnostic(message, violation(FieldPath::from(["metadata", "name"]), help)));
        }
        let text = map.annotations.get(PRIORITY);
        let priority = text.map_or(Some(0), |text| text.trim().parse().ok());
        if !is_plain || priority.is_some_and(|priority| PriorityRange::contains(&range, priority)) {
            return None;
        }
        let found = priority.map_or_else(|| format!("{text:?}"), |priority| priority.to_string());
        let message = format!("the priority of {} is {found}: {by} allows {range}", self.key());
        Some(self.diagnostic(message, violation(at, format!("set `{PRIORITY}` to an allowed priority"))))
    }

    fn key(&self) -> crate::object_key::ObjectKey {
        self.object.key()
    }

    fn diagnostic(&self, message: String, violation: Violation<'_>) -> Diagnostic {
        let Violation { code, at, field, help } = violation;
        let Limit { address, by, .. } = self.limit;
        Diagnostic::error(code, message)
            .at(Origin::At(self.object.address(), at), "the object does not count")
            .at(Origin::At(*address, Allow::path(field)), "limited here")
            .help(help)
            .because(format!("{by} {field}"))
            .about(&self.key())
    }
}

fn label_violation(at: FieldPath, help: String) -> Violation<'static> {
    let help = format!("{help}, or move the object to a repository that may bring it");
    Violation { code: Code::LimitLabelMissing, at, field: "labels", help }
}

/// Whether a map is a container of its own, and whether its keys are. A map that is neither has no effect, and is checked like the first.
fn forms(map: &Object<ConfigMap>) -> (bool, bool) {
    let is_azure = map.name.as_str().starts_with(AZURE_PREFIX);
    let is_platform = map.labels.get(PLATFORM_CONFIG).is_some_and(|value| &**value == "true");
    (is_platform || !is_azure, is_azure)
}

/// Whether a selector selects only what has a label.
fn requires(selector: &LabelSelector, (key, value): (&str, &Arc<str>)) -> bool {
    selector.requirements.iter().any(|requirement| match &requirement.operator {
        Operator::In(values) => {
            &*requirement.key == key && !values.is_empty() && values.iter().all(|found| found == value)
        }
        _ => false,
    })
}

fn matches(patterns: &[Pattern], text: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(text))
}

/// The first patterns, and the number of the others.
fn listed(patterns: &[Pattern]) -> String {
    joined(patterns.iter().map(ToString::to_string).collect())
}

/// The first keys, and the number of the others.
fn named(keys: &[&Arc<str>]) -> String {
    joined(keys.iter().map(ToString::to_string).collect())
}

fn joined(texts: BTreeSet<String>) -> String {
    let more = texts.len().saturating_sub(NAMED_MAX);
    let shown: Vec<_> = texts.iter().take(NAMED_MAX).map(|text| format!("`{text}`")).collect();
    let shown = shown.join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}
