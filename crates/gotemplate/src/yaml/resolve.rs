//! Determines how a YAML parser reads a plain scalar.

use std::borrow::Cow;

/// Whether YAML 1.1 and 1.2 parsers both read `text` without quotes as text, by the rules of yaml.v3.
pub(super) fn is_text(text: &str) -> bool {
    let Some(first) = text.bytes().next() else { return false };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => !is_word(text),
        b'.' => !(is_special_float(text) || is_dotted_float(text)),
        b'+' | b'-' | b'0'..=b'9' => {
            let digits = without_underscores(text);
            !(is_special_float(text)
                || is_timestamp(text)
                || is_integer(&digits)
                || is_float(&digits)
                || is_base_60(text))
        }
        _ => true,
    }
}

/// Whether the text is null or a boolean of YAML 1.2 or 1.1.
fn is_word(text: &str) -> bool {
    matches!(
        text,
        "~" | "null"
            | "Null"
            | "NULL"
            | "true"
            | "True"
            | "TRUE"
            | "false"
            | "False"
            | "FALSE"
            | "y"
            | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "on"
            | "On"
            | "ON"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "off"
            | "Off"
            | "OFF"
    )
}

fn is_special_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

fn without_underscores(text: &str) -> Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

/// Whether the text is a float that begins with its point. In such floats, underscores must be between digits.
fn is_dotted_float(text: &str) -> bool {
    let mut pieces = text.split('_').peekable();
    while let Some(piece) = pieces.next() {
        if let Some(next) = pieces.peek()
            && !(piece.ends_with(|char: char| char.is_ascii_digit())
                && next.starts_with(|char: char| char.is_ascii_digit()))
        {
            return false;
        }
    }
    is_float(&without_underscores(text))
}

/// Whether the text matches `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?` and is in the range of `float64`.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    unsigned.starts_with(|char: char| char.is_ascii_digit() || char == '.')
        && unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
        && text.parse().is_ok_and(f64::is_finite)
}

/// Whether Go parses the text as an `int64` or `uint64` in base 0. `0b` and `0o` with a sign after them are integers, too.
fn is_integer(text: &str) -> bool {
    for (prefix, base) in [("0b", 2), ("0o", 8)] {
        if let Some(number) = text.strip_prefix(prefix)
            && number.starts_with(['+', '-'])
        {
            return is_in_range(number, base);
        }
    }
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (&text[..1], digits),
        None => ("", text),
    };
    let base = match digits.as_bytes() {
        [b'0', b'b' | b'B', digit, ..] if digit.is_ascii_alphanumeric() => 2,
        [b'0', b'o' | b'O', digit, ..] if digit.is_ascii_alphanumeric() => 8,
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_alphanumeric() => 16,
        [b'0', _, ..] => return is_in_range(text, 8),
        _ => return is_in_range(text, 10),
    };
    is_in_range(&format!("{sign}{}", &digits[2..]), base)
}

/// Whether `text`, digits with an optional sign, is in the range of `int64`, or of `uint64` if it has no sign.
fn is_in_range(text: &str, base: u32) -> bool {
    if text.starts_with(['+', '-']) {
        i64::from_str_radix(text, base).is_ok()
    } else {
        u64::from_str_radix(text, base).is_ok()
    }
}

/// Whether the text matches `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`: sexagesimal numbers of YAML 1.1.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or_default();
    if !first.starts_with(|char: char| char.is_ascii_digit()) || !first.bytes().all(is_digit_or_underscore) {
        return false;
    }
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return false;
    }
    while let Some(part) = parts.next() {
        let whole = match part.split_once('.') {
            Some((whole, fraction)) if parts.peek().is_none() && fraction.bytes().all(is_digit_or_underscore) => whole,
            Some(_) => return false,
            None => part,
        };
        if !matches!(whole.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']) {
            return false;
        }
    }
    true
}

fn is_digit_or_underscore(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'_'
}

/// Whether the text has one of the four date formats of yaml.v3, with the tolerance of Go's `time.Parse`.
fn is_timestamp(text: &str) -> bool {
    let mut rest = text.as_bytes();
    let Some(year) = number(&mut rest, 4..=4) else { return false };
    let date = literal(&mut rest, b"-")
        .and_then(|()| number(&mut rest, 1..=2))
        .and_then(|month| literal(&mut rest, b"-").map(|()| month))
        .and_then(|month| number(&mut rest, 1..=2).map(|day| (month, day)));
    let Some((month, day)) = date else { return false };
    if day < 1 || day > days_in(year, month) {
        return false;
    }
    match rest {
        [] => true,
        [b'T' | b't', time @ ..] => clock(time).is_some_and(is_zone),
        [b' ', ..] => {
            let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
            clock(&rest[blanks..]).is_some_and(<[u8]>::is_empty)
        }
        _ => false,
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 0,
    }
}

/// Parses hours, minutes, seconds and an optional fraction. Returns the rest of the text.
fn clock(mut rest: &[u8]) -> Option<&[u8]> {
    let hour = number(&mut rest, 1..=2)?;
    literal(&mut rest, b":")?;
    let minute = number(&mut rest, 1..=2)?;
    literal(&mut rest, b":")?;
    let second = number(&mut rest, 1..=2)?;
    if let [b'.' | b',', b'0'..=b'9', ..] = rest {
        let digits = rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
        rest = &rest[1 + digits..];
    }
    (hour < 24 && minute < 60 && second < 60).then_some(rest)
}

/// Whether the text is `Z` or an offset such as `+01:00`.
fn is_zone(zone: &[u8]) -> bool {
    match zone {
        b"Z" => true,
        [b'+' | b'-', offset @ ..] => {
            let mut rest = offset;
            let hours = number(&mut rest, 2..=2);
            let minutes = literal(&mut rest, b":").and_then(|()| number(&mut rest, 2..=2));
            rest.is_empty() && hours.is_some_and(|hours| hours <= 24) && minutes.is_some_and(|minutes| minutes <= 60)
        }
        _ => false,
    }
}

fn literal(rest: &mut &[u8], prefix: &[u8]) -> Option<()> {
    *rest = rest.strip_prefix(prefix)?;
    Some(())
}

/// Parses a number with this many digits, and removes it from `rest`.
fn number(rest: &mut &[u8], digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let count = rest.iter().take(*digits.end()).take_while(|byte| byte.is_ascii_digit()).count();
    if count < *digits.start() {
        return None;
    }
    let (number, after) = rest.split_at(count);
    *rest = after;
    Some(number.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}
