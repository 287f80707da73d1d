//! Composition: one assignment's values out of those of many containers.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use gotemplate::value::{Entries, Key, MapKind, Value};
use gotemplate::{Shared, Text};

use crate::container::Container;
use crate::merge::{Merge, STEPS_MAX};
use crate::record::Sink;
use crate::value;
use model::digest::Digest;

/// The field of a template's data that has them.
pub(crate) const CONFIG_DATA: &str = "ConfigData";

/// The values of an assignment.
#[derive(Debug)]
pub struct Composition {
    /// The values: a `map[string]interface {}`.
    pub data: Value,
    /// The keys whose value is a text that stood in single quotes.
    pub(crate) quoted: BTreeSet<Text>,
    /// The container (by its position among those that were merged) at which there was too much to merge, if there was.
    pub(crate) overflow: Option<usize>,
    /// What the values are, however they came about.
    pub(crate) digest: Digest,
    version: OnceLock<Arc<str>>,
    /// What the templates of all that have these values make of them.
    pub(crate) shared: Option<Arc<Shared>>,
}

impl Composition {
    /// A composition of these values.
    pub(crate) fn new(data: Value, quoted: BTreeSet<Text>) -> Self {
        let shared = match &data {
            Value::Map(map) => Some(Arc::new(Shared::of(CONFIG_DATA, Arc::clone(map)))),
            _ => None,
        };
        let digest = value::digest(&data, &quoted);
        Self { data, quoted, overflow: None, digest, version: OnceLock::new(), shared }
    }

    /// With the version of other values.
    pub(crate) fn with_version(self, version: &Arc<str>) -> Self {
        Self { version: OnceLock::from(Arc::clone(version)), ..self }
    }

    /// The value of a key.
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
    /// The same values have the same version everywhere and always.
    pub fn version(&self) -> &Arc<str> {
        self.version.get_or_init(|| {
            let yaml = gotemplate::yaml::to_yaml(&self.data).unwrap_or_default();
            crate::digest::hex(&yaml, 16).into()
        })
    }
}

/// Merges the values of containers, in this order. Positions that the sink and the overflow name are those in `containers`.
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
