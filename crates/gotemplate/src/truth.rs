//! Which values are true in `if`, `with`, `and`, `or` and `not`.

use crate::map_changes::MapChanges;
use crate::value::Value;

/// Whether `value` is not the zero value of its type. Structs, times and versions are always true.
pub fn is_true(value: &Value, changes: &MapChanges) -> bool {
    match value {
        Value::Missing | Value::Nil => false,
        Value::Bool(bool) => *bool,
        Value::Int(int, _) | Value::Duration(int) => *int != 0,
        Value::Uint(uint, _) => *uint != 0,
        Value::Float(float) => *float != 0.0,
        Value::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
        Value::Text(text) => !text.is_empty(),
        Value::List(list) => !list.items().is_empty(),
        Value::Map(map) => !changes.entries(map).is_empty(),
        Value::Struct(_) | Value::Time(_) | Value::Version(_) => true,
        Value::Tainted(tainted) => is_true(&tainted.value, changes),
    }
}
