//! The ranks of the keys of containers.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use gotemplate::Text;
use model::digest::Digest;

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
    /// Ranks the keys of a list of containers: of each, the keys of its entries with their digests.
    pub(crate) fn new<'k, K>(containers: impl Iterator<Item = K>) -> Self
    where
        K: Iterator<Item = (Digest, &'k Text)>,
    {
        let (mut numbers, mut keys): (Numbers, Vec<&Text>) = (Numbers::default(), Vec::new());
        let (mut numbered, mut ends): (Vec<u32>, Vec<usize>) = (Vec::new(), Vec::new());
        for container in containers {
            numbered.extend(container.map(|(digest, key)| {
                *numbers.entry(digest).or_insert_with(|| {
                    keys.push(key);
                    keys.len() as u32 - 1
                })
            }));
            ends.push(numbered.len());
        }
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|number| keys.get(*number));
        let mut rank_of = vec![0; keys.len()];
        for (rank, number) in (0..).zip(order) {
            rank_of.get_mut(number).into_iter().for_each(|slot| *slot = rank);
        }
        let ranks = numbered.iter().filter_map(|number| rank_of.get(*number as usize).copied()).collect();
        Self { ranks, ends }
    }

    /// The ranks of the keys of the container at this position.
    pub(crate) fn of_container(&self, position: u32) -> &[u32] {
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
