//! Edits that add, rename or remove clusters, cluster types, workloads, targets and copies of objects.

use simulator::random::Random;

use super::draft::Draft;
use super::fleet::{self, PURPOSES, RINGS};
use super::object::{body, parts, replaced_line};
use super::state::{State, pick};

pub(super) fn cluster_added(state: &State, random: &mut Random) -> Option<Draft> {
    if state.objects("Cluster").len() > 45 {
        return None;
    }
    let name = format!("edge-new-{}", state.turn);
    let text = fleet::cluster(&name, random.below(60) as usize);
    let beside = state.one_of("Cluster", 0, random)?;
    let text = format!("{}---\n{text}", state.files[&beside.path]);
    Some(Draft::add(format!("Cluster {name} added"), beside.path, text))
}

pub(super) fn cluster_removed(state: &State, random: &mut Random) -> Option<Draft> {
    state.one_of("Cluster", 15, random).map(|object| state.remove(&object))
}

pub(super) fn cluster_renamed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("Cluster", 0, random)?;
    // Some maps are for a cluster of this name.
    let name = if random.below(3) == 0 { "edge-17".to_owned() } else { format!("edge-other-{}", state.turn) };
    Some(state.replace(&object, object.renamed(&name), format!("{object} renamed to {name}")))
}

/// Sets another type for a cluster, or a type that does not exist.
pub(super) fn cluster_retyped(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("Cluster", 0, random)?;
    let old = object.text.lines().find(|line| line.starts_with("  clusterType: "))?;
    let new = random.pick(&["ct-0", "ct-1", "ct-2", "ct-5", "ct-none"]);
    let text = replaced_line(&object.text, old, &format!("  clusterType: {new}"));
    Some(state.replace(&object, text, format!("{object} becomes one of {new}")))
}

pub(super) fn cluster_type_added(state: &State, random: &mut Random) -> Option<Draft> {
    if state.objects("ClusterType").len() > 8 {
        return None;
    }
    let name = format!("ct-new-{}", state.turn);
    let text = fleet::cluster_type(&name, random.below(6) as usize);
    Some(Draft::add(format!("ClusterType {name} added"), format!("cluster-types/{name}.yaml"), text))
}

pub(super) fn cluster_type_removed(state: &State, random: &mut Random) -> Option<Draft> {
    state.one_of("ClusterType", 4, random).map(|object| state.remove(&object))
}

/// Switches a cluster type to the other config template.
pub(super) fn cluster_type_retemplated(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("ClusterType", 0, random)?;
    let (one, other) = ("  configType: config-map", "  configType: env-file");
    let is_one = object.text.contains(one);
    let text = if is_one { replaced_line(&object.text, one, other) } else { replaced_line(&object.text, other, one) };
    Some(state.replace(&object, text, format!("configuration template of {object} changed")))
}

/// Renames a workload, in most cases together with its registration.
pub(super) fn workload_renamed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("Workload", 0, random)?;
    let name = format!("app-{}", state.turn);
    let mut draft = state.replace(&object, object.renamed(&name), format!("{object} renamed to {name}"));
    let registrations = state.objects("WorkloadRegistration");
    if let Some(registration) = registrations.iter().find(|other| other.name() == object.name())
        && registration.path != object.path
        && random.below(4) > 0
    {
        let text = state.with(registration, Some(registration.renamed(&name)));
        draft.changes.insert(registration.path.clone(), text);
    }
    Some(draft)
}

/// Adds a target.
pub(super) fn target_added(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("Workload", 0, random)?;
    let (before, targets, after) = body(&object.text, "spec:")?;
    if parts(targets, 4).len() > 6 || !targets.starts_with("  deploymentTargets:\n") {
        return None;
    }
    let name = format!("{}-{}", random.pick(&PURPOSES), state.turn);
    let target = fleet::target(&name, random.pick(&["web", "batch"]), object.name());
    let text = format!("{before}{targets}{target}{after}");
    Some(state.replace(&object, text, format!("target {name} added to {object}")))
}

/// Removes a target.
pub(super) fn target_removed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("Workload", 0, random)?;
    let (before, targets, after) = body(&object.text, "spec:")?;
    let list = targets.strip_prefix("  deploymentTargets:\n")?;
    let mut list = parts(list, 4);
    if list.len() < 3 {
        return None;
    }
    let gone = list.remove(random.below(list.len() as u64) as usize);
    let name = gone.lines().next().unwrap_or_default().trim_start_matches("    - name: ").to_owned();
    let text = format!("{before}  deploymentTargets:\n{}{after}", list.concat());
    Some(state.replace(&object, text, format!("target {name} of {object} removed")))
}

/// Changes the branch of a target.
pub(super) fn manifests_changed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("Workload", 0, random)?;
    let (before, targets, after) = body(&object.text, "spec:")?;
    let mut list = parts(targets, 4);
    let index = random.below(list.len() as u64) as usize;
    let part = list.get_mut(index)?;
    let old = part.lines().find(|line| line.starts_with("        branch: "))?.to_owned();
    let turn = state.turn;
    // The input of an application team is not always harmless: an expression, template syntax, or a value that is not only a text.
    let branches = [
        format!("b{turn}"),
        format!("b{turn}"),
        format!("'b{turn}-{{{{ .ClusterType }}}}'"),
        format!("'{{{{ .ConfigData }}}} {turn}'"),
        format!("'b\", c{turn}: \"d'"),
    ];
    let branch = pick(&branches, random)?;
    *part = replaced_line(part, &old, &format!("        branch: {branch}"));
    let text = format!("{before}{}{after}", list.concat());
    Some(state.replace(&object, text, format!("branch of a target of {object} changed")))
}

/// Adds a copy of an object. The content of the copy may be different.
pub(super) fn duplicated(state: &State, random: &mut Random) -> Option<Draft> {
    if state.files.keys().filter(|path| path.starts_with("copies/")).count() > 2 {
        return None;
    }
    let objects = state.all();
    let kinds = ["ClusterType", "ConfigMap", "Cluster", "Workload", "SchedulingPolicy", "Template", "ConfigSchema"];
    let kind = random.pick(&kinds);
    let of_kind: Vec<_> = objects.iter().filter(|object| object.kind() == kind).collect();
    let object = *pick(&of_kind, random)?;
    let ring = format!("    ring: {}", random.pick(&RINGS));
    let text = replaced_line(&object.text, "    ring: early", &ring);
    Some(Draft::add(format!("{object} duplicated"), format!("copies/copy-{}.yaml", state.turn), text))
}

/// Removes a copy.
pub(super) fn unduplicated(state: &State, random: &mut Random) -> Option<Draft> {
    let mut objects = state.all();
    objects.retain(|object| object.path.starts_with("copies/"));
    let object = pick(&objects, random)?;
    let draft = state.remove(object);
    Some(Draft { what: format!("copy of {object} removed"), ..draft })
}
