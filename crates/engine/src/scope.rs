//! What is for nothing: policies, pins, values and schemas whose labels nothing has.
//!
//! Nothing is said of what may be for something that is not known: the workloads of a repository that can't be read, what an unreadable file may hold, or
//! the targets of other environments, for which a control plane that several environments share is as well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::{Fleet, Unread};
use model::kind::Kind;
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};
use model::object::scheduling_policy::{CLUSTER_TYPE_SELECTOR, TARGET_SELECTOR};
use model::object::{Object, SchedulingPolicy};
use model::object_key::ObjectKey;
use model::similar;
use roaring::RoaringBitmap;

use crate::container::Conditions;
use crate::matching::{APPLICATION, is_met_by_target};
use crate::prepare::Prepared;
use crate::target::{Target, targets_elsewhere};

/// For how many labels the nearest one that exists is looked for: there can be a million of them.
const NEAREST_MAX: usize = 100;
/// How many values of a label are named, if there are no more.
const SHOWN_MAX: usize = 5;
/// Of how many labels it is looked into which of them go together.
const COMBINED_MAX: usize = 10;

/// How much is known of what labels could be met by.
pub(crate) struct Known<'f> {
    fleet: &'f Fleet,
    has_all_places: bool,
    has_all_targets: bool,
    elsewhere: OnceLock<Vec<Target>>,
}

impl<'f> Known<'f> {
    fn of(fleet: &'f Fleet) -> Self {
        const OF_PLACES: [Kind; 2] = [Kind::ClusterType, Kind::Cluster];
        const OF_TARGETS: [Kind; 4] =
            [Kind::WorkloadRegistration, Kind::Workload, Kind::DeploymentTarget, Kind::LabelMapping];
        // A checkout of one branch has policies and values without the workloads, or without the cluster types.
        let has_places = !fleet.cluster_types.is_empty() || !fleet.clusters.is_empty();
        let has_workloads =
            !fleet.workloads.is_empty() || !fleet.contested.is_empty() || !fleet.deployment_targets.is_empty();
        Self {
            fleet,
            has_all_places: has_places && !fleet.unread.iter().any(|unread| may_hold(unread, &OF_PLACES)),
            has_all_targets: has_workloads
                && fleet.unavailable.is_empty()
                && !fleet.unread.iter().any(|unread| may_hold(unread, &OF_TARGETS)),
            elsewhere: OnceLock::new(),
        }
    }

    pub(crate) fn has_all_places(&self) -> bool {
        self.has_all_places
    }

    pub(crate) fn has_all_targets(&self) -> bool {
        self.has_all_targets
    }

    /// Whether a policy selects a target of another environment.
    pub(crate) fn is_for_elsewhere(&self, policy: &SchedulingPolicy) -> bool {
        self.elsewhere().iter().any(|target| {
            (policy.workspace.is_empty() || *policy.workspace == *target.workspace())
                && policy.targets.matches(&target.labels)
        })
    }

    fn elsewhere(&self) -> &[Target] {
        self.elsewhere.get_or_init(|| targets_elsewhere(self.fleet))
    }
}

/// Whether an object of these kinds may be in something that is not understood.
fn may_hold(unread: &Unread, kinds: &[Kind]) -> bool {
    unread.object.as_ref().is_none_or(|key| kinds.contains(&key.kind))
}

/// What is wrong with targets, as far as it is known which environments there are.
pub(crate) fn of_targets(fleet: &Fleet, found: &[Diagnostic]) -> Vec<Diagnostic> {
    let has_all = !fleet.unread.iter().any(|unread| may_hold(unread, &[Kind::Environment]));
    found.iter().filter(|found| has_all || found.code != Code::UnknownEnvironment).cloned().collect()
}

/// What is said about policies and pins that select nothing.
pub(crate) fn select_nothing(prepared: &Prepared) -> Vec<Diagnostic> {
    let known = Known::of(&prepared.fleet);
    let is_true = |(policy, code): &(&Object<SchedulingPolicy>, Code)| match code {
        Code::NoClusterTypeSelected => known.has_all_places,
        _ => known.has_all_targets && !known.is_for_elsewhere(&policy.spec),
    };
    let policies =
        prepared.schedule.idle().filter(is_true).map(|(policy, code)| selects_nothing(prepared, policy, code));
    let mut said: Vec<_> = policies.collect();
    said.extend(prepared.pins.idle(&prepared.place_index, &prepared.target_index, &known));
    said
}

fn selects_nothing(prepared: &Prepared, policy: &Object<SchedulingPolicy>, code: Code) -> Diagnostic {
    let (what, selector) = match code {
        Code::NoClusterTypeSelected => ("cluster type", CLUSTER_TYPE_SELECTOR),
        _ => ("deployment target", TARGET_SELECTOR),
    };
    let key = policy.key();
    let message = format!("policy `{}` selects no {what} of {}", policy.name, prepared.fleet.environment);
    let diagnostic =
        Diagnostic::warning(code, message).at(Origin::field(&key, FieldPath::from(selector)), "").about(&key);
    match cause(prepared, policy, code) {
        Some(cause) => diagnostic.because(cause),
        None => diagnostic,
    }
}

/// What many policies may ask for, and nothing has.
fn cause(prepared: &Prepared, policy: &Object<SchedulingPolicy>, code: Code) -> Option<String> {
    let (index, selector) = match code {
        Code::NoClusterTypeSelected => (&prepared.place_index, &policy.spec.cluster_types),
        _ => (&prepared.target_index, &policy.spec.targets),
    };
    if index.is_empty() {
        return Some("there is none".to_owned());
    }
    let workspace = &policy.spec.workspace;
    if code == Code::NoTargetSelected && !workspace.is_empty() && !index.has(WORKSPACE_LABEL, workspace) {
        return Some(format!("workspace {workspace}"));
    }
    let is_met_by_none = |requirement: &&model::selector::Requirement| index.meeting(requirement).is_empty();
    selector.requirements.iter().find(is_met_by_none).map(|requirement| format!("{requirement:?}"))
}

/// Something that is for what has certain labels.
struct Scoped<'p> {
    key: ObjectKey,
    /// What messages call it.
    name: String,
    conditions: &'p Conditions,
    origin: Box<dyn Fn(&str) -> Origin + 'p>,
}

/// What is said about containers and schemas that apply to nothing. Those at these positions apply to something.
pub(crate) fn apply_to_nothing(
    prepared: &Prepared,
    containers: &RoaringBitmap,
    schemas: &RoaringBitmap,
) -> Vec<Diagnostic> {
    let idle = |used: &RoaringBitmap, position: usize| !used.contains(position as u32);
    let of_containers = prepared.containers.list.iter().enumerate().filter(|(position, _)| idle(containers, *position));
    let mut scoped: Vec<Scoped<'_>> = of_containers
        .map(|(_, container)| Scoped {
            key: container.key(),
            name: container.shown(),
            conditions: &container.conditions,
            origin: Box::new(|label| container.condition_origin(label)),
        })
        .collect();
    let of_schemas = prepared.schemas.labelled.iter().enumerate().filter(|(position, _)| idle(schemas, *position));
    scoped.extend(of_schemas.map(|(_, labelled)| {
        let key = labelled.schema.text.object.clone();
        let object = key.clone();
        let origin = move |label: &str| Origin::field(&object, FieldPath::from(["metadata", "labels"]).key(label));
        Scoped { name: key.to_string(), key, conditions: &labelled.conditions, origin: Box::new(origin) }
    }));
    let mut judge = Judge { prepared, known: Known::of(&prepared.fleet), nearest: BTreeMap::new() };
    scoped.iter().filter(|scoped| !scoped.is_without_labels()).filter_map(|scoped| judge.diagnostic(scoped)).collect()
}

impl Scoped<'_> {
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

/// Finds out why things apply to nothing.
struct Judge<'p> {
    prepared: &'p Prepared,
    known: Known<'p>,
    /// The advice for labels that nothing has.
    nearest: BTreeMap<(Arc<str>, Arc<str>), Option<String>>,
}

impl Judge<'_> {
    /// None if it may apply to something that is not known, or to something elsewhere.
    fn diagnostic(&mut self, scoped: &Scoped<'_>) -> Option<Diagnostic> {
        let unmet = scoped.labels().find(|(key, value)| !self.is_met(key, value));
        if let Some((key, value)) = unmet {
            return self.is_certain(key).then(|| self.unmet(scoped, key, value));
        }
        let is_elsewhere = |(key, value): &(Arc<str>, Arc<str>)| self.is_met_elsewhere(key, value);
        if !self.known.has_all_places || !self.known.has_all_targets || scoped.labels().any(is_elsewhere) {
            return None;
        }
        let labels: Vec<_> = scoped.labels().collect();
        let sides: Vec<_> = labels.iter().take(COMBINED_MAX).map(|(key, value)| self.sides(key, value)).collect();
        let none = RoaringBitmap::new();
        let (is_of_places, is_of_targets) = (fits(&sides, None, Some(&none)), fits(&sides, Some(&none), None));
        // Whether anything is assigned to a place at all is not a matter of the labels of values.
        if is_of_places || is_of_targets {
            return None;
        }
        let (first, _) = labels.first()?;
        let shown: Vec<_> = labels.iter().map(|(key, value)| format!("`{key}: {value}`")).collect();
        let shown = shown.join(" and ");
        let name = &scoped.name;
        let (message, help) = if fits(&sides, None, None) {
            (
                format!("{name} applies to nothing: what has {shown} is nowhere assigned together"),
                "does a policy put these deployment targets there?",
            )
        } else {
            (
                format!("{name} applies to nothing: no assignment can have {shown}"),
                "all labels have to be met by one assignment",
            )
        };
        Some(scoped.diagnostic(message, first).help(help))
    }

    fn unmet(&mut self, scoped: &Scoped<'_>, key: &Arc<str>, value: &Arc<str>) -> Diagnostic {
        let what = match &**key {
            "cluster-type" | "cluster" | "deployment-target" | WORKLOAD_LABEL => {
                format!("there is no {} `{value}`", key.replace('-', " "))
            }
            _ => format!("nothing has the label `{key}: {value}`"),
        };
        let environment = &self.prepared.fleet.environment;
        let message = format!("{} applies to nothing in {environment}: {what}", scoped.name);
        let diagnostic = scoped.diagnostic(message, key).because(format!("{key}: {value}"));
        match self.advice(key, value) {
            Some(advice) => diagnostic.help(advice),
            None => diagnostic,
        }
    }

    /// Whether everything is known that could meet a label.
    fn is_certain(&self, key: &str) -> bool {
        match key {
            "cluster-type" | "cluster" => self.known.has_all_places,
            "deployment-target" | WORKLOAD_LABEL => self.known.has_all_targets,
            _ => self.known.has_all_places && self.known.has_all_targets,
        }
    }

    /// Whether anything meets a label, here or in another environment.
    fn is_met(&self, key: &str, value: &str) -> bool {
        let Prepared { fleet, place_index, target_index, .. } = self.prepared;
        let is_here = match key {
            "cluster-type" => fleet.cluster_types.contains_key(value),
            "cluster" => fleet.clusters.contains_key(value) || place_index.has(key, value),
            "deployment-target" => self.prepared.target_id(value).is_some(),
            WORKLOAD_LABEL => {
                fleet.workloads.contains_key(value)
                    || fleet.contested.contains_key(value)
                    || target_index.has(key, value)
            }
            _ => place_index.has(key, value) || target_index.has(key, value),
        };
        is_here || self.is_met_elsewhere(key, value)
    }

    fn is_met_elsewhere(&self, key: &str, value: &str) -> bool {
        self.known.elsewhere().iter().any(|target| is_met_by_target(key, value, target))
    }

    /// The places, and the targets, that meet a label.
    fn sides(&self, key: &str, value: &str) -> (RoaringBitmap, RoaringBitmap) {
        let Prepared { fleet, place_index, target_index, .. } = self.prepared;
        let none = RoaringBitmap::new;
        match key {
            "cluster-type" => (self.prepared.places_of_type(value), none()),
            "cluster" => {
                let mut places = place_index.with(key, value);
                let is_cluster = fleet.clusters.contains_key(value);
                places.extend(self.prepared.place_id(value).filter(|_| is_cluster));
                (places, none())
            }
            "deployment-target" => (none(), self.prepared.target_id(value).into_iter().collect()),
            WORKLOAD_LABEL => (none(), target_index.with(key, value)),
            _ => (place_index.with(key, value), target_index.with(key, value)),
        }
    }

    /// What was probably meant by a label that nothing has. Each is looked for once.
    fn advice(&mut self, key: &Arc<str>, value: &Arc<str>) -> Option<String> {
        let asked = (Arc::clone(key), Arc::clone(value));
        if let Some(known) = self.nearest.get(&asked) {
            return known.clone();
        }
        if self.nearest.len() >= NEAREST_MAX {
            return None;
        }
        let advice = nearest(self.prepared, key, value);
        self.nearest.insert(asked, advice.clone());
        advice
    }
}

fn nearest(prepared: &Prepared, key: &str, value: &str) -> Option<String> {
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
    let keys = || -> BTreeSet<&str> { place_index.keys().chain(target_index.keys()).collect() };
    if is_label && !keys().contains(key) {
        return similar::nearest(key, keys()).map(|near| format!("did you mean the label `{near}`?"));
    }
    let few = |mut known: BTreeSet<&str>| {
        known.remove("");
        let shown: Vec<_> = known.iter().map(|value| format!("`{value}`")).collect();
        (1..=SHOWN_MAX).contains(&shown.len()).then(|| format!("`{key}` is one of {}", shown.join(", ")))
    };
    match key {
        "cluster-type" => {
            few(fleet.cluster_types.keys().map(model::name::ClusterTypeName::as_str).take(NEAREST_MAX).collect())
        }
        WORKLOAD_LABEL => {
            few(fleet.workloads.keys().map(model::name::WorkloadName::as_str).take(NEAREST_MAX).collect())
        }
        _ if is_label => few(place_index.values(key).chain(target_index.values(key)).take(NEAREST_MAX).collect()),
        _ => None,
    }
}

/// Whether a place and a target exist that together meet all labels, each of which these places or these targets meet. None: any.
fn fits(
    labels: &[(RoaringBitmap, RoaringBitmap)],
    places: Option<&RoaringBitmap>,
    targets: Option<&RoaringBitmap>,
) -> bool {
    let Some(((of_places, of_targets), rest)) = labels.split_first() else { return true };
    let and = |one: Option<&RoaringBitmap>, other: &RoaringBitmap| one.map_or_else(|| other.clone(), |one| one & other);
    let (with_places, with_targets) = (and(places, of_places), and(targets, of_targets));
    (!with_places.is_empty() && fits(rest, Some(&with_places), targets))
        || (!with_targets.is_empty() && fits(rest, places, Some(&with_targets)))
}
