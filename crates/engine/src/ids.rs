//! Numbers for names, which stay what they are while a fleet changes.

use std::collections::HashMap;
use std::sync::Arc;

/// Numbers given to names in the order in which they were seen first. A name that is gone keeps its number, so that whatever is known by
/// the number is known again when it comes back.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    by_name: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

impl Ids {
    /// The number of a name; a new one if it was never seen.
    pub(crate) fn of(&mut self, name: &Arc<str>) -> u32 {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.by_name.insert(Arc::clone(name), id);
        self.names.push(Arc::clone(name));
        id
    }

    /// The name with a number, whether it is still there or not.
    pub(crate) fn name(&self, id: u32) -> Option<&Arc<str>> {
        self.names.get(id as usize)
    }

    /// The number of a name that was seen.
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }
}

/// Values by number; there may be none at a number.
#[derive(Debug)]
pub(crate) struct ById<T>(Vec<Option<T>>);

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ById<T> {
    /// The value at a number.
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.0.get(id as usize)?.as_ref()
    }

    /// The value at a number, to change it.
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.0.get_mut(id as usize)?.as_mut()
    }

    /// Puts a value at a number. Returns what was there.
    pub(crate) fn set(&mut self, id: u32, value: T) -> Option<T> {
        let position = id as usize;
        if self.0.len() <= position {
            self.0.resize_with(position + 1, || None);
        }
        self.0.get_mut(position).and_then(|slot| slot.replace(value))
    }

    /// Takes the value at a number away.
    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
        self.0.get_mut(id as usize)?.take()
    }

    /// All values with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.0.iter().enumerate().filter_map(|(position, value)| Some((position as u32, value.as_ref()?)))
    }
}
