//! Writes values as YAML that people can read: block style, keys in a fixed order, quotes around every text that is not a plain word.

use std::fmt::Write as _;
use std::sync::Arc;

use model::yaml::{Resolved, resolve_plain};

/// A value of a state file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(Arc<str>),
    Number(u64),
    Bool(bool),
    List(Vec<Value>),
    Fields(Vec<(Arc<str>, Value)>),
}

impl Value {
    /// A text.
    pub(super) fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// Fields in this order, without those that have no value.
    pub(super) fn fields<const N: usize>(fields: [(&str, Option<Self>); N]) -> Self {
        let present = fields.into_iter().filter_map(|(key, value)| Some((Arc::from(key), value?)));
        Self::Fields(present.collect())
    }

    /// A list of these values. None if there are none.
    pub(super) fn list<T>(items: &[T], value: impl Fn(&T) -> Self) -> Option<Self> {
        (!items.is_empty()).then(|| Self::List(items.iter().map(value).collect()))
    }

    /// A file with this value.
    pub(super) fn written(&self) -> String {
        let mut text = String::new();
        match self {
            Self::Fields(fields) if !fields.is_empty() => write_fields(&mut text, fields, 0),
            _ => write_inline(&mut text, self),
        }
        text
    }
}

fn write_fields(text: &mut String, fields: &[(Arc<str>, Value)], column: usize) {
    for (position, (key, value)) in fields.iter().enumerate() {
        if position > 0 {
            text.extend(std::iter::repeat_n(' ', column));
        }
        write_scalar(text, key);
        text.push(':');
        match value {
            Value::Fields(fields) if !fields.is_empty() => {
                new_line(text, column + 2);
                write_fields(text, fields, column + 2);
            }
            Value::List(items) if !items.is_empty() => {
                for item in items {
                    new_line(text, column + 2);
                    text.push_str("- ");
                    write_item(text, item, column + 4);
                    text.pop();
                }
                text.push('\n');
            }
            _ => {
                text.push(' ');
                write_inline(text, value);
            }
        }
    }
}

fn write_item(text: &mut String, item: &Value, column: usize) {
    match item {
        Value::Fields(fields) if !fields.is_empty() => write_fields(text, fields, column),
        _ => write_inline(text, item),
    }
}

/// Writes a value without children, and a line break.
fn write_inline(text: &mut String, value: &Value) {
    match value {
        Value::Text(content) => write_scalar(text, content),
        Value::Number(number) => text.push_str(&number.to_string()),
        Value::Bool(value) => text.push_str(&value.to_string()),
        Value::List(_) => text.push_str("[]"),
        Value::Fields(_) => text.push_str("{}"),
    }
    text.push('\n');
}

fn new_line(text: &mut String, column: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', column));
}

/// Writes a text in quotes, unless it is a word that every reader of YAML takes as a text.
fn write_scalar(text: &mut String, content: &str) {
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
