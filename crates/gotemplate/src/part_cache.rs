//! A cache for parts of templates that read only one field of the data, for renderings whose data have the same value in this field.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::budget::{Budget, Exhausted};
use crate::compiled_regex::CompiledRegex;
use crate::taint::{CachedText, Taint};
use crate::value::{Key, ListKind, Map, Value};

/// The results of the parts of templates that read only one field of the data, for all renderings whose data have the same map in this field.
/// A result is stored when a second rendering computes it, unless [more renderings are expected](PartCache::expect_renderings). So a result that only one
/// rendering needs takes no memory.
///
/// The cache changes only the time that a rendering takes: each rendering pays for cached results as if it had computed them itself.
#[derive(Debug)]
pub struct PartCache {
    field: &'static str,
    map: Arc<Map>,
    /// The steps that it takes to read the map at all levels.
    size: OnceLock<u64>,
    /// Whether results are stored at once.
    expects_renderings: AtomicBool,
    /// The results by program, the oldest program first.
    programs: RwLock<VecDeque<(u64, Arc<[Slot]>)>>,
}

/// Results are stored for this many programs. The templates of a cluster type have three to five, and few cluster types share values.
const PROGRAMS_MAX: usize = 16;

/// A part that takes fewer steps and writes fewer bytes is not stored: computing it is as fast as looking it up.
const STEPS_MIN: u64 = 16;
const BYTES_MIN: usize = 256;

/// A larger result is not stored: a fleet has tens of thousands of sets of values.
const BYTES_MAX: usize = 256 << 10;

/// The place of one part's result.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Whether the next result is stored: it was computed before, or renderings that need it are expected.
    was_computed: AtomicBool,
    /// `Some(None)`: the result is not worth storing.
    result: OnceLock<Option<Box<CachedResult>>>,
}

/// A result, and the cost of computing it.
#[derive(Debug)]
pub(crate) struct CachedResult {
    pub(crate) result: PartResult,
    pub(crate) steps: u64,
    pub(crate) output_bytes: u64,
    /// The depth at which the result was computed. It is valid there and at smaller depths.
    pub(crate) depth: u32,
    /// The regular expressions that the computation compiled.
    pub(crate) expressions: Vec<(Box<[u8]>, Arc<CompiledRegex>)>,
}

/// The result of a part.
#[derive(Debug)]
pub(crate) enum PartResult {
    /// The bytes that it writes.
    Text(CachedText),
    /// The value of a pipeline's beginning.
    Value(Value),
}

/// The result of a look-up.
pub(crate) enum Lookup<'s> {
    /// The stored result.
    Found(&'s CachedResult),
    /// The result is not worth storing.
    NotStored,
    /// No result is stored yet.
    Missing,
}

impl PartCache {
    /// Makes a cache for data that have this map in this field.
    pub fn new(field: &'static str, map: Arc<Map>) -> Self {
        let expects_renderings = AtomicBool::new(false);
        Self { field, map, size: OnceLock::new(), expects_renderings, programs: RwLock::default() }
    }

    /// From now on, stores results when they are computed for the first time, until [`Self::forget`].
    pub fn expect_renderings(&self) {
        self.expects_renderings.store(true, Ordering::Relaxed);
    }

    /// Drops all results. Renderings that are running still use theirs.
    pub fn forget(&self) {
        self.expects_renderings.store(false, Ordering::Relaxed);
        self.programs.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The name of the field.
    pub(crate) fn field(&self) -> &str {
        self.field
    }

    /// Whether `value` is the map of this cache.
    pub(crate) fn is_own_map(&self, value: &Value) -> bool {
        matches!(value, Value::Map(map) if Arc::ptr_eq(map, &self.map))
    }

    /// Whether `data` has the map of this cache in its field.
    pub(crate) fn applies_to(&self, data: &Value) -> bool {
        match data {
            Value::Struct(data) => {
                data.fields.iter().any(|(name, value)| *name == self.field && self.is_own_map(value))
            }
            Value::Map(data) => {
                data.entries().get(&Key::Text(self.field.into())).is_some_and(|value| self.is_own_map(value))
            }
            _ => false,
        }
    }

    /// Charges for reading the map at all levels. The first time, `charge` visits the map; afterwards the number of steps is known.
    pub(crate) fn charge(
        &self,
        budget: &mut Budget,
        charge: impl FnOnce(&mut Budget) -> Result<(), Exhausted>,
    ) -> Result<(), Exhausted> {
        if let Some(steps) = self.size.get() {
            return budget.steps(*steps);
        }
        let (steps, _) = budget.left();
        charge(budget)?;
        let (steps_left, _) = budget.left();
        self.size.get_or_init(|| steps - steps_left);
        Ok(())
    }

    /// The places of the results of a program's parts. `count` is the number of parts.
    pub(crate) fn slots(&self, program: u64, count: usize) -> Arc<[Slot]> {
        let find = |programs: &VecDeque<(u64, Arc<[Slot]>)>| {
            programs.iter().find(|(id, _)| *id == program).map(|(_, slots)| Arc::clone(slots))
        };
        if let Some(slots) = find(&self.programs.read().unwrap_or_else(PoisonError::into_inner)) {
            return slots;
        }
        let mut programs = self.programs.write().unwrap_or_else(PoisonError::into_inner);
        find(&programs).unwrap_or_else(|| {
            if programs.len() >= PROGRAMS_MAX {
                programs.pop_front();
            }
            let expects_renderings = self.expects_renderings.load(Ordering::Relaxed);
            let slot = || Slot { was_computed: AtomicBool::new(expects_renderings), ..Slot::default() };
            let slots: Arc<[Slot]> = (0..count).map(|_| slot()).collect();
            programs.push_back((program, Arc::clone(&slots)));
            slots
        })
    }
}

impl Slot {
    pub(crate) fn look_up(&self) -> Lookup<'_> {
        match self.result.get() {
            Some(Some(cached)) => Lookup::Found(cached),
            Some(None) => Lookup::NotStored,
            None => Lookup::Missing,
        }
    }

    /// The stored text, if it is long enough for its users to gain from knowing that it is the same.
    pub(crate) fn long_text(&self) -> Option<&CachedText> {
        match self.look_up() {
            Lookup::Found(CachedResult { result: PartResult::Text(text), .. }) => {
                Some(text).filter(|text| text.bytes.len() >= BYTES_MIN)
            }
            _ => None,
        }
    }

    /// The number of bytes of the stored result, if it is a text.
    pub(crate) fn cached_bytes(&self) -> usize {
        match self.look_up() {
            Lookup::Found(CachedResult { result: PartResult::Text(text), .. }) => text.bytes.len(),
            Lookup::Found(CachedResult { result: PartResult::Value(Value::Text(text)), .. }) => text.len(),
            _ => 0,
        }
    }

    /// Stores a result if it is worth it and was computed before.
    pub(crate) fn store(&self, cached: impl FnOnce() -> CachedResult, (steps, bytes): (u64, usize)) {
        let is_quick = steps < STEPS_MIN && bytes < BYTES_MIN;
        if is_quick || bytes > BYTES_MAX {
            self.result.get_or_init(|| None);
        } else if self.was_computed.swap(true, Ordering::Relaxed) {
            self.result.get_or_init(|| Some(Box::new(cached())));
        }
    }
}

impl CachedResult {
    /// Whether the result is valid at this depth, and what is left of the limits covers its cost.
    pub(crate) fn fits(&self, depth: u32, budget: &Budget) -> bool {
        let (steps, output_bytes) = budget.left();
        depth <= self.depth && self.steps <= steps && self.output_bytes <= output_bytes
    }
}

/// Whether several renderings can use the same value: it can't be changed in place, and no part of it is tainted.
pub(crate) fn can_be_shared(value: &Value) -> bool {
    match value {
        Value::Text(_) => value.taint() == Taint::None,
        Value::List(list) => list.kind == ListKind::Text && !list.is_nil() && value.taint() == Taint::None,
        Value::Bool(_) | Value::Int(..) | Value::Uint(..) | Value::Float(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
