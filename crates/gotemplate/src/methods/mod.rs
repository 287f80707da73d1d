//! The methods that templates can call on values, as in `(toDate "2006-01-02" .day).Year`.

pub(crate) mod times;
mod versions;

use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

/// The method `name` of `value`: a function whose first parameter is the value itself. None if the value has no such method.
pub(crate) fn find(value: &Value, name: &str) -> Option<&'static Function> {
    let methods: &'static [Function] = match value {
        Value::Time(_) => times::METHODS,
        Value::Duration(_) => times::DURATION_METHODS,
        Value::Version(_) => versions::METHODS,
        _ => return None,
    };
    methods.iter().find(|method| method.name == name)
}

const fn method(
    name: &'static str,
    params: &'static [Type],
    body: fn(&mut Call<'_>, &[Value]) -> Result<Value, FunctionError>,
) -> Function {
    Function { name, params, variadic: false, reads_deeply: false, body }
}
