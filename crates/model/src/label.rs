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

    /// The same labels, but with these keys as in `other`: set there, or left out.
    #[must_use]
    pub fn with_keys_of(&self, other: &Self, keys: &[&str]) -> Self {
        let is_other = |(key, _): &(&Arc<str>, &Arc<str>)| keys.contains(&&***key);
        let own = self.iter().filter(|pair| !is_other(pair));
        let pairs = own.chain(other.iter().filter(is_other));
        pairs.map(|(key, value)| (Arc::clone(key), Arc::clone(value))).collect()
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

/// The longest value of a label, and the longest name in a key, in bytes.
const LENGTH_MAX: usize = 63;

/// Checks the key of a label by the rules of Kubernetes: a name, or a DNS subdomain with a name behind `/`.
///
/// # Errors
/// The broken rule.
pub fn check_key(key: &str) -> Result<(), &'static str> {
    let (prefix, name) = key.rsplit_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if prefix.is_some_and(|prefix| crate::name::check(prefix).is_err()) {
        return Err("before `/` is a DNS name");
    }
    if name.is_empty() {
        return Err("it is empty");
    }
    check_value(name)
}

/// Checks the value of a label by the rules of Kubernetes. It may be empty.
///
/// # Errors
/// The broken rule.
pub fn check_value(value: &str) -> Result<(), &'static str> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    if value.len() > LENGTH_MAX {
        return Err("it has more than 63 characters");
    }
    if value.chars().all(is_allowed) && is_edge(value.chars().next()) && is_edge(value.chars().last()) {
        Ok(())
    } else {
        Err("only letters, digits, `-`, `_` and `.` can be in it, with letters or digits at both ends")
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

    #[test]
    fn keys_and_values_follow_the_rules_of_kubernetes() {
        for good in ["region", "a.b/c", "app.kubernetes.io/name", "A_b.c-1"] {
            assert_eq!(check_key(good), Ok(()), "{good}");
        }
        for bad in ["", "a/", "/a", "a b", "-a", "A/b", &"x".repeat(64)] {
            assert!(check_key(bad).is_err(), "{bad}");
        }
        assert_eq!((check_value(""), check_value("West US").is_err()), (Ok(()), true));
    }
}
