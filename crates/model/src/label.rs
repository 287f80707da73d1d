//! Labels: pairs of key and value on objects. Selectors find objects by their labels.

use std::sync::Arc;

/// The labels (or annotations) of an object, sorted by key.
///
/// A fleet has one set for each object, and most are equal. Clones share one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels(Arc<[Pair]>);

type Pair = (Arc<str>, Arc<str>);

impl Labels {
    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&Arc<str>> {
        let (_, value) = self.0.get(self.position(key).ok()?)?;
        Some(value)
    }

    /// Sets a label, and replaces an earlier value. The time is linear in the number of labels.
    pub fn set(&mut self, key: impl Into<Arc<str>>, value: impl Into<Arc<str>>) {
        let pair = (key.into(), value.into());
        let mut pairs = self.0.to_vec();
        match self.position(&pair.0) {
            Ok(at) => pairs[at] = pair,
            Err(at) => pairs.insert(at, pair),
        }
        self.0 = pairs.into();
    }

    /// All labels, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Arc<str>)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The number of labels.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The position of the label, or the position where it would be inserted.
    fn position(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(found, _)| (**found).cmp(key))
    }
}

/// If pairs have the same key, the last one counts.
impl<K: Into<Arc<str>>, V: Into<Arc<str>>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut pairs: Vec<Pair> = pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        if pairs.is_empty() {
            return Self::default();
        }
        // The sort is stable. Of equal keys, the last one comes first after the reversal, and is kept.
        pairs.reverse();
        pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
        pairs.dedup_by(|(later, _), (first, _)| later == first);
        Self(pairs.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_by_key_and_the_last_of_equal_keys_counts() {
        let mut labels = Labels::from_iter([("size", "large"), ("region", "east"), ("size", "small")]);
        labels.set("region", "west");
        labels.set("a", "b");
        let all: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(all, ["a=b", "region=west", "size=small"]);
        assert_eq!(labels.get("size").map(|size| &**size), Some("small"));
        assert_eq!(labels.get("none"), None);
    }
}
