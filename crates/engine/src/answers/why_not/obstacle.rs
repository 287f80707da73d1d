//! Finds the reasons why a place or target does not exist, or can't be rendered.

use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::kind::Kind;
use model::name::{ClusterName, ClusterTypeName, EnvironmentName, RegistrationName};
use model::object_key::ObjectKey;
use model::similar;

use crate::answers::name_meaning::NameMeaning;
use crate::compile::Prepared;
use crate::warnings::unused::may_hold;

/// The maximum number of unreadable files or repositories that are listed.
const LISTED_MAX: usize = 5;

/// The kinds of objects that bring targets.
const TARGET_KINDS: [Kind; 3] = [Kind::WorkloadRegistration, Kind::Workload, Kind::DeploymentTarget];

/// A reason why a place or target does not exist, or why nothing of it is rendered.
#[derive(Debug)]
pub enum Obstacle {
    /// No cluster type and no cluster has this name.
    UnknownPlace {
        /// The name.
        name: Arc<str>,
        /// The most similar name of a place.
        nearest: Option<Arc<str>>,
        /// What the name means instead.
        meaning: Option<NameMeaning>,
    },
    /// The cluster type of a cluster does not exist.
    UnknownClusterType {
        /// The cluster.
        cluster: ClusterName,
        /// The name of the cluster type.
        cluster_type: Arc<str>,
        /// The most similar name of a cluster type.
        nearest: Option<Arc<str>>,
        /// The place of the name in the cluster.
        origin: Origin,
    },
    /// No deployment target of the environment has this name.
    UnknownTarget {
        /// The name.
        name: Arc<str>,
        /// The most similar name of a target.
        nearest: Option<Arc<str>>,
        /// What the name means instead.
        meaning: Option<NameMeaning>,
    },
    /// The deployment target is for another environment.
    OtherEnvironment {
        /// The name of the target.
        target: Arc<str>,
        /// The environment that it is for.
        environment: Arc<str>,
        /// The most similar name of a declared environment, if this one is not declared.
        nearest: Option<EnvironmentName>,
        /// The place of the environment in the target.
        origin: Origin,
        /// The registration whose repository contains the target.
        registration: Option<RegistrationName>,
    },
    /// A part of a file can't be read. It may contain the object.
    Unread {
        /// The place of the error.
        origin: Origin,
        /// The object, if it is known.
        object: Option<ObjectKey>,
    },
    /// The repository of a registration can't be read. It may contain the target.
    Unreachable {
        /// The registration.
        registration: RegistrationName,
        /// The place of the registration.
        origin: Origin,
    },
    /// A problem of the object.
    Problem(Diagnostic),
}

/// The reasons why a place does not exist, or why nothing on it is rendered. Empty if there is no such reason.
pub(super) fn of_place(prepared: &Prepared, name: &str) -> Vec<Obstacle> {
    let fleet = &prepared.fleet;
    if let Some(place) = prepared.place_id(name).and_then(|place| prepared.place(place)) {
        let problem = place.problem(fleet).into_iter();
        let templates = prepared.template_problems(place.cluster_type.name.as_arc());
        return problem.chain(templates).map(Obstacle::Problem).collect();
    }
    let types = || fleet.cluster_types.keys().map(ClusterTypeName::as_str);
    let mut found = Vec::new();
    if let Some(cluster) = fleet.clusters.get(name) {
        let cluster_type = Arc::clone(&cluster.spec.cluster_type);
        let nearest = similar::nearest(&cluster_type, types()).map(Arc::from);
        let origin = Origin::field(&cluster.key(), FieldPath::from(["spec", "clusterType"]));
        let cluster = cluster.name.clone();
        found.push(Obstacle::UnknownClusterType { cluster, cluster_type, nearest, origin });
        found.extend(unread(fleet, &[Kind::ClusterType], None));
        return found;
    }
    let nearest = similar::nearest(name, types().chain(fleet.clusters.keys().map(ClusterName::as_str)));
    let (nearest, meaning) = (nearest.map(Arc::from), prepared.meaning(name));
    found.push(Obstacle::UnknownPlace { name: name.into(), nearest, meaning });
    found.extend(unread(fleet, &[Kind::ClusterType, Kind::Cluster], Some(name)));
    found
}

/// The reasons why a target does not exist in the environment, or is not rendered. Empty if there is no such reason.
pub(super) fn of_target(prepared: &Prepared, name: &str) -> Vec<Obstacle> {
    let fleet = &prepared.fleet;
    if let Some(target) = prepared.target_id(name).and_then(|target| prepared.target(target)) {
        return target.target.problem.iter().cloned().map(Obstacle::Problem).collect();
    }
    let mut found = elsewhere(fleet, name);
    if found.is_empty() {
        let nearest = similar::nearest(name, prepared.targets().iter().map(|target| target.name.as_str()));
        let (nearest, meaning) = (nearest.map(Arc::from), prepared.meaning(name));
        found.push(Obstacle::UnknownTarget { name: name.into(), nearest, meaning });
    }
    let is_about_name = |diagnostic: &&Diagnostic| {
        matches!(diagnostic.code, Code::TargetTaken | Code::InvalidName)
            && diagnostic.object.as_ref().is_some_and(|object| is_prefix(&object.name, name))
    };
    found.extend(prepared.target_diagnostics().iter().filter(is_about_name).cloned().map(Obstacle::Problem));
    found.extend(unread(fleet, &TARGET_KINDS, None));
    let (mut likely, others): (Vec<_>, Vec<_>) =
        fleet.unavailable.iter().partition(|registration| is_prefix(registration.as_str(), name));
    likely.extend(others);
    let unreachable = likely.into_iter().take(LISTED_MAX).map(|registration| {
        let key = ObjectKey { kind: Kind::WorkloadRegistration, name: Arc::clone(registration.as_arc()), of: None };
        Obstacle::Unreachable {
            registration: registration.clone(),
            origin: Origin::field(&key, FieldPath::from(["spec", "workload"])),
        }
    });
    found.extend(unreachable);
    found
}

fn is_prefix(workload: &str, target: &str) -> bool {
    target.strip_prefix(workload).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The targets of this name that are for other environments.
fn elsewhere(fleet: &Fleet, name: &str) -> Vec<Obstacle> {
    let mut found = Vec::new();
    let mut add =
        |environment: &Arc<str>, (object, path): (ObjectKey, FieldPath), registration: Option<&RegistrationName>| {
            let declared = &fleet.environments;
            let is_known = declared.is_empty() || declared.contains(&**environment);
            let nearest = || similar::nearest(environment, declared.iter().map(EnvironmentName::as_str));
            let nearest = if is_known { None } else { nearest().and_then(|name| EnvironmentName::new(name).ok()) };
            found.push(Obstacle::OtherEnvironment {
                target: name.into(),
                environment: Arc::clone(environment),
                nearest,
                origin: Origin::field(&object, path),
                registration: registration.cloned(),
            });
        };
    for workload in fleet.workloads.values().filter(|workload| is_prefix(workload.object.name.as_str(), name)) {
        for target in &workload.object.spec.deployment_targets {
            if *name == *format!("{}-{}", workload.object.name, target.name) {
                let path = FieldPath::from(["spec", "deploymentTargets"]).index(target.position).key("environment");
                add(&target.spec.environment, (workload.object.key(), path), workload.registration.as_ref());
            }
        }
    }
    if let Some(object) = fleet.deployment_targets.get(name) {
        add(&object.spec.environment, (object.key(), FieldPath::from(["spec", "environment"])), None);
    }
    found
}

/// The unreadable parts of files that may contain an object of these kinds, with this name.
fn unread(fleet: &Fleet, kinds: &[Kind], name: Option<&str>) -> Vec<Obstacle> {
    let is_candidate =
        |object: &Option<ObjectKey>| object.as_ref().zip(name).is_none_or(|(object, name)| *object.name == *name);
    let parts = fleet.unread.iter().filter(|part| may_hold(part, kinds) && is_candidate(&part.object));
    let parts = parts.map(|part| Obstacle::Unread { origin: part.origin.clone(), object: part.object.clone() });
    parts.take(LISTED_MAX).collect()
}
