//! Values as YAML text, byte for byte as Go's gopkg.in/yaml.v3 3.0.1 writes them with its indentation of four spaces.
//!
//! Quirks of yaml.v3 included: keys in natural order, lists in lists indented by two, YAML 1.1 booleans quoted, code
//! points outside the Basic Multilingual Plane escaped, and two that lose information when they are read back: the
//! first newline of a text that begins with one, and the indentation hint of such a text inside a list.

mod emitter;
mod order;
mod resolve;
mod scalar;

#[cfg(test)]
mod tests;

use crate::fuel::{Fuel, Limits};
use crate::function::Failure;
use crate::value::{Entries, Value};

/// `value` as a YAML document that ends in a newline.
///
/// # Errors
///
/// Values that yaml.v3 can't write either (complex numbers), and values beyond the default [`Limits`] of a rendering or
/// nested deeper than [`NESTING_MAX`].
pub fn to_yaml(value: &Value) -> Result<Vec<u8>, Failure> {
    to_yaml_with(value, &mut Fuel::new(Limits::default()))
}

/// [`to_yaml`] at the expense of `fuel`: one step for a value, and the bytes of the text.
pub(crate) fn to_yaml_with(value: &Value, fuel: &mut Fuel) -> Result<Vec<u8>, Failure> {
    emitter::emit(value, fuel)
}

/// The map with these entries, where lists and maps directly inside it become texts that hold their YAML.
pub(crate) fn to_yaml_of_texts(entries: &Entries, fuel: &mut Fuel) -> Result<Vec<u8>, Failure> {
    emitter::emit_texts(entries, fuel)
}

/// How deep lists and maps may be nested: far more than configuration ever needs, and little enough for the stack.
pub const NESTING_MAX: u32 = 200;
