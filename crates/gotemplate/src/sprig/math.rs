//! Arithmetic on integers, and on floats where the name says so.

use super::arguments::{any, float, int, rest};
use super::convert::{to_float64, to_int64};
use super::{function, variadic};
use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

use Type::{Any, Float, Int};

pub(super) const FUNCTIONS: &[Function] = &[
    variadic(function("add", &[Any], |_, args| Ok(Value::int64(args.iter().map(to_int64).fold(0, i64::wrapping_add))))),
    function("add1", &[Any], |_, args| Ok(Value::int64(to_int64(any(args, 0)).wrapping_add(1)))),
    variadic(function("biggest", &[Any, Any], |_, args| Ok(folded(args, i64::max)))),
    function("ceil", &[Any], |_, args| Ok(Value::Float(to_float64(any(args, 0)).ceil()))),
    function("div", &[Any, Any], |_, args| divided(args, i64::wrapping_div)),
    function("floor", &[Any], |_, args| Ok(Value::Float(to_float64(any(args, 0)).floor()))),
    variadic(function("max", &[Any, Any], |_, args| Ok(folded(args, i64::max)))),
    variadic(function("min", &[Any, Any], |_, args| Ok(folded(args, i64::min)))),
    function("mod", &[Any, Any], |_, args| divided(args, i64::wrapping_rem)),
    variadic(function("mul", &[Any, Any], |_, args| Ok(folded(args, i64::wrapping_mul)))),
    variadic(function("round", &[Any, Int, Float], round)),
    function("sub", &[Any, Any], |_, args| {
        Ok(Value::int64(to_int64(any(args, 0)).wrapping_sub(to_int64(any(args, 1)))))
    }),
];

fn folded(args: &[Value], combine: fn(i64, i64) -> i64) -> Value {
    Value::int64(rest(args, 1).iter().map(to_int64).fold(to_int64(any(args, 0)), combine))
}

fn divided(args: &[Value], operation: fn(i64, i64) -> i64) -> Result<Value, FunctionError> {
    match to_int64(any(args, 1)) {
        0 => Err(FunctionError::error("integer divide by zero")),
        divisor => Ok(Value::int64(operation(to_int64(any(args, 0)), divisor))),
    }
}

/// `round number places [fraction from which it rounds up]`. As in the original, negative numbers with any fraction round down.
fn round(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let from = if args.len() > 2 { float(args, 2)? } else { 0.5 };
    let power = power_of_ten(int(args, 1)?);
    let shifted = power * to_float64(any(args, 0));
    let rounded = if shifted - shifted.trunc() >= from { shifted.ceil() } else { shifted.floor() };
    Ok(Value::Float(rounded / power))
}

/// Go's `math.Pow(10, exponent)` with exactly the same result: squares the fraction 0.625 and counts powers of two.
fn power_of_ten(exponent: i64) -> f64 {
    const EXPONENT_MAX: i32 = 1 << 12;
    let (mut result, mut result_exponent) = (1.0_f64, 0_i32);
    let (mut square, mut square_exponent) = (0.625_f64, 4_i32);
    let mut rest = exponent.unsigned_abs();
    while rest != 0 {
        if square_exponent > EXPONENT_MAX {
            result_exponent += square_exponent;
            break;
        }
        if rest & 1 == 1 {
            result *= square;
            result_exponent += square_exponent;
        }
        square *= square;
        square_exponent <<= 1;
        if square < 0.5 {
            square += square;
            square_exponent -= 1;
        }
        rest >>= 1;
    }
    if exponent < 0 {
        (result, result_exponent) = (1.0 / result, -result_exponent);
    }
    scaled(result, result_exponent)
}

/// `number` times two to the power of `exponent`, in two steps, so that the power does not overflow.
fn scaled(number: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    number * f64::powi(2.0, half) * f64::powi(2.0, exponent - half)
}
