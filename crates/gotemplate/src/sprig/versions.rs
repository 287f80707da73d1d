//! Functions on semantic versions.

use super::arguments::text;
use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::semver::{Constraint, Version};
use crate::value::Value;

use Type::Text;

pub(super) const FUNCTIONS: &[Function] = &[
    function("semver", &[Text], |call, args| Ok(Value::Version(version(call, args, 0)?.into()))),
    function("semverCompare", &[Text, Text], semver_compare),
];

fn version(call: &mut Call<'_>, args: &[Value], index: usize) -> Result<Version, FunctionError> {
    let text = text(args, index)?.to_str();
    // Versions are found by regular expressions with many groups, which take long for each byte.
    call.budget.steps(text.len() as u64)?;
    Version::parse(&text).ok_or_else(|| FunctionError::error(format!("Invalid Semantic Version: {text:?}")))
}

fn semver_compare(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let constraint = text(args, 0)?.to_str();
    call.budget.steps(4 * constraint.len() as u64)?;
    let parsed = Constraint::parse(&constraint);
    let parsed = parsed.ok_or_else(|| FunctionError::error(format!("improper constraint: {constraint}")))?;
    Ok(Value::Bool(parsed.accepts(&version(call, args, 1)?)))
}
