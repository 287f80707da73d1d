//! The deployment targets of an environment: those that workloads bring, and those written directly.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, ObjectKey, Origin};
use model::field_path::FieldPath;
use model::fleet::{Fleet, RegisteredWorkload};
use model::label::Labels;
use model::name::{DeploymentTargetName, LabelMappingName, RegistrationName};
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};
use model::object::workload::WorkloadTarget;
use model::object::{AnyObject, DeploymentTarget, Kind, Object};

use crate::mapping::Mappings;

/// A deployment target with everything that its workload and registration add to it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its whole name, `<workload>-<target>`.
    pub name: DeploymentTargetName,
    /// Its labels: its own, under those of its workload, and those that mappings add.
    pub labels: Labels,
    /// Which label mapping added which of its labels.
    pub mapped: BTreeMap<Arc<str>, LabelMappingName>,
    /// Where its manifests are.
    pub manifests: BTreeMap<Arc<str>, Arc<str>>,
    /// The JSON schemas that it and its workload bring.
    pub schemas: Vec<SchemaText>,
    /// The object that defines it, and the field that does.
    pub origin: (ObjectKey, FieldPath),
    /// The registration that brought it.
    pub registration: Option<RegistrationName>,
    /// Why nothing of it can be rendered.
    pub problem: Option<Diagnostic>,
}

/// A JSON schema and where it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemaText {
    /// The JSON text.
    pub text: Arc<str>,
    /// The object that holds it.
    pub object: ObjectKey,
    /// The field of the object.
    pub path: FieldPath,
}

impl Target {
    /// Whether another says the same, whatever is wrong with it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.labels == other.labels
            && self.manifests == other.manifests
            && self.schemas == other.schemas
            && self.origin == other.origin
            && self.registration == other.registration
    }

    /// The name of its workload; empty if nobody says.
    pub fn workload(&self) -> &str {
        self.labels.get(WORKLOAD_LABEL).map_or("", |name| name)
    }

    /// The name of its workspace; empty if nobody says.
    pub fn workspace(&self) -> &str {
        self.labels.get(WORKSPACE_LABEL).map_or("", |name| name)
    }
}

/// The deployment targets of the fleet's environment, by name, and what is wrong with them.
///
/// `behaviour`: a workload's labels override those of its targets, and `workload` and `workspace` override both. Label mappings come last,
/// and override nothing.
pub fn targets(fleet: &Fleet) -> (Vec<Target>, Vec<Diagnostic>) {
    let mut collector = Collector { fleet, targets: BTreeMap::new(), diagnostics: Vec::new() };
    for workload in fleet.workloads.values() {
        collector.add_workload(workload);
    }
    for object in fleet.deployment_targets.values() {
        collector.add_written(object);
    }
    for copies in fleet.duplicates.values() {
        copies.iter().for_each(|copy| collector.add_copy(copy));
    }
    let Collector { targets, mut diagnostics, .. } = collector;
    let mappings = Mappings::new(fleet);
    let mapped = targets.into_values().map(|mut target| {
        diagnostics.extend(mappings.apply(&mut target));
        target
    });
    (mapped.collect(), diagnostics)
}

struct Collector<'a> {
    fleet: &'a Fleet,
    targets: BTreeMap<DeploymentTargetName, Target>,
    diagnostics: Vec<Diagnostic>,
}

impl Collector<'_> {
    fn add_workload(&mut self, workload: &RegisteredWorkload) {
        let object = &workload.object;
        for (index, target) in object.spec.deployment_targets.iter().enumerate() {
            if *target.spec.environment != *self.fleet.environment.as_str() {
                continue;
            }
            let path = FieldPath::from(["spec", "deploymentTargets"]).index(index);
            match DeploymentTargetName::new(format!("{}-{}", object.name, target.name)) {
                Ok(name) => self.add(expanded(workload, target, name, path)),
                Err(error) => {
                    let message = format!("the name `{}-{}` is not possible: {error}", object.name, target.name);
                    let origin = Origin::field(&object.key(), path.key("name"));
                    self.diagnostics
                        .push(Diagnostic::error(Code::InvalidName, message).at(origin, "").about(&object.key()));
                }
            }
        }
    }

    fn add_written(&mut self, object: &Object<DeploymentTarget>) {
        if *object.spec.environment == *self.fleet.environment.as_str() {
            self.add(written(object));
        }
    }

    /// A copy of an object that exists already: whatever it brings is not clear.
    fn add_copy(&mut self, copy: &AnyObject) {
        match copy {
            AnyObject::Workload(object) => {
                let workload =
                    RegisteredWorkload { object: Arc::clone(object), registration: None, workspace: "".into() };
                let known = self.targets.keys().cloned().collect::<Vec<_>>();
                let mut other = Collector { fleet: self.fleet, targets: BTreeMap::new(), diagnostics: Vec::new() };
                other.add_workload(&workload);
                self.targets.extend(other.targets.into_iter().filter(|(name, _)| !known.contains(name)));
            }
            AnyObject::DeploymentTarget(object) if *object.spec.environment == *self.fleet.environment.as_str() => {
                let target = written(object);
                self.targets.entry(target.name.clone()).or_insert(target);
            }
            _ => return,
        }
        let key = copy.key();
        let problem = self.fleet.duplicate_diagnostic(&key);
        let of_object = self.targets.values_mut().filter(|target| target.origin.0 == key);
        of_object.for_each(|target| target.problem.clone_from(&problem));
    }

    fn add(&mut self, target: Target) {
        let Some(first) = self.targets.get_mut(&target.name) else {
            self.targets.insert(target.name.clone(), target);
            return;
        };
        let place = |(object, path): &(ObjectKey, FieldPath)| {
            let name =
                if object.kind == Kind::Workload { path.key("name") } else { FieldPath::from(["metadata", "name"]) };
            Origin::field(object, name)
        };
        let message = format!("two deployment targets have the whole name `{}`", target.name);
        let diagnostic = Diagnostic::error(Code::NameCollision, message)
            .at(place(&first.origin), format!("of {}", first.origin.0))
            .at(place(&target.origin), format!("of {}", target.origin.0))
            .note("neither is rendered; their assignments keep their last good output")
            .help("rename one of them");
        first.problem = Some(diagnostic.clone());
        self.diagnostics.push(diagnostic);
    }
}

fn expanded(
    workload: &RegisteredWorkload,
    target: &WorkloadTarget,
    name: DeploymentTargetName,
    path: FieldPath,
) -> Target {
    let object = &workload.object;
    let mut labels = target.labels.clone();
    object.labels.iter().for_each(|(key, value)| labels.set(Arc::clone(key), Arc::clone(value)));
    labels.set(WORKLOAD_LABEL, Arc::clone(object.name.as_arc()));
    labels.set(WORKSPACE_LABEL, Arc::clone(&workload.workspace));
    let key = object.key();
    let mut schemas = schema_texts(&key, &path.key("configSchemas"), &target.spec.config_schemas);
    schemas.extend(schema_texts(&key, &FieldPath::from(["spec", "configSchemas"]), &object.spec.config_schemas));
    let registration = workload.registration.clone();
    let manifests = target.spec.manifests.clone();
    Target {
        name,
        labels,
        mapped: BTreeMap::new(),
        manifests,
        schemas,
        origin: (key, path),
        registration,
        problem: None,
    }
}

fn written(object: &Object<DeploymentTarget>) -> Target {
    let key = object.key();
    let path = FieldPath::from(["spec"]);
    let schemas = schema_texts(&key, &path.key("configSchemas"), &object.spec.config_schemas);
    Target {
        name: object.name.clone(),
        labels: object.labels.clone(),
        mapped: BTreeMap::new(),
        manifests: object.spec.manifests.clone(),
        schemas,
        origin: (key, path),
        registration: None,
        problem: None,
    }
}

fn schema_texts(object: &ObjectKey, path: &FieldPath, texts: &[Arc<str>]) -> Vec<SchemaText> {
    let text = |(index, text): (usize, &Arc<str>)| SchemaText {
        text: Arc::clone(text),
        object: object.clone(),
        path: path.index(index),
    };
    texts.iter().enumerate().map(text).collect()
}
