//! The patterns of a schema as their author wrote them, for messages.

use std::collections::BTreeMap;

use model::field_path::{FieldPath, FieldStep};

/// The patterns as written, by those of the validator.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenPatterns(BTreeMap<String, String>);

impl WrittenPatterns {
    /// From pairs of the validator's pattern and the written one.
    pub(super) fn new(pairs: impl Iterator<Item = (String, String)>) -> Self {
        Self(pairs.collect())
    }

    /// The pattern as its author wrote it.
    pub(super) fn get<'p>(&'p self, pattern: &'p str) -> &'p str {
        self.0.get(pattern).map_or(pattern, String::as_str)
    }

    /// A path in the validator's schema, as a path in the written one.
    pub(super) fn path(&self, path: FieldPath) -> FieldPath {
        if self.0.is_empty() {
            return path;
        }
        let step = |step: &FieldStep| match step {
            FieldStep::Key(key) => FieldStep::Key(self.get(key).into()),
            FieldStep::Index(index) => FieldStep::Index(*index),
        };
        path.steps().iter().map(step).collect()
    }
}
