//! The assignments that an object reaches, and the objects that reach these.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::answers::inventory::{AssignmentCounts, AssignmentSet, Inventory};
use model::diagnostic::Origin;
use model::object::AnyObject;

use super::DescribedObject;
use crate::listing::kind::ListedKind;
use crate::listing::object::{Listed, objects};
use crate::listing::view::View;

/// How many assignments are shown as examples.
const EXAMPLES_MAX: usize = 5;

/// The assignments of an object, in groups.
pub struct ObjectReach {
    /// How many there are.
    pub counts: AssignmentCounts,
    /// Their number for each workload, the largest first.
    pub by_workload: Vec<(Arc<str>, usize)>,
    /// Their number for each cluster type, the largest first.
    pub by_cluster_type: Vec<(Arc<str>, usize)>,
    /// The first ones.
    pub examples: Vec<String>,
    /// The objects that reach some of them, too.
    pub reached_by: Vec<ReachingObject>,
}

/// An object that reaches some of the assignments.
pub struct ReachingObject {
    /// Its kind.
    pub kind: ListedKind,
    /// Its name.
    pub name: Arc<str>,
    /// Where it is written.
    pub origin: Origin,
    /// How many of these assignments it reaches.
    pub assignments: usize,
}

impl ObjectReach {
    /// None if an object of this kind reaches no assignments.
    pub fn new(object: &DescribedObject, view: &View<'_>) -> Option<Self> {
        let inventory = &view.inventory;
        let set = reached_assignments(&object.listed, inventory)?;
        let examples = inventory.assignments(&set, None).take(EXAMPLES_MAX).map(|one| one.id().to_string()).collect();
        Some(Self {
            counts: inventory.counts(&set),
            by_workload: largest(inventory.by_workload(&set)),
            by_cluster_type: largest(inventory.by_cluster_type(&set)),
            examples,
            reached_by: reached_by(object.kind, &set, inventory),
        })
    }
}

fn largest(groups: BTreeMap<Arc<str>, usize>) -> Vec<(Arc<str>, usize)> {
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    groups
}

/// The assignments that an object reaches.
pub(super) fn reached_assignments(listed: &Listed, inventory: &Inventory<'_>) -> Option<AssignmentSet> {
    let (object, key) = match listed {
        Listed::Target(target) => return Some(inventory.of_target(target.name.as_str())),
        Listed::Object(object, key) => (object, key),
    };
    Some(match object {
        AnyObject::Environment(_) => inventory.all(),
        AnyObject::ClusterType(object) => inventory.on(object.name.as_str()).unwrap_or_default(),
        AnyObject::Cluster(object) => inventory.only_on(object.name.as_str()),
        AnyObject::Workload(object) => inventory.of_workload(object.name.as_str()),
        AnyObject::SchedulingPolicy(object) => inventory.of_policy(&object.spec),
        AnyObject::ReleasePin(object) => inventory.of_policy(&object.spec.selection),
        AnyObject::ConfigMap(object) => inventory.of_config_map(&object.name).unwrap_or_default(),
        AnyObject::ConfigSchema(_) => inventory.of_schema(key),
        AnyObject::LabelMapping(object) => {
            inventory.of_targets(|target| target.mapped.values().any(|mapping| *mapping == object.name))
        }
        AnyObject::WorkloadRegistration(object) => {
            inventory.of_targets(|target| target.registration.as_ref() == Some(&object.name))
        }
        AnyObject::Template(object) => {
            let name = object.name.as_arc();
            let types = inventory.prepared().fleet().cluster_types.values();
            let users = types.filter(|object| {
                let spec = &object.spec;
                [&spec.reconciler, &spec.namespace_service, &spec.config_type].contains(&name)
            });
            inventory.on_cluster_types(users.map(|object| object.name.as_str()))
        }
        AnyObject::Promotion(_)
        | AnyObject::BaseRepo(_)
        | AnyObject::GitOpsRepo(_)
        // These are not listed as objects.
        | AnyObject::DeploymentTarget(_)
        | AnyObject::DeploymentDescriptor(_)
        | AnyObject::FluxGitRepository(_)
        | AnyObject::FluxKustomization(_) => return None,
    })
}

/// The objects that reach assignments of a set, with the number of these assignments.
fn reached_by(kind: ListedKind, set: &AssignmentSet, inventory: &Inventory<'_>) -> Vec<ReachingObject> {
    let kinds: &[ListedKind] = match kind {
        ListedKind::ClusterType | ListedKind::Cluster | ListedKind::Workload | ListedKind::Target => {
            &[ListedKind::Policy, ListedKind::Config, ListedKind::Schema, ListedKind::Pin, ListedKind::Mapping]
        }
        ListedKind::Policy => &[ListedKind::Pin],
        _ => &[],
    };
    let mut found = Vec::new();
    for kind in kinds.iter().copied() {
        for listed in objects(kind, inventory.prepared()) {
            let assignments = inventory.len(&reached_assignments(&listed, inventory).unwrap_or_default().and(set));
            if assignments > 0 {
                found.push(ReachingObject {
                    kind,
                    name: Arc::clone(listed.name()),
                    origin: listed.origin(),
                    assignments,
                });
            }
        }
    }
    found
}
