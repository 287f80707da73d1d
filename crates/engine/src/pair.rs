//! Finding what asks for a label by the labels that somebody has.

use std::collections::HashMap;
use std::sync::Arc;

use model::label::Labels;

/// Positions in a list of things that select by labels, found through one pair of key and value that each of them asks for:
/// so nobody's labels are compared with all of them.
#[derive(Debug, Default)]
pub(crate) struct ByPair {
    by_key: HashMap<Arc<str>, HashMap<Arc<str>, Vec<usize>>>,
    /// Those that ask for no pair in particular.
    always: Vec<usize>,
}

impl ByPair {
    /// Adds the next thing, with a pair that it asks for.
    pub(crate) fn insert(&mut self, position: usize, pair: Option<(&Arc<str>, &Arc<str>)>) {
        match pair {
            None => self.always.push(position),
            Some((key, value)) => {
                let by_value = self.by_key.entry(Arc::clone(key)).or_default();
                by_value.entry(Arc::clone(value)).or_default().push(position);
            }
        }
    }

    /// Those that may select somebody with these labels, in the order of their positions.
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

    /// A thousand things that ask for `team` with a value each, and one that asks for nothing.
    fn check(labels: &[(&str, &str)], expected: &[usize]) {
        let mut index = ByPair::default();
        index.insert(0, None);
        for position in 1..=1000 {
            index.insert(position, Some((&"team".into(), &position.to_string().into())));
        }
        assert_eq!(index.candidates(&labels.iter().copied().collect()), expected, "{labels:?}");
    }

    #[test]
    fn nobody_is_compared_with_all() {
        check(&[], &[0]);
        check(&[("size", "7"), ("team", "7")], &[0, 7]);
        check(&[("team", "other")], &[0]);
    }
}
