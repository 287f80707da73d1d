//! Evaluates numeric constants.

use super::{Eval, error};
use crate::parse::tree::Number;
use crate::value::Value;

/// The value of a numeric constant where no parameter determines its type. As in Go, the notation determines it.
pub(super) fn untyped_number(at: usize, number: &Number) -> Eval<Value> {
    match *number {
        Number { complex: Some((real, imaginary)), .. } => Ok(Value::Complex(real, imaginary)),
        Number { looks_like_float: true, float: Some(float), .. } => Ok(Value::Float(float)),
        Number { int: Some(int), .. } => Ok(Value::int(int)),
        _ => Err(error(at, "the number overflows int")),
    }
}
