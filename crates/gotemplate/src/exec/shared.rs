//! Executes parts whose results are cached for several renderings.

use super::{Eval, Flow, Run, Sharing};
use crate::parse::tree::{Command, Node, Part};
use crate::shared::{Known, Made, Outcome, Slot, can_be_shared};
use crate::taint::Taint;
use crate::value::{Key, Value};

/// The state of a rendering before a part is computed.
struct Before {
    steps: u64,
    output_bytes: u64,
    bytes: usize,
    stretches: usize,
    has_expressions: bool,
    expressions_asked: u64,
}

impl<'a> Run<'a> {
    /// Executes nodes that are a part.
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

    /// Evaluates commands that are a part.
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

    /// The place of a part in the cache. None if this rendering can't use it: the part reads another field or is inside another part, the rendering has
    /// changed a map, or it searches for the writer of a byte.
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

    /// Whether the cached result is the same as the one that this rendering would compute.
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

    /// Whether the cost and the effects of computing the part are known. A regular expression that was compiled before the part costs nothing, so the
    /// part must not have used one.
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
