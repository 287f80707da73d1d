//! `html`, `js` and `urlquery`: escape text for other languages.

use crate::format::{self, is_printable};
use crate::function::{Call, FunctionError};
use crate::runes::first_char;
use crate::text::Text;
use crate::value::Value;

pub(super) fn html(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let text = joined(arguments);
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text.as_bytes() {
        match byte {
            0 => escaped.extend_from_slice("\u{fffd}".as_bytes()),
            b'"' => escaped.extend_from_slice(b"&#34;"),
            b'\'' => escaped.extend_from_slice(b"&#39;"),
            b'&' => escaped.extend_from_slice(b"&amp;"),
            b'<' => escaped.extend_from_slice(b"&lt;"),
            b'>' => escaped.extend_from_slice(b"&gt;"),
            other => escaped.push(*other),
        }
    }
    Ok(Value::text(escaped))
}

pub(super) fn js(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let text = joined(arguments);
    let mut escaped = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((character, length)) = first_char(rest) {
        let code = u32::from(character);
        match character {
            '\\' => escaped.extend_from_slice(b"\\\\"),
            '\'' => escaped.extend_from_slice(b"\\'"),
            '"' => escaped.extend_from_slice(b"\\\""),
            '<' | '>' | '&' | '=' => escaped.extend_from_slice(format!("\\u{code:04X}").as_bytes()),
            other if other < ' ' => escaped.extend_from_slice(format!("\\u{code:04X}").as_bytes()),
            other if other.is_ascii() || is_printable(other) => {
                escaped.extend_from_slice(rest.get(..length).unwrap_or_default());
            }
            _ => escaped.extend_from_slice(format!("\\u{code:04X}").as_bytes()),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(Value::text(escaped))
}

pub(super) fn urlquery(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let text = joined(arguments);
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(*byte),
            b' ' => escaped.push(b'+'),
            other => escaped.extend_from_slice(format!("%{other:02X}").as_bytes()),
        }
    }
    Ok(Value::text(escaped))
}

/// The arguments as one text. Nil is written as in an action's output.
fn joined(arguments: &[Value]) -> Text {
    if let [Value::Text(text)] = arguments {
        return text.clone();
    }
    let shown = arguments.iter().map(|value| match value {
        Value::Nil | Value::Missing => Value::text("<no value>"),
        other => other.clone(),
    });
    format::sprint(&shown.collect::<Vec<_>>())
}
