//! Changes fields of objects that exist: labels, selectors, names of templates, manifests of targets.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic};
use model::field_path::{FieldPath, FieldStep};
use model::kind::Kind;
use model::yaml::{Node, NodeValue};

use crate::additions::PlacedObject;
use crate::branch_files::{BranchFiles, EditRefusal, FoundObject};
use crate::edit::{Change, edit};
use crate::file_edits::FileEdits;
use crate::meaning::Meaning;
use crate::objects::LabelList;
use crate::value::NewValue;

/// Changes of a mapping of texts, such as labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairChanges {
    /// The pairs to set.
    pub set: LabelList,
    /// The keys to remove.
    pub remove: Vec<Arc<str>>,
}

/// Changes of an object.
#[derive(Clone, Debug, Default)]
pub struct ObjectChanges {
    /// Changes of mappings, by their paths.
    pub pairs: Vec<(FieldPath, PairChanges)>,
    /// The values of fields, by their paths. None: the field is removed.
    pub fields: Vec<(FieldPath, Option<NewValue>)>,
}

/// Objects that change.
#[derive(Clone, Debug, Default)]
pub struct ChangedObjects {
    /// The files to write.
    pub edits: FileEdits,
    /// The objects.
    pub objects: Vec<PlacedObject>,
}

impl PairChanges {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.remove.is_empty()
    }

    /// The changes of the mapping at a path.
    ///
    /// # Errors
    /// A key to remove that the mapping does not have, with the nearest one.
    fn changes_at(&self, object: &FoundObject, path: &FieldPath) -> Result<Vec<Change>, MissingKey> {
        let entries = node_at(&object.root, path).and_then(Node::as_mapping).unwrap_or_default();
        let keys: BTreeSet<&str> = entries.iter().filter_map(|(key, _)| Some(&*key.as_scalar()?.text)).collect();
        if let Some(missing) = self.remove.iter().find(|key| !keys.contains(&***key)) {
            let nearest = model::similar::nearest(missing, keys.iter().copied()).map(Arc::from);
            return Err(MissingKey { key: Arc::clone(missing), nearest });
        }
        let is_new = |(key, _): &&(Arc<str>, Arc<str>)| !keys.contains(&**key);
        if !keys.is_empty() && self.remove.len() == keys.len() && !self.set.iter().any(|pair| is_new(&pair)) {
            // A mapping without entries would say nothing.
            return Ok(vec![Change::Remove(path.clone())]);
        }
        let set = self
            .set
            .iter()
            .map(|(key, value)| Change::Set(path.clone().key(Arc::clone(key)), NewValue::Text(Arc::clone(value))));
        let removed = self.remove.iter().map(|key| Change::Remove(path.clone().key(Arc::clone(key))));
        Ok(set.chain(removed).collect())
    }
}

/// A key to remove that does not exist.
struct MissingKey {
    key: Arc<str>,
    nearest: Option<Arc<str>>,
}

impl ObjectChanges {
    /// The changes that an object needs: what is so already is left out.
    fn changes_of(&self, object: &FoundObject) -> Result<Vec<Change>, MissingKey> {
        let mut changes = Vec::new();
        for (path, pairs) in &self.pairs {
            changes.extend(pairs.changes_at(object, path)?);
        }
        for (path, value) in &self.fields {
            match (node_at(&object.root, path), value) {
                (Some(node), Some(value)) => changes.extend(difference(node, value, path)),
                (None, Some(value)) => changes.push(Change::Set(path.clone(), value.clone())),
                (Some(_), None) => changes.push(Change::Remove(path.clone())),
                (None, None) => {}
            }
        }
        let is_so = |change: &Change| match change {
            Change::Set(path, value) => {
                node_at(&object.root, path).is_some_and(|node| Meaning::from_node(node) == Meaning::of_value(value))
            }
            Change::Remove(_) | Change::Append(..) | Change::RenameKey(..) => false,
        };
        changes.retain(|change| !is_so(change));
        Ok(changes)
    }
}

/// The changes that make a value of a field, entry by entry, so that the comments beside equal entries stay. Nothing is removed before the rest is set: a
/// collection without entries would lose its style.
fn difference(node: &Node, value: &NewValue, path: &FieldPath) -> Vec<Change> {
    let mut changes = Vec::new();
    match (&node.value, value) {
        _ if Meaning::from_node(node) == Meaning::of_value(value) => {}
        (NodeValue::Mapping(known), NewValue::Mapping(entries)) => {
            for (key, value) in entries {
                let path = path.clone().key(Arc::clone(key));
                match node.get(key) {
                    Some(node) => changes.extend(difference(node, value, &path)),
                    None => changes.push(Change::Set(path, value.clone())),
                }
            }
            let keys = known.iter().filter_map(|(key, _)| key.as_scalar().map(|scalar| &scalar.text));
            let gone = keys.filter(|key| entries.iter().all(|(kept, _)| kept != *key));
            changes.extend(gone.map(|key| Change::Remove(path.clone().key(Arc::clone(key)))));
        }
        (NodeValue::Sequence(known), NewValue::List(_) | NewValue::ShortList(_)) => {
            let items = items(value);
            for (index, (node, value)) in known.iter().zip(&items).enumerate() {
                changes.extend(difference(node, value, &path.clone().index(index)));
            }
            changes.extend(items.iter().skip(known.len()).map(|value| Change::Append(path.clone(), value.clone())));
            let gone = (items.len()..known.len()).rev();
            changes.extend(gone.map(|index| Change::Remove(path.clone().index(index))));
        }
        _ => changes.push(Change::Set(path.clone(), value.clone())),
    }
    changes.sort_by_key(|change| matches!(change, Change::Remove(_)));
    changes
}

fn items(value: &NewValue) -> Vec<NewValue> {
    match value {
        NewValue::List(items) => items.clone(),
        NewValue::ShortList(items) => items.iter().map(|item| NewValue::Text(Arc::clone(item))).collect(),
        _ => Vec::new(),
    }
}

/// Changes objects of a kind. What is so already changes nothing.
///
/// # Errors
/// An object, or a key to remove, does not exist; or a file can't be edited.
pub fn change(
    files: &BranchFiles<'_>,
    (kind, names): (Kind, &[Arc<str>]),
    changes: &ObjectChanges,
) -> Result<ChangedObjects, EditRefusal> {
    let missing: Vec<_> = names.iter().filter(|name| files.find(kind, name).is_none()).collect();
    if !missing.is_empty() {
        return Err(files.places().refusal(missing.iter().map(|name| files.missing(kind, name)).collect()));
    }
    let mut changed = ChangedObjects::default();
    for object in names.iter().filter_map(|name| files.find(kind, name)) {
        change_object(files, (object, changes), &mut changed)?;
    }
    Ok(changed)
}

/// Changes one object.
pub(crate) fn change_object(
    files: &BranchFiles<'_>,
    (object, changes): (&FoundObject, &ObjectChanges),
    changed: &mut ChangedObjects,
) -> Result<(), EditRefusal> {
    let needed = changes.changes_of(object).map_err(|missing| no_key(files, object, missing))?;
    let known = changed.edits.get(&object.path).and_then(|edit| edit.content()).cloned();
    let before = known.or_else(|| files.content(&object.path).cloned()).unwrap_or_default();
    let mut bytes = before.to_vec();
    for change in needed {
        bytes = edit(&bytes, object.at, &change).map_err(|error| files.not_editable(&object.path, &error))?;
    }
    if *bytes != *before {
        changed.edits.write(Arc::clone(&object.path), bytes);
    }
    let (name, path) = (Arc::clone(&object.name), Arc::clone(&object.path));
    changed.objects.push(PlacedObject { kind: object.kind, name, path });
    Ok(())
}

fn no_key(files: &BranchFiles<'_>, object: &FoundObject, MissingKey { key, nearest }: MissingKey) -> EditRefusal {
    let mut places = files.places();
    let origin = places.name(files, object);
    let message = format!("{} `{}` has no `{key}` to remove", object.kind, object.name);
    let diagnostic = Diagnostic::error(Code::ObjectNotInBranch, message).at(origin, "it is here");
    let diagnostic = match nearest {
        Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
        None => diagnostic,
    };
    places.refusal(vec![diagnostic])
}

/// The field at a path. None if there is none.
fn node_at<'n>(root: &'n Node, path: &FieldPath) -> Option<&'n Node> {
    path.steps().iter().try_fold(root, |node, step| match step {
        FieldStep::Key(key) => node.get(key),
        FieldStep::Index(index) => node.as_sequence()?.get(*index),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::source::Source;

    use super::*;

    const CLUSTERS: &str = "# Ours.\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: a\n  labels: {region: west, size: small} # why\nspec: {clusterType: t}\n---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: b\nspec:\n  clusterType: t # kept\n";

    fn changed(names: &[&str], set: &[(&str, &str)], remove: &[&str]) -> Result<Option<String>, String> {
        let contents = BTreeMap::from([("c.yaml".into(), CLUSTERS.as_bytes().into())]);
        let files = BranchFiles::new(Source::directory(), &contents, "");
        let set = set.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value))).collect();
        let pairs = PairChanges { set, remove: remove.iter().map(|key| Arc::from(*key)).collect() };
        let changes =
            ObjectChanges { pairs: vec![(FieldPath::from(["metadata", "labels"]), pairs)], fields: Vec::new() };
        let names: Vec<_> = names.iter().map(|name| Arc::from(*name)).collect();
        let changed = change(&files, (Kind::Cluster, &names), &changes);
        let changed = changed.map_err(|refusal| refusal.diagnostics[0].message.clone())?;
        assert_eq!(changed.objects.len(), names.len());
        let edit = changed.edits.get("c.yaml").and_then(|edit| edit.content());
        Ok(edit.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()))
    }

    #[test]
    fn labels_are_set_and_removed_and_other_bytes_stay() {
        let check = |names: &[&str], (set, remove): (&[(&str, &str)], &[&str]), expected: Option<String>| {
            assert_eq!(changed(names, set, remove), Ok(expected));
        };
        check(&["a"], (&[("size", "big")], &[]), Some(CLUSTERS.replace("size: small", "size: big")));
        check(&["a"], (&[("size", "small")], &[]), None);
        check(&["a"], (&[], &["region"]), Some(CLUSTERS.replace("region: west, ", "")));
        let both = CLUSTERS.replace("small}", "small, tier: gold}");
        let both = both.replace("name: b\n", "name: b\n  labels: {tier: gold}\n");
        let found = changed(&["a", "b"], &[("tier", "gold")], &[]).unwrap().unwrap();
        assert_eq!(found.replace("labels:\n    tier: gold\n", "labels: {tier: gold}\n"), both);
        let none = changed(&["a"], &[], &["region", "size"]).unwrap().unwrap();
        assert!(!none.contains("labels"), "{none}");
    }

    #[test]
    fn a_selector_is_changed_entry_by_entry() {
        const POLICY: &str = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\nmetadata: {name: p}\nspec:\n  clusterTypeSelector:\n    labelSelector:\n      matchLabels:\n        edge: \"true\" # why\n      matchExpressions:\n        - key: region\n          operator: In\n          values: [west, east] # both\n";
        let check = |selector: &str, expected: &str| {
            let contents = BTreeMap::from([("p.yaml".into(), POLICY.as_bytes().into())]);
            let files = BranchFiles::new(Source::directory(), &contents, "");
            let path = FieldPath::from(["spec", "clusterTypeSelector", "labelSelector"]);
            let value = crate::objects::selector(&model::selector::LabelSelector::parse(selector).unwrap());
            let changes = ObjectChanges { pairs: Vec::new(), fields: vec![(path, Some(value))] };
            let changed = change(&files, (Kind::SchedulingPolicy, &["p".into()]), &changes).unwrap();
            let edit = changed.edits.get("p.yaml").and_then(|edit| edit.content());
            let text = edit.map_or_else(|| POLICY.to_owned(), |bytes| String::from_utf8(bytes.to_vec()).unwrap());
            assert_eq!(text, expected, "{selector}");
        };
        let expressions = "      matchExpressions:\n        - key: region\n          operator: In\n          values: [west, east] # both\n";
        check("edge=true,region in (west,east)", POLICY);
        check("edge=true,region in (west,north)", &POLICY.replace("east", "north"));
        check("edge=true,region in (west,east,north)", &POLICY.replace("east]", "east, north]"));
        check("edge=true", &POLICY.replace(expressions, ""));
        check(
            "size=big,edge=true,!kiosk",
            &POLICY.replace("# why\n", "# why\n        size: big\n").replace(
                expressions,
                "      matchExpressions:\n        - key: kiosk\n          operator: DoesNotExist\n",
            ),
        );
        check(
            "",
            "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\nmetadata: {name: p}\nspec:\n  clusterTypeSelector:\n    labelSelector: {}\n",
        );
    }

    #[test]
    fn missing_objects_and_labels_are_refused() {
        assert_eq!(changed(&["a", "x"], &[("size", "big")], &[]), Err("there is no Cluster `x`".to_owned()));
        assert_eq!(changed(&["a"], &[], &["sise"]), Err("Cluster `a` has no `sise` to remove".to_owned()));
    }
}
