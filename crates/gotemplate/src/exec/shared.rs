//! Executes parts that other renderings have too: takes what they have made.

use super::{Eval, Flow, Run, Sharing};
use crate::parse::tree::{Command, Node, Part};
use crate::shared::{Known, Made, Outcome, Slot, can_be_shared};
use crate::taint::Taint;
use crate::value::{Key, Value};

/// How things stand before a part is made.
struct Before {
    steps: u64,
    output_bytes: u64,
    bytes: usize,
    stretches: usize,
    has_expressions: bool,
    expressions_asked: u64,
}

impl<'a> Run<'a> {
    /// Nodes that are a part.
    pub(super) fn shared_body(&mut self, dot: &Value, part: &Part, body: &[Node]) -> Eval<Flow> {
        let Some(slot) = self.slot(part) else { return self.body(dot, body) };
        match slot.known() {
            Known::Made(made) if self.can_take(made) => {
                if let Outcome::Text(text) = &made.result {
                    self.pay(made);
                    self.output.write(text, Taint::None);
                    return Ok(Flow::Next);
                }
            }
            Known::Nothing => {
                let before = self.before();
                let flow = self.inside(|run| run.body(dot, body))?;
                let written = self.output.bytes.get(before.bytes..).unwrap_or_default();
                if flow == Flow::Next && self.output.stretches.len() == before.stretches && self.can_keep(&before) {
                    self.keep((slot, &before), || Outcome::Text(written.into()), written.len());
                }
                return Ok(flow);
            }
            _ => {}
        }
        self.body(dot, body)
    }

    /// The value of commands that are a part.
    pub(super) fn shared_value(&mut self, dot: &Value, part: &Part, commands: &[Command]) -> Eval<Value> {
        let Some(slot) = self.slot(part) else { return self.commands(dot, commands, None) };
        match slot.known() {
            Known::Made(made) if self.can_take(made) => {
                if let Outcome::Value(value) = &made.result {
                    self.pay(made);
                    return Ok(value.clone());
                }
            }
            Known::Nothing => {
                let before = self.before();
                let value = self.inside(|run| run.commands(dot, commands, None))?;
                if can_be_shared(&value) && self.can_keep(&before) {
                    let bytes = if let Value::Text(text) = &value { text.len() } else { 0 };
                    self.keep((slot, &before), || Outcome::Value(value.clone()), bytes);
                }
                return Ok(value);
            }
            _ => {}
        }
        self.commands(dot, commands, None)
    }

    /// The place of a part, if this rendering can share it: as long as it has changed nothing, and is asked for no byte's writer.
    fn slot(&self, part: &Part) -> Option<&'a Slot> {
        let Sharing { shared, slots, is_inside } = self.sharing?;
        let is_of_field = matches!(&part.field, Key::Text(name) if name.as_bytes() == shared.field().as_bytes());
        let can_share = is_of_field && !is_inside && self.watched.is_none() && self.heap.is_unchanged();
        slots.get(part.slot).filter(|_| can_share)
    }

    fn inside<T>(&mut self, make: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        let sharing = self.sharing;
        self.sharing = sharing.map(|sharing| Sharing { is_inside: true, ..sharing });
        let made = make(self);
        self.sharing = sharing;
        made
    }

    /// Whether what others have made is just what this rendering would make.
    fn can_take(&self, made: &Made) -> bool {
        let is_known = |(pattern, _): &(Box<[u8]>, _)| self.heap.expressions.contains_key(pattern);
        made.fits(self.depth, self.fuel) && !made.expressions.iter().any(is_known)
    }

    fn pay(&mut self, made: &Made) {
        self.fuel.pay(made.steps, made.output_bytes);
        self.heap.expressions.extend(made.expressions.iter().cloned());
    }

    fn before(&self) -> Before {
        let (steps, output_bytes) = self.fuel.left();
        Before {
            steps,
            output_bytes,
            bytes: self.output.bytes.len(),
            stretches: self.output.stretches.len(),
            has_expressions: !self.heap.expressions.is_empty(),
            expressions_asked: self.heap.expressions_asked,
        }
    }

    /// Whether all that making the part took and did is known. An expression that was compiled before it costs nothing, so it must not have asked for one.
    fn can_keep(&self, before: &Before) -> bool {
        let has_asked = self.heap.expressions_asked != before.expressions_asked;
        self.heap.is_unchanged() && !(has_asked && before.has_expressions)
    }

    fn keep(&self, (slot, before): (&Slot, &Before), result: impl FnOnce() -> Outcome, bytes: usize) {
        let (steps_left, output_left) = self.fuel.left();
        let (steps, output_bytes) = (before.steps - steps_left, before.output_bytes - output_left);
        let compiled = self.heap.expressions.iter().filter(|_| !before.has_expressions);
        let expressions = || compiled.map(|(pattern, expression)| (pattern.clone(), expression.clone())).collect();
        let made = || Made { result: result(), steps, output_bytes, depth: self.depth, expressions: expressions() };
        slot.keep(made, (steps, bytes));
    }
}
