//! Functions on semantic versions.

use super::arguments::text;
use super::function;
use crate::function::{Call, Failure, Function, Type};
use crate::semver::{Constraint, Version};
use crate::value::Value;

use Type::Text;

pub(super) const FUNCTIONS: &[Function] = &[
    function("semver", &[Text], |_, args| Ok(Value::Version(version(args, 0)?.into()))),
    function("semverCompare", &[Text, Text], semver_compare),
];

fn version(args: &[Value], index: usize) -> Result<Version, Failure> {
    let text = text(args, index)?.to_str();
    Version::parse(&text).ok_or_else(|| Failure::error(format!("Invalid Semantic Version: {text:?}")))
}

fn semver_compare(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Failure> {
    let constraint = text(args, 0)?.to_str();
    let parsed = Constraint::parse(&constraint);
    let parsed = parsed.ok_or_else(|| Failure::error(format!("improper constraint: {constraint}")))?;
    Ok(Value::Bool(parsed.accepts(&version(args, 1)?)))
}
