//! Executes nodes: text, choices and template calls.

use super::{Eval, Flow, Run, error, stop};
use crate::argument_taints::taint_of;
use crate::parse::tree::{Choice, Node, ROOT_VARIABLE, TemplateCall};
use crate::taint::Taint;
use crate::truth::is_true;
use crate::value::Value;
use crate::{format, nesting};

impl Run<'_> {
    /// Executes the main template.
    pub(super) fn main(&mut self) -> Eval<()> {
        let program = self.program;
        match program.templates.first() {
            Some((_, Some(body))) => self.body(self.data, body).map(|_| ()),
            _ => Ok(()),
        }
    }

    pub(super) fn body(&mut self, dot: &Value, body: &[Node]) -> Eval<Flow> {
        for node in body {
            let before = self.output.bytes.len();
            let flow = self.node(dot, node)?;
            if !self.watched.is_empty() {
                self.watch(before, node);
            }
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn node(&mut self, dot: &Value, node: &Node) -> Eval<Flow> {
        match node {
            Node::Text(range) => {
                let program = self.program;
                self.spend(range.start, 1)?;
                self.budget.output(range.len()).map_err(|exhausted| stop(range.start, exhausted))?;
                self.output.copy(&program.source, &program.tainted_ranges, range.clone());
                Ok(Flow::Next)
            }
            Node::Action(pipeline) => {
                let value = self.pipeline(dot, pipeline)?;
                if pipeline.variables.is_empty() {
                    self.print(pipeline.at, value)?;
                }
                Ok(Flow::Next)
            }
            Node::If(choice) => self.choice(dot, choice, false),
            Node::With(choice) => self.choice(dot, choice, true),
            Node::Range(range) => self.range(dot, range),
            Node::Template(call) => {
                self.template(dot, call)?;
                Ok(Flow::Next)
            }
            Node::Part(part) => self.part_body(dot, &part.0, &part.1),
            Node::Break => Ok(Flow::Break),
            Node::Continue => Ok(Flow::Continue),
        }
    }

    /// Records the positions that write the watched bytes which this node wrote. `before` is the length of the output before the node.
    #[cold]
    fn watch(&mut self, before: usize, node: &Node) {
        let written = before..self.output.bytes.len();
        for watched in &mut self.watched {
            if watched.position.is_none() && written.contains(&watched.byte) {
                watched.position = match node {
                    Node::Text(range) => Some(range.start + (watched.byte - before)),
                    Node::Action(pipeline) => Some(pipeline.at),
                    _ => None,
                };
            }
        }
    }

    fn choice(&mut self, dot: &Value, choice: &Choice, sets_dot: bool) -> Eval<Flow> {
        let mark = self.variables.len();
        let flow = self.choose(dot, choice, sets_dot)?;
        self.variables.truncate(mark);
        Ok(flow)
    }

    fn choose(&mut self, dot: &Value, choice: &Choice, sets_dot: bool) -> Eval<Flow> {
        for (condition, body) in &choice.branches {
            let value = self.pipeline(dot, condition)?;
            if is_true(&value, self.changes) {
                return self.nested_body(condition.at, if sets_dot { &value } else { dot }, body);
            }
        }
        let at = choice.branches.last().map_or(0, |(condition, _)| condition.at);
        self.nested_body(at, dot, &choice.otherwise)
    }

    /// Executes a body, one level deeper.
    pub(super) fn nested_body(&mut self, at: usize, dot: &Value, body: &[Node]) -> Eval<Flow> {
        self.enter(at)?;
        let flow = self.body(dot, body)?;
        self.leave();
        Ok(flow)
    }

    /// Calls a template. It does not see the variables of the caller.
    fn template(&mut self, dot: &Value, call: &TemplateCall) -> Eval<()> {
        let at = call.at;
        let program = self.program;
        self.spend(at, 1)?;
        let Some((name, body)) = program.templates.get(call.id) else {
            return Err(error(at, "template not defined"));
        };
        let Some(body) = body else {
            return Err(error(at, format!("template {:?} not defined", name.to_str())));
        };
        let dot = match &call.argument {
            Some(argument) => self.pipeline(dot, argument)?,
            None => Value::Missing,
        };
        self.enter(at)?;
        let frame = std::mem::replace(&mut self.frame, self.variables.len());
        let mark = self.frame;
        self.variables.push((ROOT_VARIABLE, dot.clone()));
        self.body(&dot, body)?;
        self.variables.truncate(mark);
        self.frame = frame;
        self.leave();
        Ok(())
    }

    /// Writes a value as text.
    fn print(&mut self, at: usize, value: Value) -> Eval<()> {
        let taint = taint_of(&value, self.changes, self.budget).map_err(|exhausted| stop(at, exhausted))?;
        let taint = taint.max(self.changes.taint);
        match value.plain() {
            Value::Missing | Value::Nil => {
                self.note_printed(at);
                self.write(at, b"<no value>", Taint::None)
            }
            Value::Text(text) => self.write(at, text.as_bytes(), taint),
            whole @ (Value::List(_) | Value::Map(_) | Value::Struct(_)) => {
                let whole = nesting::resolve(whole, self.changes, self.budget).map_err(|failure| stop(at, failure))?;
                let text = format::display(&whole);
                self.write(at, text.as_bytes(), taint)
            }
            other => {
                let before = self.output.bytes.len();
                format::write_display(other, &mut self.output.bytes);
                self.output.taint_from(before, taint);
                let written = self.output.bytes.len() - before;
                self.budget.output(written).map_err(|exhausted| stop(at, exhausted))
            }
        }
    }
}
