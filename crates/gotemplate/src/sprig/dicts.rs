//! Functions that make, read and change maps.

use std::sync::Arc;

use super::arguments::{NIL_POINTER, any, dict, rest, text};
use super::equality::deep_equal;
use super::merge::merged;
use super::quoting::strval;
use super::{deep, function, variadic};
use crate::function::{Call, Function, FunctionError, Type};
use crate::nesting::resolve;
use crate::value::{Entries, Key, List, Map, MapKind, Value};

use Type::{Any, Dict, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    deep(function("deepCopy", &[Any], deep_copy)),
    deep(function("deepEqual", &[Any, Any], |_, args| Ok(Value::Bool(deep_equal(any(args, 0), any(args, 1)))))),
    variadic(function("dict", &[Any], new_dict)),
    function("hasKey", &[Dict, Text], |call, args| {
        Ok(Value::Bool(call.changes.entries(dict(args, 0)?).contains_key(&Key::Text(text(args, 1)?.clone()))))
    }),
    variadic(function("keys", &[Dict], keys)),
    variadic(function("merge", &[Dict, Dict], |call, args| merged(call, args, false))),
    variadic(function("mergeOverwrite", &[Dict, Dict], |call, args| merged(call, args, true))),
    variadic(function("omit", &[Dict, Text], |call, args| selected(call, args, false))),
    variadic(function("pick", &[Dict, Text], |call, args| selected(call, args, true))),
    variadic(function("pluck", &[Text, Dict], pluck)),
    function("set", &[Dict, Text, Any], set),
    function("unset", &[Dict, Text], unset),
    function("values", &[Dict], values),
];

fn new_dict(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let mut entries = Entries::new();
    for pair in args.chunks(2) {
        let key = strval(&resolve(any(pair, 0), call.changes, call.budget)?);
        entries.insert(Key::Text(key), pair.get(1).cloned().unwrap_or_else(|| Value::text("")));
    }
    Ok(Value::map(MapKind::TextToAny, entries))
}

/// Go returns the keys in random order. Here they are sorted.
fn keys(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let mut keys = Vec::new();
    for index in 0..args.len() {
        let entries = call.changes.entries(dict(args, index)?);
        call.budget.steps(entries.len() as u64)?;
        keys.extend(entries.keys().filter_map(|key| if let Key::Text(key) = key { Some(key.clone()) } else { None }));
    }
    Ok(Value::texts(keys))
}

/// Go returns the values in random order. Here they have the order of their keys.
fn values(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let entries = call.changes.entries(dict(args, 0)?);
    call.budget.steps(entries.len() as u64)?;
    Ok(Value::list(entries.values().cloned().collect()))
}

/// A new map with the entries whose keys are among the arguments (`named`), or are not.
fn selected(call: &mut Call<'_>, args: &[Value], named: bool) -> Result<Value, FunctionError> {
    let entries = call.changes.entries(dict(args, 0)?);
    let names = rest(args, 1);
    let compared = (entries.len() as u64).saturating_mul(names.len() as u64);
    call.budget.steps(entries.len() as u64 + compared / 16)?;
    let is_named =
        |key: &Key| names.iter().any(|name| matches!((name, key), (Value::Text(name), Key::Text(key)) if name == key));
    let kept = entries.iter().filter(|(key, _)| is_named(key) == named);
    Ok(Value::map(MapKind::TextToAny, kept.map(|(key, value)| (key.clone(), value.clone())).collect()))
}

fn pluck(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let key = Key::Text(text(args, 0)?.clone());
    let mut found = Vec::new();
    for index in 1..args.len() {
        call.budget.steps(1)?;
        found.extend(call.changes.entries(dict(args, index)?).get(&key).cloned());
    }
    Ok(Value::list(found))
}

fn set(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let map = dict(args, 0)?;
    if map.is_nil() {
        return Err(FunctionError::error("assignment to entry in nil map"));
    }
    charge_for_change(call, map)?;
    call.changes.entries_mut(map).insert(Key::Text(text(args, 1)?.clone()), any(args, 2).clone());
    Ok(Value::Map(Arc::clone(map)))
}

/// Charges for the first change of a map: it copies the entries.
fn charge_for_change(call: &mut Call<'_>, map: &Arc<Map>) -> Result<(), FunctionError> {
    if call.changes.changed(map).is_none() {
        call.budget.steps(map.entries().len() as u64)?;
    }
    Ok(())
}

fn unset(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let map = dict(args, 0)?;
    let key = Key::Text(text(args, 1)?.clone());
    if call.changes.entries(map).contains_key(&key) {
        charge_for_change(call, map)?;
        call.changes.entries_mut(map).remove(&key);
    }
    Ok(Value::Map(Arc::clone(map)))
}

fn deep_copy(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    match any(args, 0) {
        Value::Nil | Value::Missing => Err(FunctionError::error(NIL_POINTER)),
        value => Ok(copy(value)),
    }
}

/// Copies lists and maps at all levels, so that changes to the copy do not change the original.
fn copy(value: &Value) -> Value {
    match value {
        Value::List(list) if list.is_nil() => value.clone(),
        Value::Map(map) if map.is_nil() => value.clone(),
        Value::List(list) => Value::List(Arc::new(List::new(list.kind, list.items().iter().map(copy).collect()))),
        Value::Map(map) => {
            let entries = map.entries().iter().map(|(key, value)| (key.clone(), copy(value))).collect();
            Value::Map(Arc::new(Map::new(map.kind, entries)))
        }
        other => other.clone(),
    }
}
