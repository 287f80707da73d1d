//! A part of the configuration that can be replaced while the hub runs.

use std::sync::{Arc, PoisonError, RwLock};

/// A list from the configuration. Clones share the list: a replacement applies to all clones.
#[derive(Debug)]
pub struct Configured<T>(Arc<RwLock<Arc<[T]>>>);

impl<T> Configured<T> {
    /// A list with this initial content.
    pub fn new(list: Vec<T>) -> Self {
        Self(Arc::new(RwLock::new(list.into())))
    }

    /// The present list. It does not change for the caller if the list is replaced later.
    pub fn now(&self) -> Arc<[T]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the list.
    pub fn replace(&self, list: Vec<T>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = list.into();
    }
}

impl<T> Clone for Configured<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Configured<T> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_list() {
        let one = Configured::new(vec![1]);
        let (other, before) = (one.clone(), one.now());
        other.replace(vec![2, 3]);
        assert_eq!((&*before, &*one.now()), (&[1][..], &[2, 3][..]));
    }
}
