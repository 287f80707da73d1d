//! The changes that one rendering has made to maps in place.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compiled_regex::CompiledRegex;
use crate::part_cache::PartCache;
use crate::taint::Taint;
use crate::value::{Entries, List, Map, Value};

/// How deep [`MapChanges::resolve`] follows nested values. Only a map that contains itself is deeper.
const RESOLVE_DEPTH_MAX: usize = 1_000;

/// The changes that `set`, `unset` and `merge` made to maps during one rendering, by the identity of the map.
///
/// Nearly all renderings change no map. Then each look-up reads the original map.
#[derive(Debug, Default)]
pub struct MapChanges {
    /// New entries by the address of the map. The entry holds the map too, so that its address stays valid as its identity.
    changed: HashMap<usize, (Arc<Map>, Entries)>,
    /// The cache that other renderings with the same map in a field use too.
    pub(crate) cache: Option<Arc<PartCache>>,
    /// Whether a function has put a tainted value into a map.
    pub(crate) has_tainted_changes: bool,
    /// Every value that is made from now on has at least this taint.
    pub(crate) taint: Taint,
    /// The regular expressions that this rendering has compiled.
    pub(crate) expressions: HashMap<Box<[u8]>, Arc<CompiledRegex>>,
    /// The number of times that this rendering has looked up a compiled regular expression.
    pub(crate) expression_lookups: u64,
}

impl MapChanges {
    /// No changes, with a cache that other renderings use too.
    pub(crate) fn with_cache(cache: Option<Arc<PartCache>>) -> Self {
        Self { cache, ..Self::default() }
    }

    /// Whether this rendering has made no change, and no taint applies to all later values.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.changed.is_empty() && self.taint == Taint::None && !self.has_tainted_changes
    }

    /// The cache, if `value` is the map of its field and this rendering has changed no map.
    pub(crate) fn cache_of(&self, value: &Value) -> Option<&PartCache> {
        self.cache.as_deref().filter(|cache| self.changed.is_empty() && cache.is_own_map(value))
    }

    /// The entries of `map` with the changes of this rendering. Entries of nested maps must be looked up in turn.
    pub fn entries<'a>(&'a self, map: &'a Arc<Map>) -> &'a Entries {
        if self.changed.is_empty() {
            return map.entries();
        }
        self.changed.get(&identity(map)).map_or(map.entries(), |(_, entries)| entries)
    }

    /// The changed entries of `map`. None if this rendering has not changed it.
    pub(crate) fn changed(&self, map: &Arc<Map>) -> Option<&Entries> {
        self.changed.get(&identity(map)).map(|(_, entries)| entries)
    }

    /// The entries of `map`, to change them in place for the rest of this rendering.
    pub fn entries_mut(&mut self, map: &Arc<Map>) -> &mut Entries {
        let (_, entries) =
            self.changed.entry(identity(map)).or_insert_with(|| (Arc::clone(map), map.entries().clone()));
        entries
    }

    /// Returns a copy of `value` that includes all changes of this rendering, at all levels, for functions that read nested values. None if the value
    /// contains itself.
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
            Value::List(list) if !list.items().is_empty() => {
                let items = list.items().iter().map(|item| self.resolve_below(item, depth + 1));
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
