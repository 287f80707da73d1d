//! `toYaml`: a value as YAML text.

use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;
use crate::yaml;

pub(super) const FUNCTION: Function =
    Function { name: "toYaml", params: &[Type::Any], variadic: false, reads_deeply: true, body: to_yaml };

fn to_yaml(call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let value = arguments.first().unwrap_or(&Value::Nil);
    Ok(super::without_newline(yaml::to_yaml_with(value, call.budget)?))
}

#[cfg(test)]
mod tests {
    use super::super::tests::call;
    use crate::value::Value;

    #[test]
    fn a_single_newline_is_taken_off_the_end() {
        assert_eq!(call("toYaml", Value::dict([("a", Value::text("x\n\n"))])), Ok("a: |+\n    x\n".into()));
        assert_eq!(call("toYaml", Value::Nil), Ok("null".into()));
    }
}
