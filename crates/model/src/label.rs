//! Labels: key and value pairs on objects, by which everything in Kalypso finds everything else.

use std::sync::Arc;

/// The labels (or annotations) of an object, sorted by key.
///
/// A fleet has as many as it has objects, most of them alike: clones share one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels(Arc<[Pair]>);

type Pair = (Arc<str>, Arc<str>);

impl Labels {
    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&Arc<str>> {
        let (_, value) = self.0.get(self.position(key).ok()?)?;
        Some(value)
    }

    /// Sets a label, in place of an earlier value. Takes as long as there are labels.
    pub fn set(&mut self, key: impl Into<Arc<str>>, value: impl Into<Arc<str>>) {
        let pair = (key.into(), value.into());
        let mut pairs = self.0.to_vec();
        match self.position(&pair.0) {
            Ok(at) => pairs[at] = pair,
            Err(at) => pairs.insert(at, pair),
        }
        self.0 = pairs.into();
    }

    /// All labels by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Arc<str>)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// How many labels there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where the label is, or would be.
    fn position(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(found, _)| (**found).cmp(key))
    }
}

/// Of pairs with one key the last counts.
impl<K: Into<Arc<str>>, V: Into<Arc<str>>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut pairs: Vec<Pair> = pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        if pairs.is_empty() {
            return Self::default();
        }
        // Equal keys stay in their order, and the last of them comes first when it is the first that is kept.
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
