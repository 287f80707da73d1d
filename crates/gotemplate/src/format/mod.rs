//! Shows values as Go's package `fmt` does.
//!
//! Values are shown as they are: what the rendering has changed in maps must have been written into them before (see
//! [`Heap::resolve`](crate::heap::Heap::resolve)).

mod directive;
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

/// `value` as `%v` and `print` show it.
pub fn display(value: &Value) -> Text {
    if let Value::Text(text) = value {
        return text.clone();
    }
    let mut output = Vec::new();
    write_display(value, &mut output);
    Text::from(output)
}

/// Appends what [`display`] gives.
pub fn write_display(value: &Value, output: &mut Vec<u8>) {
    if let Value::Text(text) = value {
        return output.extend_from_slice(text.as_bytes());
    }
    Printer::new(output).value(value, 'v');
}

/// Go's `fmt.Sprint`: a blank between two values of which neither is a string.
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

/// Go's `fmt.Sprintln`: blanks between all values, a newline at the end.
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

/// Go's `fmt.Sprintf`, which stops at about `limit` bytes: widths make much of little.
pub(crate) fn sprintf_up_to(limit: usize, format: &Text, values: &[Value]) -> Text {
    let mut output = Vec::with_capacity(format.len());
    directive::print(&mut Printer::up_to(limit, &mut output), format.as_bytes(), values);
    Text::from(output)
}
