//! Merged values of single keys, which many sets of values have in common.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use gotemplate::value::Value;
use model::digest::Digest;

use crate::compose::key_ranks::KeyRanks;
use crate::compose::merge::{Merge, STEPS_MAX};
use crate::compose::record::Silent;
use crate::compose::settings_by_key::Setting;
use crate::compose::value;

/// The number of locks. There are more locks than processors, so that threads seldom wait for the same one.
const PARTS: usize = 64;

/// The values of keys that several containers of one list set, each merged once. Sets of values that differ in one container have most of them in common.
#[derive(Debug)]
pub(crate) struct MergedValues<'r> {
    /// The ranks of the keys in the list.
    pub(crate) ranks: &'r KeyRanks,
    parts: [Mutex<HashMap<Box<[EntryPosition]>, Merged>>; PARTS],
}

/// The position of a container, and of an entry in it.
type EntryPosition = (u32, u32);

/// The merged value of a key.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    pub(crate) value: Value,
    /// The digest of the value.
    pub(crate) digest: Digest,
    /// The steps that merging it takes.
    pub(crate) steps: usize,
}

impl<'r> MergedValues<'r> {
    /// The merged values of a list of containers with these ranks. None is merged yet.
    pub(crate) fn new(ranks: &'r KeyRanks) -> Self {
        Self { ranks, parts: std::array::from_fn(|_| Mutex::default()) }
    }

    /// Merges the values that containers give to one key. The positions must be those in the list of containers. None without a value.
    pub(crate) fn of_key(&self, settings: &[Setting<'_>]) -> Option<Merged> {
        // The last value that replaces all before it. These have no effect, but merging them counts for the limit of steps.
        let is_merged = |pair: &[Setting<'_>]| matches!(pair, [earlier, later] if later.is_merged_into(earlier));
        let begin = settings.windows(2).rposition(|pair| !is_merged(pair)).map_or(0, |pair| pair + 1);
        let is_counted = settings.get(..begin)?.windows(2).any(is_merged);
        let settings = settings.get(if is_counted { 0 } else { begin }..)?;
        let (first, others) = settings.split_first()?;
        let only = || Merged { value: first.entry.value.value.clone(), digest: first.entry.value_digest, steps: 0 };
        let Some(last) = others.last() else { return Some(only()) };
        let positions: Vec<EntryPosition> = settings.iter().map(|setting| (setting.position, setting.index)).collect();
        let part = self.parts.get((first.position + last.position) as usize % PARTS)?;
        let known = part.lock().unwrap_or_else(PoisonError::into_inner).get(&*positions).cloned();
        Some(known.unwrap_or_else(|| {
            let merged = merge(only(), others);
            part.lock().unwrap_or_else(PoisonError::into_inner).insert(positions.into(), merged.clone());
            merged
        }))
    }
}

fn merge(first: Merged, others: &[Setting<'_>]) -> Merged {
    let (mut merged, mut steps_left) = (first.value, STEPS_MAX);
    for Setting { entry, .. } in others {
        let merge = Merge { strategy: entry.strategy, sink: &mut Silent, steps_left: &mut steps_left };
        { merge }.merge(&mut merged, &entry.value.value);
    }
    Merged { digest: value::digest(&merged), value: merged, steps: STEPS_MAX - steps_left }
}
