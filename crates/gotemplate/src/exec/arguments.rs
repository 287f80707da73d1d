//! Converts arguments to the types of the parameters.

use super::number::untyped_number;
use super::{Eval, Run, Stop, error};
use crate::function::Type;
use crate::parse::tree::{Operand, Term};
use crate::types::{parameter_name, type_name};
use crate::value::{IntKind, MapKind, Value};

impl Run<'_> {
    /// The value of an argument. A constant gets the type of the parameter if possible.
    pub(super) fn argument(&mut self, dot: &Value, operand: &Operand, parameter: Type) -> Eval<Value> {
        let at = operand.at;
        match &operand.term {
            Term::Nil => {
                nil(parameter).ok_or_else(|| error(at, format!("cannot assign nil to {}", parameter_name(parameter))))
            }
            Term::Constant(value) => match (parameter, value) {
                (Type::Any, _) | (Type::Text, Value::Text(_)) | (Type::Bool, Value::Bool(_)) => Ok(value.clone()),
                _ => Err(wrong_constant(at, parameter)),
            },
            Term::Number(number) => match (parameter, number.int, number.float) {
                (Type::Any, _, _) => untyped_number(at, number),
                (Type::Int, Some(int), _) => Ok(Value::int(int)),
                (Type::Int64, Some(int), _) => Ok(Value::int64(int)),
                (Type::Float, _, Some(float)) => Ok(Value::Float(float)),
                _ => Err(wrong_constant(at, parameter)),
            },
            _ => {
                let value = self.operand(dot, operand)?;
                convert(at, value, parameter)
            }
        }
    }
}

fn wrong_constant(at: usize, parameter: Type) -> Stop {
    error(at, format!("this constant can't be used as an argument of type {}", parameter_name(parameter)))
}

/// Checks that `value` fits the parameter. Nothing is converted, but a missing value becomes the nil of the parameter's type, if that type has one.
pub(super) fn convert(at: usize, value: Value, parameter: Type) -> Eval<Value> {
    if fits(value.plain(), parameter) { Ok(value) } else { nil_or_error(at, value.plain(), parameter) }
}

fn fits(value: &Value, parameter: Type) -> bool {
    match (value, parameter) {
        (Value::Missing, _) => false,
        (_, Type::Any)
        | (Value::Text(_), Type::Text)
        | (Value::Bool(_), Type::Bool)
        | (Value::Int(_, IntKind::Int), Type::Int)
        | (Value::Int(_, IntKind::Int64), Type::Int64)
        | (Value::Float(_), Type::Float)
        | (Value::Time(_), Type::Time) => true,
        (Value::Map(map), Type::Dict) => map.kind == MapKind::TextToAny,
        _ => false,
    }
}

#[cold]
fn nil_or_error(at: usize, value: &Value, parameter: Type) -> Eval<Value> {
    let expected = parameter_name(parameter);
    if matches!(value, Value::Missing) {
        return nil(parameter).ok_or_else(|| error(at, format!("invalid value; expected {expected}")));
    }
    let found = if matches!(value, Value::Nil) { "interface {}" } else { type_name(value) };
    Err(error(at, format!("wrong type for value; expected {expected}; got {found}")))
}

/// The nil value of a type. None if the type has no nil.
fn nil(parameter: Type) -> Option<Value> {
    match parameter {
        Type::Any => Some(Value::Nil),
        Type::Dict => Some(Value::nil_dict()),
        Type::Text | Type::Bool | Type::Int | Type::Int64 | Type::Float | Type::Time => None,
    }
}
