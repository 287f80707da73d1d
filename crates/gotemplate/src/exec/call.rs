//! Calls functions and methods.

use super::arguments::convert;
use super::{Eval, Run, Stop, error, stop};
use crate::argument_taints::{self, ArgumentTaints};
use crate::function::{Call, Function, FunctionError, Type};
use crate::names::Callee;
use crate::nesting;
use crate::parse::tree::Operand;
use crate::taint::Taint;
use crate::truth::is_true;
use crate::value::Value;

/// The arguments of a function or method.
pub(super) struct Arguments<'a> {
    /// The dot, to evaluate the arguments in `written`.
    pub(super) dot: &'a Value,
    /// The value whose method is called. It is the first argument.
    pub(super) receiver: Option<Value>,
    /// The arguments after the function's name in the template.
    pub(super) written: &'a [Operand],
    /// The value of the previous command in the pipeline. It is the last argument.
    pub(super) last: Option<Value>,
}

impl<'a> Arguments<'a> {
    pub(super) fn none(dot: &'a Value) -> Self {
        Self { dot, receiver: None, written: &[], last: None }
    }

    /// Whether there are no arguments, apart from the receiver.
    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty() && self.last.is_none()
    }

    fn count(&self) -> usize {
        self.written.len() + usize::from(self.last.is_some())
    }
}

impl Run<'_> {
    pub(super) fn function(&mut self, at: usize, callee: Callee, arguments: Arguments<'_>) -> Eval<Value> {
        match callee {
            Callee::Function(function) => self.call(at, function, arguments),
            Callee::And => self.logic(at, false, arguments),
            Callee::Or => self.logic(at, true, arguments),
        }
    }

    /// `and` and `or`: returns the first argument whose truth is `decisive`, or the last argument. Arguments after it are not evaluated.
    fn logic(&mut self, at: usize, decisive: bool, arguments: Arguments<'_>) -> Eval<Value> {
        if arguments.is_empty() {
            let name = if decisive { "or" } else { "and" };
            return Err(error(at, format!("wrong number of args for {name}: want at least 1 got 0")));
        }
        let mut value = Value::Nil;
        for operand in arguments.written {
            value = self.argument(arguments.dot, operand, Type::Any)?;
            if is_true(&value, self.changes) == decisive {
                return Ok(value);
            }
        }
        Ok(arguments.last.unwrap_or(value))
    }

    pub(super) fn call(&mut self, at: usize, function: &Function, arguments: Arguments<'_>) -> Eval<Value> {
        let bound = usize::from(arguments.receiver.is_some());
        let parameters = Parameters { types: function.params.get(bound..).unwrap_or_default(), function };
        if !parameters.accept(arguments.count()) {
            return Err(error(at, parameters.mismatch(arguments.count())));
        }
        let base = self.arguments.len();
        // The value of the command before was looked up before this call.
        let is_missing = matches!(arguments.last, Some(Value::Missing));
        let lookups = self.missing_count().wrapping_sub(usize::from(is_missing));
        let mut hidden = self.changes.taint;
        if let Some(receiver) = arguments.receiver {
            hidden = hidden.max(self.push(receiver));
        }
        for (index, operand) in arguments.written.iter().enumerate() {
            let argument = self.argument(arguments.dot, operand, parameters.at(index))?;
            hidden = hidden.max(self.push(argument));
        }
        if let Some(last) = arguments.last {
            let argument = convert(at, last, parameters.at(arguments.written.len()))?;
            hidden = hidden.max(self.push(argument));
        }
        self.spend(at, 1)?;
        if self.missing_count() != lookups {
            self.note_written(at, function, base);
        }
        let result = self.execute(function, base, hidden);
        self.arguments.truncate(base);
        result.map_err(|failure| failed(at, function, failure))
    }

    /// Adds an argument without its taint wrapper to `self.arguments`. Returns the taint that the argument then no longer carries.
    #[inline]
    fn push(&mut self, argument: Value) -> Taint {
        let (argument, hidden) = argument.without_taint();
        self.arguments.push(argument);
        hidden
    }

    /// The taints of the arguments from index `base` on.
    fn taints(&mut self, base: usize, hidden: Taint) -> Result<ArgumentTaints, FunctionError> {
        let mut taints = ArgumentTaints { all: hidden, hidden, has_container: false };
        for argument in self.arguments.get(base..).unwrap_or_default() {
            taints.all = taints.all.max(argument_taints::taint_of(argument, self.changes, self.budget)?);
            taints.has_container |= matches!(argument, Value::List(_) | Value::Map(_) | Value::Struct(_));
        }
        Ok(taints)
    }

    /// Executes the function with the arguments from index `base` on.
    fn execute(&mut self, function: &Function, base: usize, hidden: Taint) -> Result<Value, FunctionError> {
        let taints = self.taints(base, hidden)?;
        let arguments = self.arguments.get_mut(base..).unwrap_or_default();
        if function.reads_deeply {
            for argument in &mut *arguments {
                if matches!(argument, Value::List(_) | Value::Map(_) | Value::Struct(_)) {
                    *argument = nesting::resolve(argument, self.changes, self.budget)?;
                }
            }
        }
        // Functions read their texts, so these cost steps: a short result can need megabytes of text.
        let bytes = |argument: &Value| if let Value::Text(text) = argument { text.len() as u64 } else { 0 };
        self.budget.steps(arguments.iter().map(bytes).sum::<u64>() / 64)?;
        let mut call = Call { changes: &mut *self.changes, budget: &mut *self.budget };
        let result = (function.body)(&mut call, arguments)?;
        if let Value::Text(text) = &result {
            self.budget.output(text.len())?;
        }
        taints.record_changes(function.name, self.changes);
        Ok(taints.taint(function.name, result))
    }
}

/// The parameters of a function without the receiver.
struct Parameters<'a> {
    types: &'static [Type],
    function: &'a Function,
}

impl Parameters<'_> {
    fn at(&self, index: usize) -> Type {
        let repeated = if self.function.variadic { self.types.last() } else { None };
        self.types.get(index).or(repeated).copied().unwrap_or(Type::Any)
    }

    /// The number of arguments. For a variadic function, the lowest number.
    fn least(&self) -> usize {
        if self.function.variadic { self.types.len().saturating_sub(1) } else { self.types.len() }
    }

    fn accept(&self, count: usize) -> bool {
        count == self.least() || (count > self.least() && self.function.variadic)
    }

    #[cold]
    fn mismatch(&self, count: usize) -> String {
        let (name, least) = (self.function.name, self.least());
        let at_least = if self.function.variadic { "at least " } else { "" };
        format!("wrong number of args for {name}: want {at_least}{least} got {count}")
    }
}

#[cold]
fn failed(at: usize, function: &Function, failure: FunctionError) -> Stop {
    match failure {
        FunctionError::Error(message) => error(at, format!("error calling {}: {message}", function.name)),
        exhausted @ FunctionError::Exhausted(_) => stop(at, exhausted),
    }
}
