//! Conversions to numbers. They never fail: a value that is not a number becomes zero.

use super::arguments::{any, text};
use super::{deep, function};
use crate::format;
use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

use Type::{Any, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("atoi", &[Text], atoi),
    function("float64", &[Any], |_, args| Ok(Value::Float(to_float64(any(args, 0))))),
    function("int", &[Any], |_, args| Ok(Value::int(to_int64(any(args, 0))))),
    function("int64", &[Any], |_, args| Ok(Value::int64(to_int64(any(args, 0))))),
    deep(function("toDecimal", &[Any], |_, args| {
        Ok(Value::int64(parse_int(format::display(any(args, 0)).as_bytes(), 8).unwrap_or(0)))
    })),
];

/// For a number that is out of range, returns the largest or smallest number. `int` returns zero there.
fn atoi(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    Ok(Value::int(parse_int(text(args, 0)?.as_bytes(), 10).unwrap_or_else(|error| match error.kind() {
        std::num::IntErrorKind::PosOverflow => i64::MAX,
        std::num::IntErrorKind::NegOverflow => i64::MIN,
        _ => 0,
    })))
}

/// `strconv.ParseInt`
fn parse_int(text: &[u8], base: u32) -> Result<i64, std::num::ParseIntError> {
    i64::from_str_radix(&String::from_utf8_lossy(text), base)
}

/// Floats are truncated. Texts must be decimal integers.
pub(super) fn to_int64(value: &Value) -> i64 {
    match value {
        Value::Bool(flag) => i64::from(*flag),
        Value::Int(number, _) | Value::Duration(number) => *number,
        Value::Uint(number, _) => i64::try_from(*number).unwrap_or(i64::MAX),
        Value::Float(number) => truncated(*number),
        Value::Text(text) => parse_int(text.as_bytes(), 10).unwrap_or(0),
        _ => 0,
    }
}

/// `int64(number)` on the machines of Microsoft's Kalypso: a number that is out of range becomes the smallest integer.
fn truncated(number: f64) -> i64 {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    if fits { number as i64 } else { i64::MIN }
}

/// Texts are parsed like in Go's `strconv.ParseFloat`.
pub(super) fn to_float64(value: &Value) -> f64 {
    match value {
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::Int(number, _) | Value::Duration(number) => *number as f64,
        Value::Uint(number, _) => *number as f64,
        Value::Float(number) => *number,
        Value::Text(text) => parse_float(&text.to_str()).unwrap_or(0.0),
        _ => 0.0,
    }
}

fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        let number = parse_hex_float(digits)?;
        return Some(if text.starts_with('-') { -number } else { number });
    }
    if !underscores_separate_digits(unsigned) {
        return None;
    }
    let plain = text.replace('_', "");
    // For a number that is out of range, Rust returns infinity, Go an error.
    let infinite = ["inf", "infinity"].contains(&lower.as_str());
    plain.parse::<f64>().ok().filter(|number| infinite || number.is_nan() || number.is_finite())
}

/// Parses the digits after `0x`, with the exponent that Go requires: `1.8p3` is 12.
fn parse_hex_float(digits: &str) -> Option<f64> {
    let (mantissa, exponent) = digits.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    let mut number = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        number = number * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let exponent = exponent.parse::<i32>().ok()?.saturating_sub(4 * i32::try_from(fraction.len()).ok()?);
    Some(number * f64::powi(2.0, exponent)).filter(|number| number.is_finite())
}

/// Whether every underscore is between two digits.
fn underscores_separate_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let mut places = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_').map(|(at, _)| at);
    places.all(|at| is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1)))
}
