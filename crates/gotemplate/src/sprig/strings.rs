//! Functions that cut, trim, search and repeat texts.

use std::collections::HashSet;

use super::arguments::{bytes, charge_text, int, text};
use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::runes::{self, trim_space};
use crate::value::Value;

use Type::{Int, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("abbrev", &[Int, Text], abbrev),
    function("abbrevboth", &[Int, Int, Text], abbrevboth),
    function("contains", &[Text, Text], contains),
    function("hasPrefix", &[Text, Text], |_, args| Ok(Value::Bool(bytes(args, 1)?.starts_with(bytes(args, 0)?)))),
    function("hasSuffix", &[Text, Text], |_, args| Ok(Value::Bool(bytes(args, 1)?.ends_with(bytes(args, 0)?)))),
    function("indent", &[Int, Text], |call, args| indented(call, args, false)),
    function("nindent", &[Int, Text], |call, args| indented(call, args, true)),
    function("nospace", &[Text], nospace),
    function("plural", &[Text, Text, Int], |_, args| {
        Ok(Value::Text(if int(args, 2)? == 1 { text(args, 0)? } else { text(args, 1)? }.clone()))
    }),
    function("repeat", &[Int, Text], repeat),
    function("replace", &[Text, Text, Text], replace),
    function("substr", &[Int, Int, Text], substr),
    function("trim", &[Text], |_, args| Ok(Value::text(trim_space(bytes(args, 0)?)))),
    function("trimAll", &[Text, Text], trim_all),
    function("trimPrefix", &[Text, Text], |_, args| {
        let whole = bytes(args, 1)?;
        Ok(Value::text(whole.strip_prefix(bytes(args, 0)?).unwrap_or(whole)))
    }),
    function("trimSuffix", &[Text, Text], |_, args| {
        let whole = bytes(args, 1)?;
        Ok(Value::text(whole.strip_suffix(bytes(args, 0)?).unwrap_or(whole)))
    }),
    function("trimall", &[Text, Text], trim_all),
    function("trunc", &[Int, Text], trunc),
];

fn abbrev(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let (width, whole) = (int(args, 0)?, bytes(args, 1)?);
    Ok(Value::text(if width < 4 { whole.to_vec() } else { abbreviated(whole, 0, width) }))
}

fn abbrevboth(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let (left, width, whole) = (int(args, 0)?, int(args, 1)?, bytes(args, 2)?);
    let leave = width < 4 || left > 0 && width < 7;
    Ok(Value::text(if leave { whole.to_vec() } else { abbreviated(whole, left, width) }))
}

/// Cuts `whole` to `width` bytes, with `...` at one or both ends. `left` is the index of a byte near the left end of the result.
fn abbreviated(whole: &[u8], left: i64, width: i64) -> Vec<u8> {
    const DOTS: &[u8] = b"...";
    let length = whole.len() as i64;
    if length <= width {
        return whole.to_vec();
    }
    let room = width - DOTS.len() as i64;
    let left = left.min(length);
    let left = if length - left < room { length - room } else { left };
    let part = |from: i64, to: i64| whole.get(from.max(0) as usize..to.max(0) as usize).unwrap_or_default();
    if left <= 4 {
        return [part(0, room), DOTS].concat();
    }
    if width < 7 {
        return Vec::new();
    }
    if left + room < length {
        return [DOTS, &abbreviated(part(left, length), 0, room)].concat();
    }
    [DOTS, part(length - room, length)].concat()
}

fn contains(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    Ok(Value::Bool(find(bytes(args, 1)?, bytes(args, 0)?).is_some()))
}

/// The index of the first occurrence of `pattern` in `text`.
pub(super) fn find(text: &[u8], pattern: &[u8]) -> Option<usize> {
    if pattern.is_empty() {
        return Some(0);
    }
    memchr::memmem::find(text, pattern)
}

fn indented(call: &mut Call<'_>, args: &[Value], on_new_line: bool) -> Result<Value, FunctionError> {
    let (spaces, whole) = (repeat_count(int(args, 0)?)?, text(args, 1)?);
    let lines = 1 + memchr::memchr_iter(b'\n', whole.as_bytes()).count();
    charge_text(call, product(spaces, lines)?.saturating_add(whole.len()))?;
    Ok(Value::Text(indented_lines(whole.as_bytes(), (spaces, on_new_line), lines).into()))
}

fn indented_lines(text: &[u8], (spaces, on_new_line): (usize, bool), lines: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 + text.len() + spaces * lines);
    if on_new_line {
        out.push(b'\n');
    }
    out.resize(out.len() + spaces, b' ');
    let mut start = 0;
    for newline in memchr::memchr_iter(b'\n', text) {
        out.extend_from_slice(text.get(start..=newline).unwrap_or_default());
        out.resize(out.len() + spaces, b' ');
        start = newline + 1;
    }
    out.extend_from_slice(text.get(start..).unwrap_or_default());
    out
}

/// Reads bytes, not characters, like the original. So a text with white space and non-ASCII characters becomes garbled.
fn nospace(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let text = bytes(args, 0)?;
    let kept: Vec<char> = text.iter().map(|&byte| char::from(byte)).filter(|&char| !runes::is_space(char)).collect();
    let unchanged = kept.len() == text.len();
    Ok(if unchanged { Value::text(text) } else { Value::text(kept.into_iter().collect::<String>()) })
}

fn repeat(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let (count, text) = (repeat_count(int(args, 0)?)?, bytes(args, 1)?);
    charge_text(call, product(count, text.len())?)?;
    Ok(Value::text(if text.is_empty() { Vec::new() } else { text.repeat(count) }))
}

fn repeat_count(count: i64) -> Result<usize, FunctionError> {
    usize::try_from(count).map_err(|_| FunctionError::error("strings: negative Repeat count"))
}

fn product(count: usize, length: usize) -> Result<usize, FunctionError> {
    count.checked_mul(length).ok_or_else(|| FunctionError::error("strings: Repeat output length overflow"))
}

fn replace(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let (old, new, whole) = (bytes(args, 0)?, bytes(args, 1)?, bytes(args, 2)?);
    let places: Vec<usize> = if old.is_empty() {
        let ends = runes::runes(whole).scan(0, |at, rune| {
            *at += rune.bytes.len();
            Some(*at)
        });
        std::iter::once(0).chain(ends).collect()
    } else {
        memchr::memmem::find_iter(whole, old).collect()
    };
    if places.is_empty() {
        return Ok(Value::Text(text(args, 2)?.clone()));
    }
    charge_text(call, product(places.len(), new.len())?.saturating_add(whole.len()))?;
    let mut out = Vec::with_capacity(whole.len());
    let mut copied = 0;
    for place in places {
        out.extend_from_slice(whole.get(copied..place).unwrap_or_default());
        out.extend_from_slice(new);
        copied = place + old.len();
    }
    out.extend_from_slice(whole.get(copied..).unwrap_or_default());
    Ok(Value::text(out))
}

fn substr(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let (start, end, text) = (int(args, 0)?, int(args, 1)?, bytes(args, 2)?);
    let length = text.len() as i64;
    if start < 0 {
        return cut(text, 0, end);
    }
    cut(text, start, if end < 0 || end > length { length } else { end })
}

fn trunc(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let (count, whole) = (int(args, 0)?, text(args, 1)?);
    if whole.len() as i64 <= count { Ok(Value::Text(whole.clone())) } else { cut(whole.as_bytes(), 0, count) }
}

/// Go's `text[start:end]`.
fn cut(text: &[u8], start: i64, end: i64) -> Result<Value, FunctionError> {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let part = range.and_then(|(start, end)| text.get(start..end));
    part.map(Value::text).ok_or_else(|| {
        FunctionError::error(format!("slice bounds out of range [{start}:{end}] with length {}", text.len()))
    })
}

fn trim_all(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let unwanted: HashSet<char> = runes::runes(bytes(args, 0)?).map(|rune| rune.char).collect();
    Ok(Value::text(runes::trim(bytes(args, 1)?, |char| unwanted.contains(&char))))
}
