//! Evaluates pipelines, operands, variables and fields.

use super::{Eval, Run, error};
use crate::methods;
use crate::parse::tree::{Command, Field, Number, Operand, Pipeline, Term, VariableId};
use crate::types::type_name;
use crate::value::{Key, Value};

impl Run<'_> {
    /// The value of a pipeline, which its variables get too.
    pub(super) fn pipeline(&mut self, dot: &Value, pipeline: &Pipeline) -> Eval<Value> {
        let mut value = None;
        for command in &pipeline.commands {
            let result = self.command(dot, command, value.take())?;
            // A nil interface is unpacked, and nothing is in it.
            value = Some(if matches!(result, Value::Nil) { Value::Missing } else { result });
        }
        let value = value.unwrap_or(Value::Missing);
        for variable in &pipeline.variables {
            if pipeline.assigns {
                self.assign(pipeline.at, *variable, value.clone())?;
            } else {
                self.variables.push((*variable, value.clone()));
            }
        }
        Ok(value)
    }

    /// The value of a command; `last` is the value of the command before it, its last argument.
    fn command(&mut self, dot: &Value, command: &Command, last: Option<Value>) -> Eval<Value> {
        let Operand { at, term } = &command.first;
        self.spend(*at, 1)?;
        let has_arguments = !command.arguments.is_empty() || last.is_some();
        match term {
            Term::Function(callee) => self.function(*callee, super::call::Site { at: *at, dot }, &command.arguments, last),
            Term::Nil => Err(error(*at, "nil is not a command")),
            Term::Field(path) if has_arguments => {
                let arguments = MethodArguments { written: &command.arguments, last };
                self.chain(dot, dot.clone(), path, arguments)
            }
            Term::Variable(variable, path) if has_arguments && !path.is_empty() => {
                let receiver = self.variable(*at, *variable)?;
                self.chain(dot, receiver, path, MethodArguments { written: &command.arguments, last })
            }
            Term::Chain(receiver, path) if has_arguments => {
                let receiver = self.operand(dot, receiver)?;
                self.chain(dot, receiver, path, MethodArguments { written: &command.arguments, last })
            }
            _ if has_arguments => Err(error(*at, "can't give argument to non-function")),
            _ => self.operand(dot, &command.first),
        }
    }

    /// The value of a term that stands alone.
    pub(super) fn operand(&mut self, dot: &Value, operand: &Operand) -> Eval<Value> {
        let Operand { at, term } = operand;
        match term {
            Term::Dot => Ok(dot.clone()),
            Term::Nil => Ok(Value::Nil),
            Term::Constant(value) => Ok(value.clone()),
            Term::Number(number) => ideal(*at, number),
            Term::Field(path) => self.chain(dot, dot.clone(), path, MethodArguments::none()),
            Term::Variable(variable, path) => {
                let receiver = self.variable(*at, *variable)?;
                self.chain(dot, receiver, path, MethodArguments::none())
            }
            Term::Function(callee) => self.function(*callee, super::call::Site { at: *at, dot }, &[], None),
            Term::Pipeline(pipeline) => {
                self.enter(*at)?;
                let value = self.pipeline(dot, pipeline)?;
                self.leave();
                Ok(value)
            }
            Term::Chain(receiver, path) => {
                let receiver = self.operand(dot, receiver)?;
                self.chain(dot, receiver, path, MethodArguments::none())
            }
        }
    }

    pub(super) fn assign(&mut self, at: usize, variable: VariableId, value: Value) -> Eval<()> {
        let visible = self.variables.get_mut(self.frame..).unwrap_or_default();
        match visible.iter_mut().rfind(|(number, _)| *number == variable) {
            Some((_, old)) => {
                *old = value;
                Ok(())
            }
            None => Err(error(at, "undefined variable")),
        }
    }

    fn variable(&self, at: usize, variable: VariableId) -> Eval<Value> {
        let visible = self.variables.get(self.frame..).unwrap_or_default();
        let found = visible.iter().rfind(|(number, _)| *number == variable);
        found.map(|(_, value)| value.clone()).ok_or_else(|| error(at, "undefined variable"))
    }

    /// Looks up fields one in the other. Only the last may be a method with arguments.
    fn chain(&mut self, dot: &Value, receiver: Value, path: &[Field], mut arguments: MethodArguments<'_>) -> Eval<Value> {
        let mut value = receiver;
        for (index, field) in path.iter().enumerate() {
            let here = if index + 1 == path.len() { arguments.take() } else { MethodArguments::none() };
            value = self.field(dot, value, field, here)?;
        }
        Ok(value)
    }

    fn field(&mut self, dot: &Value, receiver: Value, field: &Field, arguments: MethodArguments<'_>) -> Eval<Value> {
        let shown = || match &field.name {
            Key::Text(name) => name.to_str().into_owned(),
            _ => String::new(),
        };
        match &receiver {
            Value::Missing => return Ok(Value::Missing),
            Value::Nil => {
                return Err(error(field.at, format!("nil pointer evaluating interface {{}}.{}", shown())));
            }
            Value::Map(map) if arguments.is_none() => {
                return Ok(self.heap.entries(map).get(&field.name).cloned().unwrap_or(Value::Missing));
            }
            Value::Map(_) => {
                return Err(error(field.at, format!("{} is not a method but has arguments", shown())));
            }
            Value::Struct(fields) => {
                let name = shown();
                let found = fields.fields.iter().find(|(field, _)| *field == name);
                return match found {
                    Some(_) if !arguments.is_none() => {
                        Err(error(field.at, format!("{name} has arguments but cannot be invoked as function")))
                    }
                    Some((_, value)) => Ok(value.clone()),
                    None => Err(error(field.at, format!("can't evaluate field {name} in type {}", fields.type_name))),
                };
            }
            _ => {}
        }
        let name = shown();
        let Some(method) = methods::find(&receiver, &name) else {
            let type_name = type_name(&receiver);
            return Err(error(field.at, format!("can't evaluate field {name} in type {type_name}")));
        };
        self.method(method, receiver, super::call::Site { at: field.at, dot }, arguments)
    }
}

/// What a method gets besides its receiver.
pub(super) struct MethodArguments<'a> {
    pub(super) written: &'a [Operand],
    pub(super) last: Option<Value>,
}

impl MethodArguments<'_> {
    fn none() -> Self {
        Self { written: &[], last: None }
    }

    fn is_none(&self) -> bool {
        self.written.is_empty() && self.last.is_none()
    }

    fn take(&mut self) -> Self {
        Self { written: std::mem::take(&mut self.written), last: self.last.take() }
    }
}

/// The value of a number where nothing says which type it should have: its notation decides.
pub(super) fn ideal(at: usize, number: &Number) -> Eval<Value> {
    match *number {
        Number { complex: Some((real, imaginary)), .. } => Ok(Value::Complex(real, imaginary)),
        Number { looks_like_float: true, float: Some(float), .. } => Ok(Value::Float(float)),
        Number { int: Some(int), .. } => Ok(Value::int(int)),
        _ => Err(error(at, "the number overflows int")),
    }
}
