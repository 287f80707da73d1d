//! Merging values, as Microsoft's Kalypso does it, with its mistakes mended.
//!
//! Mappings are merged key by key. Of two lists, items of the later one are merged into the items of the earlier one that
//! have the same scalar `name`; all others are appended. Everything else replaces what was there.

use std::collections::BTreeMap;
use std::sync::Arc;

use gotemplate::value::{Key, List, Map, Value};

use crate::record::Sink;
use crate::settings::Strategy;

/// `later` laid over `earlier`.
pub(crate) fn merge(earlier: &Value, later: &Value, strategy: Strategy, sink: &mut impl Sink) -> Value {
    match (earlier, later) {
        (Value::Map(old), Value::Map(new)) if strategy != Strategy::Replace => {
            let mut entries = old.entries.clone();
            merge_entries(&mut entries, new, strategy, sink);
            Value::Map(Arc::new(Map { kind: old.kind, entries }))
        }
        (Value::List(old), Value::List(new)) if strategy != Strategy::Replace => {
            let mut items = old.items.clone();
            merge_items(&mut items, new, strategy, sink);
            Value::List(Arc::new(List { kind: old.kind, items }))
        }
        _ => {
            sink.replaced(later);
            later.clone()
        }
    }
}

fn merge_entries(entries: &mut BTreeMap<Key, Value>, new: &Map, strategy: Strategy, sink: &mut impl Sink) {
    for (key, value) in &new.entries {
        sink.enter_key(key);
        let merged = if let Some(old) = entries.get(key) {
            merge(old, value, strategy, sink)
        } else {
            sink.placed(value);
            value.clone()
        };
        entries.insert(key.clone(), merged);
        sink.leave();
    }
}

fn merge_items(items: &mut Vec<Value>, new: &List, strategy: Strategy, sink: &mut impl Sink) {
    for (source, item) in new.items.iter().enumerate() {
        let name = if strategy == Strategy::Append { None } else { item_name(item) };
        let mut found = false;
        for (position, old) in items.iter_mut().enumerate() {
            if name.is_some() && item_name(old) == name {
                found = true;
                sink.enter_item(position, source);
                *old = merge(old, item, strategy, sink);
                sink.leave();
            }
        }
        if !found {
            sink.enter_item(items.len(), source);
            sink.placed(item);
            sink.leave();
            items.push(item.clone());
        }
    }
}

/// The scalar `name` of a list's item, by which items are told apart. Typed: the name `1` is not the name `"1"`.
fn item_name(item: &Value) -> Option<Key> {
    let Value::Map(map) = item else { return None };
    match map.entries.get(&Key::Text("name".into()))? {
        Value::Text(text) => Some(Key::Text(text.clone())),
        Value::Int(number, _) => Some(Key::Int(*number)),
        Value::Uint(number, _) => Some(Key::Uint(*number)),
        Value::Float(number) => Some(Key::Float(gotemplate::value::FloatKey(*number))),
        Value::Bool(value) => Some(Key::Bool(*value)),
        _ => None,
    }
}
