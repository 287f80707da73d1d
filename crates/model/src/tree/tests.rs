//! Tests of trees of many shapes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    files.iter().for_each(|(path, text)| tree.write(path, text.as_bytes()));
    tree
}

fn paths(tree: &Tree) -> Vec<String> {
    tree.files(&closed).map(|file| file.unwrap().0).collect()
}

/// The tree with the folders at its root sealed, and a function that opens them.
fn sealed(tree: &Tree) -> (Tree, impl Fn(&Sealed) -> Result<Tree, OpenError> + Sync + use<>) {
    let mut folders = BTreeMap::new();
    let children = tree.children().map(|(name, child)| match child {
        Child::Tree(tree) => {
            folders.insert(tree.id(), tree.clone());
            (Arc::clone(name), Child::Sealed(Sealed { id: tree.id(), by: SealedBy::Repository }))
        }
        other => (Arc::clone(name), other.clone()),
    });
    let tree = Tree::from_children(children.collect::<Vec<_>>());
    (tree, move |sealed: &Sealed| folders.get(&sealed.id).cloned().ok_or_else(|| closed(sealed).unwrap_err()))
}

#[test]
fn trees_have_the_ids_that_git_gives_them() {
    assert_eq!(tree(&[]).id().to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    // The id is from `git mktree` and `git write-tree` of the same files.
    let tree = tree(&[("a-b/x", "1"), ("a.txt", "2"), ("a/b/c", "3"), ("a/d", "4")]);
    assert_eq!(tree.id().to_string(), "f72343927640848e2fd84664074be765a2985686");
    assert_eq!(sealed(&tree).0, tree);
}

#[test]
fn names_that_are_not_utf8_stay_as_they_are() {
    // The id is from `git mktree` of the same files, the first name in Latin-1.
    let mut tree = tree(&[("café", "2"), ("caff", "3")]);
    tree.set(name_text(b"caf\xe9"), Child::File(Entry::file(*b"1")));
    let encoded = tree.encode();
    assert!(encoded.windows(5).any(|bytes| bytes == b"caf\xe9\0"));
    assert_eq!(tree.id().to_string(), "ff3724515b0eb3c910af2362673a76bde94b9085");
    let names: Vec<_> = tree.children().map(|(name, _)| name_bytes(name).into_owned()).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert!(tree.child("caf\0e9").is_some() && tree.take("caf\0e9").is_some());
}

#[test]
fn files_come_in_the_order_of_their_paths() {
    let tree = tree(&[("a0", ""), ("a/y/z", ""), ("a/x", ""), ("a-b/x", ""), ("a.b", "")]);
    assert_eq!(paths(&tree), ["a-b/x", "a.b", "a/x", "a/y/z", "a0"]);
}

#[test]
fn added_entries_replace_files_and_folders_in_their_place() {
    assert_eq!(paths(&tree(&[("a/x", ""), ("a", "")])), ["a"]);
    assert_eq!(paths(&tree(&[("a", ""), ("a/x", "")])), ["a/x"]);
}

#[test]
fn a_change_reaches_the_ids_above_it_only() {
    let before = tree(&[("a/b/c", "1"), ("d/e", "2")]);
    let mut after = before.clone();
    after.write("a/b/c", *b"3");
    assert_ne!(before.id(), after.id());
    assert_eq!(before.child("d"), after.child("d"));
    assert_eq!(before, tree(&[("a/b/c", "1"), ("d/e", "2")]));
}

#[test]
fn empty_folders_are_removed() {
    let mut tree = tree(&[("a/b/c", "1"), ("a/d", "2")]);
    assert!(tree.remove("a/b/c", &closed).unwrap().is_some());
    assert_eq!(paths(&tree), ["a/d"]);
    assert!(tree.remove("a/x/y", &closed).unwrap().is_none());
    tree.remove("a/d", &closed).unwrap();
    assert!(tree.is_empty());
}

#[test]
fn many_children_are_changed_at_once() {
    let mut tree = tree(&[("a", "1"), ("b/x", "2"), ("c", "3")]);
    let file = Child::File(Entry::file(*b"4"));
    tree.edit([("b".into(), Some(file.clone())), ("c".into(), None), ("d".into(), Some(file)), ("e".into(), None)]);
    assert_eq!(paths(&tree), ["a", "b", "d"]);
}

#[test]
fn only_changed_folders_are_opened() {
    let (before, open) = sealed(&tree(&[("a/x", "1"), ("b/x", "1"), ("c/x", "1")]));
    let opened = AtomicUsize::new(0);
    let counting = |sealed: &Sealed| {
        opened.fetch_add(1, Ordering::Relaxed);
        open(sealed)
    };
    let mut after = before.clone();
    after.put("b/x", Child::File(Entry::file(*b"2")), &counting).unwrap();
    let changed: Vec<_> = before.diff(&after, &counting).map(|file| file.unwrap().path).collect();
    assert_eq!((changed, opened.into_inner()), (vec!["b/x".to_owned()], 2));
}

#[test]
fn folders_that_open_to_another_id_are_refused() {
    let sealed = Sealed { id: tree(&[("x", "1")]).id(), by: SealedBy::Generator(7) };
    let open = |_: &Sealed| Ok(Tree::default());
    assert!(matches!(sealed.opened(&open), Err(OpenError::Different { .. })));
}

#[test]
fn too_deep_trees_are_refused() {
    let deep = "a/".repeat(DEPTH_MAX) + "x";
    let put = Tree::default().put(&deep, Child::File(Entry::file(*b"")), &closed);
    assert!(matches!(put, Err(OpenError::TooDeep { .. })));
    // A folder that contains itself. Git cannot create one.
    let id = GitId::of_blob(b"");
    let inside = |_: &Sealed| {
        let child = Child::Sealed(Sealed { id, by: SealedBy::Repository });
        Ok(Tree::with_id(id, [("a".into(), child)]))
    };
    let endless = inside(&Sealed { id, by: SealedBy::Repository }).unwrap();
    assert!(matches!(endless.files(&inside).last(), Some(Err(OpenError::TooDeep { .. }))));
    assert!(matches!(Tree::default().diff(&endless, &inside).last(), Some(Err(OpenError::TooDeep { .. }))));
}

fn trees() -> impl Strategy<Value = Tree> {
    let files = proptest::collection::vec(("[ab]([-./0][ab]){0,3}", "[xy]?"), 0..12);
    files.prop_map(|files| {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.write(&path, text.into_bytes());
        }
        tree
    })
}

proptest! {
    #[test]
    fn applying_a_diff_gives_the_later_tree(before in trees(), after in trees()) {
        let ((before, open_before), (after, open_after)) = (sealed(&before), sealed(&after));
        let open = |sealed: &Sealed| open_before(sealed).or_else(|_| open_after(sealed));
        let changes: Vec<_> = before.diff(&after, &open).map(Result::unwrap).collect();
        prop_assert!(changes.is_sorted_by(|left, right| left.path < right.path));
        let mut now = before.clone();
        for change in changes.iter().filter(|change| change.after.is_none()) {
            prop_assert_eq!(now.remove(&change.path, &open).unwrap(), change.before.clone().map(Child::File));
        }
        for change in &changes {
            if let Some(entry) = &change.after {
                now.put(&change.path, Child::File(entry.clone()), &open).unwrap();
            }
        }
        prop_assert_eq!(now.id(), after.id());
    }

    #[test]
    fn tree_does_not_depend_on_the_order_of_files(tree in trees()) {
        let mut again = Tree::default();
        for file in tree.files(&closed).collect::<Vec<_>>().into_iter().rev() {
            let (path, entry) = file.unwrap();
            again.put(&path, Child::File(entry), &closed).unwrap();
        }
        prop_assert_eq!(again.encode(), tree.encode());
        let children: Vec<_> = tree.children().map(|(name, child)| (Arc::clone(name), child.clone())).collect();
        prop_assert_eq!(Tree::from_children(children.into_iter().rev()).encode(), tree.encode());
        prop_assert!(paths(&tree).is_sorted());
    }
}
