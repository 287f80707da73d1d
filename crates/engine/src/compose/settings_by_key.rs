//! The entries of containers, grouped by the key that they set.

use gotemplate::value::Value;

use crate::compose::container::{Container, Entry};
use crate::compose::key_ranks::KeyRanks;
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
    pub(crate) fn new(containers: impl Iterator<Item = (u32, &'c Container)>, ranks: &KeyRanks) -> Self {
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
