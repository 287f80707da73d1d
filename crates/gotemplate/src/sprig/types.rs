//! Functions that return or check the type of a value.

use super::arguments::{any, text};
use super::function;
use crate::function::{Function, FunctionError, Type};
use crate::types::{kind_name, type_name};
use crate::value::Value;

use Type::{Any, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("kindIs", &[Text, Any], |_, args| is(args, kind_name)),
    function("kindOf", &[Any], |_, args| Ok(Value::text(kind_name(any(args, 0))))),
    function("typeIs", &[Text, Any], |_, args| is(args, type_name)),
    function("typeIsLike", &[Text, Any], |_, args| {
        let (expected, name) = (text(args, 0)?.as_bytes(), type_name(any(args, 1)));
        Ok(Value::Bool(expected == name.as_bytes() || expected == name.trim_start_matches('*').as_bytes()))
    }),
    function("typeOf", &[Any], |_, args| Ok(Value::text(type_name(any(args, 0))))),
];

fn is(args: &[Value], name: fn(&Value) -> &'static str) -> Result<Value, FunctionError> {
    Ok(Value::Bool(text(args, 0)?.as_bytes() == name(any(args, 1)).as_bytes()))
}
