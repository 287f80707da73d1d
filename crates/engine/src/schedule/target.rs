//! The deployment targets of an environment: those of workloads, and those that are objects of their own.

mod ownership;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::{Author, Fleet, RegisteredWorkload};
use model::kind::Kind;
use model::label::Labels;
use model::name::{DeploymentTargetName, EnvironmentName, LabelMappingName, RegistrationName, WorkloadName};
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};
use model::object::workload::WorkloadTarget;
use model::object::{AnyObject, DeploymentTarget, Object};
use model::object_key::ObjectKey;
use model::similar;

use self::ownership::{Claim, Claims, Precedence};

/// The maximum number of environments that a message names.
const ENVIRONMENTS_SHOWN_MAX: usize = 10;

/// A deployment target with the fields that its workload and registration add.
#[derive(Clone, Debug)]
pub struct Target {
    /// The whole name, `<workload>-<target>`.
    pub name: DeploymentTargetName,
    /// The labels. Labels of the workload override labels of the target. Label mappings add further labels.
    pub labels: Labels,
    /// The label mapping that added a label, by label key.
    pub mapped: BTreeMap<Arc<str>, LabelMappingName>,
    /// The keys of the labels that come from the workload.
    pub of_workload: BTreeSet<Arc<str>>,
    /// The place of the manifests: for example repository, branch and path, by key.
    pub manifests: BTreeMap<Arc<str>, Arc<str>>,
    /// The JSON schemas of the target and of its workload.
    pub schemas: Vec<SchemaText>,
    /// The object that defines the target, and the field in it.
    pub origin: (ObjectKey, FieldPath),
    /// The registration that the target comes from. None for targets of the control plane.
    pub registration: Option<RegistrationName>,
    /// The application whose `ConfigSchema`s can apply to the target, in addition to those of the application with the workload's name. None
    /// for targets of the platform team.
    pub(crate) application: Option<Application>,
    /// The reason why the target can't be rendered.
    pub problem: Option<Diagnostic>,
}

/// The application that a deployment target comes from, if it does not come from the platform team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Application {
    /// The application with this registration.
    Of(RegistrationName),
    /// Several applications have a workload of this name. It is undefined which one applies.
    Contested,
}

impl Application {
    /// The application as a value of the condition [`APPLICATION`](crate::schedule::matching::APPLICATION).
    pub(crate) fn as_condition(&self) -> Arc<str> {
        match self {
            Self::Of(registration) => Arc::clone(registration.as_arc()),
            Self::Contested => Arc::default(),
        }
    }
}

/// A JSON schema and its place.
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
    /// Whether both targets are equal, except for their problems.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.labels == other.labels
            && self.mapped.keys().eq(other.mapped.keys())
            && self.of_workload == other.of_workload
            && self.manifests == other.manifests
            && self.schemas == other.schemas
            && self.origin == other.origin
            && self.registration == other.registration
            && self.application == other.application
    }

    /// Whether the target is part of a workload of an application team. Its texts are then rendered as data.
    pub(crate) fn is_of_application(&self) -> bool {
        self.origin.0.kind == Kind::Workload
    }

    /// The name of the target's workload. Empty if the label is not set.
    pub fn workload(&self) -> &str {
        self.labels.get(WORKLOAD_LABEL).map_or("", |name| name)
    }

    /// The name of the target's workspace. Empty if the label is not set.
    pub fn workspace(&self) -> &str {
        self.labels.get(WORKSPACE_LABEL).map_or("", |name| name)
    }
}

/// Returns the deployment targets of the fleet's environment, by name, and diagnostics about them.
///
/// `behaviour`: a workload's labels override those of its targets. The labels `workload` and `workspace` override both.
/// `crate::schedule::mapping::targets` adds the labels of label mappings.
pub(crate) fn unmapped_targets(fleet: &Fleet) -> (Vec<Target>, Vec<Diagnostic>) {
    let mut collector = Collector { fleet, claims: Claims::new(), diagnostics: Vec::new() };
    for workload in fleet.workloads.values() {
        collector.add_workload(workload);
    }
    for name in fleet.conflicting_claims.keys() {
        collector.add_contested(name);
    }
    for object in fleet.deployment_targets.values() {
        collector.add_object(object);
    }
    let Collector { claims, mut diagnostics, .. } = collector;
    let mut targets = ownership::assign_owners(fleet, claims, &mut diagnostics);
    for (key, copies) in &fleet.duplicates {
        let are_targets = copies.iter().filter(|copy| add_copy(fleet, &mut targets, copy)).count() > 0;
        if are_targets {
            let problem = fleet.duplicate_diagnostic(key);
            let of_object = targets.values_mut().filter(|target| target.origin.0 == *key);
            of_object.for_each(|target| target.problem.clone_from(&problem));
        }
    }
    (targets.into_values().collect(), diagnostics)
}

struct Collector<'a> {
    fleet: &'a Fleet,
    claims: Claims,
    diagnostics: Vec<Diagnostic>,
}

impl Collector<'_> {
    fn add_workload(&mut self, workload: &RegisteredWorkload) {
        for target in self.targets_of(workload) {
            let precedence = Precedence::from_workload(workload);
            self.claims.entry(target.name.clone()).or_default().push(Claim { target, precedence });
        }
    }

    /// Adds the targets of all workloads that have the same name. None of them is rendered, and their last good output stays.
    fn add_contested(&mut self, name: &WorkloadName) {
        let problem = self.fleet.conflicting_claims_diagnostic(name);
        let mut known = BTreeMap::new();
        for workload in self.fleet.conflicting_claims.get(name).into_iter().flatten() {
            for target in self.targets_of(workload) {
                let application = Some(Application::Contested);
                known.entry(target.name.clone()).or_insert(Target { problem: problem.clone(), application, ..target });
            }
        }
        for (name, target) in known {
            self.claims.entry(name).or_default().push(Claim { target, precedence: Precedence::Other });
        }
    }

    fn add_object(&mut self, object: &Object<DeploymentTarget>) {
        if *object.spec.environment == *self.fleet.environment.as_str() {
            let target = from_object(object);
            self.claims
                .entry(target.name.clone())
                .or_default()
                .push(Claim { target, precedence: Precedence::Platform });
        } else {
            let place = (&FieldPath::from(["spec"]), &*object.spec.environment);
            self.diagnostics.extend(unknown_environment(self.fleet, &object.key(), place));
        }
    }

    fn targets_of(&mut self, workload: &RegisteredWorkload) -> Vec<Target> {
        let (mut targets, object) = (Vec::new(), &workload.object);
        for target in &object.spec.deployment_targets {
            let path = FieldPath::from(["spec", "deploymentTargets"]).index(target.position);
            if *target.spec.environment != *self.fleet.environment.as_str() {
                let unknown = unknown_environment(self.fleet, &object.key(), (&path, &target.spec.environment));
                self.diagnostics.extend(unknown);
                continue;
            }
            match DeploymentTargetName::new(format!("{}-{}", object.name, target.name)) {
                Ok(name) => targets.push(from_workload(workload, target, name, path)),
                Err(error) => {
                    let message = format!("the name `{}-{}` is not possible: {error}", object.name, target.name);
                    let origin = Origin::field(&object.key(), path.key("name"));
                    self.diagnostics
                        .push(Diagnostic::error(Code::InvalidName, message).at(origin, "").about(&object.key()));
                }
            }
        }
        targets
    }
}

/// Warns about a target whose environment is not declared. None if no environment is declared.
fn unknown_environment(fleet: &Fleet, object: &ObjectKey, (target, name): (&FieldPath, &str)) -> Option<Diagnostic> {
    let known = &fleet.environments;
    if known.is_empty() || known.contains(name) {
        return None;
    }
    let message = format!("there is no environment `{name}`, so this deployment target is deployed nowhere");
    let diagnostic = Diagnostic::warning(Code::UnknownEnvironment, message)
        .at(Origin::field(object, target.key("environment")), "")
        .because(format!("environment {name}"))
        .about(object);
    let nearest = similar::nearest(name, known.iter().map(EnvironmentName::as_str));
    let names = || {
        let names: Vec<_> = known.iter().take(ENVIRONMENTS_SHOWN_MAX).map(|name| format!("`{name}`")).collect();
        format!("there are {}", names.join(", "))
    };
    Some(diagnostic.help(nearest.map_or_else(names, |nearest| format!("did you mean `{nearest}`?"))))
}

/// Returns the targets of other declared environments. Label mappings are not applied to them.
pub(crate) fn targets_elsewhere(fleet: &Fleet) -> Vec<Target> {
    let is_elsewhere = |name: &str| {
        *name != *fleet.environment.as_str() && (fleet.environments.is_empty() || fleet.environments.contains(name))
    };
    let mut found = Vec::new();
    for workload in fleet.workloads.values().chain(fleet.conflicting_claims.values().flatten()) {
        for target in &workload.object.spec.deployment_targets {
            let name = DeploymentTargetName::new(format!("{}-{}", workload.object.name, target.name));
            if let Some(name) = name.ok().filter(|_| is_elsewhere(&target.spec.environment)) {
                found.push(from_workload(workload, target, name, FieldPath::default()));
            }
        }
    }
    let objects = fleet.deployment_targets.values().filter(|object| is_elsewhere(&object.spec.environment));
    found.extend(objects.map(|object| from_object(object)));
    found
}

/// Adds the targets of an additional copy of an object, because it is undefined which copy applies. Returns whether an object of this
/// kind can define targets of this environment.
fn add_copy(fleet: &Fleet, targets: &mut BTreeMap<DeploymentTargetName, Target>, copy: &AnyObject) -> bool {
    match copy {
        AnyObject::Workload(object) => {
            let Some(first) = fleet.workloads.get(&object.name) else { return false };
            let workload = RegisteredWorkload { object: Arc::clone(object), ..first.clone() };
            let mut other = Collector { fleet, claims: Claims::new(), diagnostics: Vec::new() };
            for target in other.targets_of(&workload) {
                targets.entry(target.name.clone()).or_insert(target);
            }
        }
        AnyObject::DeploymentTarget(object) if *object.spec.environment == *fleet.environment.as_str() => {
            let target = from_object(object);
            targets.entry(target.name.clone()).or_insert(target);
        }
        _ => return false,
    }
    true
}

fn from_workload(
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
    let is_application = workload.author == Author::Application;
    let application = registration.clone().filter(|_| is_application).map(Application::Of);
    let manifests = target.spec.manifests.clone();
    Target {
        name,
        labels,
        mapped: BTreeMap::new(),
        of_workload: object.labels.iter().map(|(key, _)| Arc::clone(key)).collect(),
        manifests,
        schemas,
        origin: (key, path),
        registration,
        application,
        problem: None,
    }
}

fn from_object(object: &Object<DeploymentTarget>) -> Target {
    let key = object.key();
    let path = FieldPath::from(["spec"]);
    let schemas = schema_texts(&key, &path.key("configSchemas"), &object.spec.config_schemas);
    Target {
        name: object.name.clone(),
        labels: object.labels.clone(),
        mapped: BTreeMap::new(),
        of_workload: BTreeSet::new(),
        manifests: object.spec.manifests.clone(),
        schemas,
        origin: (key, path),
        registration: None,
        application: None,
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
