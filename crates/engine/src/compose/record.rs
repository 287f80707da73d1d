//! Records composition: which container set which value, and which values were replaced.

use std::sync::Arc;

use gotemplate::value::{Key, Value};
use model::field_path::{FieldPath, FieldStep};

/// Receives an event for each step of composition. [`Silent`] has no cost, because composition is compiled for each sink type.
pub(crate) trait Sink {
    /// The following events come from this entry: the position of a container in the list, and the position of an entry in the container.
    fn begin(&mut self, container: usize, entry: usize);
    /// The following events are below this key.
    fn enter_key(&mut self, key: &Key);
    /// The following events are below this item: its position in the merged list, and in the container's own list.
    fn enter_item(&mut self, position: usize, source: usize);
    /// Ends the last key or item that was entered.
    fn leave(&mut self);
    /// A value was set for the first time.
    fn placed(&mut self, value: &Value);
    /// A value replaced an earlier value.
    fn replaced(&mut self, later: &Value);
}

/// The sink that ignores all events.
pub(crate) struct Silent;

impl Sink for Silent {
    fn begin(&mut self, _container: usize, _entry: usize) {}
    fn enter_key(&mut self, _key: &Key) {}
    fn enter_item(&mut self, _position: usize, _source: usize) {}
    fn leave(&mut self) {}
    fn placed(&mut self, _value: &Value) {}
    fn replaced(&mut self, _later: &Value) {}
}

/// A value that composition set or replaced.
#[derive(Clone, Debug)]
pub(crate) struct MoveEvent {
    /// The position of the container.
    pub(crate) container: usize,
    /// The position of the entry in the container.
    pub(crate) entry: usize,
    /// The path of the value in the composed data.
    pub(crate) path: FieldPath,
    /// The path of the value inside the entry's own value.
    pub(crate) source: FieldPath,
    /// The value.
    pub(crate) value: Value,
}

/// The sink that stores all events.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) events: Vec<MoveEvent>,
    container: usize,
    entry: usize,
    path: FieldPath,
    source: FieldPath,
}

impl Recording {
    fn push(&mut self, value: &Value) {
        // The first step is the entry's key in the result. It is not part of the entry's own value.
        let source = self.source.steps().iter().skip(1).cloned().collect();
        let (container, entry, path) = (self.container, self.entry, self.path.clone());
        self.events.push(MoveEvent { container, entry, path, source, value: value.clone() });
    }
}

impl Sink for Recording {
    fn begin(&mut self, container: usize, entry: usize) {
        (self.container, self.entry) = (container, entry);
    }

    fn enter_key(&mut self, key: &Key) {
        let step = FieldStep::Key(key_text(key));
        self.path.push(step.clone());
        self.source.push(step);
    }

    fn enter_item(&mut self, position: usize, source: usize) {
        self.path.push(FieldStep::Index(position));
        self.source.push(FieldStep::Index(source));
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

/// A key as the text that paths show.
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
