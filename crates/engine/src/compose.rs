//! Composition: merges the values of many containers into the values of one assignment.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use gotemplate::value::{Entries, Key, MapKind, Value};
use gotemplate::{PartCache, Text};

use crate::container::{Container, Entry};
use crate::merge::{Merge, STEPS_MAX};
use crate::record::{Silent, Sink};
use crate::value;
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
        let part_cache = match &data {
            Value::Map(map) => Some(Arc::new(PartCache::of(CONFIG_DATA, Arc::clone(map)))),
            _ => None,
        };
        let digest = value::digest(&data, &quoted);
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
            Value::Map(map) => &map.entries,
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

/// Merges the values of containers, in this order. The positions in events and in `overflow` are positions in `containers`.
pub(crate) fn compose(containers: &[Arc<Container>], sink: &mut impl Sink) -> Composition {
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
