//! Sets of assignments, as products of places and targets.

use roaring::RoaringBitmap;

/// A set of pairs of places and targets. Only the pairs that a policy assigns are assignments; the others do not count.
///
/// Its size in memory depends on the labels that describe it, not on the number of its assignments.
#[derive(Clone, Debug, Default)]
pub struct AssignmentSet {
    /// No pair is in two of them.
    pub(super) products: Vec<Product>,
}

/// Each of these places with each of these targets.
#[derive(Clone, Debug)]
pub(super) struct Product {
    pub(super) places: RoaringBitmap,
    pub(super) targets: RoaringBitmap,
}

impl AssignmentSet {
    pub(super) fn new(places: RoaringBitmap, targets: RoaringBitmap) -> Self {
        let mut set = Self::default();
        set.push(places, targets);
        set
    }

    /// The pairs that are in both sets.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut both = Self::default();
        for one in &self.products {
            for other in &other.products {
                both.push(&one.places & &other.places, &one.targets & &other.targets);
            }
        }
        both
    }

    /// Adds pairs that are not in the set yet.
    pub(super) fn push(&mut self, places: RoaringBitmap, targets: RoaringBitmap) {
        if !places.is_empty() && !targets.is_empty() {
            self.products.push(Product { places, targets });
        }
    }

    /// The pairs whose place is one of these, or whose target is one of these.
    #[must_use]
    pub(super) fn with_either(&self, (places, targets): &(RoaringBitmap, RoaringBitmap)) -> Self {
        let mut found = Self::default();
        for product in &self.products {
            found.push(&product.places & places, product.targets.clone());
            found.push(&product.places - places, &product.targets & targets);
        }
        found
    }

    /// The pairs whose place is one of these, and whose target is one of these.
    #[must_use]
    pub(super) fn with_both(&self, (places, targets): &(RoaringBitmap, RoaringBitmap)) -> Self {
        let mut found = Self::default();
        for product in &self.products {
            found.push(&product.places & places, &product.targets & targets);
        }
        found
    }
}
