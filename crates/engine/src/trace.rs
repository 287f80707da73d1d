//! Where values come from: composition again, with everything that it does recorded.

use std::sync::Arc;

use gotemplate::value::{Key, Value};
use model::diagnostic::{Origin, Part};
use model::field_path::{FieldPath, Step};

use crate::compose::compose;
use crate::container::Container;
use crate::record::{Event, Recording, key_text};

/// One container's say about a value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The container.
    pub(crate) container: Arc<Container>,
    /// Where it is written.
    pub origin: Origin,
    /// The value that was set there.
    pub value: Value,
}

/// Everything that was done to the values of one assignment, in order.
#[derive(Debug)]
pub(crate) struct Trace {
    containers: Vec<Arc<Container>>,
    events: Vec<Event>,
    pub(crate) data: Value,
}

impl Trace {
    /// Composes containers and remembers how.
    pub(crate) fn record(containers: Vec<Arc<Container>>) -> Self {
        let mut recording = Recording::default();
        let composition = compose(&containers, &mut recording);
        Self { containers, events: recording.events, data: composition.data }
    }

    /// Who set the value at `path`, the last first: that one counts, it overrides the others.
    pub(crate) fn settings(&self, path: &FieldPath) -> Vec<Setting> {
        let of_event = |event: &Event| {
            let rest = path.steps().get(event.path.steps().len()..)?;
            let value = follow(&event.value, rest)?;
            Some(self.setting(event, rest, value))
        };
        self.events.iter().rev().filter(|event| path.is_at_or_below(&event.path)).filter_map(of_event).collect()
    }

    /// The paths of all values that are not mappings or lists with something in them, with the values.
    pub(crate) fn leaves(&self) -> Vec<(FieldPath, Value)> {
        let mut leaves = Vec::new();
        collect_leaves(&self.data, &mut FieldPath::default(), &mut leaves);
        leaves
    }

    fn setting(&self, event: &Event, rest: &[Step], value: &Value) -> Setting {
        let container = &self.containers[event.container];
        let entry = &container.entries[event.entry];
        let inside: FieldPath = event.source.steps().iter().chain(rest).cloned().collect();
        let part = if inside.steps().is_empty() { Part::Value } else { Part::Inside(inside) };
        Setting { container: Arc::clone(container), origin: container.origin(entry, part), value: value.clone() }
    }
}

/// The value at the end of `steps` below `value`.
pub(crate) fn follow<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match (value, step) {
        (Value::Map(map), Step::Key(name)) => {
            let by_text = map.entries.get(&Key::Text((&**name).into()));
            by_text.or_else(|| map.entries.iter().find(|(key, _)| key_text(key) == *name).map(|(_, value)| value))
        }
        (Value::List(list), Step::Index(index)) => list.items.get(*index),
        _ => None,
    })
}

/// The depth is bounded by that of the YAML that the values were read from.
pub(crate) fn collect_leaves(value: &Value, path: &mut FieldPath, leaves: &mut Vec<(FieldPath, Value)>) {
    let mut below = |step: Step, value: &Value| {
        path.push(step);
        collect_leaves(value, path, leaves);
        path.pop();
    };
    match value {
        Value::Map(map) if !map.entries.is_empty() => {
            map.entries.iter().for_each(|(key, value)| below(Step::Key(key_text(key)), value));
        }
        Value::List(list) if !list.items.is_empty() => {
            list.items.iter().enumerate().for_each(|(index, value)| below(Step::Index(index), value));
        }
        leaf => leaves.push((path.clone(), leaf.clone())),
    }
}

/// `value` with another one at the end of `steps`. None if there is nothing to replace.
pub(crate) fn with_value(value: &Value, steps: &[Step], new: &Value) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else { return Some(new.clone()) };
    match (value, step) {
        (Value::Map(map), Step::Key(name)) => {
            let (key, inner) = map.entries.iter().find(|(key, _)| key_text(key) == *name)?;
            let mut entries = map.entries.clone();
            entries.insert(key.clone(), with_value(inner, rest, new)?);
            Some(Value::map(map.kind, entries))
        }
        (Value::List(list), Step::Index(index)) => {
            let mut items = list.items.clone();
            let inner = items.get(*index)?;
            items[*index] = with_value(inner, rest, new)?;
            Some(Value::list(items))
        }
        _ => None,
    }
}
