//! The origins of values: composes again, and records each step.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use gotemplate::value::{Key, Value};
use model::diagnostic::{FieldPart, Origin};
use model::field_path::{FieldPath, FieldStep};

use crate::compose::compose_in_order;
use crate::compose::container::Container;
use crate::compose::record::{MoveEvent, Recording, key_text};

/// The value that a container sets at a path.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The container.
    pub(crate) container: Arc<Container>,
    /// The place of the value.
    pub origin: Origin,
    /// The value that the container sets.
    pub value: Value,
}

/// All steps of the composition of one assignment, in order.
#[derive(Debug)]
pub(crate) struct Trace {
    containers: Vec<Arc<Container>>,
    events: Vec<MoveEvent>,
    /// The positions of the events at each path.
    at: HashMap<FieldPath, Vec<usize>>,
    pub(crate) data: Value,
}

impl Trace {
    /// Composes containers and records the steps.
    pub(crate) fn record(containers: Vec<Arc<Container>>) -> Self {
        let mut recording = Recording::default();
        let composition = compose_in_order(&containers, &mut recording);
        let mut at: HashMap<_, Vec<_>> = HashMap::new();
        for (number, event) in recording.events.iter().enumerate() {
            at.entry(event.path.clone()).or_default().push(number);
        }
        Self { containers, events: recording.events, at, data: composition.data }
    }

    /// The settings of the value at `path`, the last one first. The last one overrides the others.
    pub(crate) fn settings(&self, path: &FieldPath) -> Vec<Setting> {
        let mut found: Vec<_> = self.numbered_settings(path).collect();
        found.sort_unstable_by_key(|(number, ..)| std::cmp::Reverse(*number));
        found.into_iter().map(|(_, setting)| setting).collect()
    }

    /// The parts of the value at `path` that several containers set, with their paths, in merge order. Empty if one container set the whole value.
    pub(crate) fn pieces(&self, path: &FieldPath) -> Vec<(FieldPath, Setting)> {
        let Some(value) = follow(&self.data, path.steps()) else { return Vec::new() };
        let mut leaves = Vec::new();
        collect_leaves(value, &mut path.clone(), &mut leaves);
        let latest = |(leaf, _): &(FieldPath, Value)| self.numbered_settings(leaf).map(|(number, _)| number).max();
        let numbers: BTreeSet<_> = leaves.iter().filter_map(latest).collect();
        if numbers.len() < 2 {
            return Vec::new();
        }
        let piece = |number: usize| {
            let event = self.events.get(number)?;
            let at = if event.path.is_at_or_below(path) { &event.path } else { path };
            Some((at.clone(), self.setting_at(number, at)?))
        };
        numbers.into_iter().filter_map(piece).collect()
    }

    /// The events that set a value at `path`, each with its position.
    fn numbered_settings(&self, path: &FieldPath) -> impl Iterator<Item = (usize, Setting)> {
        let above = (0..=path.steps().len()).filter_map(|length| path.steps().get(..length));
        let numbers = above.filter_map(|steps| self.at.get(&steps.iter().cloned().collect::<FieldPath>())).flatten();
        numbers.filter_map(|number| Some((*number, self.setting_at(*number, path)?)))
    }

    /// The value that an event set at `path`, which is at or below the event's own path.
    fn setting_at(&self, number: usize, path: &FieldPath) -> Option<Setting> {
        let event = self.events.get(number)?;
        let rest = path.steps().get(event.path.steps().len()..)?;
        Some(self.setting(event, rest, follow(&event.value, rest)?))
    }

    /// The paths and values of all leaves: scalars, empty mappings and empty lists.
    pub(crate) fn leaves(&self) -> Vec<(FieldPath, Value)> {
        leaves_of_all(&self.data)
    }

    fn setting(&self, event: &MoveEvent, rest: &[FieldStep], value: &Value) -> Setting {
        let container = &self.containers[event.container];
        let entry = &container.entries[event.entry];
        let inside: FieldPath = event.source.steps().iter().chain(rest).cloned().collect();
        let part = if inside.steps().is_empty() { FieldPart::Value } else { FieldPart::Inside(inside) };
        Setting { container: Arc::clone(container), origin: container.origin(entry, part), value: value.clone() }
    }
}

/// Follows `steps` down from `value`. None if there is no such value.
pub(crate) fn follow<'v>(value: &'v Value, steps: &[FieldStep]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match (value, step) {
        (Value::Map(map), FieldStep::Key(name)) => {
            let by_text = map.entries().get(&Key::Text((&**name).into()));
            by_text.or_else(|| map.entries().iter().find(|(key, _)| key_text(key) == *name).map(|(_, value)| value))
        }
        (Value::List(list), FieldStep::Index(index)) => list.items().get(*index),
        _ => None,
    })
}

/// The leaves of all values of an assignment. Without values there are none, and not one with an empty path.
pub(crate) fn leaves_of_all(data: &Value) -> Vec<(FieldPath, Value)> {
    let mut leaves = Vec::new();
    if !matches!(data, Value::Map(map) if map.entries().is_empty()) {
        collect_leaves(data, &mut FieldPath::default(), &mut leaves);
    }
    leaves
}

/// Adds the leaves of a value to `leaves`. The recursion is at most as deep as the YAML that the values were read from.
pub(crate) fn collect_leaves(value: &Value, path: &mut FieldPath, leaves: &mut Vec<(FieldPath, Value)>) {
    let mut below = |step: FieldStep, value: &Value| {
        path.push(step);
        collect_leaves(value, path, leaves);
        path.pop();
    };
    match value {
        Value::Map(map) if !map.entries().is_empty() => {
            map.entries().iter().for_each(|(key, value)| below(FieldStep::Key(key_text(key)), value));
        }
        Value::List(list) if !list.items().is_empty() => {
            list.items().iter().enumerate().for_each(|(index, value)| below(FieldStep::Index(index), value));
        }
        leaf => leaves.push((path.clone(), leaf.clone())),
    }
}

/// Returns `value` with `new` at the end of `steps`. None if no value is there.
pub(crate) fn with_value(value: &Value, steps: &[FieldStep], new: &Value) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else { return Some(new.clone()) };
    match (value, step) {
        (Value::Map(map), FieldStep::Key(name)) => {
            let (key, inner) = map.entries().iter().find(|(key, _)| key_text(key) == *name)?;
            let mut entries = map.entries().clone();
            entries.insert(key.clone(), with_value(inner, rest, new)?);
            Some(Value::map(map.kind, entries))
        }
        (Value::List(list), FieldStep::Index(index)) => {
            let mut items = list.items().to_vec();
            let inner = items.get(*index)?;
            items[*index] = with_value(inner, rest, new)?;
            Some(Value::list(items))
        }
        _ => None,
    }
}
