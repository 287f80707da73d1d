//! Removes objects from the files of a branch.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::kind::Kind;
use model::yaml::{self, Node, YamlOptions};

use crate::additions::PlacedObject;
use crate::branch_files::{BranchFiles, EditRefusal, FoundObject};
use crate::documents;
use crate::edit::{Change, EditError, ObjectPosition, edit};
use crate::file_edits::FileEdits;
use crate::references::{self, Reference};

/// How many objects that use another one a message shows.
const USERS_SHOWN_MAX: usize = 5;

/// Objects that are removed.
#[derive(Clone, Debug, Default)]
pub struct Removals {
    /// The files to write, and the files to remove because nothing is left in them.
    pub edits: FileEdits,
    /// The removed objects.
    pub objects: Vec<PlacedObject>,
}

/// Removes objects of one kind. `is_cascading` also removes the clusters of removed cluster types.
///
/// # Errors
/// An object does not exist, others use it, or a file can't be edited. Nothing is removed then.
pub fn remove_named(
    files: &BranchFiles<'_>,
    kind: Kind,
    names: &[Arc<str>],
    is_cascading: bool,
) -> Result<Removals, EditRefusal> {
    let by_name: BTreeMap<_, _> = files.of_kind(kind).map(|object| (&*object.name, object)).collect();
    let mut missing = Vec::new();
    let mut found = Vec::new();
    for name in names {
        match by_name.get(&**name) {
            Some(object) => found.push(*object),
            None => missing.push(files.missing(kind, name)),
        }
    }
    if !missing.is_empty() {
        return Err(files.places().refusal(missing));
    }
    let users: Vec<_> =
        found.iter().map(|object| (*object, references::required(files, (object.kind, &object.name)))).collect();
    if is_cascading {
        found.extend(users.into_iter().flat_map(|(_, users)| users).map(|user| user.object));
    } else if users.iter().any(|(_, users)| !users.is_empty()) {
        return Err(still_used(files, &users));
    }
    let objects = found.iter().map(|object| PlacedObject {
        kind: object.kind,
        name: Arc::clone(&object.name),
        path: Arc::clone(&object.path),
    });
    Ok(Removals { objects: objects.collect(), edits: remove(files, &found)? })
}

/// Removes these objects.
pub(crate) fn remove(files: &BranchFiles<'_>, objects: &[&FoundObject]) -> Result<FileEdits, EditRefusal> {
    let mut by_path: BTreeMap<&Arc<str>, Vec<ObjectPosition>> = BTreeMap::new();
    objects.iter().for_each(|object| by_path.entry(&object.path).or_default().push(object.at));
    let mut edits = FileEdits::default();
    for (path, mut positions) in by_path {
        let Some(content) = files.content(path) else { continue };
        positions.sort_unstable();
        positions.dedup();
        match without(content, &positions).map_err(|error| files.not_editable(path, &error))? {
            Some(bytes) => edits.write(Arc::clone(path), bytes),
            None => edits.remove(Arc::clone(path)),
        }
    }
    Ok(edits)
}

/// A file without these objects. None if nothing is left. Later objects are removed first, so that the positions of others stay.
fn without(content: &[u8], positions: &[ObjectPosition]) -> Result<Option<Vec<u8>>, EditError> {
    let mut bytes = content.to_vec();
    for at in positions.iter().rev() {
        if let Some(item) = at.item {
            let items = FieldPath::from(["items"]);
            let list = ObjectPosition { item: None, ..*at };
            bytes = edit(&bytes, list, &Change::Remove(items.index(item)))?;
            if !is_empty_list(&bytes, at.document) {
                continue;
            }
        }
        match documents::remove(&bytes, at.document)? {
            Some(rest) => bytes = rest,
            None => return Ok(None),
        }
    }
    Ok(Some(bytes))
}

fn is_empty_list(content: &[u8], document: usize) -> bool {
    let reading = yaml::read_bytes(content, &YamlOptions::OBJECTS);
    let items = reading.documents.get(document).and_then(|document| document.root.get("items"));
    items.and_then(Node::as_sequence).is_some_and(<[Node]>::is_empty)
}

fn still_used(files: &BranchFiles<'_>, users: &[(&FoundObject, Vec<Reference<'_>>)]) -> EditRefusal {
    let mut places = files.places();
    let mut diagnostics = Vec::new();
    for (object, users) in users.iter().filter(|(_, users)| !users.is_empty()) {
        let kind = users.first().map_or(Kind::Cluster, |user| user.object.kind);
        let (noun, verb) = if users.len() == 1 { ("object", "uses") } else { ("objects", "use") };
        let message = format!("{} {kind} {noun} still {verb} {} `{}`", users.len(), object.kind, object.name);
        let mut diagnostic = Diagnostic::error(Code::StillUsed, message);
        for user in users.iter().take(USERS_SHOWN_MAX) {
            let origin = Origin::Span(places.file(files, &user.object.path), user.node.span);
            diagnostic = diagnostic.at(origin, format!("`{}`", user.object.name));
        }
        if users.len() > USERS_SHOWN_MAX {
            diagnostic = diagnostic.note(format!("… and {} more", users.len() - USERS_SHOWN_MAX));
        }
        diagnostics.push(match object.kind {
            Kind::ClusterType => diagnostic.help("change or remove them first, or remove them too: --cascade"),
            _ => diagnostic.help("change or remove them first"),
        });
    }
    places.refusal(diagnostics)
}

#[cfg(test)]
mod tests {
    use model::source::Source;

    use super::*;

    const TYPE: &str = "# The small ones.\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: small}\nspec: {}\n";
    const CLUSTER: &str =
        "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata: {name: NAME}\nspec: {clusterType: small}\n";

    /// A path with the content after a removal: None if the file is removed.
    type Edited = (String, Option<String>);

    fn removed(existing: &[(&str, &str)], kind: Kind, names: &[&str], is_cascading: bool) -> Vec<Edited> {
        let contents = existing.iter().map(|(path, text)| (Arc::from(*path), Arc::from(text.as_bytes()))).collect();
        let files = BranchFiles::new(Source::directory(), &contents, "");
        let names: Vec<_> = names.iter().map(|name| Arc::from(*name)).collect();
        let removals = remove_named(&files, kind, &names, is_cascading).unwrap();
        let text = |content: &Arc<[u8]>| String::from_utf8(content.to_vec()).unwrap();
        removals.edits.iter().map(|(path, edit)| (path.to_string(), edit.content().map(text))).collect()
    }

    fn edited(path: &str, text: Option<&str>) -> Edited {
        (path.to_owned(), text.map(str::to_owned))
    }

    #[test]
    fn file_is_removed_with_its_last_object() {
        let [a, b] = ["a", "b"].map(|name| CLUSTER.replace("NAME", name));
        let types = removed(&[("t.yaml", TYPE)], Kind::ClusterType, &["small"], false);
        assert_eq!(types, [edited("t.yaml", None)]);
        let clusters = |names| removed(&[("c.yaml", &format!("{a}---\n{b}"))], Kind::Cluster, names, false);
        assert_eq!(clusters(&["b", "a"]), [edited("c.yaml", None)]);
        assert_eq!(clusters(&["b"]), [edited("c.yaml", Some(&a))]);
        let list = format!("kind: List\nitems:\n  - {}\n", a.trim().replace('\n', "\n    "));
        let listed = removed(&[("l.yaml", &format!("{list}---\n{b}"))], Kind::Cluster, &["a"], false);
        assert_eq!(listed, [edited("l.yaml", Some(&b))]);
    }

    #[test]
    fn clusters_of_a_removed_type_are_removed_on_request() {
        let cluster = CLUSTER.replace("NAME", "a");
        let existing: &[(&str, &str)] = &[("c.yaml", &cluster), ("t.yaml", TYPE)];
        let found = removed(existing, Kind::ClusterType, &["small"], true);
        assert_eq!(found, [edited("c.yaml", None), edited("t.yaml", None)]);
    }

    #[test]
    fn used_or_missing_objects_are_not_removed() {
        let cluster = CLUSTER.replace("NAME", "a");
        let contents =
            BTreeMap::from([("c.yaml".into(), cluster.as_bytes().into()), ("t.yaml".into(), TYPE.as_bytes().into())]);
        let files = BranchFiles::new(Source::directory(), &contents, "");
        let message = |name: &str| {
            let refusal = remove_named(&files, Kind::ClusterType, &[name.into()], false).unwrap_err();
            let diagnostic = &refusal.diagnostics[0];
            (diagnostic.code, diagnostic.message.clone())
        };
        assert_eq!(message("small"), (Code::StillUsed, "1 Cluster object still uses ClusterType `small`".to_owned()));
        assert_eq!(message("smal"), (Code::ObjectNotInBranch, "there is no ClusterType `smal`".to_owned()));
    }
}
