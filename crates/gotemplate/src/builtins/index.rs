//! `index` and `len`.

use std::sync::Arc;

use crate::function::{Call, FunctionError};
use crate::map_changes::MapChanges;
use crate::types::type_name;
use crate::value::{FloatKey, Key, Map, MapKind, UintKind, Value};

/// `index x 1 "k"` is Go's `x[1]["k"]`.
pub(super) fn index(call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let Some((item, indexes)) = arguments.split_first() else {
        return Err(FunctionError::error("index of untyped nil"));
    };
    if is_nil(item) {
        return Err(FunctionError::error("index of untyped nil"));
    }
    let mut item = item.clone();
    for index in indexes {
        item = match &item {
            Value::Missing | Value::Nil => return Err(FunctionError::error("index of nil pointer")),
            Value::Text(text) => {
                let byte = text.as_bytes().get(position(index)?).ok_or_else(|| out_of_range(index))?;
                Value::Uint(u64::from(*byte), UintKind::Uint8)
            }
            Value::List(list) => list.items().get(position(index)?).ok_or_else(|| out_of_range(index))?.clone(),
            Value::Map(map) => entry(call.changes, map, index)?,
            other => return Err(FunctionError::Error(format!("can't index item of type {}", type_name(other)))),
        };
    }
    Ok(item)
}

/// The entry of the map, or the zero value of its element type.
fn entry(changes: &MapChanges, map: &Arc<Map>, index: &Value) -> Result<Value, FunctionError> {
    let key = match (map.kind, index) {
        (MapKind::AnyToAny, index) => {
            key(index).ok_or_else(|| FunctionError::Error(format!("{} can't be a map key", type_name(index))))?
        }
        (_, Value::Text(text)) => Key::Text(text.clone()),
        (_, Value::Nil | Value::Missing) => return Err(FunctionError::error("value is nil; should be of type string")),
        (_, other) => {
            return Err(FunctionError::Error(format!("value has type {}; should be string", type_name(other))));
        }
    };
    let zero = || if map.kind == MapKind::TextToText { Value::text("") } else { Value::Nil };
    Ok(changes.entries(map).get(&key).cloned().unwrap_or_else(zero))
}

fn key(index: &Value) -> Option<Key> {
    Some(match index {
        Value::Nil | Value::Missing => Key::Nil,
        Value::Bool(bool) => Key::Bool(*bool),
        Value::Int(int, _) => Key::Int(*int),
        Value::Uint(uint, _) => i64::try_from(*uint).map_or(Key::Uint(*uint), Key::Int),
        Value::Float(float) => Key::Float(FloatKey(*float)),
        Value::Text(text) => Key::Text(text.clone()),
        _ => return None,
    })
}

fn position(index: &Value) -> Result<usize, FunctionError> {
    let position = match index {
        Value::Int(int, _) | Value::Duration(int) => usize::try_from(*int).ok(),
        Value::Uint(uint, _) => usize::try_from(*uint).ok(),
        Value::Nil | Value::Missing => return Err(FunctionError::error("cannot index slice/array with nil")),
        other => {
            return Err(FunctionError::Error(format!("cannot index slice/array with type {}", type_name(other))));
        }
    };
    position.ok_or_else(|| out_of_range(index))
}

fn out_of_range(index: &Value) -> FunctionError {
    FunctionError::Error(format!("index out of range: {}", crate::format::display(index)))
}

fn is_nil(value: &Value) -> bool {
    matches!(value, Value::Nil | Value::Missing)
}

pub(super) fn len(call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let length = match arguments {
        [Value::Text(text)] => text.len(),
        [Value::List(list)] => list.items().len(),
        [Value::Map(map)] => call.changes.entries(map).len(),
        [Value::Nil | Value::Missing] | [] => return Err(FunctionError::error("len of nil pointer")),
        [other, ..] => return Err(FunctionError::Error(format!("len of type {}", type_name(other)))),
    };
    Ok(Value::int(length as i64))
}
