//! Writes values as YAML text. The text is byte for byte the same as that of Go's gopkg.in/yaml.v3 3.0.1 with an indentation of four spaces.
//!
//! This includes the special behaviour of yaml.v3:
//!
//! - Keys are in natural order.
//! - Lists in lists are indented by two.
//! - YAML 1.1 booleans are quoted.
//! - Code points outside the Basic Multilingual Plane are escaped.
//! - If a text begins with a newline, this newline is lost when the YAML is read back. In a list, the indentation hint of such a text is lost, too.

mod emitter;
mod order;
mod resolve;
mod scalar;

#[cfg(test)]
mod tests;

use crate::budget::{Budget, RenderLimits};
use crate::function::FunctionError;
use crate::value::{Entries, Value};

/// Writes `value` as a YAML document that ends with a newline.
///
/// # Errors
///
/// Returns an error for complex numbers, which yaml.v3 can't write either, for values beyond the default [`RenderLimits`] of a rendering, and for values
/// that are nested deeper than [`NESTING_MAX`].
pub fn to_yaml(value: &Value) -> Result<Vec<u8>, FunctionError> {
    to_yaml_with(value, &mut Budget::new(RenderLimits::default()))
}

/// Like [`to_yaml`], and charges `budget`: one step for each value, and the bytes of the text.
pub(crate) fn to_yaml_with(value: &Value, budget: &mut Budget) -> Result<Vec<u8>, FunctionError> {
    emitter::emit(value, budget)
}

/// Writes the map with these entries. Lists and maps directly inside it become texts that contain their YAML.
pub(crate) fn to_yaml_of_texts(entries: &Entries, budget: &mut Budget) -> Result<Vec<u8>, FunctionError> {
    emitter::emit_texts(entries, budget)
}

/// How deep lists and maps can be nested: far deeper than configurations are, and shallow enough for the stack.
pub const NESTING_MAX: u32 = 200;
