//! Edits of the labels of selectable objects and of the objects that select by labels.

use simulator::random::Random;

use super::draft::Draft;
use super::fleet::{PURPOSES, REGIONS, RINGS, SIZES, TEAMS};
use super::object::{Entries, FileObject, LABELS, METADATA, mapping, with_mapping};
use super::state::{State, pick};

pub(super) fn of_cluster_type(state: &State, random: &mut Random) -> Option<Draft> {
    edited_object(state, "ClusterType", &["region", "size", "ring", "site", "note"], random)
}

pub(super) fn of_cluster(state: &State, random: &mut Random) -> Option<Draft> {
    edited_object(state, "Cluster", &["region", "size", "ring", "site", "note"], random)
}

pub(super) fn of_config_map(state: &State, random: &mut Random) -> Option<Draft> {
    const KEYS: [&str; 10] = [
        "region",
        "size",
        "ring",
        "site",
        "team",
        "cluster-type",
        "cluster",
        "workload",
        "deployment-target",
        "platform-config",
    ];
    edited_object(state, "ConfigMap", &KEYS, random)
}

pub(super) fn of_schema(state: &State, random: &mut Random) -> Option<Draft> {
    edited_object(state, "ConfigSchema", &["region", "team", "cluster-type", "workload"], random)
}

pub(super) fn of_workload(state: &State, random: &mut Random) -> Option<Draft> {
    edited_object(state, "Workload", &["team", "tier", "note"], random)
}

pub(super) fn of_target(state: &State, random: &mut Random) -> Option<Draft> {
    let workload = state.one_of("Workload", 0, random)?;
    let targets: Vec<&str> = workload.text.lines().filter(|line| line.starts_with("    - name: ")).collect();
    let begins = *pick(&targets, random)?;
    let whose = format!("target {} of {workload}", begins.rsplit(' ').next().unwrap_or_default());
    let place = ObjectMapping { object: &workload, whose, begins, header: "      labels:" };
    edited(state, &place, &["purpose", "tier", "team", "size", "note"], random)
}

/// The possible values of a label.
pub(super) fn vocabulary(key: &str) -> &'static [&'static str] {
    match key {
        "region" => &REGIONS,
        "size" => &SIZES,
        "ring" => &RINGS,
        "team" => &TEAMS,
        "purpose" => &PURPOSES,
        "site" => &["site-0", "site-1", "site-2"],
        "tier" => &["web", "batch"],
        "cluster-type" => &["ct-0", "ct-1", "ct-4"],
        "cluster" => &["edge-03", "edge-17"],
        "workload" => &["app-0", "app-1"],
        "deployment-target" => &["app-1-live", "app-2-functional"],
        "platform-config" => &["\"true\"", "\"false\""],
        _ => &["n0", "n1", "n2"],
    }
}

/// A mapping inside an object.
struct ObjectMapping<'a> {
    object: &'a FileObject,
    /// What has the mapping, in sentences.
    whose: String,
    begins: &'a str,
    header: &'a str,
}

fn edited_object(state: &State, kind: &str, keys: &[&'static str], random: &mut Random) -> Option<Draft> {
    let object = state.one_of(kind, 0, random)?;
    let place = ObjectMapping { object: &object, whose: object.to_string(), begins: METADATA, header: LABELS };
    edited(state, &place, keys, random)
}

/// Changes, adds or removes a label.
fn edited(state: &State, place: &ObjectMapping<'_>, keys: &[&'static str], random: &mut Random) -> Option<Draft> {
    let whose = &place.whose;
    let mut labels: Entries = mapping(&place.object.text, place.begins, place.header);
    let what = match random.below(4) {
        0 | 1 => {
            let index = random.below(labels.len() as u64) as usize;
            let (key, value) = labels.get_mut(index)?;
            random.pick(vocabulary(key)).clone_into(value);
            format!("label {key} of {whose} becomes {value}")
        }
        2 => {
            let key = random.pick(keys);
            if labels.iter().any(|(known, _)| known == key) {
                return None;
            }
            let value = random.pick(vocabulary(key));
            labels.push((key.to_owned(), value.to_owned()));
            format!("label {key}: {value} added to {whose}")
        }
        _ => {
            let index = random.below(labels.len() as u64) as usize;
            let key = labels.get(index)?.0.clone();
            labels.remove(index);
            format!("label {key} of {whose} removed")
        }
    };
    let text = with_mapping(&place.object.text, (place.begins, place.header), &labels);
    Some(state.replace(place.object, text, what).with_health(place.object.health_if_changed()))
}
