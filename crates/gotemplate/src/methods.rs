//! The methods that templates can call on values, as in `(toDate "2006-01-02" .day).Year`.

use crate::function::Function;
use crate::value::Value;

/// The method `name` of `value`: a function whose first parameter is the value itself. None if the value has no such method.
pub(crate) fn find(value: &Value, name: &str) -> Option<&'static Function> {
    let methods: &'static [Function] = match value {
        Value::Time(_) => crate::time::METHODS,
        Value::Duration(_) => crate::time::DURATION_METHODS,
        Value::Version(_) => crate::semver::METHODS,
        _ => return None,
    };
    methods.iter().find(|method| method.name == name)
}
