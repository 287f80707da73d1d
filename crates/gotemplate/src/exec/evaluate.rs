//! Evaluates pipelines, operands and variables.

use super::call::Arguments;
use super::number::untyped_number;
use super::{Eval, Run, error};
use crate::parse::tree::{Command, Operand, Pipeline, Term, VariableId};
use crate::value::Value;

impl Run<'_> {
    /// Evaluates a pipeline. Assigns its value to its variables, too.
    pub(super) fn pipeline(&mut self, dot: &Value, pipeline: &Pipeline) -> Eval<Value> {
        let value = match &pipeline.cached_prefix {
            None => self.commands(dot, &pipeline.commands, None)?,
            Some(prefix) => {
                let (begin, rest) = pipeline.commands.split_at_checked(prefix.commands).unwrap_or_default();
                let value = self.part_value(dot, &prefix.part, begin)?;
                self.commands(dot, rest, Some(value))?
            }
        };
        for variable in &pipeline.variables {
            if pipeline.assigns {
                self.assign(pipeline.at, *variable, value.clone())?;
            } else {
                self.variables.push((*variable, value.clone()));
            }
        }
        Ok(value)
    }

    /// Evaluates commands. `last`, if there is one, is the last argument of the first command.
    pub(super) fn commands(&mut self, dot: &Value, commands: &[Command], last: Option<Value>) -> Eval<Value> {
        let Some((end, before)) = commands.split_last() else { return Ok(last.unwrap_or(Value::Missing)) };
        let mut last = last;
        for command in before {
            last = Some(unpacked(self.command(dot, command, last)?));
        }
        self.command(dot, end, last).map(unpacked)
    }

    /// Evaluates a command. `last` is the value of the command before it, and becomes its last argument.
    fn command(&mut self, dot: &Value, command: &Command, last: Option<Value>) -> Eval<Value> {
        let Operand { at, term } = &command.first;
        self.spend(*at, 1)?;
        if matches!(term, Term::Nil) {
            return Err(error(*at, "nil is not a command"));
        }
        if command.arguments.is_empty() && last.is_none() {
            return self.operand(dot, &command.first);
        }
        let arguments = Arguments { dot, receiver: None, written: &command.arguments, last };
        match term {
            Term::Function(callee) => self.function(*at, *callee, arguments),
            Term::Field(path) => self.fields(dot, path, arguments),
            Term::Variable(variable, path) if !path.is_empty() => {
                let receiver = self.variable(*at, *variable)?.clone();
                self.fields(&receiver, path, arguments)
            }
            Term::Chain(receiver, path) => {
                let receiver = self.operand(dot, receiver)?;
                self.fields(&receiver, path, arguments)
            }
            _ => Err(error(*at, "can't give argument to non-function")),
        }
    }

    /// Evaluates a term without arguments.
    pub(super) fn operand(&mut self, dot: &Value, operand: &Operand) -> Eval<Value> {
        let Operand { at, term } = operand;
        match term {
            Term::Dot => Ok(dot.clone()),
            Term::Nil => Ok(Value::Nil),
            Term::Constant(value) => Ok(value.clone()),
            Term::Number(number) => untyped_number(*at, number),
            Term::Field(path) => self.fields(dot, path, Arguments::none(dot)),
            Term::Variable(variable, path) if path.is_empty() => self.variable(*at, *variable).cloned(),
            Term::Variable(variable, path) => {
                let scope = (&*self.changes, self.requires_keys);
                let reached = super::fields::reach(scope, self.variable(*at, *variable)?, path)?;
                let (value, rest) = self.noted(path, reached);
                self.fields(&value, rest, Arguments::none(dot))
            }
            Term::Function(callee) => self.function(*at, *callee, Arguments::none(dot)),
            Term::Pipeline(pipeline) => {
                self.enter(*at)?;
                let value = self.pipeline(dot, pipeline)?;
                self.leave();
                Ok(value)
            }
            Term::Chain(receiver, path) => {
                let receiver = self.operand(dot, receiver)?;
                self.fields(&receiver, path, Arguments::none(dot))
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

    fn variable(&self, at: usize, variable: VariableId) -> Eval<&Value> {
        let visible = self.variables.get(self.frame..).unwrap_or_default();
        let found = visible.iter().rfind(|(number, _)| *number == variable);
        found.map(|(_, value)| value).ok_or_else(|| error(at, "undefined variable"))
    }
}

/// A nil interface as `reflect` unpacks it: the zero `reflect.Value`.
fn unpacked(value: Value) -> Value {
    if matches!(value, Value::Nil) { Value::Missing } else { value }
}
