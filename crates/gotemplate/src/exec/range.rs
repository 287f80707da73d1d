//! Executes `range`.

use super::{Eval, Flow, Run, error, stop};
use crate::format;
use crate::parse::tree::Loop;
use crate::value::Value;

impl Run<'_> {
    pub(super) fn range(&mut self, dot: &Value, range: &Loop) -> Eval<Flow> {
        let mark = self.variables.len();
        let items = self.pipeline(dot, &range.items)?;
        let tainted_items =
            items.with_item_taints(self.changes, self.budget).map_err(|exhausted| stop(range.items.at, exhausted))?;
        let has_items = self.iterate(tainted_items.as_ref().unwrap_or(&items), range)?;
        // The variables of the pipeline are visible in `otherwise`, too.
        let flow = if has_items { Flow::Next } else { self.nested_body(range.items.at, dot, &range.otherwise)? };
        self.variables.truncate(mark);
        Ok(flow)
    }

    /// Executes the body for every item. Returns `false` if there are no items.
    fn iterate(&mut self, items: &Value, range: &Loop) -> Eval<bool> {
        match items {
            Value::Missing | Value::Nil => Ok(false),
            Value::List(list) => {
                for (index, item) in (0..).zip(list.items()) {
                    if self.round(range, || Value::int(index), item)? == Flow::Break {
                        break;
                    }
                }
                Ok(!list.items().is_empty())
            }
            Value::Map(map) => {
                // Changes that the body makes to the map do not affect this loop: Go sorts the entries before the loop begins.
                let changed = self.changes.changed(map).cloned();
                let entries = changed.as_ref().unwrap_or(map.entries());
                for (key, value) in entries {
                    if self.round(range, || key.to_value(), value)? == Flow::Break {
                        break;
                    }
                }
                Ok(!entries.is_empty())
            }
            Value::Int(count, _) | Value::Duration(count) => {
                self.count(items, u64::try_from(*count).unwrap_or(0), range)
            }
            Value::Uint(count, _) => self.count(items, *count, range),
            other => {
                let shown = format::display(other);
                Err(error(range.items.at, format!("range can't iterate over {}", shown.to_str())))
            }
        }
    }

    /// Executes `range 3`.
    fn count(&mut self, items: &Value, count: u64, range: &Loop) -> Eval<bool> {
        if range.items.variables.len() > 1 {
            let shown = format::display(items);
            let message = format!("can't use {} to iterate over more than one variable", shown.to_str());
            return Err(error(range.items.at, message));
        }
        for number in 0..count {
            if self.round(range, || Value::Missing, &of_same_type(items, number))? == Flow::Break {
                break;
            }
        }
        Ok(count > 0)
    }

    /// Executes the body for one item.
    fn round(&mut self, range: &Loop, index: impl FnOnce() -> Value, item: &Value) -> Eval<Flow> {
        self.spend(range.items.at, 1)?;
        let mark = self.variables.len();
        match (range.items.variables.as_slice(), range.items.assigns) {
            ([], _) => {}
            ([only], true) => self.assign(range.items.at, *only, item.clone())?,
            ([first, second, ..], true) => {
                self.assign(range.items.at, *first, index())?;
                self.assign(range.items.at, *second, item.clone())?;
            }
            ([_], false) => self.set_last(1, item.clone()),
            ([_, _, ..], false) => {
                self.set_last(1, item.clone());
                self.set_last(2, index());
            }
        }
        let flow = self.nested_body(range.items.at, item, &range.body)?;
        self.variables.truncate(mark);
        Ok(flow)
    }

    /// Sets the variable that was declared last (`from_end` is 1), or the one before it (2).
    fn set_last(&mut self, from_end: usize, value: Value) {
        let at = self.variables.len().checked_sub(from_end);
        if let Some((_, variable)) = at.and_then(|at| self.variables.get_mut(at)) {
            *variable = value;
        }
    }
}

/// `number` with the integer type of `model`.
fn of_same_type(model: &Value, number: u64) -> Value {
    match model {
        Value::Uint(_, kind) => Value::Uint(number, *kind),
        Value::Int(_, kind) => Value::Int(number as i64, *kind),
        _ => Value::Duration(number as i64),
    }
}
