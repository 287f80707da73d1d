//! What an object consists of, beyond its columns: the values of a `ConfigMap`, the targets of a workload.

use engine::answers::inventory::ConfigMapValue;
use engine::promotion::rings::membership::Membership;
use engine::schedule::target::Target;
use hub_api::compiled::SourcePosition;
use model::count::count;
use model::credential::without;
use model::fleet::Fleet;
use model::object::{AnyObject, ClusterType, Object, Promotion, Template, Workload};
use serde::Serialize;
use utoipa::ToSchema;

use crate::listing::object::Listed;
use crate::listing::view::View;

/// The parts of an object. A kind has at most one list of them.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<ValueFields>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deployment_targets: Option<Vec<TargetFields>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mapped_labels: Option<Vec<MappedFields>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ring_places: Option<Vec<RingFields>>,
    /// Of a cluster type: its clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_names: Option<Vec<String>>,
    /// Of a template: the cluster types that use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_type_names: Option<Vec<String>>,
}

/// A value of a `ConfigMap`.
#[derive(Serialize, ToSchema)]
struct ValueFields {
    /// Of a `ConfigMap`: a key that it sets.
    key: String,
    /// Its value; a digest if it is sensitive.
    value: String,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// The same place for people.
    #[serde(skip)]
    source: String,
}

/// A target of a workload.
#[derive(Serialize, ToSchema)]
struct TargetFields {
    /// Of a workload: a target of it.
    name: String,
    /// On how many places it runs.
    assignments: usize,
}

/// A label of a target that a `LabelMapping` added.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MappedFields {
    /// Of a target: a label that a `LabelMapping` added.
    label: String,
    /// That `LabelMapping`.
    label_mapping: String,
}

/// A ring of a promotion.
#[derive(Serialize, ToSchema)]
struct RingFields {
    /// Of a promotion: a ring, also the last one that is not written.
    ring: String,
    /// Its places, in words.
    members: String,
    /// How many places it has.
    places: usize,
}

/// A list of parts for people.
pub struct DetailList {
    /// What the list contains.
    pub title: &'static str,
    /// Its rows, as cells.
    pub rows: Vec<Vec<String>>,
}

impl Details {
    /// The parts of an object.
    pub fn new(listed: &Listed, view: &mut View<'_>) -> Self {
        let none = Self::default();
        match listed {
            Listed::Object(AnyObject::ConfigMap(object), _) => {
                let values = view.inventory.config_map(&object.name).map(|facts| facts.values);
                Self { values: values.map(|values| ValueFields::all(&values, view)), ..none }
            }
            Listed::Object(AnyObject::Workload(object), _) => {
                Self { deployment_targets: Some(TargetFields::all(object, view)), ..none }
            }
            Listed::Object(AnyObject::ClusterType(object), _) => {
                Self { cluster_names: Some(clusters(object.name.as_str(), view.fleet())), ..none }
            }
            Listed::Object(AnyObject::Template(object), _) => {
                Self { cluster_type_names: Some(users(object, view.fleet())), ..none }
            }
            Listed::Object(AnyObject::Promotion(object), _) => {
                Self { ring_places: RingFields::all(object, view.fleet()), ..none }
            }
            Listed::Target(target) => Self { mapped_labels: Some(MappedFields::all(target)), ..none },
            Listed::Object(..) => none,
        }
    }

    /// The lists for people.
    pub fn lists(&self) -> Vec<DetailList> {
        fn list<T>(title: &'static str, items: Option<&[T]>, row: impl Fn(&T) -> Vec<String>) -> Option<DetailList> {
            Some(DetailList { title, rows: items?.iter().map(row).collect() })
        }
        let Self { values, deployment_targets, mapped_labels, ring_places, cluster_names, cluster_type_names } = self;
        let name = |name: &String| vec![name.clone()];
        let lists = [
            list("Values", values.as_deref(), |one| vec![one.key.clone(), one.value.clone(), one.source.clone()]),
            list("Targets", deployment_targets.as_deref(), |one| {
                vec![one.name.clone(), count(one.assignments, "assignment")]
            }),
            list("Mapped labels", mapped_labels.as_deref(), |one| {
                vec![one.label.clone(), format!("added by mapping {}", one.label_mapping)]
            }),
            list("Rings", ring_places.as_deref(), |one| {
                vec![one.ring.clone(), count(one.places, "place"), one.members.clone()]
            }),
            list("Clusters", cluster_names.as_deref(), name),
            list("Used by", cluster_type_names.as_deref(), name),
        ];
        lists.into_iter().flatten().collect()
    }
}

impl ValueFields {
    fn all(values: &[ConfigMapValue], view: &mut View<'_>) -> Vec<Self> {
        let of = |value: &ConfigMapValue| Self {
            key: value.key.to_string(),
            value: without(&value.shown).into_owned(),
            place: SourcePosition::find(&value.origin, &mut view.locator),
            source: view.source(&value.origin),
        };
        values.iter().map(of).collect()
    }
}

impl TargetFields {
    fn all(object: &Object<Workload>, view: &View<'_>) -> Vec<Self> {
        let key = object.key();
        let targets = view.inventory.prepared().targets().iter().filter(|target| target.origin.0 == key);
        let of = |name: &str| view.inventory.len(&view.inventory.of_target(name));
        targets.map(|target| Self { name: target.name.to_string(), assignments: of(target.name.as_str()) }).collect()
    }
}

impl MappedFields {
    fn all(target: &Target) -> Vec<Self> {
        let mapped = target.mapped.iter().map(|(key, mapping)| {
            let value = target.labels.get(key).map_or("", |value| value);
            Self { label: format!("{key}={value}"), label_mapping: mapping.to_string() }
        });
        mapped.collect()
    }
}

impl RingFields {
    /// The rings with the numbers of their places.
    fn all(promotion: &Object<Promotion>, fleet: &Fleet) -> Option<Vec<Self>> {
        let membership = Membership::new(fleet, &promotion.spec)?;
        let rings = membership.rings.iter().zip(membership.counts());
        let rings =
            rings.map(|(ring, places)| Self { ring: ring.name.to_string(), members: ring.members.to_string(), places });
        Some(rings.collect())
    }
}

fn clusters(cluster_type: &str, fleet: &Fleet) -> Vec<String> {
    let clusters = fleet.clusters.values().filter(|cluster| *cluster.spec.cluster_type == *cluster_type);
    clusters.map(|cluster| cluster.name.to_string()).collect()
}

fn users(template: &Object<Template>, fleet: &Fleet) -> Vec<String> {
    let name = template.name.as_arc();
    let is_user = |spec: &ClusterType| [&spec.reconciler, &spec.namespace_service, &spec.config_type].contains(&name);
    let users = fleet.cluster_types.values().filter(|cluster_type| is_user(&cluster_type.spec));
    users.map(|cluster_type| cluster_type.name.to_string()).collect()
}
