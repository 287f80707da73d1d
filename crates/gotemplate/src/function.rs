//! The interface between the executor and the functions that templates call.

use crate::budget::Budget;
use crate::map_changes::MapChanges;
use crate::value::Value;

/// A function that templates can call.
///
/// Before it calls `body`, the executor checks the number of arguments. It also converts each argument to the Go type of its parameter, by the rules
/// of text/template. So `body` only has to check values of [`Type::Any`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// The name in templates.
    pub(crate) name: &'static str,
    /// The types of the parameters. The last one repeats if the function is `variadic`.
    pub(crate) params: &'static [Type],
    /// Whether the last parameter takes any number of arguments.
    pub(crate) variadic: bool,
    /// Whether the function reads nested maps and lists, to print, compare or encode them. Its arguments then include the changes of this rendering
    /// at all levels. Functions that return or change maps get the map itself.
    pub(crate) reads_deeply: bool,
    /// The implementation.
    pub(crate) body: fn(&mut Call<'_>, &[Value]) -> Result<Value, FunctionError>,
}

/// The Go type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// `interface {}`: any value, nil included.
    Any,
    /// `string`
    Text,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `int64`
    Int64,
    /// `float64`
    Float,
    /// `map[string]interface {}`. Nil becomes an empty map.
    Dict,
    /// `time.Time`
    Time,
}

/// The state of the rendering that a function can use.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// The changes that this rendering has made to maps in place.
    pub(crate) changes: &'a mut MapChanges,
    /// What is left of the limits. A function whose work or result can be larger than its arguments charges for it first.
    pub(crate) budget: &'a mut Budget,
}

/// The reason why a function returned no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionError {
    /// Go's function would return an error or panic. The text is the reason.
    Error(String),
    /// A limit is reached. The whole rendering ends.
    Exhausted(crate::budget::Exhausted),
}

impl FunctionError {
    /// An error with this text.
    pub fn error(text: impl Into<String>) -> Self {
        Self::Error(text.into())
    }
}

impl From<crate::budget::Exhausted> for FunctionError {
    fn from(exhausted: crate::budget::Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}
