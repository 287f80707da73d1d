//! The entries of containers, grouped by the key that they set.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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

/// The settings of some containers by key, those of a key in the order of the containers.
#[derive(Debug)]
pub(crate) struct SettingsByKey<'c> {
    settings: Vec<Setting<'c>>,
    /// The number of settings of each key.
    lengths: Vec<usize>,
}

impl<'c> SettingsByKey<'c> {
    /// Groups the entries of containers with these positions.
    pub(crate) fn of(containers: impl Iterator<Item = (u32, &'c Container)>) -> Self {
        let settings: Vec<_> = containers
            .flat_map(|(position, container)| {
                let entries = (0..).zip(&container.entries);
                entries.map(move |(index, entry)| Setting { position, container, index, entry })
            })
            .collect();
        let mut numbers = Numbers::with_capacity_and_hasher(settings.len(), BuildHasherDefault::default());
        let mut lengths: Vec<usize> = Vec::new();
        let numbered: Vec<u32> = settings
            .iter()
            .map(|setting| {
                let number = *numbers.entry(setting.entry.key_digest).or_insert(lengths.len() as u32);
                match lengths.get_mut(number as usize) {
                    Some(length) => *length += 1,
                    None => lengths.push(1),
                }
                number
            })
            .collect();
        let mut grouped = settings.clone();
        let mut ends: Vec<usize> =
            lengths.iter().scan(0, |end, length| Some(std::mem::replace(end, *end + length))).collect();
        for (setting, number) in settings.into_iter().zip(numbered) {
            let Some(end) = ends.get_mut(number as usize) else { continue };
            if let Some(slot) = grouped.get_mut(*end) {
                *slot = setting;
            }
            *end += 1;
        }
        Self { settings: grouped, lengths }
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
