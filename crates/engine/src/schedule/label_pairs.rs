//! An index of label selectors, to find the selectors that may match a set of labels.

use std::collections::HashMap;
use std::sync::Arc;

use model::label::Labels;

/// Positions in a list of objects with label selectors. Each position is stored under one label pair (key and value) that its selector
/// requires. A lookup compares a set of labels only with selectors that share a pair with it.
#[derive(Debug, Default)]
pub(crate) struct LabelPairIndex {
    by_key: HashMap<Arc<str>, HashMap<Arc<str>, Vec<usize>>>,
    /// The positions whose selectors require no single pair.
    always: Vec<usize>,
}

impl LabelPairIndex {
    /// Adds a position with a pair that its selector requires. None if its selector requires no single pair.
    pub(crate) fn insert(&mut self, position: usize, pair: Option<(&Arc<str>, &Arc<str>)>) {
        match pair {
            None => self.always.push(position),
            Some((key, value)) => {
                let by_value = self.by_key.entry(Arc::clone(key)).or_default();
                by_value.entry(Arc::clone(value)).or_default().push(position);
            }
        }
    }

    /// The positions, ascending, whose selectors may match these labels.
    pub(crate) fn candidates(&self, labels: &Labels) -> Vec<usize> {
        let mut positions = self.always.clone();
        if !self.by_key.is_empty() {
            let asking = labels.iter().filter_map(|(key, value)| self.by_key.get(key)?.get(value));
            positions.extend(asking.flatten());
            positions.sort_unstable();
        }
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses a thousand selectors that require `team` with a value each, and one selector without requirements.
    fn check(labels: &[(&str, &str)], expected: &[usize]) {
        let mut index = LabelPairIndex::default();
        index.insert(0, None);
        for position in 1..=1000 {
            index.insert(position, Some((&"team".into(), &position.to_string().into())));
        }
        assert_eq!(index.candidates(&labels.iter().copied().collect()), expected, "{labels:?}");
    }

    #[test]
    fn only_candidates_are_compared() {
        check(&[], &[0]);
        check(&[("size", "7"), ("team", "7")], &[0, 7]);
        check(&[("team", "other")], &[0]);
    }
}
