//! Writes values as YAML that people can read: block style, fields in the order of their types, quotes around every text that is not a plain word.

use std::borrow::Cow;
use std::fmt::Write as _;

use model::yaml::{Resolved, resolve_plain};
use serde_json::{Map, Value};

use super::FLATTEN;

/// The text of a file with this value.
pub(super) fn written(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value, Place { column: 0, is_after_key: false });
    text
}

/// Where a value is written.
#[derive(Clone, Copy)]
struct Place {
    /// The column of its entries.
    column: usize,
    /// Whether it is after a key. Otherwise, its line begins with it.
    is_after_key: bool,
}

fn write_value(text: &mut String, value: &Value, place: Place) {
    let fields = value.as_object().map(entries).unwrap_or_default();
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    let column = place.column + 2;
    for (position, (key, value)) in fields.iter().enumerate() {
        begin_entry(text, position, place);
        write_text(text, key);
        text.push(':');
        write_value(text, value, Place { column, is_after_key: true });
    }
    for (position, item) in items.iter().enumerate() {
        begin_entry(text, position, place);
        text.push_str("- ");
        write_value(text, item, Place { column, is_after_key: false });
    }
    if fields.is_empty() && items.is_empty() {
        text.push_str(if place.is_after_key { " " } else { "" });
        match value {
            Value::String(content) => write_text(text, content),
            Value::Object(_) => text.push_str("{}"),
            _ => text.push_str(&value.to_string()),
        }
        text.push('\n');
    }
}

fn begin_entry(text: &mut String, position: usize, Place { column, is_after_key }: Place) {
    if position == 0 && is_after_key {
        text.push('\n');
    }
    if position > 0 || is_after_key {
        text.extend(std::iter::repeat_n(' ', column));
    }
}

/// The fields that a mapping has, with flattened ones.
fn entries(fields: &Map<String, Value>) -> Vec<(&str, Cow<'_, Value>)> {
    let mut found = Vec::new();
    for (key, value) in fields {
        match value {
            Value::Null => {}
            Value::Object(inner) if key == FLATTEN => found.extend(entries(inner)),
            Value::String(variant) if key == FLATTEN => {
                found.extend(variant.split_once(": ").map(|(key, word)| (key, Cow::Owned(word.into()))));
            }
            _ => found.push((key.as_str(), Cow::Borrowed(value))),
        }
    }
    found
}

/// Writes a text in quotes, unless it is a word that every reader of YAML takes as a text.
fn write_text(text: &mut String, content: &str) {
    let is_plain = content.starts_with(|c: char| c.is_ascii_alphabetic())
        && content.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
        && matches!(resolve_plain(content), Resolved::Text(_))
        && !["inf", "nan", "infinity"].contains(&content.to_ascii_lowercase().as_str());
    if is_plain {
        text.push_str(content);
        return;
    }
    text.push('"');
    for character in content.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            _ if character.is_control() => {
                let _ = write!(text, "\\x{:02x}", u32::from(character));
            }
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            _ => text.push(character),
        }
    }
    text.push('"');
}
