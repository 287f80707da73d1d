//! The path from a document's root to one of its fields.

use std::fmt;
use std::sync::Arc;

/// A path such as `spec.manifests[1]`. The empty path stands for the document itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Vec<FieldStep>);

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldStep {
    /// To the value of a key in a mapping.
    Key(Arc<str>),
    /// To an item of a sequence, counted from 0.
    Index(usize),
}

impl FieldPath {
    /// The steps, from the root on.
    pub fn steps(&self) -> &[FieldStep] {
        &self.0
    }

    /// The path of a field below this one.
    #[must_use]
    pub fn key(&self, key: impl Into<Arc<str>>) -> Self {
        self.then(FieldStep::Key(key.into()))
    }

    /// The path of an item below this one.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.then(FieldStep::Index(index))
    }

    /// The path with one more step.
    #[must_use]
    pub fn then(&self, step: FieldStep) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Appends a step.
    pub fn push(&mut self, step: FieldStep) {
        self.0.push(step);
    }

    /// Removes the last step, and returns it. None if the path is empty.
    pub fn pop(&mut self) -> Option<FieldStep> {
        self.0.pop()
    }

    /// Whether `self` is `other` or a field below it.
    pub fn is_at_or_below(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl<const N: usize> From<[&str; N]> for FieldPath {
    fn from(keys: [&str; N]) -> Self {
        Self(keys.into_iter().map(|key| FieldStep::Key(key.into())).collect())
    }
}

impl FromIterator<FieldStep> for FieldPath {
    fn from_iter<I: IntoIterator<Item = FieldStep>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                FieldStep::Key(key) if position == 0 => write!(f, "{key}")?,
                FieldStep::Key(key) => write!(f, ".{key}")?,
                FieldStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
