//! Why an assignment is there, and where each of its values comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gotemplate::value::Value;
use model::diagnostic::{AssignmentId, Origin, Part};
use model::field_path::{FieldPath, Step};
use model::name::{ConfigMapName, LabelMappingName, PolicyName, RegistrationName};
use model::object::{Object, ReleasePin, SchedulingPolicy};
use model::selector::Requirement;

use crate::compile::Prepared;
use crate::container::{Conditions, Container, Entry};
use crate::mapping;
use crate::matching;
use crate::place::Place;
use crate::sensitive;
use crate::target::{SchemaText, Target};
use crate::trace::{Setting, Trace, follow};

/// Why an assignment is there, and what it is made of.
#[derive(Debug)]
pub struct Explanation {
    /// The assignment.
    pub id: AssignmentId,
    /// Where it runs.
    pub place: Place,
    /// Its workload; empty if nobody says.
    pub workload: Arc<str>,
    /// Its workspace; empty if nobody says.
    pub workspace: Arc<str>,
    /// Where its deployment target is written.
    pub target: Origin,
    /// The registration that brought it.
    pub registration: Option<RegistrationName>,
    /// The labels of its deployment target that label mappings added.
    pub mapped: Vec<MappedLabel>,
    /// The release pins that hold it.
    pub pins: Vec<Arc<Object<ReleasePin>>>,
    /// The policies that assigned it.
    pub policies: Vec<PolicyReason>,
    /// The version of its configuration.
    pub version: Arc<str>,
    /// All its values, down to the leaves.
    pub values: Vec<ValueReason>,
    /// The schemas that its values are checked against.
    pub schemas: Vec<Origin>,
    /// Its templates: reconciler, namespace and configuration.
    pub templates: [Arc<str>; 3],
}

/// A label that a label mapping added to a deployment target.
#[derive(Debug)]
pub struct MappedLabel {
    /// The label's key.
    pub key: Arc<str>,
    /// Its value.
    pub value: Arc<str>,
    /// The mapping.
    pub mapping: LabelMappingName,
    /// Where the mapping says so.
    pub origin: Origin,
}

/// A policy, and the requirements that an assignment meets.
#[derive(Debug)]
pub struct PolicyReason {
    /// The policy.
    pub policy: PolicyName,
    /// Where it is written.
    pub origin: Origin,
    /// What it asks of the deployment target.
    pub target: Vec<String>,
    /// What it asks of the cluster type.
    pub cluster_type: Vec<String>,
}

/// Where a value comes from.
#[derive(Debug)]
pub struct ValueReason {
    /// The value's path in the configuration.
    pub path: FieldPath,
    /// The value as it may be shown: of a sensitive one, a digest. None if nobody sets it.
    pub shown: Option<String>,
    /// What set it. None if nothing did, or if several containers gave parts of it.
    pub set_by: Option<Source>,
    /// The parts that several containers gave, in the order in which they were merged; empty if all of it was set in one place.
    pub composed_of: Vec<Piece>,
    /// Whom that overrode, the last one first.
    pub overrides: Vec<Source>,
    /// Who has the key, and does not match.
    pub not_used: Vec<NotUsed>,
    /// What is asked of it.
    pub checks: Vec<Check>,
    /// The files that it ends up in, with the first line (from 1) that would be another one without it.
    pub ends_up_in: Vec<(Arc<str>, usize)>,
}

/// A container that sets a value.
#[derive(Debug)]
pub struct Source {
    /// The container.
    pub container: ConfigMapName,
    /// Where the value is written.
    pub origin: Origin,
    /// The value as it may be shown.
    pub shown: String,
    /// Why the container matches.
    pub matches: Vec<String>,
}

/// A part of a value that several containers gave parts of.
#[derive(Debug)]
pub struct Piece {
    /// The part: the path of the value, or one below it.
    pub path: FieldPath,
    /// What gave it.
    pub source: Source,
}

/// A container that has a key and does not match.
#[derive(Debug)]
pub struct NotUsed {
    /// The container.
    pub container: ConfigMapName,
    /// Where the value is written.
    pub origin: Origin,
    /// The labels that do not match.
    pub because: Vec<String>,
}

/// A schema that says something about a value.
#[derive(Debug)]
pub struct Check {
    /// Where that is written.
    pub origin: Origin,
    /// What it says: the keywords of the property.
    pub demands: String,
}

impl ValueReason {
    /// Whether something sets the value, could set it, or asks for it. If not, its path is probably a mistake.
    pub fn is_known(&self) -> bool {
        self.shown.is_some() || !self.overrides.is_empty() || !self.not_used.is_empty() || !self.checks.is_empty()
    }
}

impl Prepared {
    /// Explains an assignment. None if there is no such assignment.
    pub fn explain(&self, id: &AssignmentId) -> Option<Explanation> {
        let asked = Asked::find(self, id)?;
        let trace = asked.trace();
        let values = trace.leaves().into_iter().map(|(path, _)| asked.value(&trace, &path)).collect();
        let (object, path) = &asked.target.origin;
        let spec = &asked.place.cluster_type.spec;
        Some(Explanation {
            id: id.clone(),
            place: asked.place.clone(),
            workload: asked.target.workload().into(),
            workspace: asked.target.workspace().into(),
            target: Origin::field(object, path.clone()),
            registration: asked.target.registration.clone(),
            mapped: mapped_labels(asked.target),
            pins: self.pins.holding(|key| asked.place.label(key), asked.target).into_iter().map(Arc::clone).collect(),
            policies: asked.policies(),
            version: Arc::clone(asked.composition_version()),
            values,
            schemas: asked.schemas.iter().map(|schema| Origin::field(&schema.object, schema.path.clone())).collect(),
            templates: [&spec.reconciler, &spec.namespace_service, &spec.config_type].map(Arc::clone),
        })
    }

    /// Explains one value of an assignment, `key` being a path as [`FieldPath`] writes it. None if there is no such assignment.
    pub fn explain_value(&self, id: &AssignmentId, key: &str) -> Option<ValueReason> {
        let asked = Asked::find(self, id)?;
        let trace = asked.trace();
        let path = parse_path(&trace.data, key);
        let mut reason = asked.value(&trace, &path);
        reason.ends_up_in = crate::whereabouts::lines_of(self, (asked.place_id, asked.target_id), &path);
        Some(reason)
    }

    /// The paths that an assignment can be asked for: those of all its values, and the keys of containers that do not match.
    pub fn value_paths(&self, id: &AssignmentId) -> BTreeSet<FieldPath> {
        let Some(asked) = Asked::find(self, id) else { return BTreeSet::new() };
        let mut paths = BTreeSet::new();
        for (mut path, _) in asked.trace().leaves() {
            while !path.steps().is_empty() && paths.insert(path.clone()) {
                path.pop();
            }
        }
        let entries = self.containers.list.iter().flat_map(|container| &container.entries);
        paths.extend(entries.map(|entry| FieldPath::from([&*entry.key])));
        paths
    }

    /// The paths of sensitive values of an assignment.
    pub fn sensitive_paths(&self, id: &AssignmentId) -> BTreeSet<FieldPath> {
        Asked::find(self, id).map(|asked| asked.sensitive).unwrap_or_default()
    }
}

/// The values of an assignment on one side of a comparison.
pub(crate) struct Values<'a> {
    asked: Asked<'a>,
    trace: Trace,
}

impl<'a> Values<'a> {
    /// Those of an assignment. Besides its own sensitive values, those at the paths `hidden` are not shown. None if there is no such assignment.
    pub(crate) fn of(prepared: &'a Prepared, id: &AssignmentId, hidden: BTreeSet<FieldPath>) -> Option<Self> {
        let mut asked = Asked::find(prepared, id)?;
        asked.sensitive.extend(hidden);
        Some(Self { trace: asked.trace(), asked })
    }

    /// Leaf by leaf, as they may be shown.
    pub(crate) fn shown(&self) -> BTreeMap<FieldPath, String> {
        let leaves = self.trace.leaves().into_iter();
        leaves.map(|(path, value)| (path.clone(), self.asked.shown(&path, &value))).collect()
    }

    /// What set the value at a path, the last first.
    pub(crate) fn settings(&self, path: &FieldPath) -> Vec<Setting> {
        self.trace.settings(path)
    }

    /// Where the last part of a value is written.
    pub(crate) fn origin(&self, path: &FieldPath) -> Option<Origin> {
        self.trace.settings(path).into_iter().next().map(|setting| setting.origin)
    }

    /// The container on this side that says the same as `setting` of another side, and does not match here.
    pub(crate) fn unused(&self, setting: &Setting, path: &FieldPath) -> Option<&'a Container> {
        let (Step::Key(key), below) = path.steps().split_first()? else { return None };
        let all = &self.asked.prepared.containers.list;
        let is_used = |other: &Arc<Container>| self.asked.containers.iter().any(|used| Arc::ptr_eq(used, other));
        let says = |entry: &Entry| {
            let value = follow(&entry.value.value, below);
            entry.key == *key && value.is_some_and(|value| shown(value) == shown(&setting.value))
        };
        let is_it = |other: &&Arc<Container>| {
            other.name == setting.container.name && !is_used(other) && other.entries.iter().any(says)
        };
        all.iter().find(is_it).map(|container| &**container)
    }

    /// Where the assignment runs.
    pub(crate) fn place(&self) -> &'a Place {
        self.asked.place
    }

    /// Its target.
    pub(crate) fn target(&self) -> &'a Target {
        self.asked.target
    }
}

fn mapped_labels(target: &Target) -> Vec<MappedLabel> {
    let mapped = target.mapped.iter().filter_map(|(key, mapping)| {
        let (key, value) = (Arc::clone(key), Arc::clone(target.labels.get(key)?));
        Some(MappedLabel { origin: mapping::origin(mapping, &key), key, value, mapping: mapping.clone() })
    });
    mapped.collect()
}

/// The path that `key` writes: of keys with dots in them, those that exist come first.
fn parse_path(data: &Value, key: &str) -> FieldPath {
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

fn next_step<'k>(value: Option<&Value>, key: &'k str) -> (Step, &'k str) {
    if let Some((index, after)) = key.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && let Ok(index) = index.parse()
    {
        return (Step::Index(index), after.strip_prefix('.').unwrap_or(after));
    }
    let exists = |name: &str| value.is_some_and(|value| follow(value, &[Step::Key(name.into())]).is_some());
    let ends = key.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at).chain([key.len()]);
    let ends: Vec<_> = ends.filter(|end| *end > 0).collect();
    let longest = ends.iter().rev().find(|end| exists(&key[..**end]));
    let end = longest.or(ends.first()).copied().unwrap_or(key.len());
    let after = &key[end..];
    (Step::Key(key[..end].into()), after.strip_prefix('.').unwrap_or(after))
}

/// An assignment that somebody asks about.
struct Asked<'a> {
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

impl<'a> Asked<'a> {
    fn find(prepared: &'a Prepared, id: &AssignmentId) -> Option<Self> {
        let (place_id, target_id) = (prepared.place_id(id.place.as_str())?, prepared.target_id(id.target.as_str())?);
        if !prepared.schedule.targets_on(place_id).contains(&target_id) {
            return None;
        }
        let (place, target) = (prepared.place(place_id)?, &*prepared.target(target_id)?.target);
        let (containers, schemas) = prepared.inputs_of(place_id, target_id);
        let sensitive = prepared.schemas.sensitive(schemas.iter().copied());
        let schemas = schemas.into_iter().map(|schema| schema.text.clone()).collect();
        let version = std::sync::OnceLock::new();
        Some(Self { prepared, place_id, place, target_id, target, containers, schemas, sensitive, version })
    }

    fn trace(&self) -> Trace {
        Trace::record(self.containers.clone())
    }

    fn composition_version(&self) -> &Arc<str> {
        self.version.get_or_init(|| {
            let composition = crate::compose::compose(&self.containers, &mut crate::record::Silent);
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
        // Something above may have been replaced by what has no such value: then all of them are overridden.
        let set_by = if value.is_some() && pieces.is_empty() { settings.next() } else { None };
        let piece = |(path, setting): (FieldPath, Setting)| Piece { source: self.source(&path, setting), path };
        ValueReason {
            path: path.clone(),
            shown: value.map(|value| self.shown(path, value)),
            set_by,
            overrides: settings.collect(),
            composed_of: pieces.into_iter().map(piece).collect(),
            not_used: self.not_used(path),
            checks: self.checks(path),
            ends_up_in: Vec::new(),
        }
    }

    fn source(&self, path: &FieldPath, setting: Setting) -> Source {
        let container = &setting.container;
        Source {
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

    fn not_used(&self, path: &FieldPath) -> Vec<NotUsed> {
        let Some((Step::Key(key), below)) = path.steps().split_first() else { return Vec::new() };
        let is_used = |other: &Arc<Container>| self.containers.iter().any(|used| Arc::ptr_eq(used, other));
        let others = self.prepared.containers.list.iter().filter(|container| !is_used(container));
        let with_key = others.flat_map(|container| {
            let has_value = |entry: &&Entry| entry.key == *key && follow(&entry.value.value, below).is_some();
            let entries = container.entries.iter().filter(has_value);
            entries.map(move |entry| (container, entry))
        });
        let not_used = |(container, entry): (&Arc<Container>, _)| NotUsed {
            container: container.name.clone(),
            origin: container.origin(entry, Part::Value),
            because: self.mismatches(&container.conditions),
        };
        with_key.map(not_used).collect()
    }

    fn mismatches(&self, conditions: &Conditions) -> Vec<String> {
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

    fn checks(&self, path: &FieldPath) -> Vec<Check> {
        let check = |text: &SchemaText| {
            let (inside, demands) = crate::schema::demands(&text.text, path, self.is_sensitive(path))?;
            let origin = Origin::part(&text.object, text.path.clone(), Part::KeyInside(inside));
            Some(Check { origin, demands })
        };
        self.schemas.iter().filter_map(check).collect()
    }

    /// A value as it may be shown.
    fn shown(&self, path: &FieldPath, value: &Value) -> String {
        if self.is_sensitive(path) { sensitive::digest(value) } else { shown(value) }
    }

    fn is_sensitive(&self, path: &FieldPath) -> bool {
        sensitive::covers(&self.sensitive, path)
    }
}

/// A value on one line: texts in quotes, mappings and lists as JSON.
pub fn shown(value: &Value) -> String {
    crate::schema::nested(value).to_string()
}
