//! Numeric ids for names. A name keeps its id while a fleet changes.

use std::collections::HashMap;
use std::sync::Arc;

/// Assigns ids to names in the order of their first use. A removed name keeps its id. Data stored by id is valid again when the name comes back.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    by_name: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

impl Ids {
    /// Returns the id of a name. Assigns a new id to a new name.
    pub(crate) fn get_or_insert(&mut self, name: &Arc<str>) -> u32 {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.by_name.insert(Arc::clone(name), id);
        self.names.push(Arc::clone(name));
        id
    }

    /// Returns the name with an id, also if the name was removed.
    pub(crate) fn name(&self, id: u32) -> Option<&Arc<str>> {
        self.names.get(id as usize)
    }

    /// Returns the id of a name. None if the name has no id.
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }
}

/// Values by id. An id may have no value.
#[derive(Debug)]
pub(crate) struct ById<T>(Vec<Option<T>>);

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ById<T> {
    /// Returns the value with an id.
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.0.get(id as usize)?.as_ref()
    }

    /// Returns a mutable reference to the value with an id.
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.0.get_mut(id as usize)?.as_mut()
    }

    /// Stores a value under an id. Returns the previous value.
    pub(crate) fn set(&mut self, id: u32, value: T) -> Option<T> {
        let position = id as usize;
        if self.0.len() <= position {
            self.0.resize_with(position + 1, || None);
        }
        self.0.get_mut(position).and_then(|slot| slot.replace(value))
    }

    /// Removes the value with an id, and returns it.
    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
        self.0.get_mut(id as usize)?.take()
    }

    /// All values with their ids, by id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.0.iter().enumerate().filter_map(|(position, value)| Some((position as u32, value.as_ref()?)))
    }
}
