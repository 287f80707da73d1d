//! `fail`, which stops a rendering, and `hello`, which returns a greeting.

use super::arguments::text;
use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[function("fail", &[Type::Text], fail), function("hello", &[], hello)];

fn fail(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    Err(FunctionError::error(text(args, 0)?.to_string()))
}

#[expect(clippy::unnecessary_wraps, reason = "the type of every function that templates call")]
fn hello(_: &mut Call<'_>, _: &[Value]) -> Result<Value, FunctionError> {
    Ok(Value::text("Hello!"))
}
