//! Reads values at all levels, within the limits.

use crate::budget::{Budget, Exhausted};
use crate::function::FunctionError;
use crate::map_changes::MapChanges;
use crate::value::Value;

/// How deep a value can be nested that is read as a whole: printing, comparing and encoding it are recursive.
const VALUE_DEPTH_MAX: u32 = 200;

/// Returns a copy of `value` that includes all changes of this rendering.
/// Charges for every item at every level, each time it occurs: lists that contain the same list several times can be far larger than their memory.
pub(crate) fn resolve(value: &Value, changes: &MapChanges, budget: &mut Budget) -> Result<Value, FunctionError> {
    if let Some(cache) = changes.cache_of(value) {
        cache.charge(budget, |budget| charge(value, changes, budget, 0))?;
        return Ok(value.clone());
    }
    charge(value, changes, budget, 0)?;
    changes.resolve(value).ok_or(FunctionError::Exhausted(Exhausted::Depth(VALUE_DEPTH_MAX)))
}

fn charge(value: &Value, changes: &MapChanges, budget: &mut Budget, depth: u32) -> Result<(), Exhausted> {
    if depth > VALUE_DEPTH_MAX {
        return Err(Exhausted::Depth(VALUE_DEPTH_MAX));
    }
    // Many sets of values contain the same lists and maps.
    let known = if depth == 1 && changes.is_unchanged() { value.known() } else { None };
    match known {
        Some(known) => known.visit.get(budget, |budget| charge_inside(value, changes, budget, depth)).copied(),
        None => charge_inside(value, changes, budget, depth),
    }
}

/// Charges for everything inside a value.
fn charge_inside(value: &Value, changes: &MapChanges, budget: &mut Budget, depth: u32) -> Result<(), Exhausted> {
    match value {
        Value::List(list) => {
            budget.steps(list.items().len() as u64)?;
            list.items().iter().try_for_each(|item| charge(item, changes, budget, depth + 1))
        }
        Value::Map(map) => {
            let entries = changes.entries(map);
            budget.steps(entries.len() as u64)?;
            entries.values().try_for_each(|item| charge(item, changes, budget, depth + 1))
        }
        Value::Struct(fields) => {
            fields.fields.iter().try_for_each(|(_, item)| charge(item, changes, budget, depth + 1))
        }
        Value::Text(text) => budget.steps(text.len() as u64 / 64),
        _ => Ok(()),
    }
}
