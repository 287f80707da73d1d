//! Formats values as Go's package `fmt` does.
//!
//! Values are formatted as they are. Changes that the rendering has made to maps must be applied before, with
//! [`MapChanges::resolve`](crate::map_changes::MapChanges::resolve).

mod directive;
mod flags;
mod float;
mod integer;
mod printer;
mod quote;
#[cfg(test)]
mod tests;

use crate::text::Text;
use crate::value::Value;
use printer::Printer;

pub use float::{FloatFormat, format_float};
pub use quote::{is_printable, quote, quote_rune};

/// Formats `value` like `%v` and `print`.
pub fn display(value: &Value) -> Text {
    if let Value::Text(text) = value {
        return text.clone();
    }
    let mut output = Vec::new();
    write_display(value, &mut output);
    Text::from(output)
}

/// Appends the result of [`display`] to `output`.
pub fn write_display(value: &Value, output: &mut Vec<u8>) {
    if let Value::Text(text) = value {
        return output.extend_from_slice(text.as_bytes());
    }
    Printer::new(output).value(value, 'v');
}

/// Go's `fmt.Sprint`. Adds a blank between two values if neither is a string.
pub fn sprint(values: &[Value]) -> Text {
    let mut output = Vec::new();
    let mut after_text = true;
    for value in values {
        let is_text = matches!(value, Value::Text(_));
        if !is_text && !after_text {
            output.push(b' ');
        }
        write_display(value, &mut output);
        after_text = is_text;
    }
    Text::from(output)
}

/// Go's `fmt.Sprintln`. Adds blanks between all values, and a newline at the end.
pub fn sprintln(values: &[Value]) -> Text {
    let mut output = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            output.push(b' ');
        }
        write_display(value, &mut output);
    }
    output.push(b'\n');
    Text::from(output)
}

/// Go's `fmt.Sprintf`.
pub fn sprintf(format: &Text, values: &[Value]) -> Text {
    sprintf_up_to(usize::MAX, format, values)
}

/// Go's `fmt.Sprintf`, but stops at about `limit` bytes: short formats with large widths can have very long results.
pub(crate) fn sprintf_up_to(limit: usize, format: &Text, values: &[Value]) -> Text {
    let mut output = Vec::with_capacity(format.len());
    directive::print(&mut Printer::up_to(limit, &mut output), format.as_bytes(), values);
    Text::from(output)
}
