//! Writes integers in any base with Go's flags.

use super::flags::Flags;
use super::quote::is_printable;

/// An integer of any Go type.
#[derive(Clone, Copy)]
pub(super) struct Integer {
    pub(super) is_negative: bool,
    /// The absolute value.
    pub(super) magnitude: u64,
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Self { is_negative: value < 0, magnitude: value.unsigned_abs() }
    }
}

impl From<u64> for Integer {
    fn from(magnitude: u64) -> Self {
        Self { is_negative: false, magnitude }
    }
}

/// The notation of an integer.
#[derive(Clone, Copy)]
pub(super) struct Notation {
    pub(super) base: u64,
    pub(super) upper: bool,
    /// The verb `%O`, which writes `0o` before octal digits.
    pub(super) octal_prefix: bool,
}

impl Notation {
    pub(super) const DECIMAL: Self = Self { base: 10, upper: false, octal_prefix: false };

    pub(super) fn of_base(base: u64) -> Self {
        Self { base, ..Self::DECIMAL }
    }
}

/// The integer with the sign, leading zeros and prefix that the flags require, without padding.
pub(super) fn written(flags: &Flags, integer: Integer, notation: Notation) -> Vec<u8> {
    let Integer { is_negative, magnitude } = integer;
    if flags.precision == Some(0) && magnitude == 0 {
        // As in Go, the value 0 with precision 0 has no digits.
        return Vec::new();
    }
    let signed = is_negative || flags.plus || flags.space;
    let least = match (flags.precision, flags.width) {
        (Some(precision), _) => precision,
        (None, Some(width)) if flags.zero && !flags.minus => width.saturating_sub(usize::from(signed)),
        _ => 0,
    };
    let mut digits = digits(magnitude, notation);
    while digits.len() < least {
        digits.push(b'0');
    }
    if flags.sharp {
        match notation.base {
            2 => digits.extend_from_slice(b"b0"),
            8 if digits.last() != Some(&b'0') => digits.push(b'0'),
            16 => digits.extend_from_slice(if notation.upper { b"X0" } else { b"x0" }),
            _ => {}
        }
    }
    if notation.octal_prefix {
        digits.extend_from_slice(b"o0");
    }
    if is_negative {
        digits.push(b'-');
    } else if flags.plus {
        digits.push(b'+');
    } else if flags.space {
        digits.push(b' ');
    }
    digits.reverse();
    digits
}

/// `%U`: `U+0041`. With the flag `#`, also the character.
pub(super) fn unicode(flags: &Flags, magnitude: u64) -> String {
    let least = flags.precision.unwrap_or(4).max(4);
    let digits = format!("{magnitude:X}");
    let mut text = format!("U+{}{digits}", "0".repeat(least.saturating_sub(digits.len())));
    let character = u32::try_from(magnitude).ok().and_then(char::from_u32);
    if flags.sharp
        && let Some(character) = character.filter(|character| is_printable(*character))
    {
        text.extend([' ', '\'', character, '\'']);
    }
    text
}

/// The digits in reverse order.
fn digits(mut magnitude: u64, notation: Notation) -> Vec<u8> {
    let letters: &[u8; 16] = if notation.upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let mut digits = Vec::with_capacity(24);
    loop {
        let digit = usize::try_from(magnitude % notation.base).unwrap_or(0);
        digits.extend(letters.get(digit));
        magnitude /= notation.base;
        if magnitude == 0 {
            return digits;
        }
    }
}
