//! Comparison: `eq`, `ne`, `lt`, `le`, `gt`, `ge`.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::function::{Call, FunctionError};
use crate::types::type_name;
use crate::value::Value;

/// Whether the first argument equals one of the others.
pub(super) fn eq(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let [first, others @ ..] = arguments else {
        return Err(FunctionError::error("missing argument for comparison"));
    };
    if others.is_empty() {
        return Err(FunctionError::error("missing argument for comparison"));
    }
    for other in others {
        if equal(first, other)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

pub(super) fn ne(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let (left, right) = pair(arguments)?;
    Ok(Value::Bool(!equal(left, right)?))
}

pub(super) fn lt(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let (left, right) = pair(arguments)?;
    Ok(Value::Bool(less(left, right)?))
}

/// `<=` is `<` or `==`.
pub(super) fn le(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let (left, right) = pair(arguments)?;
    Ok(Value::Bool(less(left, right)? || equal(left, right)?))
}

/// `>` is not `<=`.
pub(super) fn gt(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let (left, right) = pair(arguments)?;
    Ok(Value::Bool(!(less(left, right)? || equal(left, right)?)))
}

/// `>=` is not `<`.
pub(super) fn ge(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let (left, right) = pair(arguments)?;
    Ok(Value::Bool(!less(left, right)?))
}

fn pair(arguments: &[Value]) -> Result<(&Value, &Value), FunctionError> {
    match arguments {
        [left, right] => Ok((left, right)),
        _ => Err(FunctionError::error("missing argument for comparison")),
    }
}

/// The kinds of values that Go can compare.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Basic {
    Bool,
    Complex,
    Float,
    Int,
    Text,
    Uint,
    Other,
}

fn basic(value: &Value) -> Basic {
    match value {
        Value::Bool(_) => Basic::Bool,
        Value::Complex(..) => Basic::Complex,
        Value::Float(_) => Basic::Float,
        Value::Int(..) | Value::Duration(_) => Basic::Int,
        Value::Text(_) => Basic::Text,
        Value::Uint(..) => Basic::Uint,
        _ => Basic::Other,
    }
}

#[allow(clippy::float_cmp, reason = "Go compares floats exactly")]
fn equal(left: &Value, right: &Value) -> Result<bool, FunctionError> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
        (Value::Complex(a, b), Value::Complex(c, d)) => Ok(a == c && b == d),
        (Value::Float(left), Value::Float(right)) => Ok(left == right),
        (Value::Text(left), Value::Text(right)) => Ok(left == right),
        _ => match (integer(left), integer(right)) {
            (Some(left), Some(right)) => Ok(left == right),
            _ if is_nil(left) || is_nil(right) => Ok(is_nil(left) && is_nil(right)),
            _ if basic(left) != basic(right) => Err(incompatible(left, right)),
            _ => identical(left, right),
        },
    }
}

/// Compares values that are both lists, maps, structs, times or versions.
fn identical(left: &Value, right: &Value) -> Result<bool, FunctionError> {
    match (left, right) {
        (Value::Time(left), Value::Time(right)) => Ok(Arc::ptr_eq(left, right) || left == right),
        (Value::Version(left), Value::Version(right)) => Ok(Arc::ptr_eq(left, right)),
        _ => Err(FunctionError::Error(format!("non-comparable types {} and {}", type_name(left), type_name(right)))),
    }
}

fn less(left: &Value, right: &Value) -> Result<bool, FunctionError> {
    let (left_kind, right_kind) = (basic(left), basic(right));
    if left_kind == Basic::Other || right_kind == Basic::Other {
        return Err(FunctionError::error("invalid type for comparison"));
    }
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => Ok(left < right),
        (Value::Text(left), Value::Text(right)) => Ok(left.cmp(right) == Ordering::Less),
        _ => match (integer(left), integer(right)) {
            (Some(left), Some(right)) => Ok(left < right),
            _ if left_kind == right_kind => Err(FunctionError::error("invalid type for comparison")),
            _ => Err(incompatible(left, right)),
        },
    }
}

/// The value of an integer of any type. Integers of different types are compared by their values.
fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(int, _) | Value::Duration(int) => Some(i128::from(*int)),
        Value::Uint(uint, _) => Some(i128::from(*uint)),
        _ => None,
    }
}

/// Whether the value is nil. Nil slices are nil, too.
fn is_nil(value: &Value) -> bool {
    match value {
        Value::Nil | Value::Missing => true,
        Value::List(list) => list.is_nil(),
        _ => false,
    }
}

fn incompatible(left: &Value, right: &Value) -> FunctionError {
    let (left, right) = (type_name(left), type_name(right));
    FunctionError::Error(format!("incompatible types for comparison: {left} and {right}"))
}
