//! Values of an environment, found by their keys and texts.

use std::collections::BTreeSet;

use engine::answers::inventory::{AssignmentSet, HeldValue, Inventory};
use hub_api::compiled::{
    AssignmentName, CompiledAnswer, CompiledRefusal, CompiledValue, CompiledValues, SourcePosition, ValueQuery,
    ValueSetter,
};
use model::locate::Locator;

use super::assignments::limit;
use super::limits::{VALUE_ASSIGNMENTS_MAX, VALUES_SEARCHED_MAX};
use super::scope::{VisibleState, wrong};
use crate::listing::rows::shown_value;

impl VisibleState<'_> {
    /// Finds values by their keys and texts. A sensitive value is found only by its key.
    ///
    /// # Errors
    /// If the query is wrong.
    pub fn values(&self, query: &ValueQuery) -> Result<CompiledAnswer<CompiledValues>, CompiledRefusal> {
        self.check_complete()?;
        let limit = limit(query.limit)?;
        let searched = query.q.trim().to_lowercase();
        if searched.is_empty() {
            return Err(wrong("`q` is empty", "name a part of a key or of a value"));
        }
        let inventory = Inventory::new(self.state.prepared());
        let visible = inventory.of_targets(|target| self.has(target));
        let all = inventory.key_paths();
        let paths = leaves(&all);
        let mut locator = Locator::new(&self.state.loaded.fleet);
        let mut items = Vec::new();
        for key in paths.iter().take(VALUES_SEARCHED_MAX) {
            let is_key = key.to_lowercase().contains(&searched);
            for held in inventory.values(key, &visible) {
                let Some(value) = shown_value(&held) else { continue };
                if is_key || (!held.is_sensitive && value.to_lowercase().contains(&searched)) {
                    items.push(row(&inventory, Found { key, value, held: &held }, &mut locator));
                }
            }
            if items.len() > limit {
                break;
            }
        }
        let has_more = items.len() > limit || paths.len() > VALUES_SEARCHED_MAX;
        items.truncate(limit);
        Ok(self.answer(CompiledValues { items, has_more }, Vec::new()))
    }
}

/// The paths that have no path below them.
fn leaves(paths: &BTreeSet<String>) -> Vec<&str> {
    let is_above = |path: &str, other: &str| other.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']));
    let has_below = |path: &str| {
        let below = paths.range::<str, _>((std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded));
        below.take_while(|other| other.starts_with(path)).any(|other| is_above(path, other))
    };
    paths.iter().map(String::as_str).filter(|path| !has_below(path)).collect()
}

/// A value that matches.
struct Found<'a> {
    key: &'a str,
    /// The text that is shown.
    value: String,
    held: &'a HeldValue,
}

fn row(inventory: &Inventory<'_>, Found { key, value, held }: Found<'_>, locator: &mut Locator<'_>) -> CompiledValue {
    let set: &AssignmentSet = &held.set;
    let names = inventory.assignments(set, None).take(VALUE_ASSIGNMENTS_MAX).map(|assigned| assigned.id());
    let setters = held.set_by.iter().map(|by| ValueSetter {
        config_map: by.config_map.to_string(),
        place: SourcePosition::find(&by.origin, locator),
    });
    CompiledValue {
        key: key.to_owned(),
        value,
        is_sensitive: held.is_sensitive,
        set_by: setters.collect(),
        assignment_count: inventory.len(set),
        assignments: names
            .map(|id| AssignmentName { place: id.place.to_string(), target: id.target.to_string() })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_without_others_below_are_searched() {
        let paths = ["A", "A-B", "A.B", "A.B[0]", "C"].map(str::to_owned).into();
        assert_eq!(leaves(&paths), ["A-B", "A.B[0]", "C"]);
    }
}
