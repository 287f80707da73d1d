//! Parses numeric and character constants.

use super::quote;
use super::tree::Number;

/// Parses a number as Go's text/template does. The error is Go's message.
pub(super) fn number(text: &str) -> Result<Number, String> {
    if let Some(imaginary) = text.strip_suffix('i')
        && let Some(imaginary) = float(imaginary)
    {
        return Ok(complex(0.0, imaginary));
    }
    let mut number = Number { uint: unsigned(text), int: signed(text), ..Number::default() };
    if number.int == Some(0) {
        // `-0`
        number.uint = Some(0);
    }
    let has_float_mark = text.contains(['.', 'e', 'E', 'p', 'P']);
    number.looks_like_float = has_float_mark && !is_hexadecimal_integer(text);
    if let Some(int) = number.int {
        number.float = Some(int as f64);
    } else if let Some(uint) = number.uint {
        number.float = Some(uint as f64);
    } else if let Some(float) = float(text) {
        if !has_float_mark {
            return Err(format!("integer overflow: {text:?}"));
        }
        number.float = Some(float);
        number.int = exact_int(float);
        number.uint = exact_uint(float);
    } else {
        return Err(format!("illegal number syntax: {text:?}"));
    }
    Ok(number)
}

/// Parses a number with a real and an imaginary part: `1+2i`.
pub(super) fn complex_number(text: &str) -> Result<Number, String> {
    let wrong = || format!("illegal number syntax: {text:?}");
    let body = text.strip_suffix('i').ok_or_else(wrong)?;
    let exponents = ['e', 'E', 'p', 'P'];
    let sign_at = body.char_indices().filter(|(at, sign)| *at > 0 && matches!(sign, '+' | '-'));
    let sign_at = sign_at.map(|(at, _)| at).rfind(|at| !body[..*at].ends_with(exponents) || body.starts_with("0x"));
    let (real, imaginary) = body.split_at(sign_at.ok_or_else(wrong)?);
    let real = float(real).ok_or_else(wrong)?;
    let imaginary = float(imaginary).ok_or_else(wrong)?;
    Ok(complex(real, imaginary))
}

/// Parses a character constant with its quotes.
pub(super) fn character(text: &[u8]) -> Result<Number, String> {
    let inner = text.get(1..).unwrap_or_default();
    let Some((code, rest)) = quote::unquote_char(inner, b'\'') else {
        return Err("invalid syntax".to_owned());
    };
    if rest != b"'" {
        return Err(format!("malformed character constant: {}", String::from_utf8_lossy(text)));
    }
    let code = code.value();
    let int = Some(i64::from(code));
    Ok(Number { int, uint: Some(u64::from(code)), float: Some(f64::from(code)), ..Number::default() })
}

fn complex(real: f64, imaginary: f64) -> Number {
    let float = (imaginary == 0.0).then_some(real);
    Number {
        complex: Some((real, imaginary)),
        float,
        int: float.and_then(exact_int),
        uint: float.and_then(exact_uint),
        looks_like_float: false,
    }
}

#[allow(clippy::float_cmp, reason = "exactness is the question")]
fn exact_int(float: f64) -> Option<i64> {
    let int = float as i64;
    (int as f64 == float && float < 9_223_372_036_854_775_808.0).then_some(int)
}

#[allow(clippy::float_cmp, reason = "exactness is the question")]
fn exact_uint(float: f64) -> Option<u64> {
    let uint = float as u64;
    (uint as f64 == float && float < 18_446_744_073_709_551_616.0).then_some(uint)
}

fn is_hexadecimal_integer(text: &str) -> bool {
    text.len() > 2 && (text.starts_with("0x") || text.starts_with("0X")) && !text.contains(['p', 'P'])
}

fn signed(text: &str) -> Option<i64> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = unsigned(magnitude)?;
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Go's `strconv.ParseUint(text, 0, 64)`.
fn unsigned(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (radix, digits) = if let Some(digits) = lower.strip_prefix("0x") {
        (16, digits)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        (2, digits)
    } else if let Some(digits) = lower.strip_prefix("0o") {
        (8, digits)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    if !digits.starts_with(|first: char| first.is_digit(radix) || first == '_') || !underscores_are_fine(text) {
        return None;
    }
    u64::from_str_radix(&digits.replace('_', ""), radix).ok()
}

/// Go's `strconv.ParseFloat(text, 64)`. None for a number that is too large for a `float64`.
pub(crate) fn float(text: &str) -> Option<f64> {
    if !underscores_are_fine(text) {
        return None;
    }
    let plain = text.replace('_', "");
    let unsigned = plain.trim_start_matches(['+', '-']);
    if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        return hexadecimal_float(&plain);
    }
    // Rust also parses words like `inf`. The lexer does not produce them.
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    plain.parse::<f64>().ok().filter(|float| float.is_finite())
}

/// Parses `0x1.8p3`.
fn hexadecimal_float(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let (sign, unsigned) = match lower.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, lower.strip_prefix('+').unwrap_or(&lower)),
    };
    let (mantissa, exponent) = unsigned.strip_prefix("0x")?.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    // At most 15 hexadecimal digits, which fit into a `u64`. Longer constants are not supported: templates do not contain them.
    if digits.len() > 15 {
        return None;
    }
    let bits = if digits.is_empty() { 0 } else { u64::from_str_radix(digits, 16).ok()? };
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    let value = sign * (bits as f64) * 2_f64.powi(exponent);
    value.is_finite().then_some(value)
}

/// Whether each underscore is between digits, or between a base prefix and a digit.
fn underscores_are_fine(text: &str) -> bool {
    if !text.contains('_') {
        return true;
    }
    let unsigned = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let (has_prefix, rest) = match unsigned.get(..2) {
        Some("0x" | "0b" | "0o") => (true, unsigned.get(2..).unwrap_or_default()),
        _ => (false, unsigned.as_str()),
    };
    let is_hexadecimal = unsigned.starts_with("0x");
    let mut previous_is_digit = has_prefix;
    let mut previous_is_underscore = false;
    for character in rest.chars() {
        let is_digit = character.is_ascii_digit() || (is_hexadecimal && character.is_ascii_hexdigit());
        let is_underscore = character == '_';
        if (is_underscore && !previous_is_digit) || (previous_is_underscore && !is_digit) {
            return false;
        }
        previous_is_digit = is_digit;
        previous_is_underscore = is_underscore;
    }
    !previous_is_underscore
}
