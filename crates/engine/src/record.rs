//! What composition can tell about itself: who set which value, and what that took the place of.

use std::sync::Arc;

use gotemplate::value::{Key, Value};
use model::field_path::{FieldPath, Step};

/// Told of everything that composition does. The silent one costs nothing: composition is compiled for each sink on its own.
pub(crate) trait Sink {
    /// What comes now is from this entry (a position in the list of containers, and one in its entries).
    fn begin(&mut self, container: usize, entry: usize);
    /// Goes down to a key.
    fn enter_key(&mut self, key: &Key);
    /// Goes down to an item: its position in the result, and in the container's own list.
    fn enter_item(&mut self, position: usize, source: usize);
    /// Goes up again.
    fn leave(&mut self);
    /// A value was put where there was none.
    fn placed(&mut self, value: &Value);
    /// A value was put in the place of another.
    fn replaced(&mut self, later: &Value);
}

/// The sink for when nobody asks.
pub(crate) struct Silent;

impl Sink for Silent {
    fn begin(&mut self, _container: usize, _entry: usize) {}
    fn enter_key(&mut self, _key: &Key) {}
    fn enter_item(&mut self, _position: usize, _source: usize) {}
    fn leave(&mut self) {}
    fn placed(&mut self, _value: &Value) {}
    fn replaced(&mut self, _later: &Value) {}
}

/// One thing that composition did.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// The container, by its position.
    pub(crate) container: usize,
    /// The entry of the container, by its position.
    pub(crate) entry: usize,
    /// Where the value went, in the composed data.
    pub(crate) path: FieldPath,
    /// Where the value was, in the entry's own value.
    pub(crate) source: FieldPath,
    /// The value.
    pub(crate) value: Value,
}

/// The sink that remembers.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) events: Vec<Event>,
    container: usize,
    entry: usize,
    path: FieldPath,
    source: FieldPath,
}

impl Recording {
    fn push(&mut self, value: &Value) {
        // The top level's key is the entry's name in the result, and no part of the entry's own value.
        let source = self.source.steps().iter().skip(1).cloned().collect();
        let (container, entry, path) = (self.container, self.entry, self.path.clone());
        self.events.push(Event { container, entry, path, source, value: value.clone() });
    }
}

impl Sink for Recording {
    fn begin(&mut self, container: usize, entry: usize) {
        (self.container, self.entry) = (container, entry);
    }

    fn enter_key(&mut self, key: &Key) {
        let step = Step::Key(key_text(key));
        self.path.push(step.clone());
        self.source.push(step);
    }

    fn enter_item(&mut self, position: usize, source: usize) {
        self.path.push(Step::Index(position));
        self.source.push(Step::Index(source));
    }

    fn leave(&mut self) {
        self.path.pop();
        self.source.pop();
    }

    fn placed(&mut self, value: &Value) {
        self.push(value);
    }

    fn replaced(&mut self, later: &Value) {
        self.push(later);
    }
}

/// A key as paths show it.
pub(crate) fn key_text(key: &Key) -> Arc<str> {
    match key {
        Key::Nil => "null".into(),
        Key::Bool(value) => value.to_string().into(),
        Key::Int(number) => number.to_string().into(),
        Key::Uint(number) => number.to_string().into(),
        Key::Float(number) => number.0.to_string().into(),
        Key::Text(text) => text.to_str().into(),
    }
}
