//! The built-in functions of text/template. (`and` and `or` are in the executor, because they do not evaluate all their arguments.)

#![allow(clippy::unnecessary_wraps, reason = "the type of every function that templates call")]

mod compare;
mod escape;
mod index;

use crate::format;
use crate::function::{Call, Function, FunctionError, Type};
use crate::truth::is_true;
use crate::types::type_name;
use crate::value::Value;

/// The functions, each with its name.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function { body: call, variadic: true, ..function("call", &[Type::Any, Type::Any]) },
    Function { body: compare::eq, variadic: true, ..function("eq", &[Type::Any, Type::Any]) },
    Function { body: compare::ge, ..function("ge", &[Type::Any, Type::Any]) },
    Function { body: compare::gt, ..function("gt", &[Type::Any, Type::Any]) },
    Function { body: escape::html, variadic: true, reads_deeply: true, ..function("html", &[Type::Any]) },
    Function { body: index::index, variadic: true, ..function("index", &[Type::Any, Type::Any]) },
    Function { body: escape::js, variadic: true, reads_deeply: true, ..function("js", &[Type::Any]) },
    Function { body: compare::le, ..function("le", &[Type::Any, Type::Any]) },
    Function { body: index::len, ..function("len", &[Type::Any]) },
    Function { body: compare::lt, ..function("lt", &[Type::Any, Type::Any]) },
    Function { body: compare::ne, ..function("ne", &[Type::Any, Type::Any]) },
    Function { body: not, ..function("not", &[Type::Any]) },
    Function { body: print, variadic: true, reads_deeply: true, ..function("print", &[Type::Any]) },
    Function { body: printf, variadic: true, reads_deeply: true, ..function("printf", &[Type::Text, Type::Any]) },
    Function { body: println, variadic: true, reads_deeply: true, ..function("println", &[Type::Any]) },
    Function { body: escape::urlquery, variadic: true, reads_deeply: true, ..function("urlquery", &[Type::Any]) },
];

const fn function(name: &'static str, params: &'static [Type]) -> Function {
    Function { name, params, variadic: false, reads_deeply: false, body: not }
}

fn not(call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let value = arguments.first().unwrap_or(&Value::Nil);
    Ok(Value::Bool(!is_true(value, call.changes)))
}

/// Always returns an error: templates have no values that are functions.
fn call(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    match arguments.first() {
        None | Some(Value::Nil | Value::Missing) => Err(FunctionError::error("call of nil")),
        Some(other) => Err(FunctionError::Error(format!("non-function of type {}", type_name(other)))),
    }
}

fn print(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    Ok(Value::Text(format::sprint(arguments)))
}

fn println(_call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    Ok(Value::Text(format::sprintln(arguments)))
}

fn printf(call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let [Value::Text(format), values @ ..] = arguments else {
        return Err(FunctionError::error("the format is not a text"));
    };
    Ok(Value::Text(format::sprintf_up_to(call.budget.output_left(), format, values)))
}
