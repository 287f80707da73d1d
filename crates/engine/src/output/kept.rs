//! Folders that stay as they were published, because another version of Kalypso would render them differently from the same sources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::tree::{Child, Open, OpenError, Tree};

use super::PlaceFolders;
use super::rings::RingTree;
use crate::compile::Compiled;

/// The targets of folders, by place.
pub type TargetFolders = BTreeMap<Arc<str>, BTreeSet<Arc<str>>>;

/// The published folders that their sources do not give now. `rendered` is the environment at the sources of this publication. Only folders that both have are
/// compared; those for which `is_skipped` is true were not rendered from these sources.
///
/// # Errors
/// If a folder that differs can't be opened.
pub fn rendered_differently(
    published: &PlaceFolders,
    rendered: &Compiled,
    is_skipped: &dyn Fn(&str, &str) -> bool,
    open: &Open<'_>,
) -> Result<TargetFolders, OpenError> {
    let mut found = TargetFolders::new();
    for (place, now) in rendered.tree().children() {
        let Some(before) = published.get(place).filter(|before| before.id() != now.id()) else { continue };
        let (Some(before), Some(now)) = (before.opened(open)?, now.opened(open)?) else { continue };
        let differs = |target: &Arc<str>, now: &Child| {
            let before = before.child(target).filter(|before| before.is_folder());
            before.is_some_and(|before| before.id() != now.id()) && !is_skipped(place, target)
        };
        let folders = now.children().filter(|(_, child)| child.is_folder());
        let targets: BTreeSet<_> =
            folders.filter(|(target, now)| differs(target, now)).map(|(target, _)| Arc::clone(target)).collect();
        if !targets.is_empty() {
            found.insert(Arc::clone(place), targets);
        }
    }
    Ok(found)
}

/// The folders of all places, of which the `kept` ones are as they were published. New folders of their targets are left out: like the kept ones, they wait.
///
/// # Errors
/// If a folder can't be opened.
pub fn with_published(
    compiled: &Compiled,
    published: &PlaceFolders,
    kept: &TargetFolders,
    open: &Open<'_>,
) -> Result<RingTree, OpenError> {
    let targets: BTreeSet<&Arc<str>> = kept.values().flatten().collect();
    let none = BTreeSet::new();
    let mut places = Vec::new();
    for (place, now) in compiled.tree().children() {
        let before = published.get(place);
        let is_same = before.is_some_and(|before| before.id() == now.id());
        let folder = if is_same { None } else { now.opened(open)? };
        let Some(mut folder) = folder else {
            places.push((Arc::clone(place), now.clone()));
            continue;
        };
        let before = before.map(|before| before.opened(open)).transpose()?.flatten().unwrap_or_default();
        let kept = kept.get(place).unwrap_or(&none);
        for target in &targets {
            if folder.child(target).is_none() {
                continue;
            }
            match before.child(target).filter(|before| before.is_folder()) {
                Some(before) if kept.contains(*target) => drop(folder.set(Arc::clone(target), before.clone())),
                Some(_) => {}
                None => drop(folder.take(target)),
            }
        }
        let child = Child::Tree(folder);
        let has_folder = |tree: &Tree| tree.children().any(|(_, child)| child.is_folder());
        let is_new_and_empty = before.is_empty() && matches!(&child, Child::Tree(folder) if !has_folder(folder));
        if !is_new_and_empty {
            places.push((Arc::clone(place), if child.id() == now.id() { now.clone() } else { child }));
        }
    }
    Ok(RingTree { places: Tree::from_children(places), ..RingTree::default() })
}
