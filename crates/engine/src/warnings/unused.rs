//! Reports objects without effect: policies, pins, values and schemas whose labels no place or target has.
//!
//! An object is not reported if it may apply to something that is not loaded: workloads of a repository that can't be read, or objects in an
//! unreadable file. It is also not reported if it applies to targets of other environments, because environments can share a control plane.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::{Fleet, UnreadPart};
use model::kind::Kind;
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};
use model::object::scheduling_policy::{CLUSTER_TYPE_SELECTOR, TARGET_SELECTOR};
use model::object::{Object, ReleasePin, SchedulingPolicy};
use model::object_key::ObjectKey;
use model::selector::{LabelSelector, Operator, Requirement};
use model::similar;
use roaring::RoaringBitmap;

use crate::compose::container::Conditions;
use crate::prepare::Prepared;
use crate::schedule::index::LabelIndex;
use crate::schedule::matching::{APPLICATION, is_met_by_target};
use crate::schedule::target::{Target, targets_elsewhere};

/// The maximum number of labels for which the most similar existing label is searched. A fleet can have a million labels.
const NEAREST_MAX: usize = 100;
/// Advice lists the values of a label if there are at most this many.
const SHOWN_MAX: usize = 5;
/// The maximum number of labels whose combinations are checked.
const COMBINED_MAX: usize = 10;

/// Whether all places and all targets of the fleet are loaded, so that a label without a match is certain.
struct Coverage<'f> {
    fleet: &'f Fleet,
    has_all_places: bool,
    has_all_targets: bool,
    elsewhere: OnceLock<Vec<Target>>,
}

impl<'f> Coverage<'f> {
    fn new(fleet: &'f Fleet) -> Self {
        const OF_PLACES: [Kind; 2] = [Kind::ClusterType, Kind::Cluster];
        const OF_TARGETS: [Kind; 4] =
            [Kind::WorkloadRegistration, Kind::Workload, Kind::DeploymentTarget, Kind::LabelMapping];
        // A checkout of one branch has policies and values without the workloads, or without the cluster types.
        let has_places = !fleet.cluster_types.is_empty() || !fleet.clusters.is_empty();
        let has_workloads =
            !fleet.workloads.is_empty() || !fleet.conflicting_claims.is_empty() || !fleet.deployment_targets.is_empty();
        Self {
            fleet,
            has_all_places: has_places && !fleet.unread.iter().any(|unread| may_hold(unread, &OF_PLACES)),
            has_all_targets: has_workloads
                && fleet.unavailable.is_empty()
                && !fleet.unread.iter().any(|unread| may_hold(unread, &OF_TARGETS)),
            elsewhere: OnceLock::new(),
        }
    }

    /// Whether the selection of a policy or pin matches a target of another environment.
    fn is_for_elsewhere(&self, policy: &SchedulingPolicy) -> bool {
        self.elsewhere().iter().any(|target| {
            (policy.workspace.is_empty() || *policy.workspace == *target.workspace())
                && policy.targets.matches(&target.labels)
        })
    }

    fn elsewhere(&self) -> &[Target] {
        self.elsewhere.get_or_init(|| targets_elsewhere(self.fleet))
    }
}

/// Whether something unread may contain an object of these kinds.
pub(crate) fn may_hold(unread: &UnreadPart, kinds: &[Kind]) -> bool {
    unread.object.as_ref().is_none_or(|key| kinds.contains(&key.kind))
}

/// Filters the diagnostics about targets. Unknown environments are reported only if all `Environment` objects could be read.
pub(crate) fn without_uncertain(fleet: &Fleet, found: &[Diagnostic]) -> Vec<Diagnostic> {
    let has_all = !fleet.unread.iter().any(|unread| may_hold(unread, &[Kind::Environment]));
    found.iter().filter(|found| has_all || found.code != Code::UnknownEnvironment).cloned().collect()
}

/// Reports policies and pins that select nothing.
pub(crate) fn unused_selectors(prepared: &Prepared) -> Vec<Diagnostic> {
    let coverage = Coverage::new(&prepared.fleet);
    let is_certain = |(policy, code): &(&Object<SchedulingPolicy>, Code)| match code {
        Code::NoClusterTypeSelected => coverage.has_all_places,
        _ => coverage.has_all_targets && !coverage.is_for_elsewhere(&policy.spec),
    };
    let policies = prepared
        .schedule
        .without_effect()
        .filter(is_certain)
        .enumerate()
        .map(|(number, (policy, code))| unused_policy(prepared, policy, (code, number < NEAREST_MAX)));
    let mut diagnostics: Vec<_> = policies.collect();
    diagnostics.extend(unused_pins(prepared, &coverage));
    diagnostics
}

/// Reports pins that hold nothing, because their selectors match no place or no target.
fn unused_pins(prepared: &Prepared, coverage: &Coverage<'_>) -> Vec<Diagnostic> {
    let (places, targets) = (&prepared.place_index, &prepared.target_index);
    let mut diagnostics = Vec::new();
    for pin in prepared.pins.all() {
        let SchedulingPolicy { workspace, targets: target_selector, cluster_types } = &pin.spec.selection;
        let mut selected = targets.select(target_selector);
        if !workspace.is_empty() {
            selected &= targets.with(WORKSPACE_LABEL, workspace);
        }
        if selected.is_empty() && coverage.has_all_targets && !coverage.is_for_elsewhere(&pin.spec.selection) {
            diagnostics.push(unused_pin(pin, "deployment target", TARGET_SELECTOR));
        }
        if places.select(cluster_types).is_empty() && coverage.has_all_places {
            diagnostics.push(unused_pin(pin, "cluster type and no cluster", CLUSTER_TYPE_SELECTOR));
        }
    }
    diagnostics
}

fn unused_pin(pin: &Object<ReleasePin>, what: &str, selector: [&str; 2]) -> Diagnostic {
    let message = format!("release pin `{}` selects no {what}, so it holds nothing", pin.name);
    let key = pin.key();
    Diagnostic::warning(Code::UnusedPin, message).at(Origin::field(&key, FieldPath::from(selector)), "").about(&key)
}

/// The diagnostic about a policy that selects nothing, perhaps with advice.
fn unused_policy(
    prepared: &Prepared,
    policy: &Object<SchedulingPolicy>,
    (code, is_advised): (Code, bool),
) -> Diagnostic {
    let side = Side::new(prepared, &policy.spec, code);
    let unmet = side.unmet();
    let key = policy.key();
    let message = format!("policy `{}` selects no {} of {}", policy.name, side.what, prepared.fleet.environment);
    let path = unmet.as_ref().map_or_else(|| FieldPath::from(side.path), |unmet| unmet.path(side.path));
    let diagnostic = Diagnostic::warning(code, message).at(Origin::field(&key, path), "").about(&key);
    let advice = unmet.as_ref().filter(|_| is_advised).and_then(|unmet| side.advice(unmet));
    let diagnostic = advice.into_iter().fold(diagnostic, Diagnostic::help);
    // Several policies may have the same unmet condition.
    let cause = if side.index.is_empty() { Some("there is none".to_owned()) } else { unmet.map(UnmetCondition::cause) };
    cause.into_iter().fold(diagnostic, Diagnostic::because)
}

/// What a policy selects: its places, or its targets.
struct Side<'p> {
    what: &'static str,
    /// The objects that have the labels.
    labelled: &'static str,
    /// The place of the selector in the policy.
    path: [&'static str; 2],
    selector: &'p LabelSelector,
    /// The workspace that targets must have. Empty: any.
    workspace: &'p str,
    /// The labels of all places or targets.
    index: &'p LabelIndex,
}

/// A condition that no place or target meets.
enum UnmetCondition<'p> {
    Workspace(&'p str),
    Requirement(&'p Requirement),
}

impl<'p> Side<'p> {
    fn new(prepared: &'p Prepared, policy: &'p SchedulingPolicy, code: Code) -> Self {
        match code {
            Code::NoClusterTypeSelected => Self {
                what: "cluster type",
                labelled: "cluster type or cluster",
                path: CLUSTER_TYPE_SELECTOR,
                selector: &policy.cluster_types,
                workspace: "",
                index: &prepared.place_index,
            },
            _ => Self {
                what: "deployment target",
                labelled: "deployment target",
                path: TARGET_SELECTOR,
                selector: &policy.targets,
                workspace: &policy.workspace,
                index: &prepared.target_index,
            },
        }
    }

    /// The first condition that nothing meets. None: nothing meets all of them, or nothing is there.
    fn unmet(&self) -> Option<UnmetCondition<'p>> {
        if self.index.is_empty() {
            return None;
        }
        if !self.workspace.is_empty() && !self.index.has(WORKSPACE_LABEL, self.workspace) {
            return Some(UnmetCondition::Workspace(self.workspace));
        }
        let is_met_by_none = |requirement: &&Requirement| self.index.matching(requirement).is_empty();
        self.selector.requirements.iter().find(is_met_by_none).map(UnmetCondition::Requirement)
    }

    /// The nearest label that exists.
    fn advice(&self, unmet: &UnmetCondition<'_>) -> Option<String> {
        let Self { labelled, index, .. } = self;
        let Requirement { key, operator } = match unmet {
            UnmetCondition::Workspace(name) => {
                let nearest = similar::nearest(name, index.values(WORKSPACE_LABEL))?;
                return Some(format!("no {labelled} is of workspace `{name}`: did you mean `{nearest}`?"));
            }
            UnmetCondition::Requirement(requirement) => requirement,
        };
        if index.values(key).next().is_none() {
            let nearest = similar::nearest(key, index.keys())?;
            return Some(format!("no {labelled} has the label `{key}`: did you mean `{nearest}`?"));
        }
        let Operator::In(values) = operator else { return None };
        let nearest = |value: &Arc<str>| Some((Arc::clone(value), similar::nearest(value, index.values(key))?));
        let (value, nearest) = values.iter().find_map(nearest)?;
        Some(format!("no {labelled} has `{key}: {value}`: did you mean `{key}: {nearest}`?"))
    }
}

impl UnmetCondition<'_> {
    /// The place of the condition in the selector at this place.
    fn path(&self, selector: [&str; 2]) -> FieldPath {
        let selector = FieldPath::from(selector);
        match self {
            Self::Workspace(_) => selector.key("workspace"),
            Self::Requirement(requirement) => {
                selector.key("labelSelector").key("matchLabels").key(Arc::clone(&requirement.key))
            }
        }
    }

    /// The condition as the cause of diagnostics.
    fn cause(self) -> String {
        match self {
            Self::Workspace(workspace) => format!("workspace {workspace}"),
            Self::Requirement(requirement) => format!("{requirement:?}"),
        }
    }
}

/// An object that applies to assignments with certain labels.
struct LabelledObject<'p> {
    key: ObjectKey,
    /// The name in messages.
    name: String,
    conditions: &'p Conditions,
    origin: Box<dyn Fn(&str) -> Origin + 'p>,
}

/// Reports containers and schemas that apply to nothing. `containers` and `schemas` are the positions of those that apply to something.
pub(crate) fn unused_labels(
    prepared: &Prepared,
    containers: &RoaringBitmap,
    schemas: &RoaringBitmap,
) -> Vec<Diagnostic> {
    let is_unused = |used: &RoaringBitmap, position: usize| !used.contains(position as u32);
    let unused_containers =
        prepared.containers.list.iter().enumerate().filter(|(position, _)| is_unused(containers, *position));
    let mut objects: Vec<LabelledObject<'_>> = unused_containers
        .map(|(_, container)| LabelledObject {
            key: container.key(),
            name: container.display_name(),
            conditions: &container.conditions,
            origin: Box::new(|label| container.condition_origin(label)),
        })
        .collect();
    let unused_schemas =
        prepared.schemas.labelled.iter().enumerate().filter(|(position, _)| is_unused(schemas, *position));
    objects.extend(unused_schemas.map(|(_, labelled)| {
        let key = labelled.schema.text.object.clone();
        let object = key.clone();
        let origin = move |label: &str| Origin::field(&object, FieldPath::from(["metadata", "labels"]).key(label));
        LabelledObject { name: key.to_string(), key, conditions: &labelled.conditions, origin: Box::new(origin) }
    }));
    let mut checker = UnusedLabels { prepared, coverage: Coverage::new(&prepared.fleet), nearest: BTreeMap::new() };
    objects
        .iter()
        .filter(|object| !object.is_without_labels())
        .filter_map(|object| checker.diagnostic(object))
        .collect()
}

impl LabelledObject<'_> {
    fn labels(&self) -> impl Iterator<Item = &(Arc<str>, Arc<str>)> {
        self.conditions.iter().filter(|(key, _)| **key != *APPLICATION)
    }

    fn is_without_labels(&self) -> bool {
        self.labels().next().is_none()
    }

    fn diagnostic(&self, message: String, label: &str) -> Diagnostic {
        Diagnostic::warning(Code::AppliesToNothing, message).at((self.origin)(label), "").about(&self.key)
    }
}

/// Finds the reason why an object applies to nothing.
struct UnusedLabels<'p> {
    prepared: &'p Prepared,
    coverage: Coverage<'p>,
    /// The advice for labels that no place or target has.
    nearest: BTreeMap<(Arc<str>, Arc<str>), Option<String>>,
}

impl UnusedLabels<'_> {
    /// None if the object may apply to something that is not loaded, or to something of another environment.
    fn diagnostic(&mut self, object: &LabelledObject<'_>) -> Option<Diagnostic> {
        let unmet: Vec<_> = object.labels().filter(|(key, value)| !self.is_met(key, value)).collect();
        if let Some(((key, value), others)) = unmet.split_first() {
            let diagnostic = self.is_certain(key).then(|| self.unmet(object, key, value))?;
            return Some(self.with_others(diagnostic, others));
        }
        let is_elsewhere = |(key, value): &(Arc<str>, Arc<str>)| self.is_met_elsewhere(key, value);
        if !self.coverage.has_all_places || !self.coverage.has_all_targets || object.labels().any(is_elsewhere) {
            return None;
        }
        let labels: Vec<_> = object.labels().collect();
        let sides: Vec<_> =
            labels.iter().take(COMBINED_MAX).map(|(key, value)| sides(self.prepared, key, value)).collect();
        let none = RoaringBitmap::new();
        let (is_of_places, is_of_targets) = (can_meet(&sides, None, Some(&none)), can_meet(&sides, Some(&none), None));
        // The labels fit a place alone, or a target alone. Missing assignments are then not a problem of the labels.
        if is_of_places || is_of_targets {
            return None;
        }
        let (first, _) = labels.first()?;
        let shown: Vec<_> = labels.iter().map(|(key, value)| format!("`{key}: {value}`")).collect();
        let shown = shown.join(" and ");
        let name = &object.name;
        let (message, help) = if can_meet(&sides, None, None) {
            (
                format!("{name} applies to nothing: no assignment has {shown}"),
                "does a policy assign these deployment targets to these places?",
            )
        } else {
            (
                format!("{name} applies to nothing: no assignment can have {shown}"),
                "one assignment must have all these labels",
            )
        };
        Some(object.diagnostic(message, first).help(help))
    }

    fn unmet(&mut self, object: &LabelledObject<'_>, key: &Arc<str>, value: &Arc<str>) -> Diagnostic {
        let what = match &**key {
            "cluster-type" | "cluster" | "deployment-target" | WORKLOAD_LABEL => {
                format!("there is no {} `{value}`", key.replace('-', " "))
            }
            _ => format!("no place or target has the label `{key}: {value}`"),
        };
        let environment = &self.prepared.fleet.environment;
        let message = format!("{} applies to nothing in {environment}: {what}", object.name);
        let diagnostic = object.diagnostic(message, key).because(format!("{key}: {value}"));
        match self.advice(key, value) {
            Some(advice) => diagnostic.help(advice),
            None => diagnostic,
        }
    }

    /// Adds the other labels that nothing has.
    fn with_others(&mut self, mut diagnostic: Diagnostic, others: &[&(Arc<str>, Arc<str>)]) -> Diagnostic {
        for (key, value) in others.iter().take(COMBINED_MAX).filter(|(key, _)| self.is_certain(key)).collect::<Vec<_>>()
        {
            let advice = self.advice(key, value).map_or_else(String::new, |advice| format!(": {advice}"));
            diagnostic = diagnostic.note(format!("nothing has `{key}: {value}` either{advice}"));
        }
        diagnostic
    }

    /// Whether everything that could meet a label is loaded.
    fn is_certain(&self, key: &str) -> bool {
        match key {
            "cluster-type" | "cluster" => self.coverage.has_all_places,
            "deployment-target" | WORKLOAD_LABEL => self.coverage.has_all_targets,
            _ => self.coverage.has_all_places && self.coverage.has_all_targets,
        }
    }

    /// Whether anything meets a label, in this or in another environment.
    fn is_met(&self, key: &str, value: &str) -> bool {
        let Prepared { fleet, place_index, target_index, .. } = self.prepared;
        let is_here = match key {
            "cluster-type" => fleet.cluster_types.contains_key(value),
            "cluster" => fleet.clusters.contains_key(value) || place_index.has(key, value),
            "deployment-target" => self.prepared.target_id(value).is_some(),
            WORKLOAD_LABEL => {
                fleet.workloads.contains_key(value)
                    || fleet.conflicting_claims.contains_key(value)
                    || target_index.has(key, value)
            }
            _ => place_index.has(key, value) || target_index.has(key, value),
        };
        is_here || self.is_met_elsewhere(key, value)
    }

    fn is_met_elsewhere(&self, key: &str, value: &str) -> bool {
        self.coverage.elsewhere().iter().any(|target| is_met_by_target(key, value, target))
    }

    /// Suggests a correction for a label that nothing has. Each label is searched once.
    fn advice(&mut self, key: &Arc<str>, value: &Arc<str>) -> Option<String> {
        let label = (Arc::clone(key), Arc::clone(value));
        if let Some(known) = self.nearest.get(&label) {
            return known.clone();
        }
        if self.nearest.len() >= NEAREST_MAX {
            return None;
        }
        let advice = nearest(self.prepared, key, value);
        self.nearest.insert(label, advice.clone());
        advice
    }
}

/// The places and the targets that meet a condition of a container or schema.
pub(crate) fn sides(prepared: &Prepared, key: &str, value: &str) -> (RoaringBitmap, RoaringBitmap) {
    let Prepared { fleet, place_index, target_index, .. } = prepared;
    let none = RoaringBitmap::new;
    match key {
        "cluster-type" => (prepared.places_of_type(value), none()),
        "cluster" => {
            // A cluster is compared by its name, a cluster type by its label.
            let is_cluster = |place: &u32| prepared.place(*place).is_some_and(|place| place.cluster.is_some());
            let mut places: RoaringBitmap =
                place_index.with(key, value).into_iter().filter(|place| !is_cluster(place)).collect();
            places.extend(prepared.place_id(value).filter(|_| fleet.clusters.contains_key(value)));
            (places, none())
        }
        "deployment-target" => (none(), prepared.target_id(value).into_iter().collect()),
        WORKLOAD_LABEL => (none(), target_index.with(key, value)),
        APPLICATION => (none(), prepared.targets_of_application(value)),
        _ => (place_index.with(key, value), target_index.with(key, value)),
    }
}

/// Suggests a correction for a label that no place and no target has.
pub(crate) fn nearest(prepared: &Prepared, key: &str, value: &str) -> Option<String> {
    let Prepared { fleet, place_index, target_index, .. } = prepared;
    let is_label = !matches!(key, "cluster-type" | "cluster" | "deployment-target" | WORKLOAD_LABEL);
    let near = match key {
        "cluster-type" => similar::nearest(value, fleet.cluster_types.keys().map(model::name::ClusterTypeName::as_str)),
        "cluster" => similar::nearest(value, fleet.clusters.keys().map(model::name::ClusterName::as_str)),
        "deployment-target" => similar::nearest(value, prepared.targets().iter().map(|target| target.name.as_str())),
        WORKLOAD_LABEL => similar::nearest(value, fleet.workloads.keys().map(model::name::WorkloadName::as_str)),
        _ => similar::nearest(value, place_index.values(key).chain(target_index.values(key))),
    };
    if let Some(near) = near {
        return Some(format!("did you mean `{key}: {near}`?"));
    }
    if let Some(present) = prepared.present_name(value).filter(|_| !is_label) {
        return Some(format!("`{value}` is the earlier name of `{present}`"));
    }
    let keys = || -> BTreeSet<&str> { place_index.keys().chain(target_index.keys()).collect() };
    if is_label && !keys().contains(key) {
        return similar::nearest(key, keys()).map(|near| format!("did you mean the label `{near}`?"));
    }
    let list_values = |mut known: BTreeSet<&str>| {
        known.remove("");
        let shown: Vec<_> = known.iter().map(|value| format!("`{value}`")).collect();
        (1..=SHOWN_MAX).contains(&shown.len()).then(|| format!("`{key}` is one of {}", shown.join(", ")))
    };
    match key {
        "cluster-type" => list_values(
            fleet.cluster_types.keys().map(model::name::ClusterTypeName::as_str).take(NEAREST_MAX).collect(),
        ),
        WORKLOAD_LABEL => {
            list_values(fleet.workloads.keys().map(model::name::WorkloadName::as_str).take(NEAREST_MAX).collect())
        }
        _ if is_label => {
            list_values(place_index.values(key).chain(target_index.values(key)).take(NEAREST_MAX).collect())
        }
        _ => None,
    }
}

/// Whether a place and a target exist that together meet all labels. `labels` contains the places and the targets that meet each label.
/// `places` and `targets` restrict the result. None: no restriction.
fn can_meet(
    labels: &[(RoaringBitmap, RoaringBitmap)],
    places: Option<&RoaringBitmap>,
    targets: Option<&RoaringBitmap>,
) -> bool {
    let Some(((of_places, of_targets), rest)) = labels.split_first() else { return true };
    let and = |one: Option<&RoaringBitmap>, other: &RoaringBitmap| one.map_or_else(|| other.clone(), |one| one & other);
    let (with_places, with_targets) = (and(places, of_places), and(targets, of_targets));
    (!with_places.is_empty() && can_meet(rest, Some(&with_places), targets))
        || (!with_targets.is_empty() && can_meet(rest, places, Some(&with_targets)))
}
