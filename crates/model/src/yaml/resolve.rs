//! Resolves the type of a scalar, by the rules of Go's `gopkg.in/yaml.v2`.
//!
//! These are the rules of YAML 1.1 with differences: `y` and `off` are booleans, `012` is ten, `0o17` is fifteen, `089` is a float,
//! `1_000` is a thousand, `1:30` and dates are texts. Kubernetes reads objects by the same rules.

use std::borrow::Cow;

use super::{Scalar, ScalarStyle, Tag};

/// A scalar with its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved<'a> {
    /// Null: `~`, `null`, or a missing value.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer too large for [`Resolved::Int`].
    Uint(u64),
    /// A number with a fraction or an exponent, or too large for [`Resolved::Uint`].
    Float(f64),
    /// Anything else.
    Text(Cow<'a, str>),
}

impl Resolved<'_> {
    /// The type in words, for messages.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Uint(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a text",
        }
    }
}

impl Scalar {
    /// The scalar with its type.
    /// Quoted and block scalars are texts, unless a tag sets another type. If the content contradicts the tag, the scalar is a text (the reader has
    /// reported the problem).
    pub fn resolve(&self) -> Resolved<'_> {
        resolve_tagged(self).unwrap_or(Resolved::Text(Cow::Borrowed(&self.text)))
    }
}

/// The type of `text` as a plain scalar without a tag.
pub fn resolve_plain(text: &str) -> Resolved<'_> {
    let named = match text.as_bytes().first() {
        None => return Resolved::Null,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => word(text),
        Some(b'.') => word(text).or_else(|| float_after_dot(text)),
        Some(b'+' | b'-' | b'0'..=b'9') => word(text).or_else(|| number(text)),
        Some(_) => None,
    };
    named.unwrap_or(Resolved::Text(Cow::Borrowed(text)))
}

/// The scalar with its type. None if the content contradicts the tag.
pub(super) fn resolve_tagged(scalar: &Scalar) -> Option<Resolved<'_>> {
    let text = || Some(Resolved::Text(Cow::Borrowed(&*scalar.text)));
    match (scalar.tag, resolve_plain(&scalar.text)) {
        (None, plain) if scalar.style == ScalarStyle::Plain => Some(plain),
        (None | Some(Tag::Text | Tag::Timestamp | Tag::Merge | Tag::Unknown), _) => text(),
        (Some(Tag::Null), Resolved::Null) => Some(Resolved::Null),
        (Some(Tag::Bool), bool @ Resolved::Bool(_)) => Some(bool),
        (Some(Tag::Int), int @ (Resolved::Int(_) | Resolved::Uint(_))) => Some(int),
        (Some(Tag::Float), float @ Resolved::Float(_)) => Some(float),
        (Some(Tag::Float), Resolved::Int(int)) => Some(Resolved::Float(int as f64)),
        (Some(_), _) => None,
    }
}

fn word(text: &str) -> Option<Resolved<'static>> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Resolved::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Resolved::Bool(false),
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Resolved::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Resolved::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// A number that begins with a dot, by Go's `strconv.ParseFloat`, which allows an underscore between two digits.
fn float_after_dot(text: &str) -> Option<Resolved<'static>> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let misplaced = |at: usize| !digit(at.checked_sub(1)) || !digit(Some(at + 1));
    if bytes.iter().enumerate().any(|(at, &byte)| byte == b'_' && misplaced(at)) {
        return None;
    }
    decimal(&without_underscores(text))
}

fn number(text: &str) -> Option<Resolved<'static>> {
    let plain = without_underscores(text);
    whole(&plain).or_else(|| decimal(&plain)).or_else(|| binary_after_sign(&plain))
}

/// An integer, by Go's `strconv.ParseInt` with base 0, then `ParseUint`, which allows no sign.
fn whole(text: &str) -> Option<Resolved<'static>> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (Some(true), text.get(1..)?),
        b'+' => (Some(false), text.get(1..)?),
        _ => (None, text),
    };
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    // Rust's parsers allow another sign after the prefix, Go's do not.
    if !digits.as_bytes().first()?.is_ascii_alphanumeric() {
        return None;
    }
    let size = u64::from_str_radix(digits, base).ok()?;
    match (sign, i64::try_from(size)) {
        (Some(true), _) => 0i64.checked_sub_unsigned(size).map(Resolved::Int),
        (_, Ok(int)) => Some(Resolved::Int(int)),
        (None, Err(_)) => Some(Resolved::Uint(size)),
        (Some(false), Err(_)) => None,
    }
}

/// A finite decimal number: `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn decimal(text: &str) -> Option<Resolved<'static>> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let shaped = digits(before)
        && digits(after)
        && !(before.is_empty() && after.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent));
    let value: f64 = if shaped { text.parse().ok()? } else { return None };
    value.is_finite().then_some(Resolved::Float(value))
}

/// `yaml.v2` parses the text after `0b` as a separate number, so it allows a sign there.
fn binary_after_sign(text: &str) -> Option<Resolved<'static>> {
    i64::from_str_radix(text.strip_prefix("0b")?, 2).ok().map(Resolved::Int)
}

fn without_underscores(text: &str) -> Cow<'_, str> {
    if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Resolved<'_>) {
        assert_eq!(resolve_plain(text), expected, "{text:?}");
    }

    fn text(text: &str) -> Resolved<'_> {
        Resolved::Text(Cow::Borrowed(text))
    }

    #[test]
    fn words_of_yaml_1_1_are_booleans_in_three_spellings() {
        for yes in ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"] {
            check(yes, Resolved::Bool(true));
        }
        for no in ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"] {
            check(no, Resolved::Bool(false));
        }
        for other in ["yEs", "oN", "tRUE", "nO", "yes ", "nope"] {
            check(other, text(other));
        }
    }

    #[test]
    fn null_has_five_spellings() {
        for null in ["", "~", "null", "Null", "NULL"] {
            check(null, Resolved::Null);
        }
        check("nULL", text("nULL"));
    }

    #[test]
    fn whole_numbers_have_prefixes_signs_and_underscores() {
        for (number, value) in [
            ("0", 0),
            ("012", 10),
            ("-012", -10),
            ("0o17", 15),
            ("0b101", 5),
            ("-0b101", -5),
            ("0b-101", -5),
            ("0x1F", 31),
            ("+7", 7),
            ("1_000", 1000),
            ("0_1_0", 8),
            ("1__0_", 10),
            ("-9223372036854775808", i64::MIN),
        ] {
            check(number, Resolved::Int(value));
        }
    }

    #[test]
    fn overflowing_integers_become_unsigned_then_floats() {
        check("9223372036854775808", Resolved::Uint(1 << 63));
        check("18446744073709551615", Resolved::Uint(u64::MAX));
        check("18446744073709551616", Resolved::Float(18_446_744_073_709_551_616.0));
        check("+9223372036854775808", Resolved::Float(9_223_372_036_854_775_808.0));
    }

    #[test]
    fn floats_are_decimal_and_finite() {
        for (number, value) in [
            ("089", 89.0),
            ("1_2.3", 12.3),
            ("1.", 1.0),
            ("1.0", 1.0),
            ("1e3", 1000.0),
            ("-1.5E-2", -0.015),
            (".5", 0.5),
            (".5_0", 0.5),
        ] {
            check(number, Resolved::Float(value));
        }
        check("-.Inf", Resolved::Float(f64::NEG_INFINITY));
        assert!(matches!(resolve_plain(".nan"), Resolved::Float(value) if value.is_nan()));
    }

    #[test]
    fn number_like_texts_stay_texts() {
        for other in [
            "1:30",
            "2024-01-15",
            "=",
            "<<",
            "-",
            "+",
            ".",
            "0x",
            "0o8",
            "1e",
            "1e400",
            "0x1.8p1",
            "._5",
            ".5_",
            "+-1",
            "0x-1",
            "--1",
            "_1",
            "1.2.3",
            "v1",
            "inf",
            "NaN",
            "0b-",
            "١",
        ] {
            check(other, text(other));
        }
    }

    #[test]
    fn quotes_make_texts_and_tags_decide() {
        let scalar = |style, tag| Scalar { text: "1".into(), style, tag };
        assert_eq!(scalar(ScalarStyle::Plain, None).resolve(), Resolved::Int(1));
        assert_eq!(scalar(ScalarStyle::SingleQuoted, None).resolve(), text("1"));
        assert_eq!(scalar(ScalarStyle::Plain, Some(Tag::Text)).resolve(), text("1"));
        assert_eq!(scalar(ScalarStyle::DoubleQuoted, Some(Tag::Int)).resolve(), Resolved::Int(1));
        assert_eq!(scalar(ScalarStyle::Plain, Some(Tag::Float)).resolve(), Resolved::Float(1.0));
        assert_eq!(resolve_tagged(&scalar(ScalarStyle::Plain, Some(Tag::Bool))), None);
    }
}
