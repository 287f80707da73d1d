//! Renames objects of a branch, with everything in the branch that names them.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::kind::Kind;

use crate::additions::PlacedObject;
use crate::branch_files::{BranchFiles, FoundObject, Refusal};
use crate::edit::{Change, ObjectPosition, edit};
use crate::file_edits::FileEdits;
use crate::placement::renamed_path;
use crate::references::{self, Reference};
use crate::value::Value;

/// A renamed object.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    /// The changed files. A file that gets another name is removed and written.
    pub edits: FileEdits,
    /// The renamed object, with its new name and file.
    pub object: Vec<PlacedObject>,
    /// The objects that named it, with their files.
    pub referring: Vec<PlacedObject>,
}

/// Gives a cluster type or a cluster another name. What names it follows: the clusters of a cluster type, and the conditions of values and schemas. A file
/// with the name of the object gets the new name.
///
/// # Errors
/// There is no such object, the new name is taken by a cluster type or a cluster, or a file can't be edited. Nothing is renamed then.
pub fn rename(files: &BranchFiles<'_>, kind: Kind, (old, new): (&str, &str)) -> Result<Renaming, Refusal> {
    let object = files.find(kind, old).ok_or_else(|| files.places().refusal(vec![files.missing(kind, old)]))?;
    refuse_taken(files, new)?;
    let name = Change::Set(FieldPath::from(["metadata", "name"]), Value::text(new));
    let mut changes: BTreeMap<&Arc<str>, Vec<(ObjectPosition, Change)>> = BTreeMap::new();
    changes.entry(&object.path).or_default().push((object.at, name));
    let mut referring: Vec<PlacedObject> = Vec::new();
    for reference in references::all(files, (kind, old)) {
        let change = reference.renamed(new).ok_or_else(|| no_key(files, &reference, new))?;
        changes.entry(&reference.object.path).or_default().push((reference.object.at, change));
        referring.push(placed(reference.object));
    }
    referring.dedup();
    let mut renaming = Renaming { referring, ..Renaming::default() };
    for (path, changes) in changes {
        let content = files.content(path).map(|content| content.to_vec()).unwrap_or_default();
        let changed = changes.iter().try_fold(content, |content, (at, change)| edit(&content, *at, change));
        let content = changed.map_err(|error| files.not_editable(path, &error))?;
        renaming.edits.write(Arc::clone(path), content);
    }
    let path = renaming.move_file(files, object, new);
    renaming.object.push(PlacedObject { kind, name: new.into(), path });
    Ok(renaming)
}

impl Renaming {
    /// Moves the file of a renamed object, if it has the name of the object and nothing else is in it. Returns the path.
    fn move_file(&mut self, files: &BranchFiles<'_>, object: &FoundObject, new: &str) -> Arc<str> {
        let is_alone = files.objects().iter().filter(|other| other.path == object.path).count() == 1;
        let moved =
            renamed_path(&object.path, &object.name, new).filter(|path| is_alone && files.content(path).is_none());
        let content = self.edits.get(&object.path).and_then(|edit| edit.content().cloned());
        let (Some(path), Some(content)) = (moved, content) else { return Arc::clone(&object.path) };
        let path: Arc<str> = path.into();
        self.edits.remove(Arc::clone(&object.path));
        self.edits.write(Arc::clone(&path), content);
        path
    }
}

/// The refusal of a name that a key can't contain.
fn no_key(files: &BranchFiles<'_>, reference: &Reference<'_>, name: &str) -> Refusal {
    let mut places = files.places();
    let origin = Origin::Span(places.file(files, &reference.object.path), reference.node.span);
    let message = format!("a key of ConfigMap `{}` names it, and can't contain `{name}`", reference.object.name);
    let diagnostic = Diagnostic::error(Code::NotEditable, message).at(origin, "this key");
    places.refusal(vec![diagnostic.help("dots separate the labels of such keys: choose a name without dots")])
}

fn placed(object: &FoundObject) -> PlacedObject {
    PlacedObject { kind: object.kind, name: Arc::clone(&object.name), path: Arc::clone(&object.path) }
}

/// Cluster types and clusters share their names, because each has a folder of its name.
fn refuse_taken(files: &BranchFiles<'_>, name: &str) -> Result<(), Refusal> {
    let taken = [Kind::ClusterType, Kind::Cluster].into_iter().find_map(|kind| files.find(kind, name));
    let Some(taken) = taken else { return Ok(()) };
    let mut places = files.places();
    let origin = places.name(files, taken);
    let message = format!("{} `{name}` exists already", taken.kind);
    let diagnostic = Diagnostic::error(Code::ObjectExists, message).at(origin, "it is here");
    Err(places.refusal(vec![diagnostic.help("choose another name, or rename or remove that one first")]))
}

#[cfg(test)]
mod tests {
    use model::source::Source;

    use super::*;

    const TYPE: &str = "# The small ones.\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: small}\nspec: {}\n";
    const CLUSTER: &str = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata: {name: a}\nspec: {clusterType: small}  # why\n";
    const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\n  labels: {platform-config: \"true\", LABEL}\ndata: {DATA}\n";

    fn config(name: &str, label: &str, data: &str) -> String {
        CONFIG.replace("NAME", name).replace("LABEL", label).replace("DATA", data)
    }

    /// The paths and contents after an object is renamed to `new`: None if a file is removed.
    fn check(existing: &[(&str, &str)], (kind, old): (Kind, &str), expected: &[(&str, Option<&str>)]) {
        let renaming = with(existing, |files| rename(files, kind, (old, "new"))).unwrap();
        let text = |content: &Arc<[u8]>| String::from_utf8(content.to_vec()).unwrap();
        let found: Vec<_> =
            renaming.edits.iter().map(|(path, edit)| (path.to_string(), edit.content().map(text))).collect();
        let expected: Vec<_> =
            expected.iter().map(|(path, text)| ((*path).to_owned(), text.map(str::to_owned))).collect();
        assert_eq!(found, expected);
    }

    fn with<T>(existing: &[(&str, &str)], call: impl FnOnce(&BranchFiles<'_>) -> T) -> T {
        let contents = existing.iter().map(|(path, text)| (Arc::from(*path), Arc::from(text.as_bytes()))).collect();
        call(&BranchFiles::new(Source::directory(), &contents, ""))
    }

    #[test]
    fn clusters_and_conditions_follow_their_cluster_type() {
        let map = config("east", "cluster-type: small", "A: '1'");
        let azure =
            config("azure-app-config", "x: y", "region.west.cluster-type.small.A: '1', cluster-type.tiny.A: '2'");
        let schema = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata:\n  name: s\n  labels:\n    cluster-type: small # only these\nspec: {schema: '{}'}\n";
        let existing: &[(&str, &str)] =
            &[("a.yaml", &azure), ("c.yaml", CLUSTER), ("m.yaml", &map), ("s.yaml", schema), ("t/small.yaml", TYPE)];
        check(
            existing,
            (Kind::ClusterType, "small"),
            &[
                ("a.yaml", Some(&azure.replace("cluster-type.small.A", "cluster-type.new.A"))),
                ("c.yaml", Some(&CLUSTER.replace("small", "new"))),
                ("m.yaml", Some(&map.replace("small", "new"))),
                ("s.yaml", Some(&schema.replace("small", "new"))),
                ("t/new.yaml", Some(&TYPE.replace("name: small", "name: new"))),
                ("t/small.yaml", None),
            ],
        );
    }

    #[test]
    fn texts_that_only_look_like_the_name_stay() {
        let map = config("a", "cluster-type: a, cluster: a", "A: a");
        let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {cluster: a}}\ndata: {A: b}\n";
        check(
            &[("a.yaml", CLUSTER), ("b.yaml", &format!("{map}---\n{other}")), ("new.yaml", other)],
            (Kind::Cluster, "a"),
            &[
                ("a.yaml", Some(&CLUSTER.replace("name: a", "name: new"))),
                ("b.yaml", Some(&format!("{}---\n{other}", map.replace("cluster: a", "cluster: new")))),
            ],
        );
    }

    #[test]
    fn a_name_that_is_missing_or_taken_is_refused() {
        let existing: &[(&str, &str)] = &[("c.yaml", CLUSTER), ("t.yaml", TYPE)];
        let refused = |kind, names| {
            let refusal = with(existing, |files| rename(files, kind, names)).unwrap_err();
            let first = refusal.diagnostics.first().unwrap();
            (first.code, first.message.clone())
        };
        assert_eq!(
            refused(Kind::Cluster, ("a", "small")),
            (Code::ObjectExists, "ClusterType `small` exists already".to_owned())
        );
        assert_eq!(refused(Kind::Cluster, ("b", "c")).0, Code::ObjectNotInBranch);
        assert_eq!(refused(Kind::ClusterType, ("small", "small")).0, Code::ObjectExists);
    }

    #[test]
    fn a_name_with_dots_is_refused_where_a_key_contains_it() {
        let azure = config("azure-app-config", "x: y", "cluster.a.A: '1'");
        let new = |existing: &[(&str, &str)]| with(existing, |files| rename(files, Kind::Cluster, ("a", "a.b")));
        let refusal = new(&[("c.yaml", CLUSTER), ("m.yaml", &azure)]).unwrap_err();
        assert_eq!(
            refusal.diagnostics[0].message,
            "a key of ConfigMap `azure-app-config` names it, and can't contain `a.b`"
        );
        assert!(new(&[("c.yaml", CLUSTER)]).is_ok());
    }
}
