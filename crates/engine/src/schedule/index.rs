//! An inverted index of labels: for each label, the ids of the places or targets that have it, as compressed bitmaps.

use std::collections::HashMap;
use std::sync::Arc;

use model::selector::{LabelSelector, Operator, Requirement};
use roaring::RoaringBitmap;

/// Ids by label. The cost of a selection depends on its requirements and on the number of selected ids, not on the number of all ids.
#[derive(Debug, Default)]
pub(crate) struct LabelIndex {
    all: RoaringBitmap,
    keys: HashMap<Arc<str>, LabelledIds>,
}

/// The ids that have a label key.
#[derive(Debug, Default)]
struct LabelledIds {
    any: RoaringBitmap,
    by_value: HashMap<Arc<str>, RoaringBitmap>,
}

impl LabelIndex {
    /// Adds an id with its labels.
    pub(crate) fn insert<'l>(&mut self, id: u32, labels: impl Iterator<Item = (&'l Arc<str>, &'l Arc<str>)>) {
        self.all.insert(id);
        for (key, value) in labels {
            if !self.keys.contains_key(key) {
                self.keys.insert(Arc::clone(key), LabelledIds::default());
            }
            let Some(labelled) = self.keys.get_mut(key) else { continue };
            labelled.any.insert(id);
            match labelled.by_value.get_mut(value) {
                Some(with_value) => {
                    with_value.insert(id);
                }
                None => {
                    labelled.by_value.insert(Arc::clone(value), RoaringBitmap::from_iter([id]));
                }
            }
        }
    }

    /// Removes an id. `labels` must be the labels that it was added with.
    pub(crate) fn remove<'l>(&mut self, id: u32, labels: impl Iterator<Item = (&'l Arc<str>, &'l Arc<str>)>) {
        self.all.remove(id);
        for (key, value) in labels {
            let Some(labelled) = self.keys.get_mut(key) else { continue };
            labelled.any.remove(id);
            if let Some(with_value) = labelled.by_value.get_mut(value) {
                with_value.remove(id);
            }
        }
    }

    /// The ids that have a label with a value.
    pub(crate) fn with(&self, key: &str, value: &str) -> RoaringBitmap {
        let with_value = self.keys.get(key).and_then(|labelled| labelled.by_value.get(value));
        with_value.cloned().unwrap_or_default()
    }

    /// Whether any id has a label with a value.
    pub(crate) fn has(&self, key: &str, value: &str) -> bool {
        let with_value = self.keys.get(key).and_then(|labelled| labelled.by_value.get(value));
        with_value.is_some_and(|labelled| !labelled.is_empty())
    }

    /// The values of a label key.
    pub(crate) fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        let by_value = self.keys.get(key).into_iter().flat_map(|labelled| &labelled.by_value);
        by_value.filter(|(_, labelled)| !labelled.is_empty()).map(|(value, _)| &**value)
    }

    /// The keys of all labels.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().filter(|(_, labelled)| !labelled.any.is_empty()).map(|(key, _)| &**key)
    }

    /// All ids in the index.
    pub(crate) fn all(&self) -> &RoaringBitmap {
        &self.all
    }

    /// Whether the index contains no id.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A number greater than each id in the index.
    pub(crate) fn id_bound(&self) -> usize {
        self.all.max().map_or(0, |id| id as usize + 1)
    }

    /// The ids whose labels meet all requirements of a selector.
    pub(crate) fn select(&self, selector: &LabelSelector) -> RoaringBitmap {
        let mut selected: Option<RoaringBitmap> = None;
        for requirement in &selector.requirements {
            let matching = self.matching(requirement);
            match &mut selected {
                None => selected = Some(matching),
                Some(selected) => *selected &= matching,
            }
        }
        selected.unwrap_or_else(|| self.all.clone())
    }

    /// The ids whose labels meet a requirement of a selector.
    pub(crate) fn matching(&self, Requirement { key, operator }: &Requirement) -> RoaringBitmap {
        let with = |values: &[Arc<str>]| {
            values.iter().map(|value| self.with(key, value)).fold(RoaringBitmap::new(), |all, some| all | some)
        };
        let any = || self.keys.get(key).map(|labelled| labelled.any.clone()).unwrap_or_default();
        match operator {
            Operator::In(values) => with(values),
            Operator::NotIn(values) => &self.all - with(values),
            Operator::Exists => any(),
            Operator::DoesNotExist => &self.all - any(),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::label::Labels;
    use proptest::prelude::*;

    use super::*;

    fn labels() -> impl Strategy<Value = Labels> {
        proptest::collection::vec(("[ab]", "[xyz]"), 0..3).prop_map(|pairs| pairs.into_iter().collect())
    }

    fn requirement() -> impl Strategy<Value = Requirement> {
        let values = proptest::collection::vec("[xyz]".prop_map(Arc::from), 0..3);
        let operator = prop_oneof![
            values.clone().prop_map(Operator::In),
            values.prop_map(Operator::NotIn),
            Just(Operator::Exists),
            Just(Operator::DoesNotExist)
        ];
        ("[ab]".prop_map(Arc::from), operator).prop_map(|(key, operator)| Requirement { key, operator })
    }

    proptest! {
        #[test]
        fn index_selects_the_same_labels_as_the_selector(
            labelled in proptest::collection::vec(labels(), 0..20),
            removed in proptest::collection::vec(any::<prop::sample::Index>(), 0..3),
            requirements in proptest::collection::vec(requirement(), 0..3),
        ) {
            let selector = LabelSelector { requirements };
            let mut index = LabelIndex::default();
            labelled.iter().enumerate().for_each(|(id, labels)| index.insert(id as u32, labels.iter()));
            let removed: Vec<_> = removed.iter().filter(|_| !labelled.is_empty()).map(|index| index.index(labelled.len())).collect();
            removed.iter().for_each(|id| index.remove(*id as u32, labelled[*id].iter()));
            let matching = labelled.iter().enumerate().filter(|(id, labels)| !removed.contains(id) && selector.matches(labels));
            let expected: Vec<_> = matching.map(|(id, _)| id as u32).collect();
            prop_assert_eq!(index.select(&selector).into_iter().collect::<Vec<_>>(), expected);
        }
    }
}
