//! Base 32 and base 64. If a text can't be decoded, the result is Go's error message with Go's position.

use data_encoding::{BASE32, BASE64};

use super::arguments::{bytes, charge_text};
use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

use Type::Text;

pub(super) const FUNCTIONS: &[Function] = &[
    function("b32dec", &[Text], |call, args| Ok(decoded(decode32(charged_bytes(call, args)?), "base32"))),
    function("b32enc", &[Text], |call, args| Ok(Value::text(BASE32.encode(charged_bytes(call, args)?)))),
    function("b64dec", &[Text], |call, args| Ok(decoded(decode64(charged_bytes(call, args)?), "base64"))),
    function("b64enc", &[Text], |call, args| Ok(Value::text(BASE64.encode(charged_bytes(call, args)?)))),
];

/// The index of the first invalid byte.
type Corrupt = usize;

fn charged_bytes<'a>(call: &mut Call<'_>, args: &'a [Value]) -> Result<&'a [u8], FunctionError> {
    let text = bytes(args, 0)?;
    charge_text(call, text.len().saturating_mul(2))?;
    Ok(text)
}

fn decoded(result: Result<Vec<u8>, Corrupt>, encoding: &str) -> Value {
    match result {
        Ok(bytes) => Value::text(bytes),
        Err(at) => Value::text(format!("illegal {encoding} data at input byte {at}")),
    }
}

/// Appends the complete bytes in `digits`, which have `bits` bits each.
fn unpack(out: &mut Vec<u8>, digits: &[u8], bits: usize) {
    let number = digits.iter().fold(0_u64, |number, &digit| number << bits | u64::from(digit));
    let spare = digits.len() * bits % 8;
    let count = digits.len() * bits / 8;
    let all = (number >> spare).to_be_bytes();
    out.extend_from_slice(all.get(all.len() - count..).unwrap_or_default());
}

fn decode64(text: &[u8]) -> Result<Vec<u8>, Corrupt> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut digits = Vec::with_capacity(4);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'\n' | b'\r' => {}
            b'=' => {
                end64(text, at, digits.len())?;
                unpack(&mut out, &digits, 6);
                return Ok(out);
            }
            _ => digits.push(digit64(byte).ok_or(at)?),
        }
        if digits.len() == 4 {
            unpack(&mut out, &digits, 6);
            digits.clear();
        }
    }
    if digits.is_empty() { Ok(out) } else { Err(text.len() - digits.len()) }
}

/// Checks the first `=`, at index `at` after `digits` digits of its group, and everything after it.
fn end64(text: &[u8], at: usize, digits: usize) -> Result<(), Corrupt> {
    let next = |from: usize| (from..text.len()).find(|&at| !matches!(text.get(at), Some(b'\n' | b'\r')));
    let mut last = at;
    if digits < 2 {
        return Err(at);
    }
    if digits == 2 {
        last = next(at + 1).ok_or(text.len())?;
        if text.get(last) != Some(&b'=') {
            return Err(last - 1);
        }
    }
    next(last + 1).map_or(Ok(()), Err)
}

fn digit64(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

fn decode32(text: &[u8]) -> Result<Vec<u8>, Corrupt> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let mut out = Vec::with_capacity(text.len() / 8 * 5);
    let mut digits = Vec::with_capacity(8);
    for (at, &byte) in text.iter().enumerate() {
        let left = text.len() - at - 1;
        if byte == b'=' && digits.len() >= 2 && left < 8 {
            end32(&text, at, digits.len())?;
            unpack(&mut out, &digits, 5);
            return Ok(out);
        }
        digits.push(digit32(byte).ok_or(at)?);
        if digits.len() == 8 {
            unpack(&mut out, &digits, 5);
            digits.clear();
        }
    }
    if digits.is_empty() { Ok(out) } else { Err(text.len() - digits.len()) }
}

/// Checks the first `=`, at index `at` after `digits` digits of its group, and the rest of the group.
fn end32(text: &[u8], at: usize, digits: usize) -> Result<(), Corrupt> {
    let rest = text.get(at + 1..).unwrap_or_default();
    let missing = 7 - digits;
    if rest.len() < missing {
        return Err(text.len());
    }
    if let Some(wrong) = rest.iter().take(missing).position(|&byte| byte != b'=') {
        return Err(at + wrong);
    }
    if matches!(digits, 3 | 6) { Err(at) } else { Ok(()) }
}

fn digit32(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'2'..=b'7' => Some(byte - b'2' + 26),
        _ => None,
    }
}
