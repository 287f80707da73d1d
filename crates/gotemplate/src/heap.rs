//! What one rendering has changed in place.

use std::collections::HashMap;
use std::sync::Arc;

use crate::shared::Shared;
use crate::sprig::Expression;
use crate::taint::Taint;
use crate::value::{Entries, List, Map, Value};

/// How deep [`Heap::resolve`] follows nested values: more can only be a map that contains itself.
const RESOLVE_DEPTH_MAX: usize = 1_000;

/// The changes that `set`, `unset` and `merge` made to maps during one rendering, by the identity of the map.
///
/// Empty in nearly all renderings, and then every look-up goes straight to the shared map.
#[derive(Debug, Default)]
pub struct Heap {
    /// The map is kept alive beside its new entries, so that its address stays its identity.
    changed: HashMap<usize, (Arc<Map>, Entries)>,
    /// What other renderings of the same field have too.
    pub(crate) shared: Option<Arc<Shared>>,
    /// Whether something tainted was put into a map.
    pub(crate) has_tainted_changes: bool,
    /// The least taint of everything that is made from now on.
    pub(crate) taint: Taint,
    /// The regular expressions that this rendering has compiled.
    pub(crate) expressions: HashMap<Box<[u8]>, Arc<Expression>>,
    /// How often one was asked for.
    pub(crate) expressions_asked: u64,
}

impl Heap {
    /// Nothing is changed yet, and this is shared with other renderings.
    pub(crate) fn sharing(shared: Option<Arc<Shared>>) -> Self {
        Self { shared, ..Self::default() }
    }

    /// Whether this rendering has changed no map.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.changed.is_empty() && self.taint == Taint::None && !self.has_tainted_changes
    }

    /// What is known of `value`, if that is the map that other renderings have too, and this one has changed nothing.
    pub(crate) fn unchanged(&self, value: &Value) -> Option<&Shared> {
        self.shared.as_deref().filter(|shared| self.changed.is_empty() && shared.is_of(value))
    }

    /// The entries of `map` as this rendering sees them (one level: nested maps must be looked up in turn).
    pub fn entries<'a>(&'a self, map: &'a Arc<Map>) -> &'a Entries {
        if self.changed.is_empty() {
            return &map.entries;
        }
        self.changed.get(&identity(map)).map_or(&map.entries, |(_, entries)| entries)
    }

    /// The entries of `map`, if this rendering has changed it.
    pub(crate) fn changed(&self, map: &Arc<Map>) -> Option<&Entries> {
        self.changed.get(&identity(map)).map(|(_, entries)| entries)
    }

    /// The entries of `map`, to be changed in place for the rest of this rendering.
    pub fn entries_mut(&mut self, map: &Arc<Map>) -> &mut Entries {
        let (_, entries) = self.changed.entry(identity(map)).or_insert_with(|| (Arc::clone(map), map.entries.clone()));
        entries
    }

    /// `value` with every change of this rendering written into it, all levels down: for functions that read deeply.
    /// `None` if it contains itself.
    pub fn resolve(&self, value: &Value) -> Option<Value> {
        if self.changed.is_empty() {
            return Some(value.clone());
        }
        self.resolve_below(value, 0)
    }

    fn resolve_below(&self, value: &Value, depth: usize) -> Option<Value> {
        if depth > RESOLVE_DEPTH_MAX {
            return None;
        }
        Some(match value {
            Value::List(list) if !list.items.is_empty() => {
                let items = list.items.iter().map(|item| self.resolve_below(item, depth + 1));
                Value::List(Arc::new(List::new(list.kind, items.collect::<Option<_>>()?)))
            }
            Value::Map(map) if !map.is_nil() => {
                let entries = self.entries(map).iter();
                let entries = entries.map(|(key, value)| Some((key.clone(), self.resolve_below(value, depth + 1)?)));
                Value::map(map.kind, entries.collect::<Option<_>>()?)
            }
            other => other.clone(),
        })
    }
}

fn identity(map: &Arc<Map>) -> usize {
    Arc::as_ptr(map) as usize
}
