//! The entries of containers, grouped by the key that they set.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use gotemplate::Text;
use gotemplate::value::Value;
use model::digest::Digest;

use crate::container::{Container, Entry};
use crate::settings::Strategy;

/// A key that a container sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'c> {
    /// The position of the container.
    pub(crate) position: u32,
    pub(crate) container: &'c Container,
    /// The position of the entry in the container.
    pub(crate) index: u32,
    pub(crate) entry: &'c Entry,
}

impl Setting<'_> {
    /// Whether the value is merged into the earlier one, and does not replace it.
    pub(crate) fn is_merged_into(&self, earlier: &Self) -> bool {
        let values = (&earlier.entry.value.value, &self.entry.value.value);
        self.entry.strategy != Strategy::Replace
            && matches!(values, (Value::Map(_), Value::Map(_)) | (Value::List(_), Value::List(_)))
    }
}

/// The settings of some containers by key, in the order of the keys, those of a key in the order of the containers.
#[derive(Debug)]
pub(crate) struct SettingsByKey<'c> {
    settings: Vec<Setting<'c>>,
    /// The number of settings of each key.
    lengths: Vec<usize>,
}

impl<'c> SettingsByKey<'c> {
    /// Groups the entries of containers with these positions in the list of the ranks.
    pub(crate) fn of(containers: impl Iterator<Item = (u32, &'c Container)>, ranks: &KeyRanks) -> Self {
        let (mut settings, mut order) = (Vec::new(), Vec::new());
        for (position, container) in containers {
            for ((index, entry), rank) in (0..).zip(&container.entries).zip(ranks.of_container(position)) {
                order.push((*rank, settings.len() as u32));
                settings.push(Setting { position, container, index, entry });
            }
        }
        order.sort_unstable();
        let lengths = order.chunk_by(|(one, _), (other, _)| one == other).map(<[_]>::len).collect();
        let settings = order.iter().filter_map(|(_, at)| settings.get(*at as usize).copied()).collect();
        Self { settings, lengths }
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// The settings of each key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Setting<'c>]> {
        let mut rest = &*self.settings;
        self.lengths.iter().filter_map(move |length| {
            let (of_key, others) = rest.split_at_checked(*length)?;
            rest = others;
            Some(of_key)
        })
    }
}

/// The ranks of the keys in a list of containers: the positions of the keys in their order. Sorting numbers is faster than comparing texts for each set of
/// values.
#[derive(Debug, Default)]
pub(crate) struct KeyRanks {
    /// The rank of the key of each entry of each container.
    ranks: Vec<u32>,
    /// Where the ranks of each container end.
    ends: Vec<usize>,
}

impl KeyRanks {
    /// Ranks the keys of a list of containers.
    pub(crate) fn of(containers: &[Arc<Container>]) -> Self {
        let entries = containers.iter().flat_map(|container| &container.entries);
        let (mut numbers, mut keys): (Numbers, Vec<&Text>) = (Numbers::default(), Vec::new());
        let numbered: Vec<u32> = entries
            .map(|entry| {
                *numbers.entry(entry.key_digest).or_insert_with(|| {
                    keys.push(&entry.text);
                    keys.len() as u32 - 1
                })
            })
            .collect();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|number| keys.get(*number));
        let mut rank_of = vec![0; keys.len()];
        for (rank, number) in (0..).zip(order) {
            rank_of.get_mut(number).into_iter().for_each(|slot| *slot = rank);
        }
        let ranks = numbered.iter().filter_map(|number| rank_of.get(*number as usize).copied()).collect();
        let end = |end: &mut usize, container: &Arc<Container>| {
            *end += container.entries.len();
            Some(*end)
        };
        Self { ranks, ends: containers.iter().scan(0, end).collect() }
    }

    /// The ranks of the keys of the container at this position.
    fn of_container(&self, position: u32) -> &[u32] {
        let end_of = |position: usize| self.ends.get(position).copied();
        let begin = (position as usize).checked_sub(1).and_then(end_of).unwrap_or_default();
        self.ranks.get(begin..end_of(position as usize).unwrap_or(begin)).unwrap_or_default()
    }
}

/// A number for each key, by the digest of the key.
type Numbers = HashMap<Digest, u32, BuildHasherDefault<FirstBytes>>;

/// Takes the first bytes of a digest as its hash: they are as good as random.
#[derive(Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    /// The length of the digest.
    fn write_usize(&mut self, _number: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
