//! The names of Go's types in errors, `%T`, `typeOf` and `kindOf`.

use crate::function::Type;
use crate::value::{IntKind, ListKind, MapKind, UintKind, Value};

/// The value's type, like `map[string]interface {}`. For nil, which has no type, `<nil>`, as in `printf "%T"`.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Missing | Value::Nil => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_, IntKind::Int) => "int",
        Value::Int(_, IntKind::Int64) => "int64",
        Value::Int(_, IntKind::Int32) => "int32",
        Value::Int(_, IntKind::Month) => "time.Month",
        Value::Int(_, IntKind::Weekday) => "time.Weekday",
        Value::Uint(_, UintKind::Uint) => "uint",
        Value::Uint(_, UintKind::Uint64) => "uint64",
        Value::Uint(_, UintKind::Uint8) => "uint8",
        Value::Float(_) => "float64",
        Value::Complex(..) => "complex128",
        Value::Text(_) => "string",
        Value::List(list) => match list.kind {
            ListKind::Any => "[]interface {}",
            ListKind::Text => "[]string",
            ListKind::Int => "[]int",
            ListKind::Bytes => "[]uint8",
        },
        Value::Map(map) => match map.kind {
            MapKind::TextToAny => "map[string]interface {}",
            MapKind::TextToText => "map[string]string",
            MapKind::AnyToAny => "map[interface {}]interface {}",
        },
        Value::Struct(fields) => fields.type_name,
        Value::Time(_) => "time.Time",
        Value::Duration(_) => "time.Duration",
        Value::Version(_) => "*semver.Version",
        Value::Tainted(tainted) => type_name(&tainted.value),
    }
}

/// The value's kind (Go's `reflect.Kind`), like `map`. For nil, `invalid`.
pub fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Missing | Value::Nil => "invalid",
        Value::List(_) => "slice",
        Value::Map(_) => "map",
        Value::Struct(_) | Value::Time(_) => "struct",
        Value::Duration(_) => "int64",
        Value::Int(_, IntKind::Month | IntKind::Weekday) => "int",
        Value::Version(_) => "ptr",
        Value::Tainted(tainted) => kind_name(&tainted.value),
        other => type_name(other),
    }
}

/// The name of a parameter's type.
pub(crate) fn parameter_name(parameter: Type) -> &'static str {
    match parameter {
        Type::Any => "interface {}",
        Type::Text => "string",
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Int64 => "int64",
        Type::Float => "float64",
        Type::Dict => "map[string]interface {}",
        Type::Time => "time.Time",
    }
}
