//! The entries of a map, in the order of their keys.

use std::collections::{BTreeMap, btree_map};
use std::slice;

use super::{Key, Value};

/// The entries of a map, in the order of their keys.
///
/// A map stores its entries in a vector, until entries are added to a large one. A fleet has millions of maps, most of them with three or four entries. A tree
/// takes three times the memory for them.
#[derive(Clone, Debug)]
pub struct Entries(Form);

#[derive(Clone, Debug)]
enum Form {
    /// In the order of the keys.
    Sorted(Vec<(Key, Value)>),
    Tree(BTreeMap<Key, Value>),
}

/// An entry that is added to a larger map makes it a tree, where an insertion does not move the other entries.
const FEW_MAX: usize = 96;

impl Entries {
    /// Makes an empty set of entries.
    pub const fn new() -> Self {
        Self(Form::Sorted(Vec::new()))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Sorted(few) => few.len(),
            Form::Tree(many) => many.len(),
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key.
    pub fn get(&self, key: &Key) -> Option<&Value> {
        match &self.0 {
            Form::Sorted(few) => few.get(position(few, key).ok()?).map(|(_, value)| value),
            Form::Tree(many) => many.get(key),
        }
    }

    /// The value of a key, to change it.
    pub fn get_mut(&mut self, key: &Key) -> Option<&mut Value> {
        match &mut self.0 {
            Form::Sorted(few) => {
                let position = position(few, key).ok()?;
                few.get_mut(position).map(|(_, value)| value)
            }
            Form::Tree(many) => many.get_mut(key),
        }
    }

    /// Whether the key has a value.
    pub fn contains_key(&self, key: &Key) -> bool {
        self.get(key).is_some()
    }

    /// Sets the value of a key. Returns its previous value.
    pub fn insert(&mut self, key: Key, value: Value) -> Option<Value> {
        match &mut self.0 {
            Form::Sorted(few) => match position(few, &key) {
                Ok(position) => few.get_mut(position).map(|(_, old)| std::mem::replace(old, value)),
                Err(position) if few.len() < FEW_MAX => {
                    few.insert(position, (key, value));
                    None
                }
                Err(_) => {
                    let mut many: BTreeMap<_, _> = std::mem::take(few).into_iter().collect();
                    many.insert(key, value);
                    self.0 = Form::Tree(many);
                    None
                }
            },
            Form::Tree(many) => many.insert(key, value),
        }
    }

    /// Removes a key. Returns its value.
    pub fn remove(&mut self, key: &Key) -> Option<Value> {
        match &mut self.0 {
            Form::Sorted(few) => {
                let position = position(few, key).ok()?;
                Some(few.remove(position).1)
            }
            Form::Tree(many) => many.remove(key),
        }
    }

    /// Iterates over keys and values, in the order of the keys.
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.0 {
            Form::Sorted(few) => IterForm::Sorted(few.iter()),
            Form::Tree(many) => IterForm::Tree(many.iter()),
        })
    }

    /// Iterates over the keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &Key> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Iterates over the values, in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &Value> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the values, in the order of their keys.
    pub fn into_values(self) -> Vec<Value> {
        match self.0 {
            Form::Sorted(few) => few.into_iter().map(|(_, value)| value).collect(),
            Form::Tree(many) => many.into_values().collect(),
        }
    }

    /// Frees memory that no entry uses.
    pub fn shrink(&mut self) {
        if let Form::Sorted(few) = &mut self.0 {
            few.shrink_to_fit();
        }
    }
}

/// The index of a key (`Ok`), or the index where it would be inserted (`Err`).
fn position(few: &[(Key, Value)], key: &Key) -> Result<usize, usize> {
    few.binary_search_by(|(other, _)| other.cmp(key))
}

impl Default for Entries {
    fn default() -> Self {
        Self::new()
    }
}

/// If several entries have the same key, the last one is kept.
impl FromIterator<(Key, Value)> for Entries {
    fn from_iter<I: IntoIterator<Item = (Key, Value)>>(entries: I) -> Self {
        let mut few: Vec<_> = entries.into_iter().collect();
        if !few.is_sorted_by(|(one, _), (next, _)| one < next) {
            few.sort_by(|(one, _), (other, _)| one.cmp(other));
            few.dedup_by(|later, kept| {
                let is_same = later.0 == kept.0;
                if is_same {
                    std::mem::swap(later, kept);
                }
                is_same
            });
        }
        few.shrink_to_fit();
        Self(Form::Sorted(few))
    }
}

impl<const N: usize> From<[(Key, Value); N]> for Entries {
    fn from(entries: [(Key, Value); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Entries {
    type Item = (&'a Key, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Iterates over the entries of a map, in the order of the keys.
#[derive(Clone, Debug)]
pub struct Iter<'a>(IterForm<'a>);

#[derive(Clone, Debug)]
enum IterForm<'a> {
    Sorted(slice::Iter<'a, (Key, Value)>),
    Tree(btree_map::Iter<'a, Key, Value>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a Key, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            IterForm::Sorted(few) => few.next().map(|(key, value)| (key, value)),
            IterForm::Tree(many) => many.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            IterForm::Sorted(few) => few.size_hint(),
            IterForm::Tree(many) => many.size_hint(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// After any edits, the entries are the same as those of a `BTreeMap`.
        #[test]
        fn entries_match_a_btreemap(
            begin in proptest::collection::vec((0..200_i64, 0..9_i64), 0..150),
            edits in proptest::collection::vec((0..3_u8, 0..200_i64, 0..9_i64), 0..150)
        ) {
            let pairs = || begin.iter().map(|(key, value)| (Key::Int(*key), Value::int(*value)));
            let (mut entries, mut tree): (Entries, BTreeMap<Key, Value>) = (pairs().collect(), pairs().collect());
            let shown = |value: Option<&Value>| format!("{value:?}");
            for (edit, key, value) in edits {
                let (key, value) = (Key::Int(key), Value::int(value));
                prop_assert_eq!(shown(entries.get(&key)), shown(tree.get(&key)));
                match edit {
                    0 => prop_assert_eq!(
                        shown(entries.insert(key.clone(), value.clone()).as_ref()),
                        shown(tree.insert(key, value).as_ref())
                    ),
                    1 => prop_assert_eq!(shown(entries.remove(&key).as_ref()), shown(tree.remove(&key).as_ref())),
                    _ => {
                        let (one, other) = (entries.get_mut(&key), tree.get_mut(&key));
                        prop_assert_eq!(one.is_some(), other.is_some());
                        one.into_iter().chain(other).for_each(|slot| *slot = value.clone());
                    }
                }
                prop_assert_eq!(entries.len(), tree.len());
            }
            prop_assert_eq!(format!("{:?}", entries.iter().collect::<Vec<_>>()), format!("{:?}", tree.iter().collect::<Vec<_>>()));
        }
    }
}
