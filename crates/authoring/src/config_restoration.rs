//! Restores the values of an earlier commit of a branch.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic};
use model::kind::Kind;

use crate::additions::PlacedObject;
use crate::branch_files::{BranchFiles, EditRefusal, FoundObject};
use crate::file_edits::FileEdits;
use crate::meaning::Meaning;

/// Files with the values of an earlier commit.
#[derive(Clone, Debug, Default)]
pub struct ConfigRestoration {
    /// The files to write or remove.
    pub edits: FileEdits,
    /// The `ConfigMap`s that change, appear again or vanish.
    pub objects: Vec<PlacedObject>,
}

/// The edits that give all `ConfigMap`s of a branch the content that they had in `then`. A file is restored byte for byte. Other objects stay.
///
/// # Errors
/// A file with a changed `ConfigMap` also has another object, which is not the same at both commits. Nothing is restored then.
pub fn restore(now: &BranchFiles<'_>, then: &BranchFiles<'_>) -> Result<ConfigRestoration, EditRefusal> {
    let mut restoration = ConfigRestoration::default();
    let mut mixed = Vec::new();
    let mut places = now.places();
    for path in paths(now, then) {
        let (after, before) = (in_file(now, &path), in_file(then, &path));
        if now.content(&path) == then.content(&path) || configs(&after) == configs(&before) {
            continue;
        }
        if others(&after) != others(&before) {
            let message = format!("`{path}` also has other objects, which differ from those at the earlier commit");
            let diagnostic = Diagnostic::error(Code::NotEditable, message)
                .help("edit the values of this file by hand, or restore it with `git restore --source COMMIT -- FILE`");
            let first = after.iter().chain(&before).find(|object| object.kind != Kind::ConfigMap);
            mixed.push(match first.filter(|_| !after.is_empty()) {
                Some(object) => diagnostic.at(places.name(now, object), "this object differs"),
                None => diagnostic,
            });
            continue;
        }
        match then.content(&path) {
            Some(content) => restoration.edits.write(Arc::clone(&path), Arc::clone(content)),
            None => restoration.edits.remove(Arc::clone(&path)),
        }
        restoration.objects.extend(changed(&after, &before));
    }
    if mixed.is_empty() { Ok(restoration) } else { Err(places.refusal(mixed)) }
}

/// The paths of all files that have a `ConfigMap` at one of the commits.
fn paths(now: &BranchFiles<'_>, then: &BranchFiles<'_>) -> BTreeSet<Arc<str>> {
    let both = now.of_kind(Kind::ConfigMap).chain(then.of_kind(Kind::ConfigMap));
    both.map(|object| Arc::clone(&object.path)).collect()
}

fn in_file<'f>(files: &'f BranchFiles<'_>, path: &str) -> Vec<&'f FoundObject> {
    files.objects().iter().filter(|object| *object.path == *path).collect()
}

fn configs(objects: &[&FoundObject]) -> BTreeSet<Meaning> {
    objects
        .iter()
        .filter(|object| object.kind == Kind::ConfigMap)
        .map(|object| Meaning::from_node(&object.root))
        .collect()
}

fn others(objects: &[&FoundObject]) -> Vec<Meaning> {
    objects
        .iter()
        .filter(|object| object.kind != Kind::ConfigMap)
        .map(|object| Meaning::from_node(&object.root))
        .collect()
}

/// The `ConfigMap`s of a file that differ.
fn changed(after: &[&FoundObject], before: &[&FoundObject]) -> Vec<PlacedObject> {
    let (in_after, in_before) = (configs(after), configs(before));
    let differs = |object: &&&FoundObject| {
        let meaning = Meaning::from_node(&object.root);
        object.kind == Kind::ConfigMap && !(in_after.contains(&meaning) && in_before.contains(&meaning))
    };
    let placed = |object: &&FoundObject| PlacedObject {
        kind: Kind::ConfigMap,
        name: Arc::clone(&object.name),
        path: Arc::clone(&object.path),
    };
    let all: BTreeSet<_> = after.iter().chain(before).filter(differs).map(placed).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::source::Source;

    use super::*;

    type BranchContents = BTreeMap<Arc<str>, Arc<[u8]>>;

    fn contents(files: &[(&str, &str)]) -> BranchContents {
        files.iter().map(|(path, text)| ((*path).into(), text.as_bytes().into())).collect()
    }

    fn files(contents: &BranchContents) -> BranchFiles<'_> {
        let source =
            Source { label: "r".into(), url: "r".into(), revision: "prod".into(), commit: None, is_pinned: false };
        BranchFiles::new(source, contents, "")
    }

    fn config(name: &str, value: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{A: {value}}} # {name}\n")
    }

    fn policy(size: &str) -> String {
        format!(
            "---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\nmetadata: {{name: p}}\nspec: {{deploymentTargetSelector: \
             {{labelSelector: {{}}}}, clusterTypeSelector: {{labelSelector: {{matchLabels: {{size: {size}}}}}}}}}\n"
        )
    }

    /// The restored files, with their texts. `-` for a removed one. None if it is refused.
    fn check(now: &[(&str, &str)], then: &[(&str, &str)], expected: Option<&[(&str, &str)]>) {
        let (now, then) = (contents(now), contents(then));
        let restored = restore(&files(&now), &files(&then)).ok().map(|restored| restored.edits);
        let text = |edit: &crate::file_edits::FileEdit| {
            edit.content().map_or("-".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let found =
            restored.map(|edits| edits.iter().map(|(path, edit)| (path.to_string(), text(edit))).collect::<Vec<_>>());
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        assert_eq!(found, expected.map(|expected| expected.iter().map(owned).collect::<Vec<_>>()));
    }

    #[test]
    fn files_with_values_are_restored_byte_for_byte() {
        let [old, new] = ["1", "2"].map(|value| config("a", value));
        check(&[("a.yaml", &new), ("b.yaml", &new)], &[("a.yaml", &old)], Some(&[("a.yaml", &old), ("b.yaml", "-")]));
        check(&[], &[("a.yaml", &old)], Some(&[("a.yaml", &old)]));
        check(&[("a.yaml", &old)], &[("a.yaml", &old)], Some(&[]));
    }

    #[test]
    fn other_objects_stay_as_they_are() {
        let with = |value: &str, size: &str| config("a", value) + &policy(size);
        let [old, new] = ["1", "2"].map(|value| with(value, "large"));
        check(&[("a.yaml", &new), ("p.yaml", &policy("small"))], &[("a.yaml", &old)], Some(&[("a.yaml", &old)]));
        check(&[("a.yaml", &with("2", "small"))], &[("a.yaml", &old)], None);
        check(&[("a.yaml", &with("1", "small"))], &[("a.yaml", &old)], Some(&[]));
    }
}
