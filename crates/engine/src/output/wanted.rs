//! The folders that a branch should hold of what was compiled.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::tree::{Child, Tree};

use super::Layout;

/// The folders of places, which are beside each other in `places`, where they belong.
pub(super) fn laid_out(places: &Tree, layout: Layout) -> Tree {
    if layout == Layout::Plain {
        return places.clone();
    }
    // By the folders around them, of which there are two.
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
