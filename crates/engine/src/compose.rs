//! Composition: merges the values of many containers into the values of one assignment.

pub(crate) mod container;
pub(crate) mod credential_search;
pub(crate) mod key_ranks;
pub(crate) mod merge;
pub(crate) mod merged_values;
pub(crate) mod precedence;
pub(crate) mod record;
pub(crate) mod settings_by_key;
pub mod trace;
pub(crate) mod value;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use gotemplate::value::{Entries, Key, MapKind, Value};
use gotemplate::{PartCache, Text};

use self::record::{Silent, Sink};
use crate::compose::container::{Container, Entry};
use crate::compose::key_ranks::KeyRanks;
use crate::compose::merge::{Merge, STEPS_MAX};
use crate::compose::merged_values::MergedValues;
use crate::compose::settings_by_key::SettingsByKey;
use model::digest::Digest;

/// The field of a template's data that holds the composed values.
pub(crate) const CONFIG_DATA: &str = "ConfigData";

/// The composed values of an assignment.
#[derive(Debug)]
pub struct Composition {
    /// The values: a `map[string]interface {}`.
    pub data: Value,
    /// The keys whose value is a text in single quotes.
    pub(crate) quoted: BTreeSet<Text>,
    /// The position of the container at which the limit of merge steps was reached. None if it was not reached.
    pub(crate) overflow: Option<usize>,
    /// The digest of the values. It does not depend on the containers that they come from.
    pub(crate) digest: Digest,
    version: OnceLock<Arc<str>>,
    /// Template results that all assignments with these values share.
    pub(crate) part_cache: Option<Arc<PartCache>>,
}

impl Composition {
    /// Creates a composition of these values.
    pub(crate) fn new(data: Value, quoted: BTreeSet<Text>) -> Self {
        let entries = match &data {
            Value::Map(map) => Some(map.entries()),
            _ => None,
        };
        let digests = entries.into_iter().flatten().map(|(key, value)| {
            let is_quoted = matches!(key, Key::Text(text) if quoted.contains(text));
            (Digest::from_value(&*record::key_text(key)), value::digest(value), is_quoted)
        });
        let digest = digest_of(&digests.collect::<Vec<_>>());
        Self::with_digest(data, quoted, digest)
    }

    fn with_digest(data: Value, quoted: BTreeSet<Text>, digest: Digest) -> Self {
        let part_cache = match &data {
            Value::Map(map) => Some(Arc::new(PartCache::new(CONFIG_DATA, Arc::clone(map)))),
            _ => None,
        };
        Self { data, quoted, overflow: None, digest, version: OnceLock::new(), part_cache }
    }

    /// The composition of the values of one key, merged in this order.
    pub(crate) fn of_key(values: &[&Entry]) -> Self {
        let (mut entries, mut quoted, mut steps_left) = (Entries::new(), BTreeSet::new(), STEPS_MAX);
        for entry in values {
            quoted.clear();
            quoted.extend(entry.value.is_quoted.then(|| entry.text.clone()));
            let (key, new) = (Key::Text(entry.text.clone()), &entry.value.value);
            if let Some(old) = entries.get_mut(&key) {
                let merge = Merge { strategy: entry.strategy, sink: &mut Silent, steps_left: &mut steps_left };
                { merge }.merge(old, new);
            } else {
                entries.insert(key, new.clone());
            }
        }
        Self::new(Value::map(MapKind::TextToAny, entries), quoted)
    }

    /// Sets the version of the configuration, to that of other values.
    pub(crate) fn with_version(self, version: &Arc<str>) -> Self {
        Self { version: OnceLock::from(Arc::clone(version)), ..self }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries().get(&Key::Text(key.into()))
    }

    /// All values by key.
    pub fn entries(&self) -> &Entries {
        static EMPTY: Entries = Entries::new();
        match &self.data {
            Value::Map(map) => map.entries(),
            _ => &EMPTY,
        }
    }

    /// The version of the configuration: the first 16 hexadecimal digits of the SHA-256 of the values in canonical YAML.
    /// Equal values have the same version in all environments and runs.
    pub fn version(&self) -> &Arc<str> {
        self.version.get_or_init(|| {
            let yaml = gotemplate::yaml::to_yaml(&self.data).unwrap_or_default();
            crate::digest::hex(&yaml, 16).into()
        })
    }
}

/// The digest of values, from the digests of their keys and values, in the order of the keys, and whether they are texts in quotes.
fn digest_of(entries: &[(Digest, Digest, bool)]) -> Digest {
    Digest::from_value(entries)
}

/// Merges the values of containers, in this order.
pub(crate) fn compose(containers: &[Arc<Container>]) -> Composition {
    let positions: Vec<u32> = (0..).zip(containers).map(|(position, _)| position).collect();
    let ranks = KeyRanks::new(containers.iter().map(|container| container.ranked_keys()));
    compose_with(containers, (&positions, &MergedValues::new(&ranks)))
}

/// Like [`compose`], for containers at these positions in a list, with merged values that other sets of values from this list may have, too. Keys are
/// independent of each other, except for the limit of steps.
pub(crate) fn compose_with(
    containers: &[Arc<Container>],
    (positions, merged): (&[u32], &MergedValues<'_>),
) -> Composition {
    let containers_at = positions.iter().copied().zip(containers.iter().map(|container| &**container));
    let by_key = SettingsByKey::new(containers_at, merged.ranks);
    let (mut entries, mut digests) = (Vec::with_capacity(by_key.len()), Vec::with_capacity(by_key.len()));
    let (mut quoted, mut steps) = (BTreeSet::new(), 0);
    for settings in by_key.iter() {
        let (Some(last), Some(merged)) = (settings.last(), merged.of_key(settings)) else { continue };
        let Entry { text, key_digest, value, .. } = last.entry;
        if value.is_quoted {
            quoted.insert(text.clone());
        }
        steps += merged.steps;
        digests.push((*key_digest, merged.digest, value.is_quoted));
        entries.push((Key::Text(text.clone()), merged.value));
    }
    if steps >= STEPS_MAX {
        return compose_in_order(containers, &mut Silent);
    }
    let digest = digest_of(&digests);
    Composition::with_digest(Value::map(MapKind::TextToAny, entries.into_iter().collect()), quoted, digest)
}

/// Merges the values of containers entry by entry, and reports each step. The positions in events and in `overflow` are positions in `containers`.
pub(crate) fn compose_in_order(containers: &[Arc<Container>], sink: &mut impl Sink) -> Composition {
    let mut entries = Entries::new();
    let mut quoted = BTreeSet::new();
    let mut overflow = None;
    let mut steps_left = STEPS_MAX;
    for (number, container) in containers.iter().enumerate() {
        for (position, entry) in container.entries.iter().enumerate() {
            sink.begin(number, position);
            let text = &entry.text;
            if entry.value.is_quoted {
                quoted.insert(text.clone());
            } else if !quoted.is_empty() {
                quoted.remove(text);
            }
            let key = Key::Text(text.clone());
            sink.enter_key(&key);
            let new = &entry.value.value;
            if let Some(old) = entries.get_mut(&key) {
                Merge { strategy: entry.strategy, sink, steps_left: &mut steps_left }.merge(old, new);
            } else {
                sink.placed(new);
                entries.insert(key, new.clone());
            }
            sink.leave();
        }
        if steps_left == 0 {
            overflow.get_or_insert(number);
        }
    }
    entries.shrink();
    Composition { overflow, ..Composition::new(Value::map(MapKind::TextToAny, entries), quoted) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testkit::directory::fleet_of;

    use super::*;
    use crate::compose::container::Containers;
    use crate::settings::PrecedenceSetting;

    /// A merge strategy, and the entries of `data`.
    type TestMap<'t> = (&'t str, Vec<(&'t str, &'t str)>);

    fn containers(maps: &[TestMap<'_>]) -> Vec<Arc<Container>> {
        let map = |(index, (strategy, data)): (usize, &TestMap<'_>)| {
            let annotations = format!("annotations: {{config.kalypso.io/merge: {strategy}}}");
            let labels = "labels: {platform-config: \"true\"}";
            let data: String = data.iter().map(|(key, value)| format!("  {key}: {value:?}\n")).collect();
            let text = format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map-{index:02}\n  {labels}\n  {annotations}\ndata:\n{data}"
            );
            (format!("map-{index:02}.yaml"), text.into_bytes())
        };
        let files = maps.iter().enumerate().map(map).collect();
        let (fleet, _) = fleet_of(files, "prod").unwrap();
        Containers::new(&fleet, &Containers::default(), &PrecedenceSetting::default()).list
    }

    #[test]
    fn merging_values_that_are_replaced_counts_for_the_limit() {
        // All items have one name, so each is merged into each.
        let list = "- name: a\n".repeat(1_500);
        let maps = [("deep", vec![("A", &*list)]), ("deep", vec![("A", &*list)]), ("deep", vec![("A", "x")])];
        let containers = containers(&maps);
        let (one, other) = (compose(&containers), compose_in_order(&containers, &mut Silent));
        assert_eq!((one.overflow, other.overflow), (Some(1), Some(1)));
        assert_eq!(one.digest, other.digest);
    }

    proptest! {
        /// Composing key by key, with merged values of other sets, gives what composing entry by entry gives.
        #[test]
        fn values_are_the_same_in_any_way_of_composing(
            maps in proptest::collection::vec((
                proptest::sample::select(&["deep", "append", "replace"][..]),
                proptest::collection::btree_map(
                    proptest::sample::select(&["A", "B", "C"][..]),
                    proptest::sample::select(&["x", "'x'", "a: 1", "b: {c: 2}", "b: {d: 3}", "- name: y\n  z: 1", "- name: y\n  w: 2", "[1, 2]"][..]),
                    0..3,
                ).prop_map(|data| data.into_iter().collect::<Vec<_>>()),
            ), 0..7)
        ) {
            let containers = containers(&maps);
            let ranks = KeyRanks::new(containers.iter().map(|container| container.ranked_keys()));
            let merged = MergedValues::new(&ranks);
            for selected in 0..1_u32 << containers.len() {
                let positions: Vec<u32> = (0..containers.len() as u32).filter(|at| selected & 1 << at != 0).collect();
                let some: Vec<_> = positions.iter().map(|at| Arc::clone(&containers[*at as usize])).collect();
                let one = compose_with(&some, (&positions, &merged));
                let other = compose_in_order(&some, &mut Silent);
                prop_assert_eq!(format!("{:?}", one.data), format!("{:?}", other.data));
                prop_assert_eq!((one.digest, one.quoted), (other.digest, other.quoted));
            }
        }
    }
}
