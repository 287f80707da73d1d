//! Writes floats as Go's `strconv.FormatFloat` does.

/// The notation of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFormat {
    /// `%e`: `-1.5e+07`
    Exponent,
    /// `%f`: `-15000000.0`
    Plain,
    /// `%g`: `%e` for large exponents, else `%f`
    General,
    /// `%b`: mantissa and binary exponent, `4503599627370496p-52`
    Binary,
    /// `%x`: `0x1.8p+01`
    Hexadecimal,
}

/// The float in a notation. Without a precision, writes the fewest digits that identify the float.
pub fn format_float(value: f64, format: FloatFormat, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    match format {
        FloatFormat::Exponent => exponent(value, precision),
        FloatFormat::Plain => plain(value, precision),
        FloatFormat::General => general(value, precision),
        FloatFormat::Binary => binary(value),
        FloatFormat::Hexadecimal => hexadecimal(value, precision),
    }
}

/// No float has more digits after the point than this: all further digits are zeros. (Rust's formatting accepts no precision above 65,535.)
const DIGITS_MAX: usize = 1_100;

fn plain(value: f64, precision: Option<usize>) -> String {
    let Some(precision) = precision else {
        return format!("{value}");
    };
    let mut written = format!("{value:.*}", precision.min(DIGITS_MAX));
    written.extend(std::iter::repeat_n('0', precision.saturating_sub(DIGITS_MAX)));
    written
}

fn exponent(value: f64, precision: Option<usize>) -> String {
    let written = match precision {
        Some(precision) => format!("{value:.*e}", precision.min(DIGITS_MAX)),
        None => format!("{value:e}"),
    };
    let (mantissa, exponent) = split(&written);
    let zeros = precision.unwrap_or(0).saturating_sub(DIGITS_MAX);
    with_exponent(&format!("{mantissa}{}", "0".repeat(zeros)), exponent)
}

/// Writes `%g`. Here the precision counts all digits, and trailing zeros are removed.
fn general(value: f64, precision: Option<usize>) -> String {
    let precision = precision.map(|precision| precision.clamp(1, DIGITS_MAX));
    let written = match precision {
        Some(precision) => format!("{value:.*e}", precision - 1),
        None => format!("{value:e}"),
    };
    let (mantissa, exponent) = split(&written);
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    let length = |digits: usize| i32::try_from(digits).unwrap_or(i32::MAX);
    // Go counts no digits for zero, and places the point before them.
    let (digits, point) = match value {
        0.0 => (0, 0),
        _ => (length(mantissa.bytes().filter(u8::is_ascii_digit).count()), exponent + 1),
    };
    let limit = match precision.map(length) {
        None => 6,
        Some(precision) if precision > digits && digits >= point => digits,
        Some(precision) => precision,
    };
    if point - 1 < -4 || point > limit {
        return with_exponent(mantissa, exponent);
    }
    let fraction = usize::try_from((digits - point).max(0)).unwrap_or(0);
    plain(value, precision.map(|_| fraction))
}

/// Splits Rust's `1.5e7` into its two parts.
fn split(written: &str) -> (&str, i32) {
    let (mantissa, exponent) = written.split_once('e').unwrap_or((written, "0"));
    (mantissa, exponent.parse().unwrap_or(0))
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// The sign, the mantissa and the exponent. The value is the mantissa times two to the power of the exponent.
fn parts(value: f64) -> (&'static str, u64, i32) {
    let bits = value.to_bits();
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let fraction = bits & ((1 << 52) - 1);
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    if exponent == 0 { (sign, fraction, -1074) } else { (sign, fraction | (1 << 52), exponent - 1075) }
}

fn binary(value: f64) -> String {
    let (sign, mantissa, exponent) = parts(value);
    format!("{sign}{mantissa}p{exponent:+}")
}

fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let (sign, mut mantissa, mut exponent) = parts(value);
    if mantissa == 0 {
        exponent = 0;
    } else {
        // One bit before the point, 52 bits after it.
        let shift = mantissa.leading_zeros().saturating_sub(11);
        mantissa <<= shift;
        exponent = exponent - i32::try_from(shift).unwrap_or(0) + 52;
    }
    if let Some(precision) = precision.filter(|precision| *precision < 13) {
        let dropped = u32::try_from((13 - precision) * 4).unwrap_or(52);
        let (half, rest) = (1_u64 << (dropped - 1), mantissa & ((1 << dropped) - 1));
        mantissa >>= dropped;
        mantissa += u64::from(rest > half || rest == half && mantissa & 1 == 1);
        mantissa <<= dropped;
        if mantissa >= 1 << 53 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let digits = format!("{:013x}", mantissa & ((1 << 52) - 1));
    let digits = match precision {
        None => digits.trim_end_matches('0').to_owned(),
        Some(precision) => digits.chars().chain(std::iter::repeat('0')).take(precision).collect(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}0x{}{point}{digits}p{exponent_sign}{:02}", mantissa >> 52, exponent.unsigned_abs())
}
