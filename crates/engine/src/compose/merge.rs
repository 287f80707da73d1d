//! Merges values like Microsoft's Kalypso, with its bugs fixed.
//!
//! Mappings are merged key by key. An item of a later list is merged into the items of the earlier list that have the same scalar
//! `name`. An item without such a counterpart is appended. Every other value replaces the earlier value.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use gotemplate::value::{Entries, Key, List, Map, Value};

use crate::compose::record::Sink;
use crate::settings::Strategy;

/// The maximum number of entries and items that are visited for one assignment's values. Usual values need some thousands. Lists whose
/// items all have the same name need the product of their lengths.
pub(crate) const STEPS_MAX: usize = 2_000_000;

/// The number of items whose name can be read at the cost of one step. Reading a name is fast and allocates nothing.
const NAMES_PER_STEP: usize = 16;

/// Merges values with one strategy.
pub(crate) struct Merge<'a, S> {
    /// The strategy for lists and mappings.
    pub(crate) strategy: Strategy,
    /// Receives an event for each value that is set or replaced.
    pub(crate) sink: &'a mut S,
    /// The number of entries and items that may still be visited. At 0, values are not changed any more.
    pub(crate) steps_left: &'a mut usize,
}

impl<S: Sink> Merge<'_, S> {
    /// Merges `later` into `value`.
    pub(crate) fn merge(&mut self, value: &mut Value, later: &Value) {
        match (&mut *value, later) {
            (Value::Map(old), Value::Map(new)) if self.strategy != Strategy::Replace => {
                self.merge_entries(Arc::make_mut(old).entries_mut(), new);
            }
            (Value::List(old), Value::List(new)) if self.strategy != Strategy::Replace => {
                self.merge_items(Arc::make_mut(old).items_mut(), new);
            }
            _ => {
                self.sink.replaced(later);
                *value = later.clone();
            }
        }
    }

    fn merge_entries(&mut self, entries: &mut Entries, new: &Map) {
        for (key, value) in new.entries() {
            if !self.step(1) {
                return;
            }
            self.sink.enter_key(key);
            if let Some(old) = entries.get_mut(key) {
                self.merge(old, value);
            } else {
                self.sink.placed(value);
                entries.insert(key.clone(), value.clone());
            }
            self.sink.leave();
        }
    }

    fn merge_items(&mut self, items: &mut Vec<Value>, new: &List) {
        let mut by_name = self.positions_by_name(items, new);
        for (source, item) in new.items().iter().enumerate() {
            if !self.step(1) {
                return;
            }
            let name = self.name(item);
            let same = name.as_ref().and_then(|name| by_name.get(name)).cloned().unwrap_or_default();
            if same.is_empty() {
                if let Some(found) = name.and_then(|name| by_name.get_mut(&name)) {
                    found.push(items.len());
                }
                self.sink.enter_item(items.len(), source);
                self.sink.placed(item);
                self.sink.leave();
                items.push(item.clone());
            }
            for position in same {
                if !self.step(1) {
                    return;
                }
                self.sink.enter_item(position, source);
                self.merge(&mut items[position], item);
                self.sink.leave();
            }
        }
    }

    /// The positions of the items whose name is also the name of an item of `new`.
    fn positions_by_name(&mut self, items: &[Value], new: &List) -> Positions {
        let mut positions = Positions::from_names(new.items().iter().filter_map(|item| self.name(item)));
        if positions.is_empty() || !self.step(items.len() / NAMES_PER_STEP) {
            return positions;
        }
        for (position, item) in items.iter().enumerate() {
            if let Some(found) = self.name(item).and_then(|name| positions.get_mut(&name)) {
                found.push(position);
            }
        }
        positions
    }

    fn name(&self, item: &Value) -> Option<Key> {
        if self.strategy == Strategy::Append { None } else { item_name(item) }
    }

    /// Subtracts `count` steps. Returns false if no steps are left.
    fn step(&mut self, count: usize) -> bool {
        *self.steps_left = self.steps_left.saturating_sub(count);
        *self.steps_left > 0
    }
}

/// Positions of items by their names.
enum Positions {
    /// For few names, a linear search is as fast as a hash map.
    Few(Vec<(Key, Vec<usize>)>),
    Many(HashMap<Key, Vec<usize>>),
}

/// The maximum size of a linear search. Most lists of values have two to ten items.
const FEW_NAMES_MAX: usize = 16;

impl Positions {
    /// Creates an entry without positions for each name.
    fn from_names(names: impl Iterator<Item = Key>) -> Self {
        // Lookups find the first of several equal names.
        let all: Vec<(Key, Vec<usize>)> = names.map(|name| (name, Vec::new())).collect();
        if all.len() > FEW_NAMES_MAX { Self::Many(all.into_iter().collect()) } else { Self::Few(all) }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Few(few) => few.is_empty(),
            Self::Many(many) => many.is_empty(),
        }
    }

    fn get(&self, name: &Key) -> Option<&Vec<usize>> {
        match self {
            Self::Few(few) => few.iter().find(|(own, _)| own == name).map(|(_, found)| found),
            Self::Many(many) => many.get(name),
        }
    }

    fn get_mut(&mut self, name: &Key) -> Option<&mut Vec<usize>> {
        match self {
            Self::Few(few) => few.iter_mut().find(|(own, _)| own == name).map(|(_, found)| found),
            Self::Many(many) => many.get_mut(name),
        }
    }
}

static NAME: LazyLock<Key> = LazyLock::new(|| Key::Text("name".into()));

/// The scalar `name` that identifies a list's item. The type matters: the name `1` is not equal to the name `"1"`.
pub(crate) fn item_name(item: &Value) -> Option<Key> {
    let Value::Map(map) = item else { return None };
    match map.entries().get(&NAME)? {
        Value::Text(text) => Some(Key::Text(text.clone())),
        Value::Int(number, _) => Some(Key::Int(*number)),
        Value::Uint(number, _) => Some(Key::Uint(*number)),
        Value::Float(number) => Some(Key::Float(gotemplate::value::FloatKey(*number))),
        Value::Bool(value) => Some(Key::Bool(*value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
