//! Explains an assignment: why it exists, and where each of its values comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gotemplate::value::Value;
use model::diagnostic::{AssignmentId, FieldPart, Origin};
use model::field_path::{FieldPath, FieldStep};
use model::name::{ConfigMapName, LabelMappingName, PolicyName, RegistrationName};
use model::object::{Object, ReleasePin, SchedulingPolicy};
use model::selector::Requirement;

use crate::compile::Prepared;
use crate::compose::container::{Conditions, Container, Entry};
use crate::compose::trace::{Setting, Trace, follow};
use crate::schedule::mapping;
use crate::schedule::matching;
use crate::schedule::place::Place;
use crate::schedule::target::{SchemaText, Target};
use crate::sensitive::redaction;

/// The explanation of an assignment: why it exists, and its inputs.
#[derive(Debug)]
pub struct Explanation {
    /// The assignment.
    pub id: AssignmentId,
    /// The place where it runs.
    pub place: Place,
    /// The workload. Empty if the label is not set.
    pub workload: Arc<str>,
    /// The workspace. Empty if the label is not set.
    pub workspace: Arc<str>,
    /// The place of its deployment target in the input.
    pub target: Origin,
    /// The registration that the deployment target comes from. None for targets of the control plane.
    pub registration: Option<RegistrationName>,
    /// The labels of its deployment target that label mappings added.
    pub mapped: Vec<MappedLabel>,
    /// The release pins that hold it.
    pub pins: Vec<Arc<Object<ReleasePin>>>,
    /// The policies that assign it.
    pub policies: Vec<PolicyReason>,
    /// The version of its configuration.
    pub version: Arc<str>,
    /// All its values, leaf by leaf.
    pub values: Vec<ValueReason>,
    /// The schemas that its values are checked against.
    pub schemas: Vec<Origin>,
    /// The names of its templates: reconciler, namespace and configuration.
    pub templates: [Arc<str>; 3],
}

/// A label that a label mapping added to a deployment target.
#[derive(Debug)]
pub struct MappedLabel {
    /// The label's key.
    pub key: Arc<str>,
    /// The label's value.
    pub value: Arc<str>,
    /// The label mapping.
    pub mapping: LabelMappingName,
    /// The place of the label in the mapping.
    pub origin: Origin,
}

/// A policy, and the requirements that an assignment meets.
#[derive(Debug)]
pub struct PolicyReason {
    /// The policy.
    pub policy: PolicyName,
    /// The place of the policy's specification.
    pub origin: Origin,
    /// Its requirements for the deployment target.
    pub target: Vec<String>,
    /// Its requirements for the cluster type.
    pub cluster_type: Vec<String>,
}

/// Where a value comes from.
#[derive(Debug)]
pub struct ValueReason {
    /// The value's path in the configuration.
    pub path: FieldPath,
    /// The value for display: a digest for a sensitive value. None if no container sets the value.
    pub shown: Option<String>,
    /// The container that sets the value. None if no container sets it, or if several containers set parts of it.
    pub set_by: Option<ValueSource>,
    /// The parts that several containers set, in merge order. Empty if one container set the whole value.
    pub composed_of: Vec<ValuePart>,
    /// The containers whose values were overridden, the last one first.
    pub overrides: Vec<ValueSource>,
    /// The containers that have the key and do not match.
    pub unused_containers: Vec<UnusedContainer>,
    /// The requirements of schemas for the value.
    pub checks: Vec<SchemaCheck>,
    /// The rendered files that depend on the value, with the first line (from 1) that differs if the value differs.
    pub rendered_lines: Vec<(Arc<str>, usize)>,
}

/// A container that sets a value.
#[derive(Debug)]
pub struct ValueSource {
    /// The container.
    pub container: ConfigMapName,
    /// The place of the value.
    pub origin: Origin,
    /// The value for display. A digest for a sensitive value.
    pub shown: String,
    /// The conditions of the container, each with the object that meets it.
    pub matches: Vec<String>,
}

/// A part of a value whose parts come from several containers.
#[derive(Debug)]
pub struct ValuePart {
    /// The part: the path of the value, or one below it.
    pub path: FieldPath,
    /// The container that sets the part.
    pub source: ValueSource,
}

/// A container that has a key and does not match.
#[derive(Debug)]
pub struct UnusedContainer {
    /// The container.
    pub container: ConfigMapName,
    /// The place of the value.
    pub origin: Origin,
    /// The conditions that the assignment does not meet.
    pub unmet_conditions: Vec<String>,
}

/// A schema with requirements for a value.
#[derive(Debug)]
pub struct SchemaCheck {
    /// The place of the requirements.
    pub origin: Origin,
    /// The requirements: the keywords of the property, with their values.
    pub requirements: String,
}

impl ValueReason {
    /// Whether a container sets the value or has its key, or a schema describes it. If not, the path is probably a mistake.
    pub fn is_known(&self) -> bool {
        self.shown.is_some()
            || !self.overrides.is_empty()
            || !self.unused_containers.is_empty()
            || !self.checks.is_empty()
    }
}

impl Prepared {
    /// Explains an assignment. None if there is no such assignment.
    pub fn explain(&self, id: &AssignmentId) -> Option<Explanation> {
        let assignment = ExplainedAssignment::find(self, id)?;
        let trace = assignment.trace();
        let values = trace.leaves().into_iter().map(|(path, _)| assignment.value(&trace, &path)).collect();
        let (object, path) = &assignment.target.origin;
        let spec = &assignment.place.cluster_type.spec;
        Some(Explanation {
            id: id.clone(),
            place: assignment.place.clone(),
            workload: assignment.target.workload().into(),
            workspace: assignment.target.workspace().into(),
            target: Origin::field(object, path.clone()),
            registration: assignment.target.registration.clone(),
            mapped: mapped_labels(assignment.target),
            pins: self
                .pins
                .holding(|key| assignment.place.label(key), assignment.target)
                .into_iter()
                .map(Arc::clone)
                .collect(),
            policies: assignment.policies(),
            version: Arc::clone(assignment.composition_version()),
            values,
            schemas: assignment
                .schemas
                .iter()
                .map(|schema| Origin::field(&schema.object, schema.path.clone()))
                .collect(),
            templates: [&spec.reconciler, &spec.namespace_service, &spec.config_type].map(Arc::clone),
        })
    }

    /// Explains one value of an assignment. `key` is a path in the format of [`FieldPath`]. None if there is no such assignment.
    pub fn explain_value(&self, id: &AssignmentId, key: &str) -> Option<ValueReason> {
        let assignment = ExplainedAssignment::find(self, id)?;
        let trace = assignment.trace();
        let path = parse_path(&trace.data, key);
        let mut reason = assignment.value(&trace, &path);
        reason.rendered_lines =
            crate::answers::output_lines::lines_of(self, (assignment.place_id, assignment.target_id), &path);
        Some(reason)
    }

    /// The paths that [`Self::explain_value`] can explain for an assignment: the paths of all its values, and the keys of all containers.
    pub fn value_paths(&self, id: &AssignmentId) -> BTreeSet<FieldPath> {
        let Some(assignment) = ExplainedAssignment::find(self, id) else { return BTreeSet::new() };
        let mut paths = BTreeSet::new();
        for (mut path, _) in assignment.trace().leaves() {
            while !path.steps().is_empty() && paths.insert(path.clone()) {
                path.pop();
            }
        }
        let entries = self.containers.list.iter().flat_map(|container| &container.entries);
        paths.extend(entries.map(|entry| FieldPath::from([&*entry.key])));
        paths
    }

    /// The paths of an assignment's sensitive values.
    pub fn sensitive_paths(&self, id: &AssignmentId) -> BTreeSet<FieldPath> {
        ExplainedAssignment::find(self, id).map(|assignment| assignment.sensitive).unwrap_or_default()
    }
}

/// The values of an assignment on one side of a comparison.
pub(crate) struct AssignmentValues<'a> {
    assignment: ExplainedAssignment<'a>,
    trace: Trace,
}

impl<'a> AssignmentValues<'a> {
    /// Composes the values of an assignment. Its own sensitive values and the values at the paths `hidden` are not shown. None if there is no
    /// such assignment.
    pub(crate) fn find(prepared: &'a Prepared, id: &AssignmentId, hidden: BTreeSet<FieldPath>) -> Option<Self> {
        let mut assignment = ExplainedAssignment::find(prepared, id)?;
        assignment.sensitive.extend(hidden);
        Some(Self { trace: assignment.trace(), assignment })
    }

    /// The values for display, leaf by leaf.
    pub(crate) fn shown(&self) -> BTreeMap<FieldPath, String> {
        let leaves = self.trace.leaves().into_iter();
        leaves.map(|(path, value)| (path.clone(), self.assignment.shown(&path, &value))).collect()
    }

    /// The settings of the value at a path, the last one first.
    pub(crate) fn settings(&self, path: &FieldPath) -> Vec<Setting> {
        self.trace.settings(path)
    }

    /// The place of the last setting of a value.
    pub(crate) fn origin(&self, path: &FieldPath) -> Option<Origin> {
        self.trace.settings(path).into_iter().next().map(|setting| setting.origin)
    }

    /// The container on this side that sets the same value as `setting` of the other side, and does not match the assignment here.
    pub(crate) fn unused(&self, setting: &Setting, path: &FieldPath) -> Option<&'a Container> {
        let (FieldStep::Key(key), below) = path.steps().split_first()? else { return None };
        let all = &self.assignment.prepared.containers.list;
        let is_used = |other: &Arc<Container>| self.assignment.containers.iter().any(|used| Arc::ptr_eq(used, other));
        let sets_same_value = |entry: &Entry| {
            let value = follow(&entry.value.value, below);
            entry.key == *key && value.is_some_and(|value| shown(value) == shown(&setting.value))
        };
        let is_unused_counterpart = |other: &&Arc<Container>| {
            other.name == setting.container.name && !is_used(other) && other.entries.iter().any(sets_same_value)
        };
        all.iter().find(is_unused_counterpart).map(|container| &**container)
    }

    /// Where the assignment runs.
    pub(crate) fn place(&self) -> &'a Place {
        self.assignment.place
    }

    /// The target of the assignment.
    pub(crate) fn target(&self) -> &'a Target {
        self.assignment.target
    }
}

fn mapped_labels(target: &Target) -> Vec<MappedLabel> {
    let mapped = target.mapped.iter().filter_map(|(key, mapping)| {
        let (key, value) = (Arc::clone(key), Arc::clone(target.labels.get(key)?));
        Some(MappedLabel { origin: mapping::origin(mapping, &key), key, value, mapping: mapping.clone() })
    });
    mapped.collect()
}

/// Parses a path. A key may contain dots: existing keys take precedence, the longest one first.
pub(crate) fn parse_path(data: &Value, key: &str) -> FieldPath {
    let mut path = FieldPath::default();
    let mut rest = key;
    let mut value = Some(data);
    while !rest.is_empty() {
        let (step, after) = next_step(value, rest);
        value = value.and_then(|value| follow(value, std::slice::from_ref(&step)));
        path.push(step);
        rest = after;
    }
    path
}

fn next_step<'k>(value: Option<&Value>, key: &'k str) -> (FieldStep, &'k str) {
    if let Some((index, after)) = key.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && let Ok(index) = index.parse()
    {
        return (FieldStep::Index(index), after.strip_prefix('.').unwrap_or(after));
    }
    let exists = |name: &str| value.is_some_and(|value| follow(value, &[FieldStep::Key(name.into())]).is_some());
    let ends = key.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at).chain([key.len()]);
    let ends: Vec<_> = ends.filter(|end| *end > 0).collect();
    let longest = ends.iter().rev().find(|end| exists(&key[..**end]));
    let end = longest.or(ends.first()).copied().unwrap_or(key.len());
    let after = &key[end..];
    (FieldStep::Key(key[..end].into()), after.strip_prefix('.').unwrap_or(after))
}

/// An assignment to explain, with its inputs.
struct ExplainedAssignment<'a> {
    prepared: &'a Prepared,
    place_id: u32,
    place: &'a Place,
    target_id: u32,
    target: &'a Target,
    containers: Vec<Arc<Container>>,
    schemas: Vec<SchemaText>,
    sensitive: BTreeSet<FieldPath>,
    version: std::sync::OnceLock<Arc<str>>,
}

impl<'a> ExplainedAssignment<'a> {
    fn find(prepared: &'a Prepared, id: &AssignmentId) -> Option<Self> {
        let (place_id, target_id) = (prepared.place_id(id.place.as_str())?, prepared.target_id(id.target.as_str())?);
        if !prepared.schedule.targets_on(place_id).contains(&target_id) {
            return None;
        }
        let (place, target) = (prepared.place(place_id)?, &*prepared.target(target_id)?.target);
        let (containers, schemas) = prepared.inputs_of(place_id, target_id);
        let sensitive = prepared.sensitive_of(schemas.iter().copied(), &containers);
        let schemas = schemas.into_iter().map(|schema| schema.text.clone()).collect();
        let version = std::sync::OnceLock::new();
        Some(Self { prepared, place_id, place, target_id, target, containers, schemas, sensitive, version })
    }

    fn trace(&self) -> Trace {
        Trace::record(self.containers.clone())
    }

    fn composition_version(&self) -> &Arc<str> {
        self.version.get_or_init(|| {
            let composition = crate::compose::compose(&self.containers);
            Arc::clone(composition.version())
        })
    }

    fn policies(&self) -> Vec<PolicyReason> {
        let reason = |policy: &Arc<Object<SchedulingPolicy>>| {
            let spec = &policy.spec;
            let workspace = (!spec.workspace.is_empty()).then(|| format!("workspace {}", spec.workspace));
            let requirements =
                |requirements: &[Requirement]| requirements.iter().map(Requirement::to_string).collect::<Vec<_>>();
            PolicyReason {
                policy: policy.name.clone(),
                origin: Origin::field(&policy.key(), FieldPath::from(["spec"])),
                target: workspace.into_iter().chain(requirements(&spec.targets.requirements)).collect(),
                cluster_type: requirements(&spec.cluster_types.requirements),
            }
        };
        self.prepared.schedule.policies(self.place_id, self.target_id).map(reason).collect()
    }

    fn value(&self, trace: &Trace, path: &FieldPath) -> ValueReason {
        let value = follow(&trace.data, path.steps());
        let pieces = trace.pieces(path);
        let mut settings = trace.settings(path);
        settings.retain(|setting| !pieces.iter().any(|(_, piece)| piece.origin == setting.origin));
        let mut settings = settings.into_iter().map(|setting| self.source(path, setting));
        // A parent value may have been replaced by one without this path. Then all settings are overridden.
        let set_by = if value.is_some() && pieces.is_empty() { settings.next() } else { None };
        let piece = |(path, setting): (FieldPath, Setting)| ValuePart { source: self.source(&path, setting), path };
        ValueReason {
            path: path.clone(),
            shown: value.map(|value| self.shown(path, value)),
            set_by,
            overrides: settings.collect(),
            composed_of: pieces.into_iter().map(piece).collect(),
            unused_containers: self.unused_containers(path),
            checks: self.checks(path),
            rendered_lines: Vec::new(),
        }
    }

    fn source(&self, path: &FieldPath, setting: Setting) -> ValueSource {
        let container = &setting.container;
        ValueSource {
            container: container.name.clone(),
            origin: setting.origin,
            shown: self.shown(path, &setting.value),
            matches: self.matches(&container.conditions),
        }
    }

    fn matches(&self, conditions: &Conditions) -> Vec<String> {
        let by = |key: &str, value: &str| {
            if matching::is_met_by_place(key, value, self.place) { self.place.kind() } else { "target" }
        };
        conditions.iter().map(|(key, value)| format!("{key}={value} ({})", by(key, value))).collect()
    }

    fn unused_containers(&self, path: &FieldPath) -> Vec<UnusedContainer> {
        let Some((FieldStep::Key(key), below)) = path.steps().split_first() else { return Vec::new() };
        let is_used = |other: &Arc<Container>| self.containers.iter().any(|used| Arc::ptr_eq(used, other));
        let others = self.prepared.containers.list.iter().filter(|container| !is_used(container));
        let with_key = others.flat_map(|container| {
            let has_value = |entry: &&Entry| entry.key == *key && follow(&entry.value.value, below).is_some();
            let entries = container.entries.iter().filter(has_value);
            entries.map(move |entry| (container, entry))
        });
        let unused_containers = |(container, entry): (&Arc<Container>, _)| UnusedContainer {
            container: container.name.clone(),
            origin: container.origin(entry, FieldPart::Value),
            unmet_conditions: self.unmet_conditions(&container.conditions),
        };
        with_key.map(unused_containers).collect()
    }

    fn unmet_conditions(&self, conditions: &Conditions) -> Vec<String> {
        let differs = |key: &str, value: &str| {
            if matching::is_met_by_place(key, value, self.place) || matching::is_met_by_target(key, value, self.target)
            {
                return None;
            }
            let actual = match key {
                "cluster-type" => Some(self.place.cluster_type.name.as_str()),
                "cluster" if self.place.cluster.is_some() => Some(&**self.place.name_text()),
                "deployment-target" => Some(self.target.name.as_str()),
                "workload" => Some(self.target.workload()),
                _ => self.place.label(key).or_else(|| self.target.labels.get(key)).map(|label| &**label),
            };
            Some(match actual {
                Some(actual) => format!("{key}={value} does not match {key}={actual}"),
                None => format!("{key}={value}: neither the {} nor the target has this label", self.place.kind()),
            })
        };
        conditions.iter().filter_map(|(key, value)| differs(key, value)).collect()
    }

    fn checks(&self, path: &FieldPath) -> Vec<SchemaCheck> {
        let check = |text: &SchemaText| {
            let (inside, requirements) = crate::schema::requirements(&text.text, path, self.is_sensitive(path))?;
            let origin = Origin::part(&text.object, text.path.clone(), FieldPart::KeyInside(inside));
            Some(SchemaCheck { origin, requirements })
        };
        self.schemas.iter().filter_map(check).collect()
    }

    /// A value for display: a digest for a sensitive value.
    fn shown(&self, path: &FieldPath, value: &Value) -> String {
        if self.is_sensitive(path) { redaction::digest(value) } else { shown(value) }
    }

    fn is_sensitive(&self, path: &FieldPath) -> bool {
        redaction::covers(&self.sensitive, path)
    }
}

/// A value on one line: texts in quotes, mappings and lists as JSON.
pub fn shown(value: &Value) -> String {
    crate::schema::nested(value).to_string()
}
