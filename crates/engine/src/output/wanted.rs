//! The folders that a branch should hold of what was compiled.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::name::ClusterTypeName;
use model::tree::{Child, Entry, Tree};
use rayon::prelude::*;

use super::{Layout, MARKER};
use crate::compile::Compiled;
use crate::render::Files;

/// The folder of each place, by its name.
pub(super) fn places(compiled: &Compiled) -> BTreeMap<Arc<str>, Child> {
    let mut targets: BTreeMap<&ClusterTypeName, Vec<(Arc<str>, &Files)>> =
        compiled.cluster_types.iter().map(|name| (name, Vec::new())).collect();
    for (id, assignment) in &compiled.assignments {
        if let (Some(files), Some(targets)) = (&assignment.files, targets.get_mut(&id.cluster_type)) {
            targets.push((Arc::clone(id.target.as_arc()), files));
        }
    }
    let marker = Child::File(Entry::file(MARKER.as_bytes()));
    let place = |(name, targets): (&ClusterTypeName, Vec<(Arc<str>, &Files)>)| {
        let folders = targets.into_iter().filter(|(_, files)| !files.is_empty());
        let folders = folders.map(|(target, files)| (target, Child::Tree(folder(files))));
        let tree = Tree::from_children(folders.chain([("README.md".into(), marker.clone())]));
        // Here, where all processors are at work.
        tree.id();
        (Arc::clone(name.as_arc()), Child::Tree(tree))
    };
    targets.into_par_iter().map(place).collect()
}

fn folder(files: &Files) -> Tree {
    let file = |(name, bytes): (&Arc<str>, &Arc<[u8]>)| (Arc::clone(name), Child::File(Entry::file(Arc::clone(bytes))));
    Tree::from_children(files.iter().map(file))
}

/// The folders of places where they belong.
pub(super) fn laid_out(places: &BTreeMap<Arc<str>, Child>, layout: Layout) -> Tree {
    let child = |(name, child): (&Arc<str>, &Child)| (Arc::clone(name), child.clone());
    if layout == Layout::Plain {
        return Tree::from_children(places.iter().map(child));
    }
    // By the folders around them, of which there are two.
    let mut spread: BTreeMap<Vec<String>, Vec<(Arc<str>, Child)>> = BTreeMap::new();
    for place in places {
        spread.entry(layout.around(place.0)).or_default().push(child(place));
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
