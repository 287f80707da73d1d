//! `reflect.DeepEqual`.

use std::sync::Arc;

use crate::value::{List, Map, Value};

/// Whether the values have the same type and are equal at all levels.
///
/// The function is recursive. Callers limit the depth with [`resolve`](crate::nesting::resolve) first.
pub(super) fn deep_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Nil | Value::Missing, Value::Nil | Value::Missing) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left, left_kind), Value::Int(right, right_kind)) => left == right && left_kind == right_kind,
        (Value::Uint(left, left_kind), Value::Uint(right, right_kind)) => left == right && left_kind == right_kind,
        (Value::Float(left), Value::Float(right)) => floats_equal(*left, *right),
        (Value::Complex(left, left_imaginary), Value::Complex(right, right_imaginary)) => {
            floats_equal(*left, *right) && floats_equal(*left_imaginary, *right_imaginary)
        }
        (Value::Text(left), Value::Text(right)) => left == right,
        (Value::List(left), Value::List(right)) => lists_equal(left, right),
        (Value::Map(left), Value::Map(right)) => maps_equal(left, right),
        (Value::Struct(left), Value::Struct(right)) => {
            let pairs = left.fields.iter().zip(&right.fields);
            left.type_name == right.type_name && pairs.clone().all(|((_, left), (_, right))| deep_equal(left, right))
        }
        (Value::Time(left), Value::Time(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Version(left), Value::Version(right)) => left == right,
        _ => false,
    }
}

#[expect(clippy::float_cmp, reason = "this is Go's ==")]
fn floats_equal(left: f64, right: f64) -> bool {
    left == right
}

fn lists_equal(left: &Arc<List>, right: &Arc<List>) -> bool {
    Arc::ptr_eq(left, right)
        || left.kind == right.kind
            && left.items().len() == right.items().len()
            && left.is_nil() == right.is_nil()
            && left.items().iter().zip(right.items()).all(|(left, right)| deep_equal(left, right))
}

fn maps_equal(left: &Arc<Map>, right: &Arc<Map>) -> bool {
    Arc::ptr_eq(left, right)
        || left.kind == right.kind
            && left.entries().len() == right.entries().len()
            && left.is_nil() == right.is_nil()
            && left
                .entries()
                .iter()
                .all(|(key, value)| right.entries().get(key).is_some_and(|other| deep_equal(value, other)))
}
