//! Executes parts whose results are cached for several renderings.

use super::{CacheAccess, Eval, Flow, Run};
use crate::parse::tree::{Command, Node, Part};
use crate::part_cache::{CachedResult, Lookup, PartResult, Slot, can_be_shared};
use crate::taint::{CachedText, Taint};
use crate::value::{Key, Value};

/// The state of a rendering before a part is computed.
struct Checkpoint<'a> {
    /// The place of the part in the cache.
    slot: &'a Slot,
    steps: u64,
    output_bytes: u64,
    bytes: usize,
    tainted_ranges: usize,
    has_expressions: bool,
    expression_lookups: u64,
    missing_prints: usize,
}

impl<'a> Run<'a> {
    /// Executes nodes that are a part.
    pub(super) fn part_body(&mut self, dot: &Value, part: &Part, body: &[Node]) -> Eval<Flow> {
        let Some(slot) = self.slot(part) else { return self.body(dot, body) };
        match slot.look_up() {
            Lookup::Found(cached) if self.is_valid(cached) => {
                if let PartResult::Text(text) = &cached.result {
                    self.charge(cached);
                    let start = self.output.bytes.len();
                    self.output.write(&text.bytes, Taint::None);
                    self.output.note_shared(start, slot.long_text());
                    return Ok(Flow::Next);
                }
            }
            Lookup::Missing => {
                let checkpoint = self.checkpoint(slot);
                let flow = self.without_nested_parts(|run| run.body(dot, body))?;
                let written = self.output.bytes.get(checkpoint.bytes..).unwrap_or_default();
                if flow == Flow::Next
                    && self.output.tainted_ranges.len() == checkpoint.tainted_ranges
                    && self.can_store(&checkpoint)
                {
                    self.store(&checkpoint, || PartResult::Text(CachedText::new(written)), written.len());
                    self.output.note_shared(checkpoint.bytes, slot.long_text());
                }
                return Ok(flow);
            }
            _ => {}
        }
        self.body(dot, body)
    }

    /// Evaluates commands that are a part.
    pub(super) fn part_value(&mut self, dot: &Value, part: &Part, commands: &[Command]) -> Eval<Value> {
        let Some(slot) = self.slot(part) else { return self.commands(dot, commands, None) };
        match slot.look_up() {
            Lookup::Found(cached) if self.is_valid(cached) => {
                if let PartResult::Value(value) = &cached.result {
                    self.charge(cached);
                    return Ok(value.clone());
                }
            }
            Lookup::Missing => {
                let checkpoint = self.checkpoint(slot);
                let value = self.without_nested_parts(|run| run.commands(dot, commands, None))?;
                if can_be_shared(&value) && self.can_store(&checkpoint) {
                    let bytes = if let Value::Text(text) = &value { text.len() } else { 0 };
                    self.store(&checkpoint, || PartResult::Value(value.clone()), bytes);
                }
                return Ok(value);
            }
            _ => {}
        }
        self.commands(dot, commands, None)
    }

    /// The place of a part in the cache. None if this rendering can't use it: the part reads another field or is inside another part, the rendering has
    /// changed a map, or it searches for the position that writes a byte.
    fn slot(&self, part: &Part) -> Option<&'a Slot> {
        let CacheAccess { cache, slots, is_in_part } = self.cache_access?;
        let is_of_field = matches!(&part.field, Key::Text(name) if name.as_bytes() == cache.field().as_bytes());
        let can_share = is_of_field && !is_in_part && self.watched.is_empty() && self.changes.is_unchanged();
        slots.get(part.slot).filter(|_| can_share)
    }

    fn without_nested_parts<T>(&mut self, make: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        let cache_access = self.cache_access;
        self.cache_access = cache_access.map(|cache_access| CacheAccess { is_in_part: true, ..cache_access });
        let result = make(self);
        self.cache_access = cache_access;
        result
    }

    /// Whether the cached result is the same as the one that this rendering would compute.
    fn is_valid(&self, cached: &CachedResult) -> bool {
        let is_compiled = |(pattern, _): &(Box<[u8]>, _)| self.changes.expressions.contains_key(pattern);
        cached.fits(self.depth, self.budget) && !cached.expressions.iter().any(is_compiled)
    }

    fn charge(&mut self, cached: &CachedResult) {
        self.budget.spend_up_to(cached.steps, cached.output_bytes);
        self.changes.expressions.extend(cached.expressions.iter().cloned());
    }

    fn checkpoint<'s>(&self, slot: &'s Slot) -> Checkpoint<'s> {
        let (steps, output_bytes) = self.budget.left();
        Checkpoint {
            slot,
            steps,
            output_bytes,
            bytes: self.output.bytes.len(),
            tainted_ranges: self.output.tainted_ranges.len(),
            has_expressions: !self.changes.expressions.is_empty(),
            expression_lookups: self.changes.expression_lookups,
            missing_prints: self.missing_prints(),
        }
    }

    /// Whether the cost and the effects of computing the part are known. An expression that was compiled before the part costs nothing. So if there are
    /// such expressions, the part must not have looked up any. Each rendering records the missing values that it prints.
    fn can_store(&self, checkpoint: &Checkpoint<'_>) -> bool {
        let has_looked_up = self.changes.expression_lookups != checkpoint.expression_lookups;
        let is_complete = self.missing_prints() == checkpoint.missing_prints;
        is_complete && self.changes.is_unchanged() && !(has_looked_up && checkpoint.has_expressions)
    }

    /// Stores a result that has `bytes` bytes, if it is a text.
    fn store(&self, checkpoint: &Checkpoint<'_>, result: impl FnOnce() -> PartResult, bytes: usize) {
        let (steps_left, output_left) = self.budget.left();
        let (steps, output_bytes) = (checkpoint.steps - steps_left, checkpoint.output_bytes - output_left);
        let compiled = self.changes.expressions.iter().filter(|_| !checkpoint.has_expressions);
        let expressions = || compiled.map(|(pattern, expression)| (pattern.clone(), expression.clone())).collect();
        let cached =
            || CachedResult { result: result(), steps, output_bytes, depth: self.depth, expressions: expressions() };
        checkpoint.slot.store(cached, (steps, bytes));
    }
}
