//! The objects of an environment, by kind and name.

use std::sync::Arc;

use engine::compile::Prepared;
use engine::schedule::place::Place;
use engine::schedule::target::Target;
use model::diagnostic::Origin;
use model::fleet::Fleet;
use model::kind::Kind;
use model::label::Labels;
use model::name::WorkloadName;
use model::object::AnyObject;
use model::object_key::ObjectKey;

use super::kind::ListedKind;
use super::view::origin;

/// An object that is listed.
#[derive(Clone, Debug)]
pub enum Listed {
    /// An object, with its key.
    Object(AnyObject, ObjectKey),
    /// A deployment target, which may be a part of a workload.
    Target(Arc<Target>),
}

impl Listed {
    fn new(object: AnyObject) -> Self {
        let key = object.key();
        Self::Object(object, key)
    }

    /// The name.
    pub fn name(&self) -> &Arc<str> {
        match self {
            Self::Object(_, key) => &key.name,
            Self::Target(target) => target.name.as_arc(),
        }
    }

    /// The labels by which it is selected. A cluster has those of its cluster type, too.
    pub fn labels(&self, fleet: &Fleet) -> Labels {
        match self {
            Self::Object(AnyObject::Cluster(cluster), _) => {
                Place::find(fleet, cluster.name.as_str()).map_or_else(|| cluster.labels.clone(), |place| place.labels())
            }
            Self::Object(object, _) => object.labels().clone(),
            Self::Target(target) => target.labels.clone(),
        }
    }

    /// The annotations. A target of a workload has none.
    pub fn annotations(&self) -> Labels {
        match self {
            Self::Object(object, _) => object.annotations().clone(),
            Self::Target(_) => Labels::default(),
        }
    }

    /// Where it is written.
    pub fn origin(&self) -> Origin {
        match self {
            Self::Object(_, key) => origin(key),
            Self::Target(target) => {
                let (key, path) = &target.origin;
                let is_object = key.kind == Kind::DeploymentTarget;
                if is_object { origin(key) } else { Origin::field(key, path.key("name")) }
            }
        }
    }
}

/// Objects of one kind.
type Objects<'a> = Box<dyn Iterator<Item = Listed> + 'a>;

/// All objects of a kind, by name. Assignments and values are not objects.
pub fn objects(kind: ListedKind, prepared: &Prepared) -> Objects<'_> {
    let fleet: &Fleet = prepared.fleet();
    macro_rules! named {
        ($objects:ident, $variant:ident) => {
            Box::new(fleet.$objects.values().map(|object| Listed::new(AnyObject::$variant(Arc::clone(object)))))
        };
    }
    match kind {
        ListedKind::Environment => {
            Box::new(fleet.declaration.iter().map(|object| Listed::new(AnyObject::Environment(Arc::clone(object)))))
        }
        ListedKind::Promotion => {
            Box::new(fleet.promotion().map(|object| Listed::new(AnyObject::Promotion(Arc::clone(object)))).into_iter())
        }
        ListedKind::ClusterType => named!(cluster_types, ClusterType),
        ListedKind::Cluster => named!(clusters, Cluster),
        ListedKind::Workload => Box::new(workloads(fleet).into_iter()),
        ListedKind::Target => Box::new(prepared.targets().iter().map(|target| Listed::Target(Arc::clone(target)))),
        ListedKind::Policy => named!(policies, SchedulingPolicy),
        ListedKind::Config => named!(config_maps, ConfigMap),
        ListedKind::Schema => Box::new(schemas(fleet).into_iter()),
        ListedKind::Template => named!(templates, Template),
        ListedKind::Pin => named!(release_pins, ReleasePin),
        ListedKind::Mapping => named!(label_mappings, LabelMapping),
        ListedKind::Registration => named!(registrations, WorkloadRegistration),
        ListedKind::BaseRepo => named!(base_repos, BaseRepo),
        ListedKind::GitOpsRepo => named!(gitops_repos, GitOpsRepo),
        ListedKind::Assignment | ListedKind::Value => Box::new(std::iter::empty()),
    }
}

/// The workloads. Of a name that several applications claim, the first one is listed.
fn workloads(fleet: &Fleet) -> Vec<Listed> {
    let contested = fleet.conflicting_claims.values().filter_map(|claims| claims.first());
    let all = fleet.workloads.values().chain(contested);
    let mut found: Vec<_> =
        all.map(|workload| Listed::new(AnyObject::Workload(Arc::clone(&workload.object)))).collect();
    found.sort_by(|one, other| one.name().cmp(other.name()));
    found
}

/// The `ConfigSchema`s of the platform and of applications, by name.
fn schemas(fleet: &Fleet) -> Vec<Listed> {
    let all = fleet.all_config_schemas().filter(|(key, _)| fleet.address(key).is_some());
    let mut found: Vec<_> =
        all.map(|(key, object)| Listed::Object(AnyObject::ConfigSchema(Arc::clone(object)), key)).collect();
    found.sort_by(|one, other| one.name().cmp(other.name()));
    found
}

/// The registration that brings a workload, and its workspace.
pub fn registered<'f>(fleet: &'f Fleet, workload: &WorkloadName) -> (Option<&'f str>, &'f str) {
    let claimed = || fleet.conflicting_claims.get(workload).and_then(|claims| claims.first());
    let found = fleet.workloads.get(workload).or_else(claimed);
    found.map_or((None, ""), |found| {
        (found.registration.as_ref().map(model::name::RegistrationName::as_str), &found.workspace)
    })
}
