//! The order of the environments of a graph, its cycles, and environments to which no way leads.

use std::collections::{BTreeMap, BTreeSet};

use model::name::EnvironmentName;
use model::object::promotion::Require;

use super::Step;

type Steps = BTreeMap<EnvironmentName, Step>;

/// The environments, each after all that come before it, otherwise by name. If all that are left wait for one another, the first by name is next.
pub(super) fn order(steps: &Steps) -> Vec<EnvironmentName> {
    let mut order: Vec<EnvironmentName> = Vec::with_capacity(steps.len());
    let mut open: Vec<_> = steps.iter().collect();
    while !open.is_empty() {
        let is_next = |(_, step): &(&EnvironmentName, &Step)| step.before.iter().all(|before| order.contains(before));
        let next = open.iter().position(is_next).unwrap_or(0);
        let (name, _) = open.remove(next);
        order.push(name.clone());
    }
    order
}

/// The cycles, each in the direction of changes, beginning with its first environment by name. Cycles that share environments may be found as one.
pub(super) fn find(steps: &Steps) -> Vec<Vec<EnvironmentName>> {
    let (mut cycles, mut found) = (Vec::new(), BTreeSet::new());
    for name in steps.keys() {
        if found.contains(name) {
            continue;
        }
        if let Some(cycle) = shortest_way(steps, name) {
            found.extend(cycle.iter().cloned());
            cycles.push(cycle);
        }
    }
    cycles
}

/// The shortest way from an environment to itself, along the direction of changes. It begins with the environment, and does not repeat it at the end.
fn shortest_way(steps: &Steps, start: &EnvironmentName) -> Option<Vec<EnvironmentName>> {
    // Searched against the direction of changes. Each environment is found once, with the next one on the way to the start.
    let mut next: BTreeMap<&EnvironmentName, &EnvironmentName> = BTreeMap::new();
    let mut open = vec![start];
    while !open.is_empty() {
        let mut later = Vec::new();
        for name in open {
            for before in steps.get(name).map(|step| &step.before).into_iter().flatten() {
                if next.contains_key(before) {
                    continue;
                }
                next.insert(before, name);
                if before == start {
                    return Some(way(&next, start));
                }
                later.push(before);
            }
        }
        open = later;
    }
    None
}

fn way(next: &BTreeMap<&EnvironmentName, &EnvironmentName>, start: &EnvironmentName) -> Vec<EnvironmentName> {
    let mut way = vec![start.clone()];
    let mut at = start;
    while let Some(name) = next.get(at).filter(|name| **name != start) {
        way.push((*name).clone());
        at = name;
    }
    way
}

/// The environments to which no way leads, each with one before it to which no way leads.
pub(super) fn unreachable(steps: &Steps) -> Vec<(EnvironmentName, EnvironmentName)> {
    let mut reached: BTreeSet<&EnvironmentName> = BTreeSet::new();
    loop {
        let is_reached = |name: &EnvironmentName, step: &Step| {
            if reached.contains(name) || !step.promotion.from.is_empty() && step.before.is_empty() {
                return false;
            }
            let mut before = step.before.iter();
            match step.promotion.require {
                _ if step.before.is_empty() => true,
                Require::All => before.len() == step.promotion.from.len() && before.all(|name| reached.contains(name)),
                Require::Any => before.any(|name| reached.contains(name)),
            }
        };
        let new: Vec<_> = steps.iter().filter(|(name, step)| is_reached(name, step)).map(|(name, _)| name).collect();
        if new.is_empty() {
            break;
        }
        reached.extend(new);
    }
    let unreached = steps.iter().filter(|(name, _)| !reached.contains(name));
    let pair = |(name, step): (&EnvironmentName, &Step)| {
        let before = step.before.iter().find(|before| !reached.contains(before))?;
        Some((name.clone(), before.clone()))
    };
    unreached.filter_map(pair).collect()
}
