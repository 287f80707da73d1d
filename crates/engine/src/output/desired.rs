//! The desired folders of places in a branch.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::tree::{Child, Tree};

use crate::layout::Layout;

/// Moves the folders of places, which are all in `places`, to their paths in a layout.
pub(super) fn in_layout(places: &Tree, layout: Layout) -> Tree {
    if layout == Layout::Plain {
        return places.clone();
    }
    // Grouped by the two folders around each place.
    let mut spread: BTreeMap<Vec<String>, Vec<(Arc<str>, Child)>> = BTreeMap::new();
    for (name, child) in places.children() {
        spread.entry(layout.around(name)).or_default().push((Arc::clone(name), child.clone()));
    }
    let mut outer: BTreeMap<String, Vec<(Arc<str>, Child)>> = BTreeMap::new();
    for (mut around, places) in spread {
        if let (Some(inner), Some(first)) = (around.pop(), around.pop()) {
            outer.entry(first).or_default().push((inner.into(), Child::Tree(Tree::from_children(places))));
        }
    }
    let folder = |(name, below): (String, Vec<_>)| (name.into(), Child::Tree(Tree::from_children(below)));
    Tree::from_children(outer.into_iter().map(folder))
}
