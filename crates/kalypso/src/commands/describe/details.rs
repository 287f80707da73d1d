//! What an object consists of, beyond its columns: the values of a `ConfigMap`, the targets of a workload.

use engine::inventory::ConfigMapValue;
use engine::promotion::membership::Membership;
use model::credential::without;
use model::fleet::Fleet;
use model::object::promotion::Ring;
use model::object::{AnyObject, Object, Promotion, Template, Workload};
use serde_json::{Value as Json, json};
use workbench::listing::object::Listed;
use workbench::listing::view::View;

use crate::places;
use crate::terminal::count;

/// A list of parts of an object.
pub(super) struct Detail {
    /// The name of the field for programs.
    pub(super) field: &'static str,
    /// The title for people.
    pub(super) title: &'static str,
    /// The rows for people.
    pub(super) rows: Vec<Vec<String>>,
    /// The items for programs.
    pub(super) json: Json,
}

/// The parts of an object.
pub(super) fn of(listed: &Listed, view: &mut View<'_>) -> Vec<Detail> {
    match listed {
        Listed::Object(AnyObject::ConfigMap(object), _) => {
            let values = view.inventory.config_map(&object.name).map(|facts| facts.values);
            values.into_iter().map(|values| values_detail(&values, view)).collect()
        }
        Listed::Object(AnyObject::Workload(object), _) => vec![targets(object, view)],
        Listed::Object(AnyObject::ClusterType(object), _) => vec![clusters(object.name.as_str(), view.fleet())],
        Listed::Object(AnyObject::Template(object), _) => vec![users(object, view.fleet())],
        Listed::Object(AnyObject::Promotion(object), _) => rings(object, view.fleet()).into_iter().collect(),
        Listed::Target(target) => {
            let mapped = target.mapped.iter().map(|(key, mapping)| {
                let value = target.labels.get(key).map_or("", |value| value);
                (format!("{key}={value}"), mapping.to_string())
            });
            let mapped: Vec<_> = mapped.collect();
            let json = mapped.iter().map(|(label, mapping)| json!({"label": label, "labelMapping": mapping}));
            let json = json.collect::<Vec<_>>().into();
            let rows = mapped.into_iter().map(|(label, mapping)| vec![label, format!("added by mapping {mapping}")]);
            vec![Detail { field: "mappedLabels", title: "Mapped labels", rows: rows.collect(), json }]
        }
        Listed::Object(..) => Vec::new(),
    }
}

fn values_detail(values: &[ConfigMapValue], view: &mut View<'_>) -> Detail {
    let shown = |value: &ConfigMapValue| without(&value.shown).into_owned();
    let rows = values.iter().map(|value| vec![value.key.to_string(), shown(value), view.source(&value.origin)]);
    let rows = rows.collect();
    let json = |value: &ConfigMapValue| {
        let place = places::json(&value.origin, &mut view.locator);
        json!({"key": &*value.key, "value": shown(value), "place": place})
    };
    let json = values.iter().map(json).collect::<Vec<_>>().into();
    Detail { field: "values", title: "Values", rows, json }
}

fn targets(object: &Object<Workload>, view: &View<'_>) -> Detail {
    let key = object.key();
    let targets = view.inventory.prepared().targets().iter().filter(|target| target.origin.0 == key);
    let counted: Vec<_> = targets
        .map(|target| (target.name.to_string(), view.inventory.len(&view.inventory.of_target(target.name.as_str()))))
        .collect();
    let json = counted.iter().map(|(name, assignments)| json!({"name": name, "assignments": assignments}));
    let json = json.collect::<Vec<_>>().into();
    let rows = counted.into_iter().map(|(name, assignments)| vec![name, count(assignments, "assignment")]).collect();
    Detail { field: "deploymentTargets", title: "Targets", rows, json }
}

/// The rings with the numbers of their places.
fn rings(promotion: &Object<Promotion>, fleet: &Fleet) -> Option<Detail> {
    let membership = Membership::new(fleet, &promotion.spec)?;
    let rings: Vec<_> = membership.rings.iter().zip(membership.counts()).collect();
    let json = rings
        .iter()
        .map(|(ring, places)| json!({"ring": &*ring.name, "members": ring.members.to_string(), "places": places}));
    let json = json.collect::<Vec<_>>().into();
    let row =
        |(ring, places): (&Ring, usize)| vec![ring.name.to_string(), count(places, "place"), ring.members.to_string()];
    let rows = rings.into_iter().map(row).collect();
    Some(Detail { field: "ringPlaces", title: "Rings", rows, json })
}

fn clusters(cluster_type: &str, fleet: &Fleet) -> Detail {
    let clusters = fleet.clusters.values().filter(|cluster| *cluster.spec.cluster_type == *cluster_type);
    names("clusterNames", "Clusters", clusters.map(|cluster| cluster.name.to_string()).collect())
}

fn users(template: &Object<Template>, fleet: &Fleet) -> Detail {
    let name = template.name.as_arc();
    let is_user = |spec: &model::object::ClusterType| {
        [&spec.reconciler, &spec.namespace_service, &spec.config_type].contains(&name)
    };
    let users = fleet.cluster_types.values().filter(|cluster_type| is_user(&cluster_type.spec));
    names("clusterTypeNames", "Used by", users.map(|cluster_type| cluster_type.name.to_string()).collect())
}

fn names(field: &'static str, title: &'static str, names: Vec<String>) -> Detail {
    let json = names.clone().into();
    Detail { field, title, rows: names.into_iter().map(|name| vec![name]).collect(), json }
}
