//! The seam between the executor and the functions that templates call.

use crate::fuel::Fuel;
use crate::heap::Heap;
use crate::value::Value;

/// A function that templates can call.
///
/// The executor checks the number of arguments and converts each to its parameter's Go type by text/template's own
/// rules before it calls `body`, which may rely on that and only has to look at values of [`Type::Any`].
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The name in templates.
    pub name: &'static str,
    /// The parameters' types. The last one repeats if the function is `variadic`.
    pub params: &'static [Type],
    /// Whether the last parameter takes any number of arguments.
    pub variadic: bool,
    /// Whether the function looks into nested maps and lists (to print, compare or encode them): its arguments then carry
    /// this rendering's changes all levels down. Functions that pass maps on or change them need the map itself instead.
    pub reads_deeply: bool,
    /// What it does.
    pub body: fn(&mut Call<'_>, &[Value]) -> Result<Value, Failure>,
}

/// The Go type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `interface {}`: anything, nil too.
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
    /// `map[string]interface {}`; nil gives an empty one.
    Dict,
    /// `[]interface {}`
    List,
    /// `[]string`
    Texts,
    /// `time.Time`
    Time,
}

/// What a function gets besides its arguments.
#[derive(Debug)]
pub struct Call<'a> {
    /// What this rendering has changed in place.
    pub heap: &'a mut Heap,
    /// What this rendering may still spend: a function whose work or result can outgrow its arguments takes its share first.
    pub fuel: &'a mut Fuel,
}

/// Why a function gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Go's function would have returned an error or panicked; the text says why.
    Error(String),
    /// A limit is exhausted: the whole rendering ends.
    Exhausted(crate::fuel::Exhausted),
}

impl Failure {
    /// An error with this text.
    pub fn error(text: impl Into<String>) -> Self {
        Self::Error(text.into())
    }
}

impl From<crate::fuel::Exhausted> for Failure {
    fn from(exhausted: crate::fuel::Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}
