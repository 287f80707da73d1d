//! Calls functions and methods.

use super::evaluate::MethodArguments;
use super::{Eval, Run, error, stop};
use crate::function::{Call, Failure, Function, Type};
use crate::nesting;
use crate::parse::tree::{Callee, Operand};
use crate::truth::is_true;
use crate::value::Value;

/// Where a function is called, and with which dot.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) at: usize,
    pub(super) dot: &'a Value,
}

impl Run<'_> {
    /// Calls a function with the written arguments and, behind them, the value that was piped into it.
    pub(super) fn function(&mut self, callee: Callee, site: Site<'_>, written: &[Operand], last: Option<Value>) -> Eval<Value> {
        match callee {
            Callee::Function(function) => self.call(function, None, site, MethodArguments { written, last }),
            Callee::And => self.logic(false, site, written, last),
            Callee::Or => self.logic(true, site, written, last),
        }
    }

    pub(super) fn method(
        &mut self,
        method: &'static Function,
        receiver: Value,
        site: Site<'_>,
        arguments: MethodArguments<'_>,
    ) -> Eval<Value> {
        self.call(method, Some(receiver), site, arguments)
    }

    /// `and` and `or`: the first argument whose truth is `decisive`, else the last. What follows it is not evaluated.
    fn logic(&mut self, decisive: bool, site: Site<'_>, written: &[Operand], last: Option<Value>) -> Eval<Value> {
        if written.is_empty() && last.is_none() {
            let name = if decisive { "or" } else { "and" };
            return Err(error(site.at, format!("wrong number of args for {name}: want at least 1 got 0")));
        }
        let mut value = Value::Nil;
        for operand in written {
            value = self.argument(site.dot, operand, Type::Any)?;
            if is_true(&value, self.heap) == decisive {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    fn call(
        &mut self,
        function: &'static Function,
        receiver: Option<Value>,
        site: Site<'_>,
        arguments: MethodArguments<'_>,
    ) -> Eval<Value> {
        let MethodArguments { written, last } = arguments;
        let bound = usize::from(receiver.is_some());
        let parameters = function.params.get(bound..).unwrap_or_default();
        check_count(function, parameters.len(), site.at, (written.len(), usize::from(last.is_some())))?;
        let base = self.arguments.len();
        self.arguments.extend(receiver);
        let repeated = if function.variadic { parameters.last().copied() } else { None };
        let parameter = |index: usize| parameters.get(index).copied().or(repeated).unwrap_or(Type::Any);
        for (index, operand) in written.iter().enumerate() {
            let argument = self.argument(site.dot, operand, parameter(index))?;
            self.arguments.push(argument);
        }
        if let Some(last) = last {
            let argument = super::arguments::convert(site.at, last, parameter(written.len()))?;
            self.arguments.push(argument);
        }
        if function.reads_deeply {
            self.admit(base).map_err(|failure| stop(site.at, failure))?;
        }
        self.spend(site.at, 1)?;
        let mut call = Call { heap: &mut *self.heap, fuel: &mut *self.fuel };
        let result = (function.body)(&mut call, self.arguments.get(base..).unwrap_or_default());
        self.arguments.truncate(base);
        let result = result.map_err(|failure| match failure {
            Failure::Error(message) => error(site.at, format!("error calling {}: {message}", function.name)),
            exhausted @ Failure::Exhausted(_) => stop(site.at, exhausted),
        })?;
        if let Value::Text(text) = &result {
            self.fuel.output(text.len()).map_err(|exhausted| stop(site.at, exhausted))?;
        }
        Ok(result)
    }

    /// Lets the arguments from `base` on be read all levels down.
    fn admit(&mut self, base: usize) -> Result<(), Failure> {
        for argument in self.arguments.get_mut(base..).unwrap_or_default() {
            if matches!(argument, Value::List(_) | Value::Map(_) | Value::Struct(_)) {
                *argument = nesting::admit(argument, self.heap, self.fuel)?;
            }
        }
        Ok(())
    }
}

/// Whether the number of arguments (written, piped) fits.
fn check_count(function: &Function, parameters: usize, at: usize, (written, piped): (usize, usize)) -> Eval<()> {
    let given = written + piped;
    if function.variadic {
        let least = parameters.saturating_sub(1);
        if given < least {
            let name = function.name;
            return Err(error(at, format!("wrong number of args for {name}: want at least {least} got {given}")));
        }
    } else if given != parameters {
        let name = function.name;
        return Err(error(at, format!("wrong number of args for {name}: want {parameters} got {given}")));
    }
    Ok(())
}
