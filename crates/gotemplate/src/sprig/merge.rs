//! Merges maps like mergo 0.3.12.

use std::sync::Arc;

use super::arguments::dict;
use super::defaults::is_empty;
use crate::function::{Call, FunctionError};
use crate::value::{Entries, Map, MapKind, Value};

/// How deep maps that are merged can be nested. Only a map that contains itself is deeper.
const DEPTH_MAX: u32 = 200;

/// Merges the other maps into the first one in place, one after another.
pub(super) fn merged(call: &mut Call<'_>, args: &[Value], overwrite: bool) -> Result<Value, FunctionError> {
    let first = dict(args, 0)?;
    // As in Go, a nil map is replaced by a new map.
    let new_map = Arc::new(Map::new(first.kind, Entries::new()));
    let target = if first.is_nil() && args.len() > 1 { &new_map } else { first };
    for index in 1..args.len() {
        merge_into(call, &Merge { target, source: dict(args, index)?, overwrite, depth: 0 })?;
    }
    Ok(Value::Map(Arc::clone(target)))
}

/// A merge of one map into another.
struct Merge<'a> {
    target: &'a Arc<Map>,
    source: &'a Arc<Map>,
    /// Whether values of the source replace values of the target that are not empty.
    overwrite: bool,
    /// The number of maps that each of the two is nested in.
    depth: u32,
}

fn merge_into(call: &mut Call<'_>, merge: &Merge<'_>) -> Result<(), FunctionError> {
    if merge.depth > DEPTH_MAX {
        return Err(FunctionError::error(format!("maps are nested more than {DEPTH_MAX} levels deep")));
    }
    if !is_assignable(merge.target, merge.source) {
        return Err(FunctionError::error("reflect.Value.SetMapIndex: the maps are of different types"));
    }
    let source: Vec<_> =
        call.changes.entries(merge.source).iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    call.budget.steps(source.len() as u64)?;
    for (key, value) in source {
        let existing = call.changes.entries(merge.target).get(&key).cloned();
        if replaces(call, merge, existing.as_ref(), &value)? {
            call.changes.entries_mut(merge.target).insert(key, value);
        }
    }
    Ok(())
}

/// Whether `value` replaces the existing value. If both are maps, merges one into the other instead.
fn replaces(
    call: &mut Call<'_>,
    merge: &Merge<'_>,
    existing: Option<&Value>,
    value: &Value,
) -> Result<bool, FunctionError> {
    if let (Some(Value::Map(target)), Value::Map(source)) = (existing, value) {
        merge_into(call, &Merge { target, source, overwrite: merge.overwrite, depth: merge.depth + 1 })?;
    }
    let vacant = existing.is_none_or(|existing| is_empty(call.changes, existing));
    Ok(match value {
        Value::Nil | Value::Missing => merge.overwrite,
        Value::Map(_) => vacant,
        _ => merge.overwrite || vacant,
    })
}

/// Whether the keys and values of the source's type can be assigned to those of the target's type.
fn is_assignable(target: &Map, source: &Map) -> bool {
    match (target.kind, source.kind) {
        (left, right) if left == right => true,
        (MapKind::AnyToAny, _) | (MapKind::TextToAny, MapKind::TextToText) => true,
        _ => source.entries().is_empty(),
    }
}
