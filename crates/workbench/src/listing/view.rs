//! An environment that is prepared for questions.

use std::collections::BTreeMap;

use delivery::sources::loaded::Loaded;
use engine::answers::inventory::Inventory;
use engine::compile::Prepared;
use model::credential::without;
use model::diagnostic::Origin;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::label::Labels;
use model::locate::Locator;
use model::object_key::ObjectKey;

/// An environment with its answers.
pub struct View<'a> {
    /// The environment.
    pub loaded: &'a Loaded,
    /// The answers about its assignments.
    pub inventory: Inventory<'a>,
    /// Finds positions in its files.
    pub locator: Locator<'a>,
}

impl<'a> View<'a> {
    /// The view of a prepared environment.
    pub fn new(loaded: &'a Loaded, prepared: &'a Prepared) -> Self {
        Self { loaded, inventory: Inventory::new(prepared), locator: Locator::new(&loaded.fleet) }
    }

    /// The objects of the environment.
    pub fn fleet(&self) -> &'a Fleet {
        &self.loaded.fleet
    }

    /// The name of the environment.
    pub fn environment(&self) -> &'a str {
        self.loaded.fleet.environment.as_str()
    }

    /// The file and line of an object: `control-plane@prod:configs/west.yaml:4`.
    pub fn source(&mut self, origin: &Origin) -> String {
        self.locator.shown(origin).unwrap_or_else(|| "-".to_owned())
    }
}

/// The place where an object begins.
pub fn origin(key: &ObjectKey) -> Origin {
    Origin::field(key, FieldPath::from(["metadata", "name"]))
}

/// Pairs of keys and values without credentials of URLs.
pub type Pairs = BTreeMap<String, String>;

/// Pairs of keys and values, without credentials of URLs.
pub fn pairs<'l>(pairs: impl Iterator<Item = (&'l str, &'l str)>) -> Pairs {
    pairs.map(|(key, value)| (key.to_owned(), without(value).into_owned())).collect()
}

/// Labels, without credentials of URLs.
pub fn label_pairs(labels: &Labels) -> Pairs {
    pairs(labels.iter().map(|(key, value)| (&**key, &**value)))
}

/// Pairs as text: `region=west,size=large`. `-` if there are none.
pub fn pairs_text(pairs: &Pairs) -> String {
    let shown: Vec<_> = pairs.iter().map(|(key, value)| format!("{key}={}", one_line(value))).collect();
    or_dash(&shown.join(","))
}

/// A text on one line.
pub fn one_line(text: &str) -> String {
    if text.contains(['\n', '\t']) { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text.to_owned() }
}

/// A text, or `-` if it is empty.
pub fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { one_line(text) }
}
