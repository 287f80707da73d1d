//! Merging values, as Microsoft's Kalypso does it, with its mistakes mended.
//!
//! Mappings are merged key by key. Of two lists, items of the later one are merged into the items of the earlier one that
//! have the same scalar `name`; all others are appended. Everything else replaces what was there.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use gotemplate::value::{Entries, Key, List, Map, Value};

use crate::record::Sink;
use crate::settings::Strategy;

/// How many entries and items are looked at for one assignment's values. Ordinary ones take some thousands; lists of items that
/// all have one name multiply.
pub(crate) const STEPS_MAX: usize = 2_000_000;

/// Looking at an item's name only is quick, and makes nothing that takes memory.
const NAMES_PER_STEP: usize = 16;

/// Merging by one strategy.
pub(crate) struct Merge<'a, S> {
    /// How lists and mappings are treated.
    pub(crate) strategy: Strategy,
    /// Who is told.
    pub(crate) sink: &'a mut S,
    /// How many more entries and items may be looked at. With none left, values stay as they are.
    pub(crate) steps_left: &'a mut usize,
}

impl<S: Sink> Merge<'_, S> {
    /// Lays `later` over `value`.
    pub(crate) fn merge(&mut self, value: &mut Value, later: &Value) {
        match (&mut *value, later) {
            (Value::Map(old), Value::Map(new)) if self.strategy != Strategy::Replace => {
                self.merge_entries(&mut Arc::make_mut(old).entries, new);
            }
            (Value::List(old), Value::List(new)) if self.strategy != Strategy::Replace => {
                self.merge_items(&mut Arc::make_mut(old).items, new);
            }
            _ => {
                self.sink.replaced(later);
                *value = later.clone();
            }
        }
    }

    fn merge_entries(&mut self, entries: &mut Entries, new: &Map) {
        for (key, value) in &new.entries {
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
        for (source, item) in new.items.iter().enumerate() {
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

    /// Where the items are whose name an item of the other list has as well.
    fn positions_by_name(&mut self, items: &[Value], new: &List) -> Positions {
        let mut positions = Positions::of(new.items.iter().filter_map(|item| self.name(item)));
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

    /// Pays for what comes next; false if there is nothing left to pay with.
    fn step(&mut self, count: usize) -> bool {
        *self.steps_left = self.steps_left.saturating_sub(count);
        *self.steps_left > 0
    }
}

/// Where items are, by their names.
enum Positions {
    /// Few names are found as quickly one by one.
    Few(Vec<(Key, Vec<usize>)>),
    Many(HashMap<Key, Vec<usize>>),
}

/// Lists of values mostly have two to ten items.
const FEW_NAMES_MAX: usize = 16;

impl Positions {
    /// For these names, nowhere yet.
    fn of(names: impl Iterator<Item = Key>) -> Self {
        // Of equal names the first is the one that is found.
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

/// The scalar `name` of a list's item, by which items are told apart. Typed: the name `1` is not the name `"1"`.
pub(crate) fn item_name(item: &Value) -> Option<Key> {
    let Value::Map(map) = item else { return None };
    match map.entries.get(&NAME)? {
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
