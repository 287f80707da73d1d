//! Reads values at all levels, within the limits.

use crate::fuel::{Exhausted, Fuel};
use crate::function::Failure;
use crate::heap::Heap;
use crate::value::Value;

/// How deep a value can be nested that is read as a whole: printing, comparing and encoding it are recursive.
const VALUE_DEPTH_MAX: u32 = 200;

/// Returns a copy of `value` that includes all changes of this rendering.
/// Charges for every item at every level, each time it occurs: lists that contain the same list several times can be far larger than their memory.
pub(crate) fn resolve(value: &Value, heap: &Heap, fuel: &mut Fuel) -> Result<Value, Failure> {
    if let Some(cache) = heap.cache_of(value) {
        cache.charge(fuel, |fuel| charge(value, heap, fuel, 0))?;
        return Ok(value.clone());
    }
    charge(value, heap, fuel, 0)?;
    heap.resolve(value).ok_or(Failure::Exhausted(Exhausted::Depth(VALUE_DEPTH_MAX)))
}

fn charge(value: &Value, heap: &Heap, fuel: &mut Fuel, depth: u32) -> Result<(), Exhausted> {
    if depth > VALUE_DEPTH_MAX {
        return Err(Exhausted::Depth(VALUE_DEPTH_MAX));
    }
    match value {
        Value::List(list) => {
            fuel.steps(list.items.len() as u64)?;
            list.items.iter().try_for_each(|item| charge(item, heap, fuel, depth + 1))
        }
        Value::Map(map) => {
            let entries = heap.entries(map);
            fuel.steps(entries.len() as u64)?;
            entries.values().try_for_each(|item| charge(item, heap, fuel, depth + 1))
        }
        Value::Struct(fields) => fields.fields.iter().try_for_each(|(_, item)| charge(item, heap, fuel, depth + 1)),
        Value::Text(text) => fuel.steps(text.len() as u64 / 64),
        _ => Ok(()),
    }
}
