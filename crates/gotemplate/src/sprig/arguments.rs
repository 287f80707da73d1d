//! Access to arguments. The executor has already converted them to the types of the parameters.

use std::sync::Arc;

use crate::function::{Call, FunctionError};
use crate::text::Text;
use crate::time::Time;
use crate::value::{List, Map, Value};

/// Go's error for a `nil` where it reads the type of a value.
pub(super) const NIL_POINTER: &str = "invalid memory address or nil pointer dereference";

/// The argument at `index`. [`Value::Nil`] if there is none.
pub(super) fn any(args: &[Value], index: usize) -> &Value {
    args.get(index).unwrap_or(&Value::Nil)
}

/// The arguments from `index` on: those of a variadic parameter.
pub(super) fn rest(args: &[Value], index: usize) -> &[Value] {
    args.get(index..).unwrap_or_default()
}

/// The `string` at `index`.
pub(super) fn text(args: &[Value], index: usize) -> Result<&Text, FunctionError> {
    match any(args, index) {
        Value::Text(text) => Ok(text),
        _ => Err(unexpected(index, "string")),
    }
}

/// The bytes of the `string` at `index`.
pub(super) fn bytes(args: &[Value], index: usize) -> Result<&[u8], FunctionError> {
    text(args, index).map(Text::as_bytes)
}

/// The `int` at `index`.
pub(super) fn int(args: &[Value], index: usize) -> Result<i64, FunctionError> {
    match any(args, index) {
        Value::Int(number, _) => Ok(*number),
        _ => Err(unexpected(index, "int")),
    }
}

/// The `float64` at `index`.
pub(super) fn float(args: &[Value], index: usize) -> Result<f64, FunctionError> {
    match any(args, index) {
        Value::Float(number) => Ok(*number),
        _ => Err(unexpected(index, "float64")),
    }
}

/// The `bool` at `index`.
pub(super) fn boolean(args: &[Value], index: usize) -> Result<bool, FunctionError> {
    match any(args, index) {
        Value::Bool(flag) => Ok(*flag),
        _ => Err(unexpected(index, "bool")),
    }
}

/// The map at `index`.
pub(super) fn dict(args: &[Value], index: usize) -> Result<&Arc<Map>, FunctionError> {
    match any(args, index) {
        Value::Map(map) => Ok(map),
        _ => Err(unexpected(index, "map[string]interface {}")),
    }
}

/// The `time.Time` at `index`.
pub(super) fn time(args: &[Value], index: usize) -> Result<&Time, FunctionError> {
    match any(args, index) {
        Value::Time(time) => Ok(time),
        _ => Err(unexpected(index, "time.Time")),
    }
}

/// The slice at `index`, for functions where Go uses reflection. `refusal` is the beginning of the error for another type.
pub(super) fn list<'a>(args: &'a [Value], index: usize, refusal: &str) -> Result<&'a Arc<List>, FunctionError> {
    match any(args, index) {
        Value::List(list) => Ok(list),
        Value::Nil | Value::Missing => Err(FunctionError::error(NIL_POINTER)),
        other => Err(FunctionError::error(format!("{refusal} {}", crate::types::kind_name(other)))),
    }
}

/// Checks that a text of this length is within the limit, before it is made. The executor charges for it afterwards.
pub(super) fn check_length(call: &Call<'_>, bytes: usize) -> Result<(), FunctionError> {
    call.budget.clone().output(bytes)?;
    Ok(())
}

/// Like [`check_length`], and charges the steps for making the text.
pub(super) fn charge_text(call: &mut Call<'_>, bytes: usize) -> Result<(), FunctionError> {
    check_length(call, bytes)?;
    call.budget.steps(bytes as u64 / 64)?;
    Ok(())
}

fn unexpected(index: usize, expected: &str) -> FunctionError {
    FunctionError::error(format!("argument {}: expected {expected}", index + 1))
}
