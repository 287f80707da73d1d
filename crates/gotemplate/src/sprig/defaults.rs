//! Functions that select values depending on whether they are empty.

use super::arguments::{any, boolean, rest};
use super::{function, variadic};
use crate::function::{Call, Function, FunctionError, Type};
use crate::map_changes::MapChanges;
use crate::value::Value;

use Type::{Any, Bool};

pub(super) const FUNCTIONS: &[Function] = &[
    variadic(function("coalesce", &[Any], coalesce)),
    variadic(function("default", &[Any, Any], |call, args| {
        let value = args.get(1).filter(|value| !is_empty(call.changes, value));
        Ok(value.unwrap_or(any(args, 0)).clone())
    })),
    function("empty", &[Any], |call, args| Ok(Value::Bool(is_empty(call.changes, any(args, 0))))),
    function("ternary", &[Any, Any, Bool], |_, args| Ok(any(args, usize::from(!boolean(args, 2)?)).clone())),
];

#[expect(clippy::unnecessary_wraps, reason = "the type of every function that templates call")]
fn coalesce(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let found = rest(args, 0).iter().find(|value| !is_empty(call.changes, value));
    Ok(found.cloned().unwrap_or(Value::Nil))
}

/// Whether the value is nil, false, zero, or has no items. Structs, versions and times are never empty.
pub(super) fn is_empty(changes: &MapChanges, value: &Value) -> bool {
    match value {
        Value::Missing | Value::Nil => true,
        Value::Bool(flag) => !flag,
        Value::Int(number, _) | Value::Duration(number) => *number == 0,
        Value::Uint(number, _) => *number == 0,
        Value::Float(number) => *number == 0.0,
        Value::Complex(real, imaginary) => *real == 0.0 && *imaginary == 0.0,
        Value::Text(text) => text.is_empty(),
        Value::List(list) => list.items().is_empty(),
        Value::Map(map) => changes.entries(map).is_empty(),
        Value::Struct(_) | Value::Time(_) | Value::Version(_) => false,
        Value::Tainted(tainted) => is_empty(changes, &tainted.value),
    }
}
